"""Rows for diagonals, traces, cross products, and products of several matrices."""

from typing import Any

import numpy as np
from attrs import evolve

from tape_ad.rules.numpy.matrices import vector_product
from tests.rules.rows_linalg import REGULAR
from tests.rules.table import REAL, Row

__all__ = ["CONSTANTS", "ROWS"]


def listing(function: Any, *matrices: Any) -> Any:
    return function(list(matrices))


AXES: tuple[dict[str, Any], ...] = (
    {},
    {"offset": 1},
    {"offset": -2},
    {"offset": 7},
    {"axis1": 1, "axis2": 2},
    {"offset": 1, "axis1": 2, "axis2": 0},
    {"offset": -1, "axis1": -1, "axis2": -2},
)
CHAINS: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((2, 3), (3, 4)),
    ((4, 2), (2, 5), (5, 3)),
    ((2, 5), (5, 1), (1, 4), (4, 3)),
    ((3,), (3, 4), (4,)),
    ((3,), (3,)),
    ((2, 3), (3, 4), (4,)),
    ((2, 0), (0, 4), (4, 3)),
)

# Those of the functions in `numpy.linalg` that have a namesake in `numpy`
NAMESAKES: list[Row] = [
    *(
        Row(function, [REAL(*shape)], nodes=2, complex=True)
        for function in (np.linalg.diagonal, np.linalg.trace)
        for shape in ((3, 3), (0, 2), (2, 0, 3))
    ),
    *(
        Row(function, [REAL(2, 3, 4)], options={"offset": offset}, nodes=2, complex=True)
        for function in (np.linalg.diagonal, np.linalg.trace)
        for offset in (0, 1, -1)
    ),
    Row(np.linalg.trace, [REAL(3, 3)], options={"dtype": "complex128"}, nodes=2),
    *(
        Row(np.linalg.cross, [REAL(*a), REAL(*b)], options=options, nodes=4, complex=True)
        for a, b, options in (((2, 3), (3,), {}), ((3, 2), (3, 1), {"axis": 0}))
    ),
    *(
        Row(np.linalg.outer, [REAL(*a), REAL(*b)], nodes=4, complex=True)
        for a, b in (((2,), (3,)), ((0,), (3,)))
    ),
    *(
        Row(np.linalg.vecdot, [REAL(*a), REAL(*b)], options=options, nodes=4, complex=True)
        for a, b, options in (
            ((3,), (3,), {}),
            ((2, 3), (3,), {}),
            ((3, 2), (3, 1), {"axis": 0}),
        )
    ),
    Row(np.linalg.matmul, [REAL(5, 2, 3), REAL(3, 4)], complex=True),
    *(
        Row(np.linalg.tensordot, [REAL(2, 3, 4), REAL(4, 3)], options=options, nodes=6)
        for options in ({"axes": 1}, {"axes": ((1, 2), (1, 0))})
    ),
    Row(np.linalg.tensordot, [REAL(2, 3, 4), REAL(3, 4)], nodes=6, complex=True),
    Row(np.linalg.matrix_transpose, [REAL(2, 3, 4)], complex=True),
]

ROWS: list[Row] = [
    *(
        Row(vector_product, [REAL(*a), REAL(*b)], complex=True, no_jax="it is np.cross")
        for a, b in (((3,), (2, 3)), ((4, 1, 3), (2, 3)))
    ),
    *(evolve(row, note="in linalg") for row in NAMESAKES),
    *(
        Row(function, [REAL(3, 4, 2)], options=options, nodes=2, complex=True)
        for function in (np.diagonal, np.trace)
        for options in AXES
    ),
    *(
        Row(function, [REAL(*shape)], nodes=2, complex=True)
        for function in (np.diagonal, np.trace)
        for shape in ((3, 3), (0, 2), (2, 0, 3))
    ),
    Row(np.trace, [REAL(3, 3)], options={"dtype": "complex128"}, nodes=3),
    *(
        Row(np.cross, [REAL(*a), REAL(*b)], options=options, nodes=4, complex=True)
        for a, b, options in (
            ((3,), (3,), {}),
            ((2, 3), (2, 3), {}),
            ((4, 1, 3), (2, 3), {}),
            ((3,), (2, 3), {}),
            ((2, 3), (3,), {}),
            ((3, 2), (3, 2), {"axis": 0}),
            ((3, 2), (4, 2, 3), {"axisa": 0}),
            ((4, 2, 3), (2, 3, 4, 1), {"axisb": 1, "axisc": 0}),
            ((3, 2), (3,), {"axisa": 0, "axisc": 0}),
            ((0, 3), (3,), {}),
        )
    ),
    *(
        Row(np.linalg.matrix_power, [REGULAR(2, 3, 3)], options={"n": n}, nodes=5, complex=True)
        for n in (0, 1, 2, 3, 6, -1, -3)
    ),
    Row(np.linalg.matrix_power, [REGULAR(0, 0)], options={"n": 3}, nodes=2),
    *(
        Row(
            np.linalg.multi_dot,
            [REAL(*shape) for shape in shapes],
            call=listing,
            nodes=len(shapes) + 3,
            complex=True,
        )
        for shapes in CHAINS
    ),
    Row(np.linalg.multi_dot, [REAL(), REAL()], call=listing, no_jax="JAX takes matrices alone"),
]

CONSTANTS: list[Row] = []

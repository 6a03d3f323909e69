"""Rows for products of vectors, matrices and stacks of them."""

from typing import Any

import numpy as np

from tape_ad.rules.maps import times_matrix
from tests.rules.table import REAL, Row, Shape

__all__ = ["ROWS"]

MATMUL: tuple[tuple[Shape, Shape], ...] = (
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (2, 1, 3, 4)),
    ((2, 5, 2, 3), (3, 4)),
    ((2, 5, 2, 3), (3,)),
    ((3,), (2, 5, 3, 4)),
    ((1, 3), (3, 4)),
    ((3, 4), (4, 1)),
    ((1, 1), (1, 1)),
)
EMPTY: tuple[tuple[Shape, Shape], ...] = (
    ((0,), (0,)),
    ((2, 0), (0, 3)),
    ((0, 3), (3,)),
    ((0, 2, 3), (3, 4)),
    ((0, 2, 3), (1, 3, 4)),
)
DOT: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((2, 3), ()),
    ((), (3,)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (2, 3, 4)),
    ((0,), (0,)),
    ((2, 0), (0, 3)),
)
INNER: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((2, 3), ()),
    ((), (3,)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 3), (4, 3)),
    ((5, 2, 3), (4, 3)),
    ((0,), (0,)),
)
OUTER: tuple[tuple[Shape, Shape], ...] = (
    ((2,), (3,)),
    ((), (3,)),
    ((2, 2), (3,)),
    ((0,), (3,)),
)
VDOT: tuple[tuple[Shape, Shape], ...] = (
    ((3,), (3,)),
    ((), ()),
    ((2, 3), (2, 3)),
    ((0,), (0,)),
)
KRON: tuple[tuple[Shape, Shape], ...] = (
    ((2,), (3,)),
    ((2, 3), (3, 2)),
    ((2,), (2, 3)),
    ((2, 2, 3), (3, 2)),
    ((), (2, 3)),
    ((2,), ()),
    ((2, 0), (3,)),
)
NO_UFUNC = "JAX's is no ufunc: it takes no axes"

ROWS: list[Row] = [
    *(Row(np.matmul, [REAL(*a), REAL(*b)], complex=True) for a, b in MATMUL),
    *(Row(np.matmul, [REAL(*a), REAL(*b)]) for a, b in EMPTY),
    *(Row(np.dot, [REAL(*a), REAL(*b)], nodes=6, complex=True) for a, b in DOT),
    *(Row(np.inner, [REAL(*a), REAL(*b)], nodes=6, complex=True, mixed=False) for a, b in INNER),
    *(Row(np.outer, [REAL(*a), REAL(*b)], nodes=4, complex=True, mixed=False) for a, b in OUTER),
    *(
        Row(
            np.tensordot,
            [REAL(*a), REAL(*b)],
            options={"axes": axes},
            nodes=6,
            complex=True,
            mixed=False,
        )
        for a, b, axes in (
            ((2, 3, 4), (3, 4, 5), 2),
            ((2, 3), (3, 4), 1),
            ((2,), (3,), 0),
            ((2, 3, 4), (4, 3), ((1, 2), (1, 0))),
            ((2, 3, 4), (5, 2), (0, 1)),
            ((2, 3, 4), (5, 2), ([-3], [-1])),
            ((2, 3), (2, 3), ((0, 1), (0, 1))),
        )
    ),
    Row(np.tensordot, [REAL(2, 3, 4), REAL(3, 4, 2)], nodes=6),
    *(
        Row(times_matrix, [REAL(*a), REAL(*b)], complex=True, no_jax="it is a function of ours")
        for a, b in (((2, 3), (3, 4)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 2), (2, 3)))
    ),
    Row(np.tensordot, [REAL(2, 0), REAL(0, 3)], options={"axes": 1}, nodes=6),
]

GENERALIZED: list[tuple[Any, tuple[tuple[Shape, Shape], ...]]] = [
    (np.vecdot, (((3,), (3,)), ((2, 3), (3,)), ((3,), (4, 3)), ((2, 1, 3), (4, 3)), ((2, 0), (0,))))
]


def vecdot(torch: Any) -> Any:
    """Make PyTorch's function, which takes one axis and never keeps it."""

    def function(a: Any, b: Any, axis: int = -1, keepdims: bool = False) -> Any:
        result = torch.linalg.vecdot(a, b, dim=axis)
        return result.unsqueeze(axis) if keepdims else result

    return function


AXES: list[Row] = [
    Row(
        np.vecdot,
        [REAL(*a), REAL(*b)],
        options=options,
        complex=True,
        no_jax=NO_UFUNC,
        torch="" if options.keys() & {"axes", "dtype"} else vecdot,
    )
    for a, b, options in (
        ((3, 2), (3, 2), {"axis": 0}),
        ((4, 3, 2), (3, 1), {"axis": -2, "keepdims": True}),
        ((2, 3), (3,), {"keepdims": True}),
        ((3, 2), (2, 3), {"axes": [0, 1, ()]}),
        ((3, 2, 4), (2, 3, 4), {"axes": [(1,), (0,)]}),
        ((3, 2), (2, 3), {"axes": [0, 1, 0], "keepdims": True}),
        ((3, 4), (4, 3), {"axes": [0, 1], "keepdims": True}),
        ((3,), (3,), {"dtype": np.complex128}),
    )
]
if hasattr(np, "matvec"):
    GENERALIZED += [
        (
            np.matvec,
            (
                ((2, 3), (3,)),
                ((4, 2, 3), (3,)),
                ((2, 3), (4, 3)),
                ((4, 1, 2, 3), (5, 3)),
                ((2, 0), (0,)),
            ),
        ),
        (
            np.vecmat,
            (
                ((2,), (2, 3)),
                ((4, 2), (2, 3)),
                ((2,), (4, 2, 3)),
                ((4, 1, 2), (5, 2, 3)),
                ((0,), (0, 3)),
            ),
        ),
    ]
    AXES += [
        Row(function, [REAL(*a), REAL(*b)], options=options, complex=True, no_jax=NO_UFUNC)
        for function, a, b, options in (
            (np.matvec, (2, 4, 3), (3, 4), {"axes": [(0, 2), 0, 0]}),
            (np.matvec, (4, 2, 3), (4, 3), {"axes": [(1, 2), 1, 1]}),
            (np.vecmat, (2, 4), (2, 4, 3), {"axes": [0, (0, 2), 0]}),
        )
    ]

ROWS += [
    *(Row(np.vdot, [REAL(*a), REAL(*b)], complex=True) for a, b in VDOT),
    *(Row(np.kron, [REAL(*a), REAL(*b)], nodes=4, complex=True) for a, b in KRON),
    *(
        Row(function, [REAL(*a), REAL(*b)], complex=True)
        for function, shapes in GENERALIZED
        for a, b in shapes
    ),
    *AXES,
]

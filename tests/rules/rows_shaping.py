"""Rows for functions that rearrange an array's axes."""

import numpy as np

from tape_ad.rules.numpy.shaping import memory_order
from tests.rules.table import REAL, Row

__all__ = ["CONSTANTS", "FILLED", "ROWS"]

ROWS: list[Row] = [
    *(
        Row(np.reshape, [REAL(2, 6)], call=lambda f, x, s=s, o=o: f(x, s, order=o), note=f"{s} {o}")
        for s in ((3, 4), -1, 12, (2, -1, 2), (1, 12, 1))
        for o in "CF"
    ),
    Row(np.reshape, [REAL(2, 6)], call=lambda f, x: f(x, (4, 3)), note="complex", complex=True),
    Row(np.reshape, [REAL()], call=lambda f, x: f(x, (1, 1)), note="(1, 1)"),
    Row(np.reshape, [REAL(1, 1)], call=lambda f, x: f(x, ()), note="()"),
    Row(np.reshape, [REAL(0, 3)], call=lambda f, x: f(x, (2, 0)), note="(2, 0)"),
    *(Row(np.ravel, [REAL(2, 3, 4)], options={"order": order}, complex=True) for order in "CF"),
    Row(np.ravel, [REAL()]),
    Row(np.ravel, [REAL(0, 3)]),
    *(
        Row(np.squeeze, [REAL(1, 3, 1)], options={"axis": axis}, complex=axis is None)
        for axis in (None, 0, -1, (0, 2), ())
    ),
    Row(np.squeeze, [REAL(1, 1)]),
    Row(np.squeeze, [REAL()]),
    *(
        Row(np.expand_dims, [REAL(2, 3)], options={"axis": axis}, complex=axis == 0)
        for axis in (0, 1, -1, (0, -1), (1, 2))
    ),
    Row(np.expand_dims, [REAL()], options={"axis": 0}),
    *(
        Row(np.transpose, [REAL(2, 3, 4)], options={"axes": axes}, complex=axes is None)
        for axes in (None, (1, 2, 0), (-1, 0, -2), [0, 2, 1])
    ),
    Row(np.transpose, [REAL()]),
    Row(np.transpose, [REAL(3)], options={"axes": 0}, no_jax="JAX takes no number for the axes"),
    Row(np.transpose, [REAL(0, 3)]),
    *(
        Row(
            np.swapaxes,
            [REAL(2, 3, 4)],
            options={"axis1": one, "axis2": other},
            complex=one == 0,
        )
        for one, other in ((0, 1), (-1, 0), (1, 1))
    ),
    *(
        Row(
            np.moveaxis,
            [REAL(2, 3, 4)],
            options={"source": a, "destination": b},
            complex=a == 0,
        )
        for a, b in ((0, -1), (-1, 0), ((0, 1), (1, 2)), ([2, 0], [0, 1]))
    ),
    *(
        Row(np.rollaxis, [REAL(2, 3, 4)], options={"axis": a, "start": b}, complex=a == 2)
        for a, b in ((2, 0), (0, 3), (-1, 1), (1, 1), (0, -1))
    ),
    *(
        Row(function, [REAL(*shape)], complex=shape == (3,))
        for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
        for shape in ((), (3,), (2, 3), (2, 3, 1), (0,))
    ),
    *(
        Row(function, [REAL(3), REAL(), REAL(2, 1)], nodes=3)
        for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
    ),
    Row(np.matrix_transpose, [REAL(2, 3, 4)], complex=True),
    Row(np.matrix_transpose, [REAL(3, 0)]),
    Row(np.copy, [REAL(2, 3)], complex=True),
    Row(np.copy, [REAL()]),
    Row(np.broadcast_to, [REAL()], options={"shape": (2, 3)}, complex=True),
    Row(np.broadcast_to, [REAL(3, 1)], options={"shape": (2, 3, 4)}, complex=True),
    Row(np.broadcast_to, [REAL(3)], options={"shape": 3}),
    Row(np.broadcast_to, [REAL(1, 3)], options={"shape": (0, 3)}),
    Row(np.broadcast_to, [REAL()], options={"shape": ()}),
    Row(np.broadcast_arrays, [REAL(3, 1), REAL(2), REAL()], complex=True, nodes=3),
    Row(np.broadcast_arrays, [REAL(2, 3), REAL(2, 3)]),
    Row(np.broadcast_arrays, [REAL(0, 1), REAL(2)], nodes=2),
    *(
        Row(
            np.meshgrid,
            [REAL(2), REAL(3)],
            options={"indexing": indexing, "sparse": sparse, "copy": copy},
            complex=True,
            nodes=6,
            no_jax="" if copy else "JAX only makes copies",
        )
        for indexing in ("xy", "ij")
        for sparse, copy in ((False, True), (True, True), (False, False))
    ),
    Row(np.meshgrid, [REAL(), REAL(2), REAL(3)], nodes=9, no_jax="JAX wants one axis"),
    Row(np.meshgrid, [REAL(2)], nodes=3),
    Row(np.meshgrid, [REAL(2), REAL(0)], nodes=6),
]

CONSTANTS: list[Row] = [
    *(
        Row(function, [REAL(2, 3)])
        for function in (
            *(np.shape, np.ndim, np.size, np.result_type, np.min_scalar_type),
            *(np.iscomplexobj, np.isrealobj, np.array2string, np.array_repr, np.array_str),
            *(np.common_type, memory_order),
        )
    ),
    Row(np.shares_memory, [REAL(2), REAL(3)]),
    Row(np.may_share_memory, [REAL(2), REAL(3)]),
    Row(np.can_cast, [REAL(2, 3)], call=lambda f, x: f(x, np.float32)),
]

FILLED: list[Row] = [
    Row(np.zeros_like, [REAL(2, 3)]),
    Row(np.zeros_like, [REAL(2, 3)], options={"shape": 4, "dtype": "float32"}),
    Row(np.ones_like, [REAL()]),
    Row(np.empty_like, [REAL(2, 3)], options={"shape": (0, 2)}),
]

"""Rows for functions that turn an array around, and for those that repeat it."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tape_ad.rules.plain_maps import Gather, pulled, pushed
from tests.rules.table import REAL, Row

__all__ = ["ROWS"]

PICKED = Gather(-2, np.array([2, 0, 0, 2, 0]), 4)
OURS = "the function is one of tape_ad's own"

ROWS: list[Row] = [
    *(
        Row(np.flip, [REAL(2, 3, 4)], options={"axis": axis}, complex=axis is None)
        for axis in (None, 0, -1, (0, 2), ())
    ),
    Row(np.flip, [REAL()]),
    Row(np.flip, [REAL(0, 3)]),
    Row(np.fliplr, [REAL(2, 3, 4)], complex=True),
    Row(np.fliplr, [REAL(2, 0)]),
    Row(np.flipud, [REAL(2, 3)], complex=True),
    Row(np.flipud, [REAL(3)]),
    *(Row(np.rot90, [REAL(2, 3)], options={"k": k}, complex=k == 1) for k in range(-1, 5)),
    *(
        Row(np.rot90, [REAL(2, 3, 4)], options={"k": k, "axes": axes})
        for k, axes in ((1, (1, 2)), (3, (-1, 0)), (2, (0, 2)))
    ),
    Row(np.rot90, [REAL(0, 3)]),
    *(
        Row(np.roll, [REAL(3, 4)], options={"shift": shift, "axis": axis}, complex=axis is None)
        for shift, axis in (
            *((2, None), (-1, 0), (5, -1), (0, 1), (1, (0, 1)), ((1, -2), (0, 1))),
            *(((1, 2), 0), ((1, 2), (1, 1))),
        )
    ),
    Row(np.roll, [REAL(4)], options={"shift": (1, 2)}, no_jax="JAX wants as many axes as shifts"),
    Row(np.roll, [REAL()], options={"shift": 1}),
    Row(np.roll, [REAL(0, 3)], options={"shift": 1, "axis": 1}),
    *(
        Row(
            sliding_window_view,
            [REAL(4, 5)],
            options={"window_shape": size, "axis": axis},
            complex=axis is None,
            no_jax="JAX has no such function",
        )
        for size, axis in (
            ((2, 3), None),
            (2, 0),
            (4, -1),
            ((2, 2), (1, 0)),
            ((2, 3), (1, 1)),
            ((), ()),
        )
    ),
    Row(
        sliding_window_view,
        [REAL(0)],
        options={"window_shape": 0},
        no_jax="JAX has no such function",
    ),
    # Repetition
    *(
        Row(np.repeat, [REAL(2, 3)], options={"repeats": repeats, "axis": axis}, complex=True)
        for repeats, axis in (
            *((2, None), (3, 0), (2, -1), (0, 1), (np.array([2]), 1)),
            *((np.array([1, 3]), 0), (np.array([2, 0, 1]), -1), (np.zeros(2, int), 0)),
            (np.array([1, 0, 2, 0, 3, 1]), None),
        )
    ),
    Row(np.repeat, [REAL(2)], options={"repeats": [2, 1]}, no_jax="JAX takes no list of counts"),
    Row(np.repeat, [REAL()], options={"repeats": 3}),
    Row(np.repeat, [REAL()], options={"repeats": 3, "axis": 0}, no_jax="JAX has no such axis"),
    Row(np.repeat, [REAL(0, 3)], options={"repeats": 2, "axis": 1}),
    Row(np.repeat, [REAL(0)], options={"repeats": np.zeros(0, int)}),
    *(
        Row(np.tile, [REAL(2, 3)], options={"reps": reps}, complex=reps == 2)
        for reps in (2, (2, 1), (1, 3), (2, 2, 2), [1, 1], (0, 2), (1,))
    ),
    Row(np.tile, [REAL()], options={"reps": (2, 3)}),
    Row(np.tile, [REAL(0, 3)], options={"reps": 2}),
    *(
        Row(np.resize, [REAL(2, 3)], options={"new_shape": shape}, complex=shape == (4, 4))
        for shape in ((4, 4), (3, 2), (2, 6), (5,), 4, (2, 0))
    ),
    Row(np.resize, [REAL()], options={"new_shape": (2, 2)}),
    Row(np.resize, [REAL(0)], options={"new_shape": (2,)}),
    Row(pushed, [REAL(3, 4, 2)], call=lambda f, t: f(t, PICKED), complex=True, no_jax=OURS),
    Row(pulled, [REAL(3, 5, 2)], call=lambda f, ct: f(ct, PICKED), complex=True, no_jax=OURS),
]

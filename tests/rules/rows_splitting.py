"""Rows for functions that take arrays apart, or put something into them or out of them."""

from typing import Any

import numpy as np

from tests.rules.table import REAL, Row

__all__ = ["ROWS"]

MASK = np.array([True, False, True, False])
PLACES, NO_PLACES, TWICE = np.array([0, 2]), np.zeros(0, int), np.array([1, 1, -1])

INSERTED: list[tuple[Any, ...]] = [
    ((4,), (), 1, None),
    ((4,), (3,), -1, None),
    ((4,), (1,), np.array([2]), 0),
    ((4,), (2,), np.array([1, 1]), None),
    ((4,), (), np.array([0, 4, 2]), 0),
    ((4,), (2,), slice(None, None, 2), 0),
    ((2, 3), (2,), np.array([5, 0]), None),
    ((2, 3), (), 6, None),
    ((2, 3), (3,), 1, 0),
    ((2, 3), (2,), 1, 1),
    ((2, 3), (), 0, -1),
    ((2, 3), (2, 2), 1, 1),
    ((2, 3), (2, 1), np.array([1]), 1),
    ((2, 3), (2,), np.array([0, 3]), 1),
    ((2, 3), (2, 2), np.array([3, 0]), 1),
    ((2, 3), (1, 3), np.array([0, 0, 2]), 0),
    ((2, 3, 2), (2, 2), 1, 1),
    ((2, 3, 2), (4, 2, 2), 1, 1),
    ((0, 3), (3,), 0, 0),
    ((2, 3), (0,), NO_PLACES, 1),
]
if np.lib.NumpyVersion(np.__version__) >= "2.4.0":  # NumPy 2.0 reads a mask as integers and warns
    INSERTED.append(((4,), (2,), MASK, 0))

ROWS: list[Row] = [
    *(
        Row(
            np.array_split,
            [REAL(2, 5)],
            options={"indices_or_sections": sections, "axis": axis},
            complex=axis == 1,
            nodes=7,
            no_jax=no_jax,
        )
        for sections, axis, no_jax in (
            *((3, 1, ""), (7, -1, ""), (1, 0, ""), ([1, 3], 1, "")),
            ((2, 1, -1), 1, "JAX wants places in order"),
            ([0, 9], 0, "JAX wants places in the array"),
        )
    ),
    Row(np.array_split, [REAL(0, 3)], options={"indices_or_sections": 2}, nodes=2),
    *(
        Row(
            np.split,
            [REAL(4, 3)],
            options={"indices_or_sections": sections, "axis": axis},
            complex=axis == 0,
            nodes=5,
        )
        for sections, axis in ((2, 0), (3, -1), (np.array([1, 2]), 1), ([], 1))
    ),
    *(
        Row(function, [REAL(*shape)], options={"indices_or_sections": parts}, complex=True, nodes=3)
        for function, shape, parts in (
            (np.hsplit, (2, 4), 2),
            (np.hsplit, (4,), [1]),
            (np.vsplit, (4, 3), 2),
            (np.vsplit, (4, 3, 1), [1, 2]),
            (np.dsplit, (2, 1, 4), 2),
            (np.dsplit, (2, 1, 4), [3]),
        )
    ),
    *(
        Row(np.unstack, [REAL(*shape)], options={"axis": axis}, complex=axis == 0, nodes=4)
        for shape, axis in (((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((2,), 0))
        if hasattr(np, "unstack")
    ),
    *(
        Row(
            np.trim_zeros,
            [REAL(6)],
            prepare=lambda x: [x * np.array([1, 0, 1, 0, 1, 1])],
            options={"trim": trim},
            complex=True,
            nodes=2,
            no_jax="its shape depends on values",
        )
        for trim in ("fb", "F", "b")
    ),
    *(
        Row(
            np.delete,
            [REAL(3, 4)],
            nodes=2,
            options={"obj": obj, "axis": axis},
            complex=axis is None,
        )
        for obj, axis in (
            *((1, 0), (-1, 1), (slice(None, None, 2), 1), (PLACES, -1), (TWICE, 0)),
            *((MASK, 1), (NO_PLACES, 0), (5, None), (TWICE, None), (slice(2, 9), None)),
        )
    ),
    Row(
        np.delete, [REAL(4)], nodes=2, options={"obj": [0, 2]}, no_jax="JAX takes no list of places"
    ),
    Row(
        np.insert,
        [REAL(4), REAL(2)],
        call=lambda f, a, v: f(a, [1, 1], v),
        nodes=5,
        note="list",
        no_jax="JAX takes no list of places",
    ),
    Row(np.delete, [REAL(1)], nodes=2, options={"obj": 0}),
    *(
        Row(
            np.insert,
            [REAL(*shape), REAL(*values)],
            call=lambda f, a, v, obj=obj, axis=axis: f(a, obj, v, axis),
            nodes=7,
            note=f"{obj} {axis}",
            complex=axis is None,
            no_jax="JAX takes no mask" if obj is MASK else "",
            mixed=False,  # NumPy drops the imaginary part of values in a real array
        )
        for shape, values, obj, axis in INSERTED
    ),
]

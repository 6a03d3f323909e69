"""Rows for functions that join arrays."""

import math
from typing import Any

import numpy as np

from tests.rules.table import REAL, Array, Row

__all__ = ["ROWS"]


def joined(function: Any, *arrays: Array, **options: Any) -> Any:
    """Call a function that takes its arrays as a list."""
    return function(list(arrays), **options)


ROWS: list[Row] = [
    *(
        Row(np.concatenate, [REAL(*a), REAL(*b)], options=options, call=joined, complex=True)
        for a, b, options in (
            ((2, 3), (1, 3), {}),
            ((2, 3), (2, 2), {"axis": -1}),
            ((2, 3), (4,), {"axis": None}),
            ((2, 1, 3), (2, 2, 3), {"axis": 1}),
        )
    ),
    Row(np.concatenate, [REAL(3)], call=joined),
    Row(np.concatenate, [REAL(2, 3), REAL(0, 3), REAL(1, 3)], call=joined),
    Row(np.concatenate, [REAL(0), REAL(0)], call=joined),
    Row(np.concatenate, [REAL(), REAL(2)], options={"axis": None}, call=joined),
    Row(np.concatenate, [REAL(2), REAL(2)], options={"dtype": "float64"}, call=joined),
    Row(
        np.concatenate,
        [REAL(2), REAL(2)],
        options={"dtype": "float64", "casting": "unsafe"},
        call=joined,
        no_jax="jax.numpy's has no casting=",
    ),
    *(
        Row(function, [REAL(*a), REAL(*b)], call=joined, complex=True)
        for function, a, b in (
            (np.hstack, (3,), (2,)),
            (np.hstack, (2, 3), (2, 1)),
            (np.hstack, (2, 1, 4), (2, 2, 4)),
            (np.hstack, (), (2,)),
            (np.vstack, (3,), (3,)),
            (np.vstack, (3,), (2, 3)),
            (np.vstack, (2, 3, 1), (1, 3, 1)),
            (np.vstack, (), (1,)),
            (np.vstack, (0, 3), (3,)),
            (np.dstack, (), (1,)),
            (np.dstack, (3,), (1, 3)),
            (np.dstack, (2, 3), (2, 3, 2)),
            (np.column_stack, (3,), (3,)),
            (np.column_stack, (3,), (3, 2)),
            (np.column_stack, (), (1, 2)),
            (np.column_stack, (2, 3, 1), (2, 1, 1)),
        )
    ),
    *(
        Row(function, [REAL(2), REAL(2)], options={"dtype": "complex128"}, call=joined)
        for function in (np.hstack, np.vstack)
    ),
    Row(np.column_stack, [REAL(0), REAL(0)], call=joined),
    *(
        Row(np.append, [REAL(*a), REAL(*b)], options=options, complex=True)
        for a, b, options in (
            ((3,), (2,), {}),
            ((2, 2), (), {}),
            ((2, 3), (1, 3), {"axis": 0}),
            ((2, 3), (2, 2), {"axis": -1}),
        )
    ),
    Row(np.append, [REAL(0), REAL(2)]),
    # Lists mean something to `block`, so its operands come from one
    Row(np.block, [REAL(2)], call=lambda f, x: f(x), nodes=2, note="alone"),
    Row(np.block, [REAL()], call=lambda f, x: f([[x]]), nodes=4, note="a number"),
    *(
        Row(
            np.block,
            [REAL(12)],
            prepare=lambda x, shapes=shapes: [x[: math.prod(s)].reshape(s) for s in shapes],
            call=call,
            note=note,
            complex=True,
            nodes=10 + 2 * len(shapes),
        )
        for note, shapes, call in (
            ("row", [(2, 2), (2, 1)], lambda f, a, b=0: f([a, b])),
            ("sequences", [(3,), ()], lambda f, a, b=0: f([a, b])),
            ("constant", [(3,), ()], lambda f, a, b=0: f([[a, b], [1.0, np.ones(3)]])),
            ("twice", [(2,)], lambda f, a: f([[a, a], [a, a]])),
            (
                "rows",
                [(2, 2), (2, 3), (1, 5), (2, 5)],
                lambda f, a, b=0, c=0, d=0: f([[a, b], [c], [d]]),
            ),
            (
                "three levels",
                [(2,), (), (1, 3), (1, 2, 3)],
                lambda f, a, b=0, c=0, d=0: f([[[a, b], [c]], [[d]]]),
            ),
        )
    ),
    *(
        Row(np.stack, [REAL(2, 3), REAL(2, 3)], options=options, call=joined, complex=True)
        for options in ({}, {"axis": 1}, {"axis": -1}, {"axis": -3})
    ),
    Row(np.stack, [REAL(), REAL(), REAL()], call=joined),
    Row(np.stack, [REAL(0), REAL(0)], call=joined),
    Row(np.stack, [REAL(3)], options={"axis": 1}, call=joined),
    Row(np.stack, [REAL(2), REAL(2)], options={"dtype": "float64"}, call=joined),
]

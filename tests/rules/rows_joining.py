"""Rows for functions that join arrays."""

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
        Row(np.stack, [REAL(2, 3), REAL(2, 3)], options=options, call=joined, complex=True)
        for options in ({}, {"axis": 1}, {"axis": -1}, {"axis": -3})
    ),
    Row(np.stack, [REAL(), REAL(), REAL()], call=joined),
    Row(np.stack, [REAL(0), REAL(0)], call=joined),
    Row(np.stack, [REAL(3)], options={"axis": 1}, call=joined),
    Row(np.stack, [REAL(2), REAL(2)], options={"dtype": "float64"}, call=joined),
]

"""Rows for the methods of ufuncs that are not NumPy functions under another name."""

from typing import Any

import numpy as np

from tests.rules.table import DISTINCT, REAL, Row, fixed, plain

__all__ = ["ROWS"]

NO_UFUNC = "JAX's function is no ufunc"
SOME = np.array([[True, False, True, True], [True, True, False, True], [False, True, True, True]])

SEGMENTS: tuple[tuple[list[int], dict[str, Any]], ...] = (
    ([0, 2, 1, 4, 4], {}),
    ([0, 1], {"axis": 1}),
    ([1, 4], {"axis": -2, "dtype": "float64"}),
)

ROWS: list[Row] = [
    *(
        Row(ufunc.reduce, [REAL(3, 4)], options=options)
        for ufunc in (np.logaddexp, np.logaddexp2)
        for options in (
            {},
            {"axis": -1},
            {"axis": (0, 1), "keepdims": True},
            {"axis": 0, "dtype": "float64"},
        )
    ),
    *(
        Row(ufunc.reduce, [REAL(3, 4)], options=options, complex=True, no_jax=no_jax)
        for ufunc, no_jax in ((np.subtract, ""), (np.divide, NO_UFUNC))
        for options in ({}, {"axis": 1}, {"axis": -2, "keepdims": True})
    ),
    *(
        Row(
            ufunc.reduce,
            [REAL(3, 4)],
            options={"axis": 1, "keepdims": True, "initial": 1.5, "where": SOME},
            note="where",
            no_jax=NO_UFUNC if ufunc is np.divide else "",
        )
        for ufunc in (np.logaddexp, np.logaddexp2, np.subtract, np.divide)
    ),
    *(
        Row(
            ufunc.reduceat,
            [domain(5, 3), plain(indices)],
            options=options,
            note=str(len(indices)),
            no_jax=no_jax,
        )
        for ufunc, domain, no_jax in (
            (np.add, REAL, ""),
            (np.subtract, REAL, ""),
            (np.multiply, REAL, ""),
            (np.divide, REAL, NO_UFUNC),
            (np.maximum, DISTINCT, ""),
            (np.minimum, DISTINCT, ""),
            (np.fmax, DISTINCT, NO_UFUNC),
            (np.fmin, DISTINCT, NO_UFUNC),
            (np.logaddexp, REAL, ""),
            (np.logaddexp2, REAL, ""),
        )
        for indices, options in SEGMENTS
    ),
    *(
        Row(
            np.multiply.reduceat,
            [fixed([1.5, 0.0, 2.0, 0.0, 0.0, -0.5]), plain(indices)],
            note=f"zeros {indices}",
            complex=True,
        )
        for indices in ([0, 2, 3], [0, 5, 1])
    ),
]

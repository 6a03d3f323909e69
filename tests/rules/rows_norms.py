"""Rows for norms and condition numbers."""

from typing import Any

import numpy as np

from tests.rules.rows_linalg import REGULAR
from tests.rules.table import DISTINCT, REAL, Row

__all__ = ["CONSTANTS", "ROWS"]

INF = np.inf
VECTOR_ORDERS: tuple[Any, ...] = (None, 2, 1, 0, INF, -INF, 3, 2.5, 0.5, -1, -2)
MATRIX_ORDERS: tuple[Any, ...] = (None, "fro", "nuc", 1, -1, 2, -2, INF, -INF)

ROWS: list[Row] = [
    *(
        Row(np.linalg.norm, [DISTINCT(4)], options={"ord": order}, complex=True)
        for order in VECTOR_ORDERS
    ),
    *(
        Row(np.linalg.norm, [DISTINCT(2, 3)], options={"ord": order, "axis": 0}, complex=True)
        for order in VECTOR_ORDERS
    ),
    *(
        Row(np.linalg.norm, [REGULAR(3, 2)], options={"ord": order}, complex=True)
        for order in MATRIX_ORDERS
    ),
    *(
        Row(
            np.linalg.norm,
            [REGULAR(2, 4, 3)],
            options={"ord": order, "axis": axis, "keepdims": keepdims},
            complex=True,
        )
        for order in MATRIX_ORDERS
        for axis, keepdims in (((1, 2), True), ((0, -1), False))
    ),
    Row(np.linalg.norm, [REAL()], complex=True),
    Row(np.linalg.norm, [REAL(2, 3, 2)], complex=True),
    Row(np.linalg.norm, [REAL(2, 3)], options={"keepdims": True}, complex=True),
    Row(np.linalg.norm, [REAL(2, 3)], options={"axis": -1, "keepdims": True}, complex=True),
    Row(np.linalg.norm, [REAL(0)]),
    Row(np.linalg.norm, [REAL(0, 3)], options={"axis": 1}),
    *(
        Row(np.linalg.vector_norm, [DISTINCT(2, 3, 2)], options=options, complex=True)
        for options in (
            {},
            {"ord": 3},
            {"axis": 1},
            {"axis": (0, 2), "ord": 1},
            {"axis": (0, 2), "ord": INF, "keepdims": True},
            {"keepdims": True},
        )
    ),
    *(
        Row(np.linalg.matrix_norm, [REGULAR(2, 3, 3)], options=options, complex=True)
        for options in (
            {},
            {"ord": 2},
            {"ord": "nuc", "keepdims": True},
            {"ord": 1},
            {"ord": -INF},
        )
    ),
    *(
        Row(np.linalg.cond, [REGULAR(2, 3, 3)], options={"p": p}, complex=True)
        for p in (None, 2, -2, 1, -1, INF, -INF, "fro")
    ),
    Row(np.linalg.cond, [REGULAR(3, 3)]),
    Row(np.linalg.cond, [REGULAR(4, 2)], complex=True),
]

CONSTANTS: list[Row] = []

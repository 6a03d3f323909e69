"""Rows for convolution and correlation."""

import numpy as np

from tests.rules.table import REAL, Row, Shape

__all__ = ["ROWS"]

LENGTHS: tuple[tuple[int, int], ...] = ((5, 2), (2, 5), (5, 3), (3, 4), (4, 4), (1, 3), (1, 1))
WITH_NUMBERS: tuple[tuple[Shape, Shape], ...] = (((), (3,)), ((3,), ()), ((), ()))

ROWS: list[Row] = [
    *(
        Row(function, [REAL(n), REAL(m)], options={"mode": mode}, complex=True)
        for function in (np.convolve, np.correlate)
        for mode in ("full", "same", "valid")
        for n, m in LENGTHS
    ),
    *(
        Row(np.convolve, [REAL(*a), REAL(*v)], no_jax="JAX takes no numbers")
        for a, v in WITH_NUMBERS
    ),
    Row(np.convolve, [REAL(4), REAL(2)]),
    Row(np.correlate, [REAL(4), REAL(2)]),
]

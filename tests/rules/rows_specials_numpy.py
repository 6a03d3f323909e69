"""Rows for the special functions that NumPy has itself."""

import numpy as np

from tape_ad.rules.numpy import special_functions as ours
from tests.rules.table import REAL, Row, elementwise, fixed, uniform

__all__ = ["CONSTANTS", "ROWS"]

LARGE = fixed([-60.0, -30.0, -24.9, 0.0, 1e-9, 24.9, 25.1, 40.0])
AROUND_ZERO = fixed([-0.4, -1e-5, 0.0, 1e-9, 0.32, 1.0, 2.5])

ROWS: list[Row] = [
    *elementwise(np.sinc, REAL, complex=True),
    Row(np.sinc, [AROUND_ZERO], no_jax="JAX's is inexact near 0 beyond first order"),
    *(
        Row(
            ours.sinc_derivative,
            [operand],
            call=lambda f, x, n=n: f(x, n),
            note=f"order {n}",
            complex=True,
            no_jax="JAX has no such function",
        )
        for n in (1, 2, 4)
        for operand in (REAL(2, 3), AROUND_ZERO)
    ),
    *elementwise(np.i0, uniform(-3.0, 3.0)),
    Row(np.i0, [LARGE]),
    *(
        Row(
            ours.bessel_i,
            [operand],
            call=lambda f, x, n=n: f(x, n),
            note=f"order {n}",
            no_jax="JAX has no such function",
        )
        for n in (0, 1, 2, 3)
        for operand in (REAL(2, 3), LARGE)
    ),
]

CONSTANTS: list[Row] = []

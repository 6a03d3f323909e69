"""Rows for the functions of our own that rules are written with."""

import math

from tape_ad.rules.numpy import continued as ours
from tests.rules.table import POSITIVE, REAL, Row, fixed

__all__ = ["ROWS"]

OURS = "JAX has no such function"

ROWS: list[Row] = [
    *(
        Row(function, operands, no_jax=OURS)
        for function in (ours.difference, ours.ratio, ours.unit, ours.over_square)
        for operands in ([REAL(2, 3), REAL(2, 3)], [REAL(2, 3), POSITIVE(3)])
    ),
    *(
        Row(
            ours.logistic,
            [REAL(2, 3)],
            call=lambda f, x, base=base: f(x, base),
            note=f"base {base:.2g}",
            no_jax=OURS,
        )
        for base in (math.e, 2)
    ),
    *(
        Row(
            ours.signed_power,
            [REAL(2, 3)],
            call=lambda f, x, exponent=exponent: f(x, exponent),
            note=f"exponent {exponent}",
            no_jax=OURS,
        )
        for exponent in (0.5, 1.0, 2.5)
    ),
    *(
        Row(
            ours.power_derivative,
            [POSITIVE(2, 3), REAL(3)],
            call=lambda f, x, y, n=n, k=k: f(x, y, n, k),
            note=f"orders {n}, {k}",
            no_jax=OURS,
        )
        for n, k in ((0, 1), (1, 0), (1, 1), (2, 2))
    ),
    Row(
        ours.within,
        [fixed([-0.5, 0.2, 0.9])],
        call=lambda f, x: f(x, -1.0, 1.0),
        no_jax=OURS,
    ),
]

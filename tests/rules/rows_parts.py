"""Rows for functions that take numbers apart."""

import numpy as np

from tests.rules.rows_elementwise import DIVISOR, QUOTIENT
from tests.rules.table import (
    POSITIVE,
    REAL,
    Domain,
    Row,
    elementwise,
    fixed,
    plain,
    signed,
)

__all__ = ["CONSTANTS", "ROWS"]

BETWEEN = Domain(signed(1.1, 1.9), signed(0.2, 0.8))  # between whole numbers and powers of 2
JUMPS = fixed([[0.0, 3.0, 6.5, 1.0, -4.4, 9.0], [0.5, 0.1, 9.9, 9.0, 9.5, 3.1]])
SPECIAL = fixed([1.5, np.nan, np.inf, -np.inf, -2.5])

QUOTIENTS = [
    *elementwise(np.fmod, QUOTIENT, DIVISOR),
    *elementwise(np.divmod, QUOTIENT, DIVISOR),
    *elementwise(np.float_power, POSITIVE, REAL, complex=True),
    *(
        Row(np.float_power, [REAL(2, 3)], call=lambda f, x, n=n: f(x, n), note=f"to {n}")
        for n in (2, 0, -1, 3.0)
    ),
]

PIECES = [
    *elementwise(np.copysign, REAL, REAL),
    *elementwise(np.nextafter, REAL, REAL, no_jax="JAX gives no slope by what is stepped from"),
    *elementwise(np.heaviside, REAL, REAL),
    Row(np.heaviside, [plain([-1.0, 0.0, 2.0]), REAL(2, 3)]),
    *elementwise(np.modf, BETWEEN),
    *elementwise(np.frexp, BETWEEN, no_jax="JAX has no cotangents of integers"),
    Row(np.frexp, [BETWEEN(2, 3)], call=lambda f, x: f(x)[0], note="mantissa"),
    Row(np.ldexp, [REAL(2, 3), plain([-3, 0, 5])]),
    Row(np.ldexp, [REAL()], call=lambda f, x: f(x, 4)),
    Row(np.ldexp, [REAL(), plain([[1, 2]])]),
]

ANGLES = [
    *elementwise(np.deg2rad, REAL),
    *elementwise(np.radians, REAL),
    *elementwise(np.rad2deg, REAL),
    *elementwise(np.degrees, REAL),
    Row(np.unwrap, [JUMPS]),
    Row(np.unwrap, [JUMPS], options={"axis": 0}),
    Row(np.unwrap, [JUMPS], call=lambda f, p: f(p, 4.5), note="discont"),
    Row(
        np.unwrap, [JUMPS, fixed(4.0)], call=lambda f, p, period: f(p, period=period), noticed=(0,)
    ),
    *elementwise(np.angle, REAL, complex=True),
    Row(np.angle, [REAL(2, 3)], options={"deg": True}, complex=True),
]

SPECIAL_VALUES = [
    Row(np.nan_to_num, [REAL(2, 3)], complex=True, nodes=6),
    Row(np.nan_to_num, [REAL()], nodes=2),
    Row(np.nan_to_num, [REAL(0, 3)]),
    Row(np.nan_to_num, [SPECIAL], options={"nan": 1.0, "posinf": 9.0, "neginf": -8.0}),
    Row(
        np.nan_to_num,
        [SPECIAL, REAL(), REAL(), REAL()],
        call=lambda f, x, a, b, c: f(x, nan=a, posinf=b, neginf=c),
        noticed=(0,),
        nodes=6,
    ),
    *elementwise(np.real_if_close, REAL, complex=True, no_jax="JAX has no such function"),
]

ROWS: list[Row] = [*QUOTIENTS, *PIECES, *ANGLES, *SPECIAL_VALUES]

CONSTANTS: list[Row] = [
    Row(np.fix, [REAL(2, 3)]),
    Row(np.spacing, [REAL(2, 3)]),
]

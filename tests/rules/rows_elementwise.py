"""Rows for functions that act element by element."""

import numpy as np

from tape_ad.rules.numpy.elementwise import CLIP
from tests.rules.table import (
    ABOVE_ONE,
    INSIDE,
    POSITIVE,
    REAL,
    Domain,
    Row,
    elementwise,
    plain,
    signed,
    uniform,
)

__all__ = ["CONSTANTS", "ROWS"]

QUOTIENT = Domain(signed(5.2, 5.8), signed(0.2, 0.8))  # over DIVISOR never near a whole number
DIVISOR = Domain(signed(2.1, 2.5), signed(0.2, 0.8))
AROUND = plain([[-3.0], [0.1], [3.0]])
NO_UFUNC = "JAX has no such ufunc"
MASK = plain([[True, False, True], [False, False, True]])

ARITHMETIC = [
    *elementwise(np.add, REAL, REAL, complex=True),
    *elementwise(np.subtract, REAL, REAL, complex=True),
    *elementwise(np.multiply, REAL, REAL, complex=True),
    *elementwise(np.divide, REAL, REAL, complex=True),
    *elementwise(np.remainder, QUOTIENT, DIVISOR),
    *elementwise(np.negative, REAL, complex=True),
    *elementwise(np.positive, REAL, complex=True),
    *elementwise(np.reciprocal, REAL, complex=True),
    *elementwise(np.square, REAL, complex=True),
    *elementwise(np.power, POSITIVE, REAL, complex=True),
    *(
        Row(
            np.power,
            [REAL(2, 3)],
            call=lambda f, x, n=n: f(x, n),
            note=f"to {n}",
            complex=True,
        )
        for n in (2, 3, 1, 0, -1, -2, 2.0, np.int64(4))
    ),
    Row(np.power, [POSITIVE(2, 3)], call=lambda f, x: f(x, 0.5), note="to 0.5", complex=True),
    Row(np.power, [REAL(2, 3)], call=lambda f, x: f(x, 2j), note="to 2j", complex=True),
    Row(
        np.power,
        [REAL(5), plain([-2.0, -1.0, 0.0, 2.0, 3.0])],
        note="whole exponents",
        complex=True,
    ),
    Row(np.power, [REAL(5), plain([-2, -1, 0, 2, 3])], note="integer exponents", complex=True),
    Row(np.power, [REAL(5)], call=lambda f, x: f(2.5, x), note="of a number", complex=True),
    Row(
        np.power,
        [REAL(2)],
        call=lambda f, x: f([1, 2], x),
        note="of a list",
        complex=True,
        no_jax="JAX refuses lists",
    ),
    *elementwise(np.sqrt, POSITIVE, complex=True),
    *elementwise(np.cbrt, REAL),
]

EXPONENTIALS = [
    *elementwise(np.exp, REAL, complex=True),
    *elementwise(np.expm1, REAL, complex=True),
    *elementwise(np.exp2, REAL, complex=True),
    *elementwise(np.log, POSITIVE, complex=True),
    *elementwise(np.log1p, uniform(-0.6, 2.0), complex=True),
    *elementwise(np.log2, POSITIVE, complex=True),
    *elementwise(np.log10, POSITIVE, complex=True),
    *elementwise(np.logaddexp, REAL, REAL),
    *elementwise(np.logaddexp2, REAL, REAL),
]

TRIGONOMETRY = [
    *elementwise(np.sin, REAL, complex=True),
    *elementwise(np.cos, REAL, complex=True),
    *elementwise(np.tan, INSIDE, complex=True),
    *elementwise(np.arcsin, INSIDE, complex=True),
    *elementwise(np.arccos, INSIDE, complex=True),
    *elementwise(np.arctan, REAL, complex=True),
    *elementwise(np.arctan2, REAL, REAL),
    *elementwise(np.hypot, REAL, REAL),
    *elementwise(np.sinh, REAL, complex=True),
    *elementwise(np.cosh, REAL, complex=True),
    *elementwise(np.tanh, REAL, complex=True),
    *elementwise(np.arcsinh, REAL, complex=True),
    *elementwise(np.arccosh, ABOVE_ONE, complex=True),
    *elementwise(np.arctanh, INSIDE, complex=True),
]

CHOICE = [
    *elementwise(np.absolute, REAL, complex=True),
    *elementwise(
        np.sign, REAL, complex=True, nodes=3, no_complex_jax="JAX says it is constant", torch="sgn"
    ),
    *elementwise(np.fabs, REAL),
    *elementwise(np.maximum, REAL, REAL),
    *elementwise(np.minimum, REAL, REAL),
    *elementwise(np.fmax, REAL, REAL),
    *elementwise(np.fmin, REAL, REAL),
    Row(np.clip, [REAL(3, 4), uniform(-1.1, -0.4)(4), uniform(0.4, 1.1)(3, 1)]),
    *(
        Row(np.clip, [REAL(3, 4)], call=lambda f, x, a=a, b=b: f(x, a, b), note=f"{a},{b}")
        for a, b in ((-0.8, None), (None, 0.8), (-0.8, 0.8))
    ),
    Row(
        np.clip,
        [plain([[-3.0], [0.1], [3.0]]), uniform(-1.1, -0.4)(4), uniform(0.4, 1.1)(4)],
    ),
    Row(
        CLIP,
        [plain([[-3.0], [0.1], [3.0]]), uniform(-1.1, -0.4)(4), uniform(0.4, 1.1)(4)],
        note="ufunc",
        no_jax="JAX has no such ufunc",
        torch="clamp",
    ),
    Row(
        CLIP,
        [REAL(3, 4)],
        call=lambda f, x: f(x, -0.8, 0.8),
        note="ufunc",
        no_jax="JAX has no such ufunc",
        torch="clamp",
    ),
    Row(np.clip, [REAL()], call=lambda f, x: f(x, -0.2, 0.2)),
    Row(np.where, [MASK, REAL(2, 3), REAL(2, 3)], complex=True),
    Row(np.where, [MASK, REAL(3), REAL()], complex=True),
    Row(np.where, [plain([[True], [False]]), REAL(3), REAL(4, 1, 1)]),
    Row(np.where, [plain([2, 0, -1]), REAL(3), REAL(3)], note="numbers as a mask"),
    Row(np.where, [plain(True), REAL(), REAL()]),
    Row(np.where, [plain(np.zeros(0, bool)), REAL(0), REAL()]),
]

COMPLEX = [
    *elementwise(np.conjugate, REAL, complex=True),
    *elementwise(np.real, REAL, complex=True),
    *elementwise(np.imag, REAL, complex=True),
    Row(np.astype, [REAL(2, 3)], call=lambda f, x: f(x, np.float64)),
    Row(np.astype, [REAL(2, 3)], call=lambda f, x: f(x, "complex128"), note="c", complex=True),
]

ROWS: list[Row] = [*ARITHMETIC, *EXPONENTIALS, *TRIGONOMETRY, *CHOICE, *COMPLEX]

SOME = plain([-1.5, 0.0, 0.5, np.inf, np.nan])

CONSTANTS: list[Row] = [
    *(
        Row(function, [REAL(2, 3), REAL(3)])
        for function in (
            *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
            *(np.logical_and, np.logical_or, np.logical_xor),
            *(np.floor_divide, np.isclose),
        )
    ),
    *(
        Row(function, [REAL(2, 3)])
        for function in (
            *(np.logical_not, np.isnan, np.isinf, np.isfinite, np.signbit),
            *(np.isreal, np.iscomplex, np.isposinf, np.isneginf),
            *(np.floor, np.ceil, np.trunc, np.rint, np.round, np.around),
        )
    ),
    Row(np.round, [REAL(2, 3)], options={"decimals": 1}),
]

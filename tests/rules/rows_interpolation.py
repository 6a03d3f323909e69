"""Rows for piecewise linear interpolation."""

import numpy as np

from tape_ad.rules.numpy.interpolation import interpolated, outside
from tests.rules.table import REAL, Row, fixed, plain

__all__ = ["CONSTANTS", "ROWS"]

AT = fixed([[0.5, 2.2, -3.3], [9.0, 3.1, 0.3]])
KNOTS = fixed([-0.5, 1.0, 2.0, 3.5])
UNSORTED = fixed([3.5, 1.0, -0.5, 2.0])

ROWS: list[Row] = [
    Row(np.interp, [AT, KNOTS, REAL(4)]),
    Row(np.interp, [fixed(1.4), KNOTS, REAL(4)]),
    Row(np.interp, [fixed([]), KNOTS, REAL(4)]),
    Row(np.interp, [fixed([-1.0, 2.0]), fixed([0.5]), REAL(1)], note="one knot"),
    Row(
        np.interp,
        [plain(AT.sample(np.random.default_rng(0), float)), KNOTS, REAL(4)],
        note="plain x",
    ),
    Row(
        np.interp,
        [plain([0.5, 9.0]), plain([0.0, 1.0, 2.0]), REAL(3)],
        complex=True,
        no_complex_jax="JAX takes real numbers only",
    ),
    Row(np.interp, [AT, KNOTS, REAL(4)], options={"left": 7.0, "right": -7.0}, nodes=3),
    Row(
        np.interp,
        [AT, KNOTS, REAL(4), REAL(), REAL()],
        call=lambda f, x, xp, fp, left, right: f(x, xp, fp, left=left, right=right),
        noticed=(0, 1, 2),
        nodes=5,
    ),
    Row(np.interp, [AT, UNSORTED, REAL(4)], options={"period": 5.0}, nodes=15),
    Row(
        np.interp,
        [AT, UNSORTED, REAL(4), fixed(-5.0)],
        call=lambda f, x, xp, fp, period: f(x, xp, fp, period=period),
        noticed=(0, 1, 2),
        note="period",
        nodes=16,
    ),
    *(
        Row(interpolated, [at, KNOTS, REAL(4)], no_jax="the rows of numpy.interp compare it")
        for at in (AT, fixed(1.4), fixed([]))
    ),
]

CONSTANTS: list[Row] = [Row(outside, [AT, KNOTS])]

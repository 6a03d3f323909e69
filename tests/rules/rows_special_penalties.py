"""Rows for SciPy's loss functions, and for what it writes in Python of sines and factorials."""

import math

from tests.rules.rows_special_distributions import LINE, RIGHT, ours
from tests.rules.table import REAL, Row, fixed, plain, uniform

__all__ = ["ROWS"]

ROWS: list[Row] = [
    ours("huber", RIGHT, REAL(2, 1)),
    ours("pseudo_huber", RIGHT, REAL(2, 1)),
    ours("pseudo_huber", fixed([0.01, 1.0, 3.0]), fixed([2.0, 0.0, 1e-9]), note="far and near"),
    ours("powm1", RIGHT, REAL(2, 1)),
    ours("powm1", fixed([-2.0, 0.5]), plain([3.0, 0.0]), note="whole exponents"),
    ours("radian", LINE, LINE, REAL(2, 1)),
    ours("zetac", fixed([-2.5, 0.3, 1.5, 4.0])),
    *(
        ours("diric", operand, call=lambda f, x, n=n: f(x, n), note=f"n {n}, {note}")
        for n in (4, [1, 5, 12])
        for operand, note in (
            (LINE, "inside"),
            (fixed([0.0, 2 * math.pi, -0.01 - 4 * math.pi]), "at whole turns"),
        )
    ),
    ours("factorial", uniform(-0.9, 4.0)(3), nodes=20),
    ours("perm", uniform(3.2, 6.0)(3), uniform(0.3, 3.0)(2, 1), nodes=20),
    ours("perm", fixed([1.5, 2.0, -0.5]), fixed([2.5, 3.3, -0.9]), note="0", nodes=20),
]

"""Rows for SciPy's elliptic integrals and functions."""

from tape_ad.scipy.special import elliptic
from tests.rules.rows_special import OURS
from tests.rules.rows_special_waves import ours
from tests.rules.table import POSITIVE, Row, fixed, uniform

__all__ = ["ROWS"]

PHI, M = fixed([-0.7, 0.0, 0.9, -4.0]), uniform(0.2, 0.8)(4)
RIGHT = POSITIVE(3)

LEGENDRE = [
    *(ours(name, PHI, M) for name in ("ellipkinc", "ellipeinc")),
    ours("ellipj", fixed([0.0, 0.3, 0.9, 1.0]), M, nodes=4),
    *(Row(each, [PHI, M], no_jax=OURS) for each in (elliptic.first_by_m, elliptic.second_by_m)),
]

CARLSON = [
    *(
        ours(name, RIGHT, RIGHT, RIGHT, complex=True, mixed=False)
        for name in ("elliprf", "elliprd", "elliprg")
    ),
    ours("elliprj", RIGHT, RIGHT, RIGHT, RIGHT, complex=True, mixed=False),
    ours("elliprc", RIGHT, RIGHT, complex=True),
    ours("elliprc", RIGHT, fixed([-0.4, 0.7, -2.0]), note="principal value"),
    Row(
        elliptic.algebraic,
        [RIGHT, RIGHT, RIGHT, RIGHT],
        call=lambda f, x, y, z, p: f(x, y, z, p, (0, 1, 0, 2)),
        complex=True,
        mixed=False,
        no_jax=OURS,
    ),
]

ROWS: list[Row] = [*LEGENDRE, *CARLSON]

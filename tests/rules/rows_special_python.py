"""Rows for functions of `scipy.special` that SciPy writes in Python."""

from typing import Any

from tape_ad.scipy import special as sp
from tests.rules.rows_special import OURS
from tests.rules.table import ABOVE_ONE, INSIDE, POSITIVE, REAL, Operand, Row, fixed, plain

__all__ = ["ROWS"]

LINE, RIGHT, NUMBER = REAL(3), POSITIVE(3), POSITIVE()
SHAPE = fixed(0.7)


def ours(name: str, *operands: Operand, **fields: Any) -> Row:
    """Make the row of a function that JAX is not asked about."""
    return Row(getattr(sp, name), list(operands), no_jax=OURS, **fields)


BESSEL = [
    *(
        ours(
            f"spherical_{kind}",
            plain([0, 1, 4]),
            RIGHT,
            options={"derivative": derivative},
            complex=True,
        )
        for kind in ("jn", "yn", "in", "kn")
        for derivative in (False, True)
    ),
    *(
        ours(name, plain(1.5), RIGHT, options={"n": 2}, complex=True, nodes=12)
        for name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp")
    ),
    ours("jvp", plain(1), RIGHT, options={"n": 0}, nodes=2),
    *(
        ours(name, NUMBER, call=lambda f, x: f(2, x), nodes=10)
        for name in ("riccati_jn", "riccati_yn")
    ),
    ours("lmbda", NUMBER, call=lambda f, x: f(1.5, x), nodes=16),
    *(
        ours(name, NUMBER, call=lambda f, x: f(2.3, x), nodes=4)
        for name in ("pbdv_seq", "pbvv_seq")
    ),
]

NODES = [
    ours("roots_jacobi", SHAPE, fixed(0.3), call=lambda f, a, b: f(3, a, b, True), nodes=90),
    ours("roots_gegenbauer", SHAPE, call=lambda f, a: f(3, a), nodes=90),
    ours("roots_genlaguerre", SHAPE, call=lambda f, a: f(3, a), nodes=90),
    ours("roots_sh_jacobi", fixed(2.5), SHAPE, call=lambda f, p, q: f(1, p, q, True), nodes=90),
]

ANGLES, DEGREES, ORDERS = fixed([0.3, 1.2, 2.9]), plain([0, 1, 4]), plain([2, -1, 0])

LEGENDRE = [
    ours("lpmv", plain([0.0, 1.0, -2.0, 3.0, 1.0]), plain([2.0, 3.0, 4.0, 2.0, -2.5]), INSIDE(5)),
    ours("lpmv", plain([0.0, 1.0, 2.0]), plain([1.5, 0.5, 2.2]), INSIDE(3), note="any degree"),
    *(ours("lqn", z, call=lambda f, z: f(3, z), nodes=2) for z in (INSIDE(3), ABOVE_ONE(2))),
    *(
        ours(
            "ellip_harm",
            *(fixed(1.7), fixed(2.1), fixed([0.7, 2.5])),
            call=lambda f, h, k, s, n=n, p=p: f(h, k, n, p, s, -1),
            prepare=lambda h, k, s: [h, k + 3, s],
            note=f"{n}, {p}",
            nodes=90,
        )
        for n, p in ((1, 1), (4, 2), (5, 9), (3, 7))
    ),
    ours("lqmn", INSIDE(2), call=lambda f, z: f(2, 3, z), nodes=2),
]

if hasattr(sp, "legendre_p"):  # since SciPy 1.15
    LEGENDRE += [
        ours("legendre_p", DEGREES, INSIDE(3), options={"diff_n": 2}, nodes=20),
        ours("assoc_legendre_p", DEGREES, plain([0, -1, 3]), INSIDE(3), complex=True, nodes=90),
        ours(
            "assoc_legendre_p",
            *(plain(3), plain([2, -1]), ABOVE_ONE(2)),
            options={"branch_cut": 3, "norm": True, "diff_n": 2},
            nodes=90,
        ),
        ours("sph_legendre_p", plain(3), ORDERS, ANGLES, options={"diff_n": 2}, nodes=90),
        ours("sph_harm_y", plain(3), ORDERS, ANGLES, LINE, options={"diff_n": 2}, nodes=90),
        ours("legendre_p_all", LINE, call=lambda f, z: f(2, z), nodes=20),
        ours("assoc_legendre_p_all", INSIDE(2), call=lambda f, z: f(2, 1, z), nodes=90),
        ours("sph_legendre_p_all", ANGLES, call=lambda f, t: f(2, 1, t), nodes=90),
        ours("sph_harm_y_all", ANGLES, LINE, call=lambda f, t, p: f(2, 1, t, p), nodes=90),
    ]

ROWS: list[Row] = [*BESSEL, *NODES, *LEGENDRE]

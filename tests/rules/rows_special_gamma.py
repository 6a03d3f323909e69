"""Rows for SciPy's gamma and Bessel functions and their kin."""

from typing import Any

from tape_ad.scipy import special as sp
from tape_ad.scipy.special import gamma_functions, incomplete
from tape_ad.scipy.special.shared import ufuncs
from tests.rules.rows_special import OURS, scipy_rows
from tests.rules.table import (
    ABOVE_ONE,
    POSITIVE,
    REAL,
    Domain,
    Row,
    elementwise,
    fixed,
    plain,
    signed,
    uniform,
)

__all__ = ["CONSTANTS", "ROWS"]

UNIT = uniform(0.1, 0.9)
BESIDE_POLES = Domain(
    lambda rng, shape: rng.integers(-3, 3, shape) + rng.uniform(0.2, 0.8, shape), signed(0.2, 0.8)
)
REAL_IN_JAX: dict[str, Any] = {"complex": True, "no_complex_jax": "JAX's is real"}

GAMMA = [
    *scipy_rows(sp.gamma, BESIDE_POLES, **REAL_IN_JAX),
    *scipy_rows(sp.gammaln, BESIDE_POLES),
    *scipy_rows(sp.loggamma, POSITIVE, complex=True, no_jax="JAX's name is gammaln"),
    Row(sp.loggamma, [POSITIVE(5)], no_jax="JAX's name is gammaln", torch="lgamma"),
    *scipy_rows(sp.rgamma, REAL, complex=True, no_jax=OURS),
    *elementwise(sp.digamma, BESIDE_POLES, jax="scipy.special.digamma", **REAL_IN_JAX),
    *(
        Row(
            gamma_functions.polygamma,
            [plain(n), operand],
            note=f"order {n}",
            jax="scipy.special.polygamma",
            **REAL_IN_JAX,
        )
        for n in (0, 1, 3)
        for operand in (POSITIVE(2, 3), POSITIVE(), POSITIVE(0, 3))
    ),
    Row(
        gamma_functions.polygamma,
        [plain([[0], [2]]), BESIDE_POLES(3)],
        complex=True,
        no_jax="JAX's is nan on the left",
    ),
    *(
        Row(
            gamma_functions.multigammaln,
            [ABOVE_ONE(*shape)],
            call=lambda f, a, d=d: f(a, d),
            note=f"d {d}",
            jax="scipy.special.multigammaln",
        )
        for d in (1, 3)
        for shape in ((2, 3), (), (0, 3))
    ),
    *scipy_rows(sp.beta, POSITIVE, POSITIVE),
    *scipy_rows(sp.betaln, POSITIVE, POSITIVE),
    *elementwise(gamma_functions.digamma_step, POSITIVE, POSITIVE, no_jax=OURS),
    *scipy_rows(sp.poch, POSITIVE, POSITIVE),
    Row(
        sp.poch,
        [fixed([0.0, -2.0, -3.0, 1.5]), plain([2.0, 5.0, 4.5, 0.5])],
        note="zeros",
        no_jax="JAX's derivative is nan there",
    ),
    *scipy_rows(sp.binom, uniform(2.2, 5.0), POSITIVE, no_jax=OURS),
    Row(
        sp.binom,
        [fixed([0.5, 2.0, 3.0, 3.0]), fixed([1.3, 3.0, 3.2, 8.0])],
        note="more than there are",
        no_jax=OURS,
    ),
    *(
        Row(
            sp.comb,
            [uniform(2.2, 5.0)(2, 3), POSITIVE(3)],
            options={"repetition": repetition},
            note=note,
            nodes=12,
            no_jax=OURS,
        )
        for repetition, note in ((False, "without"), (True, "with repetition"))
    ),
]

ZETA = [
    *elementwise(ufuncs._zeta, ABOVE_ONE, POSITIVE, no_jax="JAX refuses to in x"),
    *(
        Row(
            ufuncs._zeta,
            [plain(x), POSITIVE(*shape)],
            note=f"x {x}",
            jax="scipy.special.zeta",
        )
        for x in (1.5, 4.0)
        for shape in ((2, 3), (), (0, 3))
    ),
    *elementwise(ufuncs._riemann_zeta, REAL, no_jax=OURS),
    Row(ufuncs._riemann_zeta, [fixed([-7.0, -2.0, -0.6, -0.4, 0.0, 0.5, 3.0])], no_jax=OURS),
    *(
        Row(
            gamma_functions.zeta_slope,
            [ABOVE_ONE(2, 3), POSITIVE(3)],
            call=lambda f, x, q, n=n: f(x, q, n),
            note=f"order {n}",
            no_jax=OURS,
        )
        for n in (1, 2, 3)
    ),
]

INCOMPLETE = [
    *scipy_rows(sp.gammainc, POSITIVE, POSITIVE),
    *scipy_rows(sp.gammaincc, POSITIVE, POSITIVE),
    *(
        Row(sp.betainc, operands, no_jax="JAX refuses to differentiate it in a and b")
        for operands in (
            [POSITIVE(2, 3), POSITIVE(3), UNIT(2, 1)],
            [POSITIVE(), POSITIVE(), UNIT()],
            [POSITIVE(0), POSITIVE(), UNIT()],
        )
    ),
    Row(sp.betainc, [plain(0.7), plain([0.4, 3.0]), UNIT(3, 2)], jax="scipy.special.betainc"),
    *elementwise(incomplete.gamma_density, POSITIVE, POSITIVE, no_jax=OURS),
    Row(incomplete.beta_density, [POSITIVE(2, 3), POSITIVE(3), UNIT(2, 1)], no_jax=OURS),
    *(
        Row(
            incomplete.gammainc_slope,
            [POSITIVE(*shape), POSITIVE(3)],
            call=lambda f, a, x, n=n: f(a, x, n),
            note=f"order {n}",
            no_jax=OURS,
        )
        for n in (1, 2)
        for shape in ((2, 3), ())
    ),
    *(
        Row(
            incomplete.betainc_slope,
            [POSITIVE(2, 3), POSITIVE(3), UNIT(2, 1)],
            call=lambda f, a, b, x, i=i, j=j: f(a, b, x, i, j),
            note=f"orders {i},{j}",
            no_jax=OURS,
        )
        for i, j in ((1, 0), (0, 1), (1, 1))
    ),
]

BESSEL = [
    *scipy_rows(sp.j0, REAL, no_jax=OURS),
    *scipy_rows(sp.j1, REAL, no_jax=OURS),
    *scipy_rows(sp.y0, POSITIVE, no_jax=OURS),
    *scipy_rows(sp.y1, POSITIVE, no_jax=OURS),
    *scipy_rows(sp.i0, REAL, note="SciPy's"),
    *scipy_rows(sp.i1, REAL),
    *scipy_rows(sp.i0e, REAL),
    *scipy_rows(sp.i1e, REAL),
    *scipy_rows(sp.k0, POSITIVE, no_jax=OURS),
    *scipy_rows(sp.k1, POSITIVE, no_jax=OURS),
    *(
        Row(function, [plain(v), POSITIVE(*shape)], note=f"order {v}", complex=True, no_jax=OURS)
        for function in (sp.jv, sp.yv, sp.iv, sp.ive, sp.kv, sp.kve)
        for v, shape in ((0, (2, 3)), (1.5, (2, 3)), (2, ()), (0.3, (0, 3)))
    ),
    *(
        Row(
            function, [plain([[0.0], [2.0]]), POSITIVE(3)], note="orders", complex=True, no_jax=OURS
        )
        for function in (sp.jv, sp.yv, sp.iv, sp.ive, sp.kv, sp.kve)
    ),
    Row(sp.jv, [plain(3), REAL(2, 3)], complex=True, note="both signs", no_jax=OURS),
    Row(sp.ive, [plain(3), REAL(2, 3)], complex=True, note="both signs", no_jax=OURS),
]

ROWS: list[Row] = [*GAMMA, *ZETA, *INCOMPLETE, *BESSEL]

CONSTANTS: list[Row] = []

"""Rows for SciPy's special functions: error functions, logarithms, integrals, and sums."""

from typing import Any

import numpy as np

from tape_ad.rules import load_lazy_tables, load_scipy_rules
from tape_ad.scipy import special as sp
from tape_ad.scipy.special import elementary, error
from tape_ad.scipy.special.shared import ufuncs
from tests.rules.table import (
    INSIDE,
    POSITIVE,
    REAL,
    Domain,
    Row,
    elementwise,
    fixed,
    plain,
    uniform,
)

__all__ = ["CONSTANTS", "ROWS"]

load_lazy_tables()
load_scipy_rules()

UNIT = uniform(0.1, 0.9)
OURS = "JAX has no such function"


def scipy_rows(function: np.ufunc, *domains: Domain, **fields: Any) -> list[Row]:
    """Make the rows of a ufunc that JAX has under SciPy's name, unless `no_jax` says otherwise."""
    if "no_jax" not in fields:
        fields.setdefault("jax", f"scipy.special.{function.__name__}")
    return elementwise(function, *domains, **fields)


NORMAL = [
    *scipy_rows(sp.erf, REAL, complex=True, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.erfc, REAL, complex=True, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.erfcx, REAL, complex=True, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.dawsn, REAL, complex=True, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.wofz, REAL, complex=True),
    *scipy_rows(sp.erfinv, INSIDE),
    *scipy_rows(sp.erfcinv, uniform(0.1, 1.9), no_jax=OURS),
    *scipy_rows(sp.ndtr, REAL, complex=True, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.ndtri, UNIT),
    *scipy_rows(sp.log_ndtr, REAL, complex=True, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.owens_t, REAL, REAL),
    *scipy_rows(sp.fresnel, REAL, nodes=2, complex=True, no_complex_jax="JAX's is real"),
    *(
        Row(function, [operand], call=lambda f, x, n=n: f(x, n), note=f"order {n}", no_jax=OURS)
        for function in (error.erfcx_derivative, error.dawsn_derivative)
        for n in (1, 2, 3)
        for operand in (REAL(2, 3), fixed([-3.0, 0.0, 4.0, 7.5, 20.0]))
    ),
]

LOGARITHMS = [
    *scipy_rows(sp.exp2, REAL, note="scipy", jax="numpy.exp2"),
    *scipy_rows(sp.exp10, REAL, no_jax=OURS),
    *scipy_rows(sp.expm1, REAL, note="scipy", complex=True, jax="numpy.expm1"),
    *scipy_rows(sp.log1p, POSITIVE, note="scipy", complex=True, jax="numpy.log1p"),
    *scipy_rows(sp.cbrt, POSITIVE, note="scipy", jax="numpy.cbrt"),
    *scipy_rows(sp.logit, UNIT),
    *scipy_rows(sp.expit, REAL),
    *(
        scipy_rows(ufuncs._log1mexp, uniform(-2.0, -0.2), no_jax=OURS)
        if ufuncs._log1mexp
        else ()  # before SciPy 1.15
    ),
    *scipy_rows(sp.log_expit, REAL, no_jax=OURS, torch="nn.functional.logsigmoid"),
    *scipy_rows(sp.entr, POSITIVE),
    *scipy_rows(sp.rel_entr, POSITIVE, POSITIVE),
    *scipy_rows(sp.kl_div, POSITIVE, POSITIVE),
    *scipy_rows(sp.xlogy, POSITIVE, POSITIVE, complex=True),
    *scipy_rows(sp.xlog1py, POSITIVE, POSITIVE, complex=True),
    *scipy_rows(sp.boxcox, POSITIVE, REAL),
    *scipy_rows(sp.boxcox1p, POSITIVE, REAL),
    *scipy_rows(sp.inv_boxcox, POSITIVE, uniform(-0.4, 2.0), no_jax=OURS),
    *scipy_rows(sp.inv_boxcox1p, POSITIVE, uniform(-0.4, 2.0), no_jax=OURS),
    *(
        Row(
            function, [POSITIVE(5), fixed([0.0, 1e-9, -1e-9, 0.2, 3.0])], note="near 0", no_jax=OURS
        )
        for function in (sp.boxcox, sp.boxcox1p, sp.inv_boxcox, sp.inv_boxcox1p)
    ),
    *(
        Row(
            ufuncs._lambertw,
            [POSITIVE(*shape)],
            call=lambda f, z, k=k: f(z, k, 1e-8),
            note=f"branch {k}",
            complex=True,
            no_jax=OURS,
        )
        for k in (0, -1, 1)
        for shape in ((2, 3), (), (0, 3))
    ),
]

ALL_AXES = ({"axis": None}, {"axis": 1}, {"axis": (0, -1), "keepdims": True})

SUMS = [
    *(
        Row(
            elementary.log_sum_exp,
            [REAL(2, 3, 4)],
            call=lambda f, a, axis, keepdims=False: f(a, None, axis, keepdims),
            options=options,
            jax=lambda jax: lambda a, b, axis, k: jax.scipy.special.logsumexp(a, axis, keepdims=k),
            complex=True,
            no_complex_jax="JAX's is another branch of the logarithm",
        )
        for options in ALL_AXES
    ),
    *(
        Row(
            elementary.log_sum_exp,
            [POSITIVE(2, 3, 4), POSITIVE(2, 3, 4)],
            call=lambda f, a, b, axis, keepdims=False: f(a, b, axis, keepdims),
            options=options,
            jax=lambda jax: lambda a, b, axis, k: jax.scipy.special.logsumexp(a, axis, b, k),
        )
        for options in ALL_AXES
    ),
    *(
        Row(
            elementary.log_abs_sum_exp,
            operands,
            call=lambda f, a, b=None, *, axis, keepdims=False: f(a, b, axis, keepdims),
            options=options,
            jax=lambda jax: lambda a, b, axis, k: jax.scipy.special.logsumexp(a, axis, b, k, True),
        )
        for operands in ([REAL(2, 3, 4)], [REAL(2, 3, 4), REAL(2, 3, 4)])
        for options in ALL_AXES
    ),
]

INTEGRALS = [
    *scipy_rows(sp.expi, REAL, complex=True, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.exp1, POSITIVE, complex=True, no_complex_jax="JAX's is real"),
    *(
        Row(sp.expn, [plain(n), POSITIVE(2, 3)], note=f"order {n}", jax="scipy.special.expn")
        for n in (1, 2, 5)
    ),
    *(
        Row(sp.expn, [plain(n), POSITIVE(2, 3)], note=f"order {n}", no_jax="JAX's gradient is nan")
        for n in (0, [0, 1, 4], [0.0, 1.0, 4.0])
    ),
    *scipy_rows(sp.sici, POSITIVE, complex=True, nodes=2, no_complex_jax="JAX's is real"),
    *scipy_rows(sp.shichi, POSITIVE, complex=True, nodes=2, no_jax=OURS),
    *(
        row
        for function in (elementary.log_beside, elementary.log1p_beside, elementary.log_ratio)
        for row in elementwise(function, POSITIVE, POSITIVE, no_jax=OURS)
    ),
    *scipy_rows(sp.spence, POSITIVE, complex=True, no_jax="JAX's gradient is nan above 1"),
    Row(sp.spence, [UNIT(4)], jax="scipy.special.spence"),
    *scipy_rows(sp.ellipk, uniform(-3.0, 0.9), no_jax=OURS),
    *scipy_rows(sp.ellipe, uniform(-3.0, 0.9), no_jax=OURS),
    *scipy_rows(sp.ellipkm1, uniform(0.1, 4.0), no_jax=OURS),
    *(
        Row(
            sp.hyp1f1,
            [plain(a), plain(b), REAL(2, 3)],
            note=f"{a},{b}",
            complex=True,
            jax="scipy.special.hyp1f1",
            no_complex_jax="JAX's is real",
        )
        for a, b in ((0.5, 1.5), (2.0, 3.0), (-1.3, 2.5))
    ),
    *(
        Row(
            sp.hyp2f1,
            [plain(a), plain(b), plain(c), INSIDE(2, 3)],
            note=f"{a},{b},{c}",
            complex=True,
            jax="scipy.special.hyp2f1",
            no_complex_jax="JAX's is real",
        )
        for a, b, c in ((0.5, 1.5, 2.0), (1.0, 2.0, 3.0), (-0.5, 0.7, 1.2))
    ),
]

ROWS: list[Row] = [*NORMAL, *LOGARITHMS, *SUMS, *INTEGRALS]

CONSTANTS: list[Row] = [Row(sp.gammasgn, [REAL(2, 3)]), Row(sp.round, [REAL(2, 3)], note="SciPy's")]

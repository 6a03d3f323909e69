"""Rows for the functions of `tape_ad.scipy.stats`, and for those that they are made of."""

from collections.abc import Iterator
from typing import Any

import scipy.stats

from tape_ad.scipy import stats
from tape_ad.scipy.special.noncentral import student_slope
from tape_ad.scipy.stats.continuous import CONTINUOUS as CONTINUOUS_FAMILIES
from tape_ad.scipy.stats.discrete import DISCRETE
from tape_ad.scipy.stats.expectations import counted_range, quartiles
from tape_ad.scipy.stats.families import log_root, odd_power
from tape_ad.scipy.stats.methods import METHODS
from tests.rules.rows_scipy_multivariate import ROWS as MULTIVARIATE_ROWS
from tests.rules.table import REAL, Domain, Operand, Row, fixed, plain, uniform

__all__ = ["CONSTANTS", "ROWS"]

LOC, SCALE = uniform(-0.1, 0.1), uniform(1.0, 1.3)
LINE = uniform(-1.5, 2.0)
HALF = uniform(0.4, 2.5)
UNIT = uniform(0.2, 0.8)
ABOVE = uniform(1.6, 3.0)
BELOW = uniform(-2.5, -0.4)
SMALL = uniform(0.15, 0.5)
MIDDLE = uniform(1.3, 2.6)
LARGE = uniform(3.0, 6.0)

CONTINUOUS: dict[str, tuple[Domain, tuple[Domain, ...]]] = {
    **dict.fromkeys(
        ("norm", "logistic", "hypsecant", "cauchy", "gumbel_r", "gumbel_l"), (LINE, ())
    ),
    **dict.fromkeys(
        ("halfnorm", "expon", "laplace", "halflogistic", "halfcauchy", "rayleigh"), (HALF, ())
    ),
    **dict.fromkeys(("maxwell", "levy"), (HALF, ())),
    **dict.fromkeys(("uniform", "arcsine"), (UNIT, ())),
    **dict.fromkeys(
        ("gamma", "invgamma", "chi", "weibull_min", "fisk", "lomax", "gompertz", "lognorm"),
        (HALF, (MIDDLE,)),
    ),
    **dict.fromkeys(("chi2", "invgauss"), (HALF, (MIDDLE,))),
    **dict.fromkeys(("loggamma", "skewnorm", "vonmises"), (LINE, (MIDDLE,))),
    "gennorm": (HALF, (MIDDLE,)),
    "t": (LINE, (LARGE,)),
    "beta": (UNIT, (MIDDLE, MIDDLE)),
    "f": (HALF, (LARGE, LARGE)),
    "weibull_max": (BELOW, (MIDDLE,)),
    "exponweib": (HALF, (MIDDLE, MIDDLE)),
    "pareto": (ABOVE, (MIDDLE,)),
    "powerlaw": (UNIT, (MIDDLE,)),
    "genextreme": (UNIT, (SMALL,)),
    "genpareto": (HALF, (SMALL,)),
    "truncnorm": (UNIT, (uniform(-1.5, -0.5), uniform(1.2, 2.0))),
    "triang": (uniform(0.5, 0.8), (SMALL,)),
}
"""Where a distribution is called: its variable, and its shapes."""

ROWLESS: dict[str, tuple[Domain, tuple[Domain, ...]]] = {
    **dict.fromkeys(("gibrat", "wald"), (HALF, ())),
    **dict.fromkeys(("moyal", "cosine"), (LINE, ())),
    **dict.fromkeys(("semicircular", "anglit"), (uniform(-0.5, 0.5), ())),
    "levy_l": (BELOW, ()),
    **dict.fromkeys(
        ("invweibull", "loglaplace", "nakagami", "foldnorm", "rice"), (ABOVE, (MIDDLE,))
    ),
    **dict.fromkeys(("dweibull", "dgamma"), (HALF, (MIDDLE,))),
    **dict.fromkeys(("genlogistic", "powernorm"), (LINE, (MIDDLE,))),
    **dict.fromkeys(("bradford", "truncexpon"), (UNIT, (MIDDLE,))),
    **dict.fromkeys(("burr12", "betaprime", "gengamma", "powerlognorm"), (HALF, (MIDDLE, MIDDLE))),
    "johnsonsb": (UNIT, (SMALL, MIDDLE)),
    "johnsonsu": (LINE, (SMALL, MIDDLE)),
    **dict.fromkeys(("loguniform", "reciprocal"), (ABOVE, (SMALL, LARGE))),
}
"""The same for those whose formulas `tests/scipy/test_distributions.py` tries without rows."""

TO_SECOND_ORDER: dict[str, tuple[Domain, tuple[Domain, ...]]] = {
    "erlang": (HALF, (uniform(2.0, 2.0),)),
    **dict.fromkeys(("exponnorm", "recipinvgauss"), (HALF, (MIDDLE,))),
    **dict.fromkeys(("alpha", "exponpow", "foldcauchy", "kappa3"), (HALF, (MIDDLE,))),
    **dict.fromkeys(("halfgennorm", "fatiguelife"), (HALF, (MIDDLE,))),
    **dict.fromkeys(("burr", "mielke"), (HALF, (MIDDLE, MIDDLE))),
    "truncweibull_min": (UNIT, (MIDDLE, uniform(0.05, 0.1), uniform(1.2, 2.0))),
    "genexpon": (HALF, (MIDDLE, MIDDLE, MIDDLE)),
    "genhalflogistic": (HALF, (uniform(0.15, 0.3),)),
    **dict.fromkeys(("laplace_asymmetric", "vonmises_line"), (LINE, (MIDDLE,))),
    "skewcauchy": (LINE, (SMALL,)),
    "rdist": (uniform(-0.5, 0.5), (LARGE,)),
    "trapezoid": (uniform(0.2, 0.95), (uniform(0.3, 0.4), uniform(0.6, 0.7))),
    "truncpareto": (uniform(1.2, 2.5), (MIDDLE, LARGE)),
    "wrapcauchy": (HALF, (SMALL,)),
}

COSTLY: dict[str, tuple[Domain, tuple[Domain, ...]]] = {
    "kappa4": (LINE, (SMALL, uniform(0.15, 0.3))),
    **dict.fromkeys(("pearson3", "rel_breitwigner"), (HALF, (MIDDLE,))),
    "argus": (UNIT, (MIDDLE,)),
    "crystalball": (uniform(-4.0, 1.0), (MIDDLE, LARGE)),
    "ncx2": (HALF, (LARGE, MIDDLE)),
    "ncf": (HALF, (LARGE, LARGE, MIDDLE)),
    "nct": (LINE, (LARGE, SMALL)),
    "genhyperbolic": (LINE, (SMALL, MIDDLE, SMALL)),
    "norminvgauss": (LINE, (MIDDLE, SMALL)),
    "geninvgauss": (HALF, (MIDDLE, MIDDLE)),
    "gausshyper": (UNIT, (MIDDLE, MIDDLE, MIDDLE, MIDDLE)),
    "jf_skew_t": (LINE, (LARGE, MIDDLE)),
    "dpareto_lognorm": (HALF, (SMALL, MIDDLE, LARGE, LARGE)),
    "irwinhall": (ABOVE, (uniform(4.0, 4.0),)),
    "tukeylambda": (UNIT, (SMALL,)),
    "ksone": (UNIT, (uniform(3.0, 3.0),)),
    **dict.fromkeys(("kstwobign", "landau"), (HALF, ())),
}
COSTLY = {name: entry for name, entry in COSTLY.items() if hasattr(scipy.stats, name)}

VARIABLE_ALONE = {
    name for name in ("kstwo", "levy_stable", "studentized_range") if hasattr(scipy.stats, name)
}
"""Those of which the distribution function alone is known."""

CONSTANT: dict[str, set[int]] = {
    name: {1} for name in ("erlang", "irwinhall", "ksone") if hasattr(scipy.stats, name)
}
"""The positions of the shapes that a method of one of these cannot be differentiated by."""

COUNTS: dict[str, tuple[Operand, ...]] = {
    "bernoulli": (plain([0.0, 1.0, 1.0]), UNIT()),
    "binom": (plain([0.0, 2.0, 5.0]), plain(5), UNIT()),
    "poisson": (plain([0.0, 2.0, 5.0]), MIDDLE()),
    "geom": (plain([1.0, 2.0, 5.0]), UNIT()),
    "nbinom": (plain([0.0, 2.0, 5.0]), MIDDLE(), UNIT()),
}

ROWLESS_COUNTS: dict[str, tuple[Operand, ...]] = {
    "logser": (plain([1.0, 2.0, 5.0]), UNIT()),
    "planck": (plain([0.0, 2.0, 5.0]), UNIT()),
    "boltzmann": (plain([0.0, 2.0, 5.0]), UNIT(), plain(8)),
    "dlaplace": (plain([0.0, -2.0, 5.0]), UNIT()),
    "skellam": (plain([0.0, -2.0, 3.0]), MIDDLE(), MIDDLE()),
    "yulesimon": (plain([1.0, 2.0, 5.0]), MIDDLE()),
    "betabinom": (plain([0.0, 2.0, 4.0]), plain(6), MIDDLE(), MIDDLE()),
    "betanbinom": (plain([0.0, 2.0, 4.0]), plain(6), MIDDLE(), MIDDLE()),
    "zipf": (plain([1.0, 2.0, 5.0]), LARGE()),
    "zipfian": (plain([1.0, 2.0, 5.0]), MIDDLE(), plain(8)),
    "nchypergeom_fisher": (plain([0.0, 2.0, 4.0]), plain(20), plain(7), plain(9), MIDDLE()),
    "nchypergeom_wallenius": (plain([0.0, 2.0, 4.0]), plain(20), plain(7), plain(9), MIDDLE()),
    "hypergeom": (plain([0.0, 2.0, 4.0]), plain(20), plain(7), plain(9)),
    "nhypergeom": (plain([0.0, 2.0, 4.0]), plain(20), plain(7), plain(9)),
    "randint": (plain([0.0, 2.0, 4.0]), plain(0), plain(7)),
}
"""The same for those that are tried without rows."""

EVERY_METHOD = ("norm", "gamma", "pareto")
"""Distributions without shapes, with one that has a slope, and with one that moves the variable.
Of the others, the methods that are made in the same way of the same formulas are left to
`tests/scipy/test_stats.py`."""

IN_JAX: dict[str, str] = {
    **dict.fromkeys(("norm", "logistic", "cauchy"), "pdf logpdf cdf sf ppf isf"),
    **dict.fromkeys(("expon", "pareto"), "pdf logpdf cdf logcdf sf ppf"),
    **dict.fromkeys(("gumbel_l", "gumbel_r"), "cdf logcdf sf"),
    "beta": "pdf logpdf",
    **dict.fromkeys(("gamma", "chi2", "truncnorm"), "pdf logpdf cdf logcdf sf logsf"),
    **dict.fromkeys(("t", "laplace", "uniform"), "pdf logpdf"),
    "poisson": "pmf logpmf",
    **dict.fromkeys(("bernoulli", "binom", "geom", "nbinom"), "pmf logpmf"),
}
"""The methods that JAX has, and differentiates with respect to all parameters."""

UNKNOWN = {("vonmises", "cdf"), ("vonmises", "ppf")}
"""Integrals, which `tests/scipy/test_distributions.py` tries."""


def in_jax(name: str, method: str) -> dict[str, Any]:
    """Say what JAX's counterpart of a method is."""
    if method not in IN_JAX.get(name, "").split():
        return {"no_jax": "JAX has no such function"}

    def theirs(jax: Any) -> Any:
        function = getattr(getattr(jax.scipy.stats, name), method)
        return lambda *operands, name: function(*operands)  # noqa: PLW0108 - it takes a name too

    return {"jax": theirs}


def continuous() -> Iterator[Row]:
    """Make the rows of the continuous distributions."""
    for name, (domain, shapes) in CONTINUOUS.items():
        parameters = [shape() for shape in shapes]
        for method in METHODS if name in EVERY_METHOD else ("logpdf", "cdf", "ppf"):
            if "pmf" in method or (name, method) in UNKNOWN:
                continue
            variable = UNIT(3) if method in ("ppf", "isf") else domain(3)
            yield Row(
                METHODS[method],
                [variable, *parameters, LOC(), SCALE()],
                options={"name": name},
                **in_jax(name, method),
            )


def discrete() -> Iterator[Row]:
    """Make the rows of the discrete distributions."""
    for name, operands in COUNTS.items():
        for method in ("logpmf", "pmf", "cdf") if name == "nbinom" else ("logpmf", "cdf"):
            yield Row(
                METHODS[method],
                [*operands, plain(0)],
                options={"name": name},
                **in_jax(name, method),
            )


EVERY = {**CONTINUOUS, **ROWLESS, **TO_SECOND_ORDER, **COSTLY}
EVERY_COUNT = {**COUNTS, **ROWLESS_COUNTS}

assert {*EVERY, *VARIABLE_ALONE, *EVERY_COUNT} <= {*CONTINUOUS_FAMILIES, *DISCRETE}
assert {*EVERY_COUNT, *EVERY} <= {*stats.DISTRIBUTIONS}
assert {*EVERY_COUNT} == {*DISCRETE}


ROWS: list[Row] = [
    *MULTIVARIATE_ROWS,
    *continuous(),
    *discrete(),
    Row(log_root, [REAL(3), SMALL(3)], no_jax="it is a function of ours"),
    Row(odd_power, [REAL(3), MIDDLE(3)], no_jax="it is a function of ours"),
    Row(
        log_root,
        [REAL(3), fixed([0.0, 0.0, 0.0])],
        note="the limit",
        no_jax="it is a function of ours",
    ),
    *(
        Row(
            student_slope,
            [LINE(3), LARGE()],
            call=lambda f, y, df, order=order: f(y, df, order),
            note=f"order {order}",
            no_jax="it is a function of ours",
        )
        for order in (1, 2)
    ),
]

CONSTANTS: list[Row] = [
    Row(quartiles, [MIDDLE(2)], options={"name": "gamma"}),
    Row(counted_range, [UNIT(2)], options={"name": "geom"}),
]

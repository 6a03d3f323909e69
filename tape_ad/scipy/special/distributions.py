"""SciPy's distribution functions (DLMF 8.2 and 8.17) and their complements.

Counts refuse handles, or are rounded down and have no slope, as SciPy's functions do with them.
"""

import math
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, possibly, primal, ratio
from tape_ad.extend.rules import Entry, quiet, rule
from tape_ad.scipy.special.densities import beta_density, gamma_density
from tape_ad.scipy.special.incomplete import (
    betainc_slope,
    density_between,
    gammainc_slope,
    slope_between,
)
from tape_ad.scipy.special.shared import no_partial, sp, ufuncs

__all__ = ["DISTRIBUTIONS", "beta_over", "poisson"]


def chi_square(v: Array, x: Array) -> Array:
    """Give the density of the chi-square distribution."""
    return 0.5 * gamma_density(0.5 * v, 0.5 * x)


def fisher(n: Array, d: Array, x: Array) -> Array:
    """Give the density of the F distribution."""
    total = d + n * x
    return density_between(0.5 * n, 0.5 * d, n * x / total, d / total) * (n / total) * (d / total)


def beta_over(a: Array, b: Array, x: Array, y: Array) -> Array:
    """Multiply the density of the beta distribution by x y, y = 1 - x, also where it is infinite.

    That is at x = 0.
    """
    edge = np.equal(primal(x), 0) & np.less(a, 1)
    if not possibly(edge):
        return density_between(a, b, x, y) * (x * y)
    inside = np.where(edge, 0.5, x)
    density = density_between(a, b, inside, np.where(edge, 0.5, y))
    return np.where(edge, x**a / sp.beta(a, b), density * (inside * y))


def gamma_over(b: Array, a: Array, x: Array) -> Array:
    """Multiply the density of the gamma distribution at a x by x, also where it is infinite."""
    edge = np.equal(primal(a * x), 0) & np.less(b, 1)
    if not possibly(edge):
        return gamma_density(b, a * x) * x
    inside = gamma_density(b, np.where(edge, 1, a) * np.where(edge, 1, x)) * x
    return np.where(edge, a ** (b - 1) * x**b / sp.gamma(b), inside)


def fisher_first(n: Array, d: Array, x: Array) -> Array:
    """Differentiate fdtr with respect to the degrees of freedom of the numerator."""
    total = d + n * x
    part, rest = n * x / total, d / total
    slope = beta_over(0.5 * n, 0.5 * d, part, rest) / n
    return 0.5 * slope_between(0.5 * n, 0.5 * d, part, rest, 1, 0) + slope


def fisher_second(n: Array, d: Array, x: Array) -> Array:
    """Differentiate fdtr with respect to the degrees of freedom of the denominator."""
    total = d + n * x
    part, rest = n * x / total, d / total
    slope = beta_over(0.5 * n, 0.5 * d, part, rest) / d
    return 0.5 * slope_between(0.5 * n, 0.5 * d, part, rest, 0, 1) - slope


def poisson(k: Array, m: Array) -> Array:
    """Give the probability of k events, rounded down: -d pdtr / dm."""
    return gamma_density(np.floor(k) + 1, m)


def binomial(k: Array, n: Array, p: Array) -> Array:
    """-d bdtr / dp; bdtr is 1 for all p where k is n.

    SciPy rounds counts down, and drops what there is of `n` behind the point.
    """
    k, n = np.floor(k), np.trunc(n)
    certain = np.equal(k, n)
    rest = np.where(certain, 1.0, n - k)
    return np.where(certain, 0.0, beta_density(k + 1, rest, p))


def negative_binomial(k: Array, n: Array, p: Array) -> Array:
    """d nbdtr / dp, of counts of which SciPy drops what there is behind the point."""
    return beta_density(np.trunc(n), np.trunc(k) + 1, p)


def of_trials(sign: float) -> Entry:
    """Make the rule of how likely so many successes are at most, or more with another sign."""

    def by_chance(out: Array, k: Array, n: Array, p: Array) -> Array:
        inside = np.greater_equal(k, 0) & np.less(k, n)
        rest = np.where(inside, n - k, 1.0)
        slope = -sign * beta_density(np.where(inside, k, 0.0) + 1, rest, p)
        return np.where(inside, slope, 0.0)

    return rule(no_partial("binom", "k"), no_partial("binom", "n"), quiet(by_chance))


DISTRIBUTIONS: dict[Any, Entry] = {
    ufuncs._binom_cdf: of_trials(1.0),
    ufuncs._binom_sf: of_trials(-1.0),
    ufuncs._binom_pmf: rule(
        no_partial("binom", "k"),
        no_partial("binom", "n"),
        quiet(lambda out, k, n, p: out * (ratio(k, p) - ratio(n - k, 1 - p))),
    ),
    sp.chdtr: rule(
        quiet(lambda out, v, x: 0.5 * gammainc_slope(0.5 * v, 0.5 * x, 1)),
        quiet(lambda out, v, x: chi_square(v, x)),
    ),
    sp.chdtrc: rule(
        quiet(lambda out, v, x: -0.5 * gammainc_slope(0.5 * v, 0.5 * x, 1)),
        quiet(lambda out, v, x: -chi_square(v, x)),
    ),
    sp.betaincc: rule(
        lambda out, a, b, x: -betainc_slope(a, b, x, 1, 0),
        lambda out, a, b, x: -betainc_slope(a, b, x, 0, 1),
        lambda out, a, b, x: -beta_density(a, b, x),
    ),
    sp.gdtr: rule(
        quiet(lambda out, a, b, x: gamma_over(b, a, x)),
        quiet(lambda out, a, b, x: gammainc_slope(b, a * x, 1)),
        quiet(lambda out, a, b, x: gamma_over(b, x, a)),
    ),
    sp.gdtrc: rule(
        quiet(lambda out, a, b, x: -gamma_over(b, a, x)),
        quiet(lambda out, a, b, x: -gammainc_slope(b, a * x, 1)),
        quiet(lambda out, a, b, x: -gamma_over(b, x, a)),
    ),
    sp.fdtr: rule(
        quiet(lambda out, n, d, x: fisher_first(n, d, x)),
        quiet(lambda out, n, d, x: fisher_second(n, d, x)),
        quiet(lambda out, n, d, x: fisher(n, d, x)),
    ),
    sp.fdtrc: rule(
        quiet(lambda out, n, d, x: -fisher_first(n, d, x)),
        quiet(lambda out, n, d, x: -fisher_second(n, d, x)),
        quiet(lambda out, n, d, x: -fisher(n, d, x)),
    ),
    sp.pdtr: rule(None, quiet(lambda out, k, m: -poisson(k, m))),
    sp.pdtrc: rule(None, quiet(lambda out, k, m: poisson(k, m))),
    sp.bdtr: rule(None, no_partial("bdtr", "n"), quiet(lambda out, k, n, p: -binomial(k, n, p))),
    sp.bdtrc: rule(None, no_partial("bdtrc", "n"), quiet(lambda out, k, n, p: binomial(k, n, p))),
    sp.nbdtr: rule(
        no_partial("nbdtr", "k"),
        no_partial("nbdtr", "n"),
        quiet(lambda out, k, n, p: negative_binomial(k, n, p)),
    ),
    sp.nbdtrc: rule(
        no_partial("nbdtrc", "k"),
        no_partial("nbdtrc", "n"),
        quiet(lambda out, k, n, p: -negative_binomial(k, n, p)),
    ),
    sp.ndtri_exp: rule(
        quiet(lambda out, y: sp.erfcx(out * -math.sqrt(0.5)) * math.sqrt(math.pi / 2))
    ),
}

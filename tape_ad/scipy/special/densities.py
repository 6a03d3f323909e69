"""The densities of the gamma and beta distributions, as exact for large parameters as for small.

The logarithm of a density is a sum of terms that are each as large as the parameters and cancel.
Written as Stirling's formula times the exponential of a deviance, they do not: Loader 2000, "Fast
and accurate computation of binomial probabilities".
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, possibly, primal, ratio
from tape_ad.extend.rules import Entry, overridable, quiet, rule
from tape_ad.scipy.special.gamma_functions import digamma_step, polygamma
from tape_ad.scipy.special.shared import in_double, sp

__all__ = [
    "DENSITIES",
    "SMALL",
    "bell",
    "beta_density",
    "beta_density_slope",
    "beta_weight",
    "gamma_density",
    "gamma_density_slope",
    "gamma_weight",
    "with_factors",
]


SMALL = 0.5
"""Below it, 1 / gamma(a) is written as a / gamma(a + 1)."""


def stirling_error(a: Array) -> Array:
    """log gamma(a) minus Stirling's formula (a - 1/2) log a - a + log(2 pi) / 2, DLMF 5.11.1."""
    large = a >= 15
    inner, outer = np.where(large, 1.0, a), np.where(large, a, 15.0)
    i = 1 / (outer * outer)
    series = 1 / 1188 - i * (691 / 360360 - i / 156)
    series = (1 / 12 - i * (1 / 360 - i * (1 / 1260 - i * (1 / 1680 - i * series)))) / outer
    direct = (inner - 0.5) * np.log(inner) - inner + 0.5 * math.log(2 * math.pi)
    return np.where(large, series, sp.gammaln(inner) - direct)


def deviance(a: Array, m: Array) -> Array:
    """a log(a / m) + m - a, without cancellation where a is near m."""
    v = (a - m) / (a + m)
    near = np.abs(v) < 0.1
    v = np.where(near, v, 0.0)
    total: Array = 0.0
    for k in range(9, 0, -1):
        total = (total + 1 / (2 * k + 1)) * (v * v)
    return np.where(near, (a - m) * v + 2 * a * v * total, sp.xlogy(a, a / m) + m - a)


def gamma_weight(a: Array, x: Array) -> Array:
    """Compute x**a exp(-x) / gamma(a)."""
    return np.sqrt(a / (2 * np.pi)) * np.exp(-stirling_error(a) - deviance(a, x))


def beta_weight(a: Array, b: Array, x: Array, y: Array) -> Array:
    """x**a y**b / B(a, b), with y = 1 - x."""
    n = a + b
    error = stirling_error(n) - stirling_error(a) - stirling_error(b)
    scale = np.sqrt(a / n * b / (2 * np.pi))
    return scale * np.exp(error - deviance(a, n * x) - deviance(b, n * y))


@overridable
def gamma_density(a: Array, x: Array) -> Array:
    """x**(a - 1) exp(-x) / gamma(a), the density of the gamma distribution, for x >= 0."""

    def density(a: Array, x: Array) -> Array:
        at_zero = np.where(a < 1, np.inf, np.where(a > 1, 0.0, 1.0))
        inside = gamma_weight(np.where(a == 0, 1, a), x) / x
        inside = np.where(a == 0, 0.0, inside)
        values = np.where(x == 0, at_zero, np.where(x == np.inf, 0.0, inside))
        return np.where((a >= 0) & (x >= 0), values, np.nan)

    return in_double(density, a, x)


@overridable
def beta_density(a: Array, b: Array, x: Array) -> Array:
    """x**(a - 1) (1 - x)**(b - 1) / B(a, b), the density of the beta distribution."""

    def density(a: Array, b: Array, x: Array) -> Array:
        inside = beta_weight(a, b, x, 1 - x) / (x * (1 - x))
        at_zero = np.where(a < 1, np.inf, np.where(a > 1, 0.0, b))
        at_one = np.where(b < 1, np.inf, np.where(b > 1, 0.0, a))
        values = np.where(x == 0, at_zero, np.where(x == 1, at_one, inside))
        values = np.where((a == 0) | (b == 0), 0.0, values)  # all of it is at an end
        return np.where((a >= 0) & (b >= 0) & (a + b > 0) & (x >= 0) & (x <= 1), values, np.nan)

    return in_double(density, a, b, x)


def bell(kappa: Callable[[int, int], Array], i: int, j: int = 0) -> Array:
    """Give the complete Bell polynomial: d^(i+j) f / da^i db^j = f * bell.

    ``kappa(i, j)`` is the same derivative of log f. From f' = f (log f)' and Leibniz's rule.
    """
    if i == j == 0:
        return 1.0
    if i == 0:
        return bell(lambda first, second: kappa(second, first), j)
    return sum(
        math.comb(i - 1, k) * math.comb(j, m) * bell(kappa, i - 1 - k, j - m) * kappa(k + 1, m)
        for k in range(i)
        for m in range(j + 1)
    )


def with_factors(kappa: Callable[[int, int], Array], i: int, j: int, *shapes: Array) -> Array:
    """Give `bell` for a density whose small shapes are factors of it, and not in its logarithm.

    1 / gamma(a) is a / gamma(a + 1), of which no derivative has a pole at 0. Those of log(a) would
    cancel there, and leave none of the digits of a second derivative.
    """
    total: Array = 0.0
    for lower in itertools.product(*(range(min(order, 1) + 1) for order in (i, j))):
        factor: Array = 1.0
        for a, order, differentiated in zip(shapes, (i, j), lower, strict=False):
            small = np.less(a, SMALL)
            factor = factor * np.where(small, *((order, 0) if differentiated else (a, 1)))
        total = total + factor * bell(kappa, i - lower[0], j - lower[1])
    return total


def above_zero(x: Array, a: Array) -> Array:
    """Replace 0 where x**(a - 1) log(x) and its slope are 0 there, and the logarithm is not."""
    return np.where(np.equal(x, 0) & np.greater(a, 2), 1, x)


def below_one(x: Array, b: Array) -> Array:
    """Replace 1, likewise."""
    return np.where(np.equal(x, 1) & np.greater(b, 2), 0, x)


def gamma_density_slope(a: Array, x: Array, order: int) -> Array:
    """Differentiate the density of the gamma distribution with respect to a, `order` times."""
    small = np.less(a, SMALL)
    raised = a + small
    log = np.log(above_zero(x, a))

    def kappa(k: int, _: int) -> Array:
        return log - sp.digamma(raised) if k == 1 else -polygamma(k - 1, raised)

    density = gamma_density(raised, x) / np.where(small, x, 1)
    return density * with_factors(kappa, order, 0, a)


def beta_density_slope(a: Array, b: Array, x: Array, i: int, j: int) -> Array:
    """Differentiate the density of the beta distribution with respect to a and b."""
    n = a + b
    small = (np.less(a, SMALL), np.less(b, SMALL))
    raised = (a + small[0], b + small[1])
    logs = (np.log(above_zero(x, a)), np.log1p(-below_one(x, b)))

    def kappa(i: int, j: int) -> Array:
        if i + j == 1:
            if i:
                return logs[0] + digamma_step(raised[0], b - small[0])
            return logs[1] + digamma_step(raised[1], a - small[1])
        value = polygamma(i + j - 1, n)
        return value if i and j else value - polygamma(i + j - 1, raised[0] if i else raised[1])

    density = beta_density(*raised, x)
    for mask, side in zip(small, (x, 1 - x), strict=True):
        density = density / np.where(mask, side, 1)
    one, both = small[0] | small[1], small[0] & small[1]
    density = density / (np.where(one, n, 1) * np.where(both, n + 1, 1))
    return density * with_factors(kappa, i, j, a, b)


def gamma_density_second(out: Array, a: Array, x: Array) -> Array:
    """Differentiate by x; where x is 0 and a above 1, by the density of a - 1."""
    edge = np.equal(primal(x), 0) & np.greater(a, 1)
    if not possibly(edge):
        return out * (ratio(a - 1, x) - 1)
    at_zero = gamma_density(np.where(edge, a - 1, 1), np.where(edge, x, 0)) - out
    return np.where(edge, at_zero, out * (ratio(a - 1, np.where(edge, 1, x)) - 1))


def beta_density_third(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Differentiate by x; at the ends where it is 0, by the densities of a - 1 and b - 1."""
    low = np.equal(primal(x), 0) & np.greater(a, 1)
    high = np.equal(primal(x), 1) & np.greater(b, 1)
    edge = low | high
    if not possibly(edge):
        return out * (ratio(a - 1, x) - ratio(b - 1, 1 - x))
    inner = np.where(edge, 0.5, x)
    inside = out * (ratio(a - 1, inner) - ratio(b - 1, 1 - inner))
    at_zero = beta_density(np.where(low, a - 1, 1), np.where(low, b, 1), np.where(low, x, 0))
    at_one = beta_density(np.where(high, a, 1), np.where(high, b - 1, 1), np.where(high, x, 1))
    n = a + b - 1
    ends = np.where(low, n * at_zero - (b - 1) * out, (a - 1) * out - n * at_one)
    return np.where(edge, ends, inside)


DENSITIES: dict[Any, Entry] = {
    gamma_density: rule(
        quiet(lambda out, a, x: gamma_density_slope(a, x, 1)),
        quiet(gamma_density_second),
        facts=facts.ELEMENTWISE,
    ),
    beta_density: rule(
        quiet(lambda out, a, b, x: beta_density_slope(a, b, x, 1, 0)),
        quiet(lambda out, a, b, x: beta_density_slope(a, b, x, 0, 1)),
        quiet(beta_density_third),
        facts=facts.ELEMENTWISE,
    ),
}

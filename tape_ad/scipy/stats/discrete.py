"""What is known of the discrete distributions of `scipy.stats`: how they depend on their shapes.

As in `families`, a score is the derivative of the logarithm of the probability of k, and a slope
that of the distribution function at a whole number k. There is none for a shape parameter that is
a whole number itself.
"""

from collections.abc import Callable

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import Array, ratio
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.densities import beta_density, gamma_density
from tape_ad.scipy.special.gamma_functions import digamma_step
from tape_ad.scipy.special.incomplete import betainc_slope
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.special.zeta_functions import zeta_slope
from tape_ad.scipy.stats.expectations import by_counting
from tape_ad.scipy.stats.families import Shape
from tape_ad.scipy.stats.methods import pmf, sf

__all__ = ["DISCRETE", "Discrete"]


@frozen(eq=False, repr=False)
class Discrete:
    """How a discrete distribution depends on its shape parameters.

    Attributes
    ----------
    shapes : tuple of Shape or None
    """

    shapes: tuple[Shape | None, ...]


def trials_score(k: Array, n: Array, p: Array) -> Array:
    """Differentiate the logarithm of the probability of k successes in n trials by p."""
    return ratio(k, p) - ratio(n - k, 1 - p)


def trials_slope(k: Array, n: Array, p: Array) -> Array:
    """Differentiate the probability of at most k successes in n trials by p."""
    inside = np.greater_equal(k, 0) & np.less(k, n)
    k = np.where(inside, k, 0.0)
    return np.where(inside, -beta_density(k + 1, np.where(inside, n - k, 1.0), p), 0.0)


def counted(k: Array, formula: Array) -> Array:
    """A slope that is 0 below the first number."""
    return np.where(np.less(k, 0), 0.0, formula)


def logser_slope(k: Array, p: Array) -> Array:
    """Differentiate the distribution function of logser, an incomplete beta function."""
    beyond = sf(k, p, 0.0, name="logser")
    return counted(k, (p ** np.maximum(k, 0.0) - beyond) / ((1 - p) * np.log1p(-p)))


def boltzmann_slope(k: Array, rate: Array, n: Array) -> Array:
    """Differentiate the distribution function of boltzmann by the rate of its decay."""
    k = np.clip(k, -1.0, n - 1) + 1
    part, whole = -np.expm1(-rate * k), -np.expm1(-rate * n)
    return (k * np.exp(-rate * k) - part / whole * n * np.exp(-rate * n)) / whole


def dlaplace_slope(k: Array, a: Array) -> Array:
    """Differentiate the distribution function of dlaplace."""
    size = np.where(np.less(k, 0), -k - 1, k)
    slope = np.exp(-a * size) * (size / (np.exp(a) + 1) + 0.25 / np.cosh(a / 2) ** 2)
    return np.where(np.less(k, 0), -slope, slope)


def skellam_score(i: int, k: Array, mu1: Array, mu2: Array) -> Array:
    """Differentiate the logarithm of the probability of skellam, by its recurrence."""
    beside = pmf(k + i, mu1, mu2, 0.0, name="skellam")
    return beside / pmf(k, mu1, mu2, 0.0, name="skellam") - 1


def yulesimon_slope(k: Array, alpha: Array) -> Array:
    """Differentiate the distribution function of yulesimon, 1 - k B(k, alpha + 1)."""
    k = np.maximum(k, 0.0)
    beyond = sf(k, alpha, 0.0, name="yulesimon")
    return beyond * digamma_step(alpha + 1, k)


def zeta_ratio(k: Array, a: Array) -> Array:
    """Differentiate the logarithm of the probability of zipf, of which zeta(a) is the norm."""
    return -np.log(k) - zeta_slope(a, 1.0, 1) / sp.zeta(a, 1.0)


def less_mean(name: str, statistic: Callable[..., Array]) -> Callable[..., Array]:
    """The score of probabilities in proportion to u, d log u less its expectation."""

    def score(k: Array, *shapes: Array) -> Array:
        columns = [np.expand_dims(shape, -1) for shape in shapes]
        mean = by_counting(lambda i: statistic(i, *columns), shapes, name)
        return statistic(k, *shapes) - mean

    return score


def urn_score(k: Array, total: Array, n: Array, draws: Array, odds: Array) -> Array:
    """Differentiate the logarithm of the probability of nchypergeom_wallenius by the odds.

    The probability is C times the integral over 0 < t < 1 of
    (1 - t**(odds / d))**k (1 - t**(1 / d))**(draws - k), d = odds (n - k) + rest. It is done in
    s = log(v), v = -log(t) / d, around the greatest of the integrand, whose logarithm is concave.
    """
    k, total, n, draws, odds = (
        np.expand_dims(x, -1) for x in np.broadcast_arrays(k, total, n, draws, odds)
    )
    left, others = n - k, draws - k
    d = odds * left + (total - n - others)
    whole = np.where(np.greater(d, 0), d, 1.0)
    low, high = np.full(np.shape(whole), -80.0), np.full(np.shape(whole), 80.0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        v = np.exp(middle)
        rises = np.greater(1 - whole * v + k * fall(odds * v) + others * fall(v), 0)
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    bends = whole * v
    for times, z in ((k, odds * v), (others, v)):
        bends = bends + times * fall(z) * (z + fall(z) - 1)
    v = np.exp(low + np.sinh(STEPS) / np.sqrt(bends))
    logs = np.log(v) - whole * v + np.log(np.cosh(STEPS))
    logs = logs + sp.xlogy(k, -np.expm1(-odds * v)) + sp.xlogy(others, -np.expm1(-v))
    weights = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    slope = k * fall(odds * v) / odds - left * v
    mean = np.sum(weights * slope, axis=-1) / np.sum(weights, axis=-1)
    by_norm = (left / whole)[..., 0]
    return np.where(np.greater(d[..., 0], 0), mean + by_norm, 0.0)


STEPS = np.linspace(-5.5, 5.5, 121)


def fall(z: Array) -> Array:
    """z / (exp(z) - 1)."""
    return z * np.exp(-z) / -np.expm1(-z)


KNOWN: dict[str, Discrete] = {
    "bernoulli": Discrete(
        (Shape(lambda k, p: trials_score(k, 1.0, p), slope=lambda k, p: trials_slope(k, 1.0, p)),)
    ),
    "binom": Discrete((None, Shape(trials_score, slope=trials_slope))),
    "poisson": Discrete(
        (
            Shape(
                lambda k, mu: ratio(k, mu) - 1,
                slope=lambda k, mu: counted(k, -gamma_density(np.maximum(k, 0.0) + 1, mu)),
            ),
        )
    ),
    "geom": Discrete(
        (
            Shape(
                lambda k, p: 1 / p - ratio(k - 1, 1 - p),
                slope=lambda k, p: counted(k, k * (1 - p) ** (np.maximum(k, 1.0) - 1)),
            ),
        )
    ),
    "nbinom": Discrete(
        (
            Shape(
                lambda k, n, p: digamma_step(n, k) + np.log(p),
                slope=lambda k, n, p: counted(k, betainc_slope(n, np.maximum(k, 0.0) + 1, p, 1, 0)),
            ),
            Shape(
                lambda k, n, p: n / p - ratio(k, 1 - p),
                slope=lambda k, n, p: counted(k, beta_density(n, np.maximum(k, 0.0) + 1, p)),
            ),
        )
    ),
    "logser": Discrete(
        (Shape(lambda k, p: k / p + 1 / ((1 - p) * np.log1p(-p)), slope=logser_slope),)
    ),
    "planck": Discrete(
        (
            Shape(
                lambda k, rate: 1 / np.expm1(rate) - k,
                slope=lambda k, rate: counted(k, (k + 1) * np.exp(-rate * (k + 1))),
            ),
        )
    ),
    "boltzmann": Discrete(
        (
            Shape(
                lambda k, rate, n: 1 / np.expm1(rate) - k - n / np.expm1(rate * n),
                slope=boltzmann_slope,
            ),
            None,
        )
    ),
    "dlaplace": Discrete(
        (Shape(lambda k, a: 1 / np.sinh(a) - np.absolute(k), slope=dlaplace_slope),)
    ),
    "skellam": Discrete(
        (
            Shape(
                lambda k, mu1, mu2: skellam_score(-1, k, mu1, mu2),
                slope=lambda k, mu1, mu2: -pmf(k, mu1, mu2, 0.0, name="skellam"),
            ),
            Shape(
                lambda k, mu1, mu2: skellam_score(1, k, mu1, mu2),
                slope=lambda k, mu1, mu2: pmf(k + 1, mu1, mu2, 0.0, name="skellam"),
            ),
        )
    ),
    "yulesimon": Discrete(
        (
            Shape(
                lambda k, alpha: 1 / alpha - digamma_step(alpha + 1, k),
                slope=yulesimon_slope,
            ),
        )
    ),
    "betabinom": Discrete(
        (
            None,
            Shape(lambda k, n, a, b: digamma_step(a, k) - digamma_step(a + b, n)),
            Shape(lambda k, n, a, b: digamma_step(b, n - k) - digamma_step(a + b, n)),
        )
    ),
    "betanbinom": Discrete(
        (
            None,
            Shape(lambda k, n, a, b: digamma_step(a, n) - digamma_step(a + b, n + k)),
            Shape(lambda k, n, a, b: digamma_step(b, k) - digamma_step(a + b, n + k)),
        )
    ),
    "zipf": Discrete((Shape(zeta_ratio),)),
    "zipfian": Discrete((Shape(less_mean("zipfian", lambda k, a, n: -np.log(k))), None)),
    "nchypergeom_fisher": Discrete(
        (
            *(None, None, None),
            Shape(less_mean("nchypergeom_fisher", lambda k, m, n, draws, odds: k / odds)),
        )
    ),
    "nchypergeom_wallenius": Discrete((None, None, None, Shape(urn_score))),
    "hypergeom": Discrete((None, None, None)),
    "nhypergeom": Discrete((None, None, None)),
    "randint": Discrete((None, None)),
}

DISCRETE = {name: known for name, known in KNOWN.items() if getattr(scipy.stats, name)}
"""The distributions by SciPy's names; shapes stand in SciPy's order."""

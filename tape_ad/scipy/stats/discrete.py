"""What is known of discrete distributions of `scipy.stats` beside SciPy's own lines.

A score is the derivative of the logarithm of the probability of k by a shape. There is none for a
shape that is a whole number itself.
"""

from collections.abc import Callable

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.expectations import by_counting
from tape_ad.scipy.stats.families import DERIVED, PLAIN, Family, Shape
from tape_ad.scipy.stats.methods import distributions_of, pmf


def skellam(i: int) -> Shape:
    """Make the score of one of skellam's rates, by the recurrence of its probabilities."""

    def score(k: Array, *rates: Array) -> Array:
        beside = pmf(k + i, *rates, 0.0, name="skellam")
        return beside / pmf(k, *rates, 0.0, name="skellam") - 1

    return Shape(score)


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


KNOWN: dict[str, tuple[Shape | None, ...]] = {
    "binom": (None, DERIVED),
    "boltzmann": (DERIVED, None),
    "skellam": (skellam(-1), skellam(1)),
    **dict.fromkeys(("betabinom", "betanbinom"), (None, DERIVED, DERIVED)),
    "zipfian": (Shape(less_mean("zipfian", lambda k, a, n: -np.log(k))), None),
    "nchypergeom_fisher": (
        *(None, None, None),
        Shape(less_mean("nchypergeom_fisher", lambda k, m, n, draws, odds: k / odds)),
    ),
    "nchypergeom_wallenius": (None, None, None, Shape(urn_score)),
    **dict.fromkeys(("hypergeom", "nhypergeom"), (None, None, None)),
    "randint": (None, None),
}
"""By SciPy's names; shapes stand in SciPy's order."""

COUNTED_LINES: dict[tuple[str, str], Callable[..., Array]] = {
    ("bernoulli", "cdf"): lambda k, p: sp.betaincc(k + 1, 1 - k, p),
    ("binom", "cdf"): lambda k, n, p: sp.betaincc(k + 1, n - k, p),
    ("nbinom", "cdf"): lambda k, n, p: sp.betainc(n, k + 1, p),
}
"""What stands for SciPy's lines of a method, where these are compiled."""

DISCRETE: dict[str, Family] = {
    name: Family(shapes=KNOWN[name]) if name in KNOWN else PLAIN
    for name in distributions_of(scipy.stats._distn_infrastructure.rv_discrete)
    if name != "poisson_binom"
}
"""The discrete distributions that the installed SciPy has, and what is known of them."""

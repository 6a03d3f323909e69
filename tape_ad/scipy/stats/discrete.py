"""What is known of discrete distributions of `scipy.stats` beside SciPy's own lines.

A score is the derivative of the logarithm of the probability of k by a shape. There is none for a
shape that is a whole number itself.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, as_array, joined, primal
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for
from tape_ad.scipy.stats.expectations import by_counting, less_mean, weighed
from tape_ad.scipy.stats.families import DERIVED, PLAIN, Family, Shape
from tape_ad.scipy.stats.methods import distributions_of, pmf


def skellam(i: int) -> Shape:
    """Make the score of one of skellam's rates, by the recurrence of its probabilities."""

    def score(k: Array, *rates: Array) -> Array:
        beside = pmf(k + i, *rates, 0.0, name="skellam")
        return beside / pmf(k, *rates, 0.0, name="skellam") - 1

    return Shape(score)


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
    (mean,) = weighed(logs, k * fall(odds * v) / odds - left * v)
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
    "zipfian": (Shape(less_mean(by_counting, "zipfian", lambda k, a, n: -np.log(k))), None),
    "nchypergeom_fisher": (
        *(None, None, None),
        Shape(less_mean(by_counting, "nchypergeom_fisher", lambda k, m, n, draws, odds: k / odds)),
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


# Distributions by tables of numbers, on handles: SciPy's own code, with two of its steps


def with_numbers(copy: Callable[..., Any]) -> Callable[..., Any]:
    """Let numbers be handles, besides their probabilities, of which SciPy's code takes care."""

    @functools.wraps(scipy.stats.rv_discrete)
    def rv_discrete(*args: Any, values: Any = None, **kwargs: Any) -> Any:
        if values is None or not any_handle(values):
            return scipy.stats.rv_discrete(*args, values=values, **kwargs)
        numbers, chances = (np.ravel(as_array(joined(each))) for each in values)
        table = copy(*args, values=(primal(numbers), chances), **kwargs)
        if any_handle(numbers):  # which SciPy looks for in a set, whether there are equal ones
            table.xk = numbers[np.argsort(primal(numbers))]
            table.a, table.b = table.xk[0], table.xk[-1]
        table._rvs = refuse_draws
        return table

    return rv_discrete


def refuse_draws(*args: Any, **options: Any) -> NoReturn:
    """Refuse to draw numbers, of which no slope would tell how likely they are."""
    raise UnsupportedArgumentError(
        "scipy.stats.rv_discrete.rvs does not take handles; build the distribution of .data of "
        "those that are meant as constants"
    )


def chances_of(p: Sequence[Array]) -> Array:
    """How likely each number of several events is, along a first axis."""
    none = np.zeros((1, *p[0].shape))
    chances: Array = none + 1
    for each in p:
        chances = np.concatenate([chances * (1 - each), none]) + np.concatenate(
            [none, chances * each]
        )
    return chances


def picked(chances: Array, k: Any) -> Array:
    """Give what is known of each number."""
    return np.take_along_axis(chances, k.astype(int)[None], axis=0)[0]


@stands_for(scipy.stats._discrete_distns.poisson_binom_gen._pmf)
def events_pmf(self: Any, k: Any, *p: Array) -> Array:
    """The probability that so many events happen, of which each has its own."""
    k, *events = np.broadcast_arrays(primal(k), *p)
    return picked(chances_of(events), primal(k))


@stands_for(scipy.stats._discrete_distns.poisson_binom_gen._cdf)
def events_cdf(self: Any, k: Any, *p: Array) -> Array:
    """The probability that so many events or fewer happen."""
    k, *events = np.broadcast_arrays(primal(k), *p)
    return picked(np.cumsum(chances_of(events), axis=0), primal(k))

"""Expectations and distribution functions by double-exponential quadrature, as compositions.

They serve where there is no closed formula. Under `Takahasi and Mori's substitution
<https://doi.org/10.2977/prims/1195192451>`_ the trapezoidal rule converges exponentially, whatever
powers and logarithms an integrand has at the ends of the interval. Each integral is taken on both
sides of the median, and in the variable p = F(x) where SciPy knows the inverse of F: then no bound
of the integral moves with the shape parameters.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Constant, Entry, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.methods import isf, logpdf, logpmf, pdf, pmf, ppf

Integrand = Callable[[Array], Array]

STEP = 1 / 16
PLACES = np.arange(-4.5, 4.5 + STEP / 2, STEP)
DISTANCES = np.exp(0.5 * math.pi * np.sinh(PLACES))
LENGTHS = STEP * 0.5 * math.pi * np.cosh(PLACES) * DISTANCES
"""Nodes and weights for the integral from 0 to infinity."""

SHARES = 1 / (1 + np.exp(-math.pi * np.sinh(PLACES)))
PARTS = STEP * math.pi * np.cosh(PLACES) * SHARES * SHARES[::-1]
"""The same for that from 0 to 1."""

HALVES = PLACES <= 0
LOWER = SHARES[HALVES]
WEIGHTS = PARTS[HALVES] * np.where(PLACES[HALVES] == 0, 0.5, 1.0)
"""The same for that from 0 to 1/2, which has as much of each node's weight."""

MOST_TERMS = 200_000


@overridable
def quartiles(*shapes: Array, name: str) -> Array:
    """Give the ends of the support, the quartiles and the median, along a first axis."""
    distribution = getattr(scipy.stats, name)
    places = (0.0, 0.25, 0.5, 0.75, 1.0)
    with np.errstate(all="ignore"):
        low, high = distribution.support(*shapes)
        if name == "vonmises":  # which has all numbers for angles
            low, high = -math.pi, math.pi
        found = [low, *(distribution.ppf(p, *shapes) for p in places[1:-1]), high]
        return np.stack(np.broadcast_arrays(*found)).astype(float)


@overridable
def counted_range(*shapes: Array, name: str) -> Array:
    """Give the first and the last number that a discrete distribution has a probability for."""
    distribution = getattr(scipy.stats, name)
    with np.errstate(all="ignore"):
        low, high = distribution.support(*shapes)
        mean, var = distribution.stats(*shapes)
    reach = 45 * np.sqrt(var) + 60
    low = np.where(np.isinf(low), np.floor(mean - reach), low)
    high = np.where(np.isinf(high), np.ceil(mean + reach), high)
    return np.stack([np.min(low), np.max(high)])


LANDMARKS: dict[Any, Entry] = {quartiles: Constant(), counted_range: Constant()}
"""What is plain of a distribution: where its integrals are cut into parts."""


def has_bounds_that_move(name: str) -> bool:
    """Tell whether the support of a distribution depends on its shapes."""
    own = type(getattr(scipy.stats, name))
    return own._get_support is not scipy.stats._distn_infrastructure.rv_continuous._get_support


def expectation(
    function: Integrand, shapes: Sequence[Array], name: str, kink: Array | None = None
) -> Array:
    """Give the expectation of a function of a continuous variable in standard form.

    Parameters
    ----------
    function : callable
        Of an array with an axis for nodes behind those of the shapes.
    shapes : sequence of array
    name : str
    kink : array, optional
        A point where the density is not smooth.
    """
    columns = [np.expand_dims(shape, -1) for shape in shapes]
    if has_bounds_that_move(name):
        sides = (inverse(LOWER, *columns, 0.0, 1.0, name=name) for inverse in (ppf, isf))
        return sum(total(WEIGHTS, function(x), np.isfinite(x)) for x in sides)
    low, first, middle, third, high = np.expand_dims(quartiles(*shapes, name=name), -1)
    start = middle if kink is None else np.expand_dims(kink, -1)

    def weighed(x: Array) -> Array:
        none = np.less(pdf(x, *columns, 0.0, 1.0, name=name), 1e-290)  # where digits are lost
        x = np.where(none, start, x)
        return np.where(none, 0.0, pdf(x, *columns, 0.0, 1.0, name=name) * function(x))

    width = third - first
    return sum(partial_integral(weighed, start, *end) for end in ((low, -width), (high, width)))


def total(weights: Array, values: Array, known: Array) -> Array:
    """Add up values with weights, without those at infinity, which have none."""
    kept = known & np.not_equal(weights, 0) & np.isfinite(values)
    return np.sum(np.where(kept, weights * np.where(kept, values, 0.0), 0.0), axis=-1)


def partial_integral(integrand: Integrand, start: Array, end: Array, width: Array) -> Array:
    """Integrate from a point to an end of the support, and count what lies there positively.

    Parameters
    ----------
    integrand : callable
    start, end : array, shape (..., 1)
    width : array
        How far the most of it reaches, with its sign, where the end is infinite.
    """
    endless = np.isinf(end)
    length = np.where(endless, 0.0, np.where(endless, 0.0, end) - start)
    width = np.where(endless, width, 0.0)
    near = np.where(endless, 0.0, end) - length * SHARES  # whose digits count beside an end at 0
    x = np.where(endless, start + width * DISTANCES, near)
    weights = np.where(endless, np.absolute(width) * LENGTHS, np.absolute(length) * PARTS)
    return total(weights, integrand(x), np.isfinite(x))


def by_counting(function: Integrand, shapes: Sequence[Array], name: str) -> Array:
    """Give the expectation of a function of a discrete variable in standard form.

    Raises
    ------
    UnsupportedArgumentError
        Where the sum has too many terms.
    """
    low, high = counted_range(*shapes, name=name)
    if not high - low < MOST_TERMS:
        raise UnsupportedArgumentError(
            f"scipy.stats.{name}: with these parameters the expectation is a sum of too many terms "
            f"to be differentiated (from {low:g} to {high:g}); pass .data of those that are "
            "meant as constants"
        )
    numbers = np.arange(low, high + 1)
    columns = [np.expand_dims(shape, -1) for shape in shapes]
    chances = pmf(numbers, *columns, 0, name=name)
    return total(chances, function(numbers), np.True_)


def less_mean(
    expected: Callable[..., Array], name: str, statistic: Callable[..., Array]
) -> Callable[..., Array]:
    """The score of a density or probabilities in proportion to u: d log u less its expectation."""

    def score(y: Array, *shapes: Array) -> Array:
        columns = [np.expand_dims(shape, -1) for shape in shapes]
        mean = expected(lambda x: statistic(x, *columns), shapes, name)
        return statistic(y, *shapes) - mean

    return score


def weighed(logs: Array, *values: Array) -> list[Array]:
    """Give the means of values along the last axis, with weights by their logarithms."""
    weights = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    whole = np.sum(weights, axis=-1)
    return [np.sum(weights * value, axis=-1) / whole for value in values]


def moment_of(letter: str, shapes: Sequence[Array], name: str, kink: Array | None = None) -> Array:
    """Give a moment in standard form by the letter that SciPy has for it, or the entropy for "e".

    Moments about the mean lose no digits where it is far from 0.
    """
    discrete = isinstance(getattr(scipy.stats, name), scipy.stats._distn_infrastructure.rv_discrete)
    expected = by_counting if discrete else functools.partial(expectation, kink=kink)
    columns = [np.expand_dims(shape, -1) for shape in shapes]
    if letter == "e":
        place = (0,) if discrete else (0.0, 1.0)
        density = logpmf if discrete else logpdf
        return -expected(lambda x: density(x, *columns, *place, name=name), shapes, name)
    mean = expected(lambda x: x, shapes, name)
    if letter == "m":
        return mean

    def central(n: int) -> Array:
        return expected(lambda x: (x - np.expand_dims(mean, -1)) ** n, shapes, name)

    if letter == "v":
        return central(2)
    return central(3) / central(2) ** 1.5 if letter == "s" else central(4) / central(2) ** 2 - 3

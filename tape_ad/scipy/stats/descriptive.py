"""Moments, means, spreads and directions of samples, along their last axis."""

import math
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Constant, Derivation, overridable
from tape_ad.scipy.installed import asked, scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.samples import Table, floating, of_samples, off_limits, taken_over

__all__ = ["DESCRIPTIVE", "UNITS", "central_moment", "kurtosis", "skew", "trim_mean", "unit_of"]


REAL = np.isrealobj(asked(lambda: scipy.stats.tvar(np.array([1j, 2.0]))))
"""Whether variances of complex numbers are real, which they are in older releases."""

RAISES = np.lib.NumpyVersion(scipy.__version__) < "1.15.0"
"""Whether means of positive numbers are an error of others, which later releases make nan."""


def mean(a: Array) -> Array:
    """The mean, with its axis."""
    return np.mean(a, axis=-1, keepdims=True)


def central_moment(a: Array, order: int) -> Array:
    """The mean of a power of what differs from the mean."""
    return np.mean((a - mean(a)) ** order, axis=-1)


def moment(a: Array, order: Any = 1, center: Any = None) -> Any:
    """A moment about the mean, or another number."""
    if np.ndim(order):
        return [moment(a, int(each), center) for each in order]
    if center is not None and np.ndim(center):
        raise UnsupportedArgumentError(
            "scipy.stats.moment: on handles, center is a number; write np.mean((a - center) ** n)"
        )
    if center is None and order == 1:
        return np.zeros_like(np.mean(a, axis=-1))
    around = mean(a) if center is None else center
    return np.mean((a - around) ** order, axis=-1)


def alike(a: Array, variance: Array) -> Any:
    """Tell where a sample is constant, or its variance nothing but rounding."""
    return np.less_equal(variance, (np.finfo(a.dtype).eps * np.mean(a, axis=-1)) ** 2)


def of_differing(a: Array, variance: Array, values: Array) -> Array:
    """Give nan for constant samples."""
    return values * np.where(alike(a, variance), np.nan, np.ones((), values.dtype))


def skew(a: Array, bias: bool = True) -> Array:
    """The third moment in units of the deviation."""
    n, second = a.shape[-1], central_moment(a, 2)
    values = central_moment(a, 3) / second**1.5
    if not bias and n > 2:
        values = ((n - 1.0) * n) ** 0.5 / (n - 2.0) * values
    return of_differing(a, second, values)


def kurtosis(a: Array, fisher: bool = True, bias: bool = True) -> Array:
    """The fourth moment in units of the deviation; Fisher's is 0 for a normal distribution."""
    n, second = a.shape[-1], central_moment(a, 2)
    values = central_moment(a, 4) / second**2
    if not bias and n > 3:
        values = ((n**2 - 1.0) * values - 3 * (n - 1) ** 2.0) / (n - 2) / (n - 3) + 3.0
    values = of_differing(a, second, values)
    return values - 3 if fisher else values


def variation(a: Array, ddof: int = 0) -> Array:
    """The deviation over the mean."""
    return np.std(a, axis=-1, ddof=ddof) / np.mean(a, axis=-1)


def weighed(a: Array, weights: Any) -> Array:
    """The mean, or the average by weights."""
    if weights is None:
        return np.mean(a, axis=-1)
    weights = np.broadcast_to(weights, a.shape)  # so that each element of `a` counts in the sum
    return np.sum(a * weights, axis=-1) / np.sum(weights, axis=-1)


def gmean(a: Array, weights: Any = None, dtype: Any = None) -> Array:
    """Compute the geometric mean."""
    a = a if dtype is None else a.astype(dtype)
    return np.exp(weighed(np.log(a), weights))


def of_positive(what: str, a: Array) -> Array:
    """Treat numbers below 0 as the installed SciPy does: nan, or an error."""
    below = a < 0
    if not np.any(below):
        return a
    if RAISES:
        raise ValueError(f"{what} only defined if all elements greater than or equal to zero")
    return a * np.where(below, np.nan, np.ones((), a.dtype))


def hmean(a: Array, weights: Any = None, dtype: Any = None) -> Array:
    """Compute the harmonic mean."""
    a = a if dtype is None else a.astype(dtype)
    return 1.0 / weighed(1.0 / of_positive("Harmonic mean", a), weights)


def pmean(a: Array, weights: Any = None, p: Any = 1) -> Array:
    """Compute the power mean."""
    a = of_positive("Power mean", a)
    off_limits("pmean", "p", p, 0)
    return gmean(a, weights) if p == 0 else weighed(a**p, weights) ** (1 / p)


def sem(a: Array, ddof: int = 1) -> Array:
    """The standard error of the mean."""
    return np.std(a, axis=-1, ddof=ddof) / a.shape[-1] ** 0.5


def gstd(a: Array, ddof: int = 1) -> Array:
    """Compute the geometric standard deviation."""
    return np.exp(np.std(np.log(a), axis=-1, ddof=ddof))


def iqr(x: Array, rng: Any = (25, 75), scale: Any = 1.0, interpolation: str = "linear") -> Array:
    """The range between two percentiles."""
    low, high = sorted(rng)
    method: Any = interpolation
    high, low = (np.percentile(x, each, axis=-1, method=method) for each in (high, low))
    span = high - low
    if isinstance(scale, str):
        scale = 2 * math.sqrt(2) * sp.erfinv(0.5)
    return span / scale


def median_abs_deviation(x: Array, center: Any = None, scale: Any = 1.0) -> Array:
    """The median of the distances from the median, or from another centre."""
    middle = (np.median if center is None else center)(x, axis=-1)
    if isinstance(scale, str):
        scale = sp.ndtri(0.75)
    return np.median(np.absolute(x - np.expand_dims(middle, -1)), axis=-1) / scale


def trim_mean(a: Array, proportiontocut: float = 0.0) -> Array:
    """The mean without the same share of the least and of the greatest."""
    n = a.shape[-1]
    cut = int(proportiontocut * n)
    if cut > n - cut:
        raise ValueError("Proportion too big.")
    return np.mean(np.sort(a, axis=-1)[..., cut : n - cut], axis=-1)


def within(a: Array, limits: Any, inclusive: Any) -> Any:
    """Tell which elements are between two limits."""
    inside = np.ones(a.shape, bool)
    if limits is None:
        return inside
    (low, high), (from_low, to_high) = limits, inclusive
    if low is not None:
        inside = inside & (np.greater_equal(a, low) if from_low else np.greater(a, low))
    if high is not None:
        inside = inside & (np.less_equal(a, high) if to_high else np.less(a, high))
    if a.size and not np.any(inside):
        raise ValueError("No array values within given limits")
    return inside


def tmean(a: Array, limits: Any = None, inclusive: Any = (True, True)) -> Array:
    """The mean of what is between two limits."""
    inside = within(a, limits, inclusive)
    return np.sum(np.where(inside, a, 0.0), axis=-1) / np.sum(inside, axis=-1).astype(a.dtype)


def tvar(a: Array, limits: Any = None, inclusive: Any = (True, True), ddof: int = 1) -> Array:
    """The variance of what is between two limits."""
    inside = within(a, limits, inclusive)
    apart = a - np.expand_dims(tmean(a, limits, inclusive), -1)
    squares = apart * np.conj(apart) if apart.dtype.kind == "c" else apart**2
    squares = squares.real if REAL else squares
    count = np.sum(inside, axis=-1).astype(squares.dtype)
    total = np.sum(np.where(inside, squares, 0.0), axis=-1)
    return total / np.where(count > ddof, count - ddof, np.nan)  # it has none of so few


def tstd(a: Array, limits: Any = None, inclusive: Any = (True, True), ddof: int = 1) -> Array:
    """The standard deviation of what is between two limits."""
    return np.sqrt(tvar(a, limits, inclusive, ddof))


def tsem(a: Array, limits: Any = None, inclusive: Any = (True, True), ddof: int = 1) -> Array:
    """The standard error of the mean of what is between two limits."""
    count = np.sum(within(a, limits, inclusive), axis=-1).astype(a.dtype)
    return tstd(a, limits, inclusive, ddof) / np.sqrt(count)


def direction(samples: Array, period: float) -> tuple[Array, Array]:
    """The mean sine and cosine of angles."""
    angles = samples * ((2.0 * math.pi) / period)
    return np.mean(np.sin(angles), axis=-1), np.mean(np.cos(angles), axis=-1)


def circmean(samples: Array, high: float = 2 * math.pi, low: float = 0) -> Array:
    """Compute the circular mean: the mean direction of angles."""
    period = high - low
    angle = np.arctan2(*direction(samples, period))
    return (angle * (period / (2.0 * math.pi)) - low) % period + low


def resultant(samples: Array, period: float) -> Array:
    """How much angles agree: 1 where they are equal, which rounding could exceed."""
    return np.minimum(np.hypot(*direction(samples, period)), 1.0)


def circvar(samples: Array, high: float = 2 * math.pi, low: float = 0) -> Array:
    """Compute the circular variance: how far angles spread."""
    return 1.0 - resultant(samples, high - low)


def circstd(
    samples: Array, high: float = 2 * math.pi, low: float = 0, normalize: bool = False
) -> Array:
    """Compute the circular standard deviation of angles."""
    deviation = np.sqrt(-2 * np.log(resultant(samples, high - low)))
    return deviation if normalize else deviation * ((high - low) / (2.0 * math.pi))


@overridable
def unit_of(shares: Array) -> Array:
    """What numbers add up to, which has no slope here: what is computed by it depends on none."""
    return np.sum(shares, axis=-1, keepdims=True)


def entropy(pk: Array, qk: Any = None, base: Any = None) -> Array:
    """The entropy of shares, or what they have over others.

    Of numbers x that need not add up to 1 it is sum(entr(x)) / sum(x) + log(sum(x)). So a share
    of 0, whose own slope is inf, gives the others theirs, where slopes of x / sum(x) would not.
    """
    with np.errstate(invalid="ignore"):
        pk = pk / unit_of(pk)
        sums, logarithm = np.sum(pk, axis=-1), 0.0
        if qk is not None:
            qk = qk / unit_of(qk)
            logarithm = np.log(np.sum(qk, axis=-1))
        terms = sp.entr(pk) if qk is None else sp.rel_entr(pk, qk)
        total = np.sum(terms, axis=-1)
        if pk.shape[-1]:
            logarithm = logarithm - np.log(sums)
            total = total / sums + (-logarithm if qk is None else logarithm)
    return total if base is None else total / np.log(base)


def kstat(data: Array, n: int = 2) -> Array:
    """Compute the n-th k-statistic."""
    count = np.asarray(data.shape[-1], data.dtype)  # of one observation it is a number over 0
    if n not in (1, 2, 3, 4):
        raise ValueError("k-statistics only supported for 1<=n<=4")
    if n == 1:
        return np.mean(data, axis=-1)
    second = central_moment(data, 2)
    if n == 2:
        return second * count / (count - 1)
    if n == 3:
        return central_moment(data, 3) * (count * count / ((count - 1) * (count - 2)))
    fourth = central_moment(data, 4) * (count + 1) - 3 * (count - 1) * second * second
    return fourth * (count * count / ((count - 1) * (count - 2) * (count - 3)))


def kstatvar(data: Array, n: int = 2) -> Array:
    """What the variance of a k-statistic is estimated to be."""
    count = data.shape[-1]
    if n == 1:
        return kstat(data, 2) / count
    if n != 2:
        raise ValueError("Only n=1 or n=2 supported.")
    return (2 * count * kstat(data, 2) ** 2 + (count - 1) * kstat(data, 4)) / (count * (count + 1))


def describe(a: Array, ddof: int = 1, bias: bool = True) -> tuple[Any, ...]:
    """Describe a sample by its number, its bounds and four moments."""
    if not a.size:
        raise ValueError("The input must not be empty.")
    return (
        np.int64(a.shape[-1]),
        (np.min(a, axis=-1), np.max(a, axis=-1)),
        np.mean(a, axis=-1),
        np.var(a, axis=-1, ddof=ddof),
        skew(a, bias),
        kurtosis(a, bias=bias),
    )


def directional_stats(samples: Any, *, axis: int = 0, normalize: bool = True) -> tuple[Any, Any]:
    """The mean of directions, and how much they agree."""
    samples = floating(samples)
    if samples.ndim < 2:
        raise ValueError(
            "samples must at least be two-dimensional. Instead samples has shape: "
            f"{tuple(samples.shape)}"
        )
    samples = np.moveaxis(samples, axis, 0)
    if normalize:
        samples = samples / np.linalg.norm(samples, axis=-1, keepdims=True)
    middle = np.mean(samples, axis=0)
    length = np.linalg.norm(middle, axis=-1, keepdims=True)
    return middle / length, length[..., 0]


DESCRIPTIVE: Table = dict(
    of_samples(compute.__name__, compute, samples)
    for samples, computes in {
        "a": (
            *(moment, skew, kurtosis, variation, sem, gstd, trim_mean),
            *(tmean, tvar, tstd, tsem),
        ),
        "a weights": (gmean, hmean, pmean),
        "x": (iqr, median_abs_deviation),
        "samples": (circmean, circvar, circstd),
        "pk qk": (entropy,),
        "data": (kstat, kstatvar),
    }.items()
    for compute in computes
)
DESCRIBED = ("nobs", "minmax", "mean", "variance", "skewness", "kurtosis")
DESCRIPTIVE |= [of_samples("describe", describe, "a", DESCRIBED)]
DIRECTED = ("mean_direction", "mean_resultant_length")
DESCRIPTIVE |= {
    taken_over("directional_stats", DIRECTED): Derivation(directional_stats),
}
UNITS: Table = {unit_of: Constant()}

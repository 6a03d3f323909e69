"""Quantiles, expectiles and what else is made of a sample in its order."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import SHAPED_BY_VALUES, Derivation
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.results import SigmaclipResult
from tape_ad.scipy.stats.samples import (
    Table,
    floating,
    floats,
    of_samples,
    primal,
    taken_over,
)

__all__ = ["QUANTILES", "RESULTS"]

SHIFTS: dict[str, Callable[[Array], Any]] = {
    "inverted_cdf": lambda p: 0.0,
    "averaged_inverted_cdf": lambda p: 0.0,
    "closest_observation": lambda p: -0.5,
    "interpolated_inverted_cdf": lambda p: 0.0,
    "hazen": lambda p: 0.5,
    "weibull": lambda p: p,
    "linear": lambda p: 1 - p,
    "median_unbiased": lambda p: p / 3 + 1 / 3,
    "normal_unbiased": lambda p: p / 4 + 3 / 8,
}
"""What Hyndman & Fan 1996 call m, for the methods that their equation 1 is for."""

ROUNDED: dict[str, tuple[Any, Any]] = {
    "round_outward": (np.floor, np.ceil),
    "round_inward": (np.ceil, np.floor),
    "round_nearest": (np.round, np.round),
}
"""How the methods for trimming round the place in the lower and in the upper half."""


def quantile(
    x: Any,
    p: Any,
    *,
    method: str = "linear",
    axis: Any = 0,
    nan_policy: str = "propagate",
    keepdims: Any = None,
    weights: Any = None,
) -> Array:
    """The quantiles of samples at probabilities, slice by slice."""
    x, p, *rest = floats([x, p] if weights is None else [x, p, weights])
    dtype = np.result_type(x, p, *rest)
    x, p, *rest = (each.astype(dtype) for each in (x, p, *rest))
    if method not in SHIFTS and method not in ROUNDED and method != "harrell-davis":
        raise ValueError(f"`method` must be one of {sorted([*SHIFTS, *ROUNDED, 'harrell-davis'])}")
    if rest and method not in SHIFTS:
        raise ValueError(f"`method='{method}'` does not support `weights`.")
    ndim, flat = max(x.ndim, p.ndim), axis is None
    if flat:
        (x, p, *rest), axis = (np.reshape(each, -1) for each in (x, p, *rest)), 0
    axis = np.lib.array_utils.normalize_axis_index(axis, max(x.ndim, p.ndim))
    x, p, *rest = by_slices(axis, x, p, *rest)
    if keepdims is False and p.shape[-1] != 1:
        raise ValueError("`keepdims` may be False only if the length of `p` along `axis` is 1.")
    y, n, cumulated = in_order(x, nan_policy, *rest)
    outside = (primal(p) > 1) | (primal(p) < 0) | np.isnan(p) | (n == 0)
    p = np.where(outside, 0.5, p)
    n = np.maximum(n, 1).astype(y.dtype)
    result = values_at(y, p, n, cumulated, method)
    result = result * np.where(outside, np.nan, 1.0).astype(result.dtype)
    if p.shape[-1] == 1 and not keepdims:
        return result[..., 0]
    if flat and keepdims:
        return np.reshape(result, (*(1,) * (ndim - 1), -1))
    return np.moveaxis(result, -1, axis)


def by_slices(axis: int, *arrays: Array) -> list[Array]:
    """Bring an axis to the end, and let the others broadcast."""
    ndim = max(x.ndim for x in arrays)
    arrays = tuple(x[(None,) * (ndim - x.ndim)] for x in arrays)
    moved = [np.moveaxis(x, axis, -1) for x in arrays]
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in moved))
    return [np.broadcast_to(x, (*lead, x.shape[-1])) for x in moved]


def in_order(x: Array, nan_policy: str, weights: Any = None) -> tuple[Array, Any, Any]:
    """Sort samples, and give how many there are, and the sums of their weights if there are any."""
    gaps = np.isnan(x)
    if nan_policy == "raise" and gaps.any():
        raise ValueError("The input contains nan values")
    if x.shape[-1] == 0:
        x = np.concatenate([x, np.full((*x.shape[:-1], 1), np.nan, x.dtype)], axis=-1)
        gaps = np.isnan(x)
    lost = np.sum(gaps, axis=-1, keepdims=True)
    n = np.where((lost > 0) & (nan_policy == "propagate"), 0, x.shape[-1] - lost)
    x = np.where(gaps, np.inf, x)
    if weights is None:
        return np.sort(x, axis=-1), n, None
    none = np.equal(weights, 0)
    order = np.argsort(np.where(none, np.inf, x), axis=-1)
    n = np.maximum(n - np.sum(none, axis=-1, keepdims=True), 0)
    sums = np.cumsum(np.take_along_axis(weights, order, axis=-1), axis=-1)
    return np.take_along_axis(x, order, axis=-1), n, sums


def values_at(y: Array, p: Array, n: Array, cumulated: Any, method: str) -> Array:
    """Give the quantiles of sorted samples."""
    last = n - 1

    def at(place: Any) -> Array:
        return np.take_along_axis(y, np.clip(place, 0, last).astype(int), axis=-1)

    if method in ROUNDED:
        low, high = (
            rounds(primal(x)) for rounds, x in zip(ROUNDED[method], (p * n, p * n - 1), strict=True)
        )
        return at(np.where(primal(p) < 0.5, low, high))
    if method == "harrell-davis":
        return averaged(y, p, n)
    total = n if cumulated is None else np.take_along_axis(cumulated, last.astype(int), axis=-1)
    place = p * total + SHIFTS[method](p)
    if cumulated is None:
        above = np.floor(place)
        below = above - 1
    else:
        above, below = (
            np.sum(cumulated[..., None, :] <= where[..., :, None], axis=-1).astype(y.dtype)
            for where in (place, place - 1)
        )
    share = place - np.floor(place)
    if method == "inverted_cdf":
        share = np.greater(share, 0).astype(y.dtype)
    elif method == "averaged_inverted_cdf":
        share = (1 + np.greater(share, 0).astype(y.dtype)) / 2
    elif method == "closest_observation":
        share = 1 - (np.equal(share, 0) & (below % 2 == 1)).astype(y.dtype)
    share = np.where(below < 0, 0.0, share).astype(y.dtype)
    one, other = at(below), at(above)
    return (1 - share) * one + share * other


def averaged(y: Array, p: Array, n: Array) -> Array:
    """Harrell & Davis 1982: a mean of all elements."""
    p = p[..., None]
    n = n[..., None]
    steps = np.minimum(np.arange(y.shape[-1] + 1) / n, 1.0)
    shares = sp.betainc(p * (n + 1), (1 - p) * (n + 1), steps)
    weights = shares[..., 1:] - shares[..., :-1]
    y = np.where(np.isinf(y), 0.0, y)[..., None, :]
    return np.sum(np.where(np.isnan(weights), 0.0, weights) * y, axis=-1)


def scoreatpercentile(
    a: Any, per: Any, limit: Any = (), interpolation_method: str = "fraction", axis: Any = None
) -> Array:
    """The score at percentages of a sample."""
    a, per = floating(a), floating(per)
    if len(limit):
        a = a[(a >= limit[0]) & (a <= limit[1])]
    a, axis = (np.reshape(a, -1), 0) if axis is None else (a, axis)
    if not a.size:
        return per * np.nan
    if np.any((per < 0) | (per > 100)):
        raise ValueError("percentile must be in the range [0, 100]")
    ends = {"lower": np.floor, "higher": np.ceil}
    if interpolation_method not in ("fraction", *ends):
        raise ValueError("interpolation_method can only be 'fraction', 'lower' or 'higher'")
    y = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    place = per / 100.0 * (y.shape[0] - 1)
    if interpolation_method in ends:
        return y[ends[interpolation_method](primal(place)).astype(int)]
    below = np.minimum(np.floor(primal(place)), max(y.shape[0] - 2, 0)).astype(int)
    share = np.reshape(place - below, (*place.shape, *(1,) * (y.ndim - 1)))
    return (1 - share) * y[below] + share * y[np.minimum(below + 1, y.shape[0] - 1)]


def expectile(a: Any, alpha: Any = 0.5, *, weights: Any = None) -> Array:
    """The number about which deviations are balanced, those on one side times alpha."""
    a = floating(a)
    weights = weights if weights is None else np.reshape(np.broadcast_to(weights, a.shape), -1)
    return balanced(np.reshape(a, -1), weights, alpha)


def balanced(a: Array, weights: Any = None, alpha: Any = 0.5) -> Array:
    """The expectile of samples along the last axis: a mean that is weighed by the sides of it."""
    along = {"axis": -1} if BY_AXIS else {}
    at = find_expectile(primal(a), primal(alpha), weights=primal(weights), **along)
    parts = np.where(np.less_equal(a, np.expand_dims(at, -1)), 1 - alpha, alpha)
    parts = parts if weights is None else parts * weights
    return (np.sum(parts * a, axis=-1) / np.sum(parts, axis=-1)).astype(at.dtype)


def lmoment(
    sample: Array,
    order: Any = None,
    sorted: bool = False,  # noqa: A002 - it is SciPy's name
    standardize: bool = True,
) -> Any:
    """The L-moments, those above the second over it; Hosking 1990."""
    orders = np.arange(1, 5) if order is None else np.asarray(order)
    if orders.dtype.kind not in "iu" or np.any(orders <= 0) or not orders.size or orders.ndim > 1:
        raise ValueError("`order` must be a scalar or a non-empty array of positive integers.")
    sample = sample if sorted else np.sort(sample, axis=-1)
    n, k = sample.shape[-1], np.arange(int(np.max(orders)), dtype=sample.dtype)
    places = np.arange(n, dtype=sample.dtype)
    with np.errstate(all="ignore"):
        scale = np.where(k < n, scipy.special.binom(n - 1.0, k), 1.0)
        weights = scipy.special.binom(places, k[:, None])
        weighed = np.vecdot(weights, sample[..., None, :]) / scale / n
    signs = (-1.0) ** (k[:, None] - k) * scipy.special.binom(k[:, None], k)
    factors = signs * scipy.special.binom(k[:, None] + k, k)
    moments = np.vecdot(factors, weighed[..., None, :])

    def moment(number: int) -> Array:
        value = moments[..., number - 1]
        if number > n:
            return value * np.nan
        return value / moments[..., 1] if standardize and number > 2 else value

    return [moment(int(each)) for each in orders] if orders.ndim else moment(int(orders))


def bound(
    a: Array, limit: Any, inclusive: bool, keeps: tuple[Any, Any], least: Callable[..., Array]
) -> Array:
    """The least or greatest of what is beyond a limit; nan where there is nothing."""
    inside: Any = np.ones(a.shape, bool)
    if limit is not None:
        inside = keeps[0](a, limit) if inclusive else keeps[1](a, limit)
    if a.size and not np.any(inside):
        raise ValueError("No array values within given limits")
    endless = np.inf if least is np.min else -np.inf
    value = least(np.where(inside, a, endless), axis=-1)
    return value * np.where(np.any(inside, axis=-1), 1.0, np.nan).astype(value.dtype)


def tmin(a: Array, lowerlimit: Any = None, inclusive: bool = True) -> Array:
    """The least element above a limit."""
    return bound(a, lowerlimit, inclusive, (np.greater_equal, np.greater), np.min)


def tmax(a: Array, upperlimit: Any = None, inclusive: bool = True) -> Array:
    """The greatest element below a limit."""
    return bound(a, upperlimit, inclusive, (np.less_equal, np.less), np.max)


def sigmaclip(
    a: Any, low: Any = 4.0, high: Any = 4.0, *, nan_policy: str = "propagate"
) -> tuple[Array, Array, Array]:
    """Leave out what is too many deviations from the mean, until nothing is."""
    kept = np.reshape(floating(a), -1)
    if nan_policy == "omit":
        kept = kept[~np.isnan(kept)]
    elif nan_policy == "raise" and np.isnan(kept).any():
        raise ValueError("The input contains nan values")
    while True:
        size, middle, spread = kept.size, np.mean(kept), np.std(kept)
        lower, upper = middle - spread * low, middle + spread * high
        kept = kept[(kept >= lower) & (kept <= upper)]
        if kept.size == size:
            return (kept, lower, upper)


def cut(a: Any, count: Callable[[int], tuple[int, int]], axis: Any) -> Array:
    """Give a part of a sample in its order, which stands as `numpy.partition` leaves it."""
    a = floating(a)
    a, axis = (np.reshape(a, -1), 0) if axis is None else (a, axis)
    if not a.size:
        return a
    low, high = count(a.shape[axis])
    if low >= high:
        raise ValueError("Proportion too big.")
    order = np.argpartition(primal(a), (low, high - 1), axis)
    parted = np.take_along_axis(a, order, axis=axis)
    return np.moveaxis(np.moveaxis(parted, axis, 0)[low:high], 0, axis)


def trimboth(a: Any, proportiontocut: float, axis: Any = 0) -> Array:
    """Leave out the same share of the least and of the greatest."""
    return cut(a, lambda n: (int(proportiontocut * n), n - int(proportiontocut * n)), axis)


def trim1(a: Any, proportiontocut: float, tail: str = "right", axis: Any = 0) -> Array:
    """Leave out a share of the greatest, or of the least."""
    right = tail.lower() == "right"

    def count(n: int) -> tuple[int, int]:
        least = int(proportiontocut * n)
        return (0, n - least) if right else (least, n)

    return cut(a, count, axis)


def of_its_own(name: str, fields: tuple[str, ...] = ()) -> Any:
    """Make SciPy's function one that handles can take over, of whose shape values decide."""
    function = taken_over(name, fields)
    SHAPED_BY_VALUES.add(function)
    return function


BY_AXIS = "axis" in inspect.signature(scipy.stats.expectile).parameters
"""Whether expectiles are along an axis, as they are since SciPy 1.18."""

if BY_AXIS:
    find_expectile, of_expectile = of_samples("expectile", balanced, "a weights")
    # The signature says None, and the release may take the first axis all the same
    AXIS = 0 if np.ndim(scipy.stats.expectile(np.ones((2, 1)))) else None

    def expectile_of_samples(a: Any, alpha: Any = 0.5, *, axis: Any = AXIS, **rest: Any) -> Array:
        """Take the axis that SciPy takes where none is given, and the precision of both."""
        if hasattr(alpha, "dtype"):
            a = floating(a)
            a = a.astype(np.result_type(a.dtype, alpha.dtype))
        result: Array = of_expectile.compute(a, alpha, axis=axis, **rest)
        return result

    OF_EXPECTILE = Derivation(expectile_of_samples)
else:
    find_expectile, OF_EXPECTILE = taken_over("expectile"), Derivation(expectile)

CLIPPED = ("clipped", "lower", "upper")

QUANTILES: Table = {
    find_expectile: OF_EXPECTILE,
    of_its_own("sigmaclip", CLIPPED): Derivation(sigmaclip),
    of_its_own("scoreatpercentile"): Derivation(scoreatpercentile),
    **{taken_over(each.__name__): Derivation(each) for each in (trimboth, trim1)},
    **{
        taken_over(each.__name__): Derivation(each)
        for each in (quantile,)
        if getattr(scipy.stats, each.__name__)
    },
    **dict(
        of_samples(each.__name__, each, samples)
        for samples, each in (("a", tmin), ("a", tmax), ("sample", lmoment))
        if getattr(scipy.stats, each.__name__)
    ),
}
"""The functions by SciPy's."""

RESULTS: dict[str, Callable[..., Any]] = {"sigmaclip": SigmaclipResult}
"""What is made of the parts that they give."""

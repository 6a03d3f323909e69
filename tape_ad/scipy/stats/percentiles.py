"""Percentiles of a sorted sample, also by their shares, and counts in bins of one size."""

import math
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, any_handle, plain, primal
from tape_ad.extend.packages import copied
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for
from tape_ad.scipy.stats.samples import floating

__all__: list[str] = []


@stands_for(scipy.stats._stats_py._compute_qth_percentile)
def percentile(ordered: Any, per: Any, interpolation_method: str, axis: int) -> Array:
    """Give a percentile, or one for each of several shares; on an element with its right slope.

    SciPy takes the element there, which does not depend on the share.
    """
    if np.ndim(per):
        return np.stack([percentile(ordered, each, interpolation_method, axis) for each in per])
    original = scipy.stats._stats_py._compute_qth_percentile
    told = original(primal(ordered), primal(per), interpolation_method, axis)  # or its errors
    last = ordered.shape[axis] - 1
    index = per / 100.0 * last
    place = float(primal(index))
    rounding = {"lower": math.floor, "higher": math.ceil}
    round_to = rounding.get(interpolation_method)
    below = round_to(place) if round_to else min(math.floor(place), max(last - 1, 0))
    low = np.take(ordered, below, axis=axis).astype(told.dtype)
    if round_to or not last or (place == below and not any_handle(index)):
        return low
    above = np.take(ordered, below + 1, axis=axis).astype(told.dtype)
    return low + (index - below) * (above - low)


range_of = copied(scipy.stats.iqr)


@stands_for(scipy.stats.iqr)
def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, *args: Any, **options: Any
) -> Any:
    """Give the distance between two percentiles; SciPy does not divide by a scale of just 1."""
    if not any_handle(scale):
        return range_of(x, axis, rng, scale, *args, **options)
    return range_of(x, axis, rng, 1.0, *args, **options) / scale


# Bins, whose places depend on the sample


def membership(a: Array, edges: Any) -> Any:
    """Say with 0 and 1 which elements are in which bin, in rows; the last bin has both its ends."""
    numbers: Any = np.searchsorted(edges, a, side="right") - 1
    numbers = np.where(np.equal(a, edges[-1]), len(edges) - 2, numbers)
    return np.equal(numbers, np.arange(len(edges) - 1)[:, None]).astype(float)


@stands_for(scipy.stats._stats_py._histogram)
def histogram(
    a: Any, numbins: int = 10, defaultlimits: Any = None, weights: Any = None, **options: Any
) -> Any:
    """Count what is in bins of one size, which SciPy's function does; their edges are handles.

    Since SciPy 1.18 it also takes ``density`` and ``cumulative``, for `relfreq` and `cumfreq`.
    """
    told = scipy.stats._stats_py._histogram(*plain((a, numbins, defaultlimits, weights)), **options)
    counts, low, size, _ = told
    a = np.reshape(floating(a), -1).astype(size.dtype)
    given = defaultlimits
    if given is None:
        start, stop = (np.min(a), np.max(a)) if a.size else (0.0, 1.0)
        margin = (stop - start) / (2.0 * (numbins - 1.0)) if a.size else 0.0
        given = start - margin, stop + margin
    edges = np.linspace(given[0], given[1], numbins + 1)
    if weights is not None:
        share = np.matmul(membership(primal(a), primal(edges)), np.reshape(weights, -1))
        if options.get("density"):
            share = share / np.sum(weights)
        counts = (np.cumsum(share) if options.get("cumulative") else share).astype(counts.dtype)
    low = given[0].astype(size.dtype) if any_handle(given[0]) else low
    return type(told)(counts, low, (edges[1] - edges[0]).astype(size.dtype), told[3])


@stands_for(scipy.stats._binned_statistic._bin_numbers)
def bin_numbers(*args: Any) -> Any:
    """Number the bins that points are in, which is piecewise constant."""
    return scipy.stats._binned_statistic._bin_numbers(*plain(args))

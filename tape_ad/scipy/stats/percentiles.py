"""Percentiles between the elements of a sorted sample, also in their shares."""

import math
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, any_handle, primal
from tape_ad.extend.packages import copied
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for

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

"""Peaks and medians of windows: where they are is piecewise constant, how high they are smooth.

What looks for peaks is SciPy's own code; here are the steps of it that are compiled.
"""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.counterparts import scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for

KERNELS = scipy.signal._peak_finding_utils


@stands_for(KERNELS._local_maxima_1d)
@overridable
def maxima(x: Array) -> tuple[Array, Array, Array]:
    """Find what is higher than the samples beside it, and where it begins and ends."""
    found: tuple[Array, Array, Array] = KERNELS._local_maxima_1d(x)
    return found


@stands_for(KERNELS._select_by_peak_distance)
@overridable
def distant(peaks: Array, priority: Array, distance: float) -> Array:
    """Tell which peaks are left where lower ones beside others are dropped."""
    return KERNELS._select_by_peak_distance(np.array(peaks), np.array(priority), distance)


@stands_for(scipy.signal._peak_finding._select_by_property)
def within(properties: Array, lowest: Any, highest: Any) -> Array:
    """Tell which peaks have a property between two bounds, without filling an array."""
    keep = np.ones(properties.shape, dtype=bool)
    if lowest is not None:
        keep = keep & (lowest <= properties)
    return keep if highest is None else keep & (properties <= highest)


@stands_for(scipy.signal._peak_finding._select_by_peak_threshold)
def steep(x: Array, peaks: Array, lowest: Any, highest: Any) -> tuple[Array, Array, Array]:
    """Tell which peaks stand above the samples beside them by what is between two bounds."""
    left, right = x[peaks] - x[peaks - 1], x[peaks] - x[peaks + 1]
    above = within(np.minimum(left, right), lowest, None)
    return above & within(np.maximum(left, right), None, highest), left, right


@overridable
def based(x: Array, peaks: Array, wlen: int) -> tuple[Array, Array]:
    """Find the bases of peaks."""
    _, left, right = KERNELS._peak_prominences(x, np.array(peaks), wlen)
    return left, right


@stands_for(KERNELS._peak_prominences)
def prominences(x: Array, peaks: Array, wlen: int) -> tuple[Array, Array, Array]:
    """Compute how far peaks stand above the higher one of their bases."""
    left, right = based(x, peaks, wlen)
    return x[peaks] - np.maximum(x[left], x[right]), left, right


@overridable
def crossed(x: Array, *peaks: Array, rel_height: float) -> tuple[Array, Array]:
    """Find where a signal crosses the height at which peaks are measured."""
    places, *data = map(np.array, peaks)
    _, _, left, right = KERNELS._peak_widths(x, places, rel_height, *data)
    return left, right


@stands_for(KERNELS._peak_widths)
def widths(
    x: Array, peaks: Array, rel_height: Any, prominences: Array, left_bases: Any, right_bases: Any
) -> tuple[Array, Array, Array, Array]:
    """Compute widths by where lines between samples cross the heights."""
    heights = x[peaks] - prominences * rel_height
    sides = []
    places = crossed(x, peaks, prominences, left_bases, right_bases, rel_height=rel_height)
    for place, inwards in zip(places, (1, -1), strict=True):
        outer = (np.floor(place) if inwards == 1 else np.ceil(place)).astype(int)
        between = place != outer
        low, high = x[outer], x[np.where(between, outer + inwards, outer)]
        share = (heights - low) / np.where(between, high - low, 1.0)
        sides.append(outer + inwards * np.where(between, share, 0.0))
    left, right = sides
    return right - left, heights, left, right


argrelextrema, argrelmax, argrelmin, find_peaks_cwt = (
    scipy_function(getattr(scipy.signal, name), "tape_ad.scipy.signal")
    for name in ("argrelextrema", "argrelmax", "argrelmin", "find_peaks_cwt")
)

PEAKS: dict[Any, Entry] = {
    **constants(based, crossed),
    **constants(
        *(argrelextrema, argrelmax, argrelmin, distant, find_peaks_cwt, maxima),
        facts=facts.SHAPED_BY_VALUES,
    ),
}


@stands_for(scipy.signal._sigtools._medfilt2d)
def median_of_image(image: Array, size: Any) -> Array:
    """Take the median of each window of an image."""
    return differentiable(scipy.signal.medfilt)(image, np.asarray(size))

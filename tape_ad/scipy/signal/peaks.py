"""Peaks and medians of windows: where they are is piecewise constant, how high they are smooth."""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, is_traced
from tape_ad.extend.rules import Constant, Entry, add_facts, constants, overridable
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for

find_peaks_cwt = scipy_function(scipy.signal.find_peaks_cwt, "tape_ad.scipy.signal")

PEAKS: dict[Any, Entry] = {find_peaks_cwt: Constant()}


@overridable
def found(x: Array, *conditions: Any) -> Any:
    """Find peaks, and what SciPy tells of them."""
    return scipy.signal.find_peaks(x, *conditions)


@overridable
def based(x: Array, peaks: Any, wlen: Any) -> Any:
    """Find the bases of peaks."""
    return scipy.signal.peak_prominences(x, peaks, wlen)[1:]


@overridable
def crossed(x: Array, peaks: Any, rel_height: Any, prominences: Any, bases: Any) -> Any:
    """Find where a signal crosses the height at which peaks are measured."""
    data = np.array(prominences, float), *map(np.array, bases)
    _, _, left, right = scipy.signal.peak_widths(x, peaks, alpha_of(rel_height), data)
    return left, right


def alpha_of(number: Any) -> Any:
    """Give a number of Python's for an array without axes."""
    return number.item() if hasattr(number, "item") else number


PEAKS.update({each: Constant() for each in (found, based, crossed)})


@counterpart(PEAKS, scipy.signal.find_peaks, "x")
def find_peaks(
    x: Array,
    height: Any = None,
    threshold: Any = None,
    distance: Any = None,
    prominence: Any = None,
    width: Any = None,
    wlen: Any = None,
    rel_height: float = 0.5,
    plateau_size: Any = None,
) -> tuple[Array, dict[str, Any]]:
    """Find peaks and their properties, as `scipy.signal.find_peaks` does.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    height, threshold, distance, prominence, width, wlen, rel_height, plateau_size
        As in SciPy.

    Returns
    -------
    tuple of array and dict
        The indices, and the properties, of which those that are no indices are handles.
    """
    x = as_array(x).astype(np.float64)
    peaks, properties = found(
        x, height, threshold, distance, prominence, width, wlen, rel_height, plateau_size
    )
    if is_traced(properties):
        raise properties.capture.refusal(
            "find_peaks gives a dict of properties, which no replay makes; call it before, and "
            "compile what is done with them"
        )
    smooth: dict[str, Any] = {"peak_heights": x[peaks]}
    if "left_thresholds" in properties:
        smooth["left_thresholds"] = x[peaks] - x[peaks - 1]
        smooth["right_thresholds"] = x[peaks] - x[peaks + 1]
    if "prominences" in properties:
        bases = properties["left_bases"], properties["right_bases"]
        smooth["prominences"] = above_bases(x, peaks, bases)
        if "widths" in properties:
            names = "widths", "width_heights", "left_ips", "right_ips"
            found_widths = measured(x, peaks, rel_height, smooth["prominences"], bases)
            smooth.update(zip(names, found_widths, strict=True))
    return peaks, {key: smooth.get(key, value) for key, value in properties.items()}


def above_bases(x: Array, peaks: Array, bases: Any) -> Array:
    """Compute how far peaks stand above the higher one of their bases."""
    left, right = bases
    return x[peaks] - np.maximum(x[left], x[right])


@counterpart(PEAKS, scipy.signal.peak_prominences, "x")
def peak_prominences(x: Array, peaks: Any, wlen: Any = None) -> tuple[Array, Array, Array]:
    """Compute how far peaks stand out, as `scipy.signal.peak_prominences` does.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    peaks : array of int
    wlen : int, optional

    Returns
    -------
    tuple of array or Tensor
        The prominences, and the indices of both bases.
    """
    x, peaks = as_array(x).astype(np.float64), np.asarray(peaks, dtype=np.intp)
    left, right = based(x, peaks, wlen)
    return above_bases(x, peaks, (left, right)), left, right


@counterpart(
    PEAKS, scipy.signal.peak_widths, "x rel_height prominence_data", trees="prominence_data"
)
def peak_widths(
    x: Array, peaks: Any, rel_height: Any = 0.5, prominence_data: Any = None, wlen: Any = None
) -> tuple[Array, Array, Array, Array]:
    """Measure how wide peaks are, as `scipy.signal.peak_widths` does.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    peaks : array of int
    rel_height : number or Tensor
        The height at which it is measured, as a share of the prominence from the top.
    prominence_data : tuple, optional
        What `peak_prominences` gives.
    wlen : int, optional

    Returns
    -------
    tuple of array or Tensor
        The widths, the heights, and the places on the left and on the right.
    """
    x, peaks = as_array(x).astype(np.float64), np.asarray(peaks, dtype=np.intp)
    prominences, *bases = (
        peak_prominences(x, peaks, wlen) if prominence_data is None else prominence_data
    )
    return measured(x, peaks, rel_height, prominences, tuple(bases))


def measured(
    x: Array, peaks: Array, rel_height: Any, prominences: Any, bases: Any
) -> tuple[Array, Array, Array, Array]:
    """Compute widths by where lines between samples cross the heights."""
    heights = x[peaks] - prominences * rel_height
    sides = []
    places = crossed(x, peaks, rel_height, prominences, bases)
    for place, inwards in zip(places, (1, -1), strict=True):
        outer = (np.floor(place) if inwards == 1 else np.ceil(place)).astype(int)
        between = place != outer
        low, high = x[outer], x[np.where(between, outer + inwards, outer)]
        share = (heights - low) / np.where(between, high - low, 1.0)
        sides.append(outer + inwards * np.where(between, share, 0.0))
    left, right = sides
    return right - left, heights, left, right


add_facts(PEAKS, (find_peaks, find_peaks_cwt, found), shape_by_values=True)


# Extremes of neighbours, and medians of windows

argrelextrema, argrelmax, argrelmin = (
    scipy_function(function, "tape_ad.scipy.signal")
    for function in (scipy.signal.argrelextrema, scipy.signal.argrelmax, scipy.signal.argrelmin)
)

PEAKS |= constants(argrelextrema, argrelmax, argrelmin, facts=facts.SHAPED_BY_VALUES)


@stands_for(scipy.signal._sigtools._medfilt2d)
def median_of_image(image: Array, size: Any) -> Array:
    """Take the median of each window of an image."""
    return differentiable(scipy.signal.medfilt)(image, np.asarray(size))

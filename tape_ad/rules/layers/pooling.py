"""Maximum pooling: where the largest elements are, and taking them from there."""

import functools
import math
from typing import Any

import numpy as np

from tape_ad.linear_maps import Array, Chain, Index, LinearMap, Reshape
from tape_ad.overrides import overridable
from tape_ad.rules.base import Entry, constants, rule
from tape_ad.rules.layers.windows import Windows
from tape_ad.rules.signatures import arguments_of

__all__ = ["POOLING", "largest_places", "pick"]


@overridable
def largest_places(x: Array, /, windows: Windows) -> Array:
    """Find where the largest element of each window is; the first one, if there are several.

    Parameters
    ----------
    x : array or Tensor, shape (..., *windows.size)
    windows : Windows
        Padding is never the largest.

    Returns
    -------
    array of int, shape (..., *windows.out)
        Positions in ``ravel(x)``. A nan counts as largest.

    Examples
    --------
    >>> largest_places(np.array([1.0, 3.0, 2.0, 2.0]), Windows((4,), (2,), (2,), ((0, 0),), (1,)))
    array([1, 2])
    """
    padded = windows.pad(x, -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
    outside = windows.pad(np.zeros(windows.size, bool), True)
    offsets = [key for _, key in windows.offsets()]
    best = functools.reduce(np.maximum, [padded[key] for key in offsets])
    has_nan = bool(np.isnan(best).any())
    searching = np.ones(best.shape, bool)
    which = np.zeros(best.shape, np.min_scalar_type(len(offsets)))
    for key in offsets[:-1]:  # count the places before the first that is as large as any
        missed = np.not_equal(padded[key], best)
        if has_nan:
            missed &= ~np.isnan(padded[key])
        if padded is not x:
            missed |= outside[key]
        searching &= missed
        which += searching
    return positions(windows, which, x.shape[: x.ndim - len(windows.size)])


def positions(windows: Windows, which: Array, lead: tuple[int, ...]) -> Array:
    """Turn places within windows into positions in the flattened array."""
    rank = len(windows.size)
    steps = [math.prod(windows.size[axis + 1 :]) for axis in range(rank)]
    first: Any = np.arange(math.prod(lead)).reshape((*lead, *(1,) * rank))
    first = first * math.prod(windows.size)
    for axis, step in enumerate(steps):
        starts = np.arange(windows.out[axis]) * windows.stride[axis] - windows.padding[axis][0]
        first = first + (starts * step).reshape((-1,) + (1,) * (rank - axis - 1))
    within = [
        sum(p * d * step for p, d, step in zip(place, windows.dilation, steps, strict=True))
        for place, _ in windows.offsets()
    ]
    return first + np.array(within)[which]


@overridable
def pick(x: Array, /, places: Array, repeats: bool) -> Array:
    """Take elements by their positions in ``ravel(x)``.

    Parameters
    ----------
    x : array or Tensor, any shape
    places : array of int
    repeats : bool
        Whether a position may stand there more than once.

    Returns
    -------
    array or Tensor, shape of `places`

    Examples
    --------
    >>> pick(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([3, 0]), False)
    array([4., 1.])
    """
    return x.reshape(-1)[places]


def pick_partial(out: Array, x: Array, places: Array, repeats: bool) -> LinearMap:
    """An index into the flattened parent."""
    index = Index((places,), (x.size,), places.shape, repeats)
    return Chain((Reshape(x.shape, (x.size,)), index))


POOLING: dict[Any, Entry] = {
    pick: rule(
        pick_partial,
        signature=arguments_of(pick, "x"),
    ),
    **constants(largest_places),
}

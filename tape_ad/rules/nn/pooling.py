"""Maximum pooling: where the largest elements are, and taking them from there."""

import functools
import inspect
import math
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import anywhere, as_in_key, is_plain, overridable, whole
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, constants, rule
from tape_ad.rules.maps import Array, Chain, Index, LinearMap, Reshape, Shape
from tape_ad.rules.maps.patterns import Pattern, reads, separable
from tape_ad.rules.nn.images import Windows
from tape_ad.rules.plain_maps import PlainMap


@overridable
def largest(x: Array, /, windows: Windows) -> Array:
    """Take the largest element of each window.

    Parameters
    ----------
    x : array or Tensor, shape (..., *windows.size)
    windows : Windows
        Padding is never the largest.

    Returns
    -------
    array or Tensor, shape (..., *windows.out)
        A nan counts as largest.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 2.0, 2.0]), Windows((4,), (2,), (2,), ((0, 0),), (1,)))
    array([3., 2.])
    """
    return largest_and_places(x, windows)[0]


def largest_and_places(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Compute `largest`, and where that is."""
    if is_plain(x):
        return searched(x, windows)
    places = largest_places(x, windows=windows)
    return pick(x, places=places, repeats=windows.overlap), places


@overridable
def largest_places(x: Array, /, windows: Windows) -> Array:
    """Find where the largest element of each window is; the first one, if there are several.

    Parameters
    ----------
    x : array or Tensor, shape (..., *windows.size)
    windows : Windows

    Returns
    -------
    array of int, shape (..., *windows.out)
        Positions in ``ravel(x)``.

    Examples
    --------
    >>> largest_places(np.array([1.0, 3.0, 2.0, 2.0]), Windows((4,), (2,), (2,), ((0, 0),), (1,)))
    array([1, 2])
    """
    return searched(x, windows)[1]


@whole
def searched(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Find the largest element of each window, and where the first one is."""
    padded = windows.pad(x, -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
    outside = None if padded is x else windows.pad(np.zeros(windows.size, bool), True)
    keys = [key for _, key in windows.offsets]
    best = padded[keys[0]].copy()
    for key in keys[1:]:
        np.maximum(best, padded[key], out=best)
    has_nan = anywhere(np.isnan(best))
    searching: Array = None
    which: Array = np.zeros_like(best, np.uint8 if len(keys) < 256 else np.intp)
    for key in keys[:-1]:  # count the places before the first that is as large as any
        missed = np.not_equal(padded[key], best)
        if has_nan:
            missed &= ~np.isnan(padded[key])
        if outside is not None:
            missed |= outside[key]
        searching = missed if searching is None else np.logical_and(searching, missed, out=missed)
        which += searching
    return best, positions(windows, which, x.shape[: x.ndim - len(windows.size)])


def positions(windows: Windows, which: Array, lead: tuple[int, ...]) -> Array:
    """Turn places within windows into positions in the flattened array."""
    make = remembered_starts if which.size <= FEW else starts
    begin, within = make(windows, lead)
    return np.add(begin, np.take(as_in_key(within, (which,)), which))


FEW = 20_000
"""So many windows are small enough to remember where each of them starts."""


def starts(windows: Windows, lead: tuple[int, ...]) -> tuple[Array, Array]:
    """Give where windows start in the flattened array, and how far on their places are."""
    rank = len(windows.size)
    steps = [math.prod(windows.size[axis + 1 :]) for axis in range(rank)]
    first: Any = np.arange(math.prod(lead)).reshape((*lead, *(1,) * rank))
    first = first * math.prod(windows.size)
    for axis, step in enumerate(steps):
        along = np.arange(windows.out[axis]) * windows.stride[axis] - windows.padding[axis][0]
        first = first + (along * step).reshape((-1,) + (1,) * (rank - axis - 1))
    within = [
        sum(p * d * step for p, d, step in zip(place, windows.dilation, steps, strict=True))
        for place, _ in windows.offsets
    ]
    return first, np.array(within)


remembered_starts = functools.lru_cache(maxsize=64)(starts)


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


@overridable
def sum_of_windows(x: Array, /, windows: Windows) -> Array:
    """Add up the elements of each window.

    Parameters
    ----------
    x : array or Tensor, shape (..., *windows.size)
    windows : Windows

    Returns
    -------
    array or Tensor, shape (..., *windows.out)

    Examples
    --------
    >>> sum_of_windows(np.arange(5.0), Windows((5,), (3,), (2,), ((0, 0),), (1,)))
    array([3., 9.])
    """
    return WindowSums(windows).forward(x)


@define(eq=False, repr=False)
class WindowSums(PlainMap):
    """Sums over windows, along one axis after the other."""

    windows: Windows

    @reads("windows")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        return separable(parent, node, self.windows.relations())

    def forward(self, t: Array) -> Array:
        """Add up the elements of each window."""
        t = self.windows.pad(t)
        for keys in self.windows.along_axes:
            first, *others = (t[key] for key in keys)
            t = sum(others, first)
        return t.copy() if self.windows.taps == 1 else t  # a view would be somebody else's

    def backward(self, ct: Array) -> Array:
        """Give every element what the windows that see it have."""
        windows = self.windows
        for axis, keys in reversed(tuple(enumerate(windows.along_axes))):
            place = axis - len(windows.size)
            shape = list(ct.shape)
            shape[place] = windows.padded[place]
            total = np.zeros(shape, ct.dtype)
            for key in keys:
                total[key] += ct
            ct = total
        return windows.crop(ct)


def largest_partial(places: Array, x: Array, windows: Windows) -> LinearMap:
    """Make the partial of `largest`, which picks."""
    return pick_partial(places, x, places, windows.overlap)


OF_IMAGES = facts.depending(
    lambda given: facts.cores(f"{facts.letters(len(given['windows'].size))}->...")
)

POOLING: dict[Any, Entry] = {
    largest: rule(
        largest_partial,
        signature=arguments_of(largest, "x"),
        compute=largest_and_places,
        saves=True,
        facts=OF_IMAGES,
    ),
    sum_of_windows: rule(
        lambda out, x, windows: WindowSums(windows),
        signature=arguments_of(sum_of_windows, "x"),
        facts=OF_IMAGES,
    ),
    pick: rule(
        pick_partial,
        signature=arguments_of(pick, "x"),
        facts=facts.composed(lambda x, places, repeats: np.ravel(x)[places]),
    ),
    **constants(largest_places, facts=facts.composed(inspect.unwrap(largest_places))),
}

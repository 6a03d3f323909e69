"""Filters that choose one element of each window: extrema, ranks, grey erosion and dilation.

The element that is chosen gets the gradient; where several are equal, it is the one that stands
first in the window. A window of which all elements count is gone through along one axis after
another, as SciPy does for extrema.
"""

import inspect
import itertools
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.maps import Chain, LinearMap, Negate, Reshape
from tape_ad.extend.rules import Constant, Entry, add_facts, arguments_of, each, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.correlation import KERNELS, Passing, Window, write
from tape_ad.scipy.ndimage.extension import OUTSIDE, picking
from tape_ad.scipy.stand_ins import stands_for

FLAT = np.zeros(())
"""Stands for no structuring element."""


@overridable
def selected(
    image: Array, structure: Array, cval: Array, footprint: Any, rank: int, passing: Passing
) -> Array:
    """Choose an element of each window, by SciPy's compiled code.

    Parameters
    ----------
    image : array or Tensor
    structure : array or Tensor, shape of the footprint, or () for none
        What is added to the elements of the window for the largest, and taken off for the smallest.
    cval : array or Tensor, shape ()
        The constant beyond the edges.
    footprint : array of bool, or int
        Which elements of the window count; how many along the only axis.
    rank : int
        The place of what is chosen in their order: 0 for the smallest, -1 for the largest.
    passing : Passing
    """
    out = np.zeros(image.shape, passing.dtype)
    axis, mode, origin = passing.axis, passing.mode, passing.origin
    if axis is not None and rank in (0, -1):
        KERNELS.min_or_max_filter1d(image, footprint, axis, out, mode, cval, origin, rank + 1)
    elif axis is not None:
        along, constant = scipy.ndimage._rank_filter_1d.rank_filter, image.dtype.type(cval)
        along(image, rank, footprint, out, mode, constant, origin)
    elif rank in (0, -1):
        added = np.ascontiguousarray(structure, np.float64) if structure.ndim else None
        KERNELS.min_or_max_filter(image, footprint, added, out, mode, cval, list(origin), rank + 1)
    else:
        KERNELS.rank_filter(image, rank, footprint, out, mode, cval, list(origin))
    return out


@stands_for(KERNELS.min_or_max_filter1d)
def extreme_along(
    image: Array,
    size: int,
    axis: int,
    output: Array,
    mode: int,
    cval: Any,
    origin: int,
    minimum: int,
) -> None:
    """Choose the smallest or the largest along one axis."""
    passing = Passing(axis, mode, origin, output.dtype)
    write(output, selected(image, FLAT, as_array(cval), size, minimum - 1, passing))


@stands_for(KERNELS.min_or_max_filter)
def extreme(
    image: Array,
    footprint: Array,
    structure: Any,
    output: Array,
    mode: int,
    cval: Any,
    origins: Any,
    minimum: int,
) -> None:
    """Choose the smallest or the largest in a footprint."""
    added = FLAT if structure is None else structure
    passing = Passing(None, mode, tuple(origins), output.dtype)
    write(output, selected(image, added, as_array(cval), footprint, minimum - 1, passing))


@stands_for(KERNELS.rank_filter)
def rank_filter(
    image: Array, rank: int, footprint: Array, output: Array, mode: int, cval: Any, origins: Any
) -> None:
    """Choose by a rank in a footprint."""
    passing = Passing(None, mode, tuple(origins), output.dtype)
    write(output, selected(image, FLAT, as_array(cval), footprint, int(rank), passing))


@stands_for(scipy.ndimage._rank_filter_1d.rank_filter)
def rank_along(
    image: Array, rank: int, size: int, output: Array, mode: int, cval: Any, origin: int
) -> None:
    """Choose by a rank among so many elements of the only axis."""
    passing = Passing(0, mode, origin, output.dtype)
    write(output, selected(image, FLAT, as_array(cval), size, int(rank), passing))


@overridable
def chosen(
    image: Array, structure: Array, cval: Array, window: Window, footprint: Array, rank: int
) -> Array:
    """Find the element of each window that a filter chooses, the first of those that are equal.

    Parameters
    ----------
    image : array
    structure : array, shape of the footprint, or ()
        What is added to the elements of the window before.
    cval : array, shape ()
    window : Window
    footprint : array of bool
        Of its shape.
    rank : int

    Returns
    -------
    array of int, shape (2, *image.shape)
        Its place in the flattened image, or `OUTSIDE`; and in the flattened window.
    """
    extended = window.extension(image.shape)
    places = extended.forward(np.arange(1, image.size + 1).reshape(image.shape)) - 1
    values = np.where(places == OUTSIDE, cval, image.reshape(-1)[places.clip(0)])
    added = np.broadcast_to(structure, window.shape)
    keys, windows = [], []
    for offset in itertools.product(*map(range, window.shape)):
        if footprint[offset]:
            part = tuple(slice(k, k + n) for k, n in zip(offset, image.shape, strict=True))
            keys.append((np.ravel_multi_index(offset, window.shape), part))
            windows.append(values[part] + added[offset])
    which = ranked(np.stack(windows), rank)
    numbers = np.array([number for number, _ in keys]).reshape((-1, *(1,) * which.ndim))
    candidates = np.stack([places[part] for _, part in keys])
    both = [np.take_along_axis(each, which[None], 0)[0] for each in (candidates, numbers)]
    return np.stack(both)


def ranked(windows: Array, rank: int) -> Array:
    """Find what has a rank in the order along the first axis."""
    if rank == 0:
        return np.argmin(windows, axis=0)
    if rank == -1:
        return np.argmax(windows, axis=0)
    return np.argsort(windows, axis=0, kind="stable")[rank]


def laid(
    image: Array, structure: Array, cval: Array, footprint: Any, rank: int, passing: Passing
) -> tuple[Window, Array]:
    """Lay the window of a filter on an image, and find what it chooses."""
    if passing.axis is None:
        window = passing.window(image.ndim, footprint.shape)
    else:
        window = passing.window(image.ndim, (footprint,))
        footprint = np.ones(window.shape, bool)
    return window, chosen(image, structure, cval, window, footprint, rank)


def partial(
    position: int,
    out: Array,
    image: Array,
    structure: Array,
    cval: Array,
    footprint: Any,
    rank: int,
    passing: Passing,
) -> Any:
    """Make the partial by the image, by what is added to it, or by the constant beyond it."""
    if out.size == 0:
        return None
    added = structure if rank else -structure
    window, (places, within) = laid(image, added, cval, footprint, rank, passing)
    if position == 0:
        return picking(places, image.shape)
    if position == 2:
        return np.where(places == OUTSIDE, 1.0, 0.0)
    if not structure.ndim:
        return None
    signs: tuple[LinearMap, ...] = () if rank else (Negate(),)
    size = window.shape
    return Chain((Reshape(structure.shape, size), *signs, picking(within, size)))


def selected_body(
    image: Array, structure: Array, cval: Array, footprint: Any, rank: int, passing: Passing
) -> Array:
    """Choose as `selected` does, in NumPy."""
    added = structure if rank else -structure
    window, (places, within) = laid(image, added, cval, footprint, rank, passing)
    flat = image.reshape(-1)[places.clip(0)]
    found = np.where(places == OUTSIDE, cval, flat)
    if structure.ndim:
        found = found + np.broadcast_to(added, window.shape).reshape(-1)[within]
    return found.astype(passing.dtype)


RANKS: dict[Any, Entry] = {
    chosen: Constant(),
    selected: each(partial, signature=arguments_of(selected, "image structure cval")),
}

add_facts(RANKS, (selected,), body=selected_body)
add_facts(RANKS, (chosen,), body=inspect.unwrap(chosen))

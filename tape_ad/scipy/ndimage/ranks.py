"""Filters that choose one element of each window: extrema, ranks, grey erosion and dilation.

The element that is chosen gets the gradient; where several are equal, it is the one that stands
first in the window.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, evolve, frozen

from tape_ad.extend.arrays import Array, Shape, as_array
from tape_ad.extend.maps import Chain, Index, LinearMap, Negate, PlainMap, Reshape, summed_by_index
from tape_ad.extend.patterns import permutation
from tape_ad.extend.rules import Call, Constant, Entry, each, overridable
from tape_ad.scipy.counterparts import joined, operands_of, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.axes import axes_of, one_axis, per_axis
from tape_ad.scipy.ndimage.correlation import MODULE
from tape_ad.scipy.ndimage.extension import OUTSIDE, extension

__all__ = [
    "RANKS",
    "chosen",
    "grey_dilation",
    "grey_erosion",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "rank_filter",
]

maximum_filter = scipy_function(scipy.ndimage.maximum_filter, MODULE, "input cval")
minimum_filter = scipy_function(scipy.ndimage.minimum_filter, MODULE, "input cval")
maximum_filter1d = scipy_function(scipy.ndimage.maximum_filter1d, MODULE, "input cval")
minimum_filter1d = scipy_function(scipy.ndimage.minimum_filter1d, MODULE, "input cval")
rank_filter = scipy_function(scipy.ndimage.rank_filter, MODULE, "input cval")
median_filter = scipy_function(scipy.ndimage.median_filter, MODULE, "input cval")
percentile_filter = scipy_function(scipy.ndimage.percentile_filter, MODULE, "input cval")
grey_erosion = scipy_function(scipy.ndimage.grey_erosion, MODULE, "input structure cval")
grey_dilation = scipy_function(scipy.ndimage.grey_dilation, MODULE, "input structure cval")


@frozen(eq=False)
class Choice:
    """Which elements are around each one, and which of them is chosen.

    Attributes
    ----------
    footprint : array of bool, as many axes as the image
    before : list of int
        How many elements of the window come before the one that it stands on.
    modes : list of str
        How the image goes on beyond each edge.
    rank : int
        The place of what is chosen in their order: 0 for the smallest, -1 for the largest.
    """

    footprint: Array
    before: list[int]
    modes: list[str]
    rank: int


@overridable
def chosen(image: Array, structure: Array, cval: Array, choice: Choice) -> Array:
    """Find the element of each window that a filter chooses, the first of those that are equal.

    Parameters
    ----------
    image : array
    structure : array, shape of the footprint, or ()
        What is added to the elements of the window before.
    cval : array, shape ()
    choice : Choice

    Returns
    -------
    array of int, shape (2, *image.shape)
        Its place in the flattened image, or `OUTSIDE`; and in the flattened window.
    """
    window = choice.footprint.shape
    margins = [(b, m - 1 - b) for b, m in zip(choice.before, window, strict=True)]
    extended = extension(image.shape, margins, choice.modes)
    places = extended.forward(np.arange(1, image.size + 1).reshape(image.shape)) - 1
    values = np.where(places == OUTSIDE, cval, image.reshape(-1)[places.clip(0)])
    added = np.broadcast_to(structure, window)
    keys, windows = [], []
    for offset in itertools.product(*map(range, window)):
        if choice.footprint[offset]:
            part = tuple(slice(k, k + n) for k, n in zip(offset, image.shape, strict=True))
            keys.append((np.ravel_multi_index(offset, window), part))
            windows.append(values[part] + added[offset])
    which = ranked(np.stack(windows), choice.rank)
    numbers = np.array([number for number, _ in keys])
    candidates = np.stack([places[part] for _, part in keys])
    return np.stack([np.take_along_axis(candidates, which[None], 0)[0], numbers[which]])


def ranked(windows: Array, rank: int) -> Array:
    """Find what has a rank in the order along the first axis."""
    if rank == 0:
        return np.argmin(windows, axis=0)
    if rank == -1:
        return np.argmax(windows, axis=0)
    return np.argsort(windows, axis=0, kind="stable")[rank]


@define(eq=False, repr=False)
class Picking(PlainMap):
    """Elements picked from a flattened array, or zeros.

    Parameters
    ----------
    index : array of int
        Of the node's shape; `OUTSIDE` for what is 0.
    shape : tuple of int
        The parent's.
    """

    pattern = permutation
    index: Array
    shape: Shape

    def forward(self, t: Array) -> Array:
        """Pick."""
        flat = t.reshape((*t.shape[: t.ndim - len(self.shape)], -1))
        return np.where(self.index == OUTSIDE, 0, flat[..., self.index.clip(0)])

    def backward(self, ct: Array) -> Array:
        """Add up what was picked from the same place."""
        stack = ct.shape[: ct.ndim - self.index.ndim]
        inside = np.flatnonzero(self.index.reshape(-1) != OUTSIDE)
        total = np.zeros((*stack, int(np.prod(self.shape))), ct.dtype)
        if inside.size and ct.size:
            flat = np.take(ct.reshape((*stack, -1)), inside, axis=-1)
            places, sums = summed_by_index(flat, self.index.reshape(-1)[inside], -1)
            total[..., places] = sums
        return total.reshape(stack + self.shape)


# The windows that arguments stand for


def around(
    ndim: int, footprint: Array, axes: list[int], modes: Any, origins: Any, rank: int
) -> Choice:
    """Make the `Choice` of a footprint along some axes."""
    shape, before, mode_of = [1] * ndim, [0] * ndim, ["nearest"] * ndim
    origins, modes = per_axis(origins, len(axes)), per_axis(modes, len(axes))
    for axis, m, origin, mode in zip(axes, footprint.shape, origins, modes, strict=True):
        shape[axis], before[axis], mode_of[axis] = m, m // 2 + origin, mode
    order = np.argsort(axes)
    return Choice(footprint.transpose(order).reshape(shape), before, mode_of, rank)


def footprint_of(size: Any, footprint: Any, structure: Any, count: int) -> Array:
    """Make the footprint from the arguments that it may be given by."""
    if footprint is not None:
        return np.asarray(footprint, bool)
    if structure is not None and np.ndim(structure):
        return np.ones(np.shape(structure), bool)
    return np.ones([int(m) for m in per_axis(size, count)], bool)


def extreme(
    image: Array,
    rank: int,
    /,
    mode: Any,
    origin: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    axes: Any = None,
    **options: Any,
) -> Choice:
    """Make the `Choice` of the smallest or the largest."""
    named = axes_of(image.ndim, axes)
    laid = footprint_of(size, footprint, structure, len(named))
    return around(image.ndim, laid, named, mode, origin, rank)


def extreme_1d(
    image: Array, rank: int, /, size: int, axis: int, mode: str, origin: int, **options: Any
) -> Choice:
    """Make the `Choice` of the smallest or the largest along one axis."""
    laid = np.ones(size, bool)
    return around(image.ndim, laid, [one_axis(image.ndim, axis)], mode, origin, rank)


def dilating(image: Array, **options: Any) -> Choice:
    """Make the `Choice` of a dilation, whose window is turned around."""
    choice = extreme(image, -1, **{**options, "origin": 0})
    named = axes_of(image.ndim, options.get("axes"))
    before = list(choice.before)
    for axis, origin in zip(named, per_axis(options["origin"], len(named)), strict=True):
        m = choice.footprint.shape[axis]
        before[axis] = m // 2 - origin - (1 - m % 2)
    return evolve(choice, before=before, footprint=np.flip(choice.footprint))


def by_rank(rank_of: Callable[[int, dict[str, Any]], int], image: Array, **options: Any) -> Choice:
    """Make the `Choice` of a rank, given how many elements there are."""
    choice = extreme(image, 0, **options)
    count = int(choice.footprint.sum())
    rank = rank_of(count, options) % count
    return evolve(choice, rank=-1 if rank == count - 1 else rank)


def of_percentile(count: int, options: dict[str, Any]) -> int:
    """Tell which rank a percentile is."""
    percentile = options["percentile"]
    percentile = percentile + 100.0 if percentile < 0 else percentile
    return count - 1 if percentile == 100.0 else int(float(count) * percentile / 100.0)


# The rules

FLAT = np.zeros(())
"""Stands for no structuring element."""


def partial(
    make: Callable[..., Choice],
    sign: float,
    position: int,
    out: Array,
    image: Array,
    structure: Array,
    cval: Array,
    **options: Any,
) -> Any:
    """Make the partial by the image, by what is added to it, or by the constant beyond it."""
    if out.size == 0:
        return None
    flat = structure.ndim == 0
    choice = make(image, structure=None if flat else np.empty(structure.shape), **options)
    added: Any = np.zeros(())
    maps: tuple[LinearMap, ...] = ()
    if not flat:
        maps = laid_out(structure.shape, choice, turned=sign > 0, negative=sign < 0)
        added = Chain(maps).push(structure)
    places, within = chosen(image, added, cval, choice)
    if position == 0:
        return Picking(places, image.shape)
    if position == 1:
        return Chain((*maps, Picking(within, choice.footprint.shape)))
    return np.where(places == OUTSIDE, 1.0, 0.0)


def laid_out(
    shape: Shape, choice: Choice, *, turned: bool, negative: bool
) -> tuple[LinearMap, ...]:
    """List the maps from a structuring element to what is added to the window."""
    window = choice.footprint.shape
    maps: list[LinearMap] = [Reshape(shape, window)]
    if turned:
        maps.append(Index((slice(None, None, -1),) * len(window), window, window))
    if negative:
        maps.append(Negate())
    return tuple(maps)


def choosing(function: Any, make: Callable[..., Choice], sign: float = 1.0) -> Entry:
    """Make the rule of a filter that chooses; `sign` is that of a structuring element."""
    sort = operands_of(function, "input cval")

    def signature(*args: Any, **kwargs: Any) -> Call:
        (image, cval), options = sort(*args, **kwargs)
        structure = options.pop("structure", None)
        structure = FLAT if structure is None else as_array(joined(structure))
        return (image, structure, cval), options

    def compute(image: Array, structure: Array, cval: Array, **options: Any) -> Array:
        if structure.ndim:
            options["structure"] = structure
        return function(image, cval=cval, **options)

    def maker(position: int, out: Array, *values: Array, **options: Any) -> Any:
        return partial(make, sign, position, out, *values, **options)

    return each(maker, signature=signature, compute=compute)


RANKS: dict[Any, Entry] = {
    chosen: Constant(),
    maximum_filter: choosing(maximum_filter, lambda x, **given: extreme(x, -1, **given)),
    minimum_filter: choosing(minimum_filter, lambda x, **given: extreme(x, 0, **given)),
    maximum_filter1d: choosing(maximum_filter1d, lambda x, **given: extreme_1d(x, -1, **given)),
    minimum_filter1d: choosing(minimum_filter1d, lambda x, **given: extreme_1d(x, 0, **given)),
    rank_filter: choosing(
        rank_filter, lambda x, **given: by_rank(lambda n, named: named["rank"], x, **given)
    ),
    median_filter: choosing(
        median_filter, lambda x, **given: by_rank(lambda n, named: n // 2, x, **given)
    ),
    percentile_filter: choosing(
        percentile_filter, lambda x, **given: by_rank(of_percentile, x, **given)
    ),
    grey_erosion: choosing(grey_erosion, lambda x, **given: extreme(x, 0, **given), -1.0),
    grey_dilation: choosing(grey_dilation, dilating),
}

"""Windows that slide over an image: the correlations that all linear filters are, and choices."""

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, Shape, as_array, fill
from tape_ad.extend.maps import Chain, Deferred, Index, LinearMap, Negate, Reshape
from tape_ad.extend.rules import Constant, Entry, add_facts, arguments_of, each, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.extension import MODES, OUTSIDE, extension, picking
from tape_ad.scipy.signal.convolution import Convolution, convolved, reversed_axes
from tape_ad.scipy.stand_ins import stands_for

KERNELS = scipy.ndimage._nd_image


def write(output: Array, value: Array) -> None:
    """Write a result to the array that SciPy has made for it.

    Raises
    ------
    UnsupportedArgumentError
        When that is one of integers, or the user's, neither of which can hold a gradient.
    """
    if output.dtype.kind not in "fc":
        raise UnsupportedArgumentError(
            f"an array of {output.dtype} gives a result of {output.dtype}, and output= of integers "
            "rounds the result, which then has no derivative; pass array.astype(float), and round "
            "the result's .data"
        )
    if not getattr(getattr(output, "memory", None), "owned", True):
        raise UnsupportedArgumentError(
            "output= is an array, which cannot hold the gradient of a handle; leave it out, and "
            "use what the function returns"
        )
    fill(output, value)


@frozen
class Window:
    """How weights lie on an image.

    Attributes
    ----------
    shape : tuple of int
        One length for each axis of the image; 1 where the weights have none.
    before : tuple of int
        How many elements of the window come before the one that it stands on.
    mode : int
        SciPy's number of how the image goes on beyond its edges.
    """

    shape: Shape
    before: tuple[int, ...]
    mode: int

    @property
    def start(self) -> tuple[int, ...]:
        """Where in a convolution the window lies inside of the image."""
        return tuple(m - 1 for m in self.shape)

    def extension(self, shape: Shape) -> Any:
        """Make the map that extends an image by what the window reaches."""
        margins = [(b, m - 1 - b) for b, m in zip(self.before, self.shape, strict=True)]
        return extension(shape, margins, [MODES[self.mode]] * len(shape))

    def surrounding(self, shape: Shape) -> Array:
        """Make the array that is 1 where an extended image has the constant, and 0 elsewhere."""
        return 1 - self.extension(shape).forward(np.ones(shape))

    def extended(self, image: Array, cval: Any) -> Array:
        """Extend an image by what the window reaches, where the mode has it so by a constant."""
        inside = self.extension(image.shape).push(image)
        return np.where(self.surrounding(image.shape), cval, inside)

    def parts(self, shape: Shape, footprint: Array) -> Iterator[tuple[tuple[int, ...], Any]]:
        """List the places in the window that count, and what an extended image has there."""
        for place in itertools.product(*map(range, self.shape)):
            if footprint[place]:
                yield place, tuple(slice(k, k + n) for k, n in zip(place, shape, strict=True))


@frozen(eq=False)
class Passing:
    """How a filter of SciPy's passes over an image.

    Attributes
    ----------
    axis : int or None
        The only one that its window has a length along.
    mode : int
        SciPy's number of how the image goes on beyond its edges.
    origin : int or tuple of int
        One for each axis, or for the only one.
    dtype : dtype
        Of the result.
    """

    axis: int | None
    mode: int
    origin: Any
    dtype: Any

    def window(self, ndim: int, shape: Shape) -> Window:
        """Lay a window of a shape on an image of so many axes; one axis has one length."""
        if self.axis is None:
            before = tuple(m // 2 + o for m, o in zip(shape, self.origin, strict=True))
            return Window(shape, before, self.mode)
        (size,) = shape
        whole, before = (
            tuple(each if place == self.axis else other for place in range(ndim))
            for each, other in ((size, 1), (size // 2 + self.origin, 0))
        )
        return Window(whole, before, self.mode)


@overridable
def correlated(image: Array, weights: Array, cval: Array, passing: Passing) -> Array:
    """Correlate an image with weights, by SciPy's compiled code.

    Parameters
    ----------
    image, weights : array or Tensor
    cval : array or Tensor, shape ()
        The constant beyond the edges.
    passing : Passing
    """
    out, mode, origin = np.zeros(image.shape, passing.dtype), passing.mode, passing.origin
    weights = np.ascontiguousarray(weights, np.float64)  # which the code in C takes for granted
    if passing.axis is None:
        KERNELS.correlate(image, weights, out, mode, cval, list(origin))
    else:
        KERNELS.correlate1d(image, weights, passing.axis, out, mode, cval, origin)
    return out


@overridable
def averaged(image: Array, cval: Array, size: int, passing: Passing) -> Array:
    """Take the means of elements along one axis, by SciPy's compiled code."""
    out, mode, origin = np.zeros(image.shape, passing.dtype), passing.mode, passing.origin
    KERNELS.uniform_filter1d(image, size, passing.axis, out, mode, cval, origin)
    return out


def filling(original: Any, names: str, compute: Callable[..., Array]) -> None:
    """Let a function fill the output of one of SciPy's in C.

    Parameters
    ----------
    original : callable
        SciPy's.
    names : str
        Its arguments, which it has by position, apart by spaces.
    compute : callable
        Gets them in their order, but `passing` at the end for the output, axis, mode and origin.
    """

    @stands_for(original)
    def kernel(*args: Any) -> None:
        given = dict(zip(names.split(), args, strict=True))
        output, axis, origin = given.pop("output"), given.pop("axis", None), given.pop("origin")
        origin = tuple(origin) if axis is None else origin
        passing = Passing(axis, given.pop("mode"), origin, output.dtype)
        given["cval"] = as_array(given["cval"])
        write(output, compute(*given.values(), passing))


filling(KERNELS.correlate1d, "image weights axis output mode cval origin", correlated)
filling(KERNELS.correlate, "image weights output mode cval origin", correlated)
filling(
    KERNELS.uniform_filter1d,
    "image size axis output mode cval origin",
    lambda image, size, cval, passing: averaged(image, cval, size, passing),
)


@stands_for(scipy.ndimage._filters._gaussian_kernel1d)
def gaussian_weights(sigma: Array, order: int, radius: int) -> Array:
    """Compute the weights of a derivative of the Gaussian, a polynomial times the Gaussian.

    With each further derivative the polynomial q becomes q' - q x / sigma^2.
    """
    square = sigma * sigma
    x = np.arange(-radius, radius + 1)
    gauss = np.exp(-0.5 / square * x**2)
    gauss = gauss / np.sum(gauss)
    polynomial: list[Any] = [1.0, *([0.0] * order)]
    for _ in range(order):
        risen = [0.0, *[q * (-1 / square) for q in polynomial[:-1]]]
        fallen = [*[i * q for i, q in enumerate(polynomial)][1:], 0.0]
        polynomial = [a + b for a, b in zip(fallen, risen, strict=True)]
    return sum(q * x.astype(float) ** i for i, q in enumerate(polynomial)) * gauss


# The rules


def slid(image: Array, weights: Array, window: Window) -> Array:
    """Correlate an image that is extended already, by sliding weights over it."""
    turned = reversed_axes(weights.reshape(window.shape), len(window.shape))
    size = tuple(n - m + 1 for n, m in zip(image.shape, window.shape, strict=True))
    return convolved(image, turned, window.start, size, "direct")


def in_image(window: Window, shape: Shape, weights: Array) -> LinearMap:
    """Make the map of a filter in what is filtered."""
    extended = window.extension(shape)
    turned = reversed_axes(weights.reshape(window.shape), len(shape))
    whole = tuple(n + m - 1 for n, m in zip(shape, window.shape, strict=True))
    return Chain((extended, Convolution(turned, whole, shape, window.start, "direct")))


def in_weights(window: Window, image: Array, weights: Array, cval: Array) -> LinearMap:
    """Make the map of a filter in its weights."""
    shape, size = image.shape, window.shape
    turning = Index((slice(None, None, -1),) * len(shape), size, size)
    held = window.extended(image, cval)
    convolution = Convolution(held, size, shape, window.start, "direct")
    return Chain((Reshape(weights.shape, size), turning, convolution))


def correlated_partial(
    position: int, out: Array, image: Array, weights: Array, cval: Array, passing: Passing
) -> Any:
    """Make one of the partials of a filter."""
    if out.size == 0:
        return None
    window = passing.window(image.ndim, weights.shape)
    if position == 0:
        return Deferred(in_image, (window, image.shape, weights))
    if position == 1:
        return Deferred(in_weights, (window, image, weights, cval))
    return slid(window.surrounding(image.shape), weights, window)


def mean_partial(
    position: int, out: Array, image: Array, cval: Array, size: int, passing: Passing
) -> Any:
    """Make a partial of a mean: all of its weights are alike."""
    return correlated_partial(position and 2, out, image, np.full(size, 1 / size), cval, passing)


CORRELATION: dict[Any, Entry] = {
    correlated: each(correlated_partial, signature=arguments_of(correlated, "image weights cval")),
    averaged: each(mean_partial, signature=arguments_of(averaged, "image cval")),
}


def correlated_body(image: Array, weights: Array, cval: Array, passing: Passing) -> Array:
    """Correlate as `correlated` does, in NumPy."""
    window = passing.window(image.ndim, weights.shape)
    return slid(window.extended(image, cval), weights, window).astype(passing.dtype)


def averaged_body(image: Array, cval: Array, size: int, passing: Passing) -> Array:
    """Take means as `averaged` does, in NumPy."""
    return correlated_body(image, np.full(size, 1 / size), cval, passing)


add_facts(CORRELATION, (correlated,), body=correlated_body)
add_facts(CORRELATION, (averaged,), body=averaged_body)


# Filters that choose one element of each window: extrema, ranks, grey erosion and dilation
#
# The element that is chosen gets the gradient; where several are equal, it is the one that stands
# first in the window. A window of which all elements count is gone through along one axis after
# another, as SciPy does for extrema.


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


filling(
    KERNELS.min_or_max_filter1d,
    "image footprint axis output mode cval origin minimum",
    lambda image, footprint, cval, minimum, passing: selected(
        image, FLAT, cval, footprint, minimum - 1, passing
    ),
)
filling(
    KERNELS.min_or_max_filter,
    "image footprint structure output mode cval origin minimum",
    lambda image, footprint, structure, cval, minimum, passing: selected(
        image, FLAT if structure is None else structure, cval, footprint, minimum - 1, passing
    ),
)
filling(
    KERNELS.rank_filter,
    "image rank footprint output mode cval origin",
    lambda image, rank, footprint, cval, passing: selected(
        image, FLAT, cval, footprint, int(rank), passing
    ),
)


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
    for place, part in window.parts(image.shape, footprint):
        keys.append((np.ravel_multi_index(place, window.shape), part))
        windows.append(values[part] + added[place])
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


def selected_partial(
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
    selected: each(selected_partial, signature=arguments_of(selected, "image structure cval")),
}

add_facts(RANKS, (selected,), body=selected_body)
add_facts(RANKS, (chosen,), body=inspect.unwrap(chosen))

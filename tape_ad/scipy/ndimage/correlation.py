"""Correlation and convolution with weights, which all linear filters are made of."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import Array, Shape
from tape_ad.extend.maps import Chain, Conjugate, Deferred, Index, LinearMap, Reshape
from tape_ad.extend.rules import Entry, each
from tape_ad.scipy.counterparts import by_name, operands_of, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.axes import axes_of, one_axis, per_axis
from tape_ad.scipy.ndimage.extension import InSignal, InWindow, extension, slid

__all__ = [
    "CORRELATION",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "uniform_filter1d",
]

MODULE = "tape_ad.scipy.ndimage"

correlate = scipy_function(scipy.ndimage.correlate, MODULE, "input weights cval")
convolve = scipy_function(scipy.ndimage.convolve, MODULE, "input weights cval")
correlate1d = scipy_function(scipy.ndimage.correlate1d, MODULE, "input weights cval")
convolve1d = scipy_function(scipy.ndimage.convolve1d, MODULE, "input weights cval")
uniform_filter1d = scipy_function(scipy.ndimage.uniform_filter1d, MODULE, "input cval")


@frozen(eq=False)
class Window:
    """How weights lie on an image.

    Attributes
    ----------
    shape : tuple of int
        One length for each axis of the image; 1 where the weights have none.
    before : list of int
        How many elements of the window come before the one that it stands on.
    modes : list of str
        How the image goes on beyond each edge.
    turned : bool
        Whether the weights are turned around, as a convolution has it.
    """

    shape: Shape
    before: list[int]
    modes: list[str]
    turned: bool

    def weights_map(self, weights: Array) -> tuple[LinearMap, ...]:
        """List the maps from the weights to the window that slides."""
        placed = Reshape(weights.shape, self.shape)
        if self.turned:
            key = (slice(None, None, -1),) * len(self.shape)
            return placed, Index(key, self.shape, self.shape)
        return (placed, Conjugate()) if weights.dtype.kind == "c" else (placed,)

    def window(self, weights: Array) -> Array:
        """Lay the weights out as the window that slides."""
        for linear in self.weights_map(weights):
            weights = linear.push(weights)
        return weights

    def margins(self) -> list[tuple[int, int]]:
        """Tell by how much the image is extended on both sides of each axis."""
        return [(b, m - 1 - b) for b, m in zip(self.before, self.shape, strict=True)]


def window_of(
    ndim: int,
    lengths: Sequence[int],
    axes: Sequence[int],
    modes: Any,
    origins: Any,
    *,
    turned: bool,
) -> Window:
    """Make the `Window` of weights with given lengths along some axes."""
    shape, before, mode_of = [1] * ndim, [0] * ndim, ["nearest"] * ndim
    origins, modes = per_axis(origins, len(axes)), per_axis(modes, len(axes))
    for axis, m, origin, mode in zip(axes, lengths, origins, modes, strict=True):
        if turned:
            origin = -origin - (1 - m % 2)  # noqa: PLW2901 - a convolution counts the other way
        shape[axis], before[axis], mode_of[axis] = m, m // 2 + origin, mode
    return Window(tuple(shape), before, mode_of, turned)


def in_input(window: Window, shape: Shape, weights: Array) -> LinearMap:
    """Make the map of a filter in what is filtered."""
    extended = extension(shape, window.margins(), window.modes)
    return Chain((extended, InSignal(window.window(weights), len(shape))))


def surrounding(window: Window, shape: Shape) -> Array:
    """Make the array that is 1 where an extended image has the constant, and 0 elsewhere."""
    return 1 - extension(shape, window.margins(), window.modes).forward(np.ones(shape))


def in_weights(window: Window, image: Array, weights: Array, cval: Array) -> LinearMap:
    """Make the map of a filter in its weights."""
    shape = image.shape
    extended = extension(shape, window.margins(), window.modes).push(image)
    extended = extended + surrounding(window, shape) * cval
    return Chain((*window.weights_map(weights), InWindow(extended, len(shape))))


def in_constant(window: Window, shape: Shape, weights: Array) -> Array:
    """Make the derivative of a filter by the constant beyond the edges."""
    return slid(surrounding(window, shape), window.window(weights), rank=len(shape))


def filter_partial(
    layout: Callable[..., Window],
    position: int,
    out: Array,
    image: Array,
    weights: Array,
    cval: Array,
    **options: Any,
) -> Any:
    """Make one of the partials of a filter."""
    if out.size == 0:
        return None
    window = layout(image, weights, **options)
    if position == 0:
        return Deferred(in_input, (window, image.shape, weights))
    if position == 1:
        return Deferred(in_weights, (window, image, weights, cval))
    return in_constant(window, image.shape, weights)


def layout_nd(*, turned: bool) -> Callable[..., Window]:
    """Make the function that lays out weights of as many axes as the image, or as are named."""

    def layout(
        image: Array, weights: Array, mode: Any, origin: Any, axes: Any = None, **options: Any
    ) -> Window:
        named = axes_of(image.ndim, axes)
        return window_of(image.ndim, weights.shape, named, mode, origin, turned=turned)

    return layout


def layout_1d(*, turned: bool) -> Callable[..., Window]:
    """Make the function that lays out weights along one axis."""

    def layout(
        image: Array, weights: Array, axis: int, mode: Any, origin: int, **options: Any
    ) -> Window:
        named = [one_axis(image.ndim, axis)]
        return window_of(image.ndim, weights.shape, named, mode, origin, turned=turned)

    return layout


def weighted(function: Callable[..., Any], layout: Callable[..., Window]) -> Entry:
    """Make the rule of a filter with weights."""
    operands = "input weights cval"

    def maker(position: int, out: Array, *values: Array, **options: Any) -> Any:
        return filter_partial(layout, position, out, *values, **options)

    return each(
        maker, signature=operands_of(function, operands), compute=by_name(function, operands)
    )


def uniform_partial(position: int, out: Array, image: Array, cval: Array, **options: Any) -> Any:
    """Make a partial of `uniform_filter1d`: all of its weights are alike."""
    weights = np.full(options["size"], 1 / options["size"])
    layout = layout_1d(turned=False)
    return filter_partial(layout, position and 2, out, image, weights, cval, **options)


CORRELATION: dict[Any, Entry] = {
    correlate: weighted(correlate, layout_nd(turned=False)),
    convolve: weighted(convolve, layout_nd(turned=True)),
    correlate1d: weighted(correlate1d, layout_1d(turned=False)),
    convolve1d: weighted(convolve1d, layout_1d(turned=True)),
    uniform_filter1d: each(
        uniform_partial,
        signature=operands_of(uniform_filter1d, "input cval"),
        compute=by_name(uniform_filter1d, "input cval"),
    ),
}

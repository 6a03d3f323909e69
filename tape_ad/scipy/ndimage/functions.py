"""Filters by functions of the user's, and roots that have no gradient where they are 0."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend.arrays import Array, as_array, as_array_constants, joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.correlation import KERNELS, Window, window_of, write
from tape_ad.scipy.ndimage.extension import OUTSIDE
from tape_ad.scipy.stand_ins import stands_for


def extended(image: Array, window: Window, cval: Any) -> Array:
    """Extend an image by what a window reaches, where the mode has it so by a constant."""
    numbers = np.arange(1, image.size + 1).reshape(image.shape)
    places = window.extension(image.shape).forward(numbers) - 1
    return np.where(places == OUTSIDE, cval, image.reshape(-1)[places.clip(0)])


@stands_for(KERNELS.generic_filter)
def generic_filter(
    image: Array,
    function: Callable[..., Any],
    footprint: Array,
    output: Array,
    mode: int,
    cval: Any,
    origins: Any,
    extra_arguments: Any,
    extra_keywords: Any,
) -> None:
    """Call a function with the elements around each one."""
    if not image.size:
        return
    window = window_of(image.ndim, footprint.shape, None, mode, origins)
    values = extended(image, window, cval)
    parts = [
        values[tuple(slice(k, k + n) for k, n in zip(offset, image.shape, strict=True))]
        for offset in itertools.product(*map(range, window.shape))
        if footprint[offset]
    ]
    rows = np.stack(parts, axis=-1).reshape((-1, len(parts)))
    found = [as_array(joined(function(row, *extra_arguments, **extra_keywords))) for row in rows]
    write(output, np.stack(found).reshape(image.shape))


@stands_for(KERNELS.generic_filter1d)
def generic_filter1d(
    image: Array,
    function: Callable[..., Any],
    size: int,
    axis: int,
    output: Array,
    mode: int,
    cval: Any,
    origin: int,
    extra_arguments: Any,
    extra_keywords: Any,
) -> None:
    """Call a function with each extended line, and with one to be filled."""
    if not image.size:
        return
    window = window_of(image.ndim, size, axis, mode, origin)
    lines = np.moveaxis(extended(image, window, cval), axis, -1)
    shape = (*lines.shape[:-1], image.shape[axis])
    found = []
    for line in lines.reshape((-1, lines.shape[-1])):
        out = as_array_constants(np.zeros(shape[-1]))
        function(line, out, *extra_arguments, **extra_keywords)
        found.append(out)
    write(output, np.moveaxis(np.stack(found).reshape(shape), -1, axis))


def root(x: Array) -> Array:
    """Take the square root, with the derivative 0 at 0."""
    none = np.equal(x, 0)
    return np.where(none, 0, np.sqrt(np.where(none, 1, x)))[()]


sum_of = differentiable(scipy.ndimage.generic_laplace)
variance = differentiable(scipy.ndimage.variance)


@stands_for(scipy.ndimage.generic_gradient_magnitude)
def generic_gradient_magnitude(
    image: Array, derivative: Callable[..., Any], *args: Any, **kwargs: Any
) -> Array:
    """Take the length of a gradient; `generic_laplace` adds up what it is given for each axis."""

    def squared(*arguments: Any, **named: Any) -> Any:
        found = derivative(*arguments, **named)
        return np.multiply(found, found, found)

    return root(sum_of(image, squared, *args, **kwargs))


@stands_for(scipy.ndimage.standard_deviation)
def standard_deviation(image: Array, labels: Any = None, index: Any = None) -> Array:
    """Take the root of the variance."""
    return root(variance(image, labels, index))

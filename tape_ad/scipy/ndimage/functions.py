"""Filters by functions of the user's, and in Fourier space; lengths, whose gradient is 0 at 0."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, as_array_constants, is_handle, joined, reaches
from tape_ad.extend.packages import called
from tape_ad.extend.rules import Derivation, Entry, constants, overridable
from tape_ad.scipy.counterparts import refuse_elsewhere, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.filters import KERNELS, Passing, write
from tape_ad.scipy.stand_ins import stands_for


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
    window = Passing(None, mode, origins, output.dtype).window(image.ndim, footprint.shape)
    values = window.extended(image, cval)
    parts = [values[part] for _, part in window.parts(image.shape, footprint)]
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
    window = Passing(axis, mode, origin, output.dtype).window(image.ndim, (size,))
    lines = np.moveaxis(window.extended(image, cval), axis, -1)
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


# Distances to the background by the size of an element, in which alone they are smooth.


distance_transform_bf, distance_transform_edt = (
    scipy_function(function, "tape_ad.scipy.ndimage", "input sampling")
    for function in (scipy.ndimage.distance_transform_bf, scipy.ndimage.distance_transform_edt)
)


@overridable
def transformed(function: Any, arguments: dict[str, Any], image: Any, sampling: Any) -> Any:
    """Call a distance transform with two of its arguments, by which it moves nothing."""
    if sampling is not None:  # SciPy 1.14 takes no array without axes
        sampling = np.broadcast_to(sampling, (image.ndim,))
    return function(image, sampling=sampling, **arguments)


def distances_by_sampling(function: Any) -> Derivation:
    """Make the entry of a distance transform, which is smooth in the size of an element alone.

    Between elements that do not change, the distance is the length of a vector.
    """
    signature = inspect.signature(function)

    def compute(*args: Any, **kwargs: Any) -> Any:
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        refuse_elsewhere(function, arguments)
        image, sampling = as_array(arguments.pop("input")), arguments.pop("sampling", None)
        sampling = joined(sampling)
        if not is_handle(sampling) or arguments.get("metric", "euclidean") != "euclidean":
            return transformed(function, arguments, image, sampling)
        if any(arguments.get(name) is not None for name in ("distances", "indices")):
            raise UnsupportedArgumentError(
                f"{called(function)}: distances= and indices= are plain arrays, which cannot hold "
                "a gradient; leave them out, and use what the function returns"
            )
        wanted = {"return_distances": False, "return_indices": True}
        nearest = transformed(function, {**arguments, **wanted}, image, sampling)
        if not arguments.get("return_distances", True):
            return nearest
        steps = (nearest - np.indices(image.shape)).astype(float)
        sizes = np.broadcast_to(sampling, (image.ndim,)).reshape((-1,) + (1,) * image.ndim)
        apart = np.any(nearest != np.indices(image.shape), axis=0)
        squares = np.add.reduce((steps * sizes) ** 2, axis=0)
        distance = np.where(apart, np.sqrt(np.where(apart, squares, 1.0)), 0.0)
        return (distance, nearest) if arguments.get("return_indices") else distance

    return Derivation(compute)


DISTANCES: dict[Any, Entry] = {
    **{
        each: distances_by_sampling(each)
        for each in (distance_transform_bf, distance_transform_edt)
    },
    **constants(transformed),
}


# Filters in Fourier space, which multiply by one number for each frequency


Factors = Any
"""What makes factors of frequencies and a parameter."""


def frequencies(length: int, n: int, *, halved: bool) -> Array:
    """List the frequencies along an axis, over its length; of a real transform those that are left.

    As in SciPy, the middle one of an even number of them is negative.
    """
    if halved and n >= 0:
        return np.arange(float(length)) / n
    whole = np.arange(float(length))
    return np.where(whole >= (length + 1) // 2, whole - length, whole) / length


def gaussian(f: Array, sigma: Array) -> Array:
    """Compute the factors of a Gaussian."""
    return np.exp(-2 * np.pi**2 * f**2 * sigma**2)


def box(f: Array, size: Array) -> Array:
    """Compute the factors of a box; of one without a size SciPy makes 0."""
    return np.where(np.equal(size, 0), 0, np.sinc(f * size))


def moved(f: Array, shift: Array) -> Array:
    """Compute the factors of a shift."""
    return np.exp(-2j * np.pi * f * shift)


def filtered(image: Array, parameters: Array, n: int, axis: int, factors: Factors) -> Array:
    """Multiply by the factors that parameters make."""
    for number, length in enumerate(image.shape):
        f = frequencies(length, n, halved=number == axis)
        along = (-1,) + (1,) * (image.ndim - number - 1)
        image = image * factors(f, parameters[number]).reshape(along)
    return image


@stands_for(KERNELS.fourier_filter)
def fourier_filter(
    image: Array, parameters: Array, n: int, axis: int, output: Array, kind: int
) -> None:
    """Filter by a Gaussian, by a box or by an ellipsoid; by SciPy's own factors if it can be.

    Raises
    ------
    UnsupportedArgumentError
        When the size of an ellipsoid is a handle.
    """
    if reaches(parameters):
        if kind == 2:
            raise UnsupportedArgumentError(
                "tape_ad.scipy.ndimage.fourier_ellipsoid: there is no derivative by size=; pass "
                "size.data"
            )
        write(output, filtered(image, parameters, n, axis, (gaussian, box)[kind]))
    else:
        factors = np.zeros(image.shape)
        KERNELS.fourier_filter(np.ones(image.shape), parameters, n, axis, factors, kind)
        write(output, image * factors)


@stands_for(KERNELS.fourier_shift)
def fourier_shift(image: Array, shifts: Array, n: int, axis: int, output: Array) -> None:
    """Shift, by factors of length one."""
    if reaches(shifts):
        write(output, filtered(image, shifts, n, axis, moved))
    else:
        factors = np.zeros(image.shape, complex)
        KERNELS.fourier_shift(np.ones(image.shape), shifts, n, axis, factors)
        write(output, image * factors)

"""Windows of weights that slide over an image: the correlations that all linear filters are."""

from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, Shape, as_array, fill
from tape_ad.extend.maps import Chain, Deferred, LinearMap, Reshape
from tape_ad.extend.rules import Entry, add_facts, arguments_of, each, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.extension import MODES, InSignal, InWindow, extension, slid
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

    def extension(self, shape: Shape) -> Any:
        """Make the map that extends an image by what the window reaches."""
        margins = [(b, m - 1 - b) for b, m in zip(self.before, self.shape, strict=True)]
        return extension(shape, margins, [MODES[self.mode]] * len(shape))

    def surrounding(self, shape: Shape) -> Array:
        """Make the array that is 1 where an extended image has the constant, and 0 elsewhere."""
        return 1 - self.extension(shape).forward(np.ones(shape))


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


@stands_for(KERNELS.correlate1d)
def correlate1d(
    image: Array, weights: Array, axis: int, output: Array, mode: int, cval: Any, origin: int
) -> None:
    """Correlate along one axis."""
    passing = Passing(axis, mode, origin, output.dtype)
    write(output, correlated(image, weights, as_array(cval), passing))


@stands_for(KERNELS.correlate)
def correlate(
    image: Array, weights: Array, output: Array, mode: int, cval: Any, origins: Any
) -> None:
    """Correlate with weights along all axes."""
    passing = Passing(None, mode, tuple(origins), output.dtype)
    write(output, correlated(image, weights, as_array(cval), passing))


@stands_for(KERNELS.uniform_filter1d)
def uniform_filter1d(
    image: Array, size: int, axis: int, output: Array, mode: int, cval: Any, origin: int
) -> None:
    """Take means along one axis."""
    passing = Passing(axis, mode, origin, output.dtype)
    write(output, averaged(image, as_array(cval), size, passing))


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


def in_image(window: Window, shape: Shape, weights: Array) -> LinearMap:
    """Make the map of a filter in what is filtered."""
    return Chain((window.extension(shape), InSignal(weights.reshape(window.shape), len(shape))))


def in_weights(window: Window, image: Array, weights: Array, cval: Array) -> LinearMap:
    """Make the map of a filter in its weights."""
    shape = image.shape
    extended = window.extension(shape).push(image) + window.surrounding(shape) * cval
    return Chain((Reshape(weights.shape, window.shape), InWindow(extended, len(shape))))


def partial(
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
    beyond = window.surrounding(image.shape)
    return slid(beyond, weights.reshape(window.shape), rank=image.ndim)


def mean_partial(
    position: int, out: Array, image: Array, cval: Array, size: int, passing: Passing
) -> Any:
    """Make a partial of a mean: all of its weights are alike."""
    return partial(position and 2, out, image, np.full(size, 1 / size), cval, passing)


CORRELATION: dict[Any, Entry] = {
    correlated: each(partial, signature=arguments_of(correlated, "image weights cval")),
    averaged: each(mean_partial, signature=arguments_of(averaged, "image cval")),
}


def correlated_body(image: Array, weights: Array, cval: Array, passing: Passing) -> Array:
    """Correlate as `correlated` does, in NumPy."""
    window = passing.window(image.ndim, weights.shape)
    beyond = window.surrounding(image.shape)
    extended = np.where(beyond, cval, window.extension(image.shape).push(image))
    return slid(extended, weights.reshape(window.shape), rank=image.ndim).astype(passing.dtype)


def averaged_body(image: Array, cval: Array, size: int, passing: Passing) -> Array:
    """Take means as `averaged` does, in NumPy."""
    return correlated_body(image, np.full(size, 1 / size), cval, passing)


add_facts(CORRELATION, (correlated,), body=correlated_body)
add_facts(CORRELATION, (averaged,), body=averaged_body)

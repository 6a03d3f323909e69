"""Grey morphology, made of erosion and dilation, and binary morphology, which is constant."""

import inspect
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.packages import called
from tape_ad.extend.rules import Derivation, Entry, constants, overridable
from tape_ad.scipy.counterparts import (
    checked_call,
    is_handle,
    joined,
    refuse_elsewhere,
    scipy_function,
)
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.correlation import MODULE
from tape_ad.scipy.ndimage.ranks import grey_dilation, grey_erosion

__all__ = [
    "MORPHOLOGY",
    "binary_closing",
    "binary_dilation",
    "binary_erosion",
    "binary_fill_holes",
    "binary_hit_or_miss",
    "binary_opening",
    "binary_propagation",
    "black_tophat",
    "distance_transform_bf",
    "distance_transform_cdt",
    "distance_transform_edt",
    "grey_closing",
    "grey_opening",
    "morphological_gradient",
    "morphological_laplace",
    "white_tophat",
]

GIVEN = "input structure cval"

grey_opening = scipy_function(scipy.ndimage.grey_opening, MODULE, GIVEN)
grey_closing = scipy_function(scipy.ndimage.grey_closing, MODULE, GIVEN)
morphological_gradient = scipy_function(scipy.ndimage.morphological_gradient, MODULE, GIVEN)
morphological_laplace = scipy_function(scipy.ndimage.morphological_laplace, MODULE, GIVEN)
white_tophat = scipy_function(scipy.ndimage.white_tophat, MODULE, GIVEN)
black_tophat = scipy_function(scipy.ndimage.black_tophat, MODULE, GIVEN)
binary_closing = scipy_function(scipy.ndimage.binary_closing, MODULE)
binary_dilation = scipy_function(scipy.ndimage.binary_dilation, MODULE)
binary_erosion = scipy_function(scipy.ndimage.binary_erosion, MODULE)
binary_fill_holes = scipy_function(scipy.ndimage.binary_fill_holes, MODULE)
binary_hit_or_miss = scipy_function(scipy.ndimage.binary_hit_or_miss, MODULE)
binary_opening = scipy_function(scipy.ndimage.binary_opening, MODULE)
binary_propagation = scipy_function(scipy.ndimage.binary_propagation, MODULE)
distance_transform_bf = scipy_function(
    scipy.ndimage.distance_transform_bf, MODULE, "input sampling"
)
distance_transform_cdt = scipy_function(scipy.ndimage.distance_transform_cdt, MODULE)
distance_transform_edt = scipy_function(
    scipy.ndimage.distance_transform_edt, MODULE, "input sampling"
)

Arguments = tuple[Any, ...]


def split(arguments: Arguments) -> tuple[Array, Arguments, Any, Arguments]:
    """Take apart the arguments that all of these have: the output stands among others."""
    image, size, footprint, structure, output, *others = arguments
    return image, (size, footprint, structure), output, tuple(others)


def opened(*arguments: Any, **named: Any) -> Array:
    """Open an image: erode it, then dilate it."""
    image, shape, output, others = split(arguments)
    eroded = grey_erosion(image, *shape, None, *others, **named)
    return grey_dilation(eroded, *shape, output, *others, **named)


def closed(*arguments: Any, **named: Any) -> Array:
    """Close an image: dilate it, then erode it."""
    image, shape, output, others = split(arguments)
    dilated = grey_dilation(image, *shape, None, *others, **named)
    return grey_erosion(dilated, *shape, output, *others, **named)


def gradient(*arguments: Any, **named: Any) -> Array:
    """Subtract the erosion from the dilation."""
    image, shape, output, others = split(arguments)
    dilated = grey_dilation(image, *shape, None, *others, **named)
    return (dilated - grey_erosion(image, *shape, None, *others, **named)).astype(output)


def laplacian(*arguments: Any, **named: Any) -> Array:
    """Add up both, less the image twice."""
    image, shape, output, others = split(arguments)
    dilated = grey_dilation(image, *shape, None, *others, **named)
    eroded = grey_erosion(image, *shape, None, *others, **named)
    return (dilated + eroded - image - image).astype(output)


def above(*arguments: Any, **named: Any) -> Array:
    """Subtract the opening from the image."""
    return arguments[0] - opened(*arguments, **named)


def below(*arguments: Any, **named: Any) -> Array:
    """Subtract the image from the closing."""
    return closed(*arguments, **named) - arguments[0]


@overridable
def transformed(function: Any, arguments: dict[str, Any], image: Array, sampling: Any) -> Any:
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


MORPHOLOGY: dict[Any, Entry] = {
    **{
        public: Derivation(checked_call(public, compute))
        for public, compute in (
            (grey_opening, opened),
            (grey_closing, closed),
            (morphological_gradient, gradient),
            (morphological_laplace, laplacian),
            (white_tophat, above),
            (black_tophat, below),
        )
    },
    **constants(
        *(binary_closing, binary_dilation, binary_erosion, binary_fill_holes),
        *(binary_hit_or_miss, binary_opening, binary_propagation, distance_transform_cdt),
    ),
    **{
        each: distances_by_sampling(each)
        for each in (distance_transform_bf, distance_transform_edt)
    },
    **constants(transformed),
}

"""Distances to the background by the size of an element, in which alone they are smooth."""

import inspect
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import as_array, is_handle, joined
from tape_ad.extend.packages import called
from tape_ad.extend.rules import Derivation, Entry, constants, overridable
from tape_ad.scipy.counterparts import refuse_elsewhere, scipy_function
from tape_ad.scipy.installed import scipy

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

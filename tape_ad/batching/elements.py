"""Functions of elements, and what is asked about one."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.batches import Batch
from tape_ad.batching.arrays import BatchedArray
from tape_ad.batching.basics import (
    Function,
    Looped,
    Options,
    all_of,
    as_shape,
    lone,
    ndim_of,
    refuse_batched,
)

__all__ = ["ABOUT_ONE", "cast", "elementwise", "filled", "like_one", "listed"]


def elementwise(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Line up the axes of the operands behind that of the batch, and call the function once."""
    kinds = (str, type, np.dtype, type(None))
    arrays = [x for x in (*args, *kwargs.values()) if not isinstance(x, kinds)]
    for x in arrays:
        if isinstance(x, (list, tuple, dict)):
            refuse_batched(batch, x)
    ndim = max([ndim_of(x) for x in arrays if not isinstance(x, dict)], default=0)
    options = {name: all_of(batch, x, ndim) for name, x in kwargs.items()}
    return function(*[all_of(batch, x, ndim) for x in args], **options)


def listed(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Do what `elementwise` does where arrays stand in lists as well."""

    def ndim_in(x: Any) -> int:
        if isinstance(x, (list, tuple)):
            return max(map(ndim_in, x), default=0)
        return 0 if isinstance(x, (str, type(None))) else ndim_of(x)

    def aligned(x: Any, ndim: int) -> Any:
        return (
            [aligned(each, ndim) for each in x]
            if isinstance(x, (list, tuple))
            else all_of(batch, x, ndim)
        )

    if kwargs.get("mode", "raise") != "raise" or not any(
        isinstance(x, (list, tuple)) for x in args
    ):
        raise Looped
    ndim = max(map(ndim_in, args))
    return function(*[aligned(x, ndim) for x in args], **kwargs)


def cast(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Cast each."""
    return lone(batch, args, kwargs).stack.astype(*args[1:], **kwargs)


def filled(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Make an array like a batched one, for all."""
    x = lone(batch, args, kwargs)
    shape = kwargs.get("shape")
    if shape is None:
        return function(x.stack, *args[1:], **kwargs)
    return function(x.stack, *args[1:], **{**kwargs, "shape": (batch.size, *as_shape(shape))})


def like_one(x: Any, path: str = "") -> Any:
    """Give an array of the shape and dtype of one, without its values."""
    return np.broadcast_to(np.empty((), x.dtype), x.shape) if type(x) is BatchedArray else x


ABOUT_ONE = frozenset(
    (
        *(np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj),
        np.common_type,
    )
)
"""Functions that tell the same of each."""

"""Functions that pick elements, and what partials are made of."""

import operator
from typing import Any

import numpy as np

from tape_ad.base.arrays.batches import Batch
from tape_ad.base.arrays.overridable import lift
from tape_ad.batching.arrays import BatchedArray, shape_of_one
from tape_ad.batching.basics import (
    Function,
    Looped,
    Options,
    as_axes,
    as_axis,
    as_shape,
    flattened,
    is_of,
    lone,
    named,
    ndim_of,
    spread,
)
from tape_ad.batching.indexing import item_of_all, key_of_all
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.indexing import index_map

__all__ = [
    "added",
    "counted",
    "digitized",
    "scattered",
    "searched",
    "taken",
    "taken_along",
    "windows",
]


def taken(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Take elements by indices."""
    a, indices = args[0], args[1] if len(args) > 1 else kwargs["indices"]
    axis = args[2] if len(args) > 2 else kwargs.get("axis")
    mode = kwargs.get("mode", "raise")
    if len(args) > 3:
        raise Looped
    if is_of(a, batch) and not is_of(indices, batch):
        data, axis = (flattened(a), 1) if axis is None else (a.stack, as_axis(axis, a.ndim))
        return function(data, indices, axis, mode=mode)
    if mode != "raise" or not is_of(indices, batch):
        raise Looped
    if is_of(a, batch):
        if axis is None:
            a, axis = np.ravel(a), 0
        return item_of_all(
            batch, a, (slice(None),) * (as_axis(axis, a.ndim) % (a.ndim + 1) - 1) + (indices,)
        )
    if axis is None:
        return np.take(a, indices.stack)
    axis = operator.index(axis)
    axis += ndim_of(a) if axis < 0 else 0
    return np.moveaxis(np.take(a, indices.stack, axis), axis, 0)


def taken_along(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Take elements by indices along an axis."""
    a, indices, axis = named(
        args, kwargs if len(args) > 2 else {"axis": -1, **kwargs}, "arr", "indices", "axis"
    )
    if axis is None and is_of(a, batch) and is_of(indices, batch):
        return function(flattened(a), indices.stack, 1)
    if axis is None or ndim_of(a) != ndim_of(indices):
        raise Looped
    ndim = ndim_of(a)
    return function(spread(batch, a), spread(batch, indices), as_axis(axis, ndim))


def counted(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Count whole numbers, or add up what belongs to each: each of the batch beside the others."""
    options = dict(kwargs)
    x, weights = args[0], args[1] if len(args) > 1 else options.pop("weights", None)
    least = args[2] if len(args) > 2 else options.pop("minlength", 0)
    if options or ndim_of(x) != 1 or is_of(least, batch) or not batch.size:
        raise Looped
    numbers = np.asarray(spread(batch, x))
    lengths = np.maximum(np.max(numbers, axis=1, initial=-1) + 1, least)
    if numbers.dtype.kind not in "iu" or np.min(numbers, initial=0) < 0 or np.ptp(lengths):
        raise Looped
    length = int(lengths[0])
    places = np.ravel(numbers + length * np.arange(batch.size)[:, None])
    given = () if weights is None else (np.reshape(spread(batch, weights), (-1,)),)
    return np.reshape(function(places, *given, minlength=batch.size * length), (-1, length))


def searched(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Look up values in sorted ones, either of which may be batched."""
    if len(args) != 2:
        raise Looped
    if is_of(args[0], batch):
        return bodies.searched(*args, **kwargs).stack
    if is_of(kwargs.get("sorter"), batch):
        raise Looped
    return function(args[0], args[1].stack, **kwargs)


def digitized(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Look up batched values in bins that are the same for each."""
    x = lone(batch, args, kwargs)
    return function(x.stack, *args[1:], **kwargs)


def windows(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Slide a window over each."""
    x = lone(batch, args, kwargs)
    shape = as_shape(args[1] if len(args) > 1 else kwargs["window_shape"])
    axis = args[2] if len(args) > 2 else kwargs.get("axis")
    if axis is None:
        axis = tuple(range(x.ndim))
    return function(x.stack, shape, as_axes(as_shape(axis), x.ndim))


def scattered(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Pull cotangents through an index: the batch is another stack of them."""
    ct, index = named(args, kwargs, "ct", "index")
    if not any(is_of(entry, batch) for entry in index.key):
        return function(ct.stack, index)
    stack = ndim_of(ct) - len(index.node)
    if index.front:
        raise Looped
    parent = shape_of_one(ct)[:stack] + index.parent
    like = BatchedArray(np.broadcast_to(np.empty(()), (batch.size, *parent)), batch)
    whole, order = key_of_all(batch, like, (slice(None),) * stack + index.key)
    cts = lift(spread(batch, ct))  # as what stands in the key may be captured
    if order is not None:
        cts = np.moveaxis(cts, order[1], order[0])
    return function(cts, index_map(whole, (batch.size, *parent), cts.shape))


def added(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Add what a map pulls to a cotangent."""
    total, ct, linear = named(args, kwargs, "total", "ct", "linear")
    return spread(batch, total + linear.pull(ct))

"""Indexing and assignment for all of a batch, and functions that pick elements."""

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import Batch
from tape_ad.base.arrays.overridable import TRACERS, batch_in, joined, lift
from tape_ad.batching.arrays import (
    BatchedArray,
    OneByOneError,
    UnbatchableError,
    asked_by_library,
    in_front,
    known,
    shape_of_one,
)
from tape_ad.batching.basics import (
    Function,
    Looped,
    Options,
    as_axis,
    flattened,
    is_of,
    lone,
    named,
    ndim_of,
    spread,
)
from tape_ad.batching.decisions import grouped, members_of, part
from tape_ad.record.messages.callers import caller
from tape_ad.record.primals import memory_of
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.indexing import index_map
from tape_ad.rules.numpy.updates import viewed

WHOLE = slice(None)
PLAIN = frozenset([int, slice, type(None), type(Ellipsis)])


def item_of_all(batch: Batch, x: Any, key: Any) -> Any:
    """Compute ``x[key]`` for all; either may be batched, and one of them is."""
    entries = key if type(key) is tuple else (key,)
    if not is_of(x, batch) and any(is_mask(entry, batch) for entry in entries):
        x = BatchedArray(spread(batch, x), batch)
    whole, order = key_of_all(batch, x, key)
    out = lift(x.stack if is_of(x, batch) else x)[whole]  # a plain one cannot ask a traced key
    return out if order is None else np.moveaxis(out, *order)


def key_of_all(batch: Batch, x: Any, key: Any) -> tuple[tuple[Any, ...], Any]:
    """Write a key for all, and which axes to move behind it (from where and to where), or None."""
    entries = tuple(map(with_plain_bounds, key if type(key) is tuple else (key,)))
    if is_of(x, batch) and PLAIN.issuperset(map(type, entries)):
        return (WHOLE, *entries), None
    entries = tuple(map(as_entry, entries))
    if any(hasattr(e, "ndim") and e.dtype == bool for e in entries) and batch_in(entries):
        entries = tuple(without_masks(batch, shape_of_one(x), entries))
    missing = x.ndim - sum(map(axes_used, entries))
    if missing < 0:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but "
            f"{x.ndim - missing} were indexed"
        )
    if not any(entry is Ellipsis for entry in entries):
        entries = (*entries, ...)
    dots = next(i for i, entry in enumerate(entries) if entry is Ellipsis)
    entries = (*entries[:dots], *(WHOLE,) * missing, *entries[dots + 1 :])
    arrays = [entry for entry in entries if hasattr(entry, "ndim")]
    places = [i for i, entry in enumerate(entries) if picks(entry)]
    dense = not places or places[-1] - places[0] + 1 == len(places)
    parted = bool(arrays) and missing == 0 and places[0] < dots <= places[-1]
    ndim = max(map(axes_brought, arrays), default=0)
    if not any(is_of(entry, batch) for entry in arrays):
        if parted:  # an ellipsis sets apart what is beside it, even if it stands for no axis
            entries = (*entries[:dots], ..., *entries[dots:])
        apart = bool(arrays) and (parted or not dense)
        return (WHOLE, *entries), (ndim, 0) if apart else None
    behind = places[0] if dense and not parted else 0  # how many axes NumPy leaves before these
    aligned = [in_front(entry, ndim) if is_of(entry, batch) else entry for entry in entries]
    if is_of(x, batch):
        rows = np.arange(batch.size)[(WHOLE, *(None,) * ndim)]
        order = tuple(range(1, 1 + ndim)), tuple(range(1 + behind, 1 + behind + ndim))
        return (rows, *aligned), order if behind else None
    if parted:
        aligned.insert(dots, ...)
    return tuple(aligned), (behind, 0) if behind else None


def with_plain_bounds(entry: Any) -> Any:
    """Give a slice the bounds of those that the function goes on for."""
    if type(entry) is not slice:
        return entry
    bounds = entry.start, entry.stop, entry.step
    if BatchedArray not in map(type, bounds):
        return entry
    return slice(*(operator.index(b) if type(b) is BatchedArray else b for b in bounds))


def is_mask(entry: Any, batch: Batch) -> bool:
    """Tell whether an entry is a mask that may be another for each."""
    return is_of(entry, batch) and entry.dtype == bool


def without_masks(batch: Batch, shape: tuple[int, ...], entries: Sequence[Any]) -> Iterator[Any]:
    """Write masks in a key as the places where they hold."""
    axis = 0
    for number, entry in enumerate(entries):
        used = axes_used(entry)
        if entry is Ellipsis:
            axis = len(shape) - sum(map(axes_used, entries[number + 1 :]))
        elif hasattr(entry, "ndim") and entry.dtype == bool:
            if entry.shape != shape[axis : axis + used]:
                raise IndexError("a mask does not match the axes that it is for")
            if is_of(entry, batch):
                yield from places_in_each(entry, within=True)
            else:
                yield from np.nonzero(entry) if used else (entry,)
            axis += used
            continue
        yield entry
        axis += used


def places_in_each(mask: BatchedArray, *, within: bool = False) -> list[Any]:
    """List the places where elements are not 0, of those that have as many as the most have.

    Of a number it is whether that is not 0. A library that is `within` a call is told to make that
    for those with one number of them alone.
    """
    batch, shape = mask.batch_here, mask.shape
    if batch.size == 0:
        raise UnbatchableError
    there = np.not_equal(flattened(mask), 0)
    counts = known(np.count_nonzero(there, axis=1))
    if within and asked_by_library() and len(grouped(counts, members_of(batch))) > 1:
        mask.refuse_library(counts)
    count = int(counts[part(batch, counts, caller)])
    if not shape:
        return [np.asarray(count > 0)]
    rest = np.argsort(np.logical_not(there), axis=1, kind="stable")[:, :count]
    places: list[Any] = []
    for length in reversed(shape):
        places.insert(0, BatchedArray(rest % max(length, 1), batch, whole=True))
        rest = rest // max(length, 1)
    return places


def nonzero(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Find where elements are not 0."""
    x = lone(batch, args, kwargs)
    if x.ndim == 0:
        raise Looped  # where it is refused
    return tuple([each.stack for each in places_in_each(x)])


def picks(entry: Any) -> bool:
    """Tell whether an entry is an integer or an array, and no slice or new axis."""
    return entry is not None and not isinstance(entry, slice)


def as_entry(entry: Any) -> Any:
    """Take lists to arrays."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice) or hasattr(entry, "ndim"):
        return entry
    if isinstance(entry, (bool, np.bool_)):
        return np.asarray(entry)
    if hasattr(type(entry), "__index__"):
        return entry
    array = np.asarray(entry)
    return array.astype(np.intp) if array.size == 0 and array.dtype != bool else array


def axes_used(entry: Any) -> int:
    """Count the axes that an entry of a key is for."""
    if entry is None or entry is Ellipsis:
        return 0
    if hasattr(entry, "ndim") and entry.dtype == bool:
        return int(entry.ndim)
    return 1


def axes_brought(entry: Any) -> int:
    """Count the axes that an index brings in."""
    return 1 if entry.dtype == bool else int(entry.ndim)


def written_to_all(batch: Batch, x: BatchedArray, key: Any, value: Any) -> None:
    """Do ``x[key] = value`` for all."""
    whole, values = placed(batch, x, key, value)
    x.stack[whole] = values


def updated_for_all(batch: Batch, function: Any, args: Any, kwargs: Any) -> Any:
    """Give copies in which the elements at a key are others."""
    options = dict(zip(("a", "value", "key", "window"), args, strict=False)) | dict(kwargs)
    a, key, value = (options[name] for name in ("a", "key", "value"))
    window = options.get("window")
    if not is_of(a, batch):
        a = BatchedArray(np.broadcast_to(a, (batch.size, *shape_of_one(a))), batch)
    if window is None:
        whole, values = placed(batch, a, key, value)
        return function(a.stack, values, whole)
    if memory_of(a.stack).base is not None and not is_of(options["a"], batch):
        a = BatchedArray(a.stack.copy(), batch)
    window = window_of_all(a.stack, window)
    entries = key if type(key) is tuple else (key,)
    masked = any(is_mask(entry, batch) for entry in entries)  # which keeps some of what was there
    like = np.broadcast_to(np.empty((), window.view.dtype), window.view.shape)
    seen = viewed(a.stack, window) if masked else like
    whole, values = placed(batch, BatchedArray(seen, batch), key, value)
    return function(a.stack, values, whole, window)


def viewed_in_all(batch: Batch, function: Any, args: Any, kwargs: Any) -> Any:
    """View all in the way that one is viewed in."""
    options = dict(zip(("a", "window", "way"), args, strict=False)) | dict(kwargs)
    if options.get("way") is not None:
        out = spread(batch, options["way"].push(options["a"]))
        return out if out.size else out.copy()  # which is written to
    stack = options["a"].stack
    return function(stack, window_of_all(stack, options["window"]))


def window_of_all(stack: Any, window: Window) -> Window:
    """Give the window that shows in all what one shows in one of them.

    Raises
    ------
    OneByOneError
        When they lie in memory in another way.
    """
    memory = memory_of(stack)
    step, *strides = memory.strides[memory.ndim - stack.ndim :]
    if tuple(strides) != window.array.strides or (step == 0 and len(stack) > 1):
        raise OneByOneError
    return window.over(len(stack), step)


def placed(batch: Batch, x: BatchedArray, key: Any, value: Any) -> tuple[Any, Any]:
    """Write a key for all, and a value that fits what it picks."""
    entries = key if type(key) is tuple else (key,)
    mask: Any = entries[0] if len(entries) == 1 else None
    if is_mask(mask, batch) and shape_of_one(value) == () and mask.shape == x.shape[: mask.ndim]:
        chosen: Any = np.where(mask[(..., *(None,) * (x.ndim - mask.ndim))], value, x)
        return ..., chosen.stack.astype(x.dtype)
    whole, order = key_of_all(batch, x, key)
    captured = not TRACERS.isdisjoint(map(type, whole))  # which no plain array is indexed with
    stack = x.stack if captured else np.broadcast_to(np.empty((), bool), x.stack.shape)
    picked = stack[whole]
    if order is not None:
        picked = np.moveaxis(picked, *order)
    shape = picked.shape[1:]
    given = shape_of_one(value)
    extra = len(given) - len(shape)
    if extra > 0:
        if any(length != 1 for length in given[:extra]):
            raise ValueError(
                f"could not broadcast input array from shape {given} into shape {shape}"
            )
        value = np.reshape(value, given[extra:])
    if is_of(value, batch):
        value = in_front(value, len(shape))
    if order is not None:
        value = np.moveaxis(np.broadcast_to(value, picked.shape), order[1], order[0])
    return whole, value


def taken(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Take elements by indices."""
    a, indices = args[0], joined(args[1] if len(args) > 1 else kwargs["indices"])
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
    if axis is None and ndim_of(indices) == 1:
        return function(np.reshape(spread(batch, a), (batch.size, -1)), spread(batch, indices), 1)
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
    names = ("a", "v", "side", "sorter")
    options = {"side": "left", "sorter": None} | dict(kwargs)
    a, v, side, sorter = named(args, {name: options[name] for name in names[len(args) :]}, *names)
    if is_of(a, batch) or is_of(sorter, batch):
        return bodies.searched(a if sorter is None else np.take(a, sorter), v, side).stack
    return function(a, v.stack, side, sorter)


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

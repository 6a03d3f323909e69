"""How a call on Dask arrays is made: by Dask's function of that name, or as stands in a table."""

from collections.abc import Callable, Mapping
from typing import Any

import dask.array as da
import numpy as np

from tape_ad.batching.elements import elementwise
from tape_ad.batching.tables import HANDLERS
from tape_ad.distributed.lazy.arrays import LazyArray, item, lazy, plain, unwritable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.linear_maps.indexing import Index, added_at, scatter
from tape_ad.naming import called
from tape_ad.rules.numpy.contractions import contract
from tape_ad.trees import map_leaves

__all__ = ["answer"]

Function = Callable[..., Any]


def answer(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Make a call that Dask arrays are among the arguments of."""
    given, options = plainly(tuple(args)), plainly(dict(kwargs))
    if options.pop("out", None) is not None:
        raise unwritable(called(function))
    known = TABLE.get(function)
    if known is not None:
        return lazily(known(*given, **options))
    if isinstance(function, np.ufunc):
        return lazily(function(*given, **options))
    if HANDLERS.get(function) is elementwise:
        return lazily(da.core.elemwise(function, *given, **options))
    if ours(function):
        return function._implementation(*args, **kwargs)  # type: ignore[attr-defined]
    counterpart = counterpart_of(function)
    if counterpart is None:
        raise UnsupportedArgumentError(
            f"Dask has no {called(function)} for its arrays, so there is none for handles of them "
            "either; write it in functions that dask.array has, or compute the array first"
        )
    return lazily(counterpart(*given, **options))


def counterpart_of(function: Function) -> Function | None:
    """Find Dask's function of the same name."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__name__", "")
    rooms = {"numpy": da, "numpy.linalg": da.linalg, "numpy.fft": da.fft}
    found: Function | None = getattr(rooms.get(module), name, None)
    return found


LazyArray.answer = staticmethod(answer)


def ours(function: Function) -> bool:
    """Tell whether a function is one of this library's, written in NumPy's."""
    return hasattr(function, "_implementation") and function.__module__.startswith("tape_ad.")


def plainly(tree: Any) -> Any:
    """Give the Dask arrays themselves."""
    return map_leaves(lambda leaf, path: plain(leaf), tree)


def lazily(tree: Any) -> Any:
    """Let results lie below records."""
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(lazily, tree))
    return lazy(tree)


def reduced(reduction: Function) -> Function:
    """Take a ufunc's method to Dask's reduction."""

    def reduce(
        array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **others: Any
    ) -> Any:
        if any(value is not True for value in others.values()):
            raise UnsupportedArgumentError(
                f"Dask's {reduction.__name__} has no {', '.join(others)}; write np.where(...) "
                "around the array"
            )
        options = {} if dtype is None else {"dtype": dtype}
        return reduction(array, axis=axis, keepdims=keepdims, **options)

    return reduce


def accumulated(function: Function) -> Function:
    """Take a ufunc's method to Dask's function of all sums or products so far."""

    def accumulate(array: Any, axis: int = 0, dtype: Any = None) -> Any:
        return function(array, axis=axis, dtype=dtype)

    return accumulate


def reshaped(array: Any, shape: Any, order: str = "C", **_: Any) -> Any:
    """Reshape in C's order."""
    if order not in ("C", "A", "K"):
        raise UnsupportedArgumentError("Dask reshapes in C's order alone; leave order= away")
    try:
        return da.reshape(array, shape)
    except NotImplementedError:  # lengths that neither merge nor split evenly
        return da.reshape(da.reshape(array, (array.size,)), shape)


def joined(function: Function) -> Function:
    """Let NumPy's `stack` and `concatenate` take the dtype that they have beside Dask's."""

    def join(arrays: Any, axis: Any = 0, dtype: Any = None, **_: Any) -> Any:
        parts = [each if isinstance(each, da.Array) else da.asarray(each) for each in arrays]
        if axis is None:
            parts, axis = [da.ravel(part) for part in parts], 0
        out = function(parts, axis=axis)
        return out if dtype is None else out.astype(dtype)

    return join


def contracted(*arrays: Any, inputs: Any, output: str, **_: Any) -> Any:
    """Multiply and add up, by Einstein's convention."""
    return da.einsum(f"{','.join(inputs)}->{output}", *arrays)


def raveled(array: Any, order: str = "C") -> Any:
    """Flatten in C's order."""
    return reshaped(array, (array.size,), order)


def taken(array: Any, indices: Any, axis: Any = None, mode: str = "raise", **_: Any) -> Any:
    """Take elements along an axis."""
    if mode != "raise":
        raise UnsupportedArgumentError(f"Dask's take has no mode={mode!r}; leave mode= away")
    array, axis = (raveled(array), 0) if axis is None else (array, axis)
    return da.take(array, indices, axis=axis)


def added(total: Any, ct: Any, linear: Any) -> Any:
    """Add what a map pulls."""
    return total + plain(linear.pull(lazy(ct)))


def picked(array: Any, key: Any) -> Any:
    """Pick elements: by slices and one array in Dask's way, else of the whole array at once."""
    entries = key if isinstance(key, tuple) else (key,)
    if sum(hasattr(entry, "ndim") or isinstance(entry, list) for entry in entries) <= 1 and all(
        getattr(entry, "ndim", 1) <= 1 for entry in entries
    ):
        return item(array, key)
    shape = np.broadcast_to(np.empty((), bool), array.shape)[key].shape
    return at_once(lambda whole: whole[key], shape, array)


def scattered(ct: Any, index: Index) -> Any:
    """Add elements into zeros: beside what slices pick are zeros, and else all is done at once."""
    stack = ct.ndim - len(index.node)
    entries = index.key
    if not all(entry is None or isinstance(entry, (int, slice)) for entry in entries):
        shape = ct.shape[:stack] + index.parent
        return at_once(lambda whole: scatter(whole, index), shape, ct)
    axis = stack
    for entry in entries:
        if entry is None:
            ct = da.squeeze(ct, axis)
            continue
        places = range(index.parent[axis - stack])
        if isinstance(entry, int):
            ct = da.expand_dims(ct, axis)
            places_picked = places[entry : entry + 1] if entry >= 0 else places[entry:][:1]
        else:
            places_picked = places[entry]
        ct = spread(ct, axis, places_picked, len(places))
        axis += 1
    return ct


def spread(ct: Any, axis: int, places: range, length: int) -> Any:
    """Put what stands along an axis to its places among zeros."""
    if places.step < 0:
        ct, places = da.flip(ct, axis), places[::-1]
    if places.step > 1 and len(places) > 1:
        between = [*ct.shape[: axis + 1], places.step - 1, *ct.shape[axis + 1 :]]
        gaps = da.zeros(between, dtype=ct.dtype)
        ct = da.concatenate([da.expand_dims(ct, axis + 1), gaps], axis + 1)
        ct = ct.reshape([*between[:axis], between[axis] * places.step, *between[axis + 2 :]])
        ct = ct[(slice(None),) * axis + (slice(0, places[-1] - places[0] + 1),)]
    first, stop = (places[0], places[-1] + 1) if len(places) else (0, 0)
    if (first, stop) == (0, length):
        return ct
    parts = [
        da.zeros((*ct.shape[:axis], count, *ct.shape[axis + 1 :]), dtype=ct.dtype)
        for count in (first, length - stop)
    ]
    return da.concatenate([parts[0], ct, parts[1]], axis)


def at_once(function: Function, shape: tuple[int, ...], array: Any) -> Any:
    """Call a function of a whole array, in one task."""
    whole = array.rechunk(-1)
    meta = np.empty((0,) * len(shape), array.dtype)
    return (
        da.map_blocks(
            function,
            whole,
            chunks=tuple((n,) for n in shape),
            dtype=array.dtype,
            meta=meta,
            drop_axis=list(range(array.ndim)),
            new_axis=list(range(len(shape))),
        )
        if array.ndim or shape
        else array
    )


TABLE: dict[Any, Function] = {
    np.add.reduce: reduced(da.sum),
    np.multiply.reduce: reduced(da.prod),
    np.maximum.reduce: reduced(da.max),
    np.minimum.reduce: reduced(da.min),
    np.logical_and.reduce: reduced(da.all),
    np.logical_or.reduce: reduced(da.any),
    np.add.accumulate: accumulated(da.cumsum),
    np.multiply.accumulate: accumulated(da.cumprod),
    np.reshape: reshaped,
    np.stack: joined(da.stack),
    np.concatenate: joined(da.concatenate),
    np.copy: lambda array, *_, **__: array,
    contract: contracted,
    item: picked,
    added_at: added,
    np.ravel: raveled,
    np.take: taken,
    scatter: scattered,
}
"""How calls are made that Dask has under another name, or with other arguments. The methods of
ufuncs are compared by ``==``, as each time that one is asked for it is another object."""

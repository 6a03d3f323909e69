"""Functions that change shapes, or join arrays."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import Batch
from tape_ad.batching.arrays import BatchedArray, batched_size, in_front, shape_of_one
from tape_ad.batching.basics import (
    Function,
    Looped,
    Options,
    all_of,
    as_axes,
    as_axis,
    as_shape,
    blank_of_one,
    flattened,
    is_of,
    lone,
    ndim_of,
    refuse_batched,
    spread,
)
from tape_ad.record.primals import memory_of, primal


def reshaped(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Reshape each."""
    x = lone(batch, args, kwargs)
    options = dict(kwargs)
    shape = as_shape(args[1] if len(args) > 1 else options.pop("shape"))
    order = layout_of(x, args[2] if len(args) > 2 else options.pop("order", "C"))
    if len(args) > 3 or (order == "F" and options):
        raise Looped
    if -1 in shape:
        known = -batched_size(shape)
        if shape.count(-1) > 1 or known <= 0 or x.size % known:
            raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
        shape = tuple(x.size // known if length == -1 else length for length in shape)
    if batched_size(shape) != x.size:
        raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
    if order == "F":
        turned = np.reshape(reversed_axes(x), (batch.size, *shape[::-1]))
        return reversed_axes(BatchedArray(turned, batch))
    return function(x.stack, (batch.size, *shape), **options)


def flags_of_one(x: BatchedArray) -> Any:
    """Tell how each lies in memory, whatever the stack does; None where nobody knows."""
    return getattr(blank_of_one(x), "flags", None)


def layout_of(x: BatchedArray, order: Any) -> str:
    """Say in which order each is read, or written: C's or Fortran's, or K if that is asked for."""
    order = str(order).upper()
    if order not in ("C", "F", "A", "K"):
        raise Looped  # where it is refused
    layout = flags_of_one(x)
    is_turned = layout is not None and layout.f_contiguous and not layout.c_contiguous
    return ("F" if is_turned else "C") if order == "A" else order


def ravelled(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Flatten each."""
    x = lone(batch, args, kwargs)
    order = str(args[1] if len(args) > 1 else kwargs.get("order", "C")).upper()
    layout = flags_of_one(x)
    if layout is None or order not in ("C", "F", "A", "K"):
        raise Looped
    if order == "F" or (order != "C" and layout.f_contiguous and not layout.c_contiguous):
        kept, out = layout.f_contiguous, flattened(BatchedArray(reversed_axes(x), batch))
    elif order == "K" and not layout.c_contiguous:
        raise Looped
    else:
        kept, out = layout.c_contiguous, flattened(x)
    return out if kept or not np.may_share_memory(primal(out), primal(x.stack)) else np.copy(out)


def laid_out(x: BatchedArray, order: Any) -> Any:
    """Give a copy in which each lies in memory as `numpy.copy` leaves it."""
    order = layout_of(x, order)
    if order == "F":
        turned = BatchedArray(np.copy(reversed_axes(x), order="C"), x.batch_here)
        return reversed_axes(turned)
    return np.copy(x.stack, order="K" if order == "K" else "C")


def reversed_axes(x: BatchedArray) -> Any:
    """Transpose each."""
    return np.transpose(x.stack, (0, *range(x.ndim, 0, -1)))


def transposed(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Permute the axes of each."""
    x = lone(batch, args, kwargs)
    axes = args[1] if len(args) > 1 else kwargs.get("axes")
    if axes is None:
        axes = range(x.ndim)[::-1]
    order = [as_axis(axis, x.ndim) % (x.ndim + 1) for axis in as_shape(axes)]
    if sorted(order) != list(range(1, x.ndim + 1)):
        raise ValueError("axes don't match array")
    return function(x.stack, (0, *order))


def expanded(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Insert axes into each."""
    x = lone(batch, args, kwargs)
    axis = args[1] if len(args) > 1 else kwargs["axis"]
    added = len(axis) if isinstance(axis, (tuple, list)) else 1
    return function(x.stack, as_axes(axis, x.ndim + added))


def squeezed(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Remove axes of length one from each."""
    x = lone(batch, args, kwargs)
    axis = args[1] if len(args) > 1 else kwargs.get("axis")
    if axis is None:
        axis = tuple(i for i, length in enumerate(x.shape) if length == 1)
    return function(x.stack, as_axes(axis, x.ndim))


def broadcast(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Broadcast each to a shape."""
    x = lone(batch, args, kwargs)
    shape = as_shape(args[1] if len(args) > 1 else kwargs["shape"])
    if len(shape) < x.ndim:
        raise Looped
    return function(in_front(x, len(shape)), (batch.size, *shape))


def on_matrices(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Take diagonals, or their sums, of the axes that are named: the first two else."""
    x = lone(batch, args, kwargs)
    places = dict(zip(("offset", "axis1", "axis2"), args[1:], strict=False)) | dict(kwargs)
    first, second = places.pop("axis1", 0), places.pop("axis2", 1)
    if len(args) > 4:
        raise Looped
    return function(x.stack, axis1=as_axis(first, x.ndim), axis2=as_axis(second, x.ndim), **places)


def diagonal_matrix(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Take diagonals of matrices, or make matrices of them."""
    x = lone(batch, args, kwargs)
    k = args[1] if len(args) > 1 else kwargs.get("k", 0)
    if x.ndim == 2:
        return np.diagonal(x.stack, k, 1, 2)
    if x.ndim != 1 or k != 0:
        raise Looped
    return np.where(np.eye(x.shape[0], dtype=bool), x.stack[:, None, :], np.zeros((), x.dtype))


def tiled(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Repeat each as a whole."""
    x = lone(batch, args, kwargs)
    times = as_shape(args[1] if len(args) > 1 else kwargs["reps"])
    ndim = max(len(times), x.ndim)
    return function(in_front(x, ndim), (1, *(1,) * (ndim - len(times)), *times))


def padded(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Pad each."""
    x = lone(batch, args, kwargs)
    width = args[1] if len(args) > 1 else kwargs["pad_width"]
    ends = ("constant_values", "end_values")
    if isinstance(width, dict) or any(ndim_of(kwargs.get(name, 0)) for name in ends):
        raise Looped
    mode = args[2] if len(args) > 2 else kwargs.get("mode", "constant")
    if not isinstance(mode, str) or x.ndim == 0:
        raise Looped
    widths = np.broadcast_to(width, (x.ndim, 2)).tolist()
    rest = {name: value for name, value in kwargs.items() if name not in ("pad_width", "mode")}
    if rest.get("stat_length") is not None:
        lengths = np.broadcast_to(rest["stat_length"], (x.ndim, 2)).tolist()
        rest["stat_length"] = [(1, 1), *map(tuple, lengths)]
    return function(x.stack, [(0, 0), *map(tuple, widths)], mode, **rest)


def joined(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Concatenate or stack arrays of each, so that each lies in memory as NumPy leaves one.

    Where the batch does not lead in memory, or what is the same for each has one place there,
    NumPy may put the axes of each in another order.
    """
    arrays, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    rest = {name: value for name, value in kwargs.items() if name != "axis"}
    if is_of(arrays, batch):
        arrays = list(arrays)
    new = function is np.stack
    if axis is None and not new:
        arrays, axis = [np.ravel(array) for array in arrays], 0
    shapes = set(map(shape_of_one, arrays))
    ndims = {len(shape) + new for shape in shapes}
    if len(shapes if new else ndims) != 1 or ndims == {0}:
        raise Looped  # where it is refused
    axis = as_axis(axis, ndims.pop())
    stacks = [spread(batch, array) for array in arrays]
    out = function(stacks, axis, **rest)
    if axes_in_memory(out)[0] == 0:
        return out
    return function(list(map(led_by_batch, stacks)), axis, **rest)


def axes_in_memory(stack: Any) -> list[int]:
    """Order the axes of all by how far apart their elements lie in memory, the farthest first."""
    memory, axes = memory_of(stack), range(np.ndim(stack))
    if not isinstance(memory, np.ndarray):
        return list(axes)
    steps = memory.strides[memory.ndim - np.ndim(stack) :]
    return sorted(axes, key=lambda axis: -abs(steps[axis]))


def led_by_batch(stack: Any) -> Any:
    """Copy what there is for all, so that the batch leads in memory; each lies as it did."""
    order = [0, *(axis for axis in axes_in_memory(stack) if axis)]
    turned = np.copy(np.transpose(stack, order), order="C")
    return np.transpose(turned, np.argsort(order))


def spaced(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Put numbers at equal distances between two."""
    names = ("start", "stop", "num", "endpoint", "dtype", "axis")
    options = dict(zip(names, args, strict=False)) | dict(kwargs)
    start, stop = options.pop("start"), options.pop("stop")
    ndim = max(ndim_of(start), ndim_of(stop))
    options["axis"] = as_axis(options.get("axis", 0), ndim + 1)
    refuse_batched(batch, list(options.values()))
    return function(all_of(batch, start, ndim), all_of(batch, stop, ndim), **options)

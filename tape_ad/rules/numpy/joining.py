"""Rules for NumPy functions that join arrays."""

import functools
import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from tape_ad.rules.base import Call, Derivation, Entry, Makers, Signature, as_array, jointly, refuse
from tape_ad.rules.maps import Array, Join, Part, Shape
from tape_ad.rules.numpy.shaping import atleast_2d_shape, atleast_3d_shape

__all__ = ["JOINING"]

# One axis


def shape_of(a: Any) -> Shape:
    """Tell the shape of an array, or of a list or a number."""
    shape: Shape = a.shape if hasattr(a, "shape") else np.shape(a)
    return shape


def in_a_row(
    positions: Sequence[int], out: Array, shapes: list[Shape], boxes: list[Shape], axis: int
) -> list[Part]:
    """Make the partials of a function that reshapes arrays and puts them one after another."""
    axis %= out.ndim
    join = Join(shapes, boxes, out.ndim, functools.partial(np.concatenate, axis=axis - out.ndim))
    ends = [0, *accumulate(box[axis] for box in boxes)]
    before = (slice(None),) * axis
    return [Part(join, i, (*before, slice(ends[i], ends[i + 1]))) for i in positions]


def concatenated(
    positions: Sequence[int], out: Array, *arrays: Array, axis: int | None, **options: Any
) -> list[Part]:
    """Make the partials of `numpy.concatenate`, which flattens its operands without an axis."""
    shapes = list(map(shape_of, arrays))
    if axis is None:
        return in_a_row(positions, out, shapes, [(math.prod(shape),) for shape in shapes], 0)
    return in_a_row(positions, out, shapes, shapes, axis)


def concatenate_signature(
    arrays: Sequence[Array],
    /,
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Call:
    """Sort the arguments of `numpy.concatenate`."""
    refuse("concatenate", out=out)
    operands = tuple(arrays)
    if not operands:  # NumPy's dispatch has been through the iterator
        raise TypeError(
            "np.concatenate takes a sequence of arrays, such as a list; got an iterator"
        )
    return operands, {"axis": axis, "dtype": dtype, "casting": casting}


def lifting(function: Callable[..., Any], lifted: Callable[[Shape], Shape], axis: int) -> Entry:
    """Make the rule of a function that lifts arrays to some axes and then joins them."""

    def parts(positions: Sequence[int], out: Array, *arrays: Array, **options: Any) -> list[Part]:
        shapes = list(map(shape_of, arrays))
        boxes = list(map(lifted, shapes))
        return in_a_row(positions, out, shapes, boxes, 0 if len(boxes[0]) == 1 else axis)

    return joining(function, parts, lambda tup, **options: (tuple(tup), options))


def column_shape(shape: Shape) -> Shape:
    """Make a column of a sequence."""
    return shape if len(shape) > 1 else (*(shape or (1,)), 1)


def joining(function: Callable[..., Any], parts: Makers, signature: Signature) -> Entry:
    """Make the rule of a function that takes its arrays as one argument."""

    def compute(*arrays: Array, **options: Any) -> Array:
        return function(arrays, **options)

    return jointly(parts, signature=signature, compute=compute)


def append(arr: Array, values: Array, axis: int | None = None) -> Array:
    """Join two arrays, flattened where there is no axis."""
    return np.concatenate((as_array(arr), as_array(values)), axis=axis)


# A new axis


def stack_signature(
    arrays: Sequence[Array],
    axis: int = 0,
    out: None = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Call:
    """Sort the arguments of `numpy.stack`."""
    refuse("stack", out=out)
    return tuple(arrays), {"axis": axis, "dtype": dtype, "casting": casting}


def stacked(
    positions: Sequence[int], out: Array, *arrays: Array, axis: int, **options: Any
) -> list[Part]:
    """Make the partials of `numpy.stack`: an operand lands at one place of a new axis."""
    axis %= out.ndim
    shapes = list(map(shape_of, arrays))
    join = Join(shapes, shapes, out.ndim, functools.partial(np.stack, axis=axis - out.ndim))
    before = (slice(None),) * axis
    return [Part(join, i, (*before, i)) for i in positions]


# Blocks


def block_signature(arrays: Any) -> Call:
    """Sort the argument of `numpy.block`: its operands are what the nested lists hold."""
    operands: list[Array] = []

    def numbered(part: Any) -> Any:
        if isinstance(part, list):
            return [numbered(inner) for inner in part]
        if isinstance(part, tuple):
            raise TypeError("np.block takes nested lists, and not tuples, of arrays")
        operands.append(part)
        return len(operands) - 1

    tree = numbered(arrays)
    return tuple(operands), {"tree": tree}


def block(*arrays: Array, tree: Any) -> Array:
    """Call `numpy.block` with the nested lists that its operands came from."""

    def nested(part: Any) -> Any:
        return [nested(inner) for inner in part] if isinstance(part, list) else arrays[part]

    return np.block(nested(tree))


def blocked(positions: Sequence[int], out: Array, *arrays: Array, tree: Any) -> list[Part]:
    """Make the partials of `numpy.block`: an operand lands in one box of the node."""
    shapes = list(map(shape_of, arrays))
    boxes = [(1,) * (out.ndim - len(shape)) + shape for shape in shapes]
    keys: list[Any] = [None] * len(arrays)

    def place(part: Any, starts: list[int]) -> tuple[Shape, int]:
        """Place what is in a part, and tell the part's shape and how deep it is."""
        if not isinstance(part, list):
            box = boxes[part]
            keys[part] = tuple(slice(i, i + n) for i, n in zip(starts, box, strict=True))
            return box, 0
        starts, total = list(starts), 0
        for inner in part:
            shape, depth = place(inner, starts)
            axis = out.ndim - 1 - depth
            starts[axis] += shape[axis]
            total += shape[axis]
        return (*shape[:axis], total, *shape[axis + 1 :]), depth + 1

    place(tree, [0] * out.ndim)
    join = Join(shapes, boxes, out.ndim, lambda parts: block(*parts, tree=tree))
    return [Part(join, i, keys[i]) for i in positions]


JOINING: dict[Any, Entry] = {
    np.concatenate: joining(np.concatenate, concatenated, concatenate_signature),
    np.hstack: lifting(np.hstack, lambda shape: shape or (1,), 1),
    np.vstack: lifting(np.vstack, atleast_2d_shape, 0),
    np.dstack: lifting(np.dstack, atleast_3d_shape, 2),
    np.column_stack: lifting(np.column_stack, column_shape, 1),
    np.stack: joining(np.stack, stacked, stack_signature),
    np.block: jointly(blocked, signature=block_signature, compute=block),
    np.append: Derivation(append),
}

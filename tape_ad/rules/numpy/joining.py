"""Functions that join arrays."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.linear_maps import Adjoint, Array, Chain, Index, LinearMap, Reshape, Shape
from tape_ad.rules.base import Call, Derivation, Entry, Signature, as_array, each, refuse
from tape_ad.rules.numpy.shaping import atleast_2d_shape, atleast_3d_shape

__all__ = ["JOINING"]

# One axis


@frozen(eq=False, repr=False)
class Layout:
    """Where arrays go that are joined along one axis.

    Attributes
    ----------
    axis : int
        Of the result.
    shapes : list of tuple of int
        The shapes that the arrays get first.
    starts : list of int
        Where on the axis each of them starts.
    """

    axis: int
    shapes: list[Shape]
    starts: list[int]


def laid_out(shapes: list[Shape], axis: int) -> Layout:
    """Put arrays one after another; NumPy complains of an axis that they do not have."""
    sizes = (shape[axis] if -len(shape) <= axis < len(shape) else 0 for shape in shapes)
    return Layout(axis, shapes, list(accumulate(sizes, initial=0)))


def shape_of(a: Any) -> Shape:
    """Tell the shape of an array, or of a list or a number."""
    shape: Shape = a.shape if hasattr(a, "shape") else np.shape(a)
    return shape


def joined(position: int, out: Array, *arrays: Array, layout: Layout, **options: Any) -> LinearMap:
    """Make the partial of a function that joins: the operand lands in one slice of the node."""
    shape, start = layout.shapes[position], layout.starts[position]
    key: list[Any] = [slice(None)] * out.ndim
    key[layout.axis] = slice(start, start + shape[layout.axis])
    return reshaping(shape_of(arrays[position]), Adjoint(Index(tuple(key), out.shape, shape)))


def reshaping(given: Shape, placed: Adjoint) -> LinearMap:
    """Reshape before a map, unless there is nothing to do."""
    node = placed.map.node  # type: ignore[attr-defined]  # it is an Index
    return placed if given == node else Chain((Reshape(given, node), placed))


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
    shapes = [shape_of(a) for a in operands]
    if axis is None:
        layout = laid_out([(int(np.prod(shape, dtype=int)),) for shape in shapes], 0)
    else:
        layout = laid_out(shapes, int(axis))
    return operands, {"axis": axis, "dtype": dtype, "casting": casting, "layout": layout}


def along_axis(lifted: Callable[[Shape], Shape], axis: int) -> Signature:
    """Make the signature of a function that lifts arrays to some axes and then joins them."""

    def signature(tup: Sequence[Array], **options: Any) -> Call:
        operands = tuple(tup)
        shapes = [lifted(shape_of(a)) for a in operands]
        flat = bool(shapes) and len(shapes[0]) == 1
        return operands, {**options, "layout": laid_out(shapes, 0 if flat else axis)}

    return signature


def column_shape(shape: Shape) -> Shape:
    """Make a column of a sequence."""
    return shape if len(shape) > 1 else (*(shape or (1,)), 1)


def joining(function: Callable[..., Any], signature: Signature) -> Entry:
    """Make the rule of a function that takes its arrays as one argument."""

    def compute(*arrays: Array, layout: Layout, **options: Any) -> Array:
        return function(arrays, **options)

    return each(joined, signature=signature, compute=compute)


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


def stacked(position: int, out: Array, *arrays: Array, axis: int, **options: Any) -> LinearMap:
    """Make the partial of `numpy.stack`: the operand lands at one place of a new axis."""
    key: list[Any] = [slice(None)] * out.ndim
    key[axis] = position
    return Adjoint(Index(tuple(key), out.shape, np.shape(arrays[position])))


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


def blocked(position: int, out: Array, *arrays: Array, tree: Any) -> LinearMap:
    """Make the partial of `numpy.block`: the operand lands in one box of the node."""
    shapes = [(1,) * (out.ndim - np.ndim(a)) + np.shape(a) for a in arrays]
    starts = [0] * out.ndim

    def find(part: Any) -> tuple[bool, Shape, int]:
        """Tell whether the operand is in a part, the part's shape, and how deep it is."""
        if not isinstance(part, list):
            return part == position, shapes[part], 0
        found, total = False, 0
        for inner in part:
            here, shape, depth = find(inner)
            if here:
                starts[-1 - depth] += total
                found = True
            total += shape[-1 - depth]
        axis = out.ndim - 1 - depth
        return found, (*shape[:axis], total, *shape[axis + 1 :]), depth + 1

    find(tree)
    shape = shapes[position]
    key = tuple(slice(start, start + n) for start, n in zip(starts, shape, strict=True))
    return reshaping(np.shape(arrays[position]), Adjoint(Index(key, out.shape, shape)))


JOINING: dict[Any, Entry] = {
    np.concatenate: joining(np.concatenate, concatenate_signature),
    np.hstack: joining(np.hstack, along_axis(lambda shape: shape or (1,), 1)),
    np.vstack: joining(np.vstack, along_axis(atleast_2d_shape, 0)),
    np.dstack: joining(np.dstack, along_axis(atleast_3d_shape, 2)),
    np.column_stack: joining(np.column_stack, along_axis(column_shape, 1)),
    np.stack: each(
        stacked,
        signature=stack_signature,
        compute=lambda *arrays, **options: np.stack(arrays, **options),
    ),
    np.block: each(blocked, signature=block_signature, compute=block),
    np.append: Derivation(append),
}

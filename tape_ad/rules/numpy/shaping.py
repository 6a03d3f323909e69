"""Functions that rearrange an array's axes and change no element, or join arrays."""

import functools
import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from attrs import evolve

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Call,
    Derivation,
    Entry,
    Filled,
    Makers,
    Signature,
    add_facts,
    arguments_of,
    as_array,
    axes_of,
    constants,
    jointly,
    refuse,
    rule,
)
from tape_ad.rules.maps import SAME, Array, Chain, Join, LinearMap, Part, Reshape, Shape, Transpose
from tape_ad.rules.numpy import bodies

Axes = int | Sequence[int]


def reshape_signature(
    a: Array, /, shape: Any, order: str = "C", *, copy: bool | None = None
) -> Call:
    """Sort the arguments of `numpy.reshape`."""
    return (a,), {"shape": shape, "order": checked("reshape", order), "copy": copy}


def ravel_signature(a: Array, order: str = "C") -> Call:
    """Sort the arguments of `numpy.ravel`."""
    return (a,), {"shape": -1, "order": checked("ravel", order)}


def checked(name: str, order: str) -> str:
    """Refuse orders that depend on how memory happens to be laid out."""
    if order not in ("C", "F"):
        raise UnsupportedArgumentError(
            f"np.{name}: order={order!r} depends on the memory layout, which a handle does not "
            "have; write order='C' or order='F'"
        )
    return order


def reshaped(out: Array, a: Array, shape: Any, order: str, **options: Any) -> LinearMap:
    """Make the partial of a reshape; Fortran's order is C's between two transposes."""
    if order == "C":
        return Reshape(a.shape, out.shape)
    before, after = reversing(a.ndim), reversing(out.ndim)
    return Chain((before, Reshape(a.shape[::-1], out.shape[::-1]), after))


def reversing(ndim: int) -> Transpose:
    """Make the map that reverses all axes."""
    return Transpose(tuple(range(-1, -ndim - 1, -1)))


def same_elements(out: Array, a: Array, **options: Any) -> LinearMap:
    """Make the partial of a function that keeps the elements in C order."""
    return Reshape(a.shape, out.shape)


def transposed(out: Array, a: Array, axes: Axes | None) -> LinearMap:
    """Make the partial of a permutation of the axes."""
    if axes is None:
        return reversing(a.ndim)
    return Transpose(axes_of(a.ndim, axes))


def swapaxes(a: Array, axis1: int, axis2: int) -> Array:
    """Swap two axes of an array."""
    return np.transpose(a, np.swapaxes(axis_numbers(a), axis1, axis2).shape)


def axis_numbers(a: Array) -> np.ndarray[Any, Any]:
    """Make an array without memory whose axis i has length i, so that moved axes tell their way."""
    return np.broadcast_to(np.zeros(()), tuple(range(a.ndim)))


def atleast_2d_shape(shape: Shape) -> Shape:
    """Put axes of length one in front."""
    return (1,) * (2 - len(shape)) + shape


def atleast_3d_shape(shape: Shape) -> Shape:
    """Put axes of length one around a sequence, or behind a matrix."""
    return shape if len(shape) > 2 else (*atleast_2d_shape(shape), 1)


def broadcast_arrays(*args: Array, subok: bool = False) -> tuple[Array, ...]:
    """Broadcast arrays against each other."""
    arrays = [as_array(a) for a in args]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    if not shape:  # numbers become arrays
        return tuple(a[...] for a in arrays)
    return tuple(a if a.shape == shape else np.broadcast_to(a, shape) for a in arrays)


def meshgrid(
    *xi: Array, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Spread sequences along one axis each."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    order = list(range(len(xi)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    grids = tuple(
        as_array(x).reshape((1,) * axis + (-1,) + (1,) * (len(xi) - 1 - axis))
        for x, axis in zip(xi, order, strict=True)
    )
    if not sparse:
        shape = np.broadcast_shapes(*(grid.shape for grid in grids))
        grids = tuple(np.broadcast_to(grid, shape) for grid in grids)
    return tuple([np.copy(grid, order="C") for grid in grids]) if copy else grids


def as_method(a: Array, shape: Any, order: str, copy: bool | None = None) -> Array:
    """Reshape by the method, which has been spelled the same in all of NumPy 2."""
    source: Array = np.copy(a) if copy else a
    return source.reshape(shape, order=order)


@overridable
def memory_order(a: Array) -> str:
    """Tell whether an array lies in memory in C's order or in Fortran's, or in neither, by "K"."""
    flags = getattr(a, "flags", np.empty(0).flags)  # arrays of other libraries may have none
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "K"


SHAPING: dict[Any, Entry] = {
    np.reshape: rule(
        reshaped, signature=reshape_signature, compute=as_method, facts=facts.moves("a")
    ),
    np.ravel: rule(
        reshaped,
        signature=ravel_signature,
        compute=lambda a, shape, order: np.ravel(a, order),  # a copy unless it is contiguous
        facts=facts.moves("a"),
    ),
    np.squeeze: rule(same_elements, signature=arguments_of(np.squeeze, "a", "axis")),
    np.expand_dims: rule(same_elements, signature=arguments_of(np.expand_dims, "a", "axis")),
    np.transpose: rule(
        transposed,
        signature=arguments_of(np.transpose, "a", "axes"),
        compute=lambda a, axes: a.transpose(axes),
    ),
    np.swapaxes: Derivation(swapaxes),
    **bodies.own(np.matrix_transpose, facts=facts.cores("(m,n)->(n,m)")),
    **bodies.own(np.moveaxis, np.rollaxis, np.atleast_1d, np.atleast_2d, np.atleast_3d),
    np.broadcast_arrays: Derivation(broadcast_arrays),
    np.meshgrid: Derivation(meshgrid),
    np.copy: rule(
        lambda out, a, **options: SAME,
        signature=arguments_of(np.copy, "a", "order", ignored="subok"),
        facts=facts.ELEMENTWISE,
    ),
    np.broadcast_to: rule(
        lambda out, a, shape: SAME,
        signature=arguments_of(np.broadcast_to, "array", "shape", ignored="subok"),
    ),
    # About the array, not its values
    **constants(
        *(np.shape, np.ndim, np.size, np.result_type, np.can_cast),
        *(np.iscomplexobj, np.isrealobj, np.common_type, memory_order),
        facts=facts.Facts(about_shapes=True),
    ),
    **constants(
        *(np.min_scalar_type, np.array2string, np.array_repr, np.array_str),
        *(np.shares_memory, np.may_share_memory),
    ),
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like), Filled()),
}

add_facts(
    SHAPING,
    (
        *(np.reshape, np.ravel, np.squeeze, np.expand_dims, np.broadcast_to),
        *(np.transpose, np.matrix_transpose, np.swapaxes, np.moveaxis),
    ),
    view=True,
)


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


def joining_signature(name: str) -> Signature:
    """Make the signature of `numpy.concatenate`, and of `numpy.stack`."""

    def signature(
        arrays: Sequence[Array],
        axis: int | None = 0,
        out: None = None,
        *,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> Call:
        refuse(name, out=out)
        operands = tuple(arrays)
        if not operands:  # NumPy's dispatch has been through the iterator
            raise TypeError(
                f"np.{name} takes a sequence of arrays, such as a list; got an iterator"
            )
        return operands, {"axis": axis, "dtype": dtype, "casting": casting}

    return signature


def lifting(function: Callable[..., Any], lifted: Callable[[Shape], Shape], axis: int) -> Entry:
    """Make the rule of a function that lifts arrays to some axes and then joins them."""

    def parts(positions: Sequence[int], out: Array, *arrays: Array, **options: Any) -> list[Part]:
        shapes = list(map(shape_of, arrays))
        boxes = list(map(lifted, shapes))
        return in_a_row(positions, out, shapes, boxes, 0 if len(boxes[0]) == 1 else axis)

    entry = joining(function, parts, lambda tup, **options: (tuple(tup), options))
    return evolve(entry, facts=facts.composed(bodies.own_lines(function)))


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


def stacked(
    positions: Sequence[int], out: Array, *arrays: Array, axis: int, **options: Any
) -> list[Part]:
    """Make the partials of `numpy.stack`: an operand lands at one place of a new axis."""
    axis %= out.ndim
    shapes = list(map(shape_of, arrays))
    join = Join(shapes, shapes, out.ndim, functools.partial(np.stack, axis=axis - out.ndim))
    before = (slice(None),) * axis
    return [Part(join, i, (*before, i)) for i in positions]


JOINING: dict[Any, Entry] = {
    np.concatenate: joining(np.concatenate, concatenated, joining_signature("concatenate")),
    np.hstack: lifting(np.hstack, lambda shape: shape or (1,), 1),
    np.vstack: lifting(np.vstack, atleast_2d_shape, 0),
    np.dstack: lifting(np.dstack, atleast_3d_shape, 2),
    np.column_stack: lifting(np.column_stack, column_shape, 1),
    np.stack: joining(np.stack, stacked, joining_signature("stack")),
    np.block: Derivation(bodies.block, facts=facts.composed(bodies.block)),
    np.append: Derivation(append),
}

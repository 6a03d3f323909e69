"""Functions that rearrange an array's axes and change no element."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Derivation, Entry, Filled, as_array, axes_of, constants, rule
from tape_ad.rules.maps import SAME, Array, Chain, LinearMap, Reshape, Shape, Transpose
from tape_ad.rules.signatures import arguments_of

__all__ = ["SHAPING"]

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


def moveaxis(a: Array, source: Axes, destination: Axes) -> Array:
    """Move axes to other places."""
    return np.transpose(a, np.moveaxis(axis_numbers(a), source, destination).shape)


def matrix_transpose(x: Array, /) -> Array:
    """Swap the last two axes."""
    return np.swapaxes(x, -1, -2)


def rollaxis(a: Array, axis: int, start: int = 0) -> Array:
    """Move an axis to before another one."""
    return np.transpose(a, np.rollaxis(axis_numbers(a), axis, start).shape)


def axis_numbers(a: Array) -> np.ndarray[Any, Any]:
    """Make an array without memory whose axis i has length i, so that moved axes tell their way."""
    return np.broadcast_to(np.zeros(()), tuple(range(a.ndim)))


def atleast(shaped: Callable[[Shape], Shape]) -> Callable[..., Any]:
    """Make a function that reshapes those of its arguments which have too few axes."""

    def reshaped_arguments(*arys: Array) -> Any:
        arrays = tuple(as_array(a).reshape(shaped(np.shape(a))) for a in arys)
        return arrays[0] if len(arrays) == 1 else arrays

    return reshaped_arguments


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
    return tuple(map(np.copy, grids)) if copy else grids


def as_method(a: Array, shape: Any, order: str, copy: bool | None = None) -> Array:
    """Reshape by the method, which has been spelled the same in all of NumPy 2."""
    source: Array = np.copy(a) if copy else a
    return source.reshape(shape, order=order)


SHAPING: dict[Any, Entry] = {
    np.reshape: rule(reshaped, signature=reshape_signature, compute=as_method),
    np.ravel: rule(
        reshaped,
        signature=ravel_signature,
        compute=lambda a, shape, order: np.ravel(a, order),  # a copy unless it is contiguous
    ),
    np.squeeze: rule(same_elements, signature=arguments_of(np.squeeze, "a", "axis")),
    np.expand_dims: rule(same_elements, signature=arguments_of(np.expand_dims, "a", "axis")),
    np.transpose: rule(
        transposed,
        signature=arguments_of(np.transpose, "a", "axes"),
        compute=lambda a, axes: a.transpose(axes),
    ),
    np.swapaxes: Derivation(swapaxes),
    np.moveaxis: Derivation(moveaxis),
    np.matrix_transpose: Derivation(matrix_transpose, facts=facts.cores("(m,n)->(n,m)")),
    np.rollaxis: Derivation(rollaxis),
    np.atleast_1d: Derivation(atleast(lambda shape: shape or (1,))),
    np.atleast_2d: Derivation(atleast(atleast_2d_shape)),
    np.atleast_3d: Derivation(atleast(atleast_3d_shape)),
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
        *(np.iscomplexobj, np.isrealobj, np.common_type),
        *(np.min_scalar_type, np.array2string, np.array_repr, np.array_str),
        *(np.shares_memory, np.may_share_memory),
    ),
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like), Filled()),
}

"""Tangents and cotangents that users hand in, brought into the spaces that they belong to."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import (
    ACTIVE,
    asarray,
    below_records,
    is_plain,
    lift,
    whole,
)
from tape_ad.base.errors import SeedError
from tape_ad.base.trees import paired
from tape_ad.rules.base import as_array
from tape_ad.rules.maps import Array, add_reduce

ndarray = np.ndarray

LARGE = 10_000
"""A cotangent of more elements than this is written over when nobody needs it any more.

A new array of fewer comes from memory that is at hand, and to find out whether the old one may go
takes longer than to make it. `summed` lets BLAS add up larger ones, for the same reason: making the
ones to multiply with is not worth it for fewer."""


def unbroadcast(array: Array, shape: tuple[int, ...], dtype: np.dtype[Any], stack: int) -> Array:
    """Bring a contribution into the space it belongs to.

    Axes that broadcasting added or stretched are summed, axes that are still to be stretched are
    broadcast, the real part is taken where the space is real, and the dtype is cast.

    Parameters
    ----------
    array : array
        Behind its first `stack` axes, a shape that broadcasts with `shape`.
    shape, dtype
        The space.
    stack : int
        The number of leading axes that are not part of the space.

    Returns
    -------
    array, shape (the stack) + shape
    """
    target = array.shape[:stack] + shape
    added = array.ndim - len(target)
    if added > 0:
        array = summed(array, stack, stack + added)
    if array.shape != target:
        pairs = zip(range(-1, -len(shape) - 1, -1), array.shape[::-1], shape[::-1], strict=False)
        stretched = [array.ndim + axis for axis, have, want in pairs if want == 1 and have != 1]
        if len(stretched) == 1:
            array = summed(array, stretched[0], stretched[0] + 1, keepdims=True)
        elif stretched:
            array = add_reduce(array, axis=tuple(stretched), keepdims=True)
        if array.shape != target:
            array = np.broadcast_to(array, target)
    if array.dtype is not dtype and array.dtype != dtype:
        if array.dtype.kind == "c" and dtype.kind != "c":
            array = array.real
        array = array.astype(dtype)
    return array


def summed(array: Array, first: int, last: int, *, keepdims: bool = False) -> Array:
    """Sum over the axes from `first` to before `last`.

    A large array is multiplied with ones, which takes BLAS a fraction of the time that NumPy's sum
    over all but the last axis takes. In single precision, where its other order of summation shows,
    it stays NumPy's sum.
    """
    shape = array.shape
    columns = 1 if array.size < LARGE or not by_blas(array) else math.prod(shape[last:])
    if columns == 1:
        axes = first if last == first + 1 else tuple(range(first, last))
        return add_reduce(array, axis=axes, keepdims=keepdims)
    total = times_ones_as_one(array, first, last, columns)
    kept = shape[:first] + (1,) * (last - first) * keepdims + shape[last:]
    return total.reshape(kept)


def times_ones(array: Array, first: int, last: int, columns: int) -> Array:
    """Sum a plain array over some axes, behind which `columns` elements lie, by a product."""
    rows = math.prod(array.shape[first:last])
    real = array.real.dtype  # a complex one would turn inf into nan
    by_rows = array.reshape((-1, rows, columns)).view(real)
    return np.matmul(np.ones((1, rows), real), by_rows).view(array.dtype)


times_ones_as_one = whole(times_ones)


def by_blas(array: Array) -> bool:
    """Tell whether BLAS multiplies an array as it stands."""
    return is_plain(array) and array.flags.c_contiguous and array.dtype.char in "dD"


# Tangents and cotangents that users hand in, brought into the spaces that they belong to


def shape_of(leaf: Any) -> tuple[int, ...]:
    """Give the shape of an array, a handle or a number."""
    shape: tuple[int, ...] = leaf.shape if hasattr(leaf, "shape") else np.shape(leaf)
    return shape


def inexact(leaf: Any) -> np.dtype[Any]:
    """Give the dtype of tangents of a constant."""
    dtype = dtype_of(leaf)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def dtype_of(leaf: Any) -> np.dtype[Any]:
    """Give the dtype of an array, a handle or a number."""
    dtype: np.dtype[Any] = leaf.dtype if hasattr(leaf, "dtype") else asarray(leaf).dtype
    return dtype


def float_to_array(leaf: Any, path: str = "") -> Any:
    """Take Python's floats to arrays, which have derivatives; leave all else as it is."""
    return asarray(leaf) if isinstance(leaf, (float, complex)) else leaf


def matched(
    tree: Any, other: Any, what: str, name: Callable[[], str]
) -> list[tuple[str, Any, Any]]:
    """Pair the leaves of two trees of one structure, with their paths; see `paired`.

    For an error, `what` says what the leaves are, and `name` finds out for what.

    Raises
    ------
    SeedError
        When the structures differ.
    """
    try:
        return paired(tree, other)
    except ValueError as error:
        raise SeedError(
            f"the {what} for {name()} have another structure than they need: {error}"
        ) from None


def fitted(
    value: Any, space: Any, stack: tuple[int, ...] | None, what: str
) -> tuple[Array, tuple[int, ...]]:
    """Bring a tangent or cotangent into the space of a node.

    Parameters
    ----------
    value : array_like, shape stack + space.shape
    space : Tensor, array or number
        What it is a tangent or cotangent of.
    stack : tuple of int or None
        The leading axes that it must have; None if that is not known yet.
    what : str
        For errors.

    Returns
    -------
    tuple of array and tuple of int
        The array, of the space's dtype, and its leading axes.

    Raises
    ------
    SeedError
        When shape or dtype do not fit.
    """
    value = lift(below_records(as_array(value)))
    shape, dtype = shape_of(space), inexact(space)
    ndim = value.ndim - len(shape)
    if ndim < 0 or value.shape[ndim:] != shape or stack not in (None, value.shape[:ndim]):
        stacked = f" behind {stack}, as the others have" if stack else ""
        raise SeedError(
            f"{what} has shape {value.shape}; it must be {shape}{stacked}, with the same further "
            "axes in front everywhere for a stack of them"
        )
    if value.dtype.kind not in "biufc" or (value.dtype.kind == "c" and dtype.kind != "c"):
        words = "" if value.dtype.kind in "biufc" else "; handles are asked for by grads.wrt(p)"
        raise SeedError(f"{what} has dtype {value.dtype}, which does not fit {dtype}{words}")
    start = unbroadcast(value, shape, dtype, ndim)
    if start is value and is_plain(value):
        start = value.copy()  # the result may be this very array, and the caller may write to it
    return start, value.shape[:ndim]


def seed_of(root: Any, seed: Any) -> tuple[Array, tuple[int, ...]]:
    """Bring a seed into the space of a node, or make the one that a real scalar starts from.

    Parameters
    ----------
    root : Tensor
    seed : array_like, shape stack + root.shape, or None

    Returns
    -------
    tuple of array and tuple of int
        The seed, and its leading axes.

    Raises
    ------
    SeedError
        When the seed is missing or does not fit.
    """
    data, capture = root.data, ACTIVE.get().capture
    if seed is not None:
        if capture is not None:
            seed = capture.lift(seed)
        if type(seed) is np.ndarray and seed.shape == data.shape and seed.dtype is data.dtype:
            return seed.copy(), ()  # as in `fitted`, where all others go
        return fitted(seed, root, None, "the seed")
    if data.shape != ():
        raise SeedError(
            f"grad() of a handle of shape {data.shape} needs a seed of that shape (its "
            "cotangent); write np.sum(t).grad(), or t.grad(seed=np.ones(t.shape)) for the same"
        )
    if data.dtype.kind == "c":
        raise SeedError(
            "grad() of a complex scalar needs a seed; write t.real.grad() for the gradient "
            "of the real part, or t.grad(seed=1j) for that of the imaginary part"
        )
    number = data.dtype.type(1)
    return number if capture is None else capture.lift_constant(number), ()

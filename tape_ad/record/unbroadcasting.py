"""Bringing what a map gives into the space of a node: once, in one place."""

import math
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import TRACERS, as_one_call
from tape_ad.rules.maps import Array, add_reduce

__all__ = ["LARGE", "times_ones", "unbroadcast"]

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
    if type(array) in TRACERS:
        total = as_one_call(times_ones, array, first, last, columns)
    else:
        total = times_ones(array, first, last, columns)
    kept = shape[:first] + (1,) * (last - first) * keepdims + shape[last:]
    return total.reshape(kept)


def times_ones(array: Array, first: int, last: int, columns: int) -> Array:
    """Sum a plain array over some axes, behind which `columns` elements lie, by a product."""
    rows = math.prod(array.shape[first:last])
    real = array.real.dtype  # a complex one would turn inf into nan
    by_rows = array.reshape((-1, rows, columns)).view(real)
    return np.matmul(np.ones((1, rows), real), by_rows).view(array.dtype)


def by_blas(array: Array) -> bool:
    """Tell whether BLAS multiplies an array as it stands."""
    kind = type(array)
    plain = kind is ndarray or kind in TRACERS
    return plain and array.flags.c_contiguous and array.dtype.char in "dD"

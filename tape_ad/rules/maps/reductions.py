"""Linear maps that sum over axes."""

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import is_traced, whole
from tape_ad.rules.maps.base import Array, Shape
from tape_ad.rules.maps.patterns import reduced

SMALL = 1000
"""Up to how many elements an array is copied where a view would do."""

REAL = frozenset({np.float64, np.float32})
"""The kinds of numbers that most sums are."""

add_reduce: Callable[..., Array] = np.add.reduce
"""NumPy's type for it has no overload for variables."""


@define(eq=False, repr=False)
class WeightedSum:
    """The sum of ``weights * parent`` over `axes`; the weights broadcast to the parent.

    Parameters
    ----------
    weights : array or scalar
    ndim : int
        The parent's number of axes.
    axes : tuple of int
        The axes to sum over, negative.
    keepdims : bool
        Whether the node keeps those axes, with length one.
    """

    multiplies: ClassVar[bool] = True
    pattern = reduced
    weights: Array
    ndim: int
    axes: tuple[int, ...]
    keepdims: bool

    def push(self, t: Array) -> Array:
        return add_reduce(t * self.weights, axis=self.axes, keepdims=self.keepdims)

    def pull(self, ct: Array) -> Array:
        if ct.ndim and not self.keepdims:
            ct = ct[expanding_key(self.ndim, self.axes)]
        return ct * self.weights.conjugate()


@define(eq=False, repr=False)
class Sum:
    """The sum over `axes`, times a number; its pull broadcasts and copies nothing."""

    pattern = reduced
    shape: Shape
    axes: tuple[int, ...]
    keepdims: bool
    scale: float = 1.0

    def push(self, t: Array) -> Array:
        total = add_reduce(t, axis=self.axes, keepdims=self.keepdims)
        return total if self.scale == 1.0 else total * self.scale

    def pull(self, ct: Array) -> Array:
        ndim = len(self.shape)
        if self.scale != 1.0:
            ct = ct * self.scale
        if ct.ndim and not self.keepdims:
            ct = ct[expanding_key(ndim, self.axes)]
        return stretched(ct, ct.shape[: max(ct.ndim - ndim, 0)] + self.shape)


def stretched(array: Array, shape: Shape) -> Array:
    """Broadcast an array, without a copy if that would be large.

    A small one is quicker to fill than to view, and then to compute with. A large one is viewed as
    `numpy.broadcast_to` does, whose own checks take several times as long.
    """
    kind = type(array)
    if kind is np.ndarray or kind in REAL:
        if math.prod(shape) <= SMALL:
            return filled_with(array, shape)
        if kind is not np.ndarray:
            return np.ndarray(shape, array.dtype, array, 0, (0,) * len(shape))
        if array.ndim == len(shape) and array.flags.c_contiguous:
            lengths = zip(array.shape, array.strides, strict=True)
            strides = tuple([0 if length == 1 else step for length, step in lengths])
            view = np.ndarray(shape, array.dtype, array, 0, strides)
            view.setflags(write=False)
            return view
    elif is_traced(array) and math.prod(shape) <= SMALL:
        held = type(array.data)
        if held is np.ndarray or held in REAL:
            return filled_with_as_one(array, shape)
    return np.broadcast_to(array, shape)


def filled_with(array: Array, shape: Shape) -> Array:
    """Broadcast an array into a new one."""
    filled = np.empty(shape, array.dtype)
    filled[...] = array
    return filled


filled_with_as_one = whole(filled_with)


@functools.lru_cache(maxsize=256)
def expanding_key(ndim: int, axes: tuple[int, ...]) -> tuple[Any, ...]:
    """Make the index that puts reduced axes back, with length one, behind any stack.

    Examples
    --------
    >>> np.zeros((5, 2))[expanding_key(2, (-1,))].shape
    (5, 2, 1)
    """
    kept = (None if axis in axes else slice(None) for axis in range(-ndim, 0))
    return (Ellipsis, *kept)

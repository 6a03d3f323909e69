"""How arrays lie in memory, and copies that lie there in the same way."""

import math
from typing import Any, Self

import numpy as np
from attrs import frozen

__all__ = ["Layout", "clone", "writeable_copy"]

Plain = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@frozen
class Layout:
    """How an array lies in memory.

    Attributes
    ----------
    shape, strides, dtype
        As the array has them.
    offset : int
        Where its first element is, in bytes from that of the array which owns the memory.
    """

    shape: Shape
    strides: Shape
    dtype: np.dtype[Any]
    offset: int = 0

    @classmethod
    def of(cls, array: Plain, offset: int = 0) -> Self:
        """Find the layout of an array."""
        return cls(array.shape, array.strides, array.dtype, offset)

    @property
    def span(self) -> tuple[int, int]:
        """The bytes before the first element, and from there on."""
        if math.prod(self.shape) == 0:
            return 0, 0
        steps = [(n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)]
        after = sum(max(step, 0) for step in steps) + self.dtype.itemsize
        return -sum(min(step, 0) for step in steps), after

    def on(self, memory: Plain, first: int, unit: int = 1) -> Plain:
        """View memory in this layout.

        Parameters
        ----------
        memory : array with one axis
            Of bytes; or of marks of any dtype, each of which stands for `unit` bytes.
        first : int
            Where in it the array that owns the memory has its first element.
        """
        bytes_of = memory.dtype.itemsize
        dtype = self.dtype if unit == 1 and memory.dtype == np.uint8 else memory.dtype
        if math.prod(self.shape) == 0:
            return np.empty(self.shape, dtype)
        strides = [stride // unit * bytes_of for stride in self.strides]
        start = (first + self.offset // unit) * bytes_of
        return np.ndarray(self.shape, dtype, memory, start, strides)


def clone(array: Any) -> Any:
    """Copy an array with its order in memory: gaps, turned axes and all.

    So a `Window` shows the same elements of the one and of the other.
    """
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return array.copy()
    layout = Layout.of(array)
    before, after = layout.span
    copy = layout.on(np.empty(before + after, np.uint8), before)
    copy[...] = array
    return copy


def writeable_copy(array: Any) -> Any:
    """Copy an array to write to a part of it: as `clone` does, but each element is one of its own.

    In one that is broadcast, or shows sliding windows, many elements are the same memory, and all
    of them would change with one.
    """
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return array.copy()
    before, after = Layout.of(array).span
    return array.copy() if before + after < array.nbytes else clone(array)

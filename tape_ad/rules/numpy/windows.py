"""Where in the memory of one array another one lies, and what an assignment writes there."""

import math
from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.lib.stride_tricks import as_strided

from tape_ad.rules.maps.layouts import Layout

__all__ = ["Marks", "Window"]

Plain = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@frozen
class Window:
    """A view of an array: how both lie in the same memory."""

    array: Layout
    view: Layout
    writeable: bool

    @classmethod
    def of(cls, array: Plain, view: Plain) -> Self:
        """Find the window that shows a view of an array."""
        offset = address(view) - address(array) if view.size else 0
        return cls(Layout.of(array), Layout.of(view, offset), view.flags.writeable)

    @property
    def unit(self) -> int:
        """The bytes that are assigned as one: an element, or the half of a complex one."""
        return min(self.array.dtype.itemsize, self.view.dtype.itemsize)

    @property
    def half(self) -> int | None:
        """Which half of complex elements a real view shows; None where it shows whole elements."""
        halves = self.array.dtype.itemsize // self.unit > 1
        return int(self.view.offset % self.array.dtype.itemsize != 0) if halves else None

    def on(self, array: Plain) -> Plain:
        """View the memory of an array of the same layout in the same way."""
        memory, first = memory_of(array)
        view = self.view.on(memory, first)
        if not self.writeable:
            view.flags.writeable = False
        return view


@frozen(eq=False)
class Marks:
    """A mark for each piece of an array's memory.

    Attributes
    ----------
    marks : array of int
        One for each `unit` bytes: the number of an element of a value, raveled; -1 for none.
    array : Layout
    unit : int
    shape : tuple of int
        The shape of that value.
    """

    marks: Plain
    array: Layout
    unit: int
    shape: Shape

    @classmethod
    def of_assignment(cls, window: Window, key: Any) -> Self:
        """Mark what ``view[key] = value`` writes, with which element of the value.

        Where a key names an element twice, NumPy's own assignment decides which one counts.
        """
        before, after = window.array.span
        marks = np.full((before + after) // window.unit, -1)
        target = window.view.on(marks, before // window.unit, window.unit)
        shape = target[key].shape
        target[key] = np.arange(math.prod(shape)).reshape(shape)
        return cls(marks, window.array, window.unit, shape)

    @classmethod
    def of_elements(cls, window: Window) -> Self:
        """Mark each element of the array with its own number."""
        marks = cls.of_assignment(Window(window.array, window.array, True), ())
        if window.unit == marks.unit:
            return marks
        return cls(
            np.repeat(marks.marks, marks.unit // window.unit),
            window.array,
            window.unit,
            marks.shape,
        )

    def seen(self, layout: Layout) -> Plain:
        """View the marks of an array in the same memory."""
        return layout.on(self.marks, self.array.span[0] // self.unit, self.unit)

    def halves(self) -> list[Plain]:
        """View those of the array's elements; or of their real and of their imaginary parts."""
        array, count = self.array, self.array.dtype.itemsize // self.unit
        return [
            self.seen(Layout(array.shape, array.strides, array.dtype, half * self.unit))
            for half in range(count)
        ]


def memory_of(array: Plain) -> tuple[Plain, int]:
    """Give the bytes that an array's elements span, and where among them the first element is."""
    if array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8), 0
    before, after = Layout.of(array).span
    if after == 0:
        return np.empty(0, np.uint8), 0
    lowest = array[(*[0 if stride >= 0 else -1 for stride in array.strides], None)]
    return as_strided(lowest.view(np.uint8), (before + after,), (1,)), before


def address(array: Plain) -> int:
    """Give the place of the first element in memory."""
    place: int = array.__array_interface__["data"][0]
    return place

"""Where in memory the elements of arrays lie: copies that lie alike, keys, and views of a base."""

import math
from typing import Any, Self

import numpy as np
from attrs import evolve, frozen
from numpy.lib.stride_tricks import as_strided

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

    def without(self, count: int) -> "Layout":
        """Give the layout without the first axes."""
        return Layout(self.shape[count:], self.strides[count:], self.dtype, self.offset)

    def over(self, length: int, step: int) -> "Layout":
        """Give the layout with an axis in front."""
        return Layout((length, *self.shape), (step, *self.strides), self.dtype, self.offset)

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


Integers = np.ndarray[Any, np.dtype[np.intp]]


def places(key: tuple[Any, ...], shape: tuple[int, ...], front: bool) -> Integers:
    """Number the elements that a key picks from an array, in C order.

    `numpy.add.at` is several times faster with such numbers than with a key for several axes.

    Parameters
    ----------
    key : tuple
        With one entry for each axis, as `linear_maps.Index` has it, and at least one array.
    shape : tuple of int
        Of the array.
    front : bool
        Whether NumPy puts the axes of the arrays first.

    Returns
    -------
    array of integers, shape of ``array[key]``

    Examples
    --------
    >>> places((slice(None), np.array([0, 0, 2])), (2, 3), front=False)
    array([[0, 0, 2],
           [3, 3, 5]])
    """
    strides = np.cumprod((1, *shape[:0:-1]), dtype=np.intp)[::-1]
    sizes = iter(zip(shape, strides, strict=True))
    of_arrays: Any = np.zeros((), np.intp)
    of_slices: list[Integers] = []
    before: int | None = 0 if front else None
    for entry in in_integers(key):
        if entry is Ellipsis:  # one that stands for no axis
            continue
        if entry is None:
            of_slices.append(np.zeros(1, np.intp))
            continue
        length, stride = next(sizes)
        if isinstance(entry, slice):
            of_slices.append(np.arange(length)[entry] * stride)
        else:
            of_arrays = of_arrays + counted(entry, length) * stride
            before = len(of_slices) if before is None else before
    after = len(of_slices) - (before or 0)
    numbers: Integers = of_arrays.reshape(of_arrays.shape + (1,) * after)
    for position, along in enumerate(of_slices):
        behind = len(of_slices) - 1 - position
        if position < len(of_slices) - after:
            behind += of_arrays.ndim
        numbers = numbers + along.reshape((-1,) + (1,) * behind)
    return numbers


def counted(entry: Any, length: int) -> Any:
    """Count all indices from the start of their axis, the negative ones too."""
    array = np.asarray(entry, dtype=np.intp)
    if array.size == 0 or np.minimum.reduce(array, axis=None) >= 0:
        return array
    return np.where(np.less(array, 0), array + length, array)


def names_each_once(key: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Tell whether a key with one array of integers names no place twice; False if it has more.

    The places are marked, which takes a byte for each place of the array's axis.
    """
    arrays = [entry for entry in key if isinstance(entry, np.ndarray)]
    if len(arrays) != 1 or arrays[0].dtype == bool:
        return False
    before = key[: next(i for i, entry in enumerate(key) if entry is arrays[0])]
    axis = sum(entry is not None and entry is not Ellipsis for entry in before)
    if arrays[0].size > shape[axis]:
        return False
    marks = np.zeros(shape[axis], bool)
    marks[arrays[0]] = True
    return bool(np.count_nonzero(marks) == arrays[0].size)


def in_integers(key: tuple[Any, ...]) -> list[Any]:
    """Write the masks of a key as the indices of their elements, one array for each axis."""
    entries: list[Any] = []
    for entry in key:
        mask = isinstance(entry, np.ndarray) and entry.dtype == bool
        entries.extend(entry.nonzero() if mask else [entry])
    return entries


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

    @classmethod
    def of_one(cls, array: Plain, view: Plain, ndim: int) -> Self:
        """Find the window that shows a view of an array, in one of those that the first axes count.

        Parameters
        ----------
        array, view : array
        ndim : int
            The number of axes that one of the arrays has.
        """
        window = cls.of(array, view)
        count = array.ndim - ndim
        return (
            window
            if count <= 0
            else evolve(window, array=window.array.without(count), view=window.view.without(count))
        )

    def over(self, length: int, step: int) -> "Window":
        """Show in each of so many arrays, which lie so many bytes apart, what it shows in one."""
        array, view = self.array.over(length, step), self.view.over(length, step)
        return Window(array, view, self.writeable)

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

"""Memory references: offset, shape and strides in the memory of a value, with views resolved."""

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from attrs import define, field

from tape_ad.programs.capture.op_facts import is_view
from tape_ad.programs.passes.inlining import stand_in
from tape_ad.programs.program.program import Call, Constant, Value

__all__ = ["MemRef", "MemoryMap"]

SIMPLE = frozenset("?bBhHiIlLqQfdFD")
"""The characters of dtypes that native code computes with."""


@define(unsafe_hash=True, cache_hash=True)
class MemRef:
    """A strided reference to elements in the memory of a value; it is never changed.

    Attributes
    ----------
    root : Value
        What owns the memory, or an input or a constant.
    offset : int
        Of the first element, in bytes.
    shape, strides : tuple of int
    dtype : numpy.dtype
    """

    root: Value
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    _narrow: "MemRef | None" = field(default=None, init=False, eq=False, repr=False)

    @classmethod
    def whole(cls, value: Value) -> Self:
        """Give the reference to a value that owns its memory."""
        dtype = kept_as(value)
        return cls(value, 0, value.shape, value.strides, dtype)

    @classmethod
    def new(cls, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Self:
        """Give the reference to a new value in C order, which no call knows of."""
        strides = tuple(dtype.itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape)))
        return cls(Value(np.ndarray, shape, dtype, strides), 0, shape, strides, dtype)

    def along(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> "MemRef":
        """Give the reference to elements that begin at the same one."""
        return MemRef(self.root, self.offset, shape, strides, self.dtype)

    def broadcast(self, shape: tuple[int, ...]) -> "MemRef":
        """Repeat it along axes, without the axes of one element that others do not have."""
        if self.shape == shape:
            return self
        missing = len(shape) - len(self.shape)
        strides = [0] * missing
        for length, stride, wanted in zip(self.shape, self.strides, shape[missing:], strict=True):
            strides.append(stride if length == wanted else 0)
        return MemRef(self.root, self.offset, shape, tuple(strides), self.dtype)

    def squeezed(self) -> "MemRef":
        """Leave out the axes of one element."""
        if 1 not in self.shape:
            return self
        if self._narrow is None:  # which is asked often
            kept = [axis for axis, length in enumerate(self.shape) if length != 1]
            shape = tuple([self.shape[axis] for axis in kept])
            strides = tuple([self.strides[axis] for axis in kept])
            self._narrow = MemRef(self.root, self.offset, shape, strides, self.dtype)
        return self._narrow

    def seen(self, view: Callable[[Any], Any]) -> "MemRef":
        """Give the reference to a view, which a function makes of an array."""
        array, start = stand_in(self.shape, self.strides, self.dtype)
        part = view(array)
        offset = part.__array_interface__["data"][0] - start
        return MemRef(self.root, self.offset + offset, part.shape, part.strides, part.dtype)

    def part(self, key: Any) -> "MemRef":
        """Give the reference to what a key of basic indexing selects."""
        key = key if type(key) is tuple else (key,)
        key = key if Ellipsis in key else (*key, Ellipsis)  # else it would be a number
        return self.seen(lambda array: array[key])


def kept_as(value: Value) -> np.dtype[Any]:
    """Say what a value is in memory: Python's numbers are those of their size."""
    return np.dtype(value.kind) if value.dtype is None else value.dtype


def is_simple(value: Value) -> bool:
    """Tell whether native code can compute with a value at all."""
    if value.dtype is None:
        return value.kind in (float, int, complex, bool)
    return value.dtype.char in SIMPLE and value.dtype.isnative and 0 not in value.shape


class MemoryMap:
    """The memory references of a program's values.

    Attributes
    ----------
    constants : list of Constant
        What native code needs beside the program's own.
    """

    def __init__(self) -> None:
        self._known: dict[Value, MemRef | None] = {}
        self.constants: list[Constant] = []

    def of(self, value: Value) -> MemRef | None:
        """Give the reference to a value; None if native code cannot use it."""
        if value not in self._known:
            self._known[value] = MemRef.whole(value) if is_simple(value) else None
        return self._known[value]

    def look(self, call: Call) -> bool:
        """Take in a call that is a view, and tell whether it is one."""
        if call.several or len(call.outputs) != 1 or call.outputs[0].owner is None:
            return False
        if call.function is not np.einsum and not is_view(call):
            return False  # what it shows may depend on values
        self._known[call.outputs[0]] = viewed_at(call, self)
        return True

    def forget(self, value: Value) -> None:
        """Let a value be where it would have been."""
        self._known.pop(value, None)

    def put(self, value: Value, ref: MemRef) -> None:
        """Say where a value is."""
        self._known[value] = ref


def viewed_at(call: Call, memory_map: MemoryMap) -> MemRef | None:
    """Find the reference to what a call shows of the memory of its one operand."""
    given = [arg for arg in call.args if type(arg) is Value]
    if len(given) != 1 or len(call.operands) != 1:
        return None
    (source,), out = given, call.outputs[0]
    ref = memory_map.of(source)
    if ref is None or not is_simple(out):
        return None
    return ref.seen(
        lambda array: call.function(
            *[array if arg is source else arg for arg in call.args], **call.kwargs
        )
    )

"""Arrays that stand for one of a batch, and hold all of it."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import numpy as np
from attrs import define

from tape_ad.base.arrays.interpreter import BOX, KINDS, Batch, boxes
from tape_ad.base.errors import ConversionError
from tape_ad.record.array_interface import LIKE, ArrayInterface
from tape_ad.record.array_operators import BitsInPlace
from tape_ad.record.messages.callers import DISPATCHING, caller

__all__ = [
    "BatchedArray",
    "Members",
    "UnbatchableError",
    "batched_size",
    "in_front",
    "is_library",
    "shape_of_one",
]

Function = Callable[..., Any]

LIBRARIES = ("tape_ad", "numpy", "scipy")


class UnbatchableError(Exception):
    """A library asks for the values of one of a batch, so that they have to be gone through."""


class OneByOneError(UnbatchableError):
    """The whole function has to be called for one after the other, and not just the latest call."""


SQUARING = (int, float) if (np.ones(1, bool) ** 2.0).dtype.kind == "i" else (int,)
"""The types of a 2 that NumPy squares truth values for; NumPy 2.0 does for 2.0 too."""


@boxes("batch_here")
@define(eq=False, repr=False, weakref_slot=True)
class BatchedArray(ArrayInterface, BitsInPlace):
    """An array of one of a batch: it has that one's shape, and holds the arrays of all.

    Attributes
    ----------
    stack : array or handle, shape (size of the batch) + (shape of one)
    batch_here : Batch
    """

    stack: Any
    batch_here: Batch

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes of one."""
        shape: tuple[int, ...] = self.stack.shape[1:]
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes of one."""
        return int(self.stack.ndim) - 1

    @property
    def data(self) -> NoReturn:
        """Refuse to give plain values."""
        self.number("data")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        dtype: np.dtype[Any] = self.stack.dtype
        return dtype

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return int(self.stack.itemsize)

    @property
    def size(self) -> int:
        """The number of elements of one."""
        return batched_size(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements of one."""
        return self.size * self.itemsize

    def __repr__(self) -> str:
        return f"BatchedArray({self.dtype}{list(self.shape)} in each of {self.batch_here.size})"

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of an array with no axes")
        return self.shape[0]

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(np.equal(self, value)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of an array of shape {self.shape} is ambiguous; write np.any(x) "
                "or np.all(x)"
            )
        if is_library(sys._getframe(1)):
            return bool(self.one_answer())
        raise ConversionError(
            f"a branch ({caller()}) that depends on a batched value may go one way for some of the "
            "batch and the other way for the rest; write np.where(condition, a, b) to choose "
            "element by element, or call the function in a loop"
        )

    def one_answer(self) -> Any:
        """Give what is the same for the whole batch, for a rule that asks for it."""
        each = self.stack.reshape(-1)
        if len(each) == 0:
            return False  # which is as true of none of them
        if not np.all(np.equal(each, each[:1])):
            self.batch_here.asked = True
            raise UnbatchableError
        return each[0]

    def number(self, kind: str) -> NoReturn:
        """Refuse to be one number."""
        if is_library(sys._getframe(2)):
            self.batch_here.asked = True
            raise UnbatchableError
        raise ConversionError(
            f"{kind} ({caller()}) of a batched value: there is one in each of "
            f"{self.batch_here.size}; call a function of NumPy (np.exp in place of math.exp), fill "
            "np.zeros_like(x), which is batched too, or join parts with np.stack([...]); a batched "
            "index picks from batched arrays, and by np.take_along_axis from others"
        )

    def __float__(self) -> float:
        self.number("float")

    def __int__(self) -> int:
        self.number("int")

    def __index__(self) -> int:  # noqa: PLE0305 - it raises
        self.number("int")

    def __complex__(self) -> complex:
        self.number("complex")

    def item(self, *args: Any) -> Any:
        """Refuse, as there is one in each of the batch."""
        self.number("item")

    def tolist(self) -> Any:
        """Refuse, as there is one in each of the batch."""
        self.number("list")

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if is_library(sys._getframe(1)):
            self.batch_here.asked = True
            raise UnbatchableError
        raise ConversionError(
            f"turning a batched value into an ndarray ({caller()}) has no meaning for one of the "
            "batch; call a NumPy function on it, write np.stack([...]) to join values"
        )

    def __dlpack__(self, /, **options: Any) -> Any:
        return self.__array__()

    def __reduce__(self) -> NoReturn:
        raise ConversionError("a batched value cannot be pickled; return it from the function")

    def copy(self, order: str = "C") -> "BatchedArray":
        """Give an array of the same values that can be assigned to."""
        copied: BatchedArray = self._call(np.copy, (self,))
        return copied

    def conjugate(self) -> "BatchedArray":
        """Give the complex conjugate."""
        if self.dtype.kind != "c":
            return self
        conjugate: BatchedArray = self._one(np.conjugate, self)
        return conjugate

    def __pow__(self, other: Any) -> Any:
        """Raise to a power; NumPy squares truth values by another function than `numpy.power`."""
        square = type(other) in SQUARING and other == 2 and self.dtype.kind == "b"
        return np.square(self) if square else super().__pow__(other)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(KINDS.get(kind) != BOX and not issubclass(kind, np.ndarray) for kind in types):
            return NotImplemented  # as NEP 18 has it for types that one does not know
        if function in LIKE:
            return self._create(self, function, args, kwargs)
        return self._call(function, args, kwargs)

    def fill(self, value: Any) -> None:
        """Assign a number to all elements."""
        self[...] = value

    def __hash__(self) -> NoReturn:  # type: ignore[override]  # == is elementwise, as for ndarray
        raise TypeError("a batched value is unhashable, for == compares its elements")


class Members:
    """What stands for one of a batch and is no array: there is one for each.

    Attributes
    ----------
    batch_of_members : Batch
    members : list
    """

    __slots__ = ("batch_of_members", "members")

    def __init__(self, batch: Batch, members: list[Any]) -> None:  # attrs would make it a tree
        self.batch_of_members = batch
        self.members = members


def is_library(frame: FrameType) -> bool:
    """Tell whether code of a library, and not of the user's, is at work."""
    name = str(frame.f_globals.get("__name__"))
    return name.partition(".")[0] in LIBRARIES


def asked_by_library() -> bool:
    """Tell whether code of a library, outside of what makes arrays look like NumPy's, calls."""
    frame: Any = sys._getframe(1)
    while str(frame.f_globals.get("__name__")).startswith(("tape_ad.batching.", *DISPATCHING)):
        frame = frame.f_back
    return is_library(frame)


def batched_size(shape: tuple[int, ...]) -> int:
    """Multiply the lengths of axes."""
    size = 1
    for length in shape:
        size *= length
    return size


def shape_of_one(x: Any) -> tuple[int, ...]:
    """Give the shape of an operand as the function sees it."""
    shape: tuple[int, ...] = x.shape if hasattr(x, "shape") else np.shape(x)
    return shape


def in_front(x: BatchedArray, ndim: int) -> Any:
    """Give the arrays of all, with axes of length one for `ndim` axes behind that of the batch."""
    missing = ndim - x.ndim
    if missing <= 0:
        return x.stack
    return x.stack[(slice(None), *(None,) * missing)]

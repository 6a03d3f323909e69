"""Arrays that stand for one of a batch, and hold all of it."""

import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import numpy as np
from attrs import define

from tape_ad.base.arrays.interpreter import BOX, KINDS, Batch, boxes
from tape_ad.base.arrays.overridable import is_traced
from tape_ad.base.errors import ConversionError
from tape_ad.batching.decisions import grouped, members_of, part
from tape_ad.record.array_interface import LIKE, ArrayInterface
from tape_ad.record.array_operators import UNLIKE_NUMBERS, BitsInPlace
from tape_ad.record.messages.callers import DISPATCHING, caller, is_copied, is_read
from tape_ad.record.messages.libraries import OWN, answer_to_scipy
from tape_ad.record.operands import takes_operators
from tape_ad.record.primals import is_number

Function = Callable[..., Any]

LIBRARIES = ("tape_ad", "numpy", "scipy")


class UnbatchableError(BaseException):
    """A library asks for the values of one of a batch, so that they have to be gone through.

    It is no Exception, as nobody else is to answer it.

    Attributes
    ----------
    answers : array or None
        Those that it asks for, where the function can be called for all with the same at once.
    batch : Batch or None
        Whose they are.
    """

    def __init__(self, answers: Any = None, batch: Batch | None = None) -> None:
        super().__init__()
        self.answers = answers
        self.batch = batch


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
    whole : bool
        Whether it stands for an array of one even where that has no axes, and for no number.
    source : BatchedArray or None
        What it is a view of in each, though in all it is a copy.
    """

    stack: Any
    batch_here: Batch
    whole: bool = False
    source: "BatchedArray | None" = None

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
    def data(self) -> Any:
        """The values, plain ones where there is no record."""
        return self.number(lambda one: getattr(one, "data", one))

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

    def _is(self, function: Any, other: Any) -> Any:
        if takes_operators(type(other)):
            return NotImplemented
        values = np.asarray(other)
        if values.dtype.kind in UNLIKE_NUMBERS:
            values = values.astype(object)  # for which there is a loop beside numbers
        return self._two(function, self, values)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of an array of shape {self.shape} is ambiguous; write np.any(x) "
                "or np.all(x)"
            )
        return bool(self.one_answer() if is_library(sys._getframe(1)) else self.chosen())

    def one_answer(self) -> Any:
        """Give what is the same for the whole batch, for a rule that asks for it."""
        batch = self.batch_here
        members = members_of(batch)
        if len(members) == 0:
            return False  # which is as true of none of them
        answers = self.stack.reshape(-1)
        if batch.counted is not None:
            answers = answers[members]
        if not np.all(np.equal(answers, answers[:1])):
            self.refuse_library(known(self.stack))
        return answers[0]

    def refuse_library(self, answers: Any = None) -> NoReturn:
        """Tell a library that there is no answer for all; maybe there is one for parts."""
        self.batch_here.asked, self.batch_here.question = True, caller()
        raise UnbatchableError(answers, self.batch_here)

    def chosen(self) -> Any:
        """Give what most of the batch have, for which the function goes on then.

        The others are computed by runs of their own.
        """
        batch = self.batch_here
        if batch.size == 0:
            raise UnbatchableError
        if batch.ended:
            raise ValueError(ENDED)
        return self.stack[part(batch, known(self.stack), caller)]

    def number(self, kind: Function) -> Any:
        """Give one number of what most of the batch have; to a library, what all have."""
        if is_library(sys._getframe(2)):
            answers, members = known(self.stack), members_of(self.batch_here)
            if len(members) == 0 or len(grouped(answers, members)) > 1:
                self.refuse_library(answers)
        one = self.chosen()
        while type(one) is BatchedArray:
            one = one.chosen()
        return kind(one)

    def __float__(self) -> float:
        number: float = self.number(float)
        return number

    def __int__(self) -> int:
        each = self
        if self.dtype.kind == "f" and self.size == 1 and not hasattr(self.stack, "record"):
            each = BatchedArray(np.trunc(self.stack), self.batch_here)  # the same for more of them
        number: int = each.number(int)
        return number

    def __index__(self) -> int:
        number: int = self.number(operator.index)
        return number

    def __complex__(self) -> complex:
        number: complex = self.number(complex)
        return number

    def item(self, *args: Any) -> Any:
        """Give a plain number of one."""
        return self.number(operator.methodcaller("item", *args))

    def tolist(self) -> Any:
        """Give the plain numbers of one."""
        return self.number(operator.methodcaller("tolist"))

    def __str__(self) -> str:
        shown = not is_number(self) or is_read(sys._getframe(1))
        return repr(self) if shown else self.number(str)

    def __format__(self, spec: str) -> str:
        if not spec:
            shown = not is_number(self) or is_read(sys._getframe(1))
            return repr(self) if shown else self.number(str)
        text: str = self.number(lambda one: format(one, spec))
        kept = hasattr(self.stack, "record") and is_copied(sys._getframe(1))
        return f"Tensor({text})" if kept else text  # of which no number is made again

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        answer = answer_to_scipy("array", self)
        if answer is not OWN:
            return answer
        if is_traced(self.stack):  # which a library may ask for as one of no batch
            self.refuse_library()
        return self.number(lambda one: np.array(one, dtype, copy=copy))

    def __dlpack__(self, /, **options: Any) -> Any:
        return self.__array__()

    def __reduce__(self) -> NoReturn:
        raise ConversionError("a batched value cannot be pickled; return it from the function")

    def copy(self, order: str = "C") -> "BatchedArray":
        """Give an array of the same values that can be assigned to."""
        if is_number(self):
            return self
        copied: BatchedArray = self._call(np.copy, (self,), {"order": order})
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


ENDED = (
    "a batched value is used after the function that it was given to has returned; return what is "
    "needed later"
)


def known(x: Any) -> Any:
    """Give the plain values of what may lie in a record, a capture, or another batch."""
    while hasattr(x, "record"):
        x = x.data
    if type(x) is BatchedArray:
        return known(x.chosen())
    return x if isinstance(x, np.ndarray) else np.asarray(x.tolist())


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

"""Constants with NumPy's semantics, for code that makes an array and assigns handles to it.

Those of `tape_ad.record.constants` follow the array API standard, in which an element of an array
is an array again. Here it is a number, as NumPy has it, so that ``n += 1`` changes the name alone.
"""

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.arrays.overridable import CAPTURES, lift
from tape_ad.base.errors import InPlaceError
from tape_ad.base.trees import flatten
from tape_ad.record.array_interface import ArrayInterface
from tape_ad.record.constant_calls import Eager, record_among
from tape_ad.record.constants import (
    CONSTANTS,
    ConstantTensor,
    Memory,
    handles_in,
    note_views,
    prepare,
    promote,
)
from tape_ad.record.dispatch import answer
from tape_ad.record.instructions import is_at
from tape_ad.record.messages.migration_hints import MigrationHint
from tape_ad.record.tensor import Tensor

__all__ = ["ArrayConstant", "as_array_constants", "borrowed", "given_away"]

Function = Callable[..., Any]

PLAIN_KEYS = frozenset({int, slice, type(None), type(...)})

new = object.__new__


class ArrayConstant(ConstantTensor):
    """A plain array that may be assigned handles, and is a handle itself from then on.

    Examples
    --------
    >>> from tape_ad.record.record import ComputationRecord
    >>> x = ComputationRecord().tensor(3.0)
    >>> powers = as_array_constants(np.zeros(3))
    >>> for i in range(3):
    ...     powers[i] = x**i
    >>> np.sum(powers).grad().wrt(x)
    array(7.)
    """

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "at":
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        target, *others = inputs
        if type(target) not in CONSTANTS or next(handles_in(others), None) is not None:
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)  # which refuses
        prepare(target)
        return ufunc.at(*unwrapped(inputs))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.data, dtype=dtype, copy=copy)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __repr__(self) -> str:
        return repr(self.data)

    def __str__(self) -> str:
        return str(self.data)

    def __format__(self, spec: str) -> str:
        return format(self.data, spec)

    def __reduce__(self) -> Any:
        return self.data.__reduce__()

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self.data)))

    def astype(self, dtype: Any, *more: Any, **options: Any) -> Any:
        """Cast; see `ndarray.astype`."""
        return wrapped(self.data.astype(dtype, *more, **options), (self,))

    def item(self, *args: Any) -> Any:
        """Give an element as a Python number."""
        return self.data.item(*args)

    def tolist(self) -> Any:
        """Give nested lists of Python numbers."""
        return self.data.tolist()

    def fill(self, value: Any) -> None:
        """Assign to all elements; see `ndarray.fill`."""
        self[...] = value

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """Give a view, which has the handles that are assigned to either; see `ndarray.view`."""
        found = self.data.view(*args, **kwargs)
        if type(found) is not np.ndarray or found.dtype != self.data.dtype:
            return given_away(self).view(*args, **kwargs)
        return wrapped(found, (self,))


class OfTheArray:
    """An attribute that ndarrays have and handles do not: that of the array itself."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, constant: Any, owner: type) -> Any:
        return self if constant is None else getattr(given_away(constant), self.name)


for _name in dir(np.ndarray):
    if _name not in vars(ArrayConstant) and isinstance(
        vars(ArrayInterface).get(_name), MigrationHint
    ):
        setattr(ArrayConstant, _name, OfTheArray(_name))

ArrayConstant.__array_wrap__ = OfTheArray("__array_wrap__")  # type: ignore[attr-defined]  # as the others

CONSTANTS.add(ArrayConstant)


def as_array_constants(tree: Any) -> Any:
    """Make constants of the arrays of floating numbers in what a call gives; numbers stay."""
    if type(tree) is np.ndarray and tree.dtype.kind in "fc":
        handle: Any = new(ArrayConstant)
        handle.record, handle.index, handle.mark = None, -1, None
        handle.data = tree
        return handle
    if type(tree) in (tuple, list):
        return type(tree)(map(as_array_constants, tree))
    if isinstance(tree, tuple) and hasattr(tree, "_make"):
        return tree._make(map(as_array_constants, tree))
    return tree


@define(eq=False)
class Borrowed(Memory):
    """The memory of an array that somebody else has, who sees what is written to it.

    Plain numbers are written there, as NumPy does. Handles cannot be.
    """

    owned = False


def borrowed(array: Any) -> Any:
    """Make a constant of an array that somebody else has too; what is no such array stays."""
    found = as_array_constants(array)
    if type(found) is ArrayConstant:
        found.mark = Borrowed(array)
    return found


def wrapped(out: Any, operands: Any) -> Any:
    """Make constants of what a call gives, and note which are views of its operands."""
    result = as_array_constants(out)
    for each in flatten(result) if isinstance(result, (tuple, list)) else (result,):
        if type(each) is ArrayConstant:
            note_views(each, operands)
    return result


def given_away(constant: Any) -> Any:
    """Give the array of a constant to code that may write to it."""
    prepare(constant)
    return constant.data


def promote_beside(target: Any, record: Any) -> None:
    """Make a constant a handle of a record, and note its array if calls are being captured.

    Raises
    ------
    InPlaceError
        When somebody else has its array too.
    """
    if type(target.mark) is Borrowed:
        raise InPlaceError(
            "a handle is assigned to a part of an array of plain numbers that the code was given, "
            "and its gradient would be lost; give it a copy that is made of a handle, as by "
            "array + 0 * t, or let it make its own by np.array(x) or np.zeros(n)"
        )
    if CAPTURES and not isinstance(target.mark, Memory):
        target.data = lift(target.data)
    promote(target, record)


EAGER = Eager(wrapped, promote_beside)


def two(function: Function, x: Any, y: Any) -> Any:
    """Apply a binary operator to a constant and another operand."""
    if type(x) is Tensor or type(y) is Tensor:
        return answer(function, (x, y))
    first = x.data if type(x) in CONSTANTS else x
    second = y.data if type(y) in CONSTANTS else y
    if isinstance(first, ArrayInterface) or isinstance(second, ArrayInterface):
        return answer(function, (first, second))
    if function is np.power:
        return as_array_constants(first**second)  # which NumPy 2.0 rounds in ways of its own
    return as_array_constants(function(first, second))


def item(x: ArrayConstant, key: Any) -> Any:
    """Index a constant: ``x[key]``."""
    if type(key) is not int:
        entries = key if type(key) is tuple else (key,)
        if not PLAIN_KEYS.issuperset(map(type, entries)):
            return EAGER.called(operator.getitem, (x, key))
    return wrapped(x.data[key], (x,))


def assign(target: ArrayConstant, key: Any, value: Any) -> None:
    """Assign to elements of a constant; with a handle of a record, in that record's graph.

    Raises
    ------
    InPlaceError
        Where C code moves parts of an array about.
    """
    record = record_among(value)
    if record is not None:
        promote_beside(target, record)
        target[key] = value if isinstance(value, Tensor) else np.stack(value)
        return
    if isinstance(value, ArrayInterface) and type(value) not in CONSTANTS:
        raise InPlaceError(
            "a batched or traced array is assigned to a part of a plain one; make the array of it, "
            "by np.zeros_like(x) or np.stack([...])"
        )
    if (
        type(value) is ArrayConstant
        and value.mark is not None
        and value.mark is target.mark
        and not is_at(sys._getframe(2), "x[x] = x", "x[:] = x", "x[x:x] = x")
    ):
        raise InPlaceError(
            "code in C moves parts of an array about, of which some would be lost; write "
            "x = x[rng.permutation(len(x))] in place of rng.shuffle(x)"
        )
    prepare(target)
    target.data[unwrapped(key)] = unwrapped(value)


EAGER.serve(ArrayConstant, two=two, item=item, assign=assign)

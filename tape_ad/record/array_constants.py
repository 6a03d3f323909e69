"""Constants with NumPy's semantics, for code that makes an array and assigns handles to it.

Those of `tape_ad.record.constants` follow the array API standard, in which an element of an array
is an array again. Here it is a number, as NumPy has it, so that ``n += 1`` changes the name alone.
"""

from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.record.array_interface import ArrayInterface
from tape_ad.record.constants import (
    CONSTANTS,
    ConstantTensor,
    Eager,
    constant_of,
    prepare,
)
from tape_ad.record.handles import any_handle
from tape_ad.record.messages.migration_hints import MigrationHint
from tape_ad.record.mutation import Memory

__all__ = ["ArrayConstant", "as_array_constants", "borrowed", "given_away"]


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
        if type(target) not in CONSTANTS or any_handle(others):
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
        return constant_of(tree, ArrayConstant)
    if type(tree) in (tuple, list):
        return type(tree)(map(as_array_constants, tree))
    if isinstance(tree, tuple) and hasattr(tree, "_make"):
        return tree._make(map(as_array_constants, tree))
    return tree


def borrowed(array: Any) -> Any:
    """Make a constant of an array that somebody else has too; what is no such array stays.

    Plain numbers are written there, as NumPy does. Handles cannot be.
    """
    found = as_array_constants(array)
    if type(found) is ArrayConstant:
        found.memory = Memory(array, owned=False)
    return found


def wrapped(out: Any, operands: Any) -> Any:
    """Make constants of what a call gives, and note which are views of its operands."""
    return EAGER.boxed(out, operands)


def given_away(constant: Any) -> Any:
    """Give the array of a constant to code that may write to it."""
    prepare(constant)
    return constant.data


EAGER = Eager(as_array_constants)
EAGER.serve(ArrayConstant)

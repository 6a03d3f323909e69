"""An ndarray's operators, in terms of one dispatch."""

import math
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy import (
    absolute,
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    divide,
    equal,
    floor_divide,
    greater,
    greater_equal,
    invert,
    less,
    less_equal,
    matmul,
    multiply,
    negative,
    not_equal,
    positive,
    power,
    remainder,
    subtract,
)

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.trees import flatten
from tape_ad.record.messages.callers import is_copied
from tape_ad.rules.sparse_products import is_sparse, matmul_sparse, sparse_matmul

Flags = np.ndarray[Any, np.dtype[np.bool_]]


class ArrayOperators:
    """The operators, each in both of its forms.

    A subclass gives `data`, the primal, and what computes and records: `_one` and `_two` a NumPy
    function of as many operands, `_change` an operator in place.
    """

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]  # == is elementwise, as for ndarray

    data: Any
    _one: Callable[..., Any]
    _two: Callable[..., Any]
    _change: Callable[..., Any]

    def _guard_window(self) -> None:
        """Rely on which part of the memory is shown; a captured index may choose it."""

    def __add__(self, other: Any) -> Self:
        return self._two(add, self, other)

    def __radd__(self, other: Any) -> Self:
        return self._two(add, other, self)

    def __sub__(self, other: Any) -> Self:
        return self._two(subtract, self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._two(subtract, other, self)

    def __mul__(self, other: Any) -> Self:
        return self._two(multiply, self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._two(multiply, other, self)

    def __truediv__(self, other: Any) -> Self:
        return self._two(divide, self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._two(divide, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._two(floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._two(floor_divide, other, self)

    def __mod__(self, other: Any) -> Self:
        return self._two(remainder, self, other)

    def __rmod__(self, other: Any) -> Self:
        return self._two(remainder, other, self)

    def __divmod__(self, other: Any) -> tuple[Any, Self]:
        return self._two(np.divmod, self, other)

    def __rdivmod__(self, other: Any) -> tuple[Any, Self]:
        return self._two(np.divmod, other, self)

    def __pow__(self, other: Any) -> Self:
        if type(other) is float and is_copied(sys._getframe(1)) and hasattr(self, "record"):
            refuse_complex_power(self.data, other)
        return self._two(power, self, other)

    def __rpow__(self, other: Any) -> Self:
        return self._two(power, other, self)

    def __matmul__(self, other: Any) -> Self:
        if type(other) is not type(self) and is_sparse(other):
            return self._two(matmul_sparse, self, other)
        return self._two(matmul, self, other)

    def __rmatmul__(self, other: Any) -> Self:
        if is_sparse(other):
            return self._two(sparse_matmul, other, self)
        return self._two(matmul, other, self)

    def __neg__(self) -> Self:
        return self._one(negative, self)

    def __pos__(self) -> Self:
        return self._one(positive, self)

    def __abs__(self) -> Self:
        return self._one(absolute, self)

    def __round__(self, ndigits: int = 0) -> Any:
        return self._two(np.round, self, ndigits)

    # Of bits and truth values: a handle that depends on anything is none of them

    def __and__(self, other: Any) -> Any:
        return self._two(bitwise_and, self, other)

    def __rand__(self, other: Any) -> Any:
        return self._two(bitwise_and, other, self)

    def __or__(self, other: Any) -> Any:
        return self._two(bitwise_or, self, other)

    def __ror__(self, other: Any) -> Any:
        return self._two(bitwise_or, other, self)

    def __xor__(self, other: Any) -> Any:
        return self._two(bitwise_xor, self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._two(bitwise_xor, other, self)

    def __invert__(self) -> Any:
        return self._one(invert, self)

    # In place: the array that the handle stands for changes, and all views of it

    def __iadd__(self, other: Any) -> Self:
        return self._change(add, self, other)

    def __isub__(self, other: Any) -> Self:
        return self._change(subtract, self, other)

    def __imul__(self, other: Any) -> Self:
        return self._change(multiply, self, other)

    def __itruediv__(self, other: Any) -> Self:
        return self._change(divide, self, other)

    def __ifloordiv__(self, other: Any) -> Self:
        return self._change(floor_divide, self, other)

    def __imod__(self, other: Any) -> Self:
        return self._change(remainder, self, other)

    def __ipow__(self, other: Any) -> Self:
        return self._change(power, self, other)

    def __imatmul__(self, other: Any) -> Self:
        return self._change(matmul, self, other)

    # Comparisons give plain boolean arrays

    def __eq__(self, other: object) -> Flags:  # type: ignore[override]  # elementwise, as ndarray
        return self._two(equal, self, other) if comparable(other) else self._is(equal, other)

    def __ne__(self, other: object) -> Flags:  # type: ignore[override]  # elementwise, as ndarray
        return (
            self._two(not_equal, self, other) if comparable(other) else self._is(not_equal, other)
        )

    def _is(self, function: Any, other: Any) -> Any:
        """Compare for (in)equality with what is no number; which of both, the function tells."""
        return self.data == other if function is equal else self.data != other

    def __lt__(self, other: Any) -> Flags:
        return self._two(less, self, other)

    def __le__(self, other: Any) -> Flags:
        return self._two(less_equal, self, other)

    def __gt__(self, other: Any) -> Flags:
        return self._two(greater, self, other)

    def __ge__(self, other: Any) -> Flags:
        return self._two(greater_equal, self, other)


class Shifts:
    """The shifts, for what may be of integers."""

    __slots__ = ()

    _two: Callable[..., Any]

    def __lshift__(self, other: Any) -> Any:
        return self._two(np.left_shift, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._two(np.left_shift, other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._two(np.right_shift, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._two(np.right_shift, other, self)


class BitsInPlace(Shifts):
    """The operators of bits in place, for arrays that may be of integers and truth values."""

    __slots__ = ()

    _change: Callable[..., Any]

    def __iand__(self, other: Any) -> Any:
        return self._change(np.bitwise_and, self, other)

    def __ior__(self, other: Any) -> Any:
        return self._change(np.bitwise_or, self, other)

    def __ixor__(self, other: Any) -> Any:
        return self._change(np.bitwise_xor, self, other)

    def __ilshift__(self, other: Any) -> Any:
        return self._change(np.left_shift, self, other)

    def __irshift__(self, other: Any) -> Any:
        return self._change(np.right_shift, self, other)


UNLIKE_NUMBERS = "SUMm"
"""The kinds of the dtypes of text and of times, which equal no number."""


def comparable(other: Any) -> bool:
    """Tell whether something is numbers; equality with all else is for NumPy's arrays to decide."""
    if isinstance(other, (np.ndarray, np.generic)):
        return other.dtype.kind not in UNLIKE_NUMBERS
    if isinstance(other, (int, float, complex, ArrayOperators)) or is_sparse(other):
        return True
    if isinstance(other, (list, tuple)):
        if any(isinstance(leaf, ArrayOperators) for leaf in flatten(other)):
            return True  # and no array that NumPy could make
        return np.asarray(other).dtype.kind not in UNLIKE_NUMBERS
    wraps = hasattr(other, "__array_wrap__")  # as PyTorch's arrays have, and those of pandas
    return wraps and not hasattr(type(other), "__array_ufunc__")


def refuse_complex_power(base: Any, exponent: float) -> None:
    """Refuse what is a complex number of a Python number, in copies of code that expects it.

    Raises
    ------
    UnsupportedArgumentError
    """
    plain = isinstance(base, (np.ndarray, np.generic))
    fraction = math.isfinite(exponent) and not exponent.is_integer()
    if fraction and plain and base.shape == () and base.dtype.kind == "f" and base < 0:
        raise UnsupportedArgumentError(
            f"{float(base):g} ** {exponent:g} is a complex number where the code computes with "
            "Python's floats, and a handle stands for one of these; give it a complex handle"
        )

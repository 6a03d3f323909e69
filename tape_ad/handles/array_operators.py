"""An ndarray's operators, in terms of one dispatch."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy import (
    absolute,
    add,
    divide,
    floor_divide,
    matmul,
    multiply,
    negative,
    positive,
    power,
    remainder,
    subtract,
)

from tape_ad.handles.arguments import primal
from tape_ad.rules.scipy.sparse import is_sparse, matmul_sparse, sparse_matmul

__all__ = ["ArrayOperators"]

Flags = np.ndarray[Any, np.dtype[np.bool_]]


class ArrayOperators:
    """The operators, each in both of its forms.

    There is no in-place operator: ``x += y`` makes a new handle and binds the name to it. A
    subclass gives `data`, the primal, and `_one` and `_two`, which compute and record a NumPy
    function of as many operands.
    """

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]  # == is elementwise, as for ndarray

    data: Any
    _one: Callable[..., Any]
    _two: Callable[..., Any]

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

    # Comparisons give plain boolean arrays

    def __eq__(self, other: object) -> Flags:  # type: ignore[override]  # elementwise, as ndarray
        return primal(self.data) == primal(other)

    def __ne__(self, other: object) -> Flags:  # type: ignore[override]  # elementwise, as ndarray
        return primal(self.data) != primal(other)

    def __lt__(self, other: Any) -> Flags:
        return primal(self.data) < primal(other)

    def __le__(self, other: Any) -> Flags:
        return primal(self.data) <= primal(other)

    def __gt__(self, other: Any) -> Flags:
        return primal(self.data) > primal(other)

    def __ge__(self, other: Any) -> Flags:
        return primal(self.data) >= primal(other)

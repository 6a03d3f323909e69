"""Python numbers that note what is done with them."""

import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from attrs import define

from tape_ad.base.arrays.interpreter import boxes
from tape_ad.programs.capture.tracers import NUMBERS, Tracer, exact_question
from tape_ad.programs.program.program import Value
from tape_ad.record.array_operators import ArrayOperators, Shifts

__all__ = ["TracedScalar", "as_python", "is_python"]

Function = Callable[..., Any]

PYTHONS: dict[Any, Function] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.divmod: divmod,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.invert: operator.invert,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
}
"""What Python computes of two of its own numbers, which are weak then as they were."""


@boxes("capture")
@define(eq=False, repr=False)
class TracedScalar(Tracer, Shifts, ArrayOperators):
    """A Python number of a function that is being captured.

    It says that it is a float (or int, complex, bool) when asked by `isinstance`, and what is
    computed from it and other Python numbers is one too.
    """

    data: Any
    value: Value
    capture: Any
    owner: ClassVar[None] = None

    @property  # type: ignore[misc]  # isinstance looks at it after the type
    def __class__(self) -> type:
        return type(self.data)

    def __repr__(self) -> str:
        return str(self)

    def __hash__(self) -> int:  # type: ignore[override]  # numbers have one
        self.capture.ask(exact_question(self.data), self)
        return hash(self.data)

    def __eq__(self, other: object) -> Any:
        if has_ended(self) or has_ended(other):
            return self is other  # what a cache has kept for it is of the other capture as well
        return super().__eq__(other)

    @property
    def real(self) -> Any:
        """The real part."""
        return self if type(self.data) is not complex else self._one(real_of, self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return 0 * self if type(self.data) is not complex else self._one(imaginary_of, self)

    def conjugate(self) -> Any:
        """Give the complex conjugate."""
        return self if type(self.data) is not complex else self._one(conjugate_of, self)

    def __getattr__(self, name: str) -> Any:
        """Give another method of Python's numbers, which is told what the number is."""
        found = getattr(self.data, name)
        self.capture.ask(exact_question(self.data), self)
        return found

    def item(self) -> Self:
        """Give the number itself, as the method of an array would."""
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None:
            return self._two(np.power, self, other)
        return self.capture.call(pow, (self, other, modulus), {})

    def __floor__(self) -> int:
        return math.floor(float(self))

    def __ceil__(self) -> int:
        return math.ceil(float(self))


def has_ended(number: object) -> bool:
    """Tell whether something is a number that a cache has kept from an earlier capture."""
    return type(number) is TracedScalar and number.capture.ended


def real_of(number: complex) -> float:
    """Give the real part of a Python number."""
    return number.real


def imaginary_of(number: complex) -> float:
    """Give the imaginary part of a Python number."""
    return number.imag


def conjugate_of(number: complex) -> complex:
    """Give the conjugate of a Python number."""
    return number.conjugate()


def is_python(x: Any) -> bool:
    """Tell whether an operand is a Python number, captured or not."""
    return type(x) is TracedScalar or type(x) in NUMBERS


def as_python(function: Function) -> Function:
    """Give what Python does of its own numbers in place of a ufunc."""
    return PYTHONS.get(function, function)

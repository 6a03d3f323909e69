"""Maps that act element by element, and broadcast unasked."""

from typing import ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps.base import Array, LinearMap, Partial

__all__ = [
    "SAME",
    "Conjugate",
    "Divide",
    "ImaginaryPart",
    "Mask",
    "Negate",
    "RealPart",
    "Same",
    "Scale",
    "as_map",
]


@define(eq=False, repr=False)
class Same:
    """The identity: the node is its parent, up to broadcasting and dtype."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t

    def pull(self, ct: Array) -> Array:
        return ct


SAME = Same()
"""One for all: it holds nothing."""


@define(eq=False, repr=False)
class Negate:
    """Multiplication by -1."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return -t

    def pull(self, ct: Array) -> Array:
        return -ct

    def pull_into(self, ct: Array) -> Array:
        """Pull in the memory of `ct`, a plain array that nobody needs any more."""
        return np.negative(ct, out=ct)


@define(eq=False, repr=False)
class Scale:
    """Multiplication by `factor`, which broadcasts to the node's shape."""

    broadcasts: ClassVar[bool] = True
    factor: Array

    def push(self, t: Array) -> Array:
        return t * self.factor

    def pull(self, ct: Array) -> Array:
        return ct * self.factor.conjugate()

    def pull_into(self, ct: Array) -> Array:
        """Pull in the memory of `ct`, a plain array that nobody needs any more, if it fits."""
        if fits(self.factor, ct):
            return np.multiply(ct, self.factor.conjugate(), out=ct)
        return self.pull(ct)


def as_map(partial: Partial) -> LinearMap:
    """Make the map that an array stands for; a map is given as it is.

    Examples
    --------
    >>> as_map(3.0).pull(np.ones(2))
    array([3., 3.])
    """
    linear: LinearMap = partial if hasattr(type(partial), "pull") else Scale(partial)
    return linear


@define(eq=False, repr=False)
class Divide:
    """Division by `divisor`, which broadcasts to the node's shape."""

    broadcasts: ClassVar[bool] = True
    divisor: Array

    def push(self, t: Array) -> Array:
        return t / self.divisor

    def pull(self, ct: Array) -> Array:
        return ct / self.divisor.conjugate()

    def pull_into(self, ct: Array) -> Array:
        """Pull in the memory of `ct`, a plain array that nobody needs any more, if it fits."""
        if fits(self.divisor, ct):
            return np.divide(ct, self.divisor.conjugate(), out=ct)
        return self.pull(ct)


def fits(operand: Array, ct: Array) -> bool:
    """Tell whether the product with a plain array has just the shape and dtype of that array."""
    kind = type(operand)
    return kind is np.ndarray and operand.shape == ct.shape and operand.dtype == ct.dtype


@define(eq=False, repr=False)
class Mask:
    """Selection: what `mask` leaves out contributes exactly 0, even where it is nan or inf."""

    broadcasts: ClassVar[bool] = True
    mask: Array

    def push(self, t: Array) -> Array:
        return np.where(self.mask, t, 0)

    def pull(self, ct: Array) -> Array:
        return np.where(self.mask, ct, 0)


@define(eq=False, repr=False)
class Conjugate:
    """Complex conjugation, which is linear over the reals."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t.conjugate()

    def pull(self, ct: Array) -> Array:
        return ct.conjugate()


@define(eq=False, repr=False)
class RealPart:
    """The real part of a complex parent."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t.real

    def pull(self, ct: Array) -> Array:
        return ct


@define(eq=False, repr=False)
class ImaginaryPart:
    """The imaginary part of a complex parent."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t.imag

    def pull(self, ct: Array) -> Array:
        return ct * 1j

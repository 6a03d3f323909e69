"""Products with a matrix or with a stack of them."""

import math
from typing import ClassVar

import numpy as np
from attrs import define, field

from tape_ad.linear_maps.base import Array

__all__ = ["MatmulLeft", "MatmulRight", "Products", "adjoint"]

LEAST = 1_000
"""A product of fewer elements is worked out at once, in the time that it takes to keep factors."""

SMALLER = 4
"""Factors wait if their product has at least this many times as many elements as they have.

So a recurrent weight of 256 x 256 waits for 16 rows at a time, and one of 64 x 64 does not: there,
to join the factors takes the time that the one large product saves (docs/performance.md)."""

FULL = 4
"""Factors are multiplied once they have this many times as many elements as their product.

That bounds the memory that they hold, and the product has by then so many rows that BLAS gains
nothing from more."""

Factors = tuple[Array, Array]
"""Two matrices a and b of as many rows, which stand for ``adjoint(a) @ b``."""


def adjoint(m: Array) -> Array:
    """Transpose and conjugate the matrices of a stack."""
    return m.mT.conjugate()


@define(eq=False, repr=False)
class MatmulLeft:
    """``parent @ right``, for a parent with `ndim` axes."""

    broadcasts: ClassVar[bool] = True
    multiplies: ClassVar[bool] = True
    right: Array
    ndim: int

    def push(self, t: Array) -> Array:
        if self.ndim == 1 and self.right.ndim > 1:
            return np.matmul(t[..., None, :], self.right)[..., 0, :]
        return np.matmul(t, self.right)

    def pull(self, ct: Array) -> Array:
        if self.right.ndim == 1:
            return ct[..., None] * self.right.conjugate()
        if self.ndim == 1:
            return np.matmul(self.right.conjugate(), ct[..., None])[..., 0]
        return np.matmul(ct, adjoint(self.right))

    def pull_factors(self, ct: Array) -> Factors | None:
        """Give `pull` as two factors, if they may wait; see `small_and_plain`."""
        right = self.right
        if self.ndim != 2 or right.ndim > 2:
            return None
        if not small_and_plain(ct, right, ct.shape[0] * right.shape[0]):
            return None
        if right.ndim == 1:
            return ct.conjugate()[None], right.conjugate()[None]
        return adjoint(ct), adjoint(right)


@define(eq=False, repr=False)
class MatmulRight:
    """``left @ parent``, for a parent with `ndim` axes."""

    broadcasts: ClassVar[bool] = True
    multiplies: ClassVar[bool] = True
    left: Array
    ndim: int

    def push(self, t: Array) -> Array:
        if self.ndim == 1:
            if self.left.ndim == 1:
                return np.matmul(t, self.left)
            return np.matmul(self.left, t[..., None])[..., 0]
        return np.matmul(self.left, t)

    def pull(self, ct: Array) -> Array:
        left = self.left
        if left.ndim == 1:
            column = left.conjugate() if self.ndim == 1 else left.conjugate()[:, None]
            return column * (ct[..., None] if self.ndim == 1 else ct[..., None, :])
        if self.ndim == 1:
            return np.matmul(adjoint(left), ct[..., None])[..., 0]
        if self.ndim == 2 and left.ndim > 2:
            stack, rows = ct.shape[: ct.ndim - left.ndim], math.prod(left.shape[:-1])
            left = left.reshape((rows, left.shape[-1]))
            ct = ct.reshape((*stack, rows, ct.shape[-1]))
        return np.matmul(adjoint(left), ct)

    def pull_factors(self, ct: Array) -> Factors | None:
        """Give `pull` as two factors, if they may wait; see `small_and_plain`."""
        left = self.left
        if self.ndim != 2 or not small_and_plain(left, ct, left.shape[-1] * ct.shape[-1]):
            return None
        return left.reshape((-1, left.shape[-1])), ct.reshape((-1, ct.shape[-1]))


def small_and_plain(a: Array, b: Array, size: int) -> bool:
    """Tell whether two arrays are plain, and far smaller than their product of `size` elements."""
    return (
        size >= LEAST
        and 0 < SMALLER * (a.size + b.size) <= size
        and type(a) is type(b) is np.ndarray
        and a.dtype is b.dtype
    )


@define(eq=False, repr=False)
class Products:
    """A sum of products of small factors, which is worked out as few large products.

    So a weight that every step of a sequence is multiplied with gets its gradient from a few
    products of many rows, not from as many products as there are steps, each added to the whole.
    """

    left: list[Array] = field(factory=list)
    right: list[Array] = field(factory=list)
    waiting: int = 0
    total: Array | None = None

    def add(self, a: Array, b: Array) -> None:
        """Add ``adjoint(a) @ b``, now or later."""
        self.left.append(apart(a))
        self.right.append(apart(b))
        self.waiting += a.size + b.size
        if self.waiting > FULL * a.shape[1] * b.shape[1]:
            self.collect()

    def collect(self) -> None:
        """Multiply all that waits."""
        product = np.matmul(adjoint(np.concatenate(self.left)), np.concatenate(self.right))
        if self.total is not None:
            product += self.total
        self.total = product
        self.left.clear()
        self.right.clear()
        self.waiting = 0

    def added_to(self, array: Array) -> Array:
        """Give the sum of all that was added, and of an array besides, as a new array."""
        if self.left:
            self.collect()
        total: Array = self.total
        if type(array) is not np.ndarray:
            return total + array
        total += array
        return total


def apart(factor: Array) -> Array:
    """Copy what would keep a larger array in memory."""
    base = factor.base
    if base is None or (type(base) is np.ndarray and base.size <= 2 * factor.size):
        return factor
    return factor.copy()

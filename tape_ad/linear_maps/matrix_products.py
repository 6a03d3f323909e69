"""Products with a matrix or with a stack of them."""

import math
from typing import ClassVar

import numpy as np
from attrs import define, field

from tape_ad.linear_maps.base import Array

__all__ = ["MatmulLeft", "MatmulRight", "Products", "adjoint"]

FEW = 4
"""How many times as many elements a product has at least, for its factors to wait."""

FULL = 4
"""How many times as many elements as their product has may wait in factors."""

Factors = tuple[Array, Array]
"""Two matrices a and b of as many rows, which stand for ``adjoint(a) @ b``."""


def adjoint(m: Array) -> Array:
    """Transpose and conjugate the matrices of a stack."""
    return m.mT.conjugate()


@define(eq=False, repr=False)
class MatmulLeft:
    """``parent @ right``, for a parent with `ndim` axes."""

    broadcasts: ClassVar[bool] = True
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

    def factors(self, ct: Array) -> Factors | None:
        """Give `pull` as two factors, if it is worth it; see `few_rows`."""
        right = self.right
        if self.ndim != 2 or right.ndim > 2:
            return None
        if right.ndim == 1:
            return few_rows(ct.conjugate(), right.conjugate())
        return few_rows(adjoint(ct), adjoint(right))


@define(eq=False, repr=False)
class MatmulRight:
    """``left @ parent``, for a parent with `ndim` axes."""

    broadcasts: ClassVar[bool] = True
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

    def factors(self, ct: Array) -> Factors | None:
        """Give `pull` as two factors, if it is worth it; see `few_rows`."""
        return few_rows(self.left, ct) if self.ndim == 2 else None


def few_rows(a: Array, b: Array) -> Factors | None:
    """Give two arrays as matrices, if they are plain and far smaller than their product."""
    plain = type(a) is type(b) is np.ndarray and a.dtype is b.dtype
    if plain and 0 < FEW * (a.size + b.size) <= a.shape[-1] * b.shape[-1]:
        return a.reshape((-1, a.shape[-1])), b.reshape((-1, b.shape[-1]))
    return None


@define(eq=False, repr=False)
class Products:
    """A sum of products of small factors, which is worked out as few large products.

    So a weight that every step of a sequence is multiplied with gets its gradient from a few
    products of many rows, not from as many products as there are steps, each added to the whole.
    """

    total: Array = 0.0
    left: list[Array] = field(factory=list)
    right: list[Array] = field(factory=list)
    held: int = 0

    def add(self, a: Array, b: Array) -> None:
        """Add ``adjoint(a) @ b``, now or later."""
        self.left.append(a)
        self.right.append(b)
        self.held += a.size + b.size
        if self.held > FULL * a.shape[1] * b.shape[1]:
            self.total = self.sum()
            self.left.clear()
            self.right.clear()
            self.held = 0

    def sum(self) -> Array:
        """Give the sum of all that was added."""
        if not self.left:
            return self.total
        rows = np.concatenate(self.left), np.concatenate(self.right)
        return self.total + np.matmul(adjoint(rows[0]), rows[1])

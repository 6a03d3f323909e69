"""Products of vectors, matrices and stacks of them."""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps import Array
from tape_ad.rules.base import Derivation, Entry, as_array, refuse, rule

__all__ = ["PRODUCTS"]


def adjoint(m: Array) -> Array:
    """Transpose and conjugate the matrices of a stack."""
    return np.swapaxes(m, -1, -2).conjugate()


@define(eq=False)
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


@define(eq=False)
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


def tensordot(a: Array, b: Array, axes: Any = 2) -> Array:
    """Contract axes of `a` with axes of `b` by one matrix product."""
    a, b = as_array(a), as_array(b)
    if isinstance(axes, int):
        of_a, of_b = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        of_a, of_b = (tuple(np.atleast_1d(side).tolist()) for side in axes)
    of_a = tuple(axis % a.ndim for axis in of_a)
    of_b = tuple(axis % b.ndim for axis in of_b)
    if [a.shape[i] for i in of_a] != [b.shape[i] for i in of_b]:
        raise ValueError("shape-mismatch for sum")
    free_a = tuple(i for i in range(a.ndim) if i not in of_a)
    free_b = tuple(i for i in range(b.ndim) if i not in of_b)
    rows = tuple(a.shape[i] for i in free_a)
    columns = tuple(b.shape[i] for i in free_b)
    inside = math.prod(a.shape[i] for i in of_a)
    left = np.transpose(a, free_a + of_a).reshape((math.prod(rows), inside))
    right = np.transpose(b, of_b + free_b).reshape((inside, math.prod(columns)))
    return np.matmul(left, right).reshape(rows + columns)


def dot(a: Array, b: Array, out: None = None) -> Array:
    """Multiply as `numpy.dot` does: the last axis of `a` with the last but one of `b`."""
    refuse("dot", out=out)
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim <= 2 and b.ndim <= 2:
        return np.matmul(a, b)
    return np.tensordot(a, b, (-1, max(b.ndim - 2, 0)))


def inner(a: Array, b: Array, /) -> Array:
    """Multiply the last axes of both."""
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return np.tensordot(a, b, (-1, -1))


def outer(a: Array, b: Array, out: None = None) -> Array:
    """Multiply every element of `a` with every element of `b`."""
    refuse("outer", out=out)
    return np.ravel(a)[:, None] * np.ravel(b)


PRODUCTS: dict[Any, Entry] = {
    np.matmul: rule(
        lambda out, a, b: MatmulLeft(b, a.ndim),
        lambda out, a, b: MatmulRight(a, b.ndim),
    ),
    np.dot: Derivation(dot),
    np.inner: Derivation(inner),
    np.outer: Derivation(outer),
    np.tensordot: Derivation(tensordot),
}

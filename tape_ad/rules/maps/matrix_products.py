"""Products with a matrix or with a stack of them."""

import math
from operator import attrgetter
from typing import ClassVar

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.overridable import is_plain, is_traced, overridable
from tape_ad.rules.maps.base import Array, Shape
from tape_ad.rules.maps.patterns import Pattern, by_batch, dense_blocks, reads

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

LARGE = 2**18
"""With more multiplications than this a product is worth a look whether it is one of few elements.

It is a look at one row, of some hundred elements, and at all of them only if that has but one."""

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
    kept = property(attrgetter("right"))
    right: Array
    ndim: int

    @reads("right.ndim", "ndim")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that rows of the parent make rows of the product."""
        vectors = self.right.ndim - 1 if self.ndim == 1 else min(self.right.ndim, 2) - 1
        return by_batch(parent, node, 1, vectors)

    def push(self, t: Array) -> Array:
        right = self.right
        if self.ndim > 1 or right.ndim <= 2 or t.ndim == 1:
            return rows_times(t, right)
        stack = t.shape[: t.ndim - right.ndim + 1]
        product = np.matmul(t.reshape((math.prod(stack), t.shape[-1])), right)
        return np.moveaxis(product, -2, 0).reshape((*stack, *right.shape[:-2], right.shape[-1]))

    def pull(self, ct: Array) -> Array:
        right = self.right
        if right.ndim == 1:
            return ct[..., None] * right.conjugate()
        if self.ndim > 1 or right.ndim == 2:
            return rows_times(ct, adjoint(right))
        stack = ct.shape[: ct.ndim - right.ndim + 1]
        columns = as_matrix(adjoint(right))
        return rows_times(ct.reshape((*stack, columns.shape[0])), columns)

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
    kept = property(attrgetter("left"))
    left: Array
    ndim: int

    @reads("left.ndim", "ndim")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that columns of the parent make columns of the product."""
        if self.ndim == 1:
            return by_batch(parent, node, 1, self.left.ndim - 1)
        if self.left.ndim == 1:
            of_node = range(-1, -len(node) - 1, -1)
            axes = [(-1, -1), *((axis - 1, axis) for axis in of_node[1:])]
        else:
            axes = [(axis, axis) for axis in range(-len(parent), 0) if axis != -2]
        return dense_blocks(parent, node, axes)

    def push(self, t: Array) -> Array:
        left = self.left
        if left.ndim == 1:
            return rows_times(t, left) if self.ndim == 1 else np.matmul(left, t)
        if self.ndim > 1:
            return times_columns(left, t)
        if t.ndim == 1:
            return rows_times(left, t)
        stack = t.shape[: t.ndim - left.ndim + 1]
        rows = t.reshape((*stack, t.shape[-1]))
        return rows_times(rows, as_matrix(left).mT).reshape((*stack, *left.shape[:-1]))

    def pull(self, ct: Array) -> Array:
        left = self.left
        if left.ndim == 1:
            column = left.conjugate() if self.ndim == 1 else left.conjugate()[:, None]
            return column * (ct[..., None] if self.ndim == 1 else ct[..., None, :])
        if self.ndim <= 2 < left.ndim:
            stack = ct.shape[: ct.ndim - left.ndim - self.ndim + 2]
            left = as_matrix(left)
            ct = ct.reshape((*stack, left.shape[0], *ct.shape[ct.ndim - self.ndim + 1 :]))
        if self.ndim == 1:
            return rows_times(ct, left.conjugate())
        return times_columns(adjoint(left), ct)

    def pull_factors(self, ct: Array) -> Factors | None:
        """Give `pull` as two factors, if they may wait; see `small_and_plain`."""
        left = self.left
        if self.ndim != 2 or not small_and_plain(left, ct, left.shape[-1] * ct.shape[-1]):
            return None
        return left.reshape((-1, left.shape[-1])), ct.reshape((-1, ct.shape[-1]))


def rows_times(rows: Array, right: Array) -> Array:
    """Compute ``rows @ right``: if that is one matrix or vector, as one product.

    `numpy.matmul` takes one product for each matrix of a stack, so one for each seed.
    """
    if right.ndim > 2 or rows.ndim == 1:
        return np.matmul(rows, right)
    matrix = rows if rows.ndim == 2 else as_matrix(rows)
    large = matrix.size * right.shape[-1] > LARGE
    product: Array = (times_matrix if large else multiplied)(matrix, right)
    return product if rows.ndim == 2 else product.reshape(rows.shape[:-1] + right.shape[1:])


@overridable
def times_matrix(rows: Array, right: Array) -> Array:
    """Compute ``rows @ right``, with a look whether that only picks rows and scales them.

    Parameters
    ----------
    rows : array, shape (m, n)
    right : array, shape (n,) or (n, k)

    Returns
    -------
    array, shape (m,) or (m, k)
    """
    product = picked(rows, right)
    return multiplied(rows, right) if product is None else product


def picked(rows: Array, right: Array) -> Array | None:
    """Compute ``rows @ right`` where each row has one element at most that is not 0; else None.

    So are the unit vectors that a Jacobian starts from, and what elementwise maps make of them.
    """
    if type(rows) is not np.ndarray or type(right) is not np.ndarray or right.ndim != 2:
        return None
    if len(right) == 1:  # all of which pick the one row: that is an outer product
        return None
    found = one_in_each(rows)
    if found is None or not np.isfinite(right).all():
        return None  # 0 times nan is nan
    factors, columns = found
    begin, length = columns[0], len(rows)
    if (columns == np.arange(begin, begin + length)).all():
        return factors[:, None] * right[begin : begin + length]
    return factors[:, None] * right[columns]


def one_in_each(rows: Array) -> tuple[Array, Array] | None:
    """Give the one element of each row that may not be 0, and its place; None if there are more."""
    length = len(rows)
    if rows.size == 0 or np.count_nonzero(rows[0]) > 1:
        return None
    there = np.not_equal(rows, 0)
    if np.count_nonzero(there) > length:
        return None
    columns = there.argmax(axis=1)
    factors = rows[np.arange(length), columns]
    one_each = np.count_nonzero(factors) == np.count_nonzero(there)
    return (factors, columns) if one_each else None


def scaled_rows(rows: Array, right: Array, factors: Array, begin: int) -> Array:
    """Multiply rows that have one nonzero element each by a matrix: pick and scale its rows.

    Parameters
    ----------
    rows : array, shape (m, n)
    right : array, shape (n, k)
    factors : array, shape (m,)
    begin : int
        The place of the first row's element. Each other one has it a place further on.
    """
    if not np.isfinite(right).all():
        return multiplied(rows, right)
    return factors[:, None] * right[begin : begin + len(factors)]


def times_columns(left: Array, columns: Array) -> Array:
    """Compute ``left @ columns``: as one product where a matrix meets a stack of single columns."""
    if left.ndim > 2 or columns.ndim <= 2 or columns.shape[-1] != 1:
        return multiplied(left, columns)
    return rows_times(columns[..., 0], left.mT)[..., None]


def multiplied(a: Array, b: Array) -> Array:
    """Compute ``a @ b``; a column and a row with `dot`, as `matmul` does not take them to BLAS."""
    if a.shape[-1] == 1 and a.ndim == b.ndim == 2:
        return np.dot(a, b)
    return np.matmul(a, b)


def as_matrix(array: Array) -> Array:
    """Put the rows of a stack of matrices below each other."""
    return array.reshape((math.prod(array.shape[:-1]), array.shape[-1]))


def small_and_plain(a: Array, b: Array, size: int) -> bool:
    """Tell whether two arrays are plain, and far smaller than their product of `size` elements."""
    return (
        size >= LEAST
        and 0 < SMALLER * (a.size + b.size) <= size
        and is_plain(a)
        and is_plain(b)
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
        """Multiply all pending pairs as one product, and add it to the total."""
        product = multiplied(adjoint(np.concatenate(self.left)), np.concatenate(self.right))
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
    """Copy what would keep a larger array in memory; programs see to that by themselves."""
    if is_traced(factor):
        return factor
    base = factor.base
    if base is None or (type(base) is np.ndarray and base.size <= 2 * factor.size):
        return factor
    return factor.copy()

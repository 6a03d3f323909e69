"""Arithmetic of sparse arrays whose elements may be a handle."""

import sys
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from tape_ad.base.errors import ConversionError, ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.counterparts import joined
from tape_ad.scipy.sparse.pattern import Pattern, merged

__all__ = ["Arithmetic", "absent", "is_sparse"]


def absent(kind: str, name: str) -> Exception:
    """Say that sparse arrays of handles have no such attribute; SciPy asks by one what they are."""
    asking = str(sys._getframe(2).f_globals.get("__name__"))
    if name == "matvec" and asking.startswith("scipy."):
        return ConversionError(
            "scipy.sparse.linalg takes matrices of plain numbers, and the elements of this one are "
            "a handle; write the function of that name in tape_ad.scipy.sparse.linalg, or pass "
            ".toarray().data for the value alone"
        )
    return AttributeError(
        f"{kind} has no {name}, which SciPy's may have; write it with .data, .tocoo().coords or "
        ".toarray()"
    )


class Arithmetic:
    """The operators of a sparse array, which has elements and a pattern.

    A subclass gives `like`, an array of other elements in the same places, `transpose`, `toarray`
    and `in_layout`, an array of any elements in a format.
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that arrays and handles leave operators to it
    format: ClassVar[str]
    is_matrix: ClassVar[bool] = False
    elements: Array
    pattern: Pattern
    shape: Any
    like: Any
    transpose: Any
    toarray: Any
    in_layout: Any
    operand: Any

    def multiply(self, other: Any) -> Any:
        """Multiply element by element; of another sparse array, where both have one."""
        other = self.operand(other)
        if isinstance(other, Arithmetic):
            match(self, other, "multiply")
            mine, theirs = (
                merged(self.elements, self.pattern),
                merged(other.elements, other.pattern),
            )
            places, i, j = np.intersect1d(mine[1].places(), theirs[1].places(), return_indices=True)
            rows, columns = np.divmod(places, max(self.shape[1], 1))
            return result_like(self, mine[0][i] * theirs[0][j], Pattern(rows, columns, self.shape))
        other = as_array(other)
        if np.ndim(other) == 0:
            return self.like(self.elements * other)
        if np.broadcast_shapes(self.shape, other.shape) != self.shape:
            raise UnsupportedArgumentError(
                f"tape_ad.scipy.sparse: a sparse array of shape {self.shape} does not grow to that "
                f"of an array of shape {other.shape}; write a.toarray()"
            )
        other = np.broadcast_to(other, self.shape)
        here = other[self.pattern.rows, self.pattern.columns]
        return self.in_layout("coo", self.elements * here, self.pattern)

    def power(self, n: Any, dtype: Any = None) -> Any:
        """Raise the elements to a power, which is not 0."""
        if np.any(np.equal(n, 0)):
            raise NotImplementedError("zero power is not supported, as it would densify the array")
        made = self.like(self.elements**n)
        return made if dtype is None else made.astype(dtype)

    def dot(self, other: Any) -> Any:
        """Multiply by a number, a vector or a matrix."""
        return self * other if np.ndim(other) == 0 and not is_sparse(other) else self @ other

    def __matmul__(self, other: Any) -> Any:
        other = self.operand(other)
        if isinstance(other, Arithmetic):
            return product(self, other)
        x = as_array(joined(other))
        if x.ndim == 0 or x.shape[0] != self.shape[1]:
            raise ShapeError(
                f"tape_ad.scipy.sparse: shapes {self.shape} and {x.shape} do not fit for @"
            )
        if x.ndim == 1:
            return self.pattern.times(self.elements, x[:, None])[:, 0]
        return self.pattern.times(self.elements, x)

    def __rmatmul__(self, other: Any) -> Any:
        other = self.operand(other)
        if isinstance(other, Arithmetic):
            return product(other, self)
        x = as_array(joined(other))
        turned = self.transpose()
        return turned @ x if x.ndim == 1 else np.matrix_transpose(turned @ np.matrix_transpose(x))

    def __mul__(self, other: Any) -> Any:
        if self.is_matrix and (np.ndim(other) or is_sparse(other)):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if self.is_matrix and (np.ndim(other) or is_sparse(other)):
            return other @ self
        return self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.sparse: a quotient of sparse arrays is not sparse; write "
                "a.toarray() / b.toarray()"
            )
        return self.multiply(1.0 / as_array(other))

    def __add__(self, other: Any) -> Any:
        other = self.operand(other)
        if isinstance(other, Arithmetic):
            match(self, other, "add")
            data = np.concatenate([self.elements, other.elements])
            pairs = zip(places_of(self), places_of(other), strict=True)
            rows, columns = (np.concatenate(pair) for pair in pairs)
            return result_like(self, *merged(data, Pattern(rows, columns, self.shape)))
        if np.ndim(other) == 0:
            if not takes_over(type(other)) and other == 0:
                return self
            raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")
        return self.toarray() + as_array(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return self.like(-self.elements)

    def __abs__(self) -> Any:
        return self.like(np.abs(self.elements))

    def __pow__(self, n: Any) -> Any:
        if self.is_matrix:
            raise UnsupportedArgumentError(
                "tape_ad.scipy.sparse: write tape_ad.scipy.sparse.linalg.matrix_power(a, n) for a "
                "power of a matrix"
            )
        return self.power(n)


def is_sparse(a: Any) -> bool:
    """Tell whether something is a sparse array, of ours or SciPy's."""
    return isinstance(a, Arithmetic) or scipy.sparse.issparse(a)


def places_of(a: Arithmetic) -> tuple[Array, Array]:
    """Give the rows and columns of the elements."""
    return a.pattern.rows, a.pattern.columns


def result_like(a: Arithmetic, elements: Array, pattern: Pattern) -> Any:
    """Make what arithmetic gives, which SciPy has in compressed rows or columns."""
    return a.in_layout(a.format if a.format in ("bsr", "csc", "csr") else "csr", elements, pattern)


def match(a: Arithmetic, b: Arithmetic, what: str) -> None:
    """Refuse arrays of two shapes.

    Raises
    ------
    ShapeError
    """
    if a.shape != b.shape:
        raise ShapeError(
            f"tape_ad.scipy.sparse: {what} takes arrays of one shape, got {a.shape} and {b.shape}"
        )


def product(a: Arithmetic, b: Arithmetic) -> Any:
    """Multiply two sparse arrays, of each pair of elements that meet."""
    if a.shape[1] != b.shape[0]:
        raise ShapeError(f"tape_ad.scipy.sparse: shapes {a.shape} and {b.shape} do not fit for @")
    counts = np.bincount(b.pattern.rows, minlength=b.shape[0])
    starts = np.cumsum(counts) - counts
    partners = counts[a.pattern.columns]
    left = np.repeat(np.arange(len(a.pattern.rows)), partners)
    within = np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
    order = np.argsort(b.pattern.rows, kind="stable")
    right = order[starts[a.pattern.columns[left]] + within]
    shape = (a.shape[0], b.shape[1])
    pattern = Pattern(a.pattern.rows[left], b.pattern.columns[right], shape)
    return result_like(a, *merged(a.elements[left] * b.elements[right], pattern))

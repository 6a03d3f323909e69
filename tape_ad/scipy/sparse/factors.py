"""Factors of sparse matrices that are kept, to solve with them again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from attrs import define

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, Shape
from tape_ad.extend.maps import PlainMap
from tape_ad.extend.patterns import Pattern, by_columns, reads
from tape_ad.extend.rules import Entry, overridable, rule, takes_over
from tape_ad.scipy.linalg.systems import in_columns
from tape_ad.scipy.sparse.systems import joined, sparse_parts, sparse_solved

__all__ = ["SPARSE_FACTORS", "Factors", "factorized", "solved_by_factors", "spilu", "splu"]


@define(eq=False, repr=False)
class Solved(PlainMap):
    """The solution by factors that are kept, in the right-hand side."""

    factors: Any
    trans: str
    vector: bool

    @reads("vector")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that each column of the solution depends on one of the right-hand side."""
        return by_columns(parent, node, vector=self.vector)

    def forward(self, t: Array) -> Array:
        return self._solve(t, self.trans)

    def backward(self, ct: Array) -> Array:
        if self.trans == "T":  # whose adjoint is the conjugate of the matrix
            return self._solve(ct.conjugate(), "N").conjugate()
        return self._solve(ct, {"N": "H", "H": "N"}[self.trans])

    def _solve(self, b: Array, trans: str) -> Array:
        columns = b[..., None] if self.vector else b
        dtype = np.result_type(columns, self.factors.L.dtype)
        if dtype.kind == "c" and self.factors.L.dtype.kind != "c":  # SuperLU takes one dtype
            return self._solve(b.real, trans) + 1j * self._solve(b.imag, trans)
        solved = in_columns(
            lambda each: self.factors.solve(np.ascontiguousarray(each.astype(dtype)), trans),
            2,
            columns,
        )
        return solved[..., 0] if self.vector else solved


@overridable
def solved_by_factors(b: Array, factors: Any, trans: str) -> Array:
    """Solve by the factors that SuperLU keeps.

    Parameters
    ----------
    b : array or Tensor, shape (n,) or (n, k)
    factors : SuperLU
    trans : {"N", "T", "H"}

    Returns
    -------
    array or Tensor, shape of `b`
    """
    return factors.solve(b, trans)


@define(eq=False, repr=False)
class Factors:
    """The factors of a sparse matrix, as `scipy.sparse.linalg.splu` gives them.

    Attributes
    ----------
    lu : SuperLU
        SciPy's; its attributes are here too.
    data, pattern
        The matrix, where its elements are a handle.
    """

    lu: Any
    data: Array
    pattern: Any

    def solve(self, rhs: Array, trans: str = "N") -> Array:
        """Solve with the matrix, its transpose "T" or its adjoint "H".

        Parameters
        ----------
        rhs : array or Tensor, shape (n,) or (n, k)
        trans : {"N", "T", "H"}

        Returns
        -------
        array or Tensor, shape of `rhs`
        """
        if not takes_over(type(self.data)):
            return solved_by_factors(joined(rhs), self.lu, trans)
        data = self.data.conjugate() if trans == "H" else self.data
        pattern = self.pattern if trans == "N" else self.pattern.transposed()
        return sparse_solved(data, joined(rhs), pattern)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "lu"), name)


def splu(A: Any, **options: Any) -> Factors:  # noqa: N803 - SciPy's name
    """Factorise a sparse matrix, as `scipy.sparse.linalg.splu` does, to solve with it again.

    Parameters
    ----------
    A : sparse array, or tuple of data, indices and starts of rows, shape (n, n)
        Where its elements are a handle, each solution factorises again.
    options
        Passed on to SciPy.

    Returns
    -------
    Factors

    Examples
    --------
    >>> splu(scipy.sparse.csc_array([[2.0, 0.0], [0.0, 4.0]])).solve(np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    data, pattern = sparse_parts("splu", A)
    if takes_over(type(data)):
        return Factors(None, data, pattern)
    matrix = A.tocsc() if scipy.sparse.issparse(A) else pattern.matrix(data)
    return Factors(scipy.sparse.linalg.splu(matrix, **options), data, pattern)


def spilu(A: Any, **options: Any) -> Factors:  # noqa: N803 - SciPy's name
    """Factorise a constant sparse matrix in part, as `scipy.sparse.linalg.spilu` does.

    Parameters
    ----------
    A : sparse matrix, shape (n, n)
    options
        Passed on to SciPy.

    Returns
    -------
    Factors
        Whose `solve` takes handles.

    Raises
    ------
    UnsupportedArgumentError
        Where the matrix holds a handle, for what is left out is chosen by sizes.

    Examples
    --------
    >>> spilu(scipy.sparse.csc_array([[2.0, 0.0], [0.0, 4.0]])).solve(np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    data, pattern = sparse_parts("spilu", A)
    if takes_over(type(data)):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.sparse.linalg.spilu: an incomplete factorisation has no derivative by "
            "its matrix; use splu, or the matrix of .data"
        )
    matrix = A.tocsc() if scipy.sparse.issparse(A) else pattern.matrix(data)
    return Factors(scipy.sparse.linalg.spilu(matrix, **options), data, pattern)


def factorized(A: Any) -> Callable[[Array], Array]:  # noqa: N803 - SciPy's name
    """Give a function that solves with a sparse matrix, as `scipy.sparse.linalg.factorized` does.

    Parameters
    ----------
    A : sparse array, or tuple of data, indices and starts of rows, shape (n, n)

    Returns
    -------
    callable

    Examples
    --------
    >>> factorized(scipy.sparse.csc_array([[2.0, 0.0], [0.0, 4.0]]))(np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    return splu(A).solve


SPARSE_FACTORS: dict[Any, Entry] = {
    solved_by_factors: rule(
        lambda out, b, factors, trans: Solved(factors, trans, b.ndim == 1),
        signature=lambda b, factors, trans: ((b,), {"factors": factors, "trans": trans}),
    ),
}

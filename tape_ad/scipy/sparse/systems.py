"""Equations with sparse matrices, solved directly or with factors that are kept."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from attrs import define, frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, Shape, as_array, holds, joined
from tape_ad.extend.maps import PlainMap, adjoint
from tape_ad.extend.patterns import Pattern as Entries
from tape_ad.extend.patterns import by_columns, reads
from tape_ad.extend.rules import Entry, arguments_of, overridable, rule, takes_over
from tape_ad.scipy.linalg.systems import in_columns, outer, solving
from tape_ad.scipy.sparse.arrays import Pattern, pattern_of

__all__ = [
    "SPARSE_FACTORS",
    "SPARSE_SYSTEMS",
    "factorized",
    "spilu",
    "splu",
    "spsolve",
    "spsolve_triangular",
]

Solver = Callable[..., Any]


# Where a matrix is from


@frozen(eq=False)
class Dense:
    """Stands for the `Pattern` of a dense matrix, every element of which is there."""

    def transposed(self) -> Self:
        """Give that of the transpose."""
        return self

    def matrix(self, data: Array) -> Any:
        """Return the matrix, which is the data itself."""
        return data

    def times(self, data: Array, x: Array) -> Array:
        """Multiply."""
        return np.matmul(data, x)

    def gradient(self, g: Array, x: Array) -> Array:
        """Compute the gradient of <g, A x>."""
        return outer(g, x)


@define(eq=False, repr=False)
class Sparse:
    """The system of a matrix given by its elements.

    Parameters
    ----------
    data : array, shape (nnz,) or (n, n)
    pattern : Pattern or Dense
    solver : callable
        ``solver(data, b, pattern)``, for matrices b of right-hand sides.
    """

    data: Array
    pattern: Any
    solver: Solver

    def solve(self, b: Array) -> Array:
        """Solve."""
        return in_columns(lambda each: self.solver(self.data, each, self.pattern), 2, b)

    def adjoint(self) -> Self:
        """Give the system of the adjoint."""
        if isinstance(self.pattern, Dense):
            return type(self)(adjoint(self.data), self.pattern, self.solver)
        return type(self)(self.data.conjugate(), self.pattern.transposed(), self.solver)

    def times(self, t: Array, x: Array) -> Array:
        """Multiply by a change of the matrix."""
        return self.pattern.times(t, x)

    def gradient(self, g: Array, x: Array) -> Array:
        """Compute the gradient by the elements."""
        return self.pattern.gradient(g, x)


# Direct solution


@overridable
def sparse_solved(
    data: Array, b: Array, pattern: Pattern, *, triangular: tuple[bool, bool] | None = None
) -> Array:
    """Solve equations with a sparse matrix.

    Parameters
    ----------
    data : array or Tensor, shape (nnz,)
    b : array or Tensor, shape (n,) or (n, k)
    pattern : Pattern
    triangular : tuple of bool, optional
        Of a triangular matrix, whether it is the lower one, and whether its diagonal counts as 1.

    Returns
    -------
    array or Tensor, shape of `b`
    """
    if b.size == 0:
        return np.zeros(b.shape, np.result_type(data, b, np.float64))
    matrix = pattern.matrix(data)
    if triangular is not None:
        lower, unit = triangular
        return scipy.sparse.linalg.spsolve_triangular(
            matrix.tocsr(), b, lower=lower, unit_diagonal=unit
        )
    solved = scipy.sparse.linalg.spsolve(matrix, b)
    return solved.reshape(b.shape)


@define(eq=False, repr=False)
class Triangular(Sparse):
    """The system of a sparse triangular matrix; of one with ones, the diagonal is not read."""

    lower: bool
    unit: bool

    def solve(self, b: Array) -> Array:
        given = (self.lower, self.unit)
        return in_columns(
            lambda each: sparse_solved(self.data, each, self.pattern, triangular=given), 2, b
        )

    def adjoint(self) -> Self:
        pattern = self.pattern.transposed()
        made = (self.data.conjugate(), pattern, self.solver, not self.lower, self.unit)
        return type(self)(*made)

    def times(self, t: Array, x: Array) -> Array:
        return Sparse.times(self, self._read(t), x)

    def gradient(self, g: Array, x: Array) -> Array:
        return self._read(Sparse.gradient(self, g, x))

    def _read(self, t: Array) -> Array:
        if not self.unit:
            return t
        return np.where(self.pattern.rows == self.pattern.columns, 0, t)


def system_of(data: Array, pattern: Pattern, triangular: tuple[bool, bool] | None) -> Any:
    """Make the system of a matrix."""
    if triangular is None:
        return Sparse(data, pattern, sparse_solved)
    return Triangular(data, pattern, sparse_solved, *triangular)


def spsolve(A: Any, b: Array, permc_spec: str | None = None, use_umfpack: bool = True) -> Array:
    """Solve ``A @ x = b`` for a sparse matrix, as `scipy.sparse.linalg.spsolve` does.

    Parameters
    ----------
    A : sparse array, or tuple of data, indices and starts of rows, shape (n, n)
        The data may be a handle; its gradient is by the elements that there are.
    b : array or Tensor, shape (n,) or (n, k)
    permc_spec, use_umfpack
        Passed on to SciPy where nothing is a handle.

    Returns
    -------
    array or Tensor, shape of `b`, but (n,) for (n, 1)

    Examples
    --------
    >>> spsolve((np.array([2.0, 4.0]), np.array([0, 1]), np.array([0, 1, 2])), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    if scipy.sparse.issparse(A) and not (takes_over(type(b)) or holds(b)):
        return scipy.sparse.linalg.spsolve(A, b, permc_spec=permc_spec, use_umfpack=use_umfpack)
    data, pattern = sparse_parts("spsolve", A)
    b = as_array(joined(b))
    b = b[:, 0] if b.ndim == 2 and b.shape[1] == 1 else b
    return sparse_solved(data, b, pattern)


def spsolve_triangular(A: Any, b: Array, lower: bool = True, *more: Any, **options: Any) -> Array:
    """Solve ``A @ x = b`` for a sparse triangular matrix, as SciPy's function does.

    Parameters
    ----------
    A : sparse array, or tuple of data, indices and starts of rows, shape (n, n)
    b : array or Tensor, shape (n,) or (n, k)
    lower : bool
    *more, **options
        SciPy's `unit_diagonal`, and others that are passed on where nothing is a handle.

    Returns
    -------
    array or Tensor, shape of `b`

    Examples
    --------
    >>> a = scipy.sparse.csr_array([[2.0, 0.0], [1.0, 4.0]])
    >>> spsolve_triangular(a, np.array([2.0, 5.0]))
    array([1., 1.])
    """
    if scipy.sparse.issparse(A) and not (takes_over(type(b)) or holds(b)):
        return scipy.sparse.linalg.spsolve_triangular(A, b, lower, *more, **options)
    data, pattern = sparse_parts("spsolve_triangular", A)
    unit = bool(more[2] if len(more) > 2 else options.get("unit_diagonal", False))
    return sparse_solved(data, as_array(joined(b)), pattern, triangular=(bool(lower), unit))


def sparse_parts(name: str, a: Any) -> tuple[Array, Pattern]:
    """Take a sparse matrix apart.

    Raises
    ------
    UnsupportedArgumentError
    """
    parts = pattern_of(a)
    if parts is None:
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.sparse.linalg.{name}: takes a sparse matrix, got {type(a).__name__}; "
            "write tape_ad.scipy.sparse.csr_array((data, indices, indptr), shape) for one whose "
            "elements are a handle, or np.linalg.solve for a dense one"
        )
    return parts


SPARSE_SYSTEMS: dict[Any, Entry] = {
    sparse_solved: rule(*solving(system_of), signature=arguments_of(sparse_solved, "data b"))
}


@define(eq=False, repr=False)
class Solved(PlainMap):
    """The solution by factors that are kept, in the right-hand side."""

    factors: Any
    trans: str
    vector: bool

    @reads("vector")
    def pattern(self, parent: Shape, node: Shape) -> Entries:
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
            return solved_by_factors(as_array(joined(rhs)), self.lu, trans)
        data = self.data.conjugate() if trans == "H" else self.data
        pattern = self.pattern if trans == "N" else self.pattern.transposed()
        return sparse_solved(data, as_array(joined(rhs)), pattern)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "lu"), name)


def splu(A: Any, **options: Any) -> Factors:
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


def spilu(A: Any, **options: Any) -> Factors:
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


def factorized(A: Any) -> Callable[[Array], Array]:
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
        signature=arguments_of(solved_by_factors, "b"),
    )
}

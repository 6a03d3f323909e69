"""Equations solved by iteration, and exponentials times vectors; see `systems`.

A derivative is solved for as the value is, with the adjoint matrix for a pull, and so it is as
exact as the tolerance that was asked for.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from attrs import define, frozen

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, Shape, as_array, joined, refuse_handles
from tape_ad.extend.maps import PlainMap
from tape_ad.extend.patterns import Pattern, by_batch, reads
from tape_ad.extend.rules import Entry, arguments_of, outputs, overridable, rule, takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.functions import expm
from tape_ad.scipy.linalg.systems import Coefficients, RightHandSide, in_columns
from tape_ad.scipy.sparse.arrays import SparseArray, pattern_of
from tape_ad.scipy.sparse.systems import Dense, Sparse, sparse_solved

__all__ = ["ITERATIONS", "SOLVERS", "expm_multiply"]

Solver = Callable[..., Any]


SYMMETRIC = ("cg", "minres")
"""The solvers of matrices that are their own adjoint."""


@overridable
def iterated(data: Array, b: Array, pattern: Any, name: str, options: Any) -> Any:
    """Solve equations by one of SciPy's iterations.

    Parameters
    ----------
    data : array or Tensor, shape (nnz,) or (n, n); or () for an operator
    b : array or Tensor, shape (n,)
    pattern : Pattern, Dense or Operator
    name : str
    options : dict

    Returns
    -------
    x : array or Tensor, shape (n,)
    info : array of int, shape ()
    """
    solver = getattr(scipy.sparse.linalg, name)
    x, info = solver(pattern.matrix(data), b, **options)
    return x, np.array(info)


@frozen(eq=False)
class Operator:
    """Stands for the `Pattern` of an operator, which has no elements."""

    operator: Any

    def transposed(self) -> "Operator":
        """Give that of the adjoint."""
        return Operator(self.operator.H)

    def matrix(self, data: Array) -> Any:
        """Return the operator itself, which takes the place of a matrix."""
        return self.operator


@define(eq=False, repr=False)
class Iterated(Sparse):
    """The system of an equation that is solved by iteration; each column is, on its own."""

    name: str
    options: Any

    def solve(self, b: Array) -> Array:
        stack, (n, k) = b.shape[:-2], b.shape[-2:]
        columns = np.moveaxis(b, -2, -1).reshape((-1, n))
        made = [self._one(columns[i]) for i in range(columns.shape[0])]
        if not made:
            return np.zeros(b.shape, b.dtype)
        return np.moveaxis(np.stack(made).reshape((*stack, k, n)), -1, -2)

    def _one(self, b: Array) -> Array:
        x, info = iterated(self.data, b, self.pattern, self.name, self.options)
        if info == 0 and np.all(np.isfinite(x)):
            return x
        # Most of these break down for some right-hand sides, such as those with zeros in them
        kept = {key: each for key, each in self.options.items() if key in ("rtol", "atol", "M")}
        x, info = iterated(self.data, b, self.pattern, "gmres", kept)
        if info != 0 and not self._exact(x, b):
            raise np.linalg.LinAlgError(
                f"tape_ad.scipy.sparse.linalg.{self.name}: the equations for the derivative were "
                "not solved to the tolerance, nor by gmres; give it a preconditioner M= or a "
                "larger rtol="
            )
        return x

    def _exact(self, x: Array, b: Array) -> bool:
        """Tell whether a residual is nothing but rounding, for a tolerance may be below that."""
        if isinstance(self.pattern, Operator):
            return False
        left = np.abs(b - self.times(self.data, x[:, None])[:, 0])
        return bool(np.all(left <= 1000 * np.finfo(left.dtype).eps * np.max(np.abs(b))))

    def adjoint(self) -> Self:
        if self.name in SYMMETRIC:
            return self
        options = dict(self.options)
        if options.get("M") is not None:
            options["M"] = options["M"].conj().T
        if "M1" in options and (options["M1"] is not None or options["M2"] is not None):
            raise UnsupportedArgumentError(
                f"tape_ad.scipy.sparse.linalg.{self.name}: M1= and M2= have no adjoint here; leave "
                "them out"
            )
        if isinstance(self.pattern, Operator):
            return type(self)(self.data, self.pattern.transposed(), self.solver, self.name, options)
        plain = Sparse(self.data, self.pattern, self.solver).adjoint()
        return type(self)(plain.data, plain.pattern, self.solver, self.name, options)


def started_afresh(data: Array, pattern: Any, name: str, options: Any) -> Iterated:
    """Make the system that a derivative is solved with: nobody watches, and no start is known."""
    kept = {key: value for key, value in options.items() if key not in ("x0", "callback")}
    return Iterated(data, pattern, sparse_solved, name, kept)


def iterated_in_data(
    output: int, outs: Any, data: Array, b: Array, pattern: Any, name: str, options: Any
) -> Any:
    """Make the partial by the elements of the matrix."""
    if output or isinstance(pattern, Operator):
        return None
    return Coefficients(started_afresh(data, pattern, name, options), outs[0], vector=True)


def iterated_in_right(
    output: int, outs: Any, data: Array, b: Array, pattern: Any, name: str, options: Any
) -> Any:
    """Make the partial by the right-hand side."""
    if output:
        return None
    return RightHandSide(started_afresh(data, pattern, name, options), vector=True)


def matrix_of(operator: Any) -> Any:
    """Give the matrix of an operator that holds handles, and any other operator as it is."""
    matrix = operator.matmat(np.eye(operator.shape[1]))
    return matrix if takes_over(type(matrix)) else operator


def iteration(name: str) -> Solver:
    """Make the function that stands for one of SciPy's iterations."""
    solver = getattr(scipy.sparse.linalg, name)

    def public(A: Any, b: Array, *args: Any, **options: Any) -> Any:
        """Solve ``A @ x = b`` by iteration, as `scipy.sparse.linalg.{name}` does.

        Parameters
        ----------
        A : matrix, sparse or dense, of ours or SciPy's, LinearOperator, or Tensor, shape (n, n)
            Of an operator that holds handles the whole matrix is made.
        b : array or Tensor, shape (n,)
        options
            As in SciPy. A derivative is solved for with the same ones, and so has the same
            tolerance.

        Returns
        -------
        x : array or Tensor, shape (n,)
        info : int
        """
        if args:  # which is allowed of x0 alone
            options["x0"] = args[0]
        if isinstance(A, differentiable(scipy.sparse.linalg.LinearOperator)):
            A = matrix_of(A)
        given = (A, getattr(A, "data", None), joined(b), *options.values())
        ours = isinstance(A, (tuple, SparseArray)) or any(takes_over(type(each)) for each in given)
        if not ours:
            return solver(A, b, **options)
        data: Any = np.zeros(())
        parts: Any = pattern_of(A)
        if parts is None and isinstance(A, scipy.sparse.linalg.LinearOperator):
            parts = data, Operator(A)
        data, pattern = parts or (as_array(joined(A)), Dense())
        refuse_handles(f"tape_ad.scipy.sparse.linalg.{name}", options)
        b = as_array(joined(b))
        x, info = iterated(data, b.reshape(-1), pattern, name, options)
        return x, int(info)

    public.__name__ = public.__qualname__ = name
    public.__module__ = "tape_ad.scipy.sparse.linalg"
    public.__doc__ = (public.__doc__ or "").format(name=name)
    return public


NAMES = "bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr"

SOLVERS: dict[str, Solver] = {name: iteration(name) for name in NAMES}


# The exponential


@define(eq=False, repr=False)
class Exponential(PlainMap):
    """The exponentials of multiples of a matrix, times a vector or a matrix.

    Parameters
    ----------
    matrix : sparse or dense matrix
    times : array or None
        What the matrix is multiplied by, for a result for each; None for one, of the matrix.
    vector : bool
    """

    matrix: Any
    times: Any
    vector: bool

    @reads("times", "vector")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that each vector has exponentials of its own."""
        axes = (1, 1) if self.vector else (2, 2)
        times = 0 if self.times is None else 1
        return by_batch(parent, node, axes[0], axes[1] + times)

    def forward(self, t: Array) -> Array:
        if self.times is None:
            return self._times(self.matrix, t)
        parts = [self._times(self.matrix * time, t) for time in self.times]
        return np.stack(parts, axis=-2 if self.vector else -3)

    def backward(self, ct: Array) -> Array:
        back = self.matrix.conj().T
        if self.times is None:
            return self._times(back, ct)
        axis = -2 if self.vector else -3
        parts = [
            self._times(back * time, np.take(ct, i, axis=axis)) for i, time in enumerate(self.times)
        ]
        return np.add.reduce(np.stack(parts), axis=0)

    def _times(self, matrix: Any, x: Array) -> Array:
        columns = x[..., None] if self.vector else x
        made = in_columns(lambda each: scipy.sparse.linalg.expm_multiply(matrix, each), 2, columns)
        return made[..., 0] if self.vector else made


@overridable
def exponential_times(b: Array, matrix: Any, options: Any) -> Array:
    """Compute `expm_multiply` of a constant matrix.

    Parameters
    ----------
    b : array or Tensor, shape (n,) or (n, k)
    matrix : sparse or dense matrix
    options : dict

    Returns
    -------
    array or Tensor, shape of `b`, or a stack of such
    """
    return scipy.sparse.linalg.expm_multiply(matrix, b, **options)


def times_of(options: Any) -> Any:
    """Give the times that a matrix is multiplied by, or None where it is not."""
    start, stop, num = (options.get(key) for key in ("start", "stop", "num"))
    if start is None:
        return None
    given = {} if num is None else {"num": num}
    ends = options.get("endpoint")
    return np.linspace(start, stop, endpoint=True if ends is None else ends, **given)


def expm_multiply(A: Any, B: Array, *more: Any, **options: Any) -> Array:
    """Multiply by the exponential of a matrix, as `scipy.sparse.linalg.expm_multiply` does.

    Parameters
    ----------
    A : matrix, sparse or dense, of ours or SciPy's, or Tensor, shape (n, n)
        With handles in it, its exponential is computed as a dense matrix.
    B : array or Tensor, shape (n,) or (n, k)
    *more, **options
        SciPy's `start`, `stop`, `num`, `endpoint` and `traceA`; constants.

    Returns
    -------
    array or Tensor, shape of `B`, or a stack of such

    Examples
    --------
    >>> expm_multiply(scipy.sparse.csr_array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0]))
    array([3., 2.])
    """
    names = ("start", "stop", "num", "endpoint", "traceA")
    given = {**dict(zip(names[: len(more)], more, strict=True)), **options}
    for name, value in given.items():
        if takes_over(type(value)):
            raise UnsupportedArgumentError(
                f"tape_ad.scipy.sparse.linalg.expm_multiply: there is no derivative by {name}=; "
                "write tape_ad.scipy.linalg.expm(A * time) @ B for one by a time"
            )
    matrix = A.toarray() if isinstance(A, SparseArray) else as_array(joined(A))
    if not takes_over(type(matrix)):
        return exponential_times(
            as_array(joined(B)), A if scipy.sparse.issparse(A) else matrix, given
        )
    times = times_of(given)
    if times is None:
        return expm(matrix) @ as_array(joined(B))
    return np.stack([expm(matrix * time) @ as_array(joined(B)) for time in times])


ITERATIONS: dict[Any, Entry] = {
    iterated: outputs(
        iterated_in_data, iterated_in_right, signature=arguments_of(iterated, "data b")
    ),
    exponential_times: rule(
        lambda out, b, matrix, options: Exponential(matrix, times_of(options), b.ndim == 1),
        signature=arguments_of(exponential_times, "b"),
    ),
}

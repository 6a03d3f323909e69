"""Solving with triangles and with Cholesky factors; see `systems`."""

from typing import Any, ClassVar, Self

import numpy as np
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.maps import adjoint
from tape_ad.extend.rules import Call, Derivation, Entry, arguments_of, rule
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.installed import asked, scipy
from tape_ad.scipy.linalg.systems import (
    ADJOINT,
    TRANS,
    Coefficients,
    RightHandSide,
    in_columns,
    outer,
    triangle,
)

__all__ = [
    "SOLVERS",
    "cho_factor",
    "cho_solve",
    "cholesky_solve",
    "solve_triangular",
]


# Triangles


@takes_lists
def solve_triangular(
    a: Array,
    b: Array,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve ``a @ x = b`` for a triangular `a`, as `scipy.linalg.solve_triangular` does.

    Parameters
    ----------
    a : array or Tensor, shape (n, n)
        Only one triangle of it is read.
    b : array or Tensor, shape (n,) or (n, k)
    trans : {0, 1, 2, "N", "T", "C"}
        Solve with `a`, with its transpose, or with the conjugate of that.
    lower : bool
        Whether the lower triangle is read, and not the upper one.
    unit_diagonal : bool
        Whether the diagonal is taken to be 1, and not read.
    overwrite_b, check_finite : bool
        As in SciPy; a handle is never overwritten.

    Returns
    -------
    array or Tensor, shape of `b`

    Examples
    --------
    >>> solve_triangular(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([2.0, 4.0]))
    array([0.5, 1. ])
    """
    return scipy.linalg.solve_triangular(
        a,
        b,
        trans=trans,
        lower=lower,
        unit_diagonal=unit_diagonal,
        overwrite_b=overwrite_b,
        check_finite=check_finite,
    )


@define(eq=False, repr=False)
class Triangle:
    """The system of one triangle of an array."""

    a: Array
    trans: str
    lower: bool
    unit_diagonal: bool

    def solve(self, b: Array) -> Array:
        return in_columns(
            lambda columns: solve_triangular(
                self.a,
                columns,
                self.trans,
                lower=self.lower,
                unit_diagonal=self.unit_diagonal,
                check_finite=False,
            ),
            self.a.ndim,
            b,
        )

    def adjoint(self) -> Self:
        if self.trans == "T":
            return type(self)(self.a.conjugate(), "N", self.lower, self.unit_diagonal)
        return type(self)(self.a, ADJOINT[self.trans], self.lower, self.unit_diagonal)

    def times(self, t: Array, x: Array) -> Array:
        return np.matmul(self._read(t), x)

    def adjoint_times(self, t: Array, x: Array) -> Array:
        return np.matmul(adjoint(self._read(t)), x)

    def gradient(self, g: Array, x: Array) -> Array:
        return self._read(outer(g, x))

    def _read(self, a: Array) -> Array:
        mask = triangle(a.shape[-1], lower=self.lower, unit_diagonal=self.unit_diagonal)
        return np.where(mask, a, 0)


def triangular_signature(
    a: Array,
    b: Array,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Call:
    """Sort the arguments of `solve_triangular`."""
    options = {"lower": lower, "unit_diagonal": unit_diagonal, "check_finite": check_finite}
    return (a, b), {"trans": TRANS[trans], **options}


# Cholesky


@takes_lists
def cho_factor(
    a: Array, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Factorise a Hermitian positive definite matrix for `cho_solve`, as SciPy does.

    Parameters
    ----------
    a : array or Tensor, shape (n, n)
        Only one triangle of it is read, and so only that one has a gradient.
    lower : bool
        Which triangle that is, and which one the factor stands in.
    overwrite_a, check_finite : bool
        As in SciPy; a handle is never overwritten.

    Returns
    -------
    c : array or Tensor, shape (n, n)
        The factor, and in the other triangle what SciPy leaves there: of `a` before 1.18, then 0.
    lower : bool

    Examples
    --------
    >>> c, lower = cho_factor(np.array([[4.0, 2.0], [2.0, 2.0]]))
    >>> np.triu(c), bool(lower)
    (array([[2., 1.], [0., 1.]]), False)
    """
    factor: tuple[Array, bool] = scipy.linalg.cho_factor(
        a, lower=lower, overwrite_a=overwrite_a, check_finite=check_finite
    )
    return factor


LEAVES = bool(asked(lambda: scipy.linalg.cho_factor(np.array([[1.0, 0.0], [0.5, 1.0]]))[0][1, 0]))
"""Whether the other triangle keeps what the matrix has there, as it does before SciPy 1.18."""


def cholesky_of_handle(
    a: Array, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Factorise as `numpy.linalg.cholesky`, which has a rule."""
    if check_finite and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    a = a if a.ndim > 1 else np.atleast_2d(a)
    a = a.astype(np.float32) if a.dtype == np.float16 else a
    factor = np.linalg.cholesky(a, upper=not lower)
    if LEAVES:
        factor = np.where(triangle(a.shape[-1], lower=bool(lower)), factor, a)
    return factor, bool(lower)


def cho_solve(
    c_and_lower: tuple[Array, bool],
    b: Array,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve ``a @ x = b`` given the Cholesky factor of `a`, as `scipy.linalg.cho_solve` does.

    Parameters
    ----------
    c_and_lower : tuple of array or Tensor, shape (n, n), and bool
        What `cho_factor` returns.
    b : array or Tensor, shape (n,) or (n, k)
    overwrite_b, check_finite : bool
        As in SciPy; a handle is never overwritten.

    Returns
    -------
    array or Tensor, shape of `b`

    Examples
    --------
    >>> cho_solve(cho_factor(np.array([[4.0, 2.0], [2.0, 2.0]])), np.array([6.0, 4.0]))
    array([1., 1.])
    """
    c, lower = c_and_lower
    return cholesky_solve(c, b, bool(lower), overwrite_b, check_finite)


@takes_lists
def cholesky_solve(
    c: Array, b: Array, lower: bool, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve with a Cholesky factor that is an argument of its own."""
    return scipy.linalg.cho_solve((c, lower), b, overwrite_b=overwrite_b, check_finite=check_finite)


@define(eq=False, repr=False)
class Cholesky:
    """The system of a matrix L L^H or U^H U of which an array holds the triangle."""

    trans: ClassVar[str] = "N"
    c: Array
    lower: bool

    def solve(self, b: Array) -> Array:
        return in_columns(
            lambda columns: cholesky_solve(self.c, columns, self.lower, check_finite=False),
            self.c.ndim,
            b,
        )

    def adjoint(self) -> Self:
        return self

    def times(self, t: Array, x: Array) -> Array:
        factor, change = self._read(self.c), self._read(t)
        if self.lower:
            factor, change = adjoint(factor), adjoint(change)
        one = np.matmul(adjoint(change), np.matmul(factor, x))
        return one + np.matmul(adjoint(factor), np.matmul(change, x))

    def adjoint_times(self, t: Array, x: Array) -> Array:
        return self.times(t, x)

    def gradient(self, g: Array, x: Array) -> Array:
        factor = self._read(self.c)
        if self.lower:
            factor = adjoint(factor)
            total = outer(g, np.matmul(factor, x)) + outer(x, np.matmul(factor, g))
        else:
            total = outer(np.matmul(factor, x), g) + outer(np.matmul(factor, g), x)
        return self._read(total)

    def _read(self, a: Array) -> Array:
        return np.where(triangle(a.shape[-1], lower=self.lower), a, 0)


SOLVERS: dict[Any, Entry] = {
    solve_triangular: rule(
        lambda out, a, b, trans, lower, unit_diagonal, **options: Coefficients(
            Triangle(a, trans, lower, unit_diagonal), out, b.ndim == 1
        ),
        lambda out, a, b, trans, lower, unit_diagonal, **options: RightHandSide(
            Triangle(a, trans, lower, unit_diagonal), b.ndim == 1
        ),
        signature=triangular_signature,
        facts=facts.cores("(n,n),(n,k?)->(n,k?)"),
    ),
    cho_factor: Derivation(cholesky_of_handle),
    cholesky_solve: rule(
        lambda out, c, b, lower, **options: Coefficients(Cholesky(c, lower), out, b.ndim == 1),
        lambda out, c, b, lower, **options: RightHandSide(Cholesky(c, lower), b.ndim == 1),
        signature=arguments_of(cholesky_solve, "c b", "lower check_finite", ignored="overwrite_b"),
        facts=facts.cores("(n,n),(n,k?)->(n,k?)"),
    ),
}

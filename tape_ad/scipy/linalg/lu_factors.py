"""LU factors as SciPy packs them, of which those of a matrix are made, and systems with them."""

import functools
from typing import Any, ClassVar, Self

import numpy as np
from attrs import define

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, whole
from tape_ad.extend.maps import LinearMap, adjoint
from tape_ad.extend.patterns import batched
from tape_ad.extend.rules import Call, Entry, outputs, rule
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.systems import (
    ADJOINT,
    TRANS,
    Coefficients,
    RightHandSide,
    in_columns,
    outer,
    solve_triangular,
    triangle,
)

__all__ = ["LU", "lu_factor", "lu_factors_solve", "lu_solve"]


@functools.cache
def takes_stacks() -> bool:
    """Tell whether the installed SciPy factorises stacks of matrices, as it does from 1.16 on."""
    pivots: Array = scipy.linalg.lu_factor(np.ones((2, 1, 1)))[1]
    return bool(pivots.shape == (2, 1))


def require_stacks(name: str, matrix: Array) -> None:
    """Refuse a stack of matrices where SciPy would take it for one matrix.

    Raises
    ------
    ValueError
    """
    if np.ndim(matrix) > 2 and not takes_stacks():
        raise ValueError(
            f"{name} of this release of SciPy takes one matrix, got shape {np.shape(matrix)}"
        )


@takes_lists
def lu_factor(
    a: Array, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array]:
    """Factorise a matrix for `lu_solve`, as `scipy.linalg.lu_factor` does.

    Parameters
    ----------
    a : array or Tensor, shape (n, n)
    overwrite_a, check_finite : bool
        As in SciPy; a handle is never overwritten.

    Returns
    -------
    lu : array or Tensor, shape (n, n)
        The upper factor, and below its diagonal the lower one, whose own diagonal is 1.
    piv : array of int, shape (n,)
        The row that each row was interchanged with.

    Examples
    --------
    >>> lu, piv = lu_factor(np.array([[1.0, 2.0], [2.0, 2.0]]))
    >>> lu
    array([[2. , 2. ], [0.5, 1. ]])
    """
    require_stacks("lu_factor", a)
    factors: tuple[Array, Array] = scipy.linalg.lu_factor(
        a, overwrite_a=overwrite_a, check_finite=check_finite
    )
    return factors


@define(eq=False, repr=False)
class Factors:
    """The packed LU factors of a matrix, in the matrix.

    From P dA = dL U + L dU, with L^-1 P dA U^-1 = M: dL is L times the strict lower triangle of M,
    and dU is its upper triangle times U.

    Parameters
    ----------
    lu : array, shape (n, n)
    order : array of int, shape (n,)
        Which row of the matrix each row of the product of the factors is.
    """

    broadcasts: ClassVar[bool] = False
    pattern = batched(2, 2)
    lu: Array
    order: Array

    def push(self, t: Array) -> Array:
        self._check()
        m = self._below(t[..., self.order, :], "N")
        m = adjoint(self._above(adjoint(m), "C"))
        below, above = triangles(m.shape[-1])
        low, up = np.where(below, m, 0), np.where(above, m, 0)
        return self._lower(low) + np.matmul(up, np.where(above, self.lu, 0))

    def pull(self, ct: Array) -> Array:
        self._check()
        below, above = triangles(ct.shape[-1])
        low, up = np.where(below, ct, 0), np.where(above, ct, 0)
        by_lower = np.matmul(adjoint(np.where(below, self.lu, 0)), low) + low
        by_upper = np.matmul(up, adjoint(np.where(above, self.lu, 0)))
        m = np.where(below, by_lower, by_upper)
        m = adjoint(self._above(adjoint(m), "N"))
        return self._below(m, "C")[..., np.argsort(self.order), :]

    def _check(self) -> None:
        """Refuse a singular matrix; rounding hides most of them."""
        if np.any(np.equal(np.diagonal(self.lu, axis1=-2, axis2=-1), 0)):
            raise np.linalg.LinAlgError(
                "lu_factor: the matrix is singular, and so its factors have no derivative"
            )

    def _lower(self, x: Array) -> Array:
        """Multiply by the lower triangular factor."""
        return np.matmul(np.where(triangles(x.shape[-1])[0], self.lu, 0), x) + x

    def _below(self, b: Array, trans: str) -> Array:
        """Solve a system with the lower triangular factor."""
        return in_columns(
            lambda columns: solve_triangular(
                self.lu, columns, trans, lower=True, unit_diagonal=True, check_finite=False
            ),
            2,
            b,
        )

    def _above(self, b: Array, trans: str) -> Array:
        """Solve a system with the upper triangular factor."""
        return in_columns(
            lambda columns: solve_triangular(self.lu, columns, trans, check_finite=False), 2, b
        )


def triangles(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Make the masks of where the two factors stand."""
    return triangle(n, lower=True, unit_diagonal=True), triangle(n, lower=False)


@whole
def order_of_rows(piv: Any) -> np.ndarray[Any, Any]:
    """Write interchanges of rows, one after another, as the order that they lead to."""
    order = np.arange(len(piv))
    for i, j in enumerate(piv):
        order[[i, j]] = order[[j, i]]
    return order


def lu_partial(k: int, outs: tuple[Array, Array], a: Array, **options: Any) -> LinearMap:
    """Make the partial of `lu_factor`."""
    return Factors(outs[0], order_of_rows(outs[1]))


def lu_factor_signature(a: Array, overwrite_a: bool = False, check_finite: bool = True) -> Call:
    """Sort the arguments of `lu_factor`."""
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise UnsupportedArgumentError(
            f"lu_factor of a handle takes one square matrix, got shape {a.shape}"
        )
    return (a,), {"check_finite": check_finite}


def lu_solve(
    lu_and_piv: tuple[Array, Array],
    b: Array,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve ``a @ x = b`` given the LU factors of `a`, as `scipy.linalg.lu_solve` does.

    Parameters
    ----------
    lu_and_piv : tuple of array or Tensor, shape (n, n), and array of int, shape (n,)
        What `lu_factor` returns.
    b : array or Tensor, shape (n,) or (n, k)
    trans : {0, 1, 2}
        Solve with `a`, with its transpose, or with the conjugate of that.
    overwrite_b, check_finite : bool
        As in SciPy; a handle is never overwritten.

    Returns
    -------
    array or Tensor, shape of `b`

    Examples
    --------
    >>> lu_solve(lu_factor(np.array([[1.0, 2.0], [2.0, 2.0]])), np.array([3.0, 4.0]))
    array([1., 1.])
    """
    lu, piv = lu_and_piv
    return lu_factors_solve(lu, piv, b, trans, overwrite_b, check_finite)


@takes_lists
def lu_factors_solve(
    lu: Array,
    piv: Array,
    b: Array,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve with LU factors that are arguments of their own."""
    require_stacks("lu_solve", lu)
    return scipy.linalg.lu_solve(
        (lu, piv), b, trans=trans, overwrite_b=overwrite_b, check_finite=check_finite
    )


@define(eq=False, repr=False)
class FactorsSystem:
    """The system of a matrix P^T L U of which an array holds both factors."""

    lu: Array
    piv: Array
    order: Array
    trans: str

    def solve(self, b: Array) -> Array:
        number = "NTC".index(self.trans)
        return in_columns(
            lambda columns: lu_factors_solve(
                self.lu, self.piv, columns, number, check_finite=False
            ),
            2,
            b,
        )

    def adjoint(self) -> Self:
        if self.trans == "T":
            return type(self)(self.lu.conjugate(), self.piv, self.order, "N")
        return type(self)(self.lu, self.piv, self.order, ADJOINT[self.trans])

    def times(self, t: Array, x: Array) -> Array:
        low, up = self._split(t)
        lower, upper = self._factors()
        change = np.matmul(low, np.matmul(upper, x)) + np.matmul(lower, np.matmul(up, x))
        return change[..., np.argsort(self.order), :]

    def adjoint_times(self, t: Array, x: Array) -> Array:
        low, up = self._split(t)
        lower, upper = self._factors()
        x = x[..., self.order, :]
        one = np.matmul(adjoint(upper), np.matmul(adjoint(low), x))
        return one + np.matmul(adjoint(up), np.matmul(adjoint(lower), x))

    def gradient(self, g: Array, x: Array) -> Array:
        lower, upper = self._factors()
        g = g[..., self.order, :]
        below, _ = triangles(self.lu.shape[-1])
        by_lower = outer(g, np.matmul(upper, x))
        return np.where(below, by_lower, outer(np.matmul(adjoint(lower), g), x))

    def _split(self, a: Array) -> tuple[Array, Array]:
        """Tell apart what stands in the places of the two factors."""
        below, above = triangles(a.shape[-1])
        return np.where(below, a, 0), np.where(above, a, 0)

    def _factors(self) -> tuple[Array, Array]:
        """Give both factors, the lower one with its diagonal of 1."""
        low, upper = self._split(self.lu)
        return low + np.eye(low.shape[-1], dtype=low.dtype), upper


def lu_solve_signature(
    lu: Array,
    piv: Array,
    b: Array,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Call:
    """Sort the arguments of `lu_factors_solve`; the interchanges have no derivative."""
    lu = as_array(lu)
    if lu.ndim != 2:
        raise UnsupportedArgumentError(
            f"lu_solve of handles takes the factors of one matrix, got shape {lu.shape}"
        )
    return (lu, b), {"piv": piv, "trans": trans, "check_finite": check_finite}


def system(lu: Array, piv: Array, trans: int) -> FactorsSystem:
    """Make the system of some factors."""
    return FactorsSystem(lu, piv, order_of_rows(piv), TRANS[trans])


LU: dict[Any, Entry] = {
    lu_factor: outputs(lu_partial, signature=lu_factor_signature, facts=facts.cores("(m,n)->...")),
    lu_factors_solve: rule(
        lambda out, lu, b, piv, trans, **options: Coefficients(
            system(lu, piv, trans), out, b.ndim == 1
        ),
        lambda out, lu, b, piv, trans, **options: RightHandSide(
            system(lu, piv, trans), b.ndim == 1
        ),
        signature=lu_solve_signature,
        compute=lambda lu, b, piv, **options: lu_factors_solve(lu, piv, b, **options),
        facts=facts.cores("(n,n),(n),(n,k?)->(n,k?)"),
    ),
}

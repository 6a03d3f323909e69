"""Systems of linear equations ``op(A) x = b`` with a structured A, and their two partials.

With x = op(A)^-1 b, a change of b gives op(A)^-1 db, and a change of A gives -op(A)^-1 op(dA) x
(Giles 2008, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", section 2.3.1). The two maps say this once; a `System` says how an array holds A:
as a triangle, a band, a Cholesky factor, or LU factors.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import scipy.linalg
from attrs import define

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, Shape, as_array, whole
from tape_ad.extend.maps import adjoint
from tape_ad.extend.patterns import Pattern, batched, by_batch, dense, reads
from tape_ad.extend.rules import Call, Derivation, Entry, Maker, arguments_of, outputs, rule
from tape_ad.scipy.counterparts import counterpart, scipy_function, takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import MODULE

__all__ = ["SYSTEMS"]


TRANS = {0: "N", 1: "T", 2: "C", "N": "N", "T": "T", "C": "C"}
"""What SciPy's `trans` means."""

ADJOINT = {"N": "C", "C": "N"}
"""The conjugate transpose of A and of A^H; that of A^T is the conjugate of A."""


class System(Protocol):
    """A matrix op(A): A itself, its transpose or its conjugate transpose, with what holds A.

    Everything but `gradient` is about matrices of right-hand sides, shape (..., n, k).
    """

    def solve(self, b: Array) -> Array:
        """Solve a system: op(A)^-1 b."""

    def adjoint(self) -> Self:
        """Give the system of the conjugate transpose of op(A)."""

    def times(self, t: Array, x: Array) -> Array:
        """Compute op(dA) x for a change `t` of the array that holds A."""

    def gradient(self, g: Array, x: Array) -> Array:
        """Compute the gradient of <g, op(dA) x> with respect to the array that holds A."""


@define(eq=False, repr=False)
class RightHandSide:
    """The solution of a system in its right-hand side."""

    broadcasts: ClassVar[bool] = True
    system: System
    vector: bool

    @reads("vector")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that all of a solution depends on all of its right-hand side, as in Sylvester's."""
        axes = 1 if self.vector else 2
        return by_batch(parent, node, axes, axes)

    def push(self, t: Array) -> Array:
        """Solve with the tangent of the matrix: -op(A)^-1 op(dA) x."""
        if self.vector:
            return self.system.solve(t[..., None])[..., 0]
        return self.system.solve(t)

    def pull(self, ct: Array) -> Array:
        """Solve with the adjoint."""
        if self.vector:
            return self.system.adjoint().solve(ct[..., None])[..., 0]
        return self.system.adjoint().solve(ct)


@define(eq=False, repr=False)
class Coefficients:
    """The solution of a system in the array that holds its matrix.

    Parameters
    ----------
    system : System
    x : array, shape (..., n) or (..., n, k)
        The solution.
    vector : bool
        Whether it is a vector.
    """

    broadcasts: ClassVar[bool] = True
    pattern = dense
    system: System
    x: Array
    vector: bool

    def push(self, t: Array) -> Array:
        """Compute -op(A)^-1 op(dA) x."""
        x = self.x[..., None] if self.vector else self.x
        out = -self.system.solve(self.system.times(t, x))
        return out[..., 0] if self.vector else out

    def pull(self, ct: Array) -> Array:
        """Compute the gradient of <g, op(dA) x> for the g that the adjoint system gives."""
        x = self.x[..., None] if self.vector else self.x
        g = -self.system.adjoint().solve(ct[..., None] if self.vector else ct)
        return self.system.gradient(g, x)


def solving(system: Callable[..., System]) -> tuple[Maker, Maker]:
    """Make the makers by the array that holds a matrix, and by the right-hand side.

    Parameters
    ----------
    system : callable
        ``system(array, **options)``, with the options of the rule.
    """
    return (
        lambda out, a, b, **options: Coefficients(system(a, **options), out, b.ndim == 1),
        lambda out, a, b, **options: RightHandSide(system(a, **options), b.ndim == 1),
    )


def in_columns(solve: Callable[[Array], Array], ndim: int, b: Array) -> Array:
    """Solve with one matrix for a stack of right-hand sides, which become columns.

    Parameters
    ----------
    solve : callable
        Takes shape (n, k).
    ndim : int
        The number of axes of what holds the matrix. Where it is a stack itself, `solve` takes
        the stack as it is.
    b : array, shape stack + (n, k)

    Returns
    -------
    array, shape stack + (n, k)
    """
    stack = b.shape[:-2]
    if ndim > 2 or not stack:
        return solve(b)
    n, k = b.shape[-2:]
    columns = np.moveaxis(b, -2, 0).reshape((n, math.prod(stack) * k))
    return np.moveaxis(solve(columns).reshape((n, *stack, k)), 0, -2)


def triangle(n: int, *, lower: bool, unit_diagonal: bool = False) -> np.ndarray[Any, Any]:
    """Make the mask of a triangle, with the diagonal or without."""
    mask = np.tri(n, k=-1 if unit_diagonal else 0, dtype=bool)
    return mask if lower else mask.T


def outer(g: Array, x: Array) -> Array:
    """Compute the outer product g x^H."""
    return np.matmul(g, adjoint(x))


# Triangles


solve_triangular = scipy_function(scipy.linalg.solve_triangular, MODULE, "a b")


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
        change = self._read(t)
        if self.trans != "N":
            change = adjoint(change) if self.trans == "C" else np.matrix_transpose(change)
        return np.matmul(change, x)

    def gradient(self, g: Array, x: Array) -> Array:
        # <g, dA^H x> is <x, dA g>, and <g, dA^T x> is <conj(x), dA conj(g)>
        if self.trans != "N":
            g, x = (x, g) if self.trans == "C" else (x.conjugate(), g.conjugate())
        return self._read(outer(g, x))

    def _read(self, a: Array) -> Array:
        mask = triangle(a.shape[-1], lower=self.lower, unit_diagonal=self.unit_diagonal)
        return np.where(mask, a, 0)


# Cholesky


cho_factor = scipy_function(scipy.linalg.cho_factor, MODULE, "a")


@functools.cache
def leaves_other_triangle() -> bool:
    """Tell whether that keeps what the matrix has there, as it does before SciPy 1.18."""
    return bool(scipy.linalg.cho_factor(np.array([[1.0, 0.0], [0.5, 1.0]]))[0][1, 0])


def cholesky_of_handle(
    a: Array, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Factorise as `numpy.linalg.cholesky`, which has a rule."""
    if check_finite and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    a = a if a.ndim > 1 else np.atleast_2d(a)
    a = a.astype(np.float32) if a.dtype == np.float16 else a
    factor = np.linalg.cholesky(a, upper=not lower)
    if leaves_other_triangle():
        factor = np.where(triangle(a.shape[-1], lower=bool(lower)), factor, a)
    return factor, bool(lower)


def cho_solve(
    c_and_lower: tuple[Array, bool], b: Array, overwrite_b: bool = False, check_finite: bool = True
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


SYSTEMS: dict[Any, Entry] = {
    solve_triangular: rule(
        *solving(
            lambda a, trans, lower, unit_diagonal, **_: Triangle(
                a, TRANS[trans], lower, unit_diagonal
            )
        ),
        signature=arguments_of(
            solve_triangular, "a b", "trans lower unit_diagonal check_finite", ignored="overwrite_b"
        ),
        facts=facts.cores("(n,n),(n,k?)->(n,k?)").also(routine="trtrs"),
    ),
    cho_factor: Derivation(cholesky_of_handle),
    cholesky_solve: rule(
        *solving(lambda c, lower, **_: Cholesky(c, lower)),
        signature=arguments_of(cholesky_solve, "c b", "lower check_finite", ignored="overwrite_b"),
        facts=facts.cores("(n,n),(n,k?)->(n,k?)").also(routine="potrs"),
    ),
}


solve_banded = scipy_function(scipy.linalg.solve_banded, MODULE, "ab b")


@define(eq=False, repr=False)
class Banded:
    """The system of a banded matrix of which an array holds the diagonals.

    Diagonal r of the array holds a[j + r - upper, j], so multiplying by one diagonal is
    multiplying by a column and shifting its elements.
    """

    ab: Array
    lower: int
    upper: int

    def solve(self, b: Array) -> Array:
        return in_columns(
            lambda columns: solve_banded(
                (self.lower, self.upper), self.ab, columns, check_finite=False
            ),
            self.ab.ndim,
            b,
        )

    def adjoint(self) -> Self:
        rows = [
            shifted(diagonal.conjugate(), offset)[..., 0]
            for offset, diagonal in self._diagonals(self.ab)
        ]
        return type(self)(np.stack(rows[::-1], axis=-2), self.upper, self.lower)

    def times(self, t: Array, x: Array) -> Array:
        return sum(shifted(diagonal * x, offset) for offset, diagonal in self._diagonals(t))

    def gradient(self, g: Array, x: Array) -> Array:
        conjugate = x.conjugate()
        rows = [
            np.add.reduce(shifted(g, -offset) * conjugate, axis=-1)
            for offset in range(-self.upper, self.lower + 1)
        ]
        return np.stack(rows, axis=-2)

    def _diagonals(self, ab: Array) -> list[tuple[int, Array]]:
        """List the diagonals as columns, each with how far below the main one it is."""
        return [(r - self.upper, ab[..., r, :, None]) for r in range(self.lower + self.upper + 1)]


def shifted(x: Array, down: int) -> Array:
    """Move the rows of matrices down, or up, and fill with zeros."""
    n = x.shape[-2]
    down = max(-n, min(n, down))
    if down == 0:
        return x
    zeros = np.zeros((*x.shape[:-2], abs(down), x.shape[-1]), x.dtype)
    parts = (zeros, x[..., : n - down, :]) if down > 0 else (x[..., -down:, :], zeros)
    return np.concatenate(parts, axis=-2)


SYSTEMS |= {
    solve_banded: rule(
        *solving(lambda ab, l_and_u, **_: Banded(ab, *l_and_u)),
        signature=arguments_of(
            solve_banded, "ab b", "l_and_u check_finite", ignored="overwrite_ab overwrite_b"
        ),
        compute=lambda ab, b, l_and_u, **options: solve_banded(l_and_u, ab, b, **options),
        facts=facts.cores("(m,n),(n,k?)->(n,k?)", "ab", "b"),
    )
}


# LU factors as SciPy packs them


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

    pattern = batched(2, 2)
    lu: Array
    order: Array

    def push(self, t: Array) -> Array:
        self._check()
        m = self._below(reordered(t, self.order), "N")
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
        return reordered(self._below(m, "C"), np.argsort(self.order))

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
            self.lu.ndim,
            b,
        )

    def _above(self, b: Array, trans: str) -> Array:
        """Solve a system with the upper triangular factor."""
        return in_columns(
            lambda columns: solve_triangular(self.lu, columns, trans, check_finite=False),
            self.lu.ndim,
            b,
        )


def triangles(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Make the masks of where the two factors stand."""
    return triangle(n, lower=True, unit_diagonal=True), triangle(n, lower=False)


@whole
def order_of_rows(piv: Any) -> np.ndarray[Any, Any]:
    """Write interchanges of rows, one after another, as the order that they lead to."""
    order: np.ndarray[Any, Any] = np.zeros_like(piv) + np.arange(piv.shape[-1])
    for i in range(piv.shape[-1]):
        here, there = order[..., i : i + 1].copy(), piv[..., i : i + 1]
        order[..., i : i + 1] = np.take_along_axis(order, there, -1)
        np.put_along_axis(order, there, here, -1)
    return order


def reordered(x: Array, order: Array) -> Array:
    """Put the rows of matrices in an order, or in one for each."""
    if order.ndim == 1:
        return x[order] if x.ndim == 1 else x[..., order, :]
    return np.take_along_axis(x, np.broadcast_to(order[..., None], (*x.shape[:-1], 1)), axis=-2)


def lu_factor_signature(a: Array, overwrite_a: bool = False, check_finite: bool = True) -> Call:
    """Sort the arguments of `lu_factor`."""
    if a.ndim < 2 or a.shape[-2] != a.shape[-1]:
        raise UnsupportedArgumentError(
            f"lu_factor of a handle takes square matrices, got shape {a.shape}"
        )
    return (a,), {"check_finite": check_finite}


def factors_solved(
    lu: Array,
    piv: Array,
    b: Array,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Call SciPy's `lu_solve`, with LU factors that are arguments of their own."""
    require_stacks("lu_solve", lu)
    return scipy.linalg.lu_solve(
        (lu, piv), b, trans=trans, overwrite_b=overwrite_b, check_finite=check_finite
    )


def solved_by_both(
    lu: Array, piv: Array, b: Array, trans: int, overwrite_b: bool, check_finite: bool
) -> Array:
    """Solve with the two triangles, one after the other, and interchange rows."""
    lu, b = as_array(lu), as_array(b)
    order, vector = order_of_rows(np.asarray(piv)), lu.ndim > 2 and b.ndim == 1
    below = {"lower": True, "unit_diagonal": True, "check_finite": check_finite}
    b = b[:, None] if vector else b
    if lu.ndim > 2:
        b = np.broadcast_to(b, (*np.broadcast_shapes(lu.shape[:-2], b.shape[:-2]), *b.shape[-2:]))
    if not trans:
        half = solve_triangular(lu, reordered(b, order), **below)
        x = solve_triangular(lu, half, check_finite=check_finite)
    else:
        half = solve_triangular(lu, b, trans, check_finite=check_finite)
        x = reordered(solve_triangular(lu, half, trans, **below), np.argsort(order))
    return x[..., 0] if vector else x


lu_factors_solve = counterpart(SYSTEMS, factors_solved, "lu b", solved_by_both, anchor=False)


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


SYSTEMS[lu_factor] = outputs(
    lambda k, outs, a, check_finite: Factors(outs[0], order_of_rows(outs[1])),
    signature=lu_factor_signature,
    facts=facts.cores("(m,n)->..."),
)

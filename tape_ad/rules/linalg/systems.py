"""Inverses, pseudo-inverses and linear equations.

The derivative of a pseudo-inverse, and of a least-squares solution, holds for changes that keep
the rank: where a matrix has not full rank, any other change makes the function jump. Singular
values that a cutoff leaves out need not be 0, and turn the space of those that are kept.
"""

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import anywhere
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Derivation,
    Entry,
    arguments_of,
    as_array,
    constants,
    jointly,
    outputs,
    rule,
)
from tape_ad.rules.linalg.decompositions import singular_values_map
from tape_ad.rules.linalg.triangles import HermitianFromTriangle, solve_all
from tape_ad.rules.maps import (
    Array,
    Chain,
    Deferred,
    LinearMap,
    MatmulLeft,
    MatmulRight,
    RealPart,
    Reshape,
    Shape,
    WeightedSum,
    adjoint,
    unless_all_zero,
)
from tape_ad.rules.maps.patterns import Pattern, batched, by_batch, by_columns, reads
from tape_ad.rules.numpy.bodies import least_squares, own


def triple_product(a: Array, b: Array, c: Array) -> Array:
    """Multiply three matrices in the order that takes fewer multiplications."""
    (m, k), (n, p) = a.shape[-2:], c.shape[-2:]
    if m * n * (k + p) <= k * p * (m + n):
        return (a @ b) @ c
    return a @ (b @ c)


# Inverses


@define(eq=False, repr=False)
class Inverse:
    """The derivative of a matrix inverse X: -X t X."""

    pattern = batched(2, 2)
    x: Array

    def push(self, t: Array) -> Array:
        return -(self.x @ t @ self.x)

    def pull(self, ct: Array) -> Array:
        x = adjoint(self.x)
        return -(x @ ct @ x)

    def pull_chosen(self, ct: Array) -> Array:
        return unless_all_zero(ct, self.pull(ct), (-2, -1))


@define(eq=False, repr=False)
class PseudoInverse:
    """The derivative of the pseudo-inverse P of A, for changes that keep the rank.

    -P t P + P P* t* (I - A P) + (I - P A) t* P* P: Golub & Pereyra, "The differentiation of
    pseudo-inverses and nonlinear least squares problems whose variables separate", SIAM Journal
    on Numerical Analysis 10 (1973), equation 4.12.
    """

    pattern = batched(2, 2)
    a: Array
    p: Array

    def push(self, t: Array) -> Array:
        a, p = self.a, self.p
        rows = triple_product(p, adjoint(p), adjoint(t))
        columns = triple_product(adjoint(t), adjoint(p), p)
        outside = rows - triple_product(rows, a, p) + columns - triple_product(p, a, columns)
        return outside - triple_product(p, t, p)

    def pull(self, ct: Array) -> Array:
        a, p, q = self.a, self.p, adjoint(self.p)
        rows = triple_product(adjoint(ct), p, q)
        columns = triple_product(q, p, adjoint(ct))
        outside = rows - triple_product(a, p, rows) + columns - triple_product(columns, p, a)
        return outside - triple_product(q, ct, q)


@define(eq=False, repr=False)
class TruncatedInverse:
    """The derivative of the pseudo-inverse P of the part A P A of A whose singular values are kept.

    Let C = A - A P A be the rest. With u and v the singular vectors of A, i kept and j left out,
    v_j* dP u_i is (t_ij* + s_j / s_i t_ji) / (s_i**2 - s_j**2), and u_j goes with v_i likewise: the
    sum over all q of ``(C* C)**q z (P* P)**(q + 1)``, where z is (I - P A) t* A P + C* t P. With
    C = 0 that is `PseudoInverse`.
    """

    pattern = batched(2, 2)
    a: Array
    p: Array

    @property
    def rest(self) -> Array:
        """The part of A that is left out."""
        return self.a - self.a @ self.p @ self.a

    def push(self, t: Array) -> Array:
        p, back, rest = self.p, adjoint(t), adjoint(self.rest)
        left, right = self.a @ p, p @ self.a
        columns = back @ left - right @ back @ left + rest @ t @ p
        rows = right @ back - right @ back @ left + p @ t @ rest
        return self._of_columns(columns) + self._of_rows(rows) - p @ t @ p

    def pull(self, ct: Array) -> Array:
        q, rest = adjoint(self.p), self.rest
        left, right = self.a @ self.p, self.p @ self.a
        columns, rows = self._of_columns(ct), self._of_rows(ct)
        outside = columns @ left - right @ (columns + rows) @ left + right @ rows
        return adjoint(outside) + rest @ columns @ q + q @ rows @ rest - q @ ct @ q

    def _of_columns(self, z: Array) -> Array:
        """Divide by the difference of squares, what is left out on the left of what is kept."""
        return geometric_sum(adjoint(self.rest) @ self.rest, z, adjoint(self.p) @ self.p)

    def _of_rows(self, z: Array) -> Array:
        """Divide by it with what is kept on the left."""
        summed = geometric_sum(self.rest @ adjoint(self.rest), adjoint(z), self.p @ adjoint(self.p))
        return adjoint(summed)


def geometric_sum(s: Array, z: Array, t: Array) -> Array:
    """Add up ``s**q z t**(q + 1)`` over q, twice as many terms each time, by Smith's method.

    It converges where the eigenvalues of `s` are below those of the inverse of `t`. What both are
    scaled by in opposite directions keeps powers from overflow.
    """
    total = z @ t
    for _ in range(DOUBLINGS):
        size = np.max(np.absolute(s), axis=(-2, -1), keepdims=True, initial=0.0)
        size = np.where(np.equal(size, 0), 1.0, size)
        s, t = s / size, t * size
        total = total + s @ total @ t
        s, t = s @ s, t @ t
    return total


DOUBLINGS = 16
"""How often a sum of powers gets twice as many terms: in the end 65,536."""


def leaves_out(a: Array, p: Array) -> bool:
    """Tell whether the matrix that has a pseudo-inverse differs from another beyond rounding."""
    rounding = 100 * float(np.finfo(p.dtype).eps) * np.linalg.norm(a, axis=(-2, -1)) ** 2
    rest = np.linalg.norm(a - a @ p @ a, axis=(-2, -1))
    return anywhere(np.greater(rest, rounding * np.linalg.norm(p, axis=(-2, -1))))


def pinv_partial(out: Array, a: Array, hermitian: bool, **cutoff: Any) -> LinearMap | None:
    """Make the partial of a pseudo-inverse; `hermitian` reads the lower triangle alone."""
    if a.size == 0:
        return None
    whole = HermitianFromTriangle(upper=False)
    a = whole.push(a) if hermitian else a
    cut = cutoff and leaves_out(a, out)  # the usual cutoff leaves out what is rounding
    inner: LinearMap = TruncatedInverse(a, out) if cut else PseudoInverse(a, out)
    return Chain((whole, inner)) if hermitian else inner


# Equations


@define(eq=False, repr=False)
class Equations:
    """The equations ``a @ x = b`` of one call, which its partials share.

    Parameters
    ----------
    a : array, shape (..., n, n)
    vector : bool
        Whether b is a vector, not a matrix.
    both : bool
        Whether there is a partial with respect to `a` and one with respect to `b`.
    latest : tuple or None
        The cotangent that the former was given, and what `solved_back` made of it: the latter is
        given the same one next.
    """

    a: Array
    vector: bool
    both: bool
    latest: tuple[Array, Array] | None = None

    def solved(self, b: Array) -> Array:
        """Solve for other right sides."""
        return self._solve(self.a, b)

    def solved_back(self, ct: Array) -> Array:
        """Solve the adjoint equations for a cotangent."""
        return self._solve(adjoint(self.a), ct)

    def _solve(self, a: Array, b: Array) -> Array:
        return solve_all(a, b[..., None])[..., 0] if self.vector else solve_all(a, b)


@define(eq=False, repr=False)
class SolveLeft:
    """What the solution x of ``a @ x = b`` is in `a`, the parent: -solve(a, t @ x).

    Parameters
    ----------
    equations : Equations
    x : array, shape (..., n, k), or (..., n) where b is a vector
    """

    broadcasts: ClassVar[bool] = True
    kept: ClassVar[None] = None
    equations: Equations
    x: Array

    @reads("equations.vector")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that a solution depends on all of its matrix."""
        return by_batch(parent, node, 2, 1 if self.equations.vector else 2)

    def push(self, t: Array) -> Array:
        product = (t @ self.x[..., None])[..., 0] if self.equations.vector else t @ self.x
        return -self.equations.solved(product)

    def pull(self, ct: Array) -> Array:
        solved = self.equations.solved_back(ct)
        if self.equations.both:
            self.equations.latest = (ct, solved)
        if self.equations.vector:
            return -(solved[..., None] @ adjoint(self.x[..., None]))
        return -(solved @ adjoint(self.x))


@define(eq=False, repr=False)
class SolveRight:
    """What the solution of ``a @ x = b`` is in `b`, the parent: solve(a, t)."""

    broadcasts: ClassVar[bool] = True
    kept = property(attrgetter("equations.a"))
    equations: Equations

    @reads("equations.vector")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that each column of the solution depends on one of the right-hand side."""
        return by_columns(parent, node, vector=self.equations.vector)

    def push(self, t: Array) -> Array:
        return self.equations.solved(t)

    def pull(self, ct: Array) -> Array:
        latest = self.equations.latest  # read once, for another thread may sweep the same record
        self.equations.latest = None
        if latest is not None and latest[0] is ct:
            return latest[1]
        return self.equations.solved_back(ct)


def solving(positions: Sequence[int], out: Array, a: Array, b: Array) -> list[LinearMap]:
    """Make the partials of a solution of linear equations."""
    equations = Equations(a, b.ndim == 1, len(positions) == 2)
    both = SolveLeft(equations, out), SolveRight(equations)
    return [both[position] for position in positions]


def tensorsolve(a: Array, b: Array, axes: Any = None) -> Array:
    """Solve ``tensordot(a, x, x.ndim) = b``."""
    a, b = as_array(a), as_array(b)
    if axes is not None:
        order = list(range(a.ndim))
        for axis in axes:
            order.remove(axis)
            order.append(axis)
        a = np.transpose(a, order)
    unknowns = a.shape[-(a.ndim - b.ndim) :]
    size = math.prod(unknowns)
    if a.size != size * size:
        raise np.linalg.LinAlgError(
            "np.linalg.tensorsolve takes as many equations as unknowns, got shapes "
            f"{a.shape[: a.ndim - len(unknowns)]} and {unknowns}"
        )
    return np.linalg.solve(a.reshape((size, size)), np.ravel(b)).reshape(unknowns)


# Least squares


@define(eq=False, repr=False)
class LeastSquaresMatrix:
    """What the least-squares solution x of ``a @ x = b`` is in `a`, for changes that keep the rank.

    -P t x + P P* t* r + (I - P a) t* P* x, with the pseudo-inverse P of a and the residual
    r = b - a x: the derivative of P b by Golub & Pereyra (1973), as in `PseudoInverse`.

    Parameters
    ----------
    a : array, shape (m, n)
    p : array, shape (n, m)
    x : array, shape (n, k)
    r : array, shape (m, k)
    """

    pattern = batched(2, 2)
    a: Array
    p: Array
    x: Array
    r: Array

    def push(self, t: Array) -> Array:
        q, back = adjoint(self.p), adjoint(t)
        columns = back @ (q @ self.x)
        inside = q @ (back @ self.r) - t @ self.x - self.a @ columns
        return columns + self.p @ inside

    def pull(self, ct: Array) -> Array:
        q, back = adjoint(self.p), adjoint(ct)
        outside = ct - self.p @ (self.a @ ct)
        kept = q @ (self.x @ adjoint(outside) - ct @ adjoint(self.x))
        return self.r @ ((back @ self.p) @ q) + kept


def lstsq_matrix(
    output: int, outs: tuple[Array, ...], a: Array, b: Array, rcond: float | None
) -> Any:
    """Make the partial of the solution, the residuals or the singular values with respect to a."""
    if output == 0:
        return Deferred(solution_in_matrix, (outs, a, b))
    if output == 1:
        return Deferred(residuals_in_matrix, (outs, a, b)) if outs[1].size else None
    return Deferred(singular_values_map, (a,))


def lstsq_right(
    output: int, outs: tuple[Array, ...], a: Array, b: Array, rcond: float | None
) -> Any:
    """Make the partial of the solution, or of the residuals, with respect to b."""
    if output == 0:
        return Deferred(solution_in_right, (outs, a, b))
    if output == 1 and outs[1].size:
        return Deferred(residuals_in_right, (outs, a, b))
    return None


def as_columns(x: Array) -> Array:
    """Give a vector a second axis, so that it is a matrix."""
    return x if x.ndim == 2 else x[:, None]


def vector_shape(columns: Array, original: Array) -> tuple[LinearMap, ...]:
    """Make the map from a matrix of one column to the vector it was made from; or nothing."""
    return () if original.ndim == 2 else (Reshape(columns.shape, columns.shape[:1]),)


def solution_in_matrix(outs: tuple[Array, ...], a: Array, b: Array) -> LinearMap:
    """Make the partial of the solution with respect to a."""
    x, p = as_columns(outs[0]), truncated_pinv(a, outs[2], outs[3])
    if leaves_out(a, p):
        maps = TruncatedInverse(a, p), MatmulLeft(as_columns(b), 2)
        return Chain((*maps, *vector_shape(x, b)))
    change = LeastSquaresMatrix(a, p, x, as_columns(b) - a @ x)
    return Chain((change, *vector_shape(x, b)))


def solution_in_right(outs: tuple[Array, ...], a: Array, b: Array) -> LinearMap:
    """Make the partial of the solution with respect to b, which is the pseudo-inverse."""
    return MatmulRight(truncated_pinv(a, outs[2], outs[3]), b.ndim)


def residuals_in_matrix(outs: tuple[Array, ...], a: Array, b: Array) -> LinearMap:
    """Make the partial of the squared residuals with respect to a: -2 Re(r* t x) by columns."""
    x = as_columns(outs[0])
    weights = (as_columns(b) - a @ x).conjugate() * -2
    return Chain((MatmulLeft(x, 2), WeightedSum(weights, 2, (-2,), False), RealPart()))


def residuals_in_right(outs: tuple[Array, ...], a: Array, b: Array) -> LinearMap:
    """Make the partial of the squared residuals with respect to b: 2 Re(r* t) by columns."""
    columns = as_columns(b)
    weights = (columns - a @ as_columns(outs[0])).conjugate() * 2
    shaped = () if b.ndim == 2 else (Reshape(b.shape, columns.shape),)
    return Chain((*shaped, WeightedSum(weights, 2, (-2,), False), RealPart()))


def truncated_pinv(a: Array, rank: Any, s: Array) -> Array:
    """Invert what `numpy.linalg.lstsq` took for the range of a matrix: its first `rank` parts."""
    if not anywhere(np.less(rank, s.size)):  # and so of all in a batch
        if a.shape[0] < a.shape[1]:
            return np.linalg.pinv(a, rcond=0.0)
        q, r = np.linalg.qr(a)  # which takes a fraction of the time
        return np.linalg.solve(r, adjoint(q))
    values = [*s.tolist(), 0.0]
    kept = int(rank)
    cutoff = (values[kept - 1] + values[kept]) / (2 * values[0]) if kept else 1.0
    return np.linalg.pinv(a, rcond=cutoff)


LINALG: dict[Any, Entry] = {
    np.linalg.inv: rule(
        lambda out, a: Inverse(out),
        signature=arguments_of(np.linalg.inv, "a", ""),
        facts=facts.cores("(n,n)->(n,n)"),
    ),
    np.linalg.pinv: rule(
        pinv_partial,
        signature=arguments_of(np.linalg.pinv, "a", "rcond hermitian rtol"),
        facts=facts.cores("(m,n),(),()->(n,m)", "a", "rcond", "rtol"),
    ),
    **own(np.linalg.tensorinv),
    np.linalg.solve: jointly(
        solving,
        signature=arguments_of(np.linalg.solve, "a b", ""),
        facts=facts.cores("(n,n),(n,k?)->(n,k?)"),
    ),
    np.linalg.tensorsolve: Derivation(tensorsolve),
    np.linalg.lstsq: outputs(
        lstsq_matrix,
        lstsq_right,
        signature=arguments_of(np.linalg.lstsq, "a b", "rcond"),
        facts=facts.composed(least_squares).also(shape_by_values=True),
    ),
    **constants(np.linalg.matrix_rank, facts=facts.cores("(m,n)->()")),
}

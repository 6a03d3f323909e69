"""Cholesky and QR decompositions, and singular values.

`cholesky` reads one triangle of the array, and the other one gets no gradient. Further columns of
a complete QR decomposition are determined up to a rotation; the gradient is right for every
function of the space that they span. Singular vectors are by the conventions of
`tape_ad.rules.linalg.spectra`.
"""

from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, arguments_of, outputs, rule, stated
from tape_ad.rules.linalg.spectra import (
    HermitianEigenvectors,
    indistinct,
    inverse_differences,
    real_values,
    scaled,
)
from tape_ad.rules.linalg.triangles import (
    CONJUGATE_TRANSPOSE,
    HermitianFromTriangle,
    diagonal_of,
    explained_solve,
    half_diagonal,
    inverse_of_lower,
)
from tape_ad.rules.maps import Array, Chain, Deferred, LinearMap, Scale, adjoint
from tape_ad.rules.maps.patterns import batched
from tape_ad.rules.numpy.elementwise import is_complex, nonzero


@define(eq=False, repr=False)
class SingularVectors:
    """The derivative of the left singular vectors; with the roles exchanged, of the right ones.

    Parameters
    ----------
    left : array, shape (..., m, p)
        The vectors in question; p is k = min(m, n), or m where the decomposition is full.
    s : array, shape (..., k)
    right : array, shape (..., n, k)
        Their partners.
    ties : float
        What 1 / (s_j - s_i) counts as for equal values, and 1 / s for 0.
    """

    pattern = batched(2, 2)
    left: Array
    s: Array
    right: Array
    ties: float

    def push(self, t: Array) -> Array:
        u = self.left
        x = t @ self.right
        c = adjoint(u) @ x
        wide = widened(c, u.shape[-1])
        apart, together = self._inverses()
        back = adjoint(wide)
        change = u @ (scaled(wide, apart) + scaled(back, apart) + together * (wide - back))
        if self._is_full():
            return change
        return change + scaled(x - u @ c, self._outward())

    def pull(self, ct: Array) -> Array:
        u = self.left
        h = adjoint(u) @ ct
        apart, together = self._inverses()
        hermitian, skew = scaled(h, apart), together * h
        c = hermitian + adjoint(hermitian) + skew - adjoint(skew)
        x = u @ c[..., : self.s.shape[-1]]
        if not self._is_full():
            x = x + scaled(ct - u @ h, self._outward())
        return x @ adjoint(self.right)

    def _is_full(self) -> bool:
        """Tell whether the vectors span the whole space, so that they only turn within it."""
        return bool(self.left.shape[-2] == self.left.shape[-1])

    def _inverses(self) -> tuple[Array, Array]:
        """Compute 1 / 2(s_j - s_i) and 1 / 2(s_j + s_i); the further values are 0.

        The first turns the two vectors of a pair alike. The second turns
        them oppositely, so that it is there for equal values too, but not between values of 0; its
        diagonal turns complex vectors by half of what the pair of them has to turn.
        """
        s = widened(self.s, self.left.shape[-1])
        vanishing = indistinct(widened(s, s.shape[-1] + 1))[..., :-1, -1]
        both = vanishing[..., None, :] & vanishing[..., :, None]
        sums = s[..., None, :] + s[..., :, None]
        apart = inverse_differences(s, self.ties, free=s.shape[-1] - self.s.shape[-1]) / 2
        return apart, np.where(both, 0, 0.5 / np.where(both, 1, sums))

    def _outward(self) -> Array:
        """Compute 1 / s, which turns vectors out of the space that they span."""
        s = self.s[..., None, :]
        return np.where(np.equal(s, 0), self.ties, 1 / nonzero(s))


def widened(x: Array, size: int) -> Array:
    """Append zeros to the last axis until it has the given length."""
    missing = size - x.shape[-1]
    if not missing:
        return x
    return np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], axis=-1)


def svd(
    a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Decompose into singular vectors and values, or into values alone."""
    hermitian = bool(hermitian)
    if compute_uv:
        return singular_triplets(a, full_matrices, hermitian, ties=np.nan)
    return singular_values(a, hermitian)


@overridable
def singular_triplets(
    a: Array, full_matrices: bool, hermitian: bool = False, *, ties: float
) -> Any:
    """Compute `numpy.linalg.svd` with vectors: a function of three outputs.

    `ties` says what 1 / (s_j - s_i) counts as for equal values.
    """
    return np.linalg.svd(a, full_matrices=full_matrices, hermitian=hermitian)


@overridable
def singular_values(a: Array, hermitian: bool = False) -> Array:
    """Compute `numpy.linalg.svd` without vectors: a function of one output."""
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


def triplets_partial(
    output: int, outs: Any, a: Array, hermitian: bool, ties: float, **options: Any
) -> LinearMap:
    """Make the partial of the left vectors, of the values, or of the right vectors."""
    u, s, vh = outs
    k = s.shape[-1]
    v = adjoint(vh)
    if output == 1:
        before = (HermitianFromTriangle(upper=False),) if hermitian else ()
        return real_values(u[..., :k], v[..., :k], *before)
    if hermitian:
        return hermitian_vectors(output, u, s, v, ties)
    if output == 0:
        return SingularVectors(u, s, v[..., :k], ties)
    turned = SingularVectors(v, s, u[..., :k], ties)
    return Chain((CONJUGATE_TRANSPOSE, turned, CONJUGATE_TRANSPOSE))


def hermitian_vectors(output: int, u: Array, s: Array, v: Array, ties: float) -> LinearMap:
    """Make the partial of singular vectors of a Hermitian matrix, which are eigenvectors.

    The right ones have the signs of the eigenvalues.
    """
    signs = np.sign(np.add.reduce((u.conjugate() * v).real, axis=-2))
    turned = Chain((HermitianFromTriangle(upper=False), HermitianEigenvectors(s * signs, u, ties)))
    if output == 0:
        return turned
    return Chain((turned, Scale(signs[..., None, :]), CONJUGATE_TRANSPOSE))


def singular_values_map(a: Array, hermitian: bool = False) -> LinearMap:
    """Make the partial of singular values, which takes their vectors."""
    u, _, vh = singular_triplets(a, full_matrices=False, hermitian=hermitian, ties=np.nan)
    return real_values(u, adjoint(vh), *((HermitianFromTriangle(upper=False),) * hermitian))


SINGULAR_VALUES: dict[Any, Entry] = stated(
    facts.cores("(m,n)->..."),
    {
        np.linalg.svd: Derivation(svd),
        np.linalg.svdvals: Derivation(lambda x, /: singular_values(x)),
        singular_triplets: outputs(
            triplets_partial, signature=arguments_of(singular_triplets, "a")
        ),
        singular_values: rule(
            lambda out, a, hermitian: Deferred(singular_values_map, (a, hermitian), batched(2, 1)),
            signature=arguments_of(singular_values, "a"),
        ),
    },
)


DEPENDENT = (
    "np.linalg.qr: the first min(m, n) columns of the matrix are linearly dependent, and so its "
    "decomposition has no derivative"
)


# Cholesky


@define(eq=False, repr=False)
class Cholesky:
    """The derivative of the factor L of a Hermitian matrix: L Phi(inv(L) t inv(L)*).

    Phi takes the lower triangle and half of the diagonal: Murray, "Differentiation of the Cholesky
    decomposition" (2016), equation 8.
    """

    pattern = batched(2, 2)
    factor: Array

    def push(self, t: Array) -> Array:
        factor, inverse = self.factor, inverse_of_lower(self.factor)
        return factor @ ((inverse @ t @ adjoint(inverse)) * half_diagonal(factor))

    def pull(self, ct: Array) -> Array:
        factor, inverse = self.factor, inverse_of_lower(self.factor)
        return adjoint(inverse) @ ((adjoint(factor) @ ct) * half_diagonal(factor)) @ inverse


def cholesky_partial(out: Array, a: Array, upper: bool) -> LinearMap:
    """Make the partial of a Cholesky factor; the upper one is the lower one's adjoint."""
    if not upper:
        return Chain((HermitianFromTriangle(upper=False), Cholesky(out)))
    return Chain((HermitianFromTriangle(upper=True), Cholesky(adjoint(out)), CONJUGATE_TRANSPOSE))


# QR


@define(eq=False, repr=False)
class QrOrthogonal:
    """The derivative of the orthogonal factor Q of A = Q R.

    For the first k = min(m, n) columns A1 and R1, with Z = t1 inv(R1) and C = Q* Z, Q turns by W,
    which has the lower triangle of C and W* = -W, and what lies outside Q is added to it:
    dQ = Q W + (I - Q Q*) Z. Walter & Lehmann, "Algorithmic differentiation of linear algebra
    functions with application in optimum experimental design" (2010), and its complex form.

    Parameters
    ----------
    q : array, shape (..., m, p)
        Where p is k, or m where the decomposition is complete.
    r : array, shape (..., p, n)
    """

    pattern = batched(2, 2)
    q: Array
    r: Array

    def push(self, t: Array) -> Array:
        q = self.q
        z = divided(t, q, self.r)
        c = adjoint(q) @ z
        turned = q @ turning(c)
        return turned if is_square(q) else turned + z - q @ c

    def pull(self, ct: Array) -> Array:
        q = self.q
        h = adjoint(q) @ ct
        z = q @ turning_back(h, q, self.r)
        return divided_back(z if is_square(q) else z + ct - q @ h, q, self.r)


@define(eq=False, repr=False)
class QrTriangular:
    """The derivative of the triangular factor R of A = Q R: Q* t - W R, as in `QrOrthogonal`."""

    pattern = batched(2, 2)
    q: Array
    r: Array

    def push(self, t: Array) -> Array:
        back = adjoint(self.q)
        return upper_triangle(back @ t - turning(back @ divided(t, self.q, self.r)) @ self.r)

    def pull(self, ct: Array) -> Array:
        q, ct = self.q, upper_triangle(ct)
        z = q @ turning_back(ct @ adjoint(self.r), q, self.r)
        return q @ ct - divided_back(z, q, self.r)


def is_square(matrix: Array) -> bool:
    """Tell whether the matrices of a stack are square."""
    return bool(matrix.shape[-1] == matrix.shape[-2])


def first_columns(q: Array, r: Array) -> int:
    """Count the columns that Q is made from."""
    return int(min(q.shape[-2], r.shape[-1]))


def divided(t: Array, q: Array, r: Array) -> Array:
    """Compute t1 inv(R1), shape (..., m, k)."""
    k = first_columns(q, r)
    square, columns = np.swapaxes(r[..., :k, :k], -1, -2), np.swapaxes(t[..., :k], -1, -2)
    return np.swapaxes(explained_solve(square, columns, DEPENDENT), -1, -2)


def divided_back(z: Array, q: Array, r: Array) -> Array:
    """Do the adjoint of `divided`: z inv(R1)*, and 0 for the further columns."""
    k = first_columns(q, r)
    return widened(adjoint(explained_solve(r[..., :k, :k], adjoint(z), DEPENDENT)), r.shape[-1])


def turning(c: Array) -> Array:
    """Make W of C, shape (..., p, k): its strict lower triangle, with W* = -W.

    The diagonal is i Im(C), so that the diagonal of R stays real, as LAPACK makes it.
    """
    c = widened(c, c.shape[-2])
    below = strictly_lower(c)
    return below - adjoint(below) + imaginary_diagonal(c)


def turning_back(h: Array, q: Array, r: Array) -> Array:
    """Do the adjoint of `turning`, shape (..., p, k)."""
    back = strictly_lower(h - adjoint(h)) + imaginary_diagonal(h)
    return back[..., : first_columns(q, r)]


def imaginary_diagonal(c: Array) -> Any:
    """Keep the imaginary part of the diagonal alone; a real matrix has none."""
    if not is_complex(c):
        return 0
    eye = np.eye(c.shape[-1], dtype=np.finfo(c.dtype).dtype)
    return (diagonal_of(c).imag * 1j)[..., None, :] * eye


def strictly_lower(x: Array) -> Array:
    """Put 0 on the diagonal of square matrices and above it."""
    return np.where(np.tri(x.shape[-1], k=-1, dtype=bool), x, 0)


def upper_triangle(x: Array) -> Array:
    """Put 0 below the diagonal."""
    return np.where(np.tri(x.shape[-2], x.shape[-1], -1, dtype=bool), 0, x)


def qr(a: Array, mode: str = "reduced") -> Any:
    """Decompose in one of the modes of `numpy.linalg.qr`."""
    if mode == "r":
        return qr_factors(a, "reduced")[1]
    if mode in ("reduced", "complete"):
        return qr_factors(a, mode)
    raise UnsupportedArgumentError(
        f"np.linalg.qr: mode={mode!r} is not supported on handles; write mode='reduced', "
        "'complete' or 'r'"
    )


@overridable
def qr_factors(a: Array, mode: Any) -> Any:
    """Compute `numpy.linalg.qr` with both factors: a function of two outputs."""
    return np.linalg.qr(a, mode)


def qr_partial(output: int, outs: Any, a: Array, mode: str) -> LinearMap:
    """Make the partial of either factor."""
    return QrTriangular(*outs) if output else QrOrthogonal(*outs)


DECOMPOSITIONS: dict[Any, Entry] = {
    np.linalg.cholesky: rule(
        cholesky_partial,
        signature=arguments_of(np.linalg.cholesky, "a", "upper"),
        facts=facts.cores("(n,n)->(n,n)"),
    ),
    np.linalg.qr: Derivation(qr, facts=facts.cores("(m,n)->...")),
    qr_factors: outputs(
        qr_partial, signature=arguments_of(qr_factors, "a"), facts=facts.cores("(m,n)->...")
    ),
}

"""Cholesky and QR decompositions.

`cholesky` reads one triangle of the array, and the other one gets no gradient. Further columns of
a complete QR decomposition are determined up to a rotation; the gradient is right for every
function of the space that they span.
"""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, outputs, rule
from tape_ad.rules.linalg.singular_values import widened
from tape_ad.rules.linalg.triangles import (
    ConjugateTranspose,
    HermitianFromTriangle,
    diagonal_of,
    explained_solve,
    half_diagonal,
    inverse_of_lower,
)
from tape_ad.rules.maps import Array, Chain, LinearMap, adjoint
from tape_ad.rules.maps.patterns import batched
from tape_ad.rules.numpy.elementwise import is_complex
from tape_ad.rules.signatures import arguments_of

__all__ = ["DECOMPOSITIONS", "qr_factors"]

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

    broadcasts: ClassVar[bool] = False
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
    return Chain((HermitianFromTriangle(upper=True), Cholesky(adjoint(out)), ConjugateTranspose()))


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

    broadcasts: ClassVar[bool] = False
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

    broadcasts: ClassVar[bool] = False
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

"""Determinants, whose derivatives are right at singular matrices too."""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps import (
    Adjoint,
    Array,
    Chain,
    Divide,
    ImaginaryPart,
    LinearMap,
    RealPart,
    Scale,
    WeightedSum,
    adjoint,
)
from tape_ad.overrides import overridable
from tape_ad.rules.base import Call, Entry, outputs, rule
from tape_ad.rules.linalg.triangles import Deferred, diagonal_of, ill_conditioned
from tape_ad.rules.numpy.elementwise import is_complex

__all__ = ["DETERMINANTS", "adjugate_by_svd"]


def trace_with(matrix: Array) -> LinearMap:
    """Make the map t -> trace(matrix @ t)."""
    return WeightedSum(np.swapaxes(matrix, -1, -2), matrix.ndim, (-2, -1), keepdims=False)


def det_map(out: Array, a: Array) -> LinearMap:
    """Make the partial of a determinant, trace(adj(a) t): Jacobi's formula."""
    return trace_with(adjugate(out, a))


def adjugate(det: Array, a: Array) -> Array:
    """Compute the matrix of cofactors, transposed, of any square matrix.

    det(a) inv(a) is right to rounding until the inverse itself is not; from there on, it is found
    from singular values: Stewart, "On the adjugate matrix", Linear Algebra and its Applications
    283 (1998).
    """
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return adjugate_by_svd(a)
    return (
        adjugate_by_svd(a) if ill_conditioned(a, inverse, 0.5) else det[..., None, None] * inverse
    )


@overridable
def adjugate_by_svd(a: Array) -> Array:
    """Compute the adjugate of ``a = u @ diag(s) @ vh`` as det(u) det(vh) vh* adj(diag(s)) u*.

    Parameters
    ----------
    a : array, shape (..., n, n)

    Returns
    -------
    array, shape of `a`
    """
    u, s, vh = np.linalg.svd(a)
    return rotated_back(
        leaving_out_one(s)[..., None, :] * np.eye(s.shape[-1], dtype=s.dtype), u, vh
    )


def rotated_back(b: Array, u: Array, vh: Array) -> Array:
    """Take the adjugate of u* a vh* to that of a."""
    unit = np.linalg.det(u) * np.linalg.det(vh)
    return unit[..., None, None] * (adjoint(vh) @ b @ adjoint(u))


@define(eq=False, repr=False)
class AdjugateBySvd:
    """The derivative of the adjugate, also of a singular matrix.

    Where the matrix is diagonal, adj(diag(s) + b) is to first order, with M the products of all
    but two entries of s and 0 on the diagonal, diag(M @ diag(b)) - M * b.
    """

    broadcasts: ClassVar[bool] = False
    u: Array
    vh: Array
    others: Array

    def push(self, t: Array) -> Array:
        b = adjoint(self.u) @ t @ adjoint(self.vh)
        return rotated_back(self._around_diagonal(b), self.u, self.vh)

    def pull(self, ct: Array) -> Array:
        unit = (np.linalg.det(self.u) * np.linalg.det(self.vh)).conjugate()
        b = unit[..., None, None] * (self.vh @ ct @ self.u)
        return self.u @ self._around_diagonal(b) @ self.vh

    def _around_diagonal(self, b: Array) -> Array:
        onto = (self.others @ diagonal_of(b)[..., None])[..., 0]
        return onto[..., None] * np.eye(b.shape[-1], dtype=self.others.dtype) - self.others * b


def adjugate_partial(out: Array, a: Array) -> LinearMap:
    """Make the partial of the adjugate."""
    u, s, vh = np.linalg.svd(a)
    return AdjugateBySvd(u, vh, leaving_out_two(s))


def leaving_out_one(s: Array) -> Array:
    """Multiply, for each entry, all others; without a division, so zeros do no harm."""
    n = s.shape[-1]
    return np.prod(np.where(np.eye(n, dtype=bool), 1, s[..., None, :]), axis=-1)


def leaving_out_two(s: Array) -> Array:
    """Multiply, for each pair of entries, all others; 0 on the diagonal."""
    n = s.shape[-1]
    rest = np.where(np.eye(n, dtype=bool), 1, s[..., None, :])
    pairs = np.prod(np.where(np.eye(n, dtype=bool)[:, None, :], 1, rest[..., None, :, :]), axis=-1)
    return np.where(np.eye(n, dtype=bool), 0, pairs)


# The logarithm


def slogdet_partial(output: int, outs: Any, a: Array) -> Any:
    """Make the partial of the sign or of the logarithm of a determinant.

    d log(det) = trace(inv(a) t), whose real part changes the logarithm of the magnitude and whose
    imaginary part turns the sign, which for a real matrix is piecewise constant. At a singular
    matrix both are inf or nan, as the derivative of a logarithm is at 0.
    """
    if output == 0 and not is_complex(a):
        return None
    if np.all(np.not_equal(outs[0], 0)):
        return Deferred(logarithm_map, (output, outs[0], a))
    det = np.linalg.det(a)
    return Chain((trace_with(adjugate(det, a)), Divide(det), *part(output, outs[0], a)))


def logarithm_map(output: int, sign: Array, a: Array) -> LinearMap:
    """Make the partial where no matrix is singular."""
    return Chain((trace_with(np.linalg.inv(a)), *part(output, sign, a)))


def part(output: int, sign: Array, a: Array) -> tuple[LinearMap, ...]:
    """Make the maps from the change of log(det) to that of the sign, or of the magnitude."""
    if output == 0:
        return ImaginaryPart(), Adjoint(RealPart()), Scale(sign * 1j)
    return (RealPart(),) if is_complex(a) else ()


def matrix_signature(a: Array) -> Call:
    """Sort the arguments of `numpy.linalg.det` and `numpy.linalg.slogdet`."""
    return (a,), {}


DETERMINANTS: dict[Any, Entry] = {
    np.linalg.det: rule(lambda out, a: Deferred(det_map, (out, a)), signature=matrix_signature),
    np.linalg.slogdet: outputs(slogdet_partial, signature=matrix_signature),
    adjugate_by_svd: rule(adjugate_partial),
}

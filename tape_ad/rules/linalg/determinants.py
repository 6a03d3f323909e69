"""Determinants, whose derivatives are right at singular matrices too."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, constants, outputs, rule
from tape_ad.rules.linalg.triangles import diagonal_of, ill_conditioned
from tape_ad.rules.maps import (
    Adjoint,
    Array,
    Chain,
    Deferred,
    Divide,
    ImaginaryPart,
    LinearMap,
    RealPart,
    Scale,
    WeightedSum,
)
from tape_ad.rules.maps.patterns import batched
from tape_ad.rules.numpy.elementwise import is_complex
from tape_ad.rules.signatures import arguments_of

__all__ = ["DETERMINANTS", "adjugate_by_border", "borders"]


def trace_with(matrix: Array) -> LinearMap:
    """Make the map t -> trace(matrix @ t)."""
    return WeightedSum(np.swapaxes(matrix, -1, -2), matrix.ndim, (-2, -1), keepdims=False)


def det_map(out: Array, a: Array) -> LinearMap:
    """Make the partial of a determinant, trace(adj(a) t): Jacobi's formula."""
    return trace_with(adjugate(out, a))


def adjugate(det: Array, a: Array) -> Array:
    """Compute the matrix of cofactors, transposed, of any square matrix.

    det(a) inv(a) is right to rounding until the inverse itself is not.
    """
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return adjugate_by_border(a)
    if ill_conditioned(a, inverse, 0.5):
        return adjugate_by_border(a)
    return det[..., None, None] * inverse


def adjugate_by_border(a: Array) -> Array:
    """Compute the adjugate of a matrix that may be singular, by the inverse of a larger one.

    Bordered with its singular vectors of small singular values, the matrix m is regular, and with
    ``inv(m) = [[p, q], [r, e]]`` Jacobi's identity for complementary minors says that det(a) is
    det(m) det(e). The borders are constants, and e is as small as the rank is deficient, so all
    derivatives are those of inverses and of polynomials: Horn & Johnson, *Matrix Analysis*, 0.8.4.

    Parameters
    ----------
    a : array, shape (..., n, n)

    Returns
    -------
    array, shape of `a`
    """
    left, right, corner = borders(a)
    n = a.shape[-1]
    upper, lower = np.concatenate((a, left), axis=-1), np.concatenate((right, corner), axis=-1)
    bordered = np.concatenate((upper, lower), axis=-2)
    det, inverse = np.linalg.det(bordered)[..., None, None], np.linalg.inv(bordered)
    p, q = inverse[..., :n, :n], inverse[..., :n, n:]
    r, e = inverse[..., n:, :n], inverse[..., n:, n:]
    small_det, small = det_and_adjugate(e)
    return det * (small_det * p - q @ small @ r)


@overridable
def borders(a: Array) -> tuple[Array, Array, Array]:
    """Give what makes a matrix regular: columns, rows, and the corner that is theirs both.

    Where matrices of a stack are of different rank, those of higher rank get zeros, and something
    in the corner.
    """
    finite = np.isfinite(a).all(axis=(-2, -1), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(finite, a, np.eye(a.shape[-1])))  # inf may stop it for good
    largest = np.max(s, axis=-1, keepdims=True, initial=0)
    small = s <= largest * np.finfo(s.dtype).eps ** 0.25
    first = s.shape[-1] - int(np.max(np.sum(small, axis=-1), initial=0))
    scale = np.ldexp(s.dtype.type(1), np.frexp(largest)[1])  # a power of 2, which rounds nothing
    weights = (small * scale)[..., first:]
    corner = np.eye(s.shape[-1] - first) * (~small * scale)[..., None, first:]
    columns = u[..., :, first:] * weights[..., None, :]
    return columns, vh[..., first:, :] * weights[..., None], corner.astype(a.dtype)


def det_and_adjugate(e: Array) -> tuple[Array, Array]:
    """Compute both as polynomials, by the algorithm of Faddeev and LeVerrier."""
    k = e.shape[-1]
    if k == 0:
        return np.ones((), e.dtype), e
    one = np.eye(k, dtype=e.dtype)
    total: Array = np.broadcast_to(one, e.shape)
    for j in range(1, k):
        product = e @ total
        total = trace(product) / j * one - product
    return trace(e @ total) / k, total


def trace(matrix: Array) -> Array:
    """Sum the diagonal, and keep the axes."""
    return np.add.reduce(diagonal_of(matrix), axis=-1)[..., None, None]


# The logarithm


def slogdet_partial(output: int, outs: Any, a: Array) -> Any:
    """Make the partial of the sign or of the logarithm of a determinant.

    d log(det) = trace(inv(a) t), whose real part changes the logarithm of the magnitude and whose
    imaginary part turns the sign, which for a real matrix is piecewise constant. At a singular
    matrix both are inf or nan, as the derivative of a logarithm is at 0.
    """
    if output == 0 and not is_complex(a):
        return None
    if np.logical_and.reduce(np.not_equal(outs[0], 0), axis=None):
        return Deferred(logarithm_map, (output, outs[0], a), batched(2, 0))
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


DETERMINANTS: dict[Any, Entry] = {
    np.linalg.det: rule(
        lambda out, a: Deferred(det_map, (out, a), batched(2, 0)),
        signature=arguments_of(np.linalg.det, "a", ""),
        facts=facts.cores("(n,n)->()"),
    ),
    np.linalg.slogdet: outputs(
        slogdet_partial,
        signature=arguments_of(np.linalg.slogdet, "a", ""),
        facts=facts.cores("(n,n)->(),()"),
    ),
    **constants(borders, facts=facts.cores("(n,n)->...").also(shape_by_values=True)),
}

"""Norms and determinants of matrices, norms of vectors, and condition numbers.

The gradient of every norm at 0 is 0. Where a norm is a maximum or a minimum, of magnitudes, of
sums of them or of singular values, those that tie share the gradient equally; an element that is
0 gets no gradient through its magnitude, and a singular value that is 0 up to rounding none
through its vectors. Derivatives of determinants are right at singular matrices too.
"""

import math
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, axes_of, constants, outputs, quiet, rule
from tape_ad.rules.linalg.decompositions import singular_triplets, widened
from tape_ad.rules.linalg.spectra import indistinct
from tape_ad.rules.linalg.triangles import diagonal_of, ill_conditioned
from tape_ad.rules.maps import (
    SHIELD,
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
    adjoint,
    expanding_key,
)
from tape_ad.rules.maps.patterns import batched
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.continued import signed_power, unit
from tape_ad.rules.numpy.elementwise import is_complex, nonzero
from tape_ad.rules.numpy.reductions import real_weighted_sum, without_imaginary_part

Axis = int | tuple[int, ...] | None
Axes = tuple[int, ...]
Order = Any


# Vectors


def vector_weights(x: Array, out: Array, order: Order, axes: Axes) -> Array:
    """Differentiate a vector norm by its elements.

    Parameters
    ----------
    x : array
    out : array
        The norm, with the reduced axes kept.
    order : int, float or None
        As in `numpy.linalg.norm`.
    axes : tuple of int
        The axes that are reduced, negative.
    """
    if order is None or order == 2:
        return unit(x, out)
    if order == 0:  # the number of elements that are not 0
        return 0.0
    if math.isinf(order):  # np.sign(x) is x / |x| for complex numbers too, and 0 for 0
        return np.sign(x) * shared(np.absolute(x) == out, axes, out.dtype)
    if order == 1:
        return np.sign(x)
    if not is_complex(x):
        return signed_power(unit(x, out), float(order) - 1)
    ratio = np.where(np.equal(x, 0), 1, np.absolute(x) / nonzero(out))
    return np.sign(x) * ratio ** (float(order) - 1)


def shared(chosen: Any, axes: Axes, dtype: Any) -> Any:
    """Weigh what ties for an extremum so that the weights add up to 1."""
    return chosen / np.add.reduce(chosen, axis=axes, keepdims=True, dtype=dtype.type)


def vector_norm_partial(
    out: Array, x: Array, axis: Axis, keepdims: bool, **order: Any
) -> LinearMap:
    """Make the partial of a vector norm."""
    axes = axes_of(x.ndim, axis)
    kept = out if keepdims else out[expanding_key(x.ndim, axes)]
    weights = vector_weights(x, kept, order["ord"], axes)
    linear = real_weighted_sum(weights, x, axes, keepdims)
    extreme = order["ord"] is not None and math.isinf(order["ord"])
    return Chain((SHIELD, linear)) if extreme else linear


# Matrices


def matrix_weights(x: Array, order: Order) -> Array:
    """Differentiate a norm of the last two axes by its elements, where it is not Frobenius's.

    Parameters
    ----------
    x : array, shape (..., m, n)
    order : int, float or str
        As in `numpy.linalg.norm`.
    """
    if order == "nuc":
        u, s, vh = singular_triplets(x, full_matrices=False, ties=0.0)
        return (u * above_zero(s)[..., None, :]) @ vh
    if order in (2, -2):
        u, s, vh = singular_triplets(x, full_matrices=False, ties=0.0)
        return (u * (extremal(s, order) * above_zero(s))[..., None, :]) @ vh
    summed, other = (-2, -1) if abs(order) == 1 else (-1, -2)
    sums = np.add.reduce(np.absolute(x), axis=summed, keepdims=True)
    extreme = (np.max if order > 0 else np.min)(sums, axis=other, keepdims=True)
    return np.sign(x) * shared(sums == extreme, (other,), x.real.dtype)


def above_zero(s: Array) -> Any:
    """Tell which singular values are not 0 up to rounding."""
    return ~indistinct(widened(s, s.shape[-1] + 1))[..., -1, :-1]


def extremal(s: Array, order: int) -> Any:
    """Share a gradient of 1 among the largest singular values, or among the smallest."""
    return shared(indistinct(s)[..., 0 if order > 0 else -1, :], (-1,), s.dtype)


def matrix_norm_map(x: Array, order: Order, axes: Axes, keepdims: bool) -> LinearMap:
    """Make the partial of a matrix norm over two axes, of which the first counts rows."""
    if x.size == 0:
        return real_weighted_sum(x, x, axes, keepdims)
    weights = matrix_weights(np.moveaxis(x, axes, (-2, -1)), order)
    return real_weighted_sum(np.moveaxis(weights, (-2, -1), axes), x, axes, keepdims)


def norm_partial(out: Array, x: Array, axis: Axis, keepdims: bool, **order: Any) -> LinearMap:
    """Make the partial of a norm: of a matrix for two axes, of a vector for any other number."""
    axes, ord_ = axes_of(x.ndim, axis), order["ord"]
    if len(axes) == 2 and ord_ not in (None, "fro", "f"):
        linear = Deferred(matrix_norm_map, (x, ord_, axes, keepdims))
        return linear if ord_ in ("nuc", 2, -2) else Chain((SHIELD, linear))
    return vector_norm_partial(out, x, axes, keepdims, ord=2 if len(axes) == 2 else ord_)


# Condition numbers


def cond_map(out: Array, x: Array, p: Order) -> LinearMap:
    """Make the partial of a condition number."""
    weights = ratio_weights(out, x, p) if p in (None, 2, -2) else product_weights(x, p)
    linear = real_weighted_sum(weights, x, (-2, -1), keepdims=False)
    # NumPy 2.0 gives a condition number that is a product as a complex number without need.
    return without_imaginary_part(out, linear)


def ratio_weights(out: Array, x: Array, p: Order) -> Array:
    """Differentiate the ratio of the extreme singular values; inf or nan at singular matrices."""
    u, s, vh = singular_triplets(x, full_matrices=False, ties=0.0)
    with np.errstate(all="ignore"):
        logarithmic = extremal(s, 1) / s[..., :1] - extremal(s, -1) / s[..., -1:]
        factors = out[..., None] * (-logarithmic if p == -2 else logarithmic)
    return (u * factors[..., None, :]) @ vh


def product_weights(x: Array, p: Order) -> Array:
    """Differentiate the product of the norms of a matrix and of its inverse."""
    inverse = np.linalg.inv(x)
    back = adjoint(inverse)
    sizes = [np.linalg.norm(m, p, (-2, -1), True) for m in (x, inverse)]
    changes = [
        m / size if p in ("fro", "f") else matrix_weights(m, p)
        for m, size in zip((x, inverse), sizes, strict=True)
    ]
    return changes[0] * sizes[1] - back @ changes[1] @ back * sizes[0]


NORMS: dict[Any, Entry] = {
    np.linalg.norm: rule(
        quiet(norm_partial),
        signature=arguments_of(np.linalg.norm, "x", "ord axis keepdims"),
        body=bodies.euclidean,
    ),
    np.linalg.vector_norm: rule(
        quiet(vector_norm_partial),
        signature=arguments_of(np.linalg.vector_norm, "x", "ord axis keepdims"),
        facts=facts.along(),
    ),
    **bodies.own(np.linalg.matrix_norm, facts=facts.cores("(m,n)->...")),
    np.linalg.cond: rule(
        lambda out, x, p: Deferred(cond_map, (out, x, p)),
        signature=arguments_of(np.linalg.cond, "x", "p"),
        facts=facts.cores("(m,n)->()"),
    ),
}


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

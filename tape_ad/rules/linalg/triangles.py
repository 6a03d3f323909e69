"""Linear maps of triangular and Hermitian parts of matrices."""

import math
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import anywhere, is_traced, overridable, whole
from tape_ad.rules.maps import Array, Chain, Conjugate, Transpose, adjoint
from tape_ad.rules.maps.patterns import batched

SMALL = 40
"""A matrix of so many rows is inverted as if it were any, which takes no longer than its halves."""


@define(eq=False, repr=False)
class HermitianFromTriangle:
    """The Hermitian matrix that LAPACK sees when it is told to read one triangle of an array.

    The other triangle, and the imaginary part of the diagonal, are never read, and so get no
    gradient.
    """

    pattern = batched(2, 2)
    upper: bool

    def push(self, t: Array) -> Array:
        """Mirror the triangle."""
        weights = half_diagonal(t, upper=self.upper)
        half = np.where(np.equal(weights, 0), 0, t) * weights
        return half + adjoint(half)

    def pull(self, ct: Array) -> Array:
        """Add the other triangle to the one that is read."""
        return (ct + adjoint(ct)) * half_diagonal(ct, upper=self.upper)


CONJUGATE_TRANSPOSE = Chain((Transpose((-1, -2)), Conjugate()))
"""The conjugate transpose of the last two axes, one for all."""


def half_diagonal(matrix: Array, upper: bool = False) -> np.ndarray[Any, Any]:
    """Make the weights that keep one triangle of a square matrix, and half of its diagonal."""
    n, real = matrix.shape[-1], np.finfo(matrix.dtype).dtype
    weights = np.tri(n, dtype=real)
    weights.reshape(-1)[:: n + 1] = 0.5
    return weights.T if upper else weights


def inverse_of_lower(matrix: Array) -> Array:
    """Invert lower triangular matrices by halves, most of which is products of matrices."""
    n = matrix.shape[-1]
    if n > SMALL and is_traced(matrix):
        return inverse_of_lower_as_one(matrix)
    if n <= SMALL or type(matrix) is not np.ndarray:
        return np.linalg.inv(matrix)
    k = n // 2
    upper, lower = matrix[..., :k, :k], matrix[..., k:, k:]
    inverse = np.zeros(matrix.shape, matrix.dtype)
    inverse[..., :k, :k] = first = inverse_of_lower(upper)
    inverse[..., k:, k:] = last = inverse_of_lower(lower)
    inverse[..., k:, :k] = -(last @ matrix[..., k:, :k] @ first)
    return inverse


inverse_of_lower_as_one = whole(inverse_of_lower)


def diagonal_of(matrix: Array) -> Array:
    """Take the diagonal of the last two axes."""
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def solve_all(a: Array, b: Array) -> Array:
    """Solve ``a @ x = b`` for matrices `b`, which may be stacked more deeply than `a`.

    The further stack becomes columns, so that each matrix is factorised once.

    Parameters
    ----------
    a : array, shape (..., n, n)
    b : array, shape stack + (..., n, k)

    Returns
    -------
    array, shape stack + (..., n, k)
    """
    extra = b.ndim - a.ndim
    if extra <= 0:
        return np.linalg.solve(a, b)
    stack, k = b.shape[:extra], b.shape[-1]
    columns = np.moveaxis(b, range(extra), range(-extra, 0))
    rows = columns.shape[: a.ndim - 1]
    x = np.linalg.solve(a, columns.reshape((*rows, k * math.prod(stack))))
    return np.moveaxis(x.reshape((*x.shape[:-1], k, *stack)), range(-extra, 0), range(extra))


def explained_solve(a: Array, b: Array, why: str) -> Array:
    """Solve as `solve_all`, with words of our own where there is no solution.

    Raises
    ------
    numpy.linalg.LinAlgError
        With `why`, when a matrix is singular.
    """
    try:
        return solve_all(a, b)
    except np.linalg.LinAlgError as error:
        raise np.linalg.LinAlgError(why) from error


@overridable
def ill_conditioned(a: Array, inverse: Array, share: float) -> bool:
    """Tell whether an inverse has lost a share of its digits, in some matrix of the stack.

    Parameters
    ----------
    a, inverse : array, shape (..., n, n)
    share : float
        1 for all digits.
    """
    return anywhere(digits_lost(a, inverse, share))


def digits_lost(a: Array, inverse: Array, share: float) -> Array:
    """Tell of each matrix of a stack whether the inverse has lost a share of its digits."""
    with np.errstate(all="ignore"):
        norms = [np.max(np.sum(np.abs(m), axis=-1), axis=-1, initial=0) for m in (a, inverse)]
        limit = float(np.finfo(a.dtype).eps) ** -share
        return ~np.less(norms[0] * norms[1], limit)

"""Affine functions, each as one node."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, rule
from tape_ad.rules.maps import SAME, Array, MatmulLeft, MatmulRight


@overridable
def linear(x: Array, weight: Array, bias: Array, /) -> Array:
    """Compute ``x @ weight + bias`` as one node.

    Parameters
    ----------
    x : array or Tensor, shape (..., in_features)
    weight : array or Tensor, shape (in_features, out_features)
    bias : array or Tensor, shape (out_features,)

    Returns
    -------
    array or Tensor, shape (..., out_features)

    Examples
    --------
    >>> linear(np.ones((2, 3)), np.ones((3, 1)), np.ones(1))
    array([[4.],
           [4.]])
    """
    total = np.matmul(x, weight)
    plain = type(total) is type(bias) is np.ndarray and total.dtype is bias.dtype
    if plain and bias.shape == total.shape[-1:]:
        total += bias
        return total
    return total + bias


@overridable
def two_linear(x: Array, w: Array, h: Array, u: Array, bias: Array, /) -> Array:
    """Compute ``x @ w + h @ u + bias``, from which the gates of a cell come, as one node.

    Parameters
    ----------
    x : array or Tensor, shape (..., m)
    w : array or Tensor, shape (m, n)
    h : array or Tensor, shape (..., k)
    u : array or Tensor, shape (k, n)
    bias : array or Tensor, shape (n,)

    Returns
    -------
    array or Tensor, shape (..., n)

    Examples
    --------
    >>> two_linear(np.ones(3), np.ones((3, 1)), np.ones(2), np.ones((2, 1)), np.ones(1))
    array([6.])
    """
    return plus(plus(np.matmul(x, w), np.matmul(h, u)), bias)


def plus(total: Array, more: Array) -> Array:
    """Add to an array that nobody else has seen, in its own memory where that is possible."""
    if type(total) is type(more) is np.ndarray and total.dtype is more.dtype:
        place = total.shape[total.ndim - more.ndim :]
        if place == more.shape or np.broadcast_shapes(total.shape, more.shape) == total.shape:
            total += more
            return total
    return total + more


AFFINE: dict[Any, Entry] = {
    linear: rule(
        lambda out, x, weight, bias: MatmulLeft(weight, x.ndim),
        lambda out, x, weight, bias: MatmulRight(x, weight.ndim),
        lambda out, x, weight, bias: SAME,
        facts=facts.cores("(m),()!,()!->(n)").composed_of(linear),
    ),
    two_linear: rule(
        lambda out, x, w, h, u, bias: MatmulLeft(w, x.ndim),
        lambda out, x, w, h, u, bias: MatmulRight(x, w.ndim),
        lambda out, x, w, h, u, bias: MatmulLeft(u, h.ndim),
        lambda out, x, w, h, u, bias: MatmulRight(h, u.ndim),
        lambda out, x, w, h, u, bias: SAME,
        facts=facts.composed(two_linear),
    ),
}

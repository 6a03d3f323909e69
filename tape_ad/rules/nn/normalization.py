"""Numbers brought to mean 0 and variance 1: what normalising layers are made of."""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import composition, overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, rule
from tape_ad.rules.maps import SAME, Array, LinearMap, add_reduce, unless_all_zero, unless_zero
from tape_ad.rules.maps.patterns import along
from tape_ad.rules.nn.activations import inner, spare
from tape_ad.rules.nn.affine import plus


@overridable
def standardize(x: Array, /, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    """Subtract the mean and divide by the standard deviation, sqrt(variance + eps).

    Parameters
    ----------
    x : array or Tensor, any shape
    axes : tuple of int
        What mean and variance are taken over; negative.
    eps : float
        What keeps the divisor from 0.

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> standardize(np.array([1.0, 3.0]), (-1,), eps=0.0)
    array([-1.,  1.])
    """
    return standardize_and_more(x, axes, eps)[0]


@overridable
def normalize(
    x: Array, weight: Array, bias: Array, /, axes: tuple[int, ...], eps: float = 1e-5
) -> Array:
    """Compute ``standardize(x) * weight + bias`` as one node.

    Parameters
    ----------
    x : array or Tensor, any shape
    weight, bias : array or Tensor
        They broadcast to the shape of `x`.
    axes : tuple of int
        What mean and variance are taken over; negative.
    eps : float
        What keeps the divisor from 0.

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> normalize(np.array([1.0, 3.0]), np.full(2, 2.0), np.ones(2), (-1,), eps=0.0)
    array([-1.,  3.])
    """
    return normalize_and_more(x, weight, bias, axes, eps)[0]


def standardize_and_more(
    x: Array, axes: tuple[int, ...], eps: float
) -> tuple[Array, tuple[Array, Array]]:
    """Compute `standardize`, and what its partial is made of: the result and the divisor."""
    out, divisor = standardized(x, axes, eps)
    return out, (out, divisor)


def normalize_and_more(
    x: Array, weight: Array, bias: Array, axes: tuple[int, ...], eps: float
) -> tuple[Array, tuple[Array, Array]]:
    """Compute `normalize`, and what its partials are made of."""
    out, y, divisor = normalized(x, weight, bias, axes, eps)
    return out, (y, divisor)


@composition
def standardized(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array]:
    """Compute `standardize`, and the divisor."""
    centred = x - mean(x, axes)
    divisor = np.sqrt(mean_product(centred, centred, axes) + eps)
    return np.divide(centred, divisor, out=spare(centred)), divisor


@composition
def normalized(
    x: Array, weight: Array, bias: Array, axes: tuple[int, ...], eps: float
) -> tuple[Array, Array, Array]:
    """Compute `normalize`, what it is before it is scaled and shifted, and the divisor."""
    y, divisor = standardized(x, axes, eps)
    return plus(y * weight, bias), y, divisor


def mean(x: Array, axes: tuple[int, ...]) -> Array:
    """Average over axes, which are kept with length one."""
    if x.dtype.char == "e":  # which NumPy adds up in single precision
        return np.mean(x, axis=axes, keepdims=True)
    return add_reduce(x, axis=axes, keepdims=True) / math.prod([x.shape[axis] for axis in axes])


def mean_product(x: Array, y: Array, axes: tuple[int, ...]) -> Array:
    """Average products over axes, which are kept with length one."""
    if x.dtype.char == "e":
        return mean(x * y, axes)
    return inner(x, y, axes) / math.prod([x.shape[axis] for axis in axes])


@define(eq=False, repr=False)
class Standardize:
    """The derivative of `standardize`, y: (t - mean(t) - y * mean(y * t)) / deviation; symmetric.

    Ioffe & Szegedy, "Batch normalization", https://arxiv.org/abs/1502.03167, section 3.

    Parameters
    ----------
    y, divisor : array
    axes : tuple of int
    weight : array, optional
        What the result is multiplied with.
    """

    fresh: ClassVar[bool] = True
    pattern = along("axes")
    y: Array
    divisor: Array
    axes: tuple[int, ...]
    weight: Array | None = None

    def push(self, t: Array) -> Array:
        standard = standardized_change(t, self.y, self.divisor, self.axes)
        return standard if self.weight is None else standard * self.weight

    def pull(self, ct: Array) -> Array:
        weighted = ct if self.weight is None else ct * self.weight
        return standardized_change(weighted, self.y, self.divisor, self.axes)

    def pull_chosen(self, ct: Array) -> Array:
        weighted = ct if self.weight is None else unless_zero(ct, ct * self.weight)
        changed = standardized_change(weighted, self.y, self.divisor, self.axes)
        return unless_all_zero(ct, changed, self.axes)


@composition
def standardized_change(t: Array, y: Array, divisor: Array, axes: tuple[int, ...]) -> Array:
    """Compute what `Standardize` does to a tangent, and to a cotangent too."""
    along = y * mean_product(y, t, axes)
    along = np.add(along, mean(t, axes), out=spare(along))
    rest = np.subtract(t, along, out=spare(along))
    return np.divide(rest, divisor, out=spare(rest))


def standardize_partial(
    saved: tuple[Array, Array],
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axes: tuple[int, ...],
    eps: float,
) -> LinearMap:
    """Make the partial of a normalization, a `Standardize`."""
    return Standardize(*saved, axes, weight)


NORMALIZATION: dict[Any, Entry] = {
    standardize: rule(
        standardize_partial,
        signature=arguments_of(standardize, "x"),
        compute=standardize_and_more,
        saves=True,
        facts=facts.along("axes").composed_of(standardize),
    ),
    normalize: rule(
        standardize_partial,
        lambda saved, x, weight, bias, axes, eps: saved[0],
        lambda saved, x, weight, bias, axes, eps: SAME,
        signature=arguments_of(normalize, "x weight bias"),
        compute=normalize_and_more,
        saves=True,
        facts=facts.along("axes", beside=("weight", "bias")).composed_of(normalize),
    ),
}

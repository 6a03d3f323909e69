"""Numbers brought to mean 0 and variance 1: what normalising layers are made of."""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps import Array, LinearMap
from tape_ad.overrides import overridable
from tape_ad.rules.base import Entry, rule
from tape_ad.rules.signatures import arguments_of

__all__ = ["NORMALIZATION", "standardize"]


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


def standardize_and_more(
    x: Array, axes: tuple[int, ...], eps: float
) -> tuple[Array, tuple[Array, Array]]:
    """Compute `standardize`, and what its partial is made of: the result and the divisor."""
    centred = x - np.mean(x, axis=axes, keepdims=True)
    divisor = np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)
    out = centred / divisor
    return out, (out, divisor)


@define(eq=False, repr=False)
class Standardize:
    """The derivative of `standardize`, y: (t - mean(t) - y * mean(y * t)) / deviation; symmetric.

    Ioffe & Szegedy, "Batch normalization", https://arxiv.org/abs/1502.03167, section 3.
    """

    broadcasts: ClassVar[bool] = False
    y: Array
    divisor: Array
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        along = self.y * np.mean(self.y * t, axis=self.axes, keepdims=True)
        return (t - np.mean(t, axis=self.axes, keepdims=True) - along) / self.divisor

    def pull(self, ct: Array) -> Array:
        return self.push(ct)


def standardize_partial(
    saved: tuple[Array, Array], x: Array, axes: tuple[int, ...], eps: float
) -> LinearMap:
    """See `Standardize`."""
    return Standardize(*saved, axes)


NORMALIZATION: dict[Any, Entry] = {
    standardize: rule(
        standardize_partial,
        signature=arguments_of(standardize, "x"),
        compute=standardize_and_more,
        saves=True,
    ),
}

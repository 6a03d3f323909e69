"""Products without one of their factors: what a factor of a product is weighed with."""

import numpy as np

from tape_ad.base.arrays.overridable import whole
from tape_ad.rules.maps import Array, expanding_key
from tape_ad.rules.maps.rearrangements import inverse
from tape_ad.rules.numpy.continued import all_finite, least

__all__ = ["SMALLEST", "shares_of_product"]

SMALLEST = 2.0**-960
"""A product that never falls below this has lost no digits of double precision on its way."""


@whole
def shares_of_product(product: Array | None, a: Array, axes: tuple[int, ...]) -> Array:
    """Give for each element the product of all the others, in the quickest way that is exact.

    Parameters
    ----------
    product : array or None
        With the axes or without them, if it is known.
    a : array
    axes : tuple of int
        The axes to multiply along, negative.

    Returns
    -------
    array, shape of `a`
    """
    weights = product_by_each(product, a, axes)
    return product_of_others(a, axes) if weights is None else weights


def product_of_others(a: Array, axes: tuple[int, ...]) -> Array:
    """Multiply for each element all the others, from both ends, so that nothing is divided.

    Parameters
    ----------
    a : array
    axes : tuple of int
        The axes to multiply along, negative.

    Returns
    -------
    array, shape of `a`
    """
    if a.size == 0:
        return a
    order = (*(i for i in range(-a.ndim, 0) if i not in axes), *axes)
    moved = np.transpose(a, order)
    kept = moved.shape[: a.ndim - len(axes)]
    rows = moved.reshape((*kept, -1))
    one = np.ones((*kept, 1), a.dtype)
    before = np.concatenate((one, np.cumprod(rows[..., :-1], axis=-1)), axis=-1)
    after = np.concatenate((one, np.cumprod(rows[..., :0:-1], axis=-1)), axis=-1)[..., ::-1]
    return np.transpose((before * after).reshape(moved.shape), inverse(order))


def product_by_each(product: Array | None, a: Array, axes: tuple[int, ...]) -> Array | None:
    """Divide the product by each factor, if no part of it is too small to have all its digits.

    Parameters
    ----------
    product : array or None
        With the axes or without them, if it is known.
    a : array
    axes : tuple of int
    """
    if type(a) is not np.ndarray or a.dtype.char not in "df":
        return None
    wide = a.astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        if product is None or product.dtype is not wide.dtype:
            product = np.multiply.reduce(wide, axis=axes, keepdims=True)
        elif product.ndim < a.ndim:
            product = product[expanding_key(a.ndim, axes)]
        small = np.multiply.reduce(np.minimum(np.abs(wide), 1), axis=axes)
        if least(small) > SMALLEST and all_finite(product):
            return (product / wide).astype(a.dtype, copy=False)
    return None

"""Where coordinates are among the knots of splines, in SciPy's modes."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import Array
from tape_ad.scipy.ndimage.extension import OUTSIDE, folded

__all__ = ["Place", "place", "where_finite"]

KNOTS = {"constant": "mirror", "wrap": "mirror"}
"""How the coefficients go on beyond the edges, in modes that do not say so themselves."""


def within(c: Array, n: int, mode: str) -> tuple[Array, Array]:
    """Bring the coordinates along one axis to where the image is.

    Parameters
    ----------
    c : array or Tensor
    n : int
    mode : str

    Returns
    -------
    inside : array or Tensor
    slope : array
        Its derivative, 1, -1 or 0; a constant.
    """
    one = np.ones(c.shape)
    low, high = np.less(c, 0), np.greater(c, n - 1)
    if mode in ("nearest", "grid-constant"):  # whose coefficients go on for ever
        return c, one
    if mode == "constant" or n <= 1:
        inside = np.where(low, 0, np.where(high, n - 1, c))
        return inside, np.where(low | high, 0.0, 1.0)
    if mode == "wrap":
        period = n - 1
        below, above = c + period * (np.trunc(-c / period) + 1), c - period * np.trunc(c / period)
        return np.where(low, below, np.where(high, above, c)), one
    if mode == "grid-wrap":
        below, above = n - 1 + wrapped(c + 1, n), wrapped(c, n)
        return np.where(low, below, np.where(high, above, c)), one
    shift = 0 if mode == "mirror" else 1
    period = 2 * n - 2 if mode == "mirror" else 2 * n
    below, above = c + period * np.trunc(-c / period), c - period * np.trunc(c / period)
    if mode == "mirror":
        turned_below, turned_above = np.greater(below, 1 - n), np.greater_equal(above, n)
    else:
        turned_below, turned_above = np.greater_equal(below, -n), np.greater_equal(above, n)
    below = np.where(turned_below, -below - shift, below + period)
    above = np.where(turned_above, period - above - shift, above)
    turned = np.where(low, turned_below, high & turned_above)
    return np.where(low, below, np.where(high, above, c)), np.where(turned, -1.0, 1.0)


def wrapped(c: Array, n: int) -> Array:
    """Compute the remainder with the sign of the dividend, as C's ``fmod`` does."""
    return c - n * np.trunc(c / n)


@frozen(eq=False)
class Place:
    """Where the coordinates along one axis are among the knots.

    Attributes
    ----------
    y : array or Tensor, shape (points,)
        How far behind a knot.
    slope : array, shape (points,)
    index : array of int, shape (points, order + 1)
        The coefficients whose splines reach there; `OUTSIDE` for the constant.
    """

    y: Array
    slope: Array
    index: Array


def place(c: Array, n: int, order: int, mode: str) -> Place:
    """Find where coordinates along an axis of `n` coefficients are."""
    inside, slope = within(c, n, mode)
    knots = inside if order % 2 else inside + 0.5
    first = np.floor(knots)
    reaching = first.astype(int)[:, None] - order // 2 + np.arange(order + 1)
    index = folded(reaching, n, KNOTS.get(mode, mode))
    if mode == "constant":
        index = np.where((np.less(c, 0) | np.greater(c, n - 1))[:, None], OUTSIDE, index)
    return Place(knots - first, slope, index)


def where_finite(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """Let a function of SciPy's refuse coordinates that make it read outside of its memory.

    Parameters
    ----------
    function : callable
    names : str
        The parameters that may not be nan, nor infinite where the mode reads the image there.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bad = np.isnan if bound.arguments.get("mode", "constant") == "constant" else not_finite
        for name in names:
            if bad(bound.arguments.get(name, 0.0)).any():
                raise ValueError(f"ndimage.{function.__name__}: {name}= is not finite")
        return function(*args, **kwargs)

    return checked


def not_finite(x: Array) -> Array:
    """Tell which numbers are nan or infinite."""
    return ~np.isfinite(x)

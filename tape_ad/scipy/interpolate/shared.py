"""What the functions of `scipy.interpolate` do with their arguments before they compute."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, in_double

__all__ = [
    "columns",
    "folded",
    "in_place_of_axis",
    "increasing",
    "integral_over_periods",
    "is_plain",
    "refuse_handles",
    "values_along",
]


def is_plain(*arrays: Any) -> bool:
    """Tell whether all of these are what SciPy can take, so that it is called itself."""
    for x in arrays:
        if type(x) in (list, tuple):
            if not is_plain(*x):
                return False
        elif type(x) is not np.ndarray and hasattr(x, "__array_function__"):
            return False
    return True


def increasing(x: Any) -> Array:
    """Check the knots of an interpolant, as SciPy does.

    Raises
    ------
    ValueError
        When they are complex, not finite, fewer than two, or not strictly increasing.
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise ValueError("`x` must contain real values.")
    if x.ndim != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if x.shape[0] < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if not np.all(np.isfinite(x)):
        raise ValueError("`x` must contain only finite values.")
    if np.any(x[1:] <= x[:-1]):
        raise ValueError("`x` must be strictly increasing sequence.")
    return in_double(x)


def values_along(x: Array, y: Any, axis: int, name: str = "y") -> Array:
    """Check the values at the knots, as SciPy does, and move the axis of the knots to the front.

    Raises
    ------
    ValueError
        When there are not as many as knots, or one is not finite.
    """
    y = in_double(y)
    if x.shape[0] != y.shape[axis]:
        raise ValueError(
            f"The length of `{name}` along `axis`={axis} doesn't match the length of `x`"
        )
    if not np.all(np.isfinite(y)):
        raise ValueError(f"`{name}` must contain only finite values.")
    return y if axis == 0 else np.moveaxis(y, axis, 0)


def columns(x: Array, ndim: int) -> Array:
    """Add axes behind the only one of an array, for values that have `ndim` of them."""
    return x.reshape((x.shape[0],) + (1,) * (ndim - 1))


def folded(x: Array, first: Array, last: Array) -> Array:
    """Move points into the first period."""
    return first + (x - first) % (last - first)


def integral_over_periods(
    part: Callable[[Array, Array], Array], a: Array, b: Array, first: Array, last: Array
) -> Array:
    """Integrate a periodic piecewise polynomial over any interval.

    Parameters
    ----------
    part : callable
        Gives the integral between two bounds in the first period.
    a, b : float or Tensor
        The bounds, in order.
    first, last : float or Tensor
        Where the first period begins and ends.
    """
    period = last - first
    periods = np.floor((b - a) / period)
    start = folded(a, first, last)
    end = start + (b - a - periods * period)
    total = periods * part(first, last)
    if end <= last:
        return total + part(start, end)
    return total + part(start, last) + part(first, first + (end - last))


def in_place_of_axis(value: Array, points: Array, axis: int) -> Array:
    """Move the axes of points, which are first in a value, to where one axis of the data was."""
    if axis == 0:
        return value
    return np.moveaxis(value, range(points.ndim), range(axis, axis + points.ndim))


def refuse_handles(function: str, instead: str, **arguments: Any) -> None:
    """Refuse handles where there is no derivative, or none is given.

    Raises
    ------
    UnsupportedArgumentError
        It names the function, the argument and what to write instead.
    """
    for name, value in arguments.items():
        if not is_plain(value):
            raise UnsupportedArgumentError(f"{function}: {name} cannot be a handle; {instead}")

"""What the functions of `scipy.interpolate` do with their arguments before they compute."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, unwrapped


def is_plain(*arrays: Any) -> bool:
    """Tell whether all of these are what SciPy can take, so that it is called itself."""
    for x in arrays:
        if type(x) in (list, tuple):
            if not is_plain(*x):
                return False
        elif type(x) is not np.ndarray and hasattr(x, "__array_function__"):
            return False
    return True


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
        if not is_plain(unwrapped(value)):
            raise UnsupportedArgumentError(f"{function}: {name} cannot be a handle; {instead}")

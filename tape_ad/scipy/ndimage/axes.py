"""The arguments of `scipy.ndimage` that may be one for all axes or one for each."""

import operator
from typing import Any

import numpy as np

from tape_ad.extend.arrays import as_array

__all__ = ["axes_of", "numbers", "one_axis", "per_axis"]


def axes_of(ndim: int, axes: Any) -> list[int]:
    """Write the argument `axes` as a list of numbers that are not negative.

    Examples
    --------
    >>> axes_of(3, (-1, 0))
    [2, 0]
    """
    if axes is None:
        return list(range(ndim))
    return [one_axis(ndim, axis) for axis in np.atleast_1d(axes).tolist()]


def one_axis(ndim: int, axis: Any) -> int:
    """Write the argument `axis` as a number that is not negative."""
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number % ndim


def per_axis(argument: Any, count: int) -> list[Any]:
    """List an argument for each axis, which may be one for all of them, or a handle of either.

    Raises
    ------
    ValueError
        When it is a sequence of another length.

    Examples
    --------
    >>> per_axis("wrap", 2), per_axis([1, 2], 2)
    (['wrap', 'wrap'], [1, 2])
    """
    if isinstance(argument, str) or argument is None:
        return [argument] * count
    if hasattr(argument, "ndim"):
        if argument.ndim == 0:
            return [argument] * count
        argument = [argument[i] for i in range(argument.shape[0])]
    elif not np.iterable(argument):
        return [argument] * count
    values = list(argument)
    if len(values) != count:
        raise ValueError(f"one argument for each of {count} axes was asked for, got {len(values)}")
    return values


def numbers(argument: Any, count: int) -> list[Any]:
    """List numbers for each axis as arrays without axes, or handles of such."""
    return [as_array(each) for each in per_axis(argument, count)]

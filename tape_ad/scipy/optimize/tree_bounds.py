"""Bounds that have the structure of what they bound, brought into SciPy's row of pairs."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tape_ad.base.trees import at_leaves, is_leaf

__all__ = ["in_a_row"]


def in_a_row(bounds: Any, x0: Any) -> Any:
    """Give bounds as SciPy takes them, about the elements of all arrays of a tree in a row.

    Parameters
    ----------
    bounds : any
        The tree `x0` with a pair (lower, upper) in place of each array, or None where there is
        none; or what SciPy takes, which stays as it is. Lower and upper bounds are numbers, arrays
        that broadcast to the shape of what they bound, handles, or None.
    x0 : array or tree

    Returns
    -------
    any
        A list of pairs, or what SciPy takes already.

    Raises
    ------
    ValueError
        When there are no bounds for a part of `x0`, or some for what is not there, or no pair where
        one should be.
    """
    if isinstance(bounds, tuple) and any(isinstance(each, Mapping) for each in bounds):
        raise ValueError(
            "bounds are one tree, with a pair (lower, upper) in place of each array, and not a "
            'pair of trees; write {"w": (0, 1)}'
        )
    if not isinstance(bounds, Mapping) and not is_like(bounds, x0):
        return bounds
    sides = at_leaves(x0, bounds)
    return [pair for at, x, given in sides for pair in pairs(at, np.shape(x), given)]


def is_like(bounds: Any, x0: Any) -> bool:
    """Tell whether bounds are a tree of a class that SciPy knows nothing of."""
    return type(bounds) is type(x0) and not is_leaf(x0) and not isinstance(x0, (list, tuple))


def pairs(at: str, shape: tuple[int, ...], given: Any) -> Iterator[tuple[Any, Any]]:
    """Give every element of an array its bounds."""
    if given is not None and not (isinstance(given, (tuple, list)) and len(given) == 2):
        raise ValueError(
            f"the bounds of {at} are {given!r}; write a pair (lower, upper), with None for none"
        )
    lower, upper = (side(at, shape, each) for each in given or (None, None))
    return zip(lower, upper, strict=True)


def side(at: str, shape: tuple[int, ...], bound: Any) -> Any:
    """Give every element of an array its lower bound, or its upper one."""
    if bound is None:
        return [None] * int(np.prod(shape))
    try:
        return np.ravel(np.broadcast_to(bound, shape))
    except ValueError:
        raise ValueError(
            f"a bound of {at} has shape {np.shape(bound)}, which does not broadcast to {shape}"
        ) from None

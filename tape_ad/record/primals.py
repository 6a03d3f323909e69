"""What is behind a handle: the plain array, and whose memory that is."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import is_later
from tape_ad.record.array_operators import ArrayOperators
from tape_ad.rules.maps import Array

ndarray = np.ndarray

PLAIN_TYPES = frozenset({np.ndarray, np.float64, np.float32, float, int, complex})
"""The types of operands that need no look."""


def primal(leaf: Any, path: str = "") -> Any:
    """Give the plain array behind a handle of any nesting; anything else as it is.

    Examples
    --------
    >>> primal(2.0)
    2.0
    """
    while hasattr(leaf, "record"):
        leaf = leaf.data
    return leaf


def memory_of(leaf: Any) -> Any:
    """Give the NumPy array behind a handle, or behind another kind of array that lies below it.

    Such an array is told that where it lies in memory is relied on.
    """
    while isinstance(leaf, ArrayOperators):
        leaf._guard_window()
        leaf = getattr(leaf, "stack") if hasattr(leaf, "batch_here") else leaf.data  # noqa: B009 - of one kind of them alone
    return leaf


def is_number(leaf: Any) -> bool:
    """Tell whether a handle stands for a number, and for no array; also for one of each batch."""
    while isinstance(leaf, ArrayOperators) and not hasattr(leaf, "batch_here"):
        leaf = leaf.data
    if hasattr(leaf, "batch_here") or is_later(leaf):  # the type of these does not say it
        return bool(leaf.ndim == 0 and not getattr(leaf, "whole", False))
    return isinstance(leaf, np.generic)


def is_number_like(leaf: Any) -> bool:
    """Tell what `bind` makes a handle of: arrays and Python numbers, but no bools."""
    number = isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool)
    if number or isinstance(leaf, dict):  # some dicts have their entries as attributes
        return number
    return hasattr(leaf, "dtype") and not isinstance(leaf, type)


def read_only(array: Array) -> Array:
    """View an array without the right to write; what is not NumPy's is given as it is."""
    if isinstance(array, np.generic):
        array = np.asarray(array)
    if isinstance(array, np.ndarray):
        array = array.view()
        array.setflags(write=False)
    return array


def read_only_primal(leaf: Any, path: str = "") -> Any:
    """Give the array behind a handle, for a function that must not write to it."""
    value = primal(leaf)
    if hasattr(value, "batch_here"):  # which holds handles of records further out
        return type(value)(read_only_primal(value.stack), value.batch_here, value.whole)
    return leaf if value is leaf else read_only(value)


def is_view(out: Array, operand: Array) -> bool:
    """Tell whether NumPy made a view of an operand, which writing to either would show in."""
    if type(out) is not ndarray or type(operand) is not ndarray:
        if type(out) is np.float64:  # a number is no view
            return False
        out, operand = primal(out), primal(operand)
        if getattr(out, "source", None) is operand is not None:  # a view in each of a batch
            return True
        out, operand = memory_of(out), memory_of(operand)  # what is no array has no views
        if type(out) is not ndarray or type(operand) is not ndarray:
            return False
    base = out.base
    if base is None:
        return out is operand or operand.base is out
    if type(base) is ndarray:  # the array that owns the memory
        return base is operand or base is operand.base
    return np.may_share_memory(out, operand)

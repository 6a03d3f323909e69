"""Whether a handle can be reached from what a call is given: a bounded look."""

import functools
import types
from collections.abc import Hashable
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import SYMBOLS, TRACERS, is_dask
from tape_ad.record.array_operators import ArrayOperators
from tape_ad.record.constants import CONSTANTS

__all__ = ["is_handle", "reaches"]

DEPTH = 8
BUDGET = 4000
"""How many objects are looked at. What is larger counts as one that holds handles."""

PLAIN = frozenset(
    {int, float, complex, bool, str, bytes, type(None), type(...), slice, range, np.dtype}
    | {np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128, np.str_}
    | {types.BuiltinFunctionType, types.ModuleType, np.ufunc, type}
)
"""Types of what holds no handle."""


@functools.cache
def is_handle_type(kind: Hashable) -> bool:
    """Tell whether objects of a type record the calls made with them."""
    return isinstance(kind, type) and (
        issubclass(kind, ArrayOperators) or kind in TRACERS or kind in SYMBOLS
    )


def is_handle(value: Any) -> bool:
    """Tell whether something is a handle, or another of the arrays that record calls."""
    kind: Any = type(value)
    return kind is not np.ndarray and is_handle_type(kind) and kind not in CONSTANTS


def reaches(value: Any) -> bool:
    """Tell whether a handle may be reached from a value, within a few steps."""
    kind: Any = type(value)
    if kind in PLAIN:
        return False
    seen: set[int] = set()
    level = [value]
    for _ in range(DEPTH):
        following: list[Any] = []
        for each in level:
            kind = type(each)
            if kind in PLAIN or id(each) in seen:
                continue
            if kind is np.ndarray:
                if each.dtype.hasobject:
                    following.extend(each.flat)
                continue
            if (is_handle_type(kind) and kind not in CONSTANTS) or is_dask(kind):
                return True
            seen.add(id(each))
            following += within(each, kind)
            if len(following) > BUDGET or len(seen) > BUDGET:
                return True
        if not following:
            return False
        level = following
    return False


def within(value: Any, kind: type) -> Any:  # noqa: PLR0911 - one for each kind
    """Give what an object holds, but for what is plain at a glance."""
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return () if PLAIN.issuperset(map(type, value)) else value
    if kind is dict:
        values = value.values()
        return () if PLAIN.issuperset(map(type, values)) else values
    if kind is types.FunctionType:
        return held_by_function(value)
    if kind is types.MethodType:
        return (value.__self__, value.__func__)
    if kind is functools.partial:
        return (value.func, *value.args, *value.keywords.values())
    if isinstance(value, (type, types.ModuleType)):
        return ()
    found: list[Any] = []
    if isinstance(value, (list, tuple, set, frozenset)):
        found += value
    elif isinstance(value, dict):
        found += value.values()
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        found += attributes.values()
    for owner in kind.__mro__[:-1]:
        slots = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                found.append(getattr(value, name, None))
    return found


def held_by_function(function: Any) -> list[Any]:
    """Give what a function closes over, and its defaults."""
    found = list(function.__defaults__ or ())
    found += (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # of what is defined later
            continue
    return found

"""Whether a handle can be reached from what a call is given: a bounded look."""

import collections
import functools
import io
import itertools
import types
import weakref
from collections.abc import ItemsView, Iterator, ValuesView
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import SYMBOLS, TRACERS, is_dask
from tape_ad.base.trees import content_of, slots_of
from tape_ad.record.array_operators import ArrayOperators
from tape_ad.record.constants import CONSTANTS

DEPTH = 12
"""How many steps a handle may be away."""

BUDGET = 4000
"""How many objects are looked at. What is larger counts as one that holds handles."""

PLAIN = frozenset(
    {int, float, complex, bool, str, bytes, type(None), type(...), slice, range, np.dtype}
    | {np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128, np.str_}
    | {types.BuiltinFunctionType, types.ModuleType, np.ufunc, type}
)
"""Types of what holds no handle."""


def is_active_type(kind: type) -> bool:
    """Tell whether objects of a type record the calls made with them."""
    return issubclass(kind, ArrayOperators) or kind in TRACERS or kind in SYMBOLS


def is_active(value: Any) -> bool:
    """Tell whether something is a handle, or another of the arrays that record calls."""
    kind: Any = type(value)
    return kind is not np.ndarray and is_active_type(kind) and kind not in CONSTANTS


def reaches(value: Any) -> bool:
    """Tell whether a handle may be reached from a value, within a few steps."""
    if type(value) in PLAIN:
        return False
    seen: set[int] = set()
    level, looks, is_plain = [value], LOOKS, PLAIN.issuperset
    for _ in range(DEPTH):
        following: list[Any] = []
        for each in level:
            look = looks[type(each)]
            if look is None:
                continue
            if look is HANDLE:
                return True
            if look is ATTRIBUTES:
                held: Any = each.__dict__
                held = held.values() if type(held) is dict else ()
            else:
                held = each if look is ELEMENTS else look(each)
            if not is_plain(map(type, held)) and id(each) not in seen:
                seen.add(id(each))
                following += held
                if len(following) > BUDGET:
                    return True
        if not following:
            return False
        if len(seen) > BUDGET:
            return True
        level = following
    return False


HANDLE, ELEMENTS, ATTRIBUTES = (object() for _ in range(3))
"""How to look into what is a handle, what holds elements, and what has attributes alone."""


class Looks(dict[type, Any]):
    """How to look into objects by their types: what gives what they hold, or None."""

    def __missing__(self, kind: type) -> Any:
        """Find out for a type, and note it, but for a local one, which may be made in a call."""
        if "<locals>" not in kind.__qualname__:
            found = self[kind] = look_of(kind)
            return found
        found = LOCAL_LOOKS.get(kind, HANDLE)
        if found is HANDLE:
            found = LOCAL_LOOKS[kind] = look_of(kind)
        return found


LOOKS = Looks()

LOCAL_LOOKS: "weakref.WeakKeyDictionary[type, Any]" = weakref.WeakKeyDictionary()
"""The same, for objects of local classes."""


SHOWING = (collections.deque, ValuesView, ItemsView)
"""Collections that are neither lists nor dicts."""


def look_of(kind: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Say how to look into the objects of a type."""
    if kind in PLAIN or issubclass(kind, (type, types.ModuleType, io.IOBase)):
        return None
    if (is_active_type(kind) and kind not in CONSTANTS) or is_dask(kind):
        return HANDLE
    if kind is np.ndarray:
        return lambda array: array.flat if array.dtype.hasobject else ()
    if kind in (list, tuple, set, frozenset):
        return ELEMENTS
    if kind in (dict, types.MappingProxyType):
        return kind.values
    if issubclass(kind, SHOWING):
        return list
    if issubclass(kind, Iterator) and kind is not itertools.count:
        return HANDLE  # for looking at what it gives would take that away
    if kind is types.FunctionType:
        return held_by_function
    if kind is types.MethodType:
        return lambda method: (method.__self__, method.__func__)
    if kind is functools.partial:
        return lambda partial: (partial.func, *partial.args, *partial.keywords.values())
    slots = tuple(slots_of(kind))
    if slots or not kind.__dictoffset__ or issubclass(kind, (list, tuple, set, frozenset, dict)):
        return functools.partial(attributes_of, slots)
    return ATTRIBUTES


def attributes_of(slots: tuple[str, ...], value: Any) -> list[Any]:
    """Give what an object holds: elements, attributes and slots."""
    found: list[Any] = []
    if isinstance(value, (list, tuple, set, frozenset)):
        found += value
    elif isinstance(value, dict):
        found += value.values()
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        found += attributes.values()
    return found + [getattr(value, name, None) for name in slots]


def held_by_function(function: Any) -> list[Any]:
    """Give what a function closes over, and its defaults."""
    found = list(function.__defaults__ or ())
    found += (function.__kwdefaults__ or {}).values()
    return found + [content_of(cell, None) for cell in function.__closure__ or ()]

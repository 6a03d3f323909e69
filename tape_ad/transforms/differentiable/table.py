"""What stands for what in copies of code: found by the identity of the original object."""

import builtins
import contextlib
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from tape_ad.base.arrays.adapters import adapter_of

ABSENT: Any = object()

STAND_INS: dict[int, tuple[Any, Any]] = {}
"""Objects and what stands for them, by the identity of the objects."""

BUILTINS: dict[str, Any] = dict(vars(builtins))
"""The builtins of copies."""

STANDARD = frozenset({"math", "cmath", "importlib", "operator", "statistics", "sys", "weakref"})
"""The modules of the standard library that copies see through a view."""


class WeakIdentities:
    """A mapping by the identity of objects, which it does not keep alive.

    Stand-ins and views of modules are equal to their originals, and have the same hash.
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def __setitem__(self, thing: Any, value: Any) -> None:
        key, values = id(thing), self._values
        values[key] = weakref.ref(thing, lambda _: values.pop(key, None)), value

    def __contains__(self, thing: Any) -> bool:
        return self.get(thing, ABSENT) is not ABSENT

    def get(self, thing: Any, default: Any) -> Any:
        """Give what is noted of an object, or the default."""
        found = self._values.get(id(thing))
        return default if found is None or found[0]() is not thing else found[1]


ORIGINALS = WeakIdentities()
"""What classes, modules and stand-ins for classes were made of."""

COPIES: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()
"""The copy of each function, class, module and object that has one."""

TWINS: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
"""The copies of objects, containers and local classes and functions, by the identity of those.

A copy keeps alive what it is made of, so that the identity stays; it may hold it anyway, and a
mapping that kept the copy would keep both for ever.
"""

SOURCES = WeakIdentities()
"""References to what functions were made of."""


def note_stand_in(original: Any, stand_in: Any) -> None:
    """Let something stand for an object in copies; its functions are that object's there."""
    STAND_INS[id(original)] = original, stand_in
    STAND_INS.setdefault(id(stand_in), (stand_in, stand_in))
    name = getattr(original, "__name__", "")
    if vars(builtins).get(name) is original:
        BUILTINS[name] = stand_in
    note_source(original, stand_in)


def note_source(original: Any, made: Any) -> None:
    """Note of what a function was made."""
    with contextlib.suppress(TypeError):  # of what cannot be weakly referred to
        SOURCES[made] = weakref.ref(original)


F = TypeVar("F")


def stands_in_for(original: Any) -> Callable[[F], F]:
    """Let a function stand for another in copies, under its name."""

    def decorate(function: F) -> F:
        if isinstance(function, types.FunctionType):
            functools.update_wrapper(function, original, updated=())
        note_stand_in(original, function)
        return function

    return decorate


def replaced(value: Any) -> Any:
    """Give what stands for an object in copies, or ABSENT: of ours, or of an adapter."""
    pair = STAND_INS.get(id(value))
    if pair is not None and pair[0] is value:
        return pair[1]
    counterpart = getattr(adapter_of(value), "counterpart", None)
    found = ABSENT if counterpart is None else counterpart(value, ABSENT)
    if found is not ABSENT:
        found = MADE_OF_RULES[0](value, found)
        note_stand_in(value, found)
    return found


MADE_OF_RULES: list[Callable[[Any, Any], Any]] = []
"""What makes of an object and its counterpart what stands for it in copies."""


def source_of(thing: Any) -> Any:
    """Give what a copy or a stand-in of any kind was made of; anything else as it is."""
    found = SOURCES.get(thing, None)
    original = None if found is None else found()
    return original_of(thing) if original is None else original


def original_of(thing: Any) -> Any:
    """Give what a class or a module was copied from; anything else as it is."""
    return ORIGINALS.get(thing, thing)


def copy_of(thing: Any) -> Any:
    """Give the copy that there is of a function or class; ABSENT where there is none."""
    found = TWINS.get(id(thing))
    if found is not None and source_of(found) is thing:
        return found
    return COPIES.get(thing, ABSENT)


def keep(thing: Any, copy: Any) -> None:
    """Note the copy of a function or class, which may hold that; of a local one for its users."""
    if "<locals>" in getattr(thing, "__qualname__", ""):
        TWINS[id(thing)] = copy
    else:
        COPIES[thing] = copy


def forget(thing: Any) -> None:
    """Let another copy be made of a function where it is looked up."""
    COPIES.pop(thing, None)
    TWINS.pop(id(thing), None)

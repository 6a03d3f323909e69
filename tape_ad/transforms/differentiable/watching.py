"""Whether what a copy was made of is still the same, and what was bound anew since."""

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.trees import content_of
from tape_ad.record.messages.callers import variables_bound
from tape_ad.transforms.differentiable.table import ABSENT, SOURCES

PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), type(...), slice, range})
"""Types of what is never converted."""

ELEMENTS = 256
"""How many entries a container may have to be looked through for functions."""


WATCHED: "weakref.WeakKeyDictionary[Any, list[Any]]" = weakref.WeakKeyDictionary()
"""What the cells of a copy's original held when the copy's own were filled.

It keeps nothing alive that might hold the copy.
"""


class Parts:
    """What was in a list, tuple or dict, and which one it was."""

    __slots__ = ("identity", "marks")

    def __init__(self, value: Any, depth: int) -> None:
        self.identity = id(value)
        self.marks = [mark_of(each, depth - 1) for each in parts_of(value)] if depth else []

    def hold(self, value: Any) -> bool:
        """Tell whether the same is in the same container."""
        if id(value) != self.identity:
            return False
        parts = parts_of(value)
        return len(parts) == len(self.marks) and all(map(is_marked, self.marks, parts))


def parts_of(value: Any) -> Any:
    """Give what is in a container that is looked through for functions."""
    if type(value) is functools.partial:
        return value.func, value.args, value.keywords
    if type(value) not in CONTAINERS or len(value) > ELEMENTS:
        return ()
    return [*value, *value.values()] if type(value) is dict else value


CONTAINERS = frozenset({list, tuple, dict})
"""Types of containers that are copied if there are functions in them."""

NESTED = 8
"""How deep containers are looked through for changes."""


def mark_of(value: Any, depth: int = NESTED) -> Any:
    """Make what tells later whether this very object is still there."""
    if type(value) in PLAIN:
        return value
    if type(value) in CONTAINERS or type(value) is functools.partial:
        return Parts(value, depth)
    try:
        return weakref.ref(value)
    except TypeError:
        return value


def is_marked(mark: Any, value: Any) -> bool:
    """Tell whether an object is the one that a mark was made of, with the same in it."""
    kind = type(mark)
    if kind is weakref.ref:
        return mark() is value
    return mark.hold(value) if kind is Parts else mark is value


def marks_of(function: Any) -> list[Any]:
    """Note what the cells of a function hold that its copy has of its own, or may need to have."""
    assigned = names_left(function)
    names = function.__code__.co_freevars
    return [
        ABSENT if name == "__class__" or name in assigned else mark_of(content_of(cell, None))
        for name, cell in zip(names, function.__closure__, strict=True)
    ]


def brought_up_to_date(copy: Any, marks: list[Any], content: Callable[[Any], Any]) -> bool:
    """Convert anew what variables of enclosing functions hold that was bound or changed since.

    False is for a copy that has a cell in common with the original, which it can no longer have:
    another has to be made.
    """
    reference = SOURCES.get(copy, None)
    original = None if reference is None else reference()
    if original is None or original.__code__.co_freevars != copy.__code__.co_freevars:
        return True
    kept = True
    for i, (cell, own) in enumerate(zip(original.__closure__, copy.__closure__, strict=True)):
        if marks[i] is ABSENT:
            continue
        value = content_of(cell, None)
        if is_marked(marks[i], value):
            continue
        before, marks[i] = marks[i], mark_of(value)  # at once, as the value may hold the original
        try:
            found = content(value)
        except BaseException:
            marks[i] = before
            raise
        if own is not cell:
            own.cell_contents = found
        elif found is not value:
            marks[i], kept = before, False
    return kept


def names_left(function: Any) -> frozenset[str]:
    """Name the variables of enclosing functions that a copy has in common with the original.

    They are those that it assigns to, and arrays that a function within its reach assigns to.
    """
    own = cells_assigned(function.__code__)
    names, cells = function.__code__.co_freevars, function.__closure__
    arrays = {id(cell): name for name, cell in zip(names, cells, strict=True) if is_array_in(cell)}
    if not arrays or len(cells) == 1:
        return own
    assigned: set[int] = set()
    met: set[int] = {id(function)}
    met_next = [content_of(cell, None) for cell in cells]
    while met_next and len(met) < ELEMENTS:
        each = met_next.pop()
        if id(each) in met:
            continue
        met.add(id(each))
        met_next.extend(parts_of(each))
        if type(each) is types.FunctionType and each.__closure__ is not None:
            there = cells_assigned(each.__code__)
            for name, cell in zip(each.__code__.co_freevars, each.__closure__, strict=False):
                assigned |= {id(cell)} if name in there else set()
                met_next.append(content_of(cell, None))
    return own | {name for key, name in arrays.items() if key in assigned}


def is_array_in(cell: Any) -> bool:
    """Tell whether a cell holds an array."""
    return type(content_of(cell, None)) is np.ndarray


@functools.lru_cache(4096)
def cells_assigned(code: types.CodeType) -> frozenset[str]:
    """Name the variables of enclosing functions that a function, or one in it, assigns to."""
    names = variables_bound(code, within=False)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names |= cells_assigned(inner) & set(inner.co_freevars)
    return frozenset(names & set(code.co_freevars))


SIGNATURES: "weakref.WeakKeyDictionary[Any, list[Any]]" = weakref.WeakKeyDictionary()
"""What the code and the defaults of a copy's original were when it was copied."""


def signature_of(function: Any) -> list[Any]:
    """Note the code and the defaults of a function."""
    return [mark_of(each) for each in parts_of_function(function)]


def parts_of_function(function: Any) -> tuple[Any, Any, Any]:
    """Give the code and the defaults of a function."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


CLASSES: "weakref.WeakKeyDictionary[type, dict[str, Any]]" = weakref.WeakKeyDictionary()
"""What was in the originals of copied classes when it was copied."""

"""What a call is made of, opened: arrays in its arguments, and in what functions among them hold.

A solver is given a function, and that may close over arrays, be a method of an object with arrays
in it, or a partial of them. Here such a call becomes one of those arrays alone.
"""

import copy
import functools
import operator
import types
from collections import deque
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import is_box
from tape_ad.base.trees import (
    FIELDS,
    MISSING,
    content_of,
    instance_dict,
    slots_filled,
    slots_of,
    structure_of,
)
from tape_ad.record.messages.callers import is_library_module
from tape_ad.rules.numpy.bodies import bound_to
from tape_ad.transforms.tracing import Transformed

Function = Callable[..., Any]

COMPARED = (
    *(int, float, complex, bool, str, np.ndarray, np.generic, np.ufunc, type),
    *(types.FunctionType, types.BuiltinFunctionType),
)
"""What is told from another at the next capture; all else is taken to be alike."""
MUTABLE = (list, dict, set, deque)


@define(eq=False)
class Part:
    """A part of a call: a leaf, or what has parts in its turn.

    Attributes
    ----------
    original : any
    parts : list of Part
    rebuilt : callable or None
        ``rebuilt(original, values)`` puts other parts together; None for a leaf.
    slot : int
        The place among the arrays of one; -1 for anything else.
    title : str
        The name under which it was met.
    watched : container of int
        Of a function, the places of cells that somebody else sees the changes of.
    live : bool
        Whether it is to be made anew for each call: there is an array in it, or what others may
        change unseen, as a variable of a loop that goes on.
    """

    original: Any
    parts: list["Part"] = field(factory=list)
    rebuilt: Function | None = None
    slot: int = -1
    live: bool = False
    title: str = ""
    watched: Container[int] = ()


@define(eq=False)
class Opening:
    """A call that has been opened.

    Attributes
    ----------
    watched : container of int
        The ids of variables and containers of which somebody else sees what becomes of them.
    arrays : list
        The arrays that some interpreter answers for, each once.
    statics : list
        Plain numbers, texts, arrays and functions in it, in the order in which they were met.
    outline : list
        The types and functions that were opened, in that order.
    generator : bool
        Whether there is a generator of random numbers of a function that is being captured.
    """

    watched: Container[int] = frozenset()
    arrays: list[Any] = field(factory=list, init=False)
    statics: list[Any] = field(factory=list, init=False)
    outline: list[Any] = field(factory=list, init=False)
    generator: bool = field(default=False, init=False)
    _known: dict[int, Part] = field(factory=dict, init=False)
    _whole: Part = field(init=False)

    @classmethod
    def of(cls, tree: Any, watched: Container[int]) -> "Opening":
        """Open a tree of arguments."""
        opening = cls(watched)
        opening._whole = opening.opened(tree, "an argument")
        while opening.spread():
            pass
        return opening

    def opened(self, thing: Any, title: str) -> Part:
        """Open one thing, which has been met under some name."""
        known = self._known.get(id(thing))
        if known is not None:
            self.outline.append(len(self._known))  # which is the same one in the same place
            return known
        part = self._known[id(thing)] = Part(thing)
        if is_box(thing):
            part.slot, part.live = len(self.arrays), True
            self.arrays.append(thing)
            return part
        self.generator |= hasattr(type(thing), "draws_for_capture")
        values, part.rebuilt = self.inside(thing)
        if part.rebuilt is None:
            if isinstance(thing, COMPARED):
                self.statics.append(thing)
            return part
        self.outline.append(getattr(thing, "__code__", type(thing)))
        cells = (thing.__closure__ or ()) if type(thing) is types.FunctionType else ()
        own = cells if type(thing) is types.FunctionType else (thing,)
        if cells:
            part.watched = {i for i, cell in enumerate(cells) if id(cell) in self.watched}
        part.live = type(thing) is not tuple and any(id(each) not in self.watched for each in own)
        part.title = title
        for place, value in enumerate(values):
            name = thing.__code__.co_freevars[place] if place < len(cells) else title
            holder = cells[place] if place < len(cells) else thing
            met = len(self.statics), len(self.outline)
            part.parts.append(self.opened(value, name))
            if id(holder) in self.watched:
                del self.statics[met[0] :], self.outline[met[1] :]
        return part

    def inside(self, thing: Any) -> tuple[Sequence[Any], Function | None]:  # noqa: PLR0911 - one for each kind
        """Give the parts of a thing, and what puts others together."""
        kind: Any = type(thing)
        if kind is types.FunctionType:
            cells = thing.__closure__ or ()
            parts = [content_of(cell) for cell in cells]
            return [*parts, thing.__defaults__, thing.__kwdefaults__], remade
        if kind is functools.partial:
            return [thing.func, thing.args, thing.keywords], lambda old, new: functools.partial(
                new[0], *new[1], **new[2]
            )
        if kind is types.MethodType:
            return [thing.__self__, thing.__func__], lambda old, new: types.MethodType(
                new[1], new[0]
            )
        if isinstance(thing, Transformed):
            make, own = thing.__reduce__() if type(thing.__reduce__()) is tuple else (None, ())
            return (own, lambda old, new: make(*new)) if make else ([], None)
        if kind is set or kind is deque:
            return list(thing), lambda old, new: kind(new)
        if isinstance(thing, type):
            return [], None
        wrapped = getattr(thing, "__wrapped__", None)
        if callable(thing) and wrapped is not None and is_library_module(kind):
            return [wrapped], lambda old, new: new[0]  # of a compiled function, the function
        structure = structure_of(kind)
        if structure is not None:  # a copy, as it may have other keys when it is put together
            now = copy.copy(thing) if isinstance(thing, dict) else thing
            return list(structure.values(thing)), lambda old, new: structure.rebuilt(now, new)
        own = {} if isinstance(thing, types.ModuleType | np.ndarray) else attributes(thing)
        if own and (kind is types.SimpleNamespace or not is_library_module(kind)):
            return list(own.values()), functools.partial(with_attributes, list(own))
        return [], None

    def spread(self) -> bool:
        """Say of what has a part that is made anew that it is, too; tell if that is news."""
        found = [
            part
            for part in self._known.values()
            if not part.live and any(each.live for each in part.parts)
        ]
        for part in found:
            part.live = True
        return bool(found)

    def filled(self, arrays: Sequence[Any]) -> tuple[Any, Callable[[], str]]:
        """Give the tree with other arrays in place of those that were found.

        Returns
        -------
        tree, and callable
            What names a variable or a container in it that has changed.
        """
        filling = Filling(arrays)
        return filling.put(self._whole), filling.changed


def contents(holder: Any) -> list[Any]:
    """List what is in a cell, a container or the attributes of an object."""
    if isinstance(holder, types.CellType):
        return [content_of(holder)]
    if isinstance(holder, MUTABLE) and not isinstance(holder, dict):
        return list(holder)
    if has_fields(holder):
        return list(FIELDS.values(holder))
    entries = holder if isinstance(holder, dict) else attributes(holder)
    return [*entries, *entries.values()]


def has_fields(thing: Any) -> bool:
    """Tell whether a thing is an instance of an attrs class or a dataclass."""
    kind: Any = type(thing)
    return structure_of(kind) is FIELDS


def attributes(thing: Any) -> dict[str, Any]:
    """List the attributes of an object, in slots and in its dict."""
    own = instance_dict(thing)
    filled = {name: each for name, each in slots_filled(thing).items() if each is not MISSING}
    filled.pop("__dict__", None)
    return filled | own if type(own) is dict else filled


@define(eq=False)
class Filling:
    """A call that is being put together with other arrays.

    Attributes
    ----------
    arrays : sequence
    """

    arrays: Sequence[Any]
    _made: dict[int, Any] = field(factory=dict, init=False)
    _before: list[tuple[Any, str, Any]] = field(factory=list, init=False)

    def put(self, part: Part) -> Any:
        """Put arrays into a part of the call."""
        if part.slot >= 0:
            return self.arrays[part.slot]
        if not part.live:
            return part.original
        if id(part) in self._made:
            return self._made[id(part)]
        if type(part.original) is types.FunctionType:  # which may close over itself
            return self.with_cells(part)
        values = [self.put(each) for each in part.parts]
        assert part.rebuilt is not None  # noqa: S101 - of what is live, and no array
        self._made[id(part)] = found = part.rebuilt(part.original, values)
        plain = getattr(part.rebuilt, "func", None) is with_attributes
        if plain or isinstance(found, MUTABLE) or has_fields(found):
            self._before.append((found, part.title, contents(found)))
        return found

    def with_cells(self, part: Part) -> Any:
        """Make a function with cells of its own, but for those that somebody else watches."""
        old = part.original
        *inner, defaults, named = part.parts
        cells = list(old.__closure__ or ())
        own = [i for i, each in enumerate(inner) if i not in part.watched or each.live]
        for place in own:
            cells[place] = types.CellType()
        self._made[id(part)] = new = bound_to(old, old.__globals__, tuple(cells))
        new.__defaults__, new.__kwdefaults__ = self.put(defaults), self.put(named)
        for place in own:
            value = self.put(inner[place])
            if value is not MISSING:
                cells[place].cell_contents = value
                self._before.append((cells[place], old.__code__.co_freevars[place], [value]))
        return new

    def changed(self) -> str:
        """Name a variable that is bound to something else now, or a container that has changed."""
        for holder, title, before in self._before:
            now = contents(holder)
            if len(now) != len(before) or any(map(operator.is_not, now, before)):
                return title
        return ""


def remade(old: Any, new: Any) -> Any:
    """Stand for `with_cells`, which makes functions."""
    raise AssertionError


def with_attributes(names: Sequence[str], old: Any, new: Sequence[Any]) -> Any:
    """Make an object of the same class with other attributes."""
    base = types.SimpleNamespace if isinstance(old, types.SimpleNamespace) else object
    kind: Any = type(old)
    made, slots = base.__new__(kind), slots_of(kind)
    for name, value in zip(names, new, strict=True):
        if name in slots:
            slots[name].__set__(made, value)
        else:
            made.__dict__[name] = value
    return made

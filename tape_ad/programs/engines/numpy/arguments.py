"""Arguments written as Python."""

import builtins
import keyword
import math
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.naming import function_name
from tape_ad.base.trees import structure_of
from tape_ad.programs.program.program import Value, replaced, values_in
from tape_ad.rules.maps.indexing import Index

__all__ = ["Arguments", "Names"]

OURS = "Diverged np base64 replay answer _ idle work workspace memory part start"
"""What the texts call their own things."""


@define(eq=False)
class Names:
    """Names that are all different, and the objects that some of them stand for.

    Attributes
    ----------
    bound : dict of str to any
        Functions, arrays and other objects that a text refers to by name.
    """

    bound: dict[str, Any] = field(factory=dict)
    taken: set[str] = field(factory=lambda: {*dir(builtins), *keyword.kwlist, *OURS.split()})
    _of: dict[Any, str] = field(factory=dict)
    _last: dict[str, int] = field(factory=dict)
    _free: list[str] = field(factory=list)
    _count: int = 0

    def new(self, wish: str) -> str:
        """Make a name from what one would like to call it."""
        stem = re.sub(r"\W+", "_", wish).strip("_") or "x"
        stem = stem if stem.isidentifier() else f"x_{stem}"
        name, number = stem, self._last.get(stem, 1)
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self._last[stem] = number  # or thousands of constants would be counted through for each
        self.taken.add(name)
        return name

    def function(self, function: Any) -> str:
        """Name a function, and bind it."""
        try:
            name = self._of.get(function)
        except TypeError:  # no hash
            return self.object(function, "function")
        if name is None:
            wish = function_name(function)
            if getattr(builtins, wish, None) is function:
                return wish
            name = self._of[function] = self.new(wish)
            self.bound[name] = function
        return name

    def object(self, thing: Any, stem: str) -> str:
        """Name any other object, and bind it; the very same one has one name."""
        return self._named(("object", id(thing)), stem, thing)  # its id stays its own while bound

    def dtype(self, dtype: np.dtype[Any]) -> str:
        """Name a dtype, and bind it."""
        return self._named(("dtype", dtype.str), dtype.name, dtype)

    def number(self, number: complex, dtype: np.dtype[Any]) -> str:
        """Name an array that holds one number, and bind it."""
        key = "number", repr(number), dtype.num, dtype.byteorder
        name = self._of.get(key)
        return name or self._named(key, f"number_{number}", np.array(number, dtype))

    def _named(self, key: Any, wish: str, thing: Any) -> str:
        name = self._of.get(key)
        if name is None:
            name = self._of[key] = self.new(wish)
            self.bound[name] = thing
        return name

    def value(self) -> str:
        """Name a value: one that is free again, so that what it stood for goes, or a new one."""
        if self._free:
            return self._free.pop()
        while True:
            self._count += 1
            name = f"v{self._count}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def free(self, name: str) -> None:
        """Give a value's name back."""
        self._free.append(name)

    def is_free(self, name: str) -> bool:
        """Tell whether a value's name has been given back and not been taken again."""
        return name in self._free


INDEX = ("key", "parent", "node", "repeats", "front", "by_truth")
"""What `scatter` asks of an index."""

LITERAL = frozenset({int, bool, type(None), str, type(Ellipsis)})

DISPLAYS: Mapping[type, Callable[[Callable[[Any], str], Any], str]] = {
    tuple: lambda one, tree: f"({', '.join(map(one, tree))}{',' * (len(tree) == 1)})",
    list: lambda one, tree: f"[{', '.join(map(one, tree))}]",
    slice: lambda one, tree: f"slice({one(tree.start)}, {one(tree.stop)}, {one(tree.step)})",
    dict: lambda one, tree: (
        f"{{{', '.join(f'{one(key)}: {one(each)}' for key, each in tree.items())}}}"
    ),
}


class Arguments:
    """What writes arguments, for a text with certain names.

    Parameters
    ----------
    names : Names
    of : mapping of Value to str
        How values are called at present.
    readable : bool
        Whether the text has to do without our classes.
    """

    def __init__(self, names: Names, of: Mapping[Value, str], readable: bool = False) -> None:
        self.names, self.of, self.readable = names, of, readable

    def one(self, tree: Any) -> str:
        """Write an argument."""
        kind = type(tree)
        if kind is Value:
            return self.of[tree]
        if kind in LITERAL or (kind is float and math.isfinite(tree)):
            return "..." if tree is ... else repr(tree)
        form = DISPLAYS.get(kind)
        if form is not None:
            return form(self.one, tree)
        if self.readable and kind is Index:
            fields = ((name, getattr(tree, name)) for name in INDEX)
            inner = ", ".join(f"{name}={self.one(field)}" for name, field in fields)
            return f"{self.names.function(SimpleNamespace)}({inner})"
        if structure_of(tree.__class__) is not None and (inside := values_in(tree)):
            inside = list(dict.fromkeys(inside))
            maker = self.names.object(maker_of(tree, inside), f"make_{kind.__name__}")
            return f"{maker}({', '.join(map(self.of.__getitem__, inside))})"
        return self.names.object(tree, stem_of(tree))

    def all(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Write the arguments of a call."""
        words = [self.of[arg] if type(arg) is Value else self.one(arg) for arg in args]
        if kwargs:
            words += [f"{option}={self.one(arg)}" for option, arg in kwargs.items()]
        return ", ".join(words)

    def key(self, key: Any) -> str:
        """Write what stands in brackets behind an array."""
        if type(key) is tuple and key:
            return ", ".join(map(self.entry, key)) + "," * (len(key) == 1)
        return self.entry(key)

    def entry(self, entry: Any) -> str:
        """Write an entry of a key."""
        if type(entry) is not slice:
            return self.one(entry)
        ends = [
            "" if end is None else self.one(end) for end in (entry.start, entry.stop, entry.step)
        ]
        return ":".join(ends if entry.step is not None else ends[:2])


def maker_of(tree: Any, inside: list[Value]) -> Callable[..., Any]:
    """Give a function that puts arrays in place of the values in a structure."""
    return lambda *arrays: replaced(tree, dict(zip(inside, arrays, strict=True)))


def stem_of(thing: Any) -> str:
    """Find a name for an object that has no other."""
    if isinstance(thing, type):
        return thing.__name__
    return "array" if hasattr(thing, "dtype") and hasattr(thing, "shape") else "constant"

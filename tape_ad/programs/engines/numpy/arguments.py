"""Arguments written as Python."""

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from tape_ad.base.trees import structure_of
from tape_ad.programs.engines.numpy.names import Names
from tape_ad.programs.program.program import Value, replaced, values_in
from tape_ad.rules.maps.indexing import Index

__all__ = ["Arguments"]

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

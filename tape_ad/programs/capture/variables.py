"""A place where a function looks something up, and the quick question whether all is as it was."""

import operator
from collections.abc import Callable
from typing import Any

from attrs import define

from tape_ad.programs.capture.contents import contents

__all__ = [
    "ATTRIBUTE",
    "BYTES",
    "CALLED",
    "CELL",
    "CONTENTS",
    "CONTEXT",
    "MISSING",
    "OBJECTS",
    "PRESENT",
    "VALUES",
    "Variable",
    "WatchedArray",
    "quick_test",
]

MISSING: Any = object()
NUMBERS = frozenset({int, float, complex})
ENTRY, ATTRIBUTE, CELL = "entry", "attribute", "cell"
CONTENTS, VALUES, OBJECTS, BYTES = "contents", "values", "objects", "bytes"
CALLED, CONTEXT, PRESENT = "called", "context", "present"
"""What a variable is of what holds it."""
WHOLES = frozenset({CONTENTS, VALUES, OBJECTS})
"""The kinds whose values are tuples of all that is in a container."""

READERS: dict[str, Callable[[Any, Any], Any]] = {
    ENTRY: lambda holder, name: holder[name],
    ATTRIBUTE: getattr,
    CELL: lambda holder, name: holder.cell_contents,
    CONTENTS: lambda holder, name: tuple(holder),
    VALUES: lambda holder, name: tuple(holder.values()),
    OBJECTS: lambda holder, name: tuple(holder.flat),
    BYTES: lambda holder, name: bytes(holder),
    CALLED: lambda holder, name: holder() is not None,
    CONTEXT: lambda holder, name: holder.get(),
    PRESENT: lambda holder, name: tuple(sorted(name & holder)),
}
TESTS = {
    ENTRY: "r{i}[k{i}] is v{i}",
    ATTRIBUTE: "r{i}.{name} is v{i}",
    CELL: "r{i}.cell_contents is v{i}",
    CONTENTS: "len(r{i}) == len(v{i}) and all(map(same_object, r{i}, v{i}))",
    VALUES: "len(r{i}) == len(v{i}) and all(map(same_object, r{i}.values(), v{i}))",
    OBJECTS: "r{i}.size == len(v{i}) and all(map(same_object, r{i}.flat, v{i}))",
    BYTES: "bytes(r{i}) == v{i}",
    CALLED: "(r{i}() is not None) is v{i}",
    CONTEXT: "r{i}.get() is v{i}",
    PRESENT: "r{i}.isdisjoint(k{i})",
}
GONE = (AttributeError, LookupError, ReferenceError, RuntimeError, TypeError, ValueError)
"""What it raises to look at a place that is empty, or that another thread is changing."""


@define(eq=False, repr=False)
class Variable:
    """A place where a function looks something up, and what was there.

    Attributes
    ----------
    holder : dict, list, cell or object
    name : any
        The key, index or attribute, if it has one.
    title : str
        What the user calls it.
    kind : str
        `ENTRY` of a dict or list, `ATTRIBUTE` of an object, what a `CELL` holds, or the `CONTENTS`
        of a container: its elements, or the keys of a dict, which has `VALUES` as well; the
        `OBJECTS` of an array of them, the `BYTES` of a buffer, whether a weak reference that is
        `CALLED` gives something, what a `CONTEXT` variable is set to, or which of the names, all
        of them missing so far, are `PRESENT` among the keys of a dict.
    value : any
        `MISSING` where there was nothing.
    """

    holder: Any
    name: Any
    title: str
    kind: str = ENTRY
    value: Any = MISSING

    def now(self) -> Any:
        """Give what is there now."""
        try:
            return READERS[self.kind](self.holder, self.name)
        except GONE:
            return MISSING

    def restore(self) -> None:
        """Bind it to what was there before."""
        if self.kind == ENTRY:
            self.holder[self.name] = self.value
        elif self.kind == ATTRIBUTE:
            setattr(self.holder, self.name, self.value)
        elif self.kind == CELL:
            self.holder.cell_contents = self.value

    def word(self) -> str:
        """Give the name by which code reaches it: of ``model.log[0]`` that is ``log``."""
        return str(self.title).partition("[")[0].rpartition(".")[2]

    def named(self) -> str:
        """Give its title, for an error, or the name that has appeared."""
        appeared = self.now() if self.kind == PRESENT else ()
        return f"{self.title}{appeared[0]}" if appeared else self.title

    def holds(self) -> bool:
        """Tell whether the same is there as before; of numbers, an equal one."""
        now = self.now()
        if self.kind in WHOLES and now is not MISSING and self.value is not MISSING:
            return len(now) == len(self.value) and all(map(alike, now, self.value))
        return alike(now, self.value)


@define(eq=False, repr=False)
class WatchedArray:
    """An array that a function reads, but not by a call that is noted, and what was in it.

    Attributes
    ----------
    array : ndarray
    title : str
        What the user calls it.
    contents : bytes
    read : bool
        Whether the program reads it as well.
    """

    array: Any
    title: str
    contents: bytes
    read: bool = False

    def named(self) -> str:
        """Give its title."""
        return self.title

    def holds(self) -> bool:
        """Tell whether the same numbers are in it as before."""
        return contents(self.array) == self.contents


def alike(one: Any, two: Any) -> bool:
    """Tell whether two things are one object, or Python numbers of one kind and sign."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    return (type(one) in NUMBERS and repr(one) == repr(two)) or (type(one) is bytes and one == two)


def quick_test(variables: list[Variable]) -> Callable[[], bool]:
    """Make a function that looks whether all variables are the very same, as they mostly are."""
    bound: dict[str, Any] = {"same_object": operator.is_, "gone": GONE, "missing": MISSING}
    tests = []
    for i, variable in enumerate(variables):
        bound[f"r{i}"], bound[f"v{i}"] = variable.holder, variable.value
        bound[f"k{i}"] = variable.name
        if variable.value is MISSING:
            bound[f"r{i}"] = variable.now
            tests.append(f"r{i}() is missing")
            continue
        tests.append(TESTS[variable.kind].format(i=i, name=variable.name))
    lines = [
        "def same():",
        "    try:",
        f"        return {' and '.join(tests)}",
        "    except gone:",
        "        return False",
    ]
    exec(compile("\n".join(lines), "<variables of a function>", "exec"), bound)  # noqa: S102 - written above
    same: Callable[[], bool] = bound.pop("same")  # no cycle of it and its names
    return same

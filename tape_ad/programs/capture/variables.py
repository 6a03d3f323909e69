"""A place where a function looks something up, and the quick question whether all is as it was."""

import functools
import inspect
import keyword
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.capture.constants import PADDED, contents

MISSING: Any = object()
NUMBERS = frozenset({int, float, complex})
ENTRY, ATTRIBUTE, CELL = "entry", "attribute", "cell"
CONTENTS, VALUES, OBJECTS, BYTES = "contents", "values", "objects", "bytes"
CALLED, CONTEXT, PRESENT, SUBCLASSES = "called", "context", "present", "subclasses"
"""What a variable is of what holds it."""
WHOLES = frozenset({CONTENTS, VALUES, OBJECTS, SUBCLASSES})
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
    SUBCLASSES: lambda holder, name: tuple(holder.__subclasses__()),
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
    SUBCLASSES: "tuple(r{i}.__subclasses__()) == v{i}",
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
        of them missing so far, are `PRESENT` among the keys of a dict; the `SUBCLASSES` of a class.
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

    def named(self) -> str:
        """Give its title, for an error, or the name that has appeared."""
        appeared = self.now() if self.kind == PRESENT else ()
        return f"{self.title}{appeared[0]}" if appeared else self.title

    def holds(self) -> bool:
        """Tell whether the same is there as before; of numbers, an equal one."""
        now = self.now()
        if self.kind in WHOLES and now is not MISSING and self.value is not MISSING:
            return len(now) == len(self.value) and all(map(unchanged, now, self.value))
        return unchanged(now, self.value)


@define(eq=False, repr=False)
class WatchedArray:
    """An array that a function reads, but not by a call that is noted, and what was in it.

    Attributes
    ----------
    array : ndarray
        Or a weak proxy of one.
    titles : list of str
        What the user calls it.
    contents : bytes
    within : bool
        Whether it is in an object of a library, which a call of the program may be given.
    read : bool
        Whether the program reads it as well.
    changes : int
        How often other numbers have made no other program.
    now : callable
        Gives what is in it now.
    """

    array: Any
    titles: list[str] = field(factory=list)
    contents: bytes = b""
    within: bool = False
    read: bool = False
    changes: int = 0
    now: Callable[[], bytes] = field(init=False)

    @now.default
    def _(self) -> Callable[[], bytes]:
        array = self.array
        if type(array) in weakref.ProxyTypes:
            return self.left
        array = np.ndarray.view(array, np.ndarray)  # of a masked array, what is masked as well
        padded = array.dtype.char in PADDED
        return functools.partial(contents, array) if padded else array.tobytes

    def left(self) -> bytes:
        """Give the contents of an array that is referred to weakly, the last where it is gone."""
        try:
            return contents(self.array)
        except ReferenceError:
            return self.contents

    @property
    def title(self) -> str:
        """What the user calls it first of all."""
        return self.titles[0]

    def named(self) -> str:
        """Name the variable for a message."""
        return self.title

    def holds(self) -> bool:
        """Tell whether the same numbers are in it as before."""
        return self.now() == self.contents


def word_of(title: str) -> str:
    """Give the name by which code reaches something: of ``model.log[0]`` that is ``log``."""
    return title.partition("[")[0].rpartition(".")[2]


def unchanged(one: Any, two: Any) -> bool:
    """Tell whether two things are one object, or Python numbers of one kind and sign."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    return (type(one) in NUMBERS and repr(one) == repr(two)) or (type(one) is bytes and one == two)


def guarded_replay(
    variables: list[Variable],
    numbers: Sequence[WatchedArray],
    replay: Callable[..., Any],
    hold: Callable[[], bool],
    stale: Any,
) -> Callable[..., Any]:
    """Make a replay that gives `stale` where a variable, or a number in an array, has changed.

    Variables are mostly the very same as they were; `hold` looks at those that are not.
    """
    bound: dict[str, Any] = {"same_object": operator.is_, "gone": GONE}
    bound |= {"numbers": numbers, "replay": replay, "hold": hold, "stale": stale}
    tests = []
    for i, variable in enumerate(variables):
        bound[f"r{i}"], bound[f"v{i}"] = variable.holder, variable.value
        bound[f"k{i}"] = variable.name
        by_text = variable.kind == ATTRIBUTE and keyword.iskeyword(variable.name)
        if variable.value is MISSING or by_text:
            bound[f"r{i}"] = variable.now
            tests.append(f"r{i}() is v{i}")
            continue
        tests.append(TESTS[variable.kind].format(i=i, name=variable.name))
    looking = [
        "    for each in numbers:",
        "        if each.now() != each.contents:",  # as `holds`, without a call of ours
        "            return stale",
    ]
    names, code = "*inputs", getattr(replay, "__code__", None)
    if code is not None and not code.co_flags & inspect.CO_VARARGS:  # which nothing is packed for
        names = ", ".join(code.co_varnames[: code.co_argcount])
    lines = [
        f"def guarded({names}):",
        *(looking if numbers else ()),
        "    try:",
        f"        same = {' and '.join(tests)}",
        "    except gone:",
        "        same = False",
        f"    return replay({names}) if same or hold() else stale",
    ]
    exec(compile("\n".join(lines), "<variables of a function>", "exec"), bound)  # noqa: S102 - written above
    guarded: Callable[..., Any] = bound.pop("guarded")  # no cycle of it and its names
    return guarded

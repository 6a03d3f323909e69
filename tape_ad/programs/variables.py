"""A place where a function looks something up, and the quick question whether all is as it was."""

import operator
from collections.abc import Callable
from typing import Any

from attrs import define

from tape_ad.programs.contents import contents

__all__ = [
    "ATTRIBUTE",
    "CELL",
    "CONTENTS",
    "ENTRY",
    "MISSING",
    "VALUES",
    "Numbers",
    "Variable",
    "quick_test",
]

MISSING: Any = object()
NUMBERS = frozenset({int, float, complex})
ENTRY, ATTRIBUTE, CELL = "entry", "attribute", "cell"
CONTENTS, VALUES = "contents", "values"
"""What of a room a variable is."""

LOOKS: dict[str, Callable[[Any, Any], Any]] = {
    ENTRY: lambda room, name: room[name],
    ATTRIBUTE: getattr,
    CELL: lambda room, name: room.cell_contents,
    CONTENTS: lambda room, name: tuple(room),
    VALUES: lambda room, name: tuple(room.values()),
}
TESTS = {
    ENTRY: "r{i}[k{i}] is v{i}",
    ATTRIBUTE: "r{i}.{name} is v{i}",
    CELL: "r{i}.cell_contents is v{i}",
    CONTENTS: "len(r{i}) == len(v{i}) and all(map(same_object, r{i}, v{i}))",
    VALUES: "len(r{i}) == len(v{i}) and all(map(same_object, r{i}.values(), v{i}))",
}
GONE = (AttributeError, IndexError, KeyError, RuntimeError, ValueError)
"""What it raises to look at a place that is empty, or that another thread is changing."""


@define(eq=False, repr=False)
class Variable:
    """A place where a function looks something up, and what was there.

    Attributes
    ----------
    room : dict, list, cell or object
    name : any
        The key, index or attribute, if it has one.
    title : str
        What the user calls it.
    kind : str
        `ENTRY` of a dict or list, `ATTRIBUTE` in a slot, what a `CELL` holds, or the `CONTENTS`
        of a container: its elements, or the keys of a dict, which has `VALUES` as well.
    value : any
    """

    room: Any
    name: Any
    title: str
    kind: str = ENTRY
    value: Any = MISSING

    def now(self) -> Any:
        """Give what is there now."""
        try:
            return LOOKS[self.kind](self.room, self.name)
        except GONE:
            return MISSING

    def put_back(self) -> None:
        """Bind it to what was there before."""
        if self.kind == ENTRY:
            self.room[self.name] = self.value
        elif self.kind == ATTRIBUTE:
            setattr(self.room, self.name, self.value)

    def holds(self) -> bool:
        """Tell whether the same is there as before; of numbers, an equal one."""
        now = self.now()
        if self.kind in (CONTENTS, VALUES) and now is not MISSING:
            return len(now) == len(self.value) and all(map(alike, now, self.value))
        return alike(now, self.value)


@define(eq=False, repr=False)
class Numbers:
    """An array that a function reads, but not by a call that is noted, and what was in it.

    Attributes
    ----------
    array : ndarray
    title : str
        What the user calls it.
    contents : bytes
    """

    array: Any
    title: str
    contents: bytes

    def holds(self) -> bool:
        """Tell whether the same numbers are in it as before."""
        return contents(self.array) == self.contents


def alike(one: Any, two: Any) -> bool:
    """Tell whether two things are one object, or Python numbers of one kind and sign."""
    if one is two:
        return True
    return type(one) is type(two) and type(one) in NUMBERS and repr(one) == repr(two)


def quick_test(variables: list[Variable]) -> Callable[[], bool]:
    """Make a function that looks whether all variables are the very same, as they mostly are."""
    bound: dict[str, Any] = {"same_object": operator.is_, "gone": GONE}
    tests = []
    for i, variable in enumerate(variables):
        bound[f"r{i}"], bound[f"v{i}"] = variable.room, variable.value
        bound[f"k{i}"] = variable.name
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

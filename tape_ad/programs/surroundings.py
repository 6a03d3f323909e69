"""What a function finds around itself: variables of a closure, of its module and of its instance.

A program keeps the arrays that it has met there, and numbers are part of it. So a variable that is
bound to something else makes it another function, as a changed guard does.
"""

import dis
import functools
import pickle
import random
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np
from attrs import define, field

from tape_ad.handles.callers import is_library_module

__all__ = ["ELSEWHERE", "Surroundings", "with_attributes"]

MOST = 256
"""How many variables are looked at; beyond that, a function is too large to be followed."""
DEPTH = 3
"""How deep nested dicts and lists are opened."""
ENTRIES = 64
"""How many entries they may have to be opened."""
NUMBERS = (int, float, complex)
MISSING: Any = object()
ELSEWHERE: Any = object()
"""What a replay gives where it is not for now."""


@define(eq=False, repr=False)
class Variable:
    """A place where a function looks something up, and what was there.

    Attributes
    ----------
    room : dict, list or cell
    name : any
        The key or index; None for a cell.
    value : any
    title : str
        What the user calls it.
    """

    room: Any
    name: Any
    value: Any
    title: str

    def now(self) -> Any:
        """Give what is there now."""
        if type(self.room) is types.CellType:
            try:
                return self.room.cell_contents
            except ValueError:  # it is empty
                return MISSING
        if type(self.room) is list:
            return self.room[self.name] if self.name < len(self.room) else MISSING
        return self.room.get(self.name, MISSING)

    def holds(self) -> bool:
        """Tell whether the same is there as before; of numbers, an equal one."""
        now = self.now()
        if now is self.value:
            return True
        return type(now) is type(self.value) and type(now) in NUMBERS and now == self.value


@define(eq=False, repr=False)
class Surroundings:
    """The variables that a function reads and does not write to itself.

    Attributes
    ----------
    variables : list of Variable
    """

    variables: list[Variable] = field(factory=list)
    _seen: set[int] = field(factory=set)

    @classmethod
    def of(cls, function: Any, objects: Any = ()) -> "Surroundings":
        """Find the variables of a function, and those of the functions that it calls.

        Parameters
        ----------
        function : callable
        objects : iterable
            Further objects whose attributes it may read: arguments that are no arrays.
        """
        found = cls()
        found.enter(function, list(objects))
        return found

    def forget_changed(self) -> Self:
        """Forget the variables that the function has changed itself, when it has run."""
        self.variables = [each for each in self.variables if each.holds()]
        return self

    def changed(self) -> str:
        """Name a variable that is bound to something else now; nothing if there is none."""
        return next((each.title for each in self.variables if not each.holds()), "")

    def draws(self) -> dict[str, bytes]:
        """Give the states of the generators of random numbers among the variables."""
        return {
            each.title: state
            for each in self.variables
            if (state := state_of_generator(each.value)) is not None
        }

    def hold(self) -> bool:
        """Tell whether all variables are what they were."""
        return all(each.holds() for each in self.variables)

    def guarding(self, replay: Callable[..., Any]) -> Callable[..., Any]:
        """Let a replay say that it is not for now, by `ELSEWHERE`, where a variable has changed."""
        if not self.variables:
            return replay
        same = quick_test(self.variables)

        def guarded(*inputs: Any) -> Any:
            return replay(*inputs) if same() or self.hold() else ELSEWHERE

        return guarded

    def enter(self, function: Any, objects: list[Any]) -> None:
        """Note what a function reads."""
        while id(function) not in self._seen:
            self._seen.add(id(function))
            wrapped = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
            if wrapped is None:
                break
            function = wrapped
        else:
            return  # it has been entered, and may call itself
        owner = getattr(function, "__self__", None)
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType):
            call = vars(type(function)).get("__call__")
            if not isinstance(call, types.FunctionType) or is_library_module(type(function)):
                return
            owner, function = function, call
        if is_library_module(function):
            return
        code = function.__code__
        names, written = names_read(code)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            if name not in written:
                self.note(cell, None, name, names, DEPTH)
        for name in sorted(names - written):
            if name in function.__globals__:
                self.note(function.__globals__, name, name, names, DEPTH)
        for each in (*objects, owner):
            if each is not None:
                self.look_at(each, type(each).__name__, names, DEPTH)

    def note(self, room: Any, name: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note a variable, and what is within."""
        variable = Variable(room, name, MISSING, title)
        value = variable.value = variable.now()
        if value is MISSING or len(self.variables) >= MOST:
            return
        if isinstance(value, types.ModuleType) and is_library_module(value):
            return
        if not isinstance(value, type):
            self.variables.append(variable)
        if callable(value) and not isinstance(value, type):
            self.enter(value, [])
        else:
            self.look_at(value, title, names, depth)

    def look_at(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note what is within an object: entries of dicts and lists, attributes that are read."""
        if depth == 0 or isinstance(value, (np.ndarray, str, bytes, type)):
            return
        if type(value) in (dict, list) and len(value) <= ENTRIES:
            if id(value) not in self._seen:
                self._seen.add(id(value))
                keys = list(value) if type(value) is dict else list(range(len(value)))
                for key in keys:
                    self.note(value, key, f"{title}[{key!r}]", names, depth - 1)
        elif not is_library_module(value if isinstance(value, types.ModuleType) else type(value)):
            inside = getattr(value, "__dict__", None)
            if type(inside) is dict:
                for name in sorted(names & inside.keys()):
                    self.note(inside, name, f"{title}.{name}", names, depth - 1)
            for name in sorted(names):
                method = getattr(type(value), name, None)
                if isinstance(method, types.FunctionType):
                    self.enter(method, [value])


def state_of_generator(value: Any) -> bytes | None:
    """Give the state of a generator of random numbers, which each draw changes."""
    if isinstance(value, np.random.Generator):
        return pickle.dumps(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return pickle.dumps(value.get_state())
    return pickle.dumps(value.getstate()) if isinstance(value, random.Random) else None


def with_attributes(args: Iterable[Any]) -> list[Any]:
    """List the arguments that are neither arrays nor structures, but have attributes."""
    return [each for each in args if type(getattr(each, "__dict__", None)) is dict]


def quick_test(variables: list[Variable]) -> Callable[[], bool]:
    """Make a function that looks whether all variables are the very same, as they mostly are."""
    bound: dict[str, Any] = {}
    tests = []
    for i, variable in enumerate(variables):
        bound[f"r{i}"], bound[f"v{i}"] = variable.room, variable.value
        cell = type(variable.room) is types.CellType
        tests.append(f"r{i}.cell_contents is v{i}" if cell else f"r{i}[k{i}] is v{i}")
        bound[f"k{i}"] = variable.name
    lines = [
        "def same():",
        "    try:",
        f"        return {' and '.join(tests)}",
        "    except (IndexError, KeyError, ValueError):",
        "        return False",
    ]
    exec(compile("\n".join(lines), "<variables of a function>", "exec"), bound)  # noqa: S102 - written above
    same: Callable[[], bool] = bound["same"]
    return same


@functools.lru_cache(maxsize=1024)
def names_read(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """List the names that a function's code looks up, and those that it binds."""
    return frozenset(names_in(code)), frozenset(written_by(code))


def names_in(code: types.CodeType) -> Iterator[str]:
    """List the names that a function's code looks up, with those of functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


def written_by(code: types.CodeType) -> set[str]:
    """List the variables outside that a function's code binds itself, as a counter does."""
    own = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL")
    }
    inner = [written_by(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return own.union(*inner)

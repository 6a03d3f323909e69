"""What a function finds around itself: variables of a closure, of its module and of its instance.

A program keeps the arrays that it has met there, and numbers are part of it. So a variable that is
bound to something else makes it another function, as a changed guard does.
"""

import collections
import dis
import functools
import pickle
import random
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np
from attrs import define, field

from tape_ad.handles.callers import is_library_module, is_library_name
from tape_ad.overrides import NOTING
from tape_ad.programs.contents import contents
from tape_ad.programs.keys import varies
from tape_ad.programs.variables import (
    ATTRIBUTE,
    CELL,
    CONTENTS,
    MISSING,
    VALUES,
    Numbers,
    Variable,
    quick_test,
)
from tape_ad.trees import flatten

__all__ = ["ELSEWHERE", "Surroundings", "objects_in"]

MOST = 1024
"""How many variables are looked at; beyond that, a function is too large to be followed."""
SMALL = 2**16
"""How many bytes an array may have whose contents are compared at each replay."""
DEPTH = 6
"""How deep nested dicts, lists and objects are opened."""
ENTRIES = 64
"""How many entries dicts and lists may have to be noted one by one."""
ELEMENTS = 4096
"""How many elements a container may have to be noted as a whole."""
ROUNDS = 8
"""How often all is searched again with the names that the methods found then read."""
ELSEWHERE: Any = object()
"""What a replay gives where it is not for now."""

CONTAINERS = (dict, list, set, collections.deque)
SCALARS = (str, bytes, int, float, complex, np.generic, np.ndarray, types.NoneType)
UNREAD = frozenset(
    f"__{name}__"
    for name in (
        *("new", "repr", "str", "eq", "ne", "lt", "le", "gt", "ge", "hash", "setattr", "delattr"),
        *("init_subclass", "getstate", "setstate", "reduce", "reduce_ex", "del", "replace"),
        *("post_init", "attrs_post_init"),
    )
)
"""Special methods that say nothing about what is computed, or run when an instance is made."""


@define(eq=False, repr=False)
class Surroundings:
    """The variables that a function reads and does not write to itself.

    Attributes
    ----------
    variables : list of Variable
    numbers : list of Numbers
        Small arrays among them which the program does not read itself: plain NumPy may have
        computed something from them.
    """

    variables: list[Variable] = field(factory=list)
    numbers: list[Numbers] = field(factory=list)
    _names: set[str] = field(factory=set)
    _seen: set[Any] = field(factory=set)

    @classmethod
    def of(cls, function: Any, objects: Any = ()) -> "Surroundings":
        """Find the variables of a function, and those of the functions that it calls.

        Parameters
        ----------
        function : callable
        objects : iterable
            Further objects whose attributes it may read: arguments that are no arrays.
        """
        found, known = cls(), -1
        for _ in range(ROUNDS):  # as any function may read attributes of any object
            if len(found._names) == known:
                break
            known = len(found._names)
            found.variables, found._seen = [], set()
            found.enter(function)
            for each in objects:
                found.look_at(each, type(each).__name__, frozenset(), DEPTH)
        return found

    def forget_changed(self) -> Self:
        """Forget the variables that the function has changed itself, when it has run."""
        self.variables = [each for each in self.variables if each.holds()]
        return self

    def bound_to_captured(self) -> str:
        """Name a variable that is bound to what is captured, and put back all those that are."""
        found = [each for each in self.variables if type(each.now()) in NOTING]
        for each in found:
            each.put_back()
        return found[0].title if found else ""

    def changed(self) -> str:
        """Name a variable that is bound to something else now; nothing if there is none."""
        places: list[Variable | Numbers] = [*self.variables, *self.numbers]
        return next((each.title for each in places if not each.holds()), "")

    def watch_numbers(self, read: Iterable[Any]) -> None:
        """Look at what is in the small arrays, but for those that a program reads at each replay.

        Parameters
        ----------
        read : iterable of ndarray
        """
        arrays = {id(each.value): each for each in self.variables if is_small(each.value)}
        constants = list(read)
        for each in arrays.values():
            if not any(np.may_share_memory(each.value, constant) for constant in constants):
                self.numbers.append(Numbers(each.value, each.title, contents(each.value)))

    def draws(self) -> dict[str, bytes]:
        """Give the states of the generators of random numbers that the function reads."""
        places = {each.title: each.value for each in self.variables}
        if "random" in self._names:  # it may be a module
            places |= {"np.random": np.random, "random": random}
        states = {title: state_of_generator(value) for title, value in places.items()}
        return {title: state for title, state in states.items() if state is not None}

    def hold(self) -> bool:
        """Tell whether all variables are what they were."""
        if not all(each.holds() for each in self.variables):
            return False
        return all(each.holds() for each in self.numbers)

    def guarding(self, replay: Callable[..., Any]) -> Callable[..., Any]:
        """Let a replay say that it is not for now, by `ELSEWHERE`, where a variable has changed."""
        if not self.variables:
            return replay
        same, numbers = quick_test(self.variables), self.numbers

        def guarded(*inputs: Any) -> Any:
            return replay(*inputs) if same() or self.hold() else ELSEWHERE

        def guarded_by_numbers(*inputs: Any) -> Any:
            for each in numbers:
                if not each.holds():
                    return ELSEWHERE
            return guarded(*inputs)

        return guarded_by_numbers if numbers else guarded

    def is_new(self, *thing: Any) -> bool:
        """Tell whether something is met for the first time, and remember it."""
        if thing in self._seen:
            return False
        self._seen.add(thing)
        return True

    def enter(self, function: Any) -> None:
        """Note what a function reads, with what it wraps."""
        while self.is_new("function", id(function)):
            self.read(function)
            wrapped = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
            if wrapped is None or isinstance(function, type):
                return
            if isinstance(function, functools.partial):
                for each in (*function.args, *function.keywords.values()):
                    self.follow(each, "the arguments of a partial", frozenset(), DEPTH)
            function = wrapped

    def read(self, function: Any) -> None:
        """Note what the code of a function reads."""
        owner = getattr(function, "__self__", None)
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType):
            owner = function
            calls = [
                vars(each)["__call__"] for each in classes_of(owner) if "__call__" in vars(each)
            ]
            function = next(iter(calls), None)
            if not isinstance(function, types.FunctionType):
                return
        if is_of_library(function):
            return
        code = function.__code__
        names, written = names_read(code)
        self._names |= names
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            if name not in written:
                self.note(Variable(cell, None, name, CELL), names, DEPTH)
        for name in sorted(names - written):
            if name in function.__globals__:
                self.note(Variable(function.__globals__, name, name), names, DEPTH)
        for each in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.follow(each, f"a default of {function.__name__}", names, DEPTH)
        if vars(function):
            self.attributes(function, function.__name__, names, DEPTH)
        if owner is not None:
            self.look_at(owner, type(owner).__name__, names, DEPTH)

    def note(self, variable: Variable, names: frozenset[str], depth: int) -> None:
        """Note a variable, and what is within."""
        value = variable.value = variable.now()
        if value is MISSING or is_library(value) or len(self.variables) >= MOST:
            return
        if self.is_new(variable.kind, id(variable.room), variable.name):
            self.variables.append(variable)
        self.follow(value, variable.title, names, depth)

    def follow(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note what is within a thing, or what it reads if it is a function."""
        if callable(value) and not isinstance(value, type):
            self.enter(value)
        else:
            self.look_at(value, title, names, depth)

    def look_at(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note what is within an object: entries of containers, attributes that are read."""
        if depth == 0 or isinstance(value, SCALARS) or not self.is_new(id(value), depth):
            return
        if isinstance(value, (tuple, frozenset)):
            for place, each in enumerate(value):
                self.follow(each, f"{title}[{place}]", names, depth - 1)
        elif isinstance(value, CONTAINERS):
            self.entries(value, title, names, depth)
        if isinstance(value, types.ModuleType):
            if not is_library_module(value):
                self.attributes(value, title, names, depth)
        else:
            self.attributes(value, title, names | self._names, depth)
            self.methods(value)

    def entries(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note the elements of a container, or the entries of a dict."""
        if len(value) > ELEMENTS or len(self.variables) >= MOST:
            return
        few = len(value) <= ENTRIES
        if few and isinstance(value, (dict, list)):
            for key in list(value) if isinstance(value, dict) else range(len(value)):
                self.note(Variable(value, key, f"{title}[{key!r}]"), names, depth - 1)
        for kind in (CONTENTS, VALUES) if isinstance(value, dict) and not few else (CONTENTS,):
            whole = Variable(value, None, title, kind)
            whole.value = whole.now()
            if self.is_new(kind, id(value)):
                self.variables.append(whole)
            for place, each in enumerate(whole.value):
                self.follow(each, f"{title}[{place}]", names, depth - 1)

    def attributes(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note attributes of an object, its own and those of its classes."""
        own = getattr(value, "__dict__", {})
        kinds = [] if isinstance(value, types.ModuleType) else classes_of(value)
        for name in sorted(names):
            room = next((each for each in kinds if name in vars(each)), None)
            inherited = room is not None and not functions_of(vars(room)[name])
            if inherited or (name in own and not isinstance(value, type)):
                self.note(Variable(value, name, f"{title}.{name}", ATTRIBUTE), names, depth - 1)

    def methods(self, value: Any) -> None:
        """Enter what may be called of an object or a class: methods named, and special ones."""
        made = isinstance(value, type)  # by the function, perhaps
        kind = value if made else type(value)
        if not self.is_new("methods", kind, made):
            return
        for each in classes_of(kind):
            for name, found in list(vars(each).items()):
                special = name.startswith("__") and name.endswith("__") and name not in UNREAD
                if name in self._names or (special and (made or name != "__init__")):
                    for function in functions_of(found):
                        self.enter(function)


def state_of_generator(value: Any) -> bytes | None:
    """Give the state of a generator of random numbers, which each draw changes."""
    owner = value if isinstance(value, types.ModuleType) else getattr(value, "__self__", value)
    if isinstance(owner, np.random.Generator):
        return pickle.dumps(owner.bit_generator.state)
    if isinstance(owner, np.random.RandomState) or owner is np.random:
        return pickle.dumps(owner.get_state())
    if isinstance(owner, random.Random) or owner is random:
        return pickle.dumps(owner.getstate())
    return None


def is_small(value: Any) -> bool:
    """Tell whether something is an array that takes hardly any time to look at."""
    return type(value) is np.ndarray and value.nbytes <= SMALL and not value.dtype.hasobject


def objects_in(args: Iterable[Any]) -> list[Any]:
    """List what is among the arguments that is neither array nor number nor a plain structure."""
    return [each for each in flatten(tuple(args)) if not (varies(each) or is_library(each))]


def is_library(value: Any) -> bool:
    """Tell whether a value is a module or a class that users do not look into."""
    return isinstance(value, (types.ModuleType, type)) and is_library_module(value)


def is_of_library(function: types.FunctionType) -> bool:
    """Tell whether users do not look into a function, whatever `wraps` says of its module."""
    name = str(function.__globals__.get("__name__"))
    return is_library_name(name) or "site-packages" in function.__code__.co_filename


def functions_of(found: Any) -> list[types.FunctionType]:
    """List the functions that an attribute of a class is made of, if it is a method."""
    if isinstance(found, property):
        parts = [found.fget]
    else:
        parts = [getattr(found, name, None) for name in ("__func__", "func")] + [found]
    return [each for each in parts if isinstance(each, types.FunctionType)]


def classes_of(value: Any) -> list[type]:
    """List the user's classes of an object, or those that a class is made of."""
    kinds = (value if isinstance(value, type) else type(value)).__mro__
    return [each for each in kinds if not is_library_module(each)]


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

"""The calls that a package's own examples make of the package."""

import doctest
import importlib
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tests.calls.examples import Listener, Step, Unit, described, is_numeric, run
from tests.calls.libraries.packages import Library

__all__ = ["Call", "calls_of_library"]

TEXTS = Path(__file__).with_name("texts")
CALLS_PER_NAME = 3
CALLS_PER_LIBRARY = 96


@frozen(eq=False)
class Call:
    """A call of the examples: what is called first, and the steps from there."""

    thing: Any
    unit: Unit


@define(eq=False)
class PackageListener(Listener):
    """Keeps the calls of whatever a package has, and of what those calls give.

    Attributes
    ----------
    kept : list of tuple
        What each call starts from, and its steps.
    starts : dict
        Objects, and what of the package each came from, by the identity of the object.
    """

    kept: list[tuple[Any, tuple[Step, ...]]] = field(factory=list)
    starts: dict[int, tuple[Any, Any]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        pass

    def is_part(self, thing: Any) -> bool:
        """Tell whether something is a function, a class or an object of the package."""
        if isinstance(thing, (types.ModuleType, types.MethodType)) or is_numeric(thing):
            return False  # a method belongs to its object
        kind = type(thing) if getattr(thing, "__module__", None) is None else thing
        module = str(kind.__module__)
        return module == self.thing or module.startswith(f"{self.thing}.")

    def known(self, thing: Any) -> bool:
        if id(thing) not in self.histories and self.is_part(thing):
            self.histories[id(thing)] = thing, ()
            self.starts[id(thing)] = thing, thing
        return id(thing) in self.histories

    def attribute(self, owner: Any, name: str) -> Any:
        result = getattr(owner, name)
        history = self.histories.get(id(owner))
        if history is None or not history[1] or callable(result):
            return result
        steps = (*history[1], Step(f".{name}", (), {}))
        self.note(owner, result, steps)
        if not is_numeric(result):
            self.histories.setdefault(id(result), (result, steps))
        return result

    def heard(self, owner: Any, what: str, call: Any, args: Any, kwargs: Any) -> Any:
        before = len(self.found)
        result = super().heard(owner, what, call, args, kwargs)
        for steps in self.found[before:]:
            self.note(owner, result, steps)
        return result

    def note(self, owner: Any, result: Any, steps: tuple[Step, ...]) -> None:
        """Keep a call with what it starts from."""
        root = self.starts[id(owner)][1]
        self.kept.append((root, steps))
        if not is_numeric(result):
            self.starts.setdefault(id(result), (result, root))


def calls_of_library(library: Library) -> list[Call]:
    """Run a package's examples, and give some calls of docstrings and all of its text."""
    return [
        *some_of(different(heard(library, examples_in_docstrings(library)))),
        *different(heard(library, lines_of_text(library))),
    ]


def heard(
    library: Library, examples: Iterator[tuple[str, dict[str, Any]]]
) -> list[tuple[Any, tuple[Step, ...]]]:
    """Run examples, and give the calls that they make of the package."""
    listener = PackageListener(library.package)
    importlib.import_module(library.package)  # which may take longer than an example may
    for source, space in examples:
        space |= {"__call__": listener.call, "__operate__": listener.operate}
        space["__attribute__"] = listener.attribute
        run(source, space)
    return listener.kept


def examples_in_docstrings(library: Library) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each example of a package's docstrings, and the namespace that it is run in."""
    for module in map(importlib.import_module, library.modules.split()):
        for name, thing in [*vars(module).items()]:
            if name[0] == "_" or getattr(thing, "__module__", "") != module.__name__:
                continue
            several = [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]
            for each in several:
                np.random.seed(0)  # noqa: NPY002 - what examples draw from
                space = {**vars(module), "__name__": "__main__", "np": np}
                for source in sources_of(each):
                    yield source, space


def lines_of_text(library: Library) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each line of what was taken from a package's readme and documentation."""
    text = TEXTS / f"{library.package}.txt"
    np.random.seed(0)  # noqa: NPY002 - what examples draw from
    space = {"__name__": "__main__", "np": np}
    for line in text.read_text("utf-8").splitlines() if text.exists() else ():
        if line.strip() and not line.startswith("#"):
            yield line, space


def sources_of(thing: Any) -> list[str]:
    """Give the examples in a docstring."""
    text = getattr(thing, "__doc__", None)
    try:
        return [each.source for each in doctest.DocTestParser().get_examples(str(text or ""))]
    except ValueError:
        return []


def different(kept: list[tuple[Any, tuple[Step, ...]]]) -> list[Call]:
    """Take each call once, however often it is made."""
    found: dict[str, tuple[str, Any, tuple[Step, ...]]] = {}
    for thing, steps in kept:
        name = name_of(thing, steps)
        key = "|".join([name, *map(described, steps)])
        found.setdefault(key, (name, thing, steps))
    return [
        Call(thing, Unit(name, number, steps))
        for number, (name, thing, steps) in enumerate(found.values())
    ]


def some_of(calls: list[Call]) -> list[Call]:
    """Take a few calls of each name, and as many names as there is time for, evenly."""
    met: Counter[str] = Counter()
    few = []
    for call in calls:
        met[call.unit.name] += 1
        if met[call.unit.name] <= CALLS_PER_NAME:
            few.append(call)
    count = min(len(few), CALLS_PER_LIBRARY)
    return [few[i * len(few) // count] for i in range(count)]


def name_of(thing: Any, steps: tuple[Step, ...]) -> str:
    """Name what is called first, and the methods from there."""
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    methods = [step.what.lstrip(".") for step in steps if step.what]
    return ".".join([kind.__module__, kind.__qualname__, *methods])

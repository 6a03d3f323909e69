"""Functions of this library written out, with all that they need of it."""

import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from typing import Any

from attrs import define, field

from tape_ad.base.arrays.overridable import BATCHES, SYMBOLS, TRACERS, as_one_call
from tape_ad.programs.engines.numpy.definitions import definition, home_of, refusal

__all__ = ["Helpers", "is_own"]

ABOUT_OVERRIDES = re.compile(r"^@(?!np\.).*\n", re.MULTILINE)
"""Decorators, which say how handles take a function over; those of NumPy's stay."""


def is_own(thing: Any) -> bool:
    """Tell whether something is a function of this library."""
    function = implementation_of(thing)
    return isinstance(function, types.FunctionType) and function.__module__.startswith("tape_ad.")


def implementation_of(thing: Any) -> Any:
    """Give the function behind one that array types may take over."""
    return inspect.unwrap(getattr(thing, "_implementation", thing))


@define(eq=False)
class Helpers:
    """What is written before a program: functions of ours, and what they speak of.

    Attributes
    ----------
    texts : dict of str to str
        By name, in an order in which they can be run.
    modules : set of str
        What has to be imported.
    """

    texts: dict[str, str] = field(factory=dict)
    modules: set[str] = field(factory=set)
    _things: dict[str, Any] = field(factory=dict)

    def add(self, name: str, thing: Any, what: str) -> None:
        """Write an object under a name, after all that it needs.

        Raises
        ------
        CaptureError
            When it cannot be written.
        """
        known = self._things.get(name, self)
        if known is not self:
            alike = known is thing or (callable(thing) and known == thing)  # as ``ufunc.reduce`` is
            if not alike:
                raise refusal(what, f"two things that it needs are called {name}")
            return
        self._things[name] = thing
        if any(thing is each for each in (TRACERS, SYMBOLS, as_one_call)):
            self.texts[name] = f"{name} = ()  # nothing notes calls here"
            return
        if thing is BATCHES:
            self.texts[name] = f"{name} = ()  # no batch is gone through here"
            return
        if isinstance(thing, types.ModuleType):
            self.modules.add(thing.__name__)
        elif isinstance(thing, type) and issubclass(thing, BaseException) and not home_of(thing):
            plain = next(kind for kind in thing.__mro__ if kind.__module__ == "builtins")
            self.texts[name] = f"{name} = {plain.__name__}"
        elif is_own(thing):
            self._add_function(name, implementation_of(thing), what)
        elif type(thing) in (int, str, bool, type(None)):
            self.texts[name] = f"{name} = {thing!r}"
        else:
            text, module = definition(thing, what)
            self.modules |= {module} if module else set()
            if text != name:
                self.texts[name] = f"{name} = {text}"

    def _add_function(self, name: str, function: Any, what: str) -> None:
        if function.__closure__ or function.__name__ == "<lambda>":
            raise refusal(what, f"{function.__name__} is a closure")
        for used, thing in sorted(globals_of(function).items()):
            self.add(used, thing, what)
        source = textwrap.dedent(inspect.getsource(function))
        source = ABOUT_OVERRIDES.sub("", source).rstrip()
        if function.__name__ != name:
            source += f"\n\n\n{name} = {function.__name__}"
        self.texts[name] = source


def globals_of(function: Any) -> dict[str, Any]:
    """Find what a function speaks of that is neither its own nor Python's."""
    namespace = function.__globals__
    return {name: namespace[name] for name in names_in(function.__code__) if name in namespace}


def names_in(code: types.CodeType) -> Iterator[str]:
    """List the names in a function and in those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)

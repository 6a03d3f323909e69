"""What stands for SciPy's functions and objects in copies of its code."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["KNOWN", "OBJECTS", "stands_for", "unwrapped"]

Function = TypeVar("Function")
"""A function, or an object that gives one by the types that it is compiled for."""

KNOWN: dict[int, tuple[Any, Any]] = {}
"""SciPy's objects and ours, by the identity of SciPy's."""

OBJECTS: dict[type, Callable[[Any], Any]] = {}
"""Classes of SciPy's, and what makes of an object of one the same of ours, or None."""


def stands_for(*originals: Any) -> Callable[[Function], Function]:
    """Let a function take the place of functions of SciPy's, public or not, in copies of its code.

    It has their signature, and is called where a handle is among the arguments. Those that the
    installed release has not are passed over.
    """

    def decorate(function: Function) -> Function:
        KNOWN.update((id(each), (each, function)) for each in originals if each)
        return function

    return decorate


def unwrapped(function: Any) -> Any:
    """Give what stands within the decorators of one of SciPy's functions."""
    return inspect.unwrap(function) if function else function

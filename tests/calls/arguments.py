"""The arguments of a call in place of which a handle can stand, or that can close over one."""

import copy
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import evolve, frozen

import tape_ad as ta
from tests.calls.examples import Step, Unit
from tests.calls.names import named

__all__ = ["Place", "places_of", "with_argument"]

FUNCTIONS = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(functools.partial, np.ufunc),
)

DERIVED = frozenset({"Dfun", "callback", "fprime", "fprime2", "hess", "hessp", "jac", "fun_jac"})
"""Functions that have to fit to another one, which stays as it is, or whose results nobody uses."""


@frozen
class Place:
    """Where an argument stands.

    Attributes
    ----------
    step : int
        The step of the unit.
    path : tuple
        The argument's position or name, and the places in tuples and dicts that hold it.
    closes : bool
        Whether it is a function, to close over a number.
    """

    step: int
    path: tuple[int | str, ...]
    closes: bool = False

    def __str__(self) -> str:
        inside = "".join(f"[{key!r}]" for key in self.path[1:])
        return f"{self.step}.{self.path[0]}{inside}{' closing over it' if self.closes else ''}"


def places_of(unit: Unit) -> Iterator[tuple[Place, Any]]:
    """Find the arguments that are real numbers or arrays, with their values as floats.

    Integers alone are sizes, axes and orders. In arrays and lists they may be data. The number that
    a function can close over is a factor, and so 1.
    """
    for i, step in enumerate(unit.steps):
        for path, number in (
            *numbers_in(step.args, ()),
            *numbers_in(step.kwargs, ()),
        ):
            if np.all(np.isfinite(number)):
                yield Place(i, path), number
        for key in (*range(len(step.args)), *step.kwargs):
            value = step.args[key] if isinstance(key, int) else step.kwargs[key]
            if isinstance(value, FUNCTIONS) and name_of(unit, step, key) not in DERIVED:
                yield Place(i, (key,), closes=True), np.float64(1.0)


def name_of(unit: Unit, step: Step, key: int | str) -> str:
    """Name an argument of a call, as far as its signature tells."""
    if isinstance(key, str):
        return key
    try:
        names = list(inspect.signature(named(unit.name)).parameters)
    except (ValueError, TypeError, ImportError, AttributeError):
        return ""
    return names[key] if not step.what and key < len(names) else ""


def closing_over(function: Callable[..., Any], factor: Any) -> Callable[..., Any]:
    """Make a function that closes over a factor of what it is given first, and of what it gives."""

    @functools.wraps(function)
    def scaled(*args: Any, **named: Any) -> Any:
        return times(
            function(*(times(each, factor) for each in args[:1]), *args[1:], **named), factor
        )

    return scaled


def times(value: Any, factor: Any) -> Any:
    """Multiply numbers, and leave what is a count, an answer or an object."""
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(times(each, factor) for each in value)
    kind = value.dtype.kind if isinstance(value, (np.ndarray, np.floating, ta.Tensor)) else ""
    return value * factor if isinstance(value, float) or kind in tuple("iufc") else value


def numbers_in(value: Any, path: tuple[int | str, ...]) -> Iterator[tuple[Any, Any]]:
    """Find them in what was given at one place."""
    if isinstance(value, list):
        array = as_numbers(value)
        if array is not None:
            if array.dtype.kind != "c":
                yield path, array.astype(float)
            return
    if isinstance(value, (tuple, list, dict)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            yield from numbers_in(each, (*path, key))
    elif isinstance(value, (float, np.floating)):
        yield path, np.float64(value)
    elif isinstance(value, np.ndarray) and type(value) is np.ndarray and value.size:
        if value.dtype.kind == "f":
            yield path, value
        elif value.dtype.kind == "i" and value.ndim:
            yield path, value.astype(float)


def as_numbers(several: list[Any]) -> Any:
    """Make an array of a list of numbers, or of such lists; None of anything else."""
    try:
        array = np.array(several)
    except (ValueError, TypeError):
        return None
    return array if array.size and array.dtype.kind in "fic" else None


def with_argument(unit: Unit, place: Place | None, value: Any) -> tuple[Step, ...]:
    """Copy the steps of a unit, with another value at one place, or a function closing over it."""
    steps = tuple(Step(s.what, *copy.deepcopy((s.args, s.kwargs))) for s in unit.steps)
    if place is None:
        return steps
    step = steps[place.step]
    key, *inside = place.path
    if place.closes:
        function = step.args[key] if isinstance(key, int) else step.kwargs[key]
        value = closing_over(function, value)
    if isinstance(key, int):
        args = list(step.args)
        args[key] = put(args[key], inside, value)
        step = evolve(step, args=tuple(args))
    else:
        step = evolve(step, kwargs={**step.kwargs, key: put(step.kwargs[key], inside, value)})
    return (*steps[: place.step], step, *steps[place.step + 1 :])


def put(holder: Any, path: list[Any], value: Any) -> Any:
    """Give a nested tuple, list or dict with another value at one place."""
    if not path:
        return value
    key, *inside = path
    if isinstance(holder, dict):
        return {**holder, key: put(holder[key], inside, value)}
    several = list(holder)
    several[key] = put(several[key], inside, value)
    if isinstance(holder, list):
        return several
    return type(holder)(*several) if hasattr(holder, "_fields") else tuple(several)

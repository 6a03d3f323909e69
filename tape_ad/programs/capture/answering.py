"""What computes and notes, in the terms of `ArrayInterface`."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import CaptureError
from tape_ad.base.naming import called
from tape_ad.programs.capture.traced_arrays import TracedArray, is_complex_number, is_tracer
from tape_ad.programs.capture.traced_scalars import TracedScalar, as_python, is_python
from tape_ad.programs.capture.writing import assign as written
from tape_ad.programs.capture.writing import change as changed
from tape_ad.programs.capture.writing import defers

__all__ = []

Function = Callable[..., Any]

SEQUENCES = frozenset({list, tuple, str, bytes, bytearray})


def call(function: Function, args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """Note a NumPy function with a captured array among its arguments."""
    if not all(map(defers, args)):
        return function(*args, **(kwargs or {}))  # a handle's turn
    return first_of(args).capture.call(function, args, kwargs or {})


def answer(function: Function, args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """Compute and note a call; NotImplemented where a handle is among the arguments."""
    return call(function, args, kwargs) if all(map(defers, args)) else NotImplemented


def one(function: Function, x: Any) -> Any:
    """Note a function of one captured array or number."""
    if type(x) is TracedScalar or is_complex_number(x):
        function = as_python(function)
    return x.capture.call(function, (x,), {})


def two(function: Function, x: Any, y: Any) -> Any:
    """Note a function of two operands, one of them captured."""
    if not (defers(x) and defers(y)):
        return NotImplemented
    if (is_python(x) and is_python(y)) or are_complex_numbers(x, y):
        function = as_python(function)
        if function is operator.eq and (has_ended(x) or has_ended(y)):
            return NotImplemented  # a key that somebody has remembered is unlike all others now
    tracer, other = (x, y) if is_tracer(x) else (y, x)
    if other.__class__ in SEQUENCES and leaves_sequences(function, tracer):
        return NotImplemented  # the sequence's turn: a list times a number is a longer list
    return tracer.capture.call(function, (x, y), {})


def has_ended(x: Any) -> bool:
    """Tell whether an operand is a captured number of a function that has returned."""
    return type(x) is TracedScalar and x.capture.ended


def leaves_sequences(function: Function, x: Any) -> bool:
    """Tell whether Python lets a sequence say what an operator does with a number."""
    if type(x) is TracedScalar:
        return True
    return function is np.multiply and isinstance(x.data, np.integer)


def are_complex_numbers(x: Any, y: Any) -> bool:
    """Tell whether two operands are numbers, one of them complex, and neither is an array."""
    if not (is_complex_number(x) or is_complex_number(y)):
        return False
    data = (each.data if is_tracer(each) else each for each in (x, y))
    return not any(isinstance(each, np.ndarray) for each in data)


def item(x: TracedArray, key: Any) -> Any:
    """Note ``x[key]``."""
    return x.capture.call(operator.getitem, (x, key), {})


def assign(x: TracedArray, key: Any, value: Any) -> None:
    """Note ``x[key] = value``."""
    written(x.capture, x, key, value)


def change(function: Function, x: Any, other: Any) -> Any:
    """Note ``x += other`` and its kind."""
    return changed(x.capture, function, x, other)


def first_of(args: tuple[Any, ...]) -> Any:
    """Find the first captured argument of a method, which is nearly always the first of all."""
    for arg in args:
        if is_tracer(arg):
            return arg
    raise CaptureError(f"no captured array among the arguments of {called(args)}")


for _kind in (TracedArray, TracedScalar):
    _kind._one, _kind._two = staticmethod(one), staticmethod(two)
    _kind._change = staticmethod(change)
TracedArray._call, TracedArray._answer = staticmethod(call), staticmethod(answer)
TracedArray._item, TracedArray._assign = staticmethod(item), staticmethod(assign)

"""What computes and notes, in the terms of `ArrayInterface`."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import CaptureError
from tape_ad.base.naming import called
from tape_ad.programs.capture.traced_arrays import Captured, is_captured, is_complex_number
from tape_ad.programs.capture.traced_scalars import CapturedNumber, as_python, is_python
from tape_ad.programs.capture.writing import assign as written
from tape_ad.programs.capture.writing import change as changed
from tape_ad.programs.capture.writing import yields

__all__ = ["yields"]

Function = Callable[..., Any]

SEQUENCES = frozenset({list, tuple, str, bytes, bytearray})


def call(function: Function, args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """Note a NumPy function with a captured array among its arguments."""
    if not all(map(yields, args)):
        return function(*args, **(kwargs or {}))  # a handle's turn
    return first_of(args).capture.call(function, args, kwargs or {})


def answer(function: Function, args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """Do what `call` does; NotImplemented where a handle is among the arguments."""
    return call(function, args, kwargs) if all(map(yields, args)) else NotImplemented


def one(function: Function, x: Any) -> Any:
    """Note a function of one captured array or number."""
    if type(x) is CapturedNumber or is_complex_number(x):
        function = as_python(function)
    return x.capture.call(function, (x,), {})


def two(function: Function, x: Any, y: Any) -> Any:
    """Note a function of two operands, one of them captured."""
    if not (yields(x) and yields(y)):
        return NotImplemented
    if (is_python(x) and is_python(y)) or are_complex_numbers(x, y):
        function = as_python(function)
        if function is operator.eq and (has_ended(x) or has_ended(y)):
            return NotImplemented  # a key that somebody has remembered is unlike all others now
    noting, other = (x, y) if is_captured(x) else (y, x)
    if other.__class__ in SEQUENCES and leaves_sequences(function, noting):
        return NotImplemented  # the sequence's turn: a list times a number is a longer list
    return noting.capture.call(function, (x, y), {})


def has_ended(x: Any) -> bool:
    """Tell whether an operand is a captured number of a function that has returned."""
    return type(x) is CapturedNumber and x.capture.ended


def leaves_sequences(function: Function, x: Any) -> bool:
    """Tell whether Python lets a sequence say what an operator does with a number."""
    if type(x) is CapturedNumber:
        return True
    return function is np.multiply and isinstance(x.data, np.integer)


def are_complex_numbers(x: Any, y: Any) -> bool:
    """Tell whether two operands are numbers, one of them complex, and neither is an array."""
    if not (is_complex_number(x) or is_complex_number(y)):
        return False
    both = (each.data if is_captured(each) else each for each in (x, y))
    return not any(isinstance(each, np.ndarray) for each in both)


def item(x: Captured, key: Any) -> Any:
    """Note ``x[key]``."""
    return x.capture.call(operator.getitem, (x, key), {})


def assign(x: Captured, key: Any, value: Any) -> None:
    """Note ``x[key] = value``."""
    written(x.capture, x, key, value)


def change(function: Function, x: Any, other: Any) -> Any:
    """Note ``x += other`` and its kind."""
    return changed(x.capture, function, x, other)


def first_of(args: tuple[Any, ...]) -> Any:
    """Find the first captured argument of a method, which is nearly always the first of all."""
    for arg in args:
        if is_captured(arg):
            return arg
    raise CaptureError(f"no captured array among the arguments of {called(args)}")


for _kind in (Captured, CapturedNumber):
    _kind._one, _kind._two = staticmethod(one), staticmethod(two)
    _kind._change = staticmethod(change)
Captured._call, Captured._answer = staticmethod(call), staticmethod(answer)
Captured._item, Captured._assign = staticmethod(item), staticmethod(assign)

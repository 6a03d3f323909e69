"""Calls on constants: computed at once, or recorded where they meet a handle of a record."""

from collections.abc import Callable, Mapping
from operator import getitem
from typing import Any

import numpy as np

from tape_ad.record.constants import (
    CONSTANTS,
    ConstantTensor,
    as_handles,
    common,
    handles_in,
    prepare,
    promote,
    unwrapped,
)
from tape_ad.record.dispatch import NO_OPTIONS, answer, record_call
from tape_ad.record.tensor import Tensor

__all__: list[str] = []

Function = Callable[..., Any]

WRITERS = frozenset({np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask})
"""NumPy's functions that write to their first argument."""


def call(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_OPTIONS) -> Any:
    """Compute a function of constants, or have it recorded."""
    record = common(handles_in(args, kwargs))
    if record is not None:
        promote_outputs(kwargs.get("out"), record)
        return record_call(function, args, kwargs)
    return computed(function, args, kwargs)


def answered(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_OPTIONS
) -> Any:
    """Answer a NumPy call on constants; NotImplemented where another library should."""
    record = common(handles_in(args, kwargs))
    if record is not None:
        promote_outputs(kwargs.get("out"), record)
        return answer(function, args, kwargs)
    return computed(function, args, kwargs)


def promote_outputs(out: Any, record: Any) -> None:
    """Make handles of the record of the constants that a result is written into."""
    for each in out if isinstance(out, tuple) else (out,):
        if type(each) in CONSTANTS:
            promote(each, record)


def computed(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Compute a function of constants and plain arrays."""
    out = kwargs.get("out")
    outs = out if isinstance(out, tuple) else (out,)
    for target in (*outs, *(args[:1] if function in WRITERS else ())):
        if type(target) in CONSTANTS:
            prepare(target)
    result = function(*unwrapped(args), **unwrapped(dict(kwargs)))
    if out is None:
        return as_handles(result, (args, dict(kwargs)))
    if not isinstance(result, tuple):
        return outs[0]
    pairs = zip(outs, result, strict=True)
    return tuple(as_handles(b, args) if a is None else a for a, b in pairs)


def one(function: Function, x: Any) -> Any:
    """Compute a function of one constant."""
    return as_handles(function(x.data), (x,))


def two(function: Function, x: Any, y: Any) -> Any:
    """Apply a binary operator to a constant of the array API and another operand."""
    if type(x) is Tensor or type(y) is Tensor:
        return answer(function, (x, y))
    return as_handles(function(*unwrapped((x, y))), ())


def item(x: ConstantTensor, key: Any) -> Any:
    """Index a constant of the array API: ``x[key]``."""
    return call(getitem, (x, key))


def assign(target: ConstantTensor, key: Any, value: Any) -> None:
    """Assign to elements of a constant; with a handle of a record, in that record's graph."""
    record = common(handles_in(value))
    if record is not None:
        promote(target, record)
        target[key] = value
        return
    prepare(target)
    target.data[unwrapped(key)] = unwrapped(value)


def change(function: Function, target: ConstantTensor, other: Any) -> Any:
    """Apply ``target += other`` and its kind to a constant of the array API."""
    record = common(handles_in(other))
    if record is not None:
        promote(target, record)
        return Tensor._change(function, target, other)
    prepare(target)
    function(target.data, unwrapped(other), out=target.data)
    return target


ConstantTensor.answer_with(
    call=call, answer=answered, one=one, two=two, item=item, assign=assign, change=change
)

"""What answers for captured arrays: calls, indices, and assignment, which makes new ones of old."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.base.errors import CaptureError
from tape_ad.base.naming import OPERATORS, called
from tape_ad.programs.capture.tracers import (
    COMPLEX,
    UNQUESTIONED,
    TracedArray,
    TracedScalar,
    as_python,
    concrete,
    defers_ufuncs,
    has_ended,
    is_complex_number,
    is_python,
    is_tracer,
)
from tape_ad.programs.program import Call, Value
from tape_ad.record.messages.callers import caller
from tape_ad.record.mutation import Memory, assign_outputs, check_fit
from tape_ad.record.operands import beside_sparse, meets_sparse, takes_operators
from tape_ad.rules.maps import clone
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import updated, viewed

Function = Callable[..., Any]

REAL = frozenset("biuf")
IN_PLACE = {each: getattr(operator, f"i{name}") for each, (name, _) in OPERATORS.items()}
SAME_IN_PLACE = frozenset(IN_PLACE) - {np.power, np.matmul}
"""What gives the same bits in place as it does elsewhere, if it is real."""


def call_into(
    capture: Any, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Note a call with ``out=``: the result is assigned to that."""
    options = dict(kwargs)
    out = options.pop("out")
    outs = out if isinstance(out, tuple) else (out,)
    for target in outs:
        if target is not None and not is_tracer(target):
            raise capture.refusal(
                f"{called(function)} writes to a plain array ({caller()}), which a compiled "
                "function cannot replay; leave out= out, write a = a + x in place of a += x, or "
                "make the array by np.zeros_like(x)",
                in_copies=True,
            )
    if elementwise(function, options, outs):
        results = capture.call(function, args, options)
    else:
        results = capture.call(into, (function, out, args, options), {})
    return assign_outputs(function, out, results, assign)


def change(function: Function, x: Any, other: Any) -> Any:
    """Note ``x += other`` and its kind: the array changes, and a number is replaced."""
    number = type(x) is TracedScalar or not isinstance(x.data, np.ndarray)
    if number or takes_operators(type(other)):
        return x._two(function, x, other)
    if not defers(other):
        return function(x, other, out=(x,))  # as NumPy's arrays do, which a handle refuses
    if function not in SAME_IN_PLACE or x.data.dtype.kind not in REAL or wraps_around(x, other):
        result = x.capture.call(changed, (IN_PLACE[function], x, other), {})
    else:
        result = x._two(function, x, other)
        if result is NotImplemented:
            return result
        check_fit(x, result, function)
    assign(x, ..., result)
    return x


def wraps_around(x: Any, other: Any) -> bool:
    """Tell of an integer of no axes that larger ones wrap around in place, but are not assigned."""
    wider = getattr(other, "dtype", x.data.dtype)
    return x.data.ndim == 0 and x.data.dtype.kind in "iu" and not np.can_cast(wider, x.data.dtype)


def elementwise(function: Function, options: Mapping[str, Any], outs: tuple[Any, ...]) -> bool:
    """Tell whether a call with ``out=`` gives the same numbers as one without."""
    asked = options.get("dtype")
    return (
        isinstance(function, np.ufunc)
        and function.signature is None
        and options.keys() <= {"dtype"}
        and all(out is None or out.dtype.kind in REAL for out in outs)
        and (asked is None or all(out is not None and out.dtype == asked for out in outs))
    )


def into(function: Function, out: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Call a function with ``out=``, on a copy of what it would write to.

    Parameters
    ----------
    function : callable
    out : array, or tuple of array and None
    args : tuple
        Where `out` is among them, the copy is in its place.
    options : mapping
    """
    outs = out if isinstance(out, tuple) else (out,)
    copies = {id(each): clone(each) for each in outs if each is not None}
    places = tuple([copies.get(id(each)) for each in outs])
    args = tuple([copies.get(id(arg), arg) for arg in args])
    return function(*args, out=places if isinstance(out, tuple) else places[0], **options)


def changed(function: Function, x: Any, other: Any) -> Any:
    """Give what ``x += other`` and its kind make of `x`, which stays as it is."""
    result = clone(x)
    return function(result, result if other is x else other)


def assign(x: TracedArray, key: Any, value: Any) -> None:
    """Note ``x[key] = value``: all views of the same memory see it.

    Raises
    ------
    CaptureError
        When it is the memory of an argument or of an array from elsewhere.
    """
    capture, memory = x.capture, Memory.shared_by(x, x.value)
    before, boxes = memory.place, memory.alive()
    check_writeable(capture, before, x)
    if 0 in memory.data.strides and memory.data.size > 1:
        raise capture.refusal(
            f"it writes to an array that shows elements several times ({caller()}), of which a "
            "replay would change one; copy it first"
        )
    for each in boxes:
        each._guard_window()
    (concrete_key, concrete_value), (noted_key, noted_value) = capture.unwrap((key, value))
    kwargs = {} if x.value is before else {"window": Window.of(memory.data, x.data)}
    x.data[concrete_key] = concrete_value
    memory.place = Value.like(memory.data)
    args = before, noted_value, noted_key
    capture.note(Call(updated, args, kwargs, (memory.place,), errors=capture.errors()))
    for each in boxes:
        if each.value is before:
            each.value = memory.place
        else:
            each.value = Value.like(each.data, memory.place)
            through = Window.of(memory.data, each.data)
            capture.note(Call(viewed, (memory.place, through), {}, (each.value,)))


def defers(x: Any) -> bool:
    """Tell whether an operand leaves arithmetic to a captured one."""
    return is_tracer(x) or (defers_ufuncs(x.__class__) and not takes_operators(type(x)))


def check_writeable(capture: Any, base: Value, x: TracedArray) -> None:
    """Refuse to write where the user would see it."""
    if base in capture.inputs:
        raise capture.refusal(
            f"{capture.name} writes to its argument {base.name} ({caller()}), which a "
            "compiled function does not do; write x = x + y in place of x += y, or begin with "
            "x = x.copy(), and return the new value"
        )
    if base.owner is not None or not x.data.flags.writeable:
        if not x.data.flags.writeable:
            x.data[...] = x.data  # raises what NumPy says
        raise capture.refusal(
            f"{capture.name} writes to an array from elsewhere ({caller()}); return the new value"
        )


# Calls, operators and indices, in the terms of `ArrayInterface`


SEQUENCES = frozenset({list, tuple, str, bytes, bytearray})


def call(function: Function, args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """Note a NumPy function with a captured array among its arguments."""
    if not all(map(defers, args)):
        return function(*args, **(kwargs or {}))  # which a handle answers
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
    ours = x.data if type(x) is TracedArray else x
    theirs = y.data if type(y) is TracedArray else y
    if type(ours) in UNQUESTIONED and type(theirs) in UNQUESTIONED:  # as most are
        tracer = y if ours is x else x
        return tracer.capture.call(function, (x, y), {})
    if not (defers(x) and defers(y)):
        return NotImplemented
    if meets_sparse(function, x, y):
        return beside_sparse(function, x, y, two)
    if (is_python(x) and is_python(y)) or are_complex_numbers(concrete(x), concrete(y)):
        function = as_python(function)
        if function is operator.eq and (has_ended(x) or has_ended(y)):
            return NotImplemented  # a key that somebody has remembered is unlike all others now
    tracer, other = (x, y) if is_tracer(x) else (y, x)
    if type(other) in SEQUENCES and leaves_sequences(function, tracer):
        return NotImplemented  # which the sequence answers: a list times a number is a longer list
    return tracer.capture.call(function, (x, y), {})


def leaves_sequences(function: Function, x: Any) -> bool:
    """Tell whether Python lets a sequence say what an operator does with a number."""
    if type(x) is TracedScalar:
        return True
    return function is np.multiply and isinstance(x.data, np.integer)


def are_complex_numbers(x: Any, y: Any) -> bool:
    """Tell whether two plain operands are numbers, one of them complex, and neither is an array."""
    if not (isinstance(x, COMPLEX) or isinstance(y, COMPLEX)):
        return False
    return not (isinstance(x, np.ndarray) or isinstance(y, np.ndarray))


def item(x: TracedArray, key: Any) -> Any:
    """Note ``x[key]``."""
    return x.capture.call(operator.getitem, (x, key), {})


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

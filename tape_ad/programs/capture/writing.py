"""Writing to captured arrays: what is noted is a new array, and new views of it."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.base.naming import called
from tape_ad.base.trees import structure_of
from tape_ad.programs.capture.tracers import TracedArray, TracedScalar, defers_ufuncs, is_tracer
from tape_ad.programs.program.program import Call, Value
from tape_ad.record.messages.callers import caller
from tape_ad.record.mutation import Memory
from tape_ad.rules.maps import clone
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import updated, viewed

__all__ = ["assign", "call_into", "change", "defers", "is_index", "is_of_memory", "tracers_in"]


def tracers_in(tree: Any) -> list[Any]:
    """List what is captured in a tree."""
    kind: Any = type(tree)
    if kind is TracedArray or kind is TracedScalar:
        return [tree]
    if kind is tuple or kind is list:
        return [x for each in tree for x in tracers_in(each)]
    if kind is dict:
        return tracers_in(list(tree.values()))
    structure = structure_of(kind)
    return [] if structure is None else tracers_in(list(structure.values(tree)))


def is_index(tracer: Any) -> bool:
    """Tell whether something captured is a number, as one that an array is indexed with."""
    return type(tracer) is TracedScalar or tracer.data.ndim == 0


def is_of_memory(out: Any, operand: Any) -> bool:
    """Tell whether a result shows the memory of an operand."""
    if out is operand:
        return True
    if type(operand) is not np.ndarray:
        return False
    base = out.base
    if type(base) is np.ndarray and (base is operand or base is operand.base):
        return True
    return out.size > 0 and np.may_share_memory(out, operand)


Function = Callable[..., Any]

REAL = frozenset("biuf")
IN_PLACE: Mapping[Any, Function] = {
    np.add: operator.iadd,
    np.subtract: operator.isub,
    np.multiply: operator.imul,
    np.divide: operator.itruediv,
    np.floor_divide: operator.ifloordiv,
    np.remainder: operator.imod,
    np.power: operator.ipow,
    np.matmul: operator.imatmul,
    np.bitwise_and: operator.iand,
    np.bitwise_or: operator.ior,
    np.bitwise_xor: operator.ixor,
    np.left_shift: operator.ilshift,
    np.right_shift: operator.irshift,
}
PLAINLY = frozenset(IN_PLACE) - {np.power, np.matmul}
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
                "make the array by np.zeros_like(x)"
            )
    if not elementwise(function, options, outs):
        result = capture.call(into, (function, out, args, options), {})
        results = result if isinstance(result, tuple) else (result,)
        for target, each in zip(outs, results, strict=True):
            if target is not None:
                assign(capture, target, ..., each)
        filled = [new if old is None else old for old, new in zip(outs, results, strict=True)]
        return tuple(filled) if isinstance(result, tuple) else filled[0]
    result = capture.call(function, args, options)
    results = result if isinstance(result, tuple) else (result,)
    filled = []
    for target, each in zip(outs, results, strict=True):
        if target is not None:
            check_cast(function, each, target)
            assign(capture, target, ..., each)
        filled.append(each if target is None else target)
    return tuple(filled) if isinstance(result, tuple) else filled[0]


def change(capture: Any, function: Function, x: Any, other: Any) -> Any:
    """Note ``x += other`` and its kind: the array changes, and a number is replaced."""
    if type(x) is TracedScalar or not isinstance(x.data, np.ndarray):
        return x._two(function, x, other)
    plainly = function in PLAINLY and x.data.dtype.kind in REAL and not wraps_around(x, other)
    if not plainly or not defers(other):
        if not defers(other):
            return x._two(function, x, other)
        result = capture.call(changed, (IN_PLACE[function], x, other), {})
    else:
        result = x._two(function, x, other)
        if result is NotImplemented:
            return result
        check_cast(function, result, x)
    assign(capture, x, ..., result)
    return x


def wraps_around(x: Any, other: Any) -> bool:
    """Tell of an integer of no axes that larger ones wrap around in place, but are not assigned."""
    wider = getattr(other, "dtype", x.data.dtype)
    return x.data.ndim == 0 and x.data.dtype.kind in "iu" and not np.can_cast(wider, x.data.dtype)


def elementwise(function: Function, options: Mapping[str, Any], outs: tuple[Any, ...]) -> bool:
    """Tell whether a call with ``out=`` gives the same numbers as one without."""
    return (
        isinstance(function, np.ufunc)
        and function.signature is None
        and not options
        and all(out is None or out.dtype.kind in REAL for out in outs)
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


def assign(capture: Any, x: TracedArray, key: Any, value: Any) -> None:
    """Note ``x[key] = value``: all views of the same memory see it.

    Raises
    ------
    CaptureError
        When it is the memory of an argument or of an array from elsewhere.
    """
    memory = Memory.shared_by(x, x.value)
    before, boxes = memory.place, memory.alive()
    check_writeable(capture, before, x)
    for each in boxes:
        each.guard_window()
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
    return is_tracer(x) or defers_ufuncs(x.__class__)


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


def check_cast(function: Function, result: Any, target: Any) -> None:
    """Refuse to write a result to an array that cannot hold it, as NumPy does."""
    given = np.shape(result.data if is_tracer(result) else result)
    kind = getattr(result, "dtype", None)
    if kind is not None and not np.can_cast(kind, target.dtype, "same_kind"):
        raise TypeError(
            f"cannot cast {called(function)} output from {kind} to {target.dtype} with casting "
            "rule 'same_kind'"
        )
    if given != target.shape and np.broadcast_shapes(given, target.shape) != target.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {target.shape} doesn't match the "
            f"broadcast shape {given}"
        )

"""Calls written so that the result lands where it is told to."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.numpy.arguments import Arguments
from tape_ad.programs.engines.out_support import dtype_of_reduction, is_c
from tape_ad.programs.program.native import placed_number
from tape_ad.programs.program.program import Call, Value
from tape_ad.rules import known_facts
from tape_ad.rules.maps.indexing import added_at, scatter
from tape_ad.rules.maps.memory import names_each_once
from tape_ad.rules.maps.reductions import filled_with
from tape_ad.rules.nn.activations import relu
from tape_ad.rules.numpy.updates import updated

__all__ = ["FRESH", "numbers_as_arrays", "seen", "with_out"]


def with_out(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write a call whose result lands in an array that is there.

    Parameters
    ----------
    arguments : Arguments
    call : Call
        One that `out_support.fills` says can do it.
    target : str
        What the array is called.
    """
    function = call.function
    if type(function) is np.ufunc:
        words = [numbers_as_arrays(arguments, call)]
        words.append(f"out={target}" if function in NOT_BY_POSITION else target)
        if call.kwargs:
            words.append(arguments.all((), call.kwargs))
        return [f"{arguments.names.function(function)}({', '.join(words)})"]
    form = FORMS.get(function)
    return (reduced if form is None else form)(arguments, call, target)


NOT_BY_POSITION = frozenset({np.maximum, np.minimum})
"""To whose third argument NumPy objects, since users have meant another operand by it."""

WEAKLY = frozenset(
    {
        np.add,
        np.subtract,
        np.multiply,
        np.divide,
        np.power,
        np.maximum,
        np.minimum,
        np.greater,
        np.greater_equal,
        np.less,
        np.less_equal,
        np.equal,
        np.not_equal,
    }
)
"""Where a Python number takes the dtype of the other operand."""


def numbers_as_arrays(arguments: Arguments, call: Call) -> str:
    """Write the operands of a ufunc, Python numbers as the arrays that NumPy makes of them.

    A quarter of the time of a call on a small array is in making one.
    """
    if call.function not in WEAKLY or len(call.args) != 2:
        return arguments.all(call.args, {})
    x, y = call.args
    return f"{operand(arguments, x, y)}, {operand(arguments, y, x)}"


def operand(arguments: Arguments, one: Any, other: Any) -> str:
    """Write an operand beside another one."""
    if type(one) not in (int, float) or type(other) is not Value:
        return arguments.one(one)
    if other.dtype is None or other.dtype.kind not in "fc":
        return arguments.one(one)
    return arguments.names.number(one, other.dtype)


def reduced(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write a reduction by a ufunc."""
    ufunc = known_facts(call.function).reduces
    reduce = call.function if ufunc is None else ufunc.reduce
    names = ("a", "axis", "dtype", "out", "keepdims")
    given = dict(zip(names, call.args, strict=False)) | dict(call.kwargs)
    array = given.pop("array", given.get("a"))
    axis = given.get("axis", 0 if ufunc is None else None)
    dtype = given.get("dtype", None if ufunc is None else dtype_of_reduction(ufunc))
    words = [*map(arguments.one, (array, axis, dtype)), target]
    if given.get("keepdims", False) is True:
        words.append("True")
    return [f"{arguments.names.function(reduce)}({', '.join(words)})"]


def rectified(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `relu`, which gives zeros of other signs beside an array of them than beside one."""
    (x,) = call.args
    maximum, name = arguments.names.function(np.maximum), arguments.one(x)
    if x.dtype == np.float32 and is_c(x):
        return [f"{target}[...] = 0", f"{maximum}({name}, {target}, out={target})"]
    return [f"{maximum}({name}, {arguments.names.number(0, x.dtype)}, out={target})"]


def joined(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `np.concatenate` and `np.stack`."""
    words = arguments.all(call.args, call.kwargs)
    return [f"{arguments.names.function(call.function)}({words}, out={target})"]


def assigned(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `updated`: an assignment to a copy, or to the array itself."""
    base, value, key, window = (*call.args, *call.kwargs.values(), None)[:4]
    lines = []
    if type(base) is not Value or arguments.of[base] != target:
        lines.append(f"{target}[...] = {arguments.one(base)}")
    return lines + written_at(arguments, target, value, key, window)


def broadcast(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `filled_with`."""
    return [f"{target}[...] = {arguments.one(call.args[0])}"]


def put_down(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `placed_number`."""
    return [f"{target}[()] = {arguments.one(call.args[0])}"]


def written_at(arguments: Arguments, target: str, value: Any, key: Any, window: Any) -> list[str]:
    """Write an assignment, through a window where there is one."""
    place = target if window is None else seen(arguments, window, target)
    return [f"{place}[{arguments.key(key)}] = {arguments.one(value)}"]


def seen(arguments: Arguments, window: Any, target: str) -> str:
    """Write what is seen through a window."""
    view = window.view
    ndarray = arguments.names.function(np.ndarray)
    dtype = arguments.names.dtype(view.dtype)
    return f"{ndarray}({view.shape}, {dtype}, {target}, {view.offset}, {view.strides})"


def scattered(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `scatter`: zeros, and one assignment or addition."""
    return [f"{target}[...] = 0", added(arguments, call, target)]


def added(arguments: Arguments, call: Call, target: str) -> str:
    """Write the addition of elements to zeros."""
    ct, index = (*call.args, call.kwargs.get("index"))[:2]
    key = (slice(None),) * (len(ct.shape) - len(index.node)) + index.key
    if not index.repeats or names_each_once(key, call.outputs[0].shape):
        return f"{target}[{arguments.key(key)}] = {arguments.one(ct)}"
    at = arguments.names.function(np.add.at)
    return f"{at}({target}, {arguments.one(key)}, {arguments.one(ct)})"


def added_to(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `added_at`: an addition to a part of a copy, or of the array itself."""
    total = arguments.one(call.args[0])
    lines = [] if total == target else [f"{target}[...] = {total}"]
    return [*lines, part_added(arguments, call, target)]


def part_added(arguments: Arguments, call: Call, target: str) -> str:
    """Write the addition of elements to a part of an array."""
    _, ct, index = (*call.args, call.kwargs.get("linear"))[:3]
    key = (slice(None),) * (len(ct.shape) - len(index.node)) + index.key
    if not index.repeats:
        return f"{target}[{arguments.key(key)}] += {arguments.one(ct)}"
    at = arguments.names.function(np.add.at)
    return f"{at}({target}, {arguments.one(key)}, {arguments.one(ct)})"


FORMS: Mapping[Any, Callable[[Arguments, Call, str], list[str]]] = {
    np.concatenate: joined,
    np.stack: joined,
    updated: assigned,
    filled_with: broadcast,
    placed_number: put_down,
    scatter: scattered,
    added_at: added_to,
    relu: rectified,
}


def fresh_zeros(arguments: Arguments, call: Call, name: str) -> list[str]:
    """Write `scatter` into an array of its own."""
    out = call.outputs[0]
    zeros, dtype = arguments.names.function(np.zeros), arguments.names.dtype(np.dtype(out.dtype))
    return [f"{name} = {zeros}({out.shape}, {dtype})", added(arguments, call, name)]


def fresh_copy(arguments: Arguments, call: Call, name: str) -> list[str] | None:
    """Write `updated` as an assignment to a new copy."""
    base, value, key, window = (*call.args, *call.kwargs.values(), None)[:4]
    if type(base) is not Value or base.kind is not np.ndarray or not is_c(base):
        return None
    place = written_at(arguments, name, value, key, window)
    return [f"{name} = {arguments.one(base)}.copy()", *place]


def fresh_sum(arguments: Arguments, call: Call, name: str) -> list[str] | None:
    """Write `added_at` as an addition to a part of a new copy."""
    total = call.args[0]
    if not is_c(total):
        return None
    return [f"{name} = {arguments.one(total)}.copy()", part_added(arguments, call, name)]


FRESH: Mapping[Any, Callable[[Arguments, Call, str], list[str] | None]] = {
    updated: fresh_copy,
    scatter: fresh_zeros,
    added_at: fresh_sum,
}
"""How the same is written when the array has to be a new one, the caller's own."""

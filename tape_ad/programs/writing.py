"""Writing to captured arrays: what is noted is a new array, and new views of it."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.handles.callers import caller
from tape_ad.naming import called
from tape_ad.programs.captured import Captured, is_captured
from tape_ad.programs.numbers import CapturedNumber
from tape_ad.programs.program import Call, Value
from tape_ad.rules.numpy.updates import updated, viewed
from tape_ad.rules.numpy.windows import Window

__all__ = ["assign", "call_into", "change"]

Function = Callable[..., Any]


def call_into(
    capture: Any, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Note a call with ``out=``: the result is assigned to that."""
    options = dict(kwargs)
    out = options.pop("out")
    outs = out if isinstance(out, tuple) else (out,)
    for target in outs:
        if target is not None and not is_captured(target):
            raise capture.refusal(
                f"{called(function)} writes to a plain array ({caller()}), which a compiled "
                "function cannot replay; leave out= out, or make the array by np.empty_like(x)"
            )
    if isinstance(function, np.ufunc):
        where = options.get("where", True)
        if where is not True:
            raise capture.refusal(
                f"{called(function)} with out= and where= ({caller()}) cannot be captured; "
                "write np.where(mask, result, out)"
            )
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
    if type(x) is CapturedNumber or not isinstance(x.data, np.ndarray):
        return x._two(function, x, other)
    result = x._two(function, x, other)
    if result is NotImplemented:
        return result
    check_cast(function, result, x)
    assign(capture, x, ..., result)
    return x


def assign(capture: Any, x: Captured, key: Any, value: Any) -> None:
    """Note ``x[key] = value``: all views of the same memory see it.

    Raises
    ------
    CaptureError
        When it is the memory of an argument or of an array from elsewhere.
    """
    base = x if x.origin is None else x.origin
    check_writeable(capture, base, x)
    (concrete_key, concrete_value), (noted_key, noted_value) = capture.both((key, value))
    window = None if x is base else Window.of(base.data, x.data)
    args: tuple[Any, ...] = (base.value, noted_value, noted_key)
    before = base.value
    x.data[concrete_key] = concrete_value
    base.value = Value.like(base.data)
    kwargs = {} if window is None else {"window": window}
    args = (before, *args[1:])
    capture.note(Call(updated, args, kwargs, (base.value,), errors=capture.errors()))
    base.views = [each for each in base.views if each() is not None]
    for view in [each() for each in base.views]:
        view.value = Value.like(view.data, base.value)
        through = Window.of(base.data, view.data)
        capture.note(Call(viewed, (base.value, through), {}, (view.value,)))


def check_writeable(capture: Any, base: Captured, x: Captured) -> None:
    """Refuse to write where the user would see it."""
    if base.value in capture.inputs:
        raise capture.refusal(
            f"{capture.name} writes to its argument {base.value.name} ({caller()}), which a "
            "compiled function does not do; write x = x + y in place of x += y, or begin with "
            "x = x.copy(), and return the new value"
        )
    if base.value.owner is not None or not x.data.flags.writeable:
        if not x.data.flags.writeable:
            x.data[...] = x.data  # raises what NumPy says
        raise capture.refusal(
            f"{capture.name} writes to an array from elsewhere ({caller()}); return the new value"
        )


def check_cast(function: Function, result: Any, target: Any) -> None:
    """Refuse to write a result to an array that cannot hold it, as NumPy does."""
    given = np.shape(result.data if is_captured(result) else result)
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

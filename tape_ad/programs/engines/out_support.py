"""Which calls can write their result where they are told to, with the same bits as ever."""

import math
from typing import Any

import numpy as np

from tape_ad.programs.program.program import Call, Value, placed_number, root_of, values_in
from tape_ad.rules import known_facts
from tape_ad.rules.maps.indexing import FEW, Index, added_at, scatter
from tape_ad.rules.maps.memory import names_each_once
from tape_ad.rules.maps.reductions import filled_with
from tape_ad.rules.nn.activations import relu
from tape_ad.rules.numpy.updates import updated

__all__ = ["dtype_of_reduction", "fills", "overwritten", "size_of"]

JOINS = frozenset({np.concatenate, np.stack})
OTHERWISE = frozenset({"where", "out", "order", "subok", "initial"})
"""Options with which a call is left as it is."""


def fills(call: Call) -> bool:
    """Tell whether a call can write its one result, an array, into memory that it is given."""
    if call.several or not OTHERWISE.isdisjoint(call.kwargs):
        return False
    out, function = call.outputs[0], call.function
    if out.kind is not np.ndarray or out.owner is not None or not can_be_placed(out):
        return False
    if type(function) is np.ufunc:
        return function.nout == 1 and len(call.args) == function.nin
    return type(function).__hash__ is not None and fills_by_table(call, function, out)


def fills_by_table(call: Call, function: Any, out: Value) -> bool:
    """Tell whether a call of what is no ufunc can write its result into memory that it is given."""
    if function is scatter:
        return added_once(call)
    if function is added_at:
        return is_c(out) and added_in_place(call)
    if function is relu:
        (x,) = call.args
        return type(x) is Value and x.dtype == out.dtype and np.dtype(out.dtype).kind == "f"
    if function is placed_number:
        return True
    if function is updated or function is filled_with or function in JOINS:
        return is_c(out)  # a window on another needs the memory that `clone` gives
    return reduces(call)


def reduces(call: Call) -> bool:
    """Tell whether a call is a reduction by a ufunc."""
    function = call.function
    owner = getattr(function, "__self__", None)
    if type(owner) is np.ufunc:
        return function.__name__ in {"reduce", "accumulate"} and len(call.args) <= 3
    return known_facts(function).reduces is not None and len(call.args) <= 3


def dtype_of_reduction(ufunc: np.ufunc) -> type | None:
    """Give the dtype that NumPy's functions in Python ask of a reduction; None if of no special."""
    return bool if ufunc in (np.logical_or, np.logical_and) else None


def overwritten(call: Call) -> list[Value]:
    """List the operands in whose memory a call may write its result, if nothing needs them."""
    function, out = call.function, call.outputs[0]
    if function is updated:
        base, value, *others = call.args
        apart = all(root_of(v) is not root_of(base) for v in values_in((value, others)))
        return [base] if type(base) is Value and apart and like(base, out) else []
    if function is added_at:
        total, *others = (*call.args, call.kwargs.get("linear"))
        apart = all(root_of(v) is not root_of(total) for v in values_in(tuple(others)))
        return [total] if apart and like(total, out) else []
    elementwise = type(function) is np.ufunc and function.signature is None
    if not (elementwise or function is relu):
        return []
    if function is relu and out.dtype == np.float32:
        return []  # whose zeros it writes there first
    if math.prod(out.shape) == 1:  # which NumPy takes twice as long to write over
        return []
    operands = [arg for arg in call.args if type(arg) is Value]
    return [
        one
        for one in operands
        if one.owner is None
        and like(one, out)
        and all(other is one or root_of(other) is not one for other in operands)
    ]


def added_once(call: Call) -> bool:
    """Tell whether a call of `scatter` can be written as zeros and one assignment or addition."""
    ct, index = (*call.args, call.kwargs.get("index"))[:2]
    if type(ct) is not Value or values_in((index,)) or math.prod(ct.shape) == 0:
        return False
    stack = len(ct.shape) - len(index.node)
    if stack and index.front:
        return False
    key = (slice(None),) * stack + index.key
    shape = ct.shape[:stack] + index.parent
    if not index.repeats or names_each_once(key, shape):
        return True
    return len(shape) == 1 or (math.prod(ct.shape) < FEW and not index.by_truth)


def added_in_place(call: Call) -> bool:
    """Tell whether a call of `added_at` can be written as one addition to a part of an array."""
    total, ct, index = (*call.args, call.kwargs.get("linear"))[:3]
    if type(total) is not Value or type(ct) is not Value or total.kind is not np.ndarray:
        return False
    if type(index) is not Index or math.prod(ct.shape) == 0:
        return False
    if index.front and len(ct.shape) > len(index.node):
        return False
    few = len(total.shape) == 1 or math.prod(ct.shape) < FEW
    return not index.repeats or (few and not index.by_truth)


def can_be_placed(value: Value) -> bool:
    """Tell whether an array fills its memory without gaps, and can be made by its bytes."""
    dtype = value.dtype
    return dtype is not None and not dtype.hasobject and 0 < size_of(value) == span_of(value)


def like(one: Value, other: Value) -> bool:
    """Tell whether two arrays have one layout."""
    return one.shape == other.shape and one.dtype == other.dtype and one.strides == other.strides


def is_c(value: Value) -> bool:
    """Tell whether the last axis is that of neighbours in memory, as it is in new arrays."""
    step = np.dtype(value.dtype).itemsize
    for length, stride in zip(reversed(value.shape), reversed(value.strides), strict=True):
        if stride != step:
            return False
        step *= length
    return True


def size_of(value: Value) -> int:
    """Count the bytes of a value's elements."""
    return 0 if value.dtype is None else math.prod(value.shape) * value.dtype.itemsize


def span_of(value: Value) -> int:
    """Count the bytes from the first element to the last; -1 where axes are turned or repeated."""
    if value.dtype is None:
        return -1
    total = value.dtype.itemsize
    for length, stride in zip(value.shape, value.strides, strict=True):
        if length > 1 and stride <= 0:
            return -1
        total += (length - 1) * stride
    return total

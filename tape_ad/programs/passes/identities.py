"""Leaving out calls that give what they are given."""

import operator
from typing import Any

import numpy as np

from tape_ad.programs.passes.rewriting import Rewriting, Rule, alike
from tape_ad.programs.program.program import Call, Value
from tape_ad.rules.numpy.updates import updated

__all__ = ["IDENTITIES"]

NUMBERS = frozenset("biufc")
REAL = frozenset("biuf")
WHOLES = frozenset({slice, type(Ellipsis)})


def first_operand(call: Call, rewriting: Rewriting) -> Value | None:
    """Give the first operand if the result is just like it."""
    found = call.args[0] if call.args else None
    dtype = call.outputs[0].dtype
    if type(found) is not Value or dtype is None or dtype.kind not in NUMBERS:
        return None
    return found if alike(found, call.outputs[0]) else None


def real_operand(call: Call, rewriting: Rewriting) -> Value | None:
    """Give the first operand if it is real, and the result is just like it."""
    dtype = call.outputs[0].dtype
    real = dtype is not None and dtype.kind in REAL
    return bare_operand(call, rewriting) if real else None


def bare_operand(call: Call, rewriting: Rewriting) -> Value | None:
    """Give the only operand of a ufunc without options if the result is just like it."""
    return first_operand(call, rewriting) if len(call.args) == 1 and not call.kwargs else None


def negated_twice(call: Call, rewriting: Rewriting) -> Value | None:
    """Give x for --x."""
    if call.kwargs or len(call.args) != 1:
        return None
    before = rewriting.made_by.get(call.args[0])
    if before is None or before.function is not np.negative:
        return None
    return bare_operand(before, rewriting)


def whole(call: Call, rewriting: Rewriting) -> Value | None:
    """Give x for ``x[...]`` and ``x[:]``, which the layout tells from other slices."""
    key = call.args[1]
    entries = key if type(key) is tuple else (key,)
    return first_operand(call, rewriting) if WHOLES.issuperset(map(type, entries)) else None


def written_over(call: Call, rewriting: Rewriting) -> Value | None:
    """Give the value that is written over a whole array, as ``x += y`` does."""
    if call.kwargs or len(call.args) != 3:
        return None
    _, value, key = call.args
    if key is ... and type(value) is Value and alike(value, call.outputs[0]):
        return value
    return None


IDENTITIES: dict[Any, Rule] = {
    np.conjugate: real_operand,
    np.negative: negated_twice,
    np.positive: bare_operand,
    np.real: real_operand,
    operator.getitem: whole,
    updated: written_over,
    **dict.fromkeys(
        (
            *(np.astype, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to, np.copy),
            *(np.matrix_transpose, np.moveaxis, np.permute_dims, np.ravel, np.reshape),
            *(np.rollaxis, np.squeeze, np.swapaxes, np.transpose),
        ),
        first_operand,
    ),
}
"""What finds calls that give what they are given, such as the conjugate of a real array.

That has to lie in memory in the same way, for what is computed from it may depend on that: the
order of a sum, and whether a reshape is a view. Functions in the last lines move no element where
shape and strides stay as they are.
"""

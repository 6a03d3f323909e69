"""What is the same at every replay."""

import math
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any
from weakref import getweakrefcount

import numpy as np

from tape_ad.programs.passes.rewriting import Rewriting, alike
from tape_ad.programs.program.program import COMPUTED, Call, Constant, Program, Value, replaced

__all__ = ["fold_constants", "literals_of"]

MOST = 2**16
"""How many bytes a result may have that is kept in place of its call."""

UNFILLED = frozenset({np.empty_like})


def literals_of(program: Program) -> dict[Value, Any]:
    """Find the constants of a program that nobody can change.

    Most constants are the user's arrays, which may be updated between two replays. What a function
    makes anew at each call, as a sweep makes ones to start from, nobody else has.

    Returns
    -------
    dict of Value to array
    """
    known = references_to(program)
    found = [each for each in program.constants if is_literal(each, known)]
    return {each.value: each.data for each in found}  # made last, for it refers to them too


def references_to(program: Program) -> Counter[int]:
    """Count how often constants refer to an array, by its identity: as theirs, or as a view's."""
    known: Counter[int] = Counter()
    bases = {}
    for each in program.constants:
        known[id(each.data)] += 1 + each.own  # then an earlier form has it, which was not its own
        bases[id(each.data)] = id(getattr(each.data, "base", None))
    known.update(bases.values())
    return known


def is_literal(constant: Constant, known: Mapping[int, int]) -> bool:
    """Tell whether nobody but a program has the memory of a constant.

    Parameters
    ----------
    constant : Constant
    known : mapping of int to int
        What `references_to` gives.
    """
    data = constant.data
    if isinstance(data, np.generic):
        return True
    if type(data) is not np.ndarray or getweakrefcount(data):
        return False
    if sys.getrefcount(data) - known[id(data)] > ALONE:
        return False
    base = data.base
    while base is not None:
        if type(base) is not np.ndarray or sys.getrefcount(base) - known[id(base)] > ALONE:
            return False
        data, base = base, base.base
    return bool(data.flags.owndata)


def alone() -> int:
    """Count the references to an array, besides those of constants, that `is_literal` has."""
    constant = Constant(Value(np.ndarray), np.empty(0), "")
    data = constant.data
    return sys.getrefcount(data) - 1


ALONE = alone()


def fold_constants(program: Program) -> Program:
    """Compute calls on nothing but literals here and now, if that takes little memory.

    Those that warn stay, as do those whose results the caller gets.
    """
    literals = literals_of(program)
    if not literals:
        return program
    rewriting = Rewriting(program, literals)
    for old in program.steps:
        operands = old.operands
        step = rewriting.rewired(old) if rewriting.by else old
        on_literals = not operands or operands[0] in literals or operands[0] in rewriting.by
        if on_literals and type(step) is Call and literals.keys() >= set(step.operands):
            constants = computed(step, rewriting)
            if constants:
                for out, constant in zip(step.outputs, constants, strict=True):
                    rewriting.replace(out, constant.value)
                    literals[constant.value] = constant.data
                rewriting.constants += constants
                continue
        rewriting.keep(step)
    return rewriting.finished()


def computed(call: Call, rewriting: Rewriting) -> list[Constant]:
    """Compute what a call gives; nothing where it is better left as it is."""
    if call.function in UNFILLED or any(map(rewriting.is_returned, call.outputs)):
        return []
    if any(out.dtype is None or nbytes(out) > MOST for out in call.outputs):
        return []
    by = rewriting.literals
    try:
        with np.errstate(all="raise"):
            result = call.function(*replaced(call.args, by), **replaced(call.kwargs, by))
    except FloatingPointError:
        return []
    results = result if call.several else (result,)
    constants = [Constant(Value.like(each), each, COMPUTED) for each in results]
    pairs = zip(constants, call.outputs, strict=True)
    return constants if all(alike(constant.value, out) for constant, out in pairs) else []


def nbytes(value: Value) -> int:
    """Count the bytes of an array, those that it shows again and again once."""
    lengths = [n for n, stride in zip(value.shape, value.strides, strict=True) if stride]
    return math.prod(lengths) * (value.dtype.itemsize if value.dtype else 0)

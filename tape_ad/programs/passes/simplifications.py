"""The simplifications: constant folding, identities, strength reduction, common and dead code."""

import functools
import math
import operator
import sys
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from weakref import getweakrefcount

import numpy as np
from attrs import evolve

from tape_ad.programs.capture.op_facts import may_fail
from tape_ad.programs.capture.opaque_calls import is_opaque
from tape_ad.programs.capture.tracers import cast
from tape_ad.programs.passes.rewriting import Rewriting, Rule, alike, rewritten, with_body
from tape_ad.programs.program import (
    COMPUTED,
    Call,
    Constant,
    Program,
    Step,
    Value,
    body_of,
    replaced,
)
from tape_ad.programs.program.trace import spell
from tape_ad.record.gradients import through_buffer
from tape_ad.rules.maps import clone
from tape_ad.rules.maps.matrix_products import one_in_each, scaled_rows, times_matrix
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import updated, viewed


def returned_constants(program: Program) -> list[Constant]:
    """List the constants that a function makes anew at each call, and gives away."""
    outs = program.outputs
    seen = {*outs, *(out.owner for out in outs)}
    return [each for each in program.constants if each.own and each.value in seen]


def with_returned_copied(program: Program) -> Program:
    """Copy the arrays that this call of the function has given away: its caller may write there."""
    given = {id(memory_of(each.data)) for each in returned_constants(program)}
    copies: dict[int, Any] = {}
    constants = []
    for each in program.constants:
        constant = each
        base = memory_of(each.data)
        if id(base) in given:
            copy = copies.setdefault(id(base), clone(base))
            data = copy.view() if base is each.data else Window.of(base, each.data).on(copy)
            data.flags.writeable = each.data.flags.writeable
            constant = evolve(each, data=data)
        constants.append(constant)
    return evolve(program, constants=tuple(constants)) if given else program


def copy_returned_constants(program: Program) -> Program:
    """Copy at each replay what the function would make anew, so that no two calls share it.

    Those that show the same memory do so still.
    """
    given = returned_constants(program)
    if not given:
        return program
    rewriting = Rewriting(program)
    constants = {id(each.data): each for each in program.constants}
    copies: dict[int, Value] = {}
    for each in given:
        base = memory_of(each.data)
        if id(base) not in copies:
            of = constants.setdefault(id(base), Constant(Value.like(base), base, each.line))
            copies[id(base)] = Value.like(clone(base))
            rewriting.keep(Call(clone, (of.value,), {}, (copies[id(base)],)))
        new = copies[id(base)]
        if base is not each.data:
            window = Window.of(base, each.data)
            owner, new = new, Value.like(each.data, new)
            rewriting.keep(Call(viewed, (owner, window), {}, (new,)))
        elif not each.data.flags.writeable:
            owner, new = new, Value.like(each.data, new)
            rewriting.keep(Call(through_buffer, (owner,), {}, (new,)))
        rewriting.replace(each.value, new)
    for step in program.steps:
        rewriting.keep(rewriting.rewired(step))
    return evolve(rewriting.finished(), constants=tuple(constants.values()))


def memory_of(array: Any) -> Any:
    """Find the array that has the memory that an array shows."""
    while True:
        base = array.base
        if type(base) is not np.ndarray:
            base = getattr(base, "base", None)  # as `numpy.lib.stride_tricks` has it
        if type(base) is not np.ndarray:
            return array
        array = base


MOST = 2**16
"""How many bytes a result may have that is kept in place of its call."""

UNFILLED = frozenset({np.empty_like})
NO_RULES: Mapping[Any, Rule] = MappingProxyType({})


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


def fold_constants(program: Program, rules: Mapping[Any, Rule] = NO_RULES) -> Program:
    """Compute calls on nothing but literals here and now, if that takes little memory.

    Those that warn stay, as do those whose results the caller gets. To the others, the rules for
    their functions are applied in the same go.
    """
    return rewritten(program, rules, literals_of(program), fold=folded)


def folded(call: Call, rewriting: Rewriting) -> bool:
    """Let constants stand for what a call on literals gives, if it can be computed now."""
    literals = rewriting.literals
    if not literals.keys() >= set(call.operands):
        return False
    constants = computed(call, rewriting)
    for out, constant in zip(call.outputs, constants, strict=False):
        rewriting.replace(out, constant.value)
        literals[constant.value] = constant.data
    rewriting.add_constants(constants)
    return bool(constants)


def computed(call: Call, rewriting: Rewriting) -> list[Constant]:
    """Compute what a call gives; nothing where it is better left as it is."""
    if call.function in UNFILLED or any(map(rewriting.is_returned, call.outputs)):
        return []
    if is_opaque(call.function):
        return []  # which may read what changes
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
    np.positive: bare_operand,
    np.real: real_operand,
    operator.getitem: whole,
    updated: written_over,
    **dict.fromkeys(
        (
            *(cast, np.astype, np.copy, np.broadcast_to),
            *(np.atleast_1d, np.atleast_2d, np.atleast_3d),
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


POWERS = frozenset("fd")
"""The dtypes whose power of 2 NumPy may compute as a product, by their codes."""


def product(call: Call, rewriting: Rewriting) -> Value | None:
    """Give x for ``x * 1`` and ``1 * x``."""
    return beside_ones(call, rewriting, 0) or beside_ones(call, rewriting, 1)


def beside_ones(call: Call, rewriting: Rewriting, place: int) -> Value | None:
    """Give the operand in a place if the result is just like it, and the other one is all ones."""
    if len(call.args) != 2 or call.kwargs:
        return None
    x, other = call.args[place], call.args[1 - place]
    if type(other) is Value and other not in rewriting.literals:
        return None  # as most are
    if type(x) is not Value or x.dtype is None or x.dtype.kind not in "iuf":
        return None
    return x if alike(x, call.outputs[0]) and rewriting.is_known(other, is_one) else None


def is_one(known: Any) -> bool:
    """Tell whether something known is all ones."""
    if type(known) is float or type(known) is int:
        return known == 1
    return isinstance(known, (np.ndarray, np.generic)) and bool(np.all(np.equal(known, 1)))


def square(call: Call, rewriting: Rewriting) -> Call | None:
    """Give the square for a power of 2."""
    if len(call.args) != 2 or call.kwargs:
        return None
    x, exponent = call.args
    if type(x) is not Value or x.dtype is None or x.dtype.char not in POWERS:
        return None
    if call.outputs[0].dtype != x.dtype or type(exponent) not in {int, float} or exponent != 2:
        return None
    if not has_squares(x.dtype.char):
        return None
    return Call(np.square, (x,), {}, call.outputs, errors=call.errors)


@functools.cache
def has_squares(code: str) -> bool:
    """Tell whether NumPy computes powers of 2 as products; in older versions some bits differ."""
    x = np.random.default_rng(0).normal(size=4096).astype(code)
    return np.array_equal(np.power(x, 2), np.square(x))


NEUTRAL_OPERANDS: dict[Any, Rule] = {np.multiply: product}
"""What finds factors of 1.

A complex product with 1 adds 0 times the other part, which is nan for inf, so it stays, as does all
that changes a dtype, a shape or a layout.
"""

SQUARES: dict[Any, Rule] = {np.power: square}
"""What writes ``x ** 2`` as a square for real x, as NumPy computes it.

For complex x it takes another way, with another rounding.
"""


def scale_by_unit_rows(call: Call, rewriting: Rewriting) -> Call | None:
    """Write a product of known unit vectors, as a Jacobian starts with, as what it picks."""
    if len(call.args) != 2 or call.kwargs:
        return None
    rows, right = call.args
    known = rewriting.literals.get(rows) if type(rows) is Value else None
    if type(known) is not np.ndarray or type(right) is not Value or right.kind is not np.ndarray:
        return None
    found = one_in_each(known) if known.ndim == len(right.shape) == 2 else None
    if found is None:
        return None
    factors, columns = found
    begin = int(columns[0])
    if (columns != np.arange(begin, begin + len(columns))).any():
        return None
    args = (rows, right, factors, begin)
    return Call(scaled_rows, args, {}, call.outputs, errors=call.errors)


UNIT_ROWS: dict[Any, Rule] = {times_matrix: scale_by_unit_rows}
"""What finds products that only scale the rows of a matrix, for arrays that nobody can change.

A compiled Jacobian of 200 values by 50 variables takes half the time with it in native code.
"""


SILENT = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")


def eliminate_common_subexpressions(program: Program) -> Program:
    """Let the first of several equal calls stand for all of them, and so of equal literals."""
    rewriting = Rewriting(program)
    for value, equal in equal_literals(program).items():
        rewriting.replace(value, equal)
    first: dict[Any, Any] = {}
    for old in program.steps:
        step = rewriting.rewired(old) if rewriting.by else old
        if not isinstance(step, Call):
            rewriting.keep(step)
            continue
        if (body := body_of(step)) is not None:
            loop = with_body(step, eliminate_common_subexpressions(body))
            rewriting.changed |= loop is not step
            rewriting.keep(loop)
            continue
        mark = mark_of(step)
        earlier = first.get(mark)
        if earlier is None:
            first[mark] = rewriting.keep(step)
        elif not stands_for(earlier, step, rewriting):
            rewriting.keep(step)
    return rewriting.finished()


def equal_literals(program: Program) -> dict[Value, Value]:
    """Find literals that the first of several equal ones can stand for, and give it for each."""
    first: dict[Any, Value] = {}
    found: dict[Value, Value] = {}
    rewriting = Rewriting(program)
    for value, data in literals_of(program).items():
        if nbytes(value) <= MOST:
            mark = value.kind, value.shape, value.dtype, value.strides, data.tobytes()
            earlier = first.setdefault(mark, value)
            if earlier is not value and rewriting.may_replace(value, earlier):
                found[value] = earlier
                rewriting.replace(value, earlier)
    return found


def stands_for(earlier: Call, call: Call, rewriting: Rewriting) -> bool:
    """Let what an earlier call has given stand for what an equal one would give, if it can."""
    if call.errors not in (earlier.errors, SILENT):
        return False  # it might warn where the earlier one does not
    pairs = list(zip(call.outputs, earlier.outputs, strict=True))
    if not all(rewriting.may_replace(ours, theirs) for ours, theirs in pairs):
        return False
    for ours, theirs in pairs:
        rewriting.replace(ours, theirs)
    return True


def mark_of(call: Call) -> tuple[Any, ...]:
    """Give what equal calls, and only those, have in common."""
    mark = [call.function, len(call.args)]
    for arg in call.args:
        if type(arg) is Value:  # as most are
            mark.append(arg)
        else:
            spell(arg, mark, mark)
    if call.kwargs:
        spell(dict(call.kwargs), mark, mark)
    return tuple(mark)


def eliminate_dead_code(program: Program) -> Program:
    """Leave out calls and constants that neither an output nor a guard depends on.

    A call that may fail stays: the function may catch its error, and a check may be meant.
    The inputs stay: they are what the caller gives.
    """
    needed: set[Value] = set(program.outputs)
    kept: list[Step] = []
    for step in reversed(program.steps):
        if type(step) is not Call:
            kept.append(step)
        elif not needed.isdisjoint(step.outputs) or may_fail(step):
            body = body_of(step)
            kept.append(step if body is None else with_body(step, eliminate_dead_code(body)))
        else:
            continue
        needed.update(step.operands)
    kept.reverse()
    constants = tuple([each for each in program.constants if each.value in needed])
    same = len(kept) == len(program.steps) and all(map(operator.is_, kept, program.steps))
    if same and len(constants) == len(program.constants):
        return program
    return evolve(program, steps=tuple(kept), constants=constants)

"""Passes that take out calls: what they take, what they leave, and that no bit changes."""

import operator
import time
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from tape_ad.programs.passes import PASSES, simplified
from tape_ad.programs.passes.rewriting import rewritten
from tape_ad.programs.passes.simplifications import (
    IDENTITIES,
    eliminate_common_subexpressions,
    eliminate_dead_code,
)
from tape_ad.programs.program import Program
from tape_ad.programs.program.loops import unrolled
from tape_ad.rules.base import Constant
from tape_ad.rules.facts import ELEMENTWISE, UNKNOWN, Facts
from tape_ad.rules.numpy.updates import updated
from tests.programs.simplifying import PARTS, TURNED, X, Z, assert_same, builder, functions

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the special points


def without_empty_calls(program: Program) -> Program:
    return rewritten(program, IDENTITIES)


# What nobody uses


def test_calls_that_nothing_depends_on_go() -> None:
    to = builder(X)
    to(np.exp, to(np.sin, to.inputs[0]))
    program = to.program([to(np.cos, to.inputs[0])])
    assert functions(eliminate_dead_code(program)) == [np.cos]
    assert_same(program, eliminate_dead_code(program), X)


def test_what_a_guard_asks_of_stays() -> None:
    to = builder(X)
    to.guard(bool, to(np.any, to.inputs[0]))
    program = to.program([])
    assert eliminate_dead_code(program) is program


def test_a_call_stays_for_one_of_its_results() -> None:
    to = builder(X)
    _, second, _ = to(np.split, to.inputs[0], 3)
    program = to.program([second])
    assert eliminate_dead_code(program) is program


def test_constants_that_nothing_depends_on_go_and_inputs_stay() -> None:
    to = builder(X, X)
    to.constant(np.ones(3))
    program = eliminate_dead_code(to.program([to.inputs[1]]))
    assert (len(program.inputs), len(program.constants)) == (2, 0)


def described(facts: Facts) -> Any:
    """Make a function of which something is known."""
    function: Any = lambda x: x  # noqa: E731 - it gets an attribute
    function.tape_ad_rule = Constant(facts)
    return function


@pytest.mark.parametrize(
    ("facts", "stays"),
    [
        (UNKNOWN, True),
        (ELEMENTWISE, False),
        (UNKNOWN.also(may_raise=False), False),
        (ELEMENTWISE.also(may_raise=True), True),
    ],
)
def test_a_call_that_may_raise_stays(facts: Facts, stays: bool) -> None:
    to = builder(X)
    to(described(facts), to.inputs[0])
    program = to.program([to(np.cos, to.inputs[0])])
    assert len(eliminate_dead_code(program).steps) == 1 + stays


# Calls that change nothing


@pytest.mark.parametrize(
    ("x", "function", "more"),
    [
        (X, np.conjugate, ()),
        (X, np.real, ()),
        (Z, np.positive, ()),
        (X, np.astype, (np.dtype(float),)),
        (X, np.copy, ()),
        (X, np.reshape, ((3, 4),)),
        (X, np.transpose, ((0, 1),)),
        (X, np.swapaxes, (1, 1)),
        (X, np.squeeze, ()),
        (X, np.broadcast_to, ((3, 4),)),
        (X[0], np.ravel, ()),
        (X, np.atleast_2d, ()),
        (X, operator.getitem, (...,)),
        (X, operator.getitem, (slice(None),)),
        (X, operator.getitem, ((slice(0, 3), ..., slice(None, 4)),)),
        (X[:0], operator.getitem, (slice(None, None, -1),)),
    ],
)
def test_calls_that_give_what_they_are_given_go(x: Any, function: Any, more: Any) -> None:
    to = builder(x)
    y = to(np.sin, to.inputs[0])
    program = to.program([to(np.cos, to(function, y, *more))])
    simpler = without_empty_calls(program)
    assert functions(simpler) == [np.sin, np.cos]
    assert_same(program, simpler, x)


@pytest.mark.parametrize(
    ("x", "function", "more"),
    [
        (Z, np.conjugate, ()),
        (Z, np.real, ()),
        (X, np.astype, (np.dtype(np.float32),)),
        (X, np.astype, (np.dtype(">f8"),)),
        (TURNED, np.copy, ("C",)),
        (X, np.reshape, ((4, 3),)),
        (X[:, :3], np.transpose, ()),
        (X, np.broadcast_to, ((1, 3, 4),)),
        (X, operator.getitem, (slice(None, None, -1),)),
        (X, operator.getitem, (slice(1, None),)),
        (X, operator.getitem, ([0, 1, 2],)),
        (X[0, 0:1].reshape(()), np.positive, ()),  # of an array a number
        (X[0, 0:1].reshape(()), operator.getitem, ((),)),
    ],
)
def test_calls_that_change_something_stay(x: Any, function: Any, more: Any) -> None:
    to = builder(x)
    y = to(np.add, to.inputs[0], 0.0) if x.ndim else to.inputs[0]
    program = to.program([to(np.cos, to(function, y, *more))])
    assert without_empty_calls(program) is program


def test_a_copy_in_another_layout_stays() -> None:
    to = builder(PARTS)
    program = to.program([to(np.sum, to(np.copy, to.inputs[0]))])
    assert without_empty_calls(program) is program


def test_a_copy_of_an_argument_stays_for_it_is_aligned_in_memory() -> None:
    to = builder(X)
    program = to.program([to(np.sum, to(np.copy, to.inputs[0]))])
    assert without_empty_calls(program) is program


def test_what_is_written_over_a_whole_array_is_that_array() -> None:
    to = builder(X)
    base, value = to(np.sin, to.inputs[0]), to(np.exp, to.inputs[0])
    program = to.program([to(np.cos, to(updated, base, value, ...))])
    simpler = eliminate_dead_code(without_empty_calls(program))
    assert functions(simpler) == [np.exp, np.cos]
    assert_same(program, simpler, X)


@pytest.mark.parametrize("value", [X[0], X.astype(np.float32)])
def test_what_is_stretched_or_cast_into_an_array_is_not(value: Any) -> None:
    to = builder(X, value)
    base, over = to(np.sin, to.inputs[0]), to(np.exp, to.inputs[1])
    program = to.program([to(updated, base, over, ...)])
    assert without_empty_calls(program) is program


# What the caller gets


def test_an_output_does_not_become_an_argument_or_a_constant() -> None:
    to = builder(X)
    user = np.ones((3, 4))
    program = to.program([to(np.copy, to.inputs[0]), to(np.positive, to.constant(user))])
    assert without_empty_calls(program) is program


def test_outputs_do_not_become_one() -> None:
    to = builder(X)
    y = to(np.sin, to.inputs[0])
    program = to.program([y, to(np.copy, y), to(np.sin, to.inputs[0])])
    for simplify in (without_empty_calls, eliminate_common_subexpressions):
        assert simplify(program) is program


def test_an_output_does_not_become_what_another_one_is_a_view_of() -> None:
    to = builder(X)
    y = to(np.sin, to.inputs[0])
    rows = to(operator.getitem, y, slice(1, None))
    program = to.program([rows, to(np.copy, y)])
    assert without_empty_calls(program) is program


def test_an_output_may_become_what_only_the_program_has() -> None:
    to = builder(X)
    program = to.program([to(np.copy, to(np.sin, to.inputs[0]))])
    simpler = without_empty_calls(program)
    assert functions(simpler) == [np.sin]
    assert_same(program, simpler, X)


def test_a_view_is_a_view_of_what_stands_in_place_of_its_owner() -> None:
    to = builder(X)
    y = to(np.sin, to.inputs[0])
    view = to(operator.getitem, to(np.copy, y), slice(1, None))
    program = to.program([to(np.exp, to(np.reshape, view, (8,)))])
    simpler = without_empty_calls(program)
    owners = [call.outputs[0].owner for call in simpler.calls]
    assert owners == [None, simpler.calls[0].outputs[0], simpler.calls[0].outputs[0], None]
    assert_same(program, simpler, X)


# Equal calls


def test_equal_calls_become_one() -> None:
    to = builder(X)
    keys = [(slice(1, None), ...), (slice(1, None), ...)]
    views = [to(operator.getitem, to.inputs[0], key) for key in keys]
    sines = [to(np.sin, view) for view in views]
    sums = [to(np.sum, sine, axis=0) for sine in sines]
    program = to.program([to(np.add, *sums)])
    simpler = eliminate_common_subexpressions(program)
    assert functions(simpler) == [operator.getitem, np.sin, np.sum, np.add]
    assert_same(program, simpler, X)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        (0j, complex(0.0, -0.0)),
        (np.float32(1), np.float64(1)),
        (1.0, np.float64(1)),
        (np.float64(0.0), np.float64(-0.0)),
        (np.nan, 0.0),
    ],
)
def test_numbers_that_are_equal_are_not_always_the_same(one: Any, other: Any) -> None:
    to = builder(X.astype(np.float32))
    both = [to(np.multiply, to.inputs[0], number) for number in (one, other)]
    program = to.program([to(np.sin, each) for each in both])
    assert eliminate_common_subexpressions(program) is program


class Lengths(dict[str, float]):
    """A structure with an attribute beside what is in it."""

    def __init__(self, unit: float, **lengths: float) -> None:
        super().__init__(lengths)
        self.unit = unit


def scaled(x: Any, by: Any) -> Any:
    return x * getattr(by, "unit", 1.0) * sum(by.values())


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        (OrderedDict(a=2.0), OrderedDict(a=2.0), 1),
        (OrderedDict(a=2.0), OrderedDict(b=2.0), 2),
        ({1: 2.0}, {True: 2.0}, 2),
        ({"a": 0.0}, {"a": -0.0}, 2),
        (Lengths(1.0, a=2.0), Lengths(1.0, a=2.0), 1),
        (Lengths(1.0, a=2.0), Lengths(3.0, a=2.0), 2),
    ],
)
def test_structures_are_equal_with_all_that_they_have(one: Any, other: Any, left: int) -> None:
    to = builder(X)
    program = to.program([to(np.sin, to(scaled, to.inputs[0], each)) for each in (one, other)])
    simpler = eliminate_common_subexpressions(program)
    assert functions(simpler).count(scaled) == left
    assert_same(program, simpler, X)


def test_calls_that_differ_in_options_or_in_their_order_stay() -> None:
    to = builder(X)
    (x,) = to.inputs
    calls = [
        *(to(np.sum, x, axis=axis) for axis in (None, 0, 1)),
        *(to(np.subtract, *pair) for pair in ((x, 1.0), (1.0, x))),
        *(to(np.reshape, x, shape) for shape in ((12,), [12])),
    ]
    program = to.program([to(np.sin, each) for each in calls])
    assert eliminate_common_subexpressions(program) is program


def test_a_call_that_may_warn_does_not_become_one_that_does_not() -> None:
    silent = {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"}
    for first, second, left in ((silent, None, 2), (None, silent, 1), (silent, dict(silent), 1)):
        to = builder(X)
        both = [to.call(np.log, (to.inputs[0],), {}, each) for each in (first, second)]
        program = to.program([to(np.subtract, *both)])
        assert functions(eliminate_common_subexpressions(program)).count(np.log) == left


def test_equal_calls_with_several_results_become_one() -> None:
    to = builder(X)
    one, other = (to(np.divmod, to.inputs[0], 2.0) for _ in range(2))
    program = to.program([to(np.add, one[0], other[1]), to(np.add, one[1], other[0])])
    simpler = eliminate_common_subexpressions(program)
    assert functions(simpler) == [np.divmod, np.add, np.add]
    assert_same(program, simpler, X)


def test_arguments_without_a_hash_are_equal_to_themselves_only() -> None:
    to = builder(X)
    places = [np.array([0, 1]), np.array([0, 1])]
    rows = [to(np.take, to.inputs[0], each, axis=0) for each in (*places, places[0])]
    program = to.program([to(np.sin, each) for each in rows])
    assert functions(eliminate_common_subexpressions(program)).count(np.take) == 2


# All of them


def test_the_history_has_the_program_before_each_pass_that_changed_it() -> None:
    to = builder(X)
    to(np.exp, to.inputs[0])
    once = to(np.sin, to.inputs[0])
    program = to.program([to(np.exp, to(np.multiply, once, 1.0))])
    simpler = simplified(program)
    names = [name for name, _ in simpler.history]
    first = "constant folding, identities and strength reduction"
    assert names == [first, "dead code elimination"]
    assert [len(before) for _, before in simpler.history] == [4, 3]
    assert simpler.history[0][1] is program
    assert set(names) <= PASSES.keys()


def test_guards_stay_in_their_order() -> None:
    to = builder(X)
    to.guard(bool, to(np.any, to.inputs[0]))
    to.guard(bool, to(np.all, to(np.isfinite, to.inputs[0])))
    to.guard(bool, to(np.any, to.inputs[0]))
    program = to.program([])
    simpler = simplified(program)
    assert [guard.answer for guard in simpler.guards] == [True, False, True]
    assert functions(simpler) == [np.any, np.isfinite, np.all]


def chain(length: int) -> Program:
    """Write a chain with something for each pass in every link."""
    to = builder(X)
    (y,) = to.inputs
    ones = to.literal(np.ones((3, 4)))
    for _ in range(length):
        sine, again = to(np.sin, y), to(np.sin, y)
        to(np.cos, sine)
        y = to(np.multiply, ones, to(np.power, to(np.add, sine, again), 2))
        for gone in list(to.concrete)[2:-1]:  # so that the builder has few to look through
            del to.concrete[gone]
    return to.program(y)


def seconds(program: Program) -> float:
    start = time.process_time()
    simpler = simplified(program)
    taken = time.process_time() - start
    assert len(unrolled(simpler)) == len(program) // 2
    return taken


def test_the_time_grows_as_the_number_of_calls() -> None:
    short, long = chain(100), chain(4_000)
    few = min(seconds(short) for _ in range(5))
    many = min(seconds(long) for _ in range(3))
    assert many < 40 * few * 5  # as its square, it would be 40 * few * 40

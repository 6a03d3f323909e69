"""Passes that look at what operands are, numbers and literals: what they do to the bit."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.passes import simplified
from tape_ad.programs.passes.rewriting import rewritten
from tape_ad.programs.passes.simplifications import (
    NEUTRAL_OPERANDS,
    SQUARES,
    UNIT_ROWS,
    eliminate_dead_code,
    fold_constants,
    has_squares,
    literals_of,
)
from tape_ad.programs.program import Program
from tape_ad.rules.maps.matrix_products import scaled_rows, times_matrix
from tests.programs.building import Builder
from tests.programs.simplifying import PARTS, SPECIAL, X, Z, assert_same, builder, functions

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the special points


def without_idle_operands(program: Program) -> Program:
    return rewritten(program, NEUTRAL_OPERANDS, literals_of(program))


def with_squares(program: Program) -> Program:
    return rewritten(program, SQUARES)


# Operands that change nothing


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.multiply, (None, 1.0)),
        (np.multiply, (1, None)),
        (np.multiply, (np.float64(1), None)),
        (np.multiply, (None, np.float32(1))),
    ],
)
def test_idle_operands_go(function: Any, args: Any) -> None:
    to = builder(X)
    y = to(np.sin, to.inputs[0])
    z = to(function, *[y if each is None else each for each in args])
    program = to.program([to(np.exp, z)])
    simpler = without_idle_operands(program)
    assert functions(simpler) == [np.sin, np.exp]
    assert_same(program, simpler, X)


@pytest.mark.parametrize(
    ("x", "function", "args"),
    [
        (X, np.add, (None, 0.0)),  # takes -0.0 to 0.0
        (X, np.subtract, (None, -0.0)),
        (X, np.subtract, (0.0, None)),
        (X, np.divide, (1.0, None)),
        (X, np.multiply, (None, np.ones((2, 1, 1)))),
        (X, np.multiply, (None, np.nextafter(1, 2))),
        (X.astype(np.float32), np.multiply, (None, np.float64(1))),
        (Z, np.multiply, (None, 1.0)),  # takes inf to inf + nan i
        (np.arange(3), np.divide, (None, 1)),
        (X > 0, np.multiply, (None, 1)),
        (PARTS, np.multiply, (None, 1.0)),  # which lies in memory in another way
    ],
)
def test_operands_that_change_something_stay(x: Any, function: Any, args: Any) -> None:
    to = builder(x)
    z = to(function, *[to.inputs[0] if each is None else each for each in args])
    program = to.program([to(np.add, z, z)])
    assert without_idle_operands(program) is program


def test_ones_that_nobody_else_has_go_and_the_users_stay() -> None:
    to = builder(X)
    y = to(np.sin, to.inputs[0])
    own = to(np.multiply, to.literal(np.ones((3, 4))), y)
    view = to(np.multiply, own, to.literal(np.broadcast_to(np.ones(1), (3, 4))))
    users = np.ones((3, 4))
    program = to.program([to(np.multiply, view, to.constant(users))])
    simpler = simplified(program)
    assert functions(simpler) == [np.sin, np.multiply]
    (left,) = simpler.constants
    assert left.data is users
    users[0] = 7.0
    assert_same(program, simpler, X)


# Squares


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("exponent", [2, 2.0])
def test_powers_of_2_are_squares_to_the_bit(dtype: Any, exponent: Any) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=100_000) * 10.0 ** rng.integers(-22, 19, 100_000)
    x = np.concatenate([numbers, np.array(SPECIAL)[:8]]).astype(dtype)
    to = builder(x)
    program = to.program([to(np.power, to.inputs[0], exponent)])
    simpler = with_squares(program)
    assert functions(simpler) == [np.square if has_squares(x.dtype.char) else np.power]
    assert_same(program, simpler, x)
    assert_same(program, simpler, x.reshape(-1, 2)[:, 0][::-3])


def test_powers_of_numbers_are_squares_to_the_bit() -> None:
    to = builder(np.float64(3.0))
    program = to.program([to(np.power, to.inputs[0], 2)])
    simpler = with_squares(program)
    for number in np.random.default_rng(0).normal(size=2_000):
        assert_same(program, simpler, number)


@pytest.mark.parametrize(
    ("x", "exponent"),
    [
        (Z, 2),
        (X, 3),
        (X, True),
        (X.astype(np.float32), np.float64(2)),
        (np.array([3, 0.1], np.float16), 2),
    ],
)
def test_other_powers_stay(x: Any, exponent: Any) -> None:
    to = builder(x)
    program = to.program([to(np.power, to.inputs[0], exponent)])
    assert with_squares(program) is program


# Products


@pytest.mark.parametrize("hole", [1.0, -0.0, np.nan, np.inf])
def test_unit_vectors_that_are_known_pick_rows(hole: float) -> None:
    matrix = np.arange(12.0).reshape(4, 3).T - 5
    matrix[0, 1] = hole
    to = builder(matrix)
    program = to.program([to(times_matrix, to.literal(-3 * np.eye(4, 3, 1)[:2]), *to.inputs)])
    simpler = rewritten(program, UNIT_ROWS, literals_of(program))
    assert functions(simpler) == [scaled_rows]
    assert_same(program, simpler, matrix)


def test_other_rows_are_looked_at_at_each_replay() -> None:
    for rows in (np.eye(3)[::-1], np.ones((2, 3)), np.eye(3)[:, :0]):
        to = builder(np.ones((rows.shape[1], 2)))
        program = to.program([to(times_matrix, to.literal(rows.copy()), *to.inputs)])
        assert rewritten(program, UNIT_ROWS, literals_of(program)) is program
    user = np.eye(3)
    to = builder(user)
    program = to.program([to(times_matrix, to.constant(user), *to.inputs)])
    assert rewritten(program, UNIT_ROWS, literals_of(program)) is program


# Literals


def test_calls_on_literals_are_computed_once() -> None:
    to = builder(X)
    ones = to.literal(np.ones(4))
    scaled = to(np.multiply, ones, 3.0)
    program = to.program([to(np.multiply, to(np.negative, scaled), to.inputs[0])])
    simpler = eliminate_dead_code(fold_constants(program))
    assert functions(simpler) == [np.multiply]
    np.testing.assert_array_equal(simpler.constants[0].data, np.full(4, -3.0))
    assert_same(program, simpler, X)


def test_views_of_literals_are_literals_and_those_of_the_users_arrays_are_not() -> None:
    to = Builder()
    ones = to.literal(np.ones((3, 4)))
    rows = to.literal(to.constants[0].data[1:])
    users = np.ones((3, 4))
    other = to.constant(users[1:])
    program = to.program([])
    to.concrete.clear()
    assert literals_of(program).keys() == {ones, rows}
    assert other not in literals_of(program)


def test_calls_on_the_users_arrays_are_made_at_each_replay() -> None:
    to = builder(X)
    user = np.ones(4)
    rows = user[1:]
    constants = to.constant(user), to.constant(rows), to.literal(np.ones(2)[:1])
    scaled = [to(np.multiply, each, 3.0) for each in constants]
    program = to.program([to(np.sin, each) for each in scaled])
    assert functions(fold_constants(program)).count(np.multiply) == 2


def test_calls_on_literals_that_warn_or_are_large_or_are_returned_stay() -> None:
    to = builder(X)
    zeros = to.literal(np.zeros(4))
    inverse = to(np.divide, 1.0, zeros)
    large = to(np.broadcast_to, zeros, (10_000, 4))
    whole = to(np.positive, large)
    returned = to(np.positive, zeros)
    program = to.program([to(np.sin, inverse), to(np.sin, whole), returned])
    simpler = fold_constants(program)
    assert functions(simpler).count(np.positive) == 2
    assert np.divide in functions(simpler)


def test_the_caller_gets_a_copy_of_what_has_been_computed_once() -> None:
    def function(x: Any) -> Any:
        return (ta.grad(lambda x: np.sum(2.0 * x))(x) + 1.0) * 1.0

    fast = ta.compile(function)
    for _ in range(5):
        found = fast(X)
        assert np.all(found == 3.0)
        found[:] = 7.0

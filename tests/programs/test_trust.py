"""Which numbers a program is trusted with: two captures with equal ones prove nothing."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.lib import recfunctions

import tape_ad as ta
from tape_ad.errors import CaptureError, ProgramMismatchError
from tape_ad.programs.replay.paths import mark_of, near_by
from tests.programs.comparing import counting

Array = Any

X = np.array([0.5, -1.5, 2.0])
TURNS = itertools.cycle([2.0, 3.0])


def behind(x: Any) -> Any:
    """Give the numbers of an argument in a way that a capture does not see."""
    return x.data if hasattr(x, "capture") else x


def frozen(x: Array, y: Array) -> Array:
    """Freeze what it computes of x."""
    return x * y + float(np.sum(behind(x)))


def untested(fast: Any) -> list[int]:
    return [len(path.untested) for paths in fast._paths.values() for path in paths.all]


# The second call


def test_the_second_call_is_one_of_the_function_itself() -> None:
    tracers: list[bool] = []

    def noting(x: Array) -> Array:
        tracers.append(hasattr(x, "capture"))
        return np.sin(x) * x

    fast = ta.compile(noting)
    for step in range(4):
        np.testing.assert_allclose(fast(X + step), noting(X + step), rtol=1e-14)
    assert tracers == [True, False, False, False, False, False]


def test_what_goes_by_turns_is_found_out_at_the_second_call() -> None:
    fast = ta.compile(lambda x: x * next(eval("TURNS")))  # noqa: S307 - which no watching sees
    fast(X)
    with pytest.raises(CaptureError, match="other numbers when it was called again"):
        fast(X)


def test_a_call_that_goes_another_way_proves_nothing() -> None:
    tracers: list[bool] = []

    def branching(x: Array) -> Array:
        tracers.append(hasattr(x, "capture"))
        return np.sin(x) if x[0] > 0 else np.cos(x)

    fast = ta.compile(branching)
    for x in (X, -X, X, -X, X, -X):
        np.testing.assert_allclose(fast(x), np.sin(x) if x[0] > 0 else np.cos(x), rtol=1e-14)
    assert len(fast.programs) == 2
    assert tracers[:2] == [True, True]
    assert tracers.count(False) == 2


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_what_a_comparison_does_not_show_is_captured_again(engine: str) -> None:
    pytest.importorskip("llvmlite")
    rng = np.random.default_rng(0)
    table = np.eye(3)
    fast = ta.compile(lambda x: (x @ table, table), engine=engine)
    for _ in range(4):
        assert fast(X)[1] is not None
        table += 1
        np.testing.assert_array_equal(fast(X)[0], X @ table)
    dropping = ta.compile(lambda x: x * rng.random(3), engine=engine)
    dropping(np.zeros(3))
    with pytest.raises(CaptureError, match=r"np.multiply \(line .*\) is not what it was.* drawn"):
        dropping(np.zeros(3))  # of which the result is the same


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("first", [X, np.zeros(3)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, factor: x * factor,
        lambda x, factor: np.maximum(x * factor, 1.0),
        lambda x, factor: ta.value_and_grad(lambda x: np.sum(x * x * factor) + 1)(x),
        lambda x, factor: (x + 1) * factor - factor,
    ],
)
def test_zeros_do_not_hide_what_goes_by_turns(function: Any, first: Array, engine: str) -> None:
    pytest.importorskip("llvmlite")
    turns = itertools.cycle([2.0, 3.0]).__next__
    fast = ta.compile(lambda x: function(x, turns()), engine=engine)
    fast(first)
    with pytest.raises(CaptureError, match=r"the number .* is not what it was"):
        fast(np.zeros(3))


def test_a_result_of_zeros_does_not_hide_what_goes_by_turns() -> None:
    turns = itertools.cycle([2.0, 3.0]).__next__
    fast = ta.compile(lambda x, w: (np.sum(x), x * turns() * w), engine="numpy")
    fast(X, np.zeros(3))
    with pytest.raises(CaptureError, match=r"the number .* is not what it was"):
        fast(X, np.zeros(3))


def test_a_function_that_locks_its_argument_does_not_lock_the_callers() -> None:
    x = X.copy()

    def locking(x: Array) -> Array:
        if not hasattr(x, "capture"):
            x.setflags(write=False)
        return x * 2

    fast = ta.compile(locking)
    for _ in range(3):
        fast(x)
    assert x.flags.writeable


# Calls with other numbers


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_equal_arguments_prove_nothing(engine: str) -> None:
    pytest.importorskip("llvmlite")
    fast = ta.compile(lambda x: frozen(x, x), engine=engine)
    for _ in range(4):
        assert np.array_equal(fast(X), frozen(X, X))
    with pytest.raises(ProgramMismatchError, match="other numbers than the function"):
        fast(2 * X)
    assert fast.programs == ()
    assert np.array_equal(fast(2 * X), frozen(2 * X, 2 * X))


def test_each_argument_is_trusted_for_itself() -> None:
    fast = ta.compile(frozen, engine="numpy")
    for step in range(5):
        assert np.array_equal(fast(X, step * X), frozen(X, step * X))
    assert untested(fast) == [1]
    with pytest.raises(ProgramMismatchError):
        fast(2 * X, X)


def test_an_array_that_is_changed_in_place_has_other_numbers() -> None:
    fast = ta.compile(lambda x: frozen(x, x), engine="numpy")
    x = X.copy()
    fast(x), fast(x), fast(x)
    x[1] = 7.0
    with pytest.raises(ProgramMismatchError):
        fast(x)


@pytest.mark.parametrize("size", [3, 5_000])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_one_other_number_is_enough(size: int, place: int) -> None:
    fast = ta.compile(lambda x: frozen(x, x), engine="numpy")
    x = np.linspace(1, 2, size)
    fast(x), fast(x), fast(x)
    x[place] += 1
    with pytest.raises(ProgramMismatchError):
        fast(x)


def test_the_first_call_with_other_numbers_is_computed_both_ways() -> None:
    fast, runs = counting(lambda x: np.sum(x * x))
    for x in (X, X, X, 2 * X, 3 * X, X):
        assert fast(x) == np.sum(x * x)
    assert len(runs) == 3
    assert untested(fast) == [0]


def test_captures_with_other_numbers_are_proof() -> None:
    fast, runs = counting(lambda x, rate: np.sum(x * x) * rate)
    for step in range(6):
        fast(X + step, 0.1 * step)
    assert len(runs) == 2
    assert untested(fast) == [0]


def test_a_number_that_is_guarded_is_in_no_doubt() -> None:
    fast, runs = counting(lambda x, n: sum(x * i for i in range(n)))
    for step in range(12):
        fast(X + step, 3)
    assert len(runs) == 2
    assert untested(fast) == [0]


# The same numbers again and again


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    "args",
    [
        (X, 0.5),
        (np.zeros(3), 0.0),
        (X.astype(np.float32), 1j),
        (np.arange(3), 2),
        (np.ones(3, int), np.float64(2)),
        (np.ones(3, bool), 2.5),
        (np.asfortranarray(np.ones((2, 3))), 1.0),
        (np.ones(10_000), 1.0),
    ],
)
def test_numbers_near_by_are_tried_where_all_calls_have_the_same(args: Any, engine: str) -> None:
    pytest.importorskip("llvmlite")
    fast, runs = counting(lambda x, y: x * y + y, engine=engine)
    for _ in range(50):
        assert np.allclose(fast(*args), args[0] * args[1] + args[1], atol=0)
    assert len(runs) == 3
    assert untested(fast) == [0]


def test_what_is_frozen_is_found_where_all_calls_have_the_same_numbers() -> None:
    fast = ta.compile(lambda x: frozen(x, x), engine="numpy")
    with pytest.raises(ProgramMismatchError):
        [fast(X) for _ in range(20)]


def test_numbers_near_by_that_go_another_way_prove_nothing() -> None:
    fast, runs = counting(lambda x: x * 2 if x[0] == 0.5 else x * 3)
    for _ in range(20):
        assert fast(X)[0] == 1.0
    assert len(runs) == 2
    assert untested(fast) == [1]
    assert fast(np.array([0.5, 1.0, 1.0])).tolist() == [1.0, 2.0, 2.0]
    assert len(runs) == 3
    assert untested(fast) == [0]


def test_a_solver_of_the_users_is_not_called_with_numbers_that_nobody_passed() -> None:
    seen: list[float] = []

    def solver(x: Any) -> float:
        seen.append(float(x))
        return float(x) ** 2

    rule = ta.custom_rule(pull=lambda ct, out, x: 2 * ct * x)(solver)
    fast = ta.compile(ta.grad(lambda x: rule(x) * 3))
    for _ in range(30):
        assert fast(2.0) == 12
    assert {*seen} == {2.0}


def test_what_the_function_raises_for_numbers_near_by_is_no_error() -> None:
    def function(x: Array) -> Array:
        if type(x) is np.ndarray and not np.array_equal(x, X):
            raise ValueError("other numbers")
        return x * 2

    fast = ta.compile(function, engine="numpy")
    for _ in range(20):
        assert np.array_equal(fast(X), X * 2)


# How numbers are told apart


@pytest.mark.parametrize(
    "leaf",
    [
        *(0.0, 1, 1j, np.float32(1), np.zeros(3), np.zeros((70, 80))),
        *(np.zeros((70, 80), order="F"), np.zeros(700, np.longdouble), np.zeros((0, 3))),
    ],
)
def test_equal_numbers_have_equal_marks(leaf: Any) -> None:
    assert mark_of(leaf) == mark_of(leaf if np.isscalar(leaf) else leaf.copy(order="K"))


@pytest.mark.parametrize("shape", [(), (3,), (70, 80), (4, 5, 6, 7)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int16, np.longdouble])
def test_each_element_is_in_the_mark(shape: Any, dtype: Any) -> None:
    x = np.ones(shape, dtype)
    mark = mark_of(x)
    for place in (0, x.size // 3, x.size - 1):
        other = x.copy()
        other.flat[place] += 1
        assert mark_of(other) != mark


def test_each_element_of_a_part_of_an_array_is_in_the_mark() -> None:
    x = np.zeros((70, 160))[:, ::2]
    before = mark_of(x)
    assert mark_of(x) == before
    x[3, 5] = 1
    assert mark_of(x) != before


def test_rows_that_change_places_are_other_numbers() -> None:
    x = np.random.default_rng(0).normal(size=(200, 30))
    assert mark_of(x) != mark_of(x[::-1].copy())


@pytest.mark.parametrize("leaf", [X, np.zeros(3), np.float32(2), 1.0, 0.0, 2j, np.ones((2, 3)).T])
@pytest.mark.parametrize("size", [1e-3, 1e-6])
def test_numbers_near_by_are_of_the_same_kind(leaf: Any, size: float) -> None:
    other = near_by(leaf, size)
    assert type(other) is type(leaf)
    assert np.shape(other) == np.shape(leaf)
    assert mark_of(other) != mark_of(leaf)
    assert np.max(np.abs(other - leaf)) <= 4 * size


def test_records_of_structured_arrays_are_replayed() -> None:
    fast = ta.compile(lambda x: recfunctions.merge_arrays((x, x * 2)))
    for k in range(4):
        x = np.arange(3.0) + k
        np.testing.assert_array_equal(fast(x), recfunctions.merge_arrays((x, x * 2)))

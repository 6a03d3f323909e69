"""Programs that check themselves: now and then the function runs beside a replay."""

import math
import random
import threading
import time
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ProgramMismatchError
from tape_ad.programs.replay.paths import check_period
from tests.programs.comparing import counting

Array = Any

X = np.array([0.5, -1.5, 2.0])


class Hidden:
    """A number that no watching sees."""

    __slots__ = ("__dict__",)

    def __init__(self) -> None:
        self.number: Any = 2.0


def scaled_by(hidden: dict[str, Any]) -> Any:
    """Give a function that reads what is in a dict in a way that is not watched."""
    return lambda x: np.sin(x) * getattr(hidden["it"], "".join(("num", "ber"))) + 1


def called(fast: Any, count: int, *, start: int = 0) -> None:
    for step in range(start, start + count):
        fast(X + step)


# How often


def test_a_period_is_what_was_asked_for() -> None:
    fast, runs = counting(lambda x: x * 2, check_every=10)
    called(fast, 2 + 35)
    assert len(runs) == 2 + 3


def test_every_replay_may_be_checked() -> None:
    fast, runs = counting(lambda x: x * 2, check_every=1)
    called(fast, 2 + 7)
    assert len(runs) == 2 + 7


def test_no_replay_may_be_checked() -> None:
    fast, runs = counting(lambda x: x * 2, check_every=0)
    called(fast, 500)
    assert len(runs) == 2


def test_checks_take_a_twentieth_of_the_time_of_replays() -> None:
    def slow(x: Array) -> Array:
        time.sleep(0.002)
        return x * 2

    fast, runs = counting(slow)
    called(fast, 3_000)
    assert len(runs) == 2  # a replay takes microseconds
    assert check_period(100.0, 1.0) == 2_000
    assert check_period(100.0, 1.0, 100) == 10_000


def test_a_program_that_is_no_quicker_than_its_function_is_checked_soon() -> None:
    a = np.random.default_rng(0).normal(size=5_000)
    fast, runs = counting(np.sort)
    for step in range(600):
        fast(a + step)
    assert 3 <= len(runs) <= 40


@pytest.mark.parametrize("period", [-1, 1.5, True, "often"])
def test_a_period_is_a_whole_number(period: Any) -> None:
    with pytest.raises(ValueError, match="check_every is a number of replays"):
        ta.compile(np.sin, check_every=period)


def test_a_copy_has_the_period_too() -> None:
    fast = ta.compile(np.sin, check_every=7)
    function, args = fast.__reduce__()
    assert function(*args).check_every == 7


def test_what_is_in_doubt_is_checked_too() -> None:
    fast, runs = counting(lambda x, flag: np.where(flag, x, -x) if flag[0] else x, check_every=5)
    for step in range(2 + 20):
        fast(X + step, np.array([True]))
    assert len(runs) == 2 + 4


# What differs


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_what_no_watching_sees_is_found(engine: str) -> None:
    pytest.importorskip("llvmlite")
    held = {"it": Hidden()}
    function = scaled_by(held)
    fast = ta.compile(function, engine=engine, check_every=5)
    called(fast, 9)
    line = function.__code__.co_firstlineno
    held["it"].number = 3.0
    with pytest.raises(ProgramMismatchError) as caught:
        called(fast, 5)
    text = str(caught.value)
    assert "a replay of <lambda> gives other numbers than the function" in text
    assert f"they part in line {line} of test_verifying.py: %" in text
    assert ": float64[3] = multiply %" in text
    assert "The program has been forgotten" in text


def test_the_program_is_forgotten() -> None:
    held = {"it": Hidden()}
    function = scaled_by(held)
    fast, runs = counting(function, check_every=5)
    called(fast, 9)
    held["it"].number = 3.0
    with pytest.raises(ProgramMismatchError):
        called(fast, 5)
    assert fast.programs == ()
    runs.clear()
    for step in range(4):
        assert np.array_equal(fast(X + step), function(X + step))
    assert len(runs) == 2
    assert len(fast.programs) == 1


def test_other_paths_stay() -> None:
    held = {"it": Hidden()}

    def function(x: Array) -> Array:
        return x * getattr(held["it"], "".join(("num", "ber"))) if x[0] > 0 else -x

    fast = ta.compile(function, engine="numpy", check_every=3)
    for _ in range(2):
        called(fast, 2)
        fast(-X), fast(-2 * X)
    held["it"].number = 3.0
    with pytest.raises(ProgramMismatchError):
        called(fast, 5)
    assert len(fast.programs) == 1
    assert fast(-X).tolist() == X.tolist()
    assert fast(X).tolist() == (3 * X).tolist()


def test_another_call_is_named() -> None:
    held = Hidden()
    held.number = np.sin
    fast = ta.compile(lambda x: getattr(held, "".join(("num", "ber")))(x) * 2, check_every=3)
    called(fast, 4)
    held.number = np.cos
    with pytest.raises(ProgramMismatchError, match="= sin %0 in the program is cos %0 in the func"):
        called(fast, 3)


def test_an_error_of_the_function_alone_is_told() -> None:
    held = {"it": Hidden()}

    def function(x: Array) -> Array:
        return x * (1 / getattr(held["it"], "".join(("num", "ber"))))

    fast = ta.compile(function, check_every=3)
    called(fast, 4)
    held["it"].number = 0.0
    with pytest.raises(ProgramMismatchError, match="raises ZeroDivisionError where a replay"):
        called(fast, 3)


def test_a_fault_of_an_engine_is_found() -> None:
    fast = ta.compile(lambda x: np.exp(x) + 1, engine="numpy", check_every=3)
    called(fast, 2)
    [path] = [path for paths in fast._paths.values() for path in paths.all]
    right = path.made
    path.made = lambda *leaves: tuple(leaf + 1e-9 for leaf in right(*leaves))
    path.start(3)
    with pytest.raises(ProgramMismatchError, match=r"it is the engine that fails.*'numpy'"):
        called(fast, 5)


def test_a_plain_constant_that_is_returned_is_no_fault_of_an_engine() -> None:
    held = {"it": Hidden()}

    def function(x: Array) -> Any:
        return x * 2, getattr(held["it"], "".join(("num", "ber")))

    held["it"].number = 1.0
    fast = ta.compile(function, check_every=3)
    called(fast, 4)
    held["it"].number = 2.0
    with pytest.raises(
        ProgramMismatchError, match=r"at \[1\].*the calls are the same.*no argument, should"
    ):
        called(fast, 3)


def test_what_differs_once_only_is_no_fault() -> None:
    wrong = iter([1.0])
    fast = ta.compile(lambda x: np.exp(x) + 1, engine="numpy", check_every=3)
    called(fast, 2)
    [path] = [path for paths in fast._paths.values() for path in paths.all]
    right = path.made
    path.made = lambda *leaves: tuple(leaf + next(wrong, 0.0) for leaf in right(*leaves))
    path.start(1)
    called(fast, 5)


# What does not


def chaotic(x: Array) -> Array:
    for _ in range(60):
        x = 3.9 * x * (1 - x) + 0.01 * np.sin(x)
    return x


def test_rounding_that_grows_is_no_fault_of_native_code() -> None:
    pytest.importorskip("llvmlite")
    fast = ta.compile(chaotic, engine="native", check_every=1)
    for step in range(20):
        fast(np.linspace(0.1, 0.9, 50) + 1e-3 * step)
    assert "native: " in fast.explain()


def test_a_compiled_function_within_runs_as_it_is() -> None:
    pytest.importorskip("llvmlite")
    inner = ta.compile(lambda x: np.tanh(x) * np.exp(x), engine="native")
    fast = ta.compile(lambda x: np.sum(inner(x)) * 3, engine="numpy", check_every=1)
    for step in range(20):
        inner(X + step)
        fast(X + step)


GENERATORS: dict[str, Any] = {
    "Generator": lambda: np.random.default_rng(0).normal,
    "RandomState": lambda: np.random.RandomState(0).normal,
    "random": lambda: random.Random(0).random,  # noqa: S311 - draws of no secret
}


@pytest.mark.parametrize("kind", GENERATORS)
def test_no_check_draws_from_a_generator_of_the_users(kind: str) -> None:
    def draws(check_every: int) -> list[float]:
        draw = GENERATORS[kind]()
        rule = ta.custom_rule(pull=lambda ct, out, x: ct)(lambda x: float(x) + draw())
        fast, runs = counting(lambda x: rule(x) * 2, check_every=check_every)
        found = [float(fast(float(step))) for step in range(12)]
        assert len(runs) == 2 if check_every == 0 else len(runs) > 12
        return found

    assert draws(1) == draws(0)


def test_what_draws_from_where_nobody_knows_is_no_fault() -> None:
    hidden = Hidden()
    hidden.number = np.random.default_rng(0)
    rule = ta.custom_rule(pull=lambda ct, out, x: ct)(
        lambda x: float(x) + getattr(hidden, "".join(("num", "ber"))).normal()
    )
    fast, runs = counting(lambda x: rule(x) * 2, check_every=1)
    called_with_numbers = [fast(float(step)) for step in range(12)]
    assert len({*called_with_numbers}) == 12
    assert len(runs) > 12


def test_warnings_of_the_function_are_not_heard_again() -> None:
    pytest.importorskip("llvmlite")
    fast, runs = counting(lambda x: np.log(x) + 1, engine="native", check_every=1)
    with np.errstate(all="ignore"):
        called(fast, 2)
    called(fast, 5)  # where a warning is an error
    assert len(runs) == 7


def test_arrays_of_the_caller_are_left_alone() -> None:
    def writes(x: Any) -> float:
        x = np.asarray(x)
        x *= 2
        return float(np.sum(x))

    rule = ta.custom_rule(pull=lambda ct, out, x: ct * np.ones(3))(writes)
    fast = ta.compile(lambda x: rule(x + 0) * 2, check_every=1)
    x = X.copy()
    for _ in range(6):
        assert fast(x) == 4 * np.sum(X)
    assert np.array_equal(x, X)


def test_factors_that_numpy_swaps_are_no_fault() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=40_000) + 1j * rng.normal(size=40_000)
    fast = ta.compile(lambda a, b: a * np.conj(b), engine="numpy", check_every=1)
    for step in range(6):
        fast(a * (step + 1), a[::-1].copy())


def test_threads_may_check_at_once() -> None:
    fast = ta.compile(lambda x: np.sum(np.sin(x) * x), engine="numpy", check_every=3)
    failures: list[Any] = []

    def work(start: int) -> None:
        for step in range(200):
            x = X + start + step
            if fast(x) != np.sum(np.sin(x) * x):
                failures.append(step)

    threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []


def test_explain_counts_checks() -> None:
    fast = ta.compile(lambda x: x * 2, check_every=2)
    called(fast, 10)
    assert "replayed 8 times, 4 of them beside the function" in fast.explain()


def test_explain_names_arguments_that_have_been_the_same() -> None:
    fast = ta.compile(lambda x, y: x * y)
    for step in range(4):
        fast(X + step, X)
    assert "not yet with other numbers in y" in fast.explain()
    assert math.isfinite(next(iter(fast._paths.values())).all[0].clock.seconds)

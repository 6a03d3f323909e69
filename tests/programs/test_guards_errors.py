"""Errors that a function catches, and warnings that it makes errors: guards on what a call does."""

import json
import warnings
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError
from tests.programs.comparing import assert_like_eager, counting

X = np.array([0.5, -1.5, 2.0])
NAN, INF = float("nan"), float("inf")


def cholesky_or_zeros(a: Any) -> Any:
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return np.zeros_like(a)


def if_positive(a: Any) -> Any:
    try:
        np.linalg.cholesky(a)  # a check, whose result nobody needs
    except np.linalg.LinAlgError:
        return a * 0
    return a + 1


def which_of_two(a: Any, b: Any) -> Any:
    failed = []
    for number, matrix in enumerate((a, b)):
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            failed.append(number)
    return a + b, failed


def element_or_all(x: Any, i: Any) -> Any:
    try:
        return x[i]
    except IndexError:
        return -x


def quotient(x: float, y: float) -> Any:
    try:
        return x / y
    except ZeroDivisionError:
        return -1.0


def integer_or_none(x: Any) -> Any:
    try:
        return int(x) + x
    except (ValueError, OverflowError) as error:
        return x, type(error).__name__


P, N = np.eye(2), -np.eye(2)


@pytest.mark.parametrize(
    ("function", "calls", "runs"),
    [
        (cholesky_or_zeros, [(m,) for m in (P, P, P, N, N, N, P, N)], 4),
        (cholesky_or_zeros, [(m,) for m in (N, N, N, P, P, P, N, P)], 4),
        (cholesky_or_zeros, [(m,) for m in (N, P) * 4], 4),
        (if_positive, [(m,) for m in (P, P, P, N, N, N, P, N)], 4),
        (if_positive, [(m,) for m in (N, N, N, P, P, P, N, P)], 4),
        (which_of_two, [(P, N), (N, P), (P, P), (N, N)] * 4, 8),
        (element_or_all, [(X, i) for i in (0, 1, 7, 2, 9, -7, 1)], 4),
        (quotient, [(1.0, y) for y in (1.0, 0.0, 2.0, -0.0, 3.0, 0.0)], 4),
        (integer_or_none, [(x,) for x in (1.5, NAN, INF) * 4], 6),
        (np.linalg.inv, [(m,) for m in (P, P, 0 * P, P, 0 * P, 2 * P)], 5),
    ],
)
def test_errors_that_are_caught_are_branches(function: Any, calls: Any, runs: int) -> None:
    assert_like_eager(function, calls, runs)


def test_an_error_at_a_replay_comes_from_the_function_itself() -> None:
    def solve(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b)

    fast, _ = counting(solve)
    for _ in range(3):
        fast(P, np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
        fast(0 * P, np.ones(2))
    assert caught.traceback[-2].name != "replay"
    assert any(entry.name == "solve" and str(entry.path) == __file__ for entry in caught.traceback)
    assert caught.value.__context__ is None
    assert np.array_equal(fast(2 * P, np.ones(2)), np.full(2, 0.5))


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_an_index_out_of_bounds_is_found_though_nothing_needs_what_it_picks(engine: Any) -> None:
    def function(x: Any, i: Any) -> Any:
        y = np.sin(x)
        y[0] = 1.0
        y[i]  # a check, as it were
        y[1] = 2.0
        return y + 1

    fast = ta.compile(function, engine=engine, check_every=0)
    for i in (0, 1, 2, 0):
        np.testing.assert_allclose(fast(np.eye(3), i), function(np.eye(3), i), rtol=1e-14)
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        fast(np.eye(3), 7)


# Warnings


def test_a_function_that_makes_warnings_errors_is_refused() -> None:
    def function(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return 1.0 / x
            except RuntimeWarning:
                return -x

    fast = ta.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(CaptureError, match=r"it makes warnings errors .* np\.errstate"):
            fast(np.float64(1.0))


def test_a_function_may_ignore_warnings() -> None:
    def function(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return 1.0 / x

    with np.errstate(all="ignore"):
        assert_like_eager(function, [(np.float64(x),) for x in (1.0, 0.0, 2.0, 0.0)], runs=2)


def test_the_callers_errstate_holds_in_replays() -> None:
    def function(x: Any) -> Any:
        try:
            return 1.0 / x
        except FloatingPointError:
            return -x

    fast, _ = counting(function)
    with np.errstate(divide="raise"):
        assert [float(fast(np.float64(x))) for x in (1, 2, 3, 0, 0, 0, 4)]
    with np.errstate(divide="ignore"):
        assert [float(fast(np.float64(x))) for x in (0, 1, 0, 0)] == [INF, 1.0, INF, INF]


def test_code_that_takes_pythons_own_numbers_alone() -> None:
    fast = ta.compile(lambda x, n: x * len(json.dumps(n)))
    with pytest.raises(CaptureError, match=r"does not take it \(line .*; write float\(x\) or int"):
        fast(X, 3)
    calls = [(X, n) for n in (3, 3, 14, 14, 3)]
    assert_like_eager(lambda x, n: x * len(json.dumps(int(n))), calls, 4)


def test_a_type_error_of_the_function_itself_stays_what_it_is() -> None:
    fast = ta.compile(lambda x: np.sum(x) + None)
    for _ in range(3):
        with pytest.raises(TypeError, match="NoneType") as raised:
            fast(X)
        assert raised.type is TypeError

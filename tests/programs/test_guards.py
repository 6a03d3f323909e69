"""Guards: where Python asks about a value, each answer leads to a program of its own."""

import functools
import math
import warnings
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CompileWarning
from tests.programs.comparing import assert_like_eager, counting

X = np.array([0.5, -1.5, 2.0])
A = np.arange(6.0).reshape(2, 3)


def branch(x: Any) -> Any:
    return x * 2 if x > 0 else x - 1


def truncated(x: Any) -> Any:
    return int(x) * x


def scaled_by_float(x: Any) -> Any:
    return float(x) * x


def by_complex(x: Any) -> Any:
    return complex(x) * x


def item(x: Any, i: int) -> Any:
    return X[i] + x


def repeated(x: Any, n: int) -> Any:
    return sum((x * k for k in range(n)), 0 * x)


def with_text(x: Any) -> Any:
    return x, f"{x:.3f}", str(x), repr(x)


def looked_up(x: Any) -> Any:
    return {1.0: "one", 2.0: "two"}.get(x, "other")


def masked(x: Any) -> Any:
    return np.sum(x[x > 0]) * x


def nonzero(x: Any) -> Any:
    return np.nonzero(x)[0]


def math_of(x: Any) -> Any:
    return x * math.exp(x)


def larger(x: Any, y: Any) -> Any:
    return max(x, y) - min(x, y, 1.0)


def sorted_numbers(x: Any, y: Any) -> Any:
    return sorted([x, y, 1.0])


def truth_of_all(x: Any) -> Any:
    return x if np.all(x > 0) else -x if np.any(x > 0) else x * 0


def summed_over(x: Any, axis: int) -> Any:
    total = np.sum(x, axis=axis)
    return total / total.shape[0]


def reshaped(x: Any, n: int) -> Any:
    return x.reshape(n, -1), len(x.reshape(n, -1))


def zeros(x: float, n: int) -> Any:
    return np.zeros(n) + x


def power(x: Any, n: Any) -> Any:
    return x**n


REAL_EIGENVALUES = np.linalg.eigvals(np.eye(2)).dtype.kind == "f"
"""Whether eigenvalues are real numbers where they may; from NumPy 2.5 on they are complex."""


def eigenvalues(a: Any) -> Any:
    found = np.linalg.eigvals(a)
    return found, found.dtype.kind


def stepped(x: Any, n: int) -> Any:
    return x[::n] * 2, x[n:], x[: n + 1 : n]


def over_axis(x: Any, axis: int) -> Any:
    return np.sum(np.transpose(x, (axis, 1 - axis)), axis=(axis,)) * np.max(x, axis=axis)


@functools.lru_cache
def remembered(n: int) -> Any:
    return n * 2


def by_memory(x: Any, n: int) -> Any:
    return x * remembered(n)


def shared(x: Any, y: Any) -> Any:
    return x + y if np.shares_memory(x, y) else x - y


def formatted(x: Any) -> Any:
    return f"{x} and {x[0]:.2f} or {x!r}", np.array2string(x)


NAN, INF = float("nan"), float("inf")
SHEAR, TURN = np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [-1.0, 0.0]])
AB = [(1.0,), (1.5,), (2.0,), (-1.0,), (-1.5,), (-2.0,), (1.0,), (-1.0,)]


def arrays(*columns: Any) -> list[tuple[Any, ...]]:
    return [(np.array(column),) for column in columns]


@pytest.mark.parametrize(
    ("function", "calls", "runs"),
    [
        (branch, AB, 4),
        (branch, [(1.0,), (NAN,)] * 4, 4),
        (branch, arrays(1.0, 2.0, -1.0, -2.0, 3.0, -3.0), 4),
        (truncated, [(1.25,), (1.5,), (1.75,), (2.5,), (2.25,), (1.5,), (2.75,)], 4),
        (truncated, arrays(1.25, 2.5, 1.5, 2.75, 1.75), 4),
        (scaled_by_float, arrays(1.0, 1.0, 2.0, 2.0, 1.0, 2.0), 4),
        (scaled_by_float, arrays(NAN, NAN, NAN, 1.0, 1.0, NAN), 4),
        (scaled_by_float, arrays(0.0, -0.0, 0.0, -0.0, 0.0, -0.0), 4),
        (by_complex, [(np.complex128(v),) for v in (1j, 1j, -1j, -1j, 1j, complex(0.0, -1.0))], 5),
        (by_complex, [(np.complex128(complex(r, 0.0)),) for r in (0.0, -0.0) * 3], 4),
        (item, [(1.0, 0), (2.0, 0), (3.0, 0), (1.0, 2), (2.0, 2), (3.0, 2), (1.0, 0)], 4),
        (repeated, [(X, n) for n in (0, 1, 2, 3) * 3], 8),
        (with_text, AB + AB, 12),
        (looked_up, [(1.0,), (2.0,), (3.0,), (3.0,)] * 3, 6),
        (masked, [(X,), (-X,), (X * 2,), (-X * 2,), (X * 3,), (-X * 3,)], 4),
        (nonzero, [(X,), (X * 0,), (X,), (X * 0,), (X,)], 4),
        (math_of, [(1.0,), (2.0,)] * 3, 4),
        (larger, [(1.0, 2.0), (2.0, 0.5), (4.0, 3.0)] * 4, 6),
        (sorted_numbers, [(0.5, 2.0), (2.0, 0.5), (3.0, 2.0)] * 4, 6),
        (truth_of_all, arrays([1.0, 2.0], [1.0, -1.0], [-1.0, -2.0]) * 4, 6),
        (summed_over, [(A, axis) for axis in (0, 1, -1) * 4], 6),
        (reshaped, [(A, n) for n in (1, 2, 3) * 4], 6),
        (stepped, [(X, n) for n in (1, 1, 1, 2, 2, 1, 2)], 4),
        (over_axis, [(A @ A.T, n) for n in (0, 1) * 4], 4),
        (summed_over, [(A, np.int64(n)) for n in (0, 1) * 4], 4),
        (by_memory, [(X, n) for n in (1, 2, 3, 1, 2)], 5),
        (by_memory, [(X, np.int64(n)) for n in (4, 4, 5, 5, 4, 5)], 4),
        (shared, [(A, A), (A, A + 0.0), (A, A[::-1])] * 3, 6),
        (formatted, [(X,), (-X,)] * 3, 4),
        (zeros, [(1.5, n) for n in (0, 1, 2) * 4], 6),
        (power, [(2, n) for n in (3, -1, 2, -2, 4, -3)], 4),
        (power, [(base, 0.5) for base in (4.0, -4.0, 9.0, -9.0, 1.0, -1.0)], 4),
        (eigenvalues, [(SHEAR,), (TURN,)] * 3, 4 if REAL_EIGENVALUES else 2),
    ],
)
def test_each_answer_leads_to_its_own_program(function: Any, calls: Any, runs: int) -> None:
    fast = assert_like_eager(function, calls, runs)
    for args in calls:
        fast.check(*args)


def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = (x + a / x) / 2
    return x


def test_axes_among_the_arguments_of_derivatives_are_not_remembered_as_captured() -> None:
    def function(x: Any, axis: int) -> Any:
        return np.sum(np.outer(x, x), axis=axis) + np.sum(np.outer(x, x), axis=(axis,))

    calls = [(X, axis) for axis in (0, 1) * 4]
    assert_like_eager(ta.jacobian(function), calls, runs=4)
    at: Any = np.int64(0)
    assert np.array_equal(ta.jacobian(function)(X, 0), ta.jacobian(function)(X, at))


@pytest.mark.parametrize("kind", [float, np.float64, np.array])
def test_loops_that_end_on_data_alternate_between_paths(kind: Any) -> None:
    starts = [(kind(a),) for a in (2.0, 9e3, 1e-3, 1.0, 1e9)]
    assert_like_eager(newton, starts * 6, runs=10)


@pytest.mark.parametrize("transform", [ta.grad, ta.value_and_grad, ta.hessian, ta.jacobian])
def test_branches_within_derivatives(transform: Any) -> None:
    def function(x: Any) -> Any:
        return np.sum(np.exp(x)) if x[0] > 0 else np.sum(x**3)

    assert_like_eager(transform(function), [(X,), (-X,), (2 * X,), (-2 * X,)] * 3, runs=4)


def test_branches_within_checkpoints_and_nested_derivatives() -> None:
    inner = ta.checkpoint(lambda x: np.sin(x) if np.sum(x) > 0 else x * x * x)

    def function(x: Any) -> Any:
        return np.sum(ta.grad(lambda y: np.sum(inner(y) * y))(x) ** 2)

    assert_like_eager(ta.grad(function), [(X,), (-X,), (2 * X,), (-2 * X,)] * 3, runs=4)


def test_branches_within_custom_rules() -> None:
    @ta.custom_rule(pull=lambda ct, out, x: ct * (1.0 if float(x[0]) > 0 else 3.0))
    def odd(x: Any) -> Any:
        return x if np.sum(x) > 1.5 else -x

    def function(x: Any) -> Any:
        return np.sum(odd(x) * x)

    assert_like_eager(ta.grad(function), [(X,), (-X,), (X,), (-X,)] * 3, runs=2)  # with no guard


def test_a_relu_at_a_tie_is_guarded() -> None:
    def function(x: Any) -> Any:
        return np.sum(np.maximum(x, 0.0) * np.abs(x) + np.sort(x))

    points = [(X,), (np.array([0.0, -1.0, 2.0]),), (np.zeros(3),), (-X,)]
    fast = ta.compile(ta.grad(function))
    for args in points * 4:
        assert np.array_equal(fast(*args), ta.grad(function)(*args))
    for args in points:
        fast.check(*args)


# The bound


def logged(x: Any) -> Any:
    total = np.sum(x)
    if total > 1e9:
        return x
    message = float(total)  # the line that asks
    return x * 2 if message >= 0 or total > -1e9 else x


def test_more_paths_than_the_bound_warn_once_and_run_the_function() -> None:
    fast, runs = counting(logged, max_programs=4)
    for scale in range(4):
        fast(X * scale)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for scale in range(4, 10):
            assert np.array_equal(fast(X * scale), X * scale * 2)
    (warning,) = caught
    assert warning.category is CompileWarning
    text = str(warning.message)
    line = logged.__code__.co_firstlineno + 4
    assert warning.filename == __file__
    assert "logged has 4 programs for arguments of these shapes" in text
    assert f"a number is taken out in line {line} of test_guards.py" in text
    assert "Return the array instead" in text
    assert len(runs) == 10
    assert len(fast.programs) == 4
    assert "not replayed any more, 5 times by itself" in fast.explain()


def test_the_bound_is_one_of_each_key() -> None:
    fast, runs = counting(branch, max_programs=1)
    for x in (1.0, 2.0, 3.0):
        assert fast(x) == branch(x)
    with pytest.warns(CompileWarning, match="a condition is asked for in line"):
        assert fast(-1.0) == branch(-1.0)
    assert fast(4.0) == branch(4.0)
    for x in (1.0, 2.0, 3.0):
        assert fast(np.float64(x)) == branch(x)
    assert len(runs) == 6


def test_a_warning_made_an_error_leaves_the_function_usable() -> None:
    fast, _ = counting(branch, max_programs=1)
    fast(1.0), fast(2.0)
    with pytest.raises(CompileWarning):
        fast(-1.0)
    assert (fast(-1.0), fast(2.0)) == (-2.0, 4.0)

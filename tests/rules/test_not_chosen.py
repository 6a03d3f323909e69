"""What was not chosen contributes nothing, at any order, and with ties."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tape_ad as ta

Array = Any
Function = Callable[..., Any]


HIDING: list[tuple[str, Function]] = [
    ("maximum", lambda x: np.maximum(np.log(x), 0)),
    ("minimum", lambda x: np.minimum(-np.log(x), 0)),
    ("fmax", lambda x: np.fmax(0, np.log(x))),
    ("fmin", lambda x: np.fmin(0, -np.log(x))),
    ("clip", lambda x: np.clip(np.log(x), 0, 9)),
    ("where", lambda x: np.where(x > 0.5, np.log(x), 0)),
    ("max", lambda x: np.max(np.log(x), axis=0)),
    ("max with an initial value", lambda x: np.max(np.log(x), axis=0, initial=0.0)),
    ("maximum.reduce", lambda x: np.maximum.reduce(np.log(x))),
    ("maximum.reduceat", lambda x: np.maximum.reduceat(np.log(x), [0])),
    ("min", lambda x: np.min(-np.log(x), axis=0)),
    ("nanmax", lambda x: np.nanmax(np.log(x))),
    ("norm inf", lambda x: np.linalg.norm(np.sqrt(x), np.inf)),
    ("matrix norm inf", lambda x: np.linalg.norm(np.sqrt(x)[:, None], np.inf)),
    ("median", lambda x: np.median(np.log(x))),
    ("quantile", lambda x: np.quantile(np.log(x), 0.8)),
    ("compress", lambda x: np.compress([False, True, True], np.log(x))),
    ("extract", lambda x: np.extract([False, True, True], np.log(x))),
    ("boolean index", lambda x: np.log(x)[np.array([False, True, True])]),
]


@pytest.mark.parametrize("function", [row[1] for row in HIDING], ids=[row[0] for row in HIDING])
@pytest.mark.parametrize("x", [(0.0, 1.0, 3.0), (0.0, 2.0, 2.0), (0.0, 3.0, 2.0)])
@np.errstate(all="ignore")  # NumPy warns of the logarithm of 0
def test_what_was_not_chosen_contributes_nothing_with_ties_and_without(
    function: Function, x: tuple[float, ...]
) -> None:
    def total(v: Array) -> Array:
        return np.sum(function(v))

    aside = np.array((1e-3, *x[1:]))  # where nothing is singular, and the same is chosen
    assert_array_equal(ta.grad(total)(np.array(x)), ta.grad(total)(aside))
    assert_array_equal(ta.hessian(total)(np.array(x)), ta.hessian(total)(aside))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: np.maximum(x, 2.0), [0.0, 1.0, 0.5]),
        (lambda x: np.maximum(2.0, x), [0.0, 1.0, 0.5]),
        (lambda x: np.where(x >= 2, x, 0.0), [0.0, 1.0, 1.0]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_mask_hides_a_cotangent_that_is_no_number(
    function: Function, expected: list[float], bad: float, dtype: Any
) -> None:
    record = ta.ComputationRecord()
    x = record.tensor(np.array([1.0, 3.0, 2.0], dtype))
    found = function(x).grad(seed=np.array([bad, 1.0, 1.0], dtype)).wrt(x)
    assert_array_equal(found, np.array(expected, dtype), strict=True)


def test_one_tie_changes_nothing_for_the_others() -> None:
    with np.errstate(divide="ignore"):
        tied = ta.grad(lambda x: np.sum(np.maximum(np.log(x), 0)))(np.array([0.0, 1.0, 2.0]))
    assert_array_equal(tied, [0.0, 0.5, 0.5])


@pytest.mark.parametrize(("dtype", "huge"), [(np.float64, 1e200), (np.float32, 1e30)])
def test_gradients_whose_squares_overflow_are_gradients(dtype: Any, huge: float) -> None:
    x = np.array([-1.0, 2.0, 3.0], dtype)
    found = ta.grad(lambda v: np.sum(np.maximum(v * dtype(1), 0) * dtype(huge)))(x)
    assert_array_equal(found, np.array([0.0, huge, huge], dtype), strict=True)


@np.errstate(all="ignore")
def test_a_cotangent_that_happens_to_be_zero_keeps_its_derivative() -> None:
    def total(x: Array) -> Array:  # in the last element tanh(0) meets what is a number
        return np.sum(np.where(x > 0.5, np.sqrt(x - 0.5) * np.tanh(x * x[::-1]), 0))

    def without_nan(x: Array) -> Array:
        return np.sum(np.sqrt(x[1:] - 0.5) * np.tanh(x[1:] * x[1::-1]))

    x = np.array([0.0, 1.0, 3.0])
    expected = ta.hessian(without_nan)(x)
    np.testing.assert_allclose(ta.hessian(total)(x), expected, rtol=1e-14)
    np.testing.assert_allclose(ta.hvp(total, x, np.ones(3)), expected @ np.ones(3), rtol=1e-14)


LEFT_OUT: list[tuple[str, Function]] = [
    ("sqrt", np.sqrt),
    ("log", np.log),
    ("1 / x", lambda x: 1 / x),
    ("sqrt(x) * x", lambda x: np.sqrt(x) * x),
    ("sqrt(x) ** 2", lambda x: np.sqrt(x) ** 2),
    ("exp(sqrt(x))", lambda x: np.exp(np.sqrt(x))),
    ("logaddexp", lambda x: np.logaddexp(np.log(x), x)),
    ("hypot", lambda x: np.hypot(np.sqrt(x), x)),
    ("maximum", lambda x: np.maximum(np.sqrt(x), x)),
]


@pytest.mark.parametrize("left_out", [row[1] for row in LEFT_OUT], ids=[row[0] for row in LEFT_OUT])
@pytest.mark.parametrize("first", [-1.0, 0.0])
@pytest.mark.parametrize("of_it", [np.sum, lambda y: np.sum(y**2)], ids=["sum", "squares"])
@np.errstate(all="ignore")
def test_a_gradient_is_pushed_past_what_was_not_chosen(
    left_out: Function, of_it: Function, first: float
) -> None:
    def total(x: Array) -> Array:
        return of_it(np.where(x > 0, left_out(x), 0))

    x = np.array([first, 2.0, 3.0])
    pushed = [ta.jvp(ta.grad(total), (x,), (unit,))[1] for unit in np.eye(3)]
    np.testing.assert_allclose(pushed, ta.hessian(total)(x), rtol=1e-13, atol=1e-13)
    assert np.isfinite(pushed).all()

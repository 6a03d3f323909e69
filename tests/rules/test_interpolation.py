"""Knots, and what lies outside of them."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.shorthand import handle

XP, FP = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, -2.0])


def test_on_a_knot_the_slope_is_that_to_the_right() -> None:
    x = handle([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
    slopes = np.interp(x, XP, FP).grad(np.ones(7)).wrt(x)
    np.testing.assert_array_equal(slopes, [0.0, 1.0, 1.0, -2.0, -2.0, -2.0, 0.0])


def test_values_outside_count_for_the_ends_unless_they_are_given() -> None:
    fp = handle(FP)
    outside = [-1.0, 4.0, 5.0]
    ends = np.interp(outside, XP, fp)
    np.testing.assert_array_equal(ends.grad(np.ones(3)).wrt(fp), [1.0, 0.0, 2.0])
    given = np.interp(outside, XP, fp, left=0.0)
    np.testing.assert_array_equal(given.data, np.interp(outside, XP, FP, left=0.0))
    np.testing.assert_array_equal(given.grad(np.ones(3)).wrt(fp), [0.0, 0.0, 2.0])


@np.errstate(all="ignore")  # NumPy's own slopes over a step are infinite
def test_a_step_between_equal_knots() -> None:
    x, fp = handle([0.5, 1.0, 1.5]), handle([0.0, 0.0, 5.0, 5.0])
    xp = np.array([0.0, 1.0, 1.0, 2.0])
    np.testing.assert_array_equal(np.interp(x, xp, fp.data).grad(np.ones(3)).wrt(x), [0, 0, 0])
    along = np.interp(x.data, xp, fp).grad(np.ones(3)).wrt(fp)
    np.testing.assert_array_equal(along, [0.5, 0.5, 1.5, 0.5])


def test_the_first_value_counts_before_first_knots_that_coincide() -> None:
    fp = handle(FP)
    before = np.interp([-2.0, -1.0], [0.0, 0.0, 3.0], fp)
    np.testing.assert_array_equal(before.grad(np.ones(2)).wrt(fp), [2.0, 0.0, 0.0])


def test_single_precision_is_interpolated_in_double_as_numpy_does() -> None:
    x = handle(np.array([0.1, 0.7], np.float32))
    result = np.interp(x, XP, FP)
    assert result.dtype == np.float64
    assert result.grad(np.ones(2)).wrt(x).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_number_is_interpolated_in_compiled_functions(dtype: Any) -> None:
    def slopes(x: Any, xp: Any, fp: Any) -> Any:
        return ta.grad(lambda *args: np.interp(*args) ** 2, argnums=(0, 1, 2))(x, xp, fp)

    fast = ta.compile(slopes, engine="native")
    for at in (0.5, 1.5, 2.5, 9.0):
        args = [np.asarray(x, dtype) for x in (at, np.arange(4), [1, 3, 2, 0])]
        for found, expected in zip(fast(*args), slopes(*args), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_period_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="period must be"):
        np.interp(handle([0.5]), XP, FP, period=0)


def test_nothing_flows_to_knots_from_outside() -> None:
    xp = handle(XP)
    result = np.interp([-1.0, 0.5, 2.0, 9.0], xp, FP)
    by_hand = [-0.5, -0.5 + 2 * 0.5, 2 * 0.5]
    np.testing.assert_array_equal(result.grad(np.ones(4)).wrt(xp), by_hand)

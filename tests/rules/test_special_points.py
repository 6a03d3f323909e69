"""What the derivative is where it is not unique, not finite, or easily got wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.sweeps import forward_sweep
from tape_ad.rules.nn.activations import relu
from tests.rules.checks import gradients
from tests.shorthand import gradients_of

Array = Any
Function = Callable[..., Any]

INF = np.inf
NAN = np.nan


def derivative(function: Function, x: float) -> float:
    return float(gradients_of(function, x)[0])


def second_derivative(function: Function, x: float) -> float:
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    at = outer.tensor(x)
    handle = inner.tensor(at)
    return float(gradients(function(handle).grad().wrt(handle), [at])[0])


# Ties


@pytest.mark.parametrize("extremum", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_operands_that_tie_share_the_gradient(extremum: np.ufunc) -> None:
    x, y = gradients_of(extremum, [1.0, 2.0], [1.0, 2.0])
    np.testing.assert_array_equal(x, [0.5, 0.5])
    np.testing.assert_array_equal(y, [0.5, 0.5])


@pytest.mark.parametrize("extremum", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_a_tie_with_a_number_gives_the_handle_one_half(extremum: np.ufunc) -> None:
    assert derivative(lambda x: extremum(x, 1.5), 1.5) == 0.5


@pytest.mark.parametrize("extremum", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_a_handle_that_ties_with_itself_gets_the_whole_gradient(extremum: np.ufunc) -> None:
    assert derivative(lambda x: extremum(x, x), 1.5) == 1.0


def test_a_tie_keeps_single_precision() -> None:
    x, y = gradients_of(np.maximum, np.ones(2, np.float32), np.ones(2, np.float32))
    assert x.dtype == y.dtype == np.float32


@pytest.mark.parametrize("extremum", [np.fmax, np.fmin])
def test_what_is_no_number_gets_nothing_from_fmax_and_fmin(extremum: np.ufunc) -> None:
    x, y = gradients_of(extremum, [NAN, 2.0], [1.0, NAN])
    np.testing.assert_array_equal(x, [0.0, 1.0])
    np.testing.assert_array_equal(y, [1.0, 0.0])


@pytest.mark.parametrize("extremum", [np.max, np.maximum.reduce])
def test_elements_that_tie_for_the_maximum_share_the_gradient(extremum: Function) -> None:
    (g,) = gradients_of(extremum, [3.0, 1.0, 3.0, 3.0])
    np.testing.assert_array_equal(g, np.array([1, 0, 1, 1]) / 3)


@pytest.mark.parametrize("extremum", [np.min, np.minimum.reduce])
def test_elements_that_tie_for_the_minimum_share_the_gradient(extremum: Function) -> None:
    (g,) = gradients_of(extremum, [1.0, 3.0, 1.0])
    np.testing.assert_array_equal(g, [0.5, 0.0, 0.5])


def test_elements_that_tie_over_two_axes_share_the_gradient() -> None:
    (g,) = gradients_of(
        lambda x: np.max(x, axis=(0, 2)),
        [[[1.0, 5.0], [2.0, 2.0]], [[5.0, 0.0], [2.0, 2.0]]],
    )
    np.testing.assert_array_equal(g, [[[0, 0.5], [0.25, 0.25]], [[0.5, 0], [0.25, 0.25]]])


def test_clip_shares_the_gradient_with_its_bounds() -> None:
    x, low, high = gradients_of(np.clip, [-2.0, -1.0, 0.0, 1.0, 2.0], -1.0, 1.0)
    np.testing.assert_array_equal(x, [0.0, 0.5, 1.0, 0.5, 0.0])
    assert low == 1.5
    assert high == 1.5


def test_relu_has_no_slope_at_its_kink() -> None:
    (g,) = gradients_of(relu, [-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(g, [0.0, 0.0, 1.0])


# Zero


@pytest.mark.parametrize("zero", [0.0, -0.0, 0j])
def test_the_absolute_value_has_derivative_zero_at_zero(zero: complex) -> None:
    (g,) = gradients_of(np.absolute, zero)
    assert g == 0


def test_fabs_has_derivative_zero_at_zero() -> None:
    assert derivative(np.fabs, 0.0) == 0.0


def test_hypot_has_derivative_zero_at_zero() -> None:
    assert gradients_of(np.hypot, 0.0, 0.0) == [0.0, 0.0]


@pytest.mark.parametrize("ddof", [0, 1])
def test_std_has_derivative_zero_where_all_elements_are_equal(ddof: int) -> None:
    (g,) = gradients_of(lambda x: np.std(x, axis=1, ddof=ddof), [[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(g[0], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(g[1], np.array([-1, 0, 1]) / np.sqrt(2 * (3 - ddof)))


@pytest.mark.parametrize("size", [1, 3, 7, 10])
def test_std_of_equal_elements_ignores_the_rounding_of_their_mean(size: int) -> None:
    (g,) = gradients_of(np.std, np.full(size, 0.1))
    np.testing.assert_array_equal(g, np.zeros(size))


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (np.sqrt, 0.0, INF),
        (np.cbrt, 0.0, INF),
        (np.arcsin, 1.0, INF),
        (np.arccos, -1.0, -INF),
        (np.arccosh, 1.0, INF),
        (lambda x: x**0.5, 0.0, INF),
    ],
    ids=["sqrt", "cbrt", "arcsin", "arccos", "arccosh", "power"],
)
def test_a_vertical_tangent_is_infinite_and_warns_nobody(
    function: Function, x: float, expected: float
) -> None:
    assert derivative(function, x) == expected


# Powers


@pytest.mark.parametrize(
    ("exponent", "first", "second"),
    [(0, 0.0, 0.0), (1, 1.0, 0.0), (2, 0.0, 2.0), (3, 0.0, 0.0), (0.0, 0.0, 0.0), (2.0, 0.0, 2.0)],
)
def test_powers_at_zero(exponent: float, first: float, second: float) -> None:
    assert derivative(lambda x: x**exponent, 0.0) == first
    assert second_derivative(lambda x: x**exponent, 0.0) == second


@pytest.mark.parametrize(("exponent", "first", "second"), [(0, 0, 0), (1, 1, 0), (2, 0, 2)])
def test_powers_at_zero_by_an_array(exponent: int, first: float, second: float) -> None:
    assert derivative(lambda x: x ** np.array(exponent), 0.0) == first
    assert second_derivative(lambda x: x ** np.array(float(exponent)), 0.0) == second


@pytest.mark.parametrize("exponent", [0.0, 0.5, 2.0])
def test_a_power_of_zero_has_no_slope_in_its_exponent(exponent: float) -> None:
    assert derivative(lambda y: 0.0**y, exponent) == 0.0
    assert derivative(lambda y: np.zeros(()) ** y, exponent) == 0.0


def test_a_power_of_a_negative_number_has_a_slope_in_its_base_alone() -> None:
    base, exponent = gradients_of(np.power, -2.0, 3.0)
    assert base == 12.0
    assert np.isnan(exponent)


def test_a_square_takes_no_logarithm() -> None:
    record = ta.ComputationRecord()
    (record.tensor([-1.0, 0.0]) ** 2).grad(seed=np.ones(2))
    assert record[-1].parents == (0,)


# Infinity


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (-INF, -INF, [0.5, 0.5]),
        (INF, INF, [0.5, 0.5]),
        (-INF, 0.0, [0.0, 1.0]),
        (INF, 0.0, [1.0, 0.0]),
        (1e4, -1e4, [1.0, 0.0]),
        (3.0, 3.0, [0.5, 0.5]),
    ],
)
def test_logaddexp_at_its_ends(function: Function, x: float, y: float, expected: Array) -> None:
    np.testing.assert_allclose(gradients_of(function, x, y), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (np.arctan, 1e200, 0.0),
        (np.arcsinh, 1e200, 1e-200),
        (np.arccosh, 1e200, 1e-200),
        (lambda x: np.hypot(x, 1.0), 1e200, 1.0),
        (lambda x: np.arctan2(1e200, x), 1e200, -0.5e-200),
        (np.tanh, 1e4, 0.0),
    ],
    ids=["arctan", "arcsinh", "arccosh", "hypot", "arctan2", "tanh"],
)
def test_large_operands_do_not_overflow(function: Function, x: float, expected: float) -> None:
    assert derivative(function, x) == pytest.approx(expected, rel=1e-14)


# Branches not taken


def both_branches(x: Array, y: Array) -> Array:
    return np.where(np.array([True, False]), x, y)


def test_the_branch_not_taken_contributes_nothing() -> None:
    x, y = gradients_of(both_branches, [1.0, NAN], [INF, 2.0])
    np.testing.assert_array_equal(x, [1.0, 0.0])
    np.testing.assert_array_equal(y, [0.0, 1.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(x > 0, np.sqrt(x), 0.0),
        lambda x: np.where(x <= 0, 0.0, np.sqrt(x)),
        lambda x: np.where(x > 0, x**0.5, x * 0.0),
        lambda x: np.where(x > 0, np.exp(0.5 * np.log(x)), 0.0),
    ],
)
@np.errstate(all="ignore")  # for the value; what NumPy warns of there is not at issue
def test_a_singular_branch_not_taken_contributes_nothing(function: Function) -> None:
    (g,) = gradients_of(function, [4.0, 0.0, -1.0])
    np.testing.assert_allclose(g, [0.25, 0.0, 0.0])


@np.errstate(all="ignore")
def test_a_singular_branch_not_taken_pushes_nothing() -> None:
    record = ta.ComputationRecord()
    x = record.tensor([4.0, 0.0, -1.0])
    y: Any = np.where(x > 0, np.sqrt(x), 0.0)
    pushed = forward_sweep(record, {x.index: np.ones(3)}, y.index)[y.index]
    np.testing.assert_allclose(pushed, [0.25, 0.0, 0.0])


def test_a_condition_has_no_derivative() -> None:
    condition, x, y = gradients_of(np.where, [1.0, 0.0], [3.0, 4.0], [5.0, 6.0])
    np.testing.assert_array_equal(condition, [0.0, 0.0])
    np.testing.assert_array_equal(x, [1.0, 0.0])
    np.testing.assert_array_equal(y, [0.0, 1.0])


# Dtypes


def test_a_cast_to_single_precision_casts_the_gradient_back() -> None:
    (g,) = gradients_of(lambda x: np.astype(x, np.float32) * np.float32(2), [1.0, 2.0])
    np.testing.assert_array_equal(g, np.full(2, 2.0), strict=True)


def test_a_cast_to_integers_gives_plain_data() -> None:
    handle: Any = ta.ComputationRecord().tensor([1.5, 2.5])
    cast = np.astype(handle, np.int64)
    np.testing.assert_array_equal(cast, np.array([1, 2]), strict=True)


def test_the_imaginary_part_of_a_real_handle_has_no_slope() -> None:
    (g,) = gradients_of(np.imag, [1.0, 2.0])
    np.testing.assert_array_equal(g, [0.0, 0.0])

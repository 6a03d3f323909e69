"""Formulas with holes: what they give there, and that a hole changes nothing for other elements."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import tape_ad as ta
from tape_ad.rules.numpy.continued import (
    difference,
    logistic,
    over_square,
    power_derivative,
    ratio,
    signed_power,
    unit,
)
from tests.shorthand import gradients_of

Array = Any
Function = Callable[..., Any]

RNG = np.random.default_rng(0)
INF, NAN = np.inf, np.nan
LEAST, MOST = 5e-324, float(np.finfo(float).max)

POINTS = [0.0, -0.0, 1.0, -1.0, 2.5, -0.3, 1e-170, -1e-170, LEAST, 1e170, -MOST, INF, -INF, NAN]
PAIRS = np.array(list(itertools.product(POINTS, POINTS))).T

OF_TWO: dict[str, Function] = {
    "difference": difference,
    "ratio": ratio,
    "unit": lambda x, y: unit(x, np.hypot(x, y)),
    "over_square": over_square,
    "slope of a power in its base": lambda x, y: power_derivative(x, y, 1, 0),
    "slope of a power in its exponent": lambda x, y: power_derivative(x, y, 0, 1),
}


@pytest.mark.parametrize("function", OF_TWO.values(), ids=OF_TWO)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@np.errstate(all="ignore")
def test_a_hole_changes_nothing_for_other_elements(function: Function, dtype: Any) -> None:
    x, y = PAIRS.astype(dtype)
    each = np.concatenate([function(a, b) for a, b in zip(x[:, None], y[:, None], strict=True)])
    together = function(x, y)
    assert together.dtype == dtype
    limits = np.finfo(dtype)
    assert_allclose(together, each, rtol=8 * limits.eps, atol=2 * limits.smallest_subnormal)


HOLES: list[tuple[str, Function, tuple[float, ...], float]] = [
    ("difference", difference, (INF, INF), 0),
    ("difference", difference, (-INF, -INF), 0),
    ("difference", difference, (INF, -INF), INF),
    ("difference", difference, (NAN, NAN), NAN),
    ("ratio", ratio, (0.0, 0.0), 0),
    ("ratio", ratio, (0.0, -0.0), 0),
    ("ratio", ratio, (1.0, 0.0), INF),
    ("ratio", ratio, (0.0, NAN), NAN),
    ("unit", unit, (0.0, 0.0), 0),
    ("unit", unit, (LEAST, LEAST), 1),
    ("unit", unit, (NAN, NAN), NAN),
    ("over_square", over_square, (0.0, 0.0), NAN),
    ("over_square", over_square, (0.0, 1e-200), 0),
    ("over_square", over_square, (1e-200, 0.0), 1e200),
    ("over_square", over_square, (3e-170, 4e-170), 3 / 25 * 1e170),
    ("over_square", over_square, (3e170, 4e170), 3 / 25 * 1e-170),
    ("over_square", over_square, (1.0, INF), 0),
    ("over_square", over_square, (MOST, 1.0), 1 / MOST),
    ("signed_power", signed_power, (0.0, -0.5), 0),
    ("signed_power", signed_power, (0.0, 0.0), 0),
    ("signed_power", signed_power, (-0.0, 0.5), 0),
    ("signed_power", signed_power, (-4.0, -0.5), -0.5),
    ("signed_power", signed_power, (-INF, 0.5), -INF),
    ("logistic", logistic, (0.0, math.e), 0.5),
    ("logistic", logistic, (-1000.0, math.e), 0),
    ("logistic", logistic, (-INF, math.e), 0),
    ("logistic", logistic, (INF, math.e), 1),
    ("logistic", logistic, (-700.0, math.e), math.exp(-700)),
    ("logistic", logistic, (-740.0, math.e), math.exp(-740)),
    ("logistic", logistic, (-1000.0, 2), 2.0**-1000),
    ("logistic", logistic, (-1070.0, 2), 2.0**-1070),
    ("logistic", logistic, (128.0, 2), 1),
    ("logistic", logistic, (NAN, 2), NAN),
    ("power by base", lambda x, y: power_derivative(x, y, 1, 0), (0.0, 0.0), 0),
    ("power by base", lambda x, y: power_derivative(x, y, 1, 0), (NAN, 0.0), 0),
    ("power by base", lambda x, y: power_derivative(x, y, 1, 0), (0.0, 0.5), INF),
    ("power by base", lambda x, y: power_derivative(x, y, 1, 0), (-2.0, 3.0), 12),
    ("power by exponent", lambda x, y: power_derivative(x, y, 0, 1), (0.0, 0.0), 0),
    ("power by exponent", lambda x, y: power_derivative(x, y, 0, 1), (0.0, 2.0), 0),
    ("power by exponent", lambda x, y: power_derivative(x, y, 0, 1), (0.0, -1.0), -INF),
    ("power by exponent", lambda x, y: power_derivative(x, y, 0, 1), (INF, -1.0), 0),
    ("power by exponent", lambda x, y: power_derivative(x, y, 0, 1), (-2.0, 3.0), NAN),
]


@pytest.mark.parametrize(
    ("function", "operands", "expected"),
    [row[1:] for row in HOLES],
    ids=[f"{row[0]} at {row[2]}" for row in HOLES],
)
@np.errstate(all="ignore")
def test_the_value_at_a_hole(
    function: Function, operands: tuple[float, ...], expected: float
) -> None:
    found = float(function(np.float64(operands[0]), operands[1]))
    (of_array,) = function(np.array(operands[:1]), operands[1])
    assert_allclose([found, of_array], expected, rtol=1e-15)


@pytest.mark.parametrize("function", OF_TWO.values(), ids=OF_TWO)
def test_formulas_take_arrays_without_elements(function: Function) -> None:
    assert function(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ("function", "degree"),
    [
        (lambda x: np.arctan2(x[0], x[1]), 0),
        (lambda x: np.sum(np.arctan2(x, -x[::-1])), 0),
        (lambda x: np.sum(np.hypot(x[:1], x[1:])), 1),
        (lambda x: np.sum(np.arctan2(x, 2 * x[::-1]) * np.hypot(x[1], x[0])), 1),
    ],
)
@pytest.mark.parametrize("exponent", [-1020, -540, -450, 450, 500, 508, 540, 1020])
def test_lengths_of_any_size_have_the_derivatives_of_lengths_near_one(
    function: Function, degree: int, exponent: int
) -> None:
    x, scale = np.array([1.5, -2.5]), 2.0**exponent
    near = ta.grad(function)(x)
    assert_allclose(ta.grad(function)(x * scale) * scale ** (1 - degree), near, rtol=1e-14)


@pytest.mark.parametrize("exponent", [-60, -52, 52, 60])
def test_angles_in_single_precision_have_their_slopes_at_any_size(exponent: int) -> None:
    y, x = np.array([[1.5], [-2.5]], np.float32)
    scale = np.float32(2.0**exponent)
    near, far = gradients_of(np.arctan2, y, x), gradients_of(np.arctan2, y * scale, x * scale)
    assert far[0].dtype == np.float32
    assert_allclose(np.array(far) * scale, near, rtol=1e-6)


def test_small_integers_beside_a_handle_do_not_overflow() -> None:
    small = np.array([100, -128], np.int8)
    of_y = ta.grad(lambda y: np.sum(np.arctan2(y, small)))(np.array([3.0, 4.0]))
    of_x = ta.grad(lambda x: np.sum(np.arctan2(small, x)))(np.array([3.0, 4.0]))
    assert_allclose(of_y, [100 / 10009, -128 / 16400])
    assert_allclose(of_x, [-100 / 10009, 128 / 16400])


def test_a_base_of_0_has_no_slope_in_the_exponent_and_changes_no_other() -> None:
    base, exponent = np.array([2.0, 0.0, 3.0]), np.array([3.0, 2.0, -1.0])
    slopes = ta.grad(lambda y: np.sum(base**y))(exponent)
    assert_allclose(slopes, [8 * math.log(2), 0, math.log(3) / 3], rtol=1e-15)


def test_a_small_integer_has_the_slopes_of_a_number_in_its_exponent() -> None:
    base = np.array([2, 3], np.int8)  # whose logarithm NumPy gives in half precision
    slopes = ta.grad(lambda y: np.sum(base**y))(np.array([3.0, -1.0]))
    assert_allclose(slopes, [8 * math.log(2), math.log(3) / 3], rtol=1e-15)


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
@pytest.mark.parametrize("gap", [0.0, 1e-9, 0.5, 30.0, 700.0])
def test_partials_of_large_operands_keep_their_digits(function: Function, gap: float) -> None:
    near = gradients_of(function, gap, 0.0)
    far = gradients_of(function, 2.0**30 + gap, 2.0**30)
    rounded = (2.0**30 + gap) - 2.0**30
    assert_allclose(far, gradients_of(function, rounded, 0.0), rtol=1e-15)
    assert_allclose(near[0] + near[1], 1, rtol=1e-15)


@pytest.mark.parametrize("exponent", [-2, -1.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 7, 4.0, [2, 0, 5]])
@pytest.mark.parametrize("hole", [1.0, 0.0, -0.0, LEAST, 1e-200, 1e200, MOST, INF, -INF, NAN])
@pytest.mark.parametrize("sign", [1, -1])
@np.errstate(all="ignore")
def test_slopes_of_powers_beside_a_hole(exponent: Any, hole: float, sign: int) -> None:
    x, y = np.array([sign * 1.75, hole, sign * 2e30]), exponent
    y = np.array(y) if isinstance(y, list) else y
    together = gradients_of(lambda x: x**y, x)[0]
    pairs = [(np.array(a), float(b)) for a, b in np.broadcast(x, y)]
    alone = [gradients_of(np.power, a, b)[0] for a, b in pairs]
    assert_allclose(together, alone, rtol=1e-15)


def test_slopes_of_powers_in_single_precision_have_its_digits() -> None:
    x = RNG.normal(size=1000).astype(np.float32)
    (found,) = gradients_of(lambda x: x**5, x)
    assert_allclose(found, (5 * x.astype(float) ** 4).astype(np.float32), rtol=3e-7, strict=True)


def test_a_power_that_is_too_small_keeps_its_slope() -> None:
    (found,) = gradients_of(lambda x: x**4, np.array([1e-100, 2e-100, 1.0]))
    assert_allclose(found, [4e-300, 32e-300, 4.0], rtol=1e-15)
    (found,) = gradients_of(lambda x: x**4, np.array([1e-80, 1.0]))  # 1e-320 has few digits
    assert_allclose(found, [4e-240, 4.0], rtol=1e-15)


@pytest.mark.parametrize(("function", "base"), [(np.logaddexp, math.e), (np.logaddexp2, 2.0)])
@pytest.mark.parametrize(
    ("dtype", "least"), [(np.float16, 2.0**-24), (np.float32, 1e-44), (np.float64, 5e-323)]
)
def test_slopes_of_logaddexp_fall_to_the_least_numbers(
    function: Function, base: float, dtype: Any, least: float
) -> None:
    far = math.log(least, base)
    x = np.array([far, far / 2, -5.0, 0.0, 5.0, -far / 2, -far], dtype)
    (found,) = gradients_of(lambda x: function(x, dtype(0)), x)
    wide = x.astype(np.longdouble)
    expected = (1 / (1 + np.power(np.longdouble(base), -wide))).astype(dtype)
    limits = np.finfo(dtype)
    rtol = 4 * float(limits.eps) * abs(far)  # of the power of a base that is rounded
    assert_allclose(found, expected, rtol=rtol, atol=2 * float(limits.smallest_subnormal))
    assert found[0] > 0


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("y", [LEAST, -1e-310, 0.0, INF])
def test_no_curvature_of_arctan2_warns(y: float, direction: tuple[float, float]) -> None:
    slopes = ta.grad(np.arctan2, (0, 1))
    with np.errstate(all="raise"):
        ta.jvp(slopes, (np.array(y), np.array(0.0)), tuple(map(np.array, direction)))

"""Roots and minima of many functions at once, by the implicit function theorem."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ConvergenceWarning, UnsupportedArgumentError
from tape_ad.scipy.optimize import newton

pytest.importorskip("scipy.optimize.elementwise", reason="SciPy 1.15 has it")
elementwise = pytest.importorskip("tape_ad.scipy.optimize.elementwise")

NUMBERS = np.array([[1.0, 2.0], [3.0, 4.0]])


def cubic(x: Any, a: Any) -> Any:
    return x**3 + x - a


def bowl(x: Any, a: Any) -> Any:
    return (x - a) ** 2 + np.exp(x)


def test_roots_of_a_matrix_of_equations() -> None:
    def roots(a: Any) -> Any:
        return elementwise.find_root(cubic, (0.0, 5.0), args=(a,)).x

    slope = 1 / (3 * roots(NUMBERS) ** 2 + 1)
    np.testing.assert_allclose(ta.grad(lambda a: np.sum(roots(a)))(NUMBERS), slope, rtol=1e-12)


def test_newtons_method_takes_a_matrix_too() -> None:
    def roots(a: Any) -> Any:
        return newton(lambda x, a: x**2 - a, np.ones((2, 2)), args=(a,))

    gradient = ta.grad(lambda a: np.sum(roots(a)))(NUMBERS)
    np.testing.assert_allclose(gradient, 0.5 / np.sqrt(NUMBERS), rtol=1e-12)


def test_a_root_of_what_is_closed_over_to_second_order() -> None:
    def root(a: Any) -> Any:
        return elementwise.find_root(lambda x: x**2 - a, (0.0, 5.0)).x

    assert ta.hessian(root)(4.0) == pytest.approx(-1 / 32, rel=1e-12)


def test_minima_to_second_order() -> None:
    def best(a: Any) -> Any:
        return elementwise.find_minimum(bowl, (-5.0, 0.0, 5.0), args=(a,))

    x = best(1.0).x
    curvature = 2 + np.exp(x)
    assert ta.grad(lambda a: best(a).x)(1.0) == pytest.approx(2 / curvature, rel=1e-12)
    second = -4 * np.exp(x) / curvature**3
    assert ta.hessian(lambda a: best(a).x)(1.0) == pytest.approx(second, rel=1e-12)
    assert ta.grad(lambda a: best(a).f_x)(1.0) == pytest.approx(2 * (1 - x), rel=1e-7)


def test_what_is_not_found_does_not_spoil_the_others() -> None:
    a = ta.ComputationRecord().tensor([4.0, -9.0])
    with pytest.warns(ConvergenceWarning, match="find_root has not succeeded"):
        x = elementwise.find_root(lambda x, a: x**2 - a, (0.0, 5.0), args=(a,)).x
    np.testing.assert_allclose(x.data, [2.0, np.nan], rtol=1e-12)
    np.testing.assert_allclose(x[0].grad().wrt(a), [0.25, 0.0], rtol=1e-12)


def test_brackets_are_plain_and_start_from_plain_numbers() -> None:
    a = ta.ComputationRecord().tensor(4.0)
    low, high = elementwise.bracket_root(lambda x, a: x - a, 0.0, args=(a,)).bracket
    assert low < 4 <= high
    left, middle, right = elementwise.bracket_minimum(bowl, 0.0, args=(a,)).bracket
    assert left < middle < right
    for search in (elementwise.bracket_root, elementwise.bracket_minimum):
        with pytest.raises(UnsupportedArgumentError, match="may not be a handle"):
            search(lambda x: x - 4, a)

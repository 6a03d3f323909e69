"""Order statistics at special points: ties, kinks, nan, and refusals."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tests.rules.checks import close
from tests.shorthand import gradient, handle

METHODS = (
    *("linear", "hazen", "weibull", "median_unbiased", "normal_unbiased"),
    *("interpolated_inverted_cdf", "inverted_cdf", "averaged_inverted_cdf"),
    *("closest_observation", "lower", "higher", "midpoint", "nearest"),
)


quantile: Any = np.quantile  # called here with what its annotations do not foresee


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_gradient_reproduces_the_value(method: str, n: int) -> None:
    data = np.random.default_rng(n).permutation(np.arange(n) + 0.5)
    q = np.linspace(0, 1, 23)
    x = handle(data)
    out = quantile(x, q, method=method)  # homogeneous of degree 1, so x * out' is out
    close([out.grad(np.eye(23)).wrt(x) @ data], [out.data], 1e-14)


def test_ties_go_to_what_a_stable_sort_puts_there() -> None:
    data = [2.0, 1.0, 2.0, 1.0, 2.0, 3.0]
    np.testing.assert_array_equal(gradient(np.median, data), [0.5, 0, 0.5, 0, 0, 0])
    np.testing.assert_array_equal(gradient(lambda x: np.quantile(x, 0.0), data), [0, 1, 0, 0, 0, 0])


def test_results_that_are_nan_have_gradient_zero() -> None:
    data = [[1.0, np.nan, 2.0], [4.0, 3.0, 5.0]]
    taken = gradient(lambda x: np.median(x, axis=1), data)
    np.testing.assert_array_equal(taken, [[0, 0, 0], [1, 0, 0]])
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        taken = gradient(lambda x: np.nanmedian(x, axis=0), [[np.nan, 1.0], [np.nan, 2.0]])
    np.testing.assert_array_equal(taken, [[0, 0.5], [0, 0.5]])


def test_the_slope_of_a_quantile() -> None:
    record = ta.ComputationRecord()
    q = record.tensor([0.0, 0.1, 0.5, 0.9, 1.0])
    out: Any = np.quantile([1.0, 4.0, 9.0], q)
    np.testing.assert_allclose(out.grad(np.ones(5)).wrt(q), [6, 6, 10, 10, 0], rtol=1e-14)
    out = np.quantile([1.0, 4.0, 9.0], q, method="hazen")  # constant outside of the middles
    np.testing.assert_allclose(out.grad(np.ones(5)).wrt(q), [0, 0, 15, 0, 0], rtol=1e-14)


def test_methods_that_jump_are_constant_in_the_probability() -> None:
    q = handle([0.3, 0.6])
    assert type(np.quantile([1.0, 4.0, 9.0], q, method="nearest")) is np.ndarray


def test_how_a_quantile_depends_on_elements_and_probability_together() -> None:
    outer = ta.ComputationRecord()
    q = outer.tensor(0.3)
    x = ta.ComputationRecord(within=outer).tensor(np.array([4.0, 1.0, 9.0]))
    out: Any = np.quantile(x, q)  # 1 + 0.6 * (4 - 1)
    slopes = out.grad().wrt(x)
    np.testing.assert_allclose(slopes.data, [0.6, 0.4, 0], rtol=1e-14)
    np.testing.assert_allclose(slopes.grad(np.eye(3)).wrt(q), [2, -2, 0], rtol=1e-14)


def test_weights_cannot_be_a_handle() -> None:
    x = handle([1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedArgumentError, match=r"np\.quantile: weights= decides which"):
        np.quantile(x, 0.5, weights=x, method="inverted_cdf")
    with pytest.raises(UnsupportedArgumentError, match=r"np\.nanpercentile: weights="):
        np.nanpercentile(x.data, 50, weights=x, method="inverted_cdf")


def test_the_input_may_be_overwritten_and_is_not() -> None:
    data = np.array([3.0, 1.0, 2.0])
    assert np.median(handle(data), overwrite_input=True).item() == 2.0
    np.testing.assert_array_equal(data, [3, 1, 2])

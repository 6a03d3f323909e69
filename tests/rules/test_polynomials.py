"""What the rows do not say about polynomials, convolution and other products."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import (
    ConversionError,
    InPlaceError,
    ShapeError,
    TieError,
    UnsupportedArgumentError,
)
from tests.shorthand import handle

RNG = np.random.default_rng(10)


def leaves(*data: Any) -> Any:
    return ta.ComputationRecord().bind(data)


def pulled(out: Any, seed: Any, handles: Any) -> Any:
    return out.grad(seed=seed).wrt(handles)


ZEROS_LEFT_OUT: dict[str, Any] = {
    "poly1d": lambda p: np.poly1d(p)(2.0),
    "poly1d, divided": lambda p: np.sum((np.poly1d(p) + np.poly1d([1.0])).coeffs),
    "polymul": lambda p: np.polyval(np.polymul(p, [1.0, 2.0]), 2.0),
    "polymul, the second": lambda p: np.polyval(np.polymul([1.0, 2.0], p), 2.0),
    "lagrange": lambda p: ta.scipy.interpolate.lagrange(np.arange(3.0), p)(4.0),
}


@pytest.mark.parametrize("name", ZEROS_LEFT_OUT)
@pytest.mark.filterwarnings("ignore:`lagrange` is deprecated")  # since SciPy 1.18
def test_leading_zeros_are_not_left_out_with_their_derivative(name: str) -> None:
    f = ZEROS_LEFT_OUT[name]
    zero, nonzero = np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 4.0])
    for grad in (ta.grad(f), ta.compile(ta.grad(f)), ta.grad(ta.compile(f))):
        with pytest.raises(TieError, match=r"leaves out numbers that are exactly 0 \(line \d+"):
            grad(zero)
        wanted = ta.grad(f)(nonzero)
        np.testing.assert_array_equal(grad(nonzero), wanted)
        with pytest.raises(TieError):
            grad(zero)


def test_leading_zeros_of_constants_have_no_part_in_a_product() -> None:
    a = handle([2.0, 3.0])
    product = np.polymul(a, np.array([0.0, 5.0, 7.0]))
    np.testing.assert_array_equal(product.data, [10, 29, 21])
    gradient = product.grad(seed=np.array([1.0, 10.0, 100.0])).wrt(a)
    np.testing.assert_array_equal(gradient, [75, 750])
    zeros = a.record.constant(np.zeros(2))
    np.testing.assert_array_equal(np.polymul(a, zeros).grad(seed=np.ones(2)).wrt(a), [0, 0])


def test_a_polynomial_without_coefficients_is_zero() -> None:
    a = handle(np.zeros(0))
    assert np.polymul(a, [2.0, 1.0]).grad(seed=np.ones(2)).wrt(a).shape == (0,)


def test_a_poly1d_is_its_coefficients() -> None:
    x = handle([2.0, 3.0])
    values = np.polyval(np.poly1d([1.0, 0.0, -1.0]), x)
    np.testing.assert_array_equal(values.data, [3, 8])
    np.testing.assert_array_equal(pulled(values, np.ones(2), x), [4, 6])
    np.testing.assert_array_equal(np.polyadd(np.poly1d([1.0]), x).data, [2, 4])


def test_composing_polynomials_is_refused() -> None:
    p = handle([1.0, 2.0])
    with pytest.raises(UnsupportedArgumentError, match="composes polynomials"):
        np.polyval(p, np.poly1d([1.0, 1.0]))


def test_coefficients_have_one_axis() -> None:
    p = handle(np.ones((2, 2)))
    with pytest.raises(ShapeError, match=r"polyval takes coefficients along one axis.*\(2, 2\)"):
        np.polyval(p, 1.0)


def test_a_number_as_integration_constant() -> None:
    p, k = leaves(np.array([3.0, 1.0]), np.array(5.0))
    integral = np.polyint(p, 2, k)
    np.testing.assert_array_equal(integral.data, np.polyint([3.0, 1.0], 2, 5.0))
    gradient = integral.grad(seed=np.arange(4.0)).wrt(k)
    assert gradient == 5.0  # 2 for the power 1, and 3 for the constant


@pytest.mark.parametrize(
    ("x", "y", "w"),
    [((4, 1), (4,), (4,)), ((4,), (3,), (4,)), ((4,), (4, 1, 1), (4,)), ((4,), (4,), (3,))],
)
def test_what_does_not_fit_cannot_be_fitted(
    x: tuple[int, ...], y: tuple[int, ...], w: tuple[int, ...]
) -> None:
    data = handle(np.ones(y))
    with pytest.raises(ShapeError, match=r"np\.polyfit"):
        np.polyfit(np.ones(x), data, 1, w=np.ones(w))


def test_fitting_is_linear_in_the_data() -> None:
    x = np.linspace(-1, 1, 7)
    y = handle(RNG.standard_normal(7))
    fitted = np.polyfit(x, y, 2)
    jacobian = pulled(fitted, np.eye(3), y)
    np.testing.assert_allclose(jacobian, np.linalg.pinv(np.vander(x, 3)), atol=1e-14)


def test_a_fit_that_is_not_determined_warns_as_numpys() -> None:
    y = handle([1.0, 2.0])
    with pytest.warns(np.exceptions.RankWarning):
        np.polyfit([1.0, 1.0], y, 1)


@pytest.mark.parametrize(("deg", "cov"), [(-1, False), (1, True)])
def test_a_fit_refuses_what_numpy_refuses(deg: Any, cov: Any) -> None:
    y = handle([1.0, 2.0])
    with pytest.raises(ValueError, match=r"deg >= 0|number of data points"):
        np.polyfit([1.0, 2.0], y, deg, cov=cov)


@pytest.mark.parametrize(("number", "name"), [(0, "valid"), (1, "same"), (2, "full")])
def test_modes_of_convolution_may_be_numbers(number: Any, name: Any) -> None:
    a, v = leaves(RNG.standard_normal(5), RNG.standard_normal(3))
    seed = RNG.standard_normal(np.convolve(a.data, v.data, name).shape)
    by_number = pulled(np.convolve(a, v, number), seed, (a, v))
    by_name = pulled(np.convolve(a, v, name), seed, (a, v))
    np.testing.assert_array_equal(by_number[0], by_name[0])
    np.testing.assert_array_equal(by_number[1], by_name[1])


def test_a_jacobian_of_no_rows() -> None:
    a = handle(RNG.standard_normal(5))
    assert pulled(np.convolve(a, [1.0, 2.0]), np.zeros((0, 6)), a).shape == (0, 5)


def test_vdot_takes_numbers_too() -> None:
    a = handle(2.0 + 1.0j)
    assert np.vdot(a, 3.0j).grad(seed=1.0).wrt(a) == 3.0j


def test_an_array_to_write_to_is_refused() -> None:
    a = handle([1.0, 2.0])
    with pytest.raises(InPlaceError, match="vecdot would write a handle into a plain array"):
        np.vecdot(a, a, out=np.empty(()))


def test_integration_constants_of_a_plain_polynomial_are_not_dropped_in_silence() -> None:
    k = handle(2.0)
    with pytest.raises((ConversionError, TypeError)):
        np.polyint([1.0, 2.0], 1, k)


def test_the_gradient_of_a_double_root_is_not_finite() -> None:
    p = handle([1.0, 0.0, 0.0])
    with np.errstate(all="ignore"):
        assert not np.isfinite(np.roots(p)[0].grad().wrt(p)[2])


def test_coefficients_of_many_roots_keep_their_digits_in_the_derivative() -> None:
    zeros = np.geomspace(0.01, 1000.0, 40) * (-1.0) ** np.arange(40)
    jacobian = ta.jacobian(np.poly)(zeros)
    expected = [-np.append(0.0, np.poly(np.delete(zeros, i))) for i in range(40)]
    np.testing.assert_allclose(jacobian, np.transpose(expected), rtol=1e-11)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_slopes_of_a_kernel_are_finite_where_infinities_do_not_meet_it(bad: float) -> None:
    signal = np.arange(1.0, 8.0)
    signal[0] = bad
    slope = ta.grad(lambda kernel: np.sum(np.convolve(signal, kernel, "same")))(np.ones(3))
    assert slope[0] == 27.0
    assert not np.isfinite(slope[1:]).any()

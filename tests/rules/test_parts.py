"""Special points of the functions that take numbers apart, and what they refuse."""

from typing import Any

import numpy as np
import pytest

from tape_ad.errors import InPlaceError, UnsupportedArgumentError
from tape_ad.record.primals import primal
from tests.shorthand import handle


def gradient(result: Any, handle: Any) -> Any:
    return np.sum(result).grad().wrt(handle)


def test_remainders_of_numbers_beyond_each_other_are_exact() -> None:
    x, y = np.array([1e300, -7.5, 0.3]), np.array([3.0, 2.0, 0.1])
    divisor = handle(y)
    whole = gradient(np.fmod(x, divisor), divisor)
    np.testing.assert_array_equal(whole, -np.trunc((x - np.fmod(x, y)) / y))


def test_divmod_gives_plain_quotients() -> None:
    x, y = handle([7.5, -7.5]), 2.0
    quotient, rest = np.divmod(x, y)
    assert isinstance(quotient, np.ndarray)
    np.testing.assert_array_equal(quotient, [3.0, -4.0])
    np.testing.assert_array_equal(gradient(rest, x), [1.0, 1.0])


@pytest.mark.parametrize("function", [np.divmod, np.fmod, np.remainder])
def test_integers_beside_a_handle(function: Any) -> None:
    divisor = handle([2.5, 3.5])
    results = function(np.array([7, 200], np.uint8), divisor)
    rest = results[-1] if isinstance(results, tuple) else results
    np.testing.assert_array_equal(gradient(rest, divisor), [-2.0, -57.0])


def test_signs_of_zeros_count() -> None:
    x = handle([0.0, -0.0, 0.0, -0.0])
    result = np.copysign(x, np.array([1.0, 1.0, -0.0, -0.0]))
    np.testing.assert_array_equal(gradient(result, x), [1.0, -1.0, -1.0, 1.0])
    assert isinstance(np.copysign(2.0, x), np.ndarray)


def test_heaviside_depends_on_its_value_at_zero_only() -> None:
    x, value = handle([-1.0, 0.0, 1.0]), handle([0.5, 0.5, 0.5])
    assert isinstance(np.heaviside(x, 0.5), np.ndarray)
    result = np.heaviside([-1.0, 0.0, 1.0], value)
    np.testing.assert_array_equal(gradient(result, value), [0.0, 1.0, 0.0])


def test_exponents_are_plain_and_scale_without_overflow() -> None:
    x = handle([1e-310, 3.0, -8.0])
    mantissa, exponent = np.frexp(x)
    assert exponent.dtype.kind == "i"
    back = np.ldexp(mantissa, exponent)
    np.testing.assert_array_equal(back.data, x.data)
    np.testing.assert_array_equal(gradient(back[1:], x), [0.0, 1.0, 1.0])
    one = handle(1.0)
    np.testing.assert_array_equal(np.ldexp(np.ldexp(one, 1000), 20).grad().wrt(one), 2.0**1020)


def test_the_zeroth_power_has_derivative_zero_also_at_zero() -> None:
    x, y = handle([0.0, 2.0]), handle([0.0, 0.0])
    np.testing.assert_array_equal(gradient(np.float_power(x, 0), x), [0.0, 0.0])
    np.testing.assert_array_equal(gradient(np.float_power([0.0, 1.0], y), y), [0.0, 0.0])


def test_float_power_is_as_exact_as_its_result() -> None:
    x = handle(np.array([1.1], np.float32))
    result = np.float_power(x, 3)
    assert result.dtype == np.float64
    exact = 3 * np.float64(x.data) ** 2
    np.testing.assert_array_equal(gradient(result, x), exact.astype(np.float32))


@np.errstate(all="ignore")  # dividing by zero is what the test is about
def test_what_nan_to_num_replaces_contributes_nothing() -> None:
    x = handle([0.0, 2.0])
    np.testing.assert_array_equal(gradient(np.nan_to_num(x / x), x), [0.0, 0.0])
    np.testing.assert_array_equal(gradient(np.nan_to_num(1 / x), x), [0.0, -0.25])
    z = handle([1.0 + 2.0j, np.nan + 1.0j])
    seed = np.array([1.0 + 1.0j, 1.0 + 1.0j])
    result = np.nan_to_num(z, nan=3.0)
    np.testing.assert_array_equal(result.data, [1.0 + 2.0j, 3.0 + 1.0j])
    np.testing.assert_array_equal(result.grad(seed).wrt(z), [1.0 + 1.0j, 1.0j])


def test_nan_to_num_takes_the_largest_numbers_of_the_dtype() -> None:
    data = np.array([np.inf, -np.inf, np.nan], np.float32)
    result = np.nan_to_num(handle(data))
    np.testing.assert_array_equal(np.nan_to_num(data), result.data, strict=True)


def test_nan_to_num_does_not_write() -> None:
    with pytest.raises(UnsupportedArgumentError, match="copy=False writes"):
        np.nan_to_num(handle([1.0]), copy=False)


def test_a_small_imaginary_part_is_dropped() -> None:
    z = handle([1.0 + 1e-17j, 2.0])
    result = np.real_if_close(z)
    assert result.dtype == np.float64
    np.testing.assert_array_equal(gradient(result, z), [1.0, 1.0])
    assert np.real_if_close(handle([1.0 + 1.0j]), tol=1).dtype == np.complex128


def test_angles_of_real_numbers_are_plain() -> None:
    np.testing.assert_array_equal(np.angle(handle([1.0, -1.0]), deg=True), [0.0, 180.0])


@pytest.mark.parametrize("function", [np.divmod, np.modf, np.frexp])
def test_nothing_is_written(function: Any) -> None:
    operands = [handle([1.5])] * function.nin
    with pytest.raises(InPlaceError, match="into a plain array"):
        function(*operands, out=(np.zeros(1), np.zeros(1)))
    with pytest.raises(InPlaceError, match="into a plain array"):
        function(*operands, np.zeros(1), np.zeros(1))


@pytest.mark.parametrize("function", [np.divmod, np.modf, np.frexp])
def test_several_outputs_where_a_mask_says(function: Any) -> None:
    data, mask = np.array([1.5, -7.25]), np.array([True, False])
    results = function(*[handle(data)] * function.nin, where=mask)
    for result, value in zip(results, function(*[data] * function.nin), strict=True):
        np.testing.assert_array_equal(primal(result), np.where(mask, value, 0))


@pytest.mark.parametrize("function", [np.bitwise_and, np.left_shift, np.gcd])
def test_functions_of_integers_are_refused(function: Any) -> None:
    with pytest.raises(UnsupportedArgumentError, match="integers"):
        function(handle([1.5]), 2)


FIX = "ignore:numpy.fix is deprecated:DeprecationWarning"
"""What NumPy 2.5 says of it."""

PIECEWISE_CONSTANT = [
    *(np.rint, np.round, np.floor, np.ceil, np.trunc, np.fix, np.sign, np.spacing),
    *(np.isnan, np.isfinite, np.isinf, np.isposinf, np.isneginf, np.signbit),
]


@pytest.mark.filterwarnings(FIX)
@pytest.mark.parametrize("function", PIECEWISE_CONSTANT)
def test_piecewise_constant_functions_of_special_numbers(function: Any) -> None:
    data = np.array([-np.inf, -2.5, -0.0, 0.0, 0.5, 1.5, np.inf, np.nan])
    with np.errstate(invalid="ignore"):  # NumPy's spacing of infinity
        np.testing.assert_array_equal(function(handle(data)), function(data), strict=True)


@pytest.mark.filterwarnings(FIX)
@pytest.mark.parametrize("function", [np.rint, np.round, np.fix, np.isneginf, np.isposinf])
def test_no_handle_is_written_to(function: Any) -> None:
    x = handle([1.5, -np.inf])
    arguments = (x, 0, x) if function is np.round else (x, x)
    with pytest.raises((UnsupportedArgumentError, InPlaceError), match="out="):
        function(*arguments)
    np.testing.assert_array_equal(x.data, [1.5, -np.inf])


def test_clipping_a_plain_array_between_handles() -> None:
    a, low = np.array([-2.0, 0.5, 9.0]), handle(-1.0)
    for result in (np.clip(a, low, 3.0), a.clip(low, 3.0)):
        np.testing.assert_array_equal(result.data, [-1.0, 0.5, 3.0])
        assert gradient(result, low) == 1.0
    np.testing.assert_array_equal(a.clip(low).data, [-1.0, 0.5, 9.0])


ON_THE_CUTS: list[Any] = [
    *((np.arcsin, 2.0), (np.arcsin, -2.0), (np.arccos, 2.0), (np.arccos, -2.0)),
    *((np.arctanh, 2.0), (np.arctanh, -2.0), (np.arccosh, 0.5), (np.arccosh, -2.0)),
    *((np.sqrt, -2.0), (np.log, -2.0), (np.arcsinh, 2.0j), (np.arcsinh, -2.0j)),
]


@pytest.mark.parametrize(("function", "place"), ON_THE_CUTS)
@pytest.mark.parametrize("side", [0.0, -0.0])
def test_on_a_branch_cut_the_sign_of_zero_says_which_side(
    function: Any, place: complex, side: float
) -> None:
    along, across = np.real(place), np.imag(place)
    step = np.copysign(1e-9, side)
    x = handle(complex(along, side) if along else complex(side, across))
    beside = handle(complex(along, step) if along else complex(step, across))
    on_the_cut, near = (
        function(handle).grad(np.complex128(1)).wrt(handle) for handle in (x, beside)
    )
    np.testing.assert_allclose(on_the_cut, near, rtol=1e-8)

"""Functions that build arrays, at their special points, and what they refuse."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta


def tensor(data: Any) -> Any:  # a handle, which NumPy's types do not know
    return ta.ComputationRecord().tensor(data)


def leaf(*values: float) -> Any:
    return tensor(values)


def test_vander_promotes_as_numpy_does() -> None:
    data = np.array([1.5, 2.5], np.float32)
    x = tensor(data)
    powers: Any = np.vander(x)
    assert powers.dtype == np.vander(data).dtype
    assert powers.grad(seed=np.ones((2, 2))).wrt(x).dtype == np.float32


def test_vander_at_zero_has_the_gradient_of_the_linear_column() -> None:
    x = leaf(0.0)
    powers: Any = np.vander(x, 4)
    gradient = powers.grad(seed=np.array([[1.0, 2.0, 3.0, 4.0]])).wrt(x)
    np.testing.assert_array_equal(gradient, [3.0])


def test_the_step_of_too_few_numbers_is_nan() -> None:
    samples, step = np.linspace(leaf(1.0)[0], 2.0, 1, retstep=True)
    assert np.isnan(step)
    assert samples.shape == (1,)


def test_numbers_of_an_integer_dtype_are_plain() -> None:
    assert type(np.linspace(leaf(1.0)[0], 9.0, 3, dtype=int)) is np.ndarray


@pytest.mark.parametrize("function", [np.linspace, np.logspace, np.geomspace])
def test_a_handle_as_number_of_samples_is_refused(function: Any) -> None:
    x = leaf(3.0)[0]
    with pytest.raises(ta.errors.UnsupportedArgumentError):
        function(x, 2.0, x)


def test_geomspace_refuses_zero_as_numpy_does() -> None:
    with pytest.raises(ValueError, match="cannot include zero"):
        np.geomspace(leaf(0.0)[0], 1.0)


def test_full_like_with_plain_data_is_a_constant_to_fill() -> None:
    x = leaf(1.0, 2.0, 3.0)
    filled = np.full_like(x, 7.0)
    filled[1] = x[0]
    np.testing.assert_array_equal(filled.data, [7.0, 1.0, 7.0])
    np.testing.assert_array_equal(np.sum(filled).grad().wrt(x), [1.0, 0.0, 0.0])


def test_full_like_with_a_handle_can_be_filled_too() -> None:
    x = leaf(1.0, 2.0, 3.0)
    filled = np.full_like(x, x[2])
    filled[0] = 0.0
    np.testing.assert_array_equal(np.sum(filled).grad().wrt(x), [0.0, 0.0, 2.0])


def test_full_like_of_an_integer_dtype_is_plain() -> None:
    x = leaf(1.5)
    assert type(np.full_like(x, x[0], dtype=int)) is np.ndarray


def test_a_list_of_handles_is_not_filled_with_in_silence() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(ta.errors.ConversionError, match=r"np\.stack"):
        np.full_like(x, [x[0], x[1]])


def test_filling_a_plain_array_is_refused() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(ta.errors.ConversionError, match="drop its gradient"):
        np.full((2, 2), x)
    with pytest.raises(ta.errors.UnsupportedArgumentError, match=r"np\.copyto"):
        np.full((2, 2), x, dtype=float)
    with pytest.raises(ta.errors.UnsupportedArgumentError, match=r"np.where\(np.eye"):
        np.fill_diagonal(np.full_like(x, 0.0, shape=(2, 2)), 1.0)


@pytest.mark.parametrize("function", [np.ascontiguousarray, np.asfortranarray, np.asarray])
def test_functions_that_do_not_dispatch_say_so(function: Any) -> None:
    with pytest.raises(ta.errors.ConversionError, match="drop its gradient"):
        function(leaf(1.0))


@pytest.mark.parametrize("function", [np.tril, np.triu])
def test_what_a_triangle_leaves_out_contributes_nothing(function: Any) -> None:
    x = tensor(np.array([[4.0, 0.0], [0.0, 4.0]]))
    with np.errstate(divide="ignore"):
        gradient = np.sum(function(np.sqrt(x), 2 if function is np.triu else -2)).grad().wrt(x)
    np.testing.assert_array_equal(gradient, np.zeros((2, 2)))

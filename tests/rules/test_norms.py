"""Norms at 0, where elements, sums or singular values tie, and condition numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.shorthand import gradient

Array = Any
Function = Callable[..., Any]

INF = np.inf
VECTOR_ORDERS: tuple[Any, ...] = (None, 2, 1, 0, INF, -INF, 3, 1.5, 0.5, -1, -2)
MATRIX_ORDERS: tuple[Any, ...] = (None, "fro", "nuc", 1, -1, 2, -2, INF, -INF)


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("order", VECTOR_ORDERS)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # NumPy's, for 0 ** -1
def test_a_vector_norm_at_zero_has_gradient_zero(order: Any, dtype: Any) -> None:
    zero = np.zeros((2, 3), dtype)
    found = gradient(lambda x: np.linalg.norm(x, order, axis=1), zero)
    np.testing.assert_array_equal(found, zero, strict=True)


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("order", MATRIX_ORDERS)
def test_a_matrix_norm_at_zero_has_gradient_zero(order: Any, dtype: Any) -> None:
    zero = np.zeros((2, 3, 4), dtype)
    found = gradient(lambda x: np.linalg.norm(x, order, axis=(1, 2)), zero)
    np.testing.assert_array_equal(found, zero, strict=True)


@pytest.mark.parametrize("order", VECTOR_ORDERS)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # NumPy's, for 0 ** -1
def test_an_element_that_is_zero_gets_no_gradient(order: Any) -> None:
    found = gradient(lambda x: np.linalg.norm(x, order), [3.0, 0.0, -4.0])
    assert found[1] == 0
    assert np.isfinite(found).all()


@pytest.mark.parametrize("order", [INF, -INF])
def test_magnitudes_that_tie_share_the_gradient(order: float) -> None:
    found = gradient(lambda x: np.linalg.norm(x, order), [1.0, -1.0])
    np.testing.assert_array_equal(found, [0.5, -0.5])


@pytest.mark.parametrize(("order", "axis"), [(1, 0), (-1, 0), (INF, 1), (-INF, 1)])
def test_sums_that_tie_share_the_gradient(order: float, axis: int) -> None:
    found = gradient(lambda x: np.linalg.norm(x, order), [[1.0, -2.0], [2.0, 1.0]])
    np.testing.assert_array_equal(found, [[0.5, -0.5], [0.5, 0.5]])


@pytest.mark.parametrize("order", [2, -2])
def test_singular_values_that_tie_share_the_gradient(order: int) -> None:
    found = gradient(lambda x: np.linalg.norm(x, order), np.eye(3))
    np.testing.assert_allclose(found, np.eye(3) / 3, atol=1e-15)


def test_the_nuclear_norm_leaves_out_what_is_zero() -> None:
    found = gradient(lambda x: np.linalg.norm(x, "nuc"), np.diag([2.0, 1.0, 0.0]))
    np.testing.assert_allclose(found, np.diag([1.0, 1.0, 0.0]), atol=1e-15)


def test_the_number_of_elements_that_are_not_zero_has_gradient_zero() -> None:
    of_elements = gradient(lambda x: np.linalg.norm(x, 0), [1.0, 0.0, 2.0])
    of_vectors = gradient(lambda x: np.linalg.vector_norm(x, axis=0, ord=0), np.ones((2, 3)))
    np.testing.assert_array_equal(of_elements, np.zeros(3))
    np.testing.assert_array_equal(of_vectors, np.zeros((2, 3)))


@pytest.mark.parametrize("order", [np.float64(3.0), np.int64(3), 3.0])
def test_the_dtype_of_the_order_does_not_promote(order: Any) -> None:
    single = np.array([3.0, -4.0], np.float32)
    found = gradient(lambda x: np.linalg.norm(x, order), single)
    assert found.dtype == np.float32


def test_an_unknown_order_is_numpys_error() -> None:
    handle = ta.ComputationRecord().tensor(np.ones((2, 2)))
    order: Any = "euclid"
    with pytest.raises(ta.errors.ShapeError, match="Invalid norm order for matrices"):
        np.linalg.norm(handle, order)


# Condition numbers


@pytest.mark.parametrize("p", [None, 2, -2])
def test_the_condition_number_is_stationary_at_orthogonal_matrices(p: Any) -> None:
    found = gradient(lambda x: np.linalg.cond(x, p), np.array([[0.6, 0.8], [-0.8, 0.6]]))
    np.testing.assert_allclose(found, np.zeros((2, 2)), atol=1e-15)


def test_the_condition_number_of_a_singular_matrix_is_numpys() -> None:
    handle = ta.ComputationRecord().tensor(np.diag([1.0, 0.0]))
    values = [np.linalg.cond(handle, p) for p in (None, -2, 1, "fro")]
    assert [value.item() for value in values] == [INF, 0.0, INF, INF]


def test_the_gradient_of_an_infinite_condition_number_is_not_finite_or_an_error() -> None:
    handle = ta.ComputationRecord().tensor(np.diag([1.0, 0.0]))
    with np.errstate(all="ignore"):
        found = np.linalg.cond(handle).grad().wrt(handle)
    assert not np.isfinite(found).all()
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        np.linalg.cond(handle, 1).grad()


@pytest.mark.parametrize("order", [1, -1, INF])
def test_a_foreign_byte_order_changes_nothing(order: Any) -> None:
    value = np.array([[1.0, -2.0], [0.5, 3.0]])
    found = gradient(lambda x: np.linalg.norm(x, order) + np.sign(x), value.astype(">f8"))
    np.testing.assert_array_equal(
        found, gradient(lambda x: np.linalg.norm(x, order) + 0, value) * 4
    )

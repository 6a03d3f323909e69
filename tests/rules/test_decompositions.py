"""Decompositions at equal and at vanishing values, their conventions and their errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.rules.checks import close, gradients

Array = Any
Function = Callable[..., Any]

ROTATION = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
DEGENERATE = {
    "identity": np.eye(4),
    "zero": np.zeros((4, 4)),
    "two pairs": np.diag([1.0, 1.0, 2.0, 2.0]),
    "equal up to rounding": ROTATION @ np.diag([1.0, 1.0, 1.0, 3.0]) @ ROTATION.T,
    "orthogonal": ROTATION,
    "complex": np.diag([1.0, 1.0, 2.0, 2.0]) * 1j,
}
every_degenerate = pytest.mark.parametrize("a", DEGENERATE.values(), ids=list(DEGENERATE))


def gradient(function: Function, *values: Array) -> list[Array]:
    """Differentiate the real part of the sum of a function with respect to each operand."""
    record = ta.ComputationRecord()
    handles = [record.tensor(value) for value in values]
    return list(np.sum(np.real(function(*handles))).grad().wrt(handles))


def second(function: Function, a: Array) -> Array:
    """Differentiate the sum of the squares of the gradient of a function."""
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    at = outer.tensor(a)
    handle = inner.tensor(at)
    first = np.sum(np.real(function(handle))).grad().wrt(handle)
    return gradients(np.sum(np.real(first * first.conj())), [at])[0]


# Equal values


@every_degenerate
def test_the_sum_of_eigenvalues_has_the_gradient_of_the_trace(a: Array) -> None:
    hermitian = a + a.conj().T
    close(gradient(np.linalg.eigvalsh, hermitian), [np.eye(4, dtype=a.dtype)], 1e-14)
    close(gradient(lambda a: np.linalg.eigh(a)[0], hermitian), [np.eye(4, dtype=a.dtype)], 1e-14)
    close(gradient(np.linalg.eigvals, a), [np.eye(4, dtype=a.dtype)], 1e-13)


@every_degenerate
def test_the_sum_of_eigenvalues_has_second_derivative_zero(a: Array) -> None:
    close([second(np.linalg.eigvalsh, a + a.conj().T)], [np.zeros_like(a)], 1e-13)


@every_degenerate
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("output", [0, 1, 2])
def test_singular_vectors_and_values_have_finite_gradients(
    a: Array, full: bool, output: int
) -> None:
    wide = np.concatenate([a, a], axis=1)
    (found,) = gradient(lambda a: np.linalg.svd(a, full_matrices=full)[output], wide)
    assert np.isfinite(found).all()


@every_degenerate
def test_eigenvectors_have_finite_gradients(a: Array) -> None:
    (of_hermitian,) = gradient(lambda a: np.linalg.eigh(a)[1], a + a.conj().T)
    (of_any,) = gradient(lambda a: np.linalg.eig(a)[1], a)
    assert np.isfinite(of_hermitian).all()
    assert np.isfinite(of_any).all()


def test_the_projection_on_equal_eigenvalues_has_the_right_gradient() -> None:
    a, weights = DEGENERATE["equal up to rounding"], np.cos(np.arange(16.0)).reshape(4, 4)

    def projection(a: Array) -> Array:
        v = np.linalg.eigh(a)[1][:, :3]
        return v @ v.T * weights

    last = ROTATION[:, 3:]
    onto = last @ last.T
    symmetric = (weights + weights.T) / 2
    change = -(onto @ symmetric @ (np.eye(4) - onto) + (np.eye(4) - onto) @ symmetric @ onto) / 2
    expected = np.tril(change + change.T) - np.diag(np.diag(change))
    close(gradient(projection, a), [expected], 1e-14)


def test_the_gradient_through_a_whole_decomposition_is_the_identity() -> None:
    a, weights = np.random.default_rng(1).standard_normal((2, 4, 3))

    def rebuilt(a: Array) -> Array:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (u * s) @ vh * weights

    close(gradient(rebuilt, a), [weights], 1e-13)


def test_the_orthogonal_factor_has_the_right_gradient_where_singular_values_are_equal() -> None:
    weights = np.random.default_rng(2).standard_normal((4, 4))

    def orthogonal(a: Array) -> Array:
        u, _, vh = np.linalg.svd(a)
        return u @ vh * weights

    # U + dU is orthogonal again, so that dU is U times the skew part of the change
    close(gradient(orthogonal, 3 * np.eye(4)), [(weights - weights.T) / 6], 1e-14)
    inside = ROTATION.T @ weights
    close(gradient(orthogonal, ROTATION), [ROTATION @ (inside - inside.T) / 2], 1e-13)


# Triangles


@pytest.mark.parametrize(
    ("function", "upper"),
    [
        (np.linalg.cholesky, False),
        (lambda a: np.linalg.cholesky(a, upper=True), True),
        (np.linalg.eigvalsh, False),
        (lambda a: np.linalg.eigvalsh(a, UPLO="U"), True),
        (lambda a: np.linalg.eigh(a, "L")[1], False),
        (lambda a: np.linalg.eigh(a, "u")[1], True),
        (lambda a: np.linalg.svd(a, hermitian=True)[0], False),
        (lambda a: np.linalg.svd(a, hermitian=True)[2], False),
        (lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True), False),
    ],
)
def test_a_triangle_that_is_not_read_gets_no_gradient(function: Function, upper: bool) -> None:
    a = np.diag([2.0, 3.0, 4.0]) + 0.1
    read = np.triu(a) if upper else np.tril(a)
    (found,) = gradient(function, read)
    np.testing.assert_array_equal(np.tril(found, -1) if upper else np.triu(found, 1), 0)
    close(gradient(function, a), [found], 1e-14)


# Where there is no derivative


def test_qr_of_dependent_columns_has_values_and_no_gradient() -> None:
    handle = ta.ComputationRecord().tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    _, r = np.linalg.qr(handle)
    np.testing.assert_array_equal(np.abs(r.data), [[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError, match="columns of the matrix are linearly dependent"):
        np.sum(r).grad()


@pytest.mark.parametrize("function", [np.linalg.eigvals, lambda a: np.linalg.eig(a)[1]])
def test_a_defective_matrix_has_eigenvalues_and_no_gradient(function: Function) -> None:
    handle = ta.ComputationRecord().tensor([[0.0, 1.0], [0.0, 0.0]])
    out = function(handle)
    with pytest.raises(np.linalg.LinAlgError, match="the matrix is defective"):
        np.sum(out).grad()


def test_raw_qr_is_refused() -> None:
    handle = ta.ComputationRecord().tensor(np.eye(2))
    with pytest.raises(ta.errors.UnsupportedArgumentError, match="write mode='reduced'"):
        np.linalg.qr(handle, "raw")


def test_an_indefinite_matrix_is_numpys_error() -> None:
    handle = ta.ComputationRecord().tensor(-np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        np.linalg.cholesky(handle)


# The kinds of result


def test_results_are_named_as_numpys() -> None:
    handle = ta.ComputationRecord().tensor(np.diag([2.0, 1.0]))
    assert np.linalg.svd(handle).S.shape == (2,)
    assert np.linalg.eigh(handle).eigenvectors.shape == (2, 2)
    assert np.linalg.eig(handle).eigenvalues.shape == (2,)
    assert np.linalg.qr(handle).R.shape == (2, 2)


def test_real_matrices_with_complex_eigenvalues_have_real_gradients() -> None:
    (found,) = gradient(lambda a: np.linalg.eig(a)[0].imag ** 2, [[0.0, 2.0], [-0.5, 0.0]])
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, [[0.0, 1.0], [-4.0, 0.0]], atol=1e-14)


def test_values_alone_hold_no_vectors() -> None:
    record = ta.ComputationRecord()
    handle = record.tensor(np.diag([1.0, 2.0, 3.0]))
    for function in (np.linalg.svdvals, np.linalg.eigvalsh, np.linalg.eigvals, np.linalg.det):
        function(handle)
    assert record.nbytes <= handle.nbytes + 8

"""Decompositions at equal and at vanishing values, their conventions and their errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.rules.checks import close, gradients
from tests.shorthand import gradients_of

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


def second(function: Function, a: Array, weights: Array | None = None) -> Array:
    """Differentiate the weighted sum of a function's gradient, or the sum of its squares."""
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    at = outer.tensor(a)
    handle = inner.tensor(at)
    first = np.sum(np.real(function(handle))).grad().wrt(handle)
    by = first.conj() if weights is None else weights
    return gradients(np.sum(np.real(first * by)), [at])[0]


# Equal values


@every_degenerate
def test_the_sum_of_eigenvalues_has_the_gradient_of_the_trace(a: Array) -> None:
    hermitian = a + a.conj().T
    close(gradients_of(np.linalg.eigvalsh, hermitian), [np.eye(4, dtype=a.dtype)], 1e-14)
    close(
        gradients_of(lambda a: np.linalg.eigh(a)[0], hermitian), [np.eye(4, dtype=a.dtype)], 1e-14
    )
    close(gradients_of(np.linalg.eigvals, a), [np.eye(4, dtype=a.dtype)], 1e-13)


@every_degenerate
def test_the_sum_of_eigenvalues_has_second_derivative_zero(a: Array) -> None:
    close([second(np.linalg.eigvalsh, a + a.conj().T)], [np.zeros_like(a)], 1e-13)


@every_degenerate
@pytest.mark.parametrize("full", [True, False])
def test_singular_values_beside_vectors_have_the_gradient_of_their_sum(
    a: Array, full: bool
) -> None:
    wide = np.concatenate([a, a], axis=1)
    found = gradients_of(lambda a: np.linalg.svd(a, full_matrices=full)[1], wide)
    close(found, gradients_of(np.linalg.svdvals, wide), 1e-14)
    assert np.isfinite(found[0]).all()


def rebuilt_hermitian(a: Array) -> Array:
    w, v = np.linalg.eigh(a)
    return (v * w[..., None, :]) @ v.conj().mT


def square_root(a: Array) -> Array:
    w, v = np.linalg.eigh(a)
    return (v * np.sqrt(w)) @ v.conj().mT


def rebuilt(a: Array) -> Array:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * s) @ vh


def orthogonal(a: Array) -> Array:
    u, _, vh = np.linalg.svd(a)
    return u @ vh


def projection(a: Array) -> Array:
    v = np.linalg.eigh(a)[1][:, :2]
    return v @ v.T


LEFT_OPEN: dict[str, Function] = {
    "one eigenvector": lambda a: np.linalg.eigh(a)[1][:, 0],
    "all of any matrix": lambda a: np.linalg.eig(a)[1],
    "one left vector": lambda a: np.linalg.svd(a)[0][:, 2],
    "one right vector": lambda a: np.linalg.svd(a)[2][2],
    "one of a Hermitian svd": lambda a: np.linalg.svd(a, hermitian=True)[0][:, 2],
    "the matrix from its eigenvectors": rebuilt_hermitian,
    "its square root": square_root,
    "the matrix from its singular vectors": rebuilt,
    "the orthogonal factor": orthogonal,
    "a projection": projection,
}
WEIGHTS = np.cos(np.arange(16.0)).reshape(4, 4)
TIED = ROTATION @ np.diag([1.0, 1.0, 2.0, 3.0]) @ ROTATION.T


@pytest.mark.parametrize("a", [np.eye(4), np.diag([1.0, 1.0, 2.0, 3.0]), TIED])
@pytest.mark.parametrize("function", LEFT_OPEN.values(), ids=list(LEFT_OPEN))
def test_what_turns_vectors_of_equal_values_has_gradient_nan(function: Function, a: Array) -> None:
    (found,) = gradients_of(lambda a: function(a) * WEIGHTS[0], a)
    assert np.isnan(found).any()
    _, pushed = ta.jvp(function, (a,), (WEIGHTS,))
    assert np.isnan(pushed).any()


@pytest.mark.parametrize("dtype", [np.float32, complex])
def test_the_gradient_is_nan_in_every_dtype(dtype: Any) -> None:
    for function in (rebuilt_hermitian, rebuilt):
        (found,) = gradients_of(lambda a, f=function: f(a) * WEIGHTS, np.eye(4, dtype=dtype))
        assert found.dtype == dtype
        assert np.isnan(found).any()


def test_only_the_matrix_of_a_stack_that_has_equal_values_has_gradient_nan() -> None:
    stack = np.array([np.diag([1.0, 2.0, 3.0, 4.0]), np.eye(4)])
    (found,) = gradients_of(lambda a: rebuilt_hermitian(a) * WEIGHTS, stack)
    close([found[0]], [np.tril(WEIGHTS) + np.triu(WEIGHTS, 1).T], 1e-14)
    assert np.isnan(np.tril(found[1])).any()


def largest_of_any(a: Array) -> Array:
    w, v = np.linalg.eig(a)
    largest = int(np.argmax(w))
    return v[:, largest : largest + 1]


def test_a_vector_whose_own_value_is_apart_has_its_gradient() -> None:
    # a small change of the others takes them apart, and changes nothing for the last one
    apart = ROTATION @ np.diag([1.0, 1.0 + 1e-7, 1.0 - 1e-7, 3.0]) @ ROTATION.T
    functions: list[Function] = [
        lambda a: np.linalg.eigh(a)[1][:, 3:],
        lambda a: np.linalg.svd(a)[0][:, :1],
        lambda a: np.linalg.svd(a, full_matrices=False)[2][:1].T,
        largest_of_any,
    ]
    for function in functions:
        found, expected = (
            gradients_of(lambda a, f=function: f(a) @ f(a).T * WEIGHTS, each)
            for each in (DEGENERATE["equal up to rounding"], apart)
        )
        close(found, expected, 1e-6)


def test_the_further_vectors_may_be_rotated_and_have_a_gradient() -> None:
    def completing(a: Array) -> Array:
        further = np.linalg.svd(a)[2][2:]
        return further.T @ further * WEIGHTS

    wide = np.array([[1.0, 2.0, 0.5, -1.0], [0.0, 1.0, 3.0, 1.0]])

    def expected(a: Array) -> Array:
        return (np.eye(4) - np.linalg.pinv(a) @ a) * WEIGHTS

    close(gradients_of(completing, wide), gradients_of(expected, wide), 1e-13)


def test_a_second_derivative_is_nan_where_the_first_is_zero_by_chance() -> None:
    # of the square of an element that is 0
    found = second(lambda a: rebuilt_hermitian(a)[1, 0] ** 2, np.eye(4), WEIGHTS)
    assert np.isnan(found).any()


def test_the_nuclear_norm_has_its_second_derivative_where_singular_values_are_equal() -> None:
    # its gradient is the orthogonal factor U, and U + dU is orthogonal again: dU is U times the
    # skew part of the change
    def norm(a: Array) -> Array:
        return np.linalg.norm(a, "nuc")

    close([second(norm, 3 * np.eye(4), WEIGHTS)], [(WEIGHTS - WEIGHTS.T) / 6], 1e-14)
    inside = ROTATION.T @ WEIGHTS
    close([second(norm, ROTATION, WEIGHTS)], [ROTATION @ (inside - inside.T) / 2], 1e-13)


def test_the_gradient_through_a_whole_decomposition_is_the_identity() -> None:
    a, weights = np.random.default_rng(1).standard_normal((2, 4, 3))

    close(gradients_of(lambda a: rebuilt(a) * weights, a), [weights], 1e-13)


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
    (found,) = gradients_of(function, read)
    np.testing.assert_array_equal(np.tril(found, -1) if upper else np.triu(found, 1), 0)
    close(gradients_of(function, a), [found], 1e-14)


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
        np.sum(np.real(out)).grad()  # since NumPy 2.5 they are complex in any case


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
    (found,) = gradients_of(lambda a: np.linalg.eig(a)[0].imag ** 2, [[0.0, 2.0], [-0.5, 0.0]])
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, [[0.0, 1.0], [-4.0, 0.0]], atol=1e-14)


def test_values_alone_hold_no_vectors() -> None:
    record = ta.ComputationRecord()
    handle = record.tensor(np.diag([1.0, 2.0, 3.0]))
    for function in (np.linalg.svdvals, np.linalg.eigvalsh, np.linalg.eigvals, np.linalg.det):
        function(handle)
    assert record.nbytes <= handle.nbytes + 8


@pytest.mark.parametrize("values", [np.linalg.eigvalsh, np.linalg.eigvals, np.linalg.svdvals])
def test_second_derivatives_of_functions_of_equal_values_are_never_wrong_numbers(
    values: Callable[[Any], Any],
) -> None:
    found = ta.hessian(lambda a: np.sum(np.real(values(a)) ** 2))(np.eye(2))
    assert np.isnan(found).any()
    apart = ta.hessian(lambda a: np.sum(np.real(values(a)) ** 2))(np.diag([1.0, 2.0]))
    assert np.isfinite(apart).all()

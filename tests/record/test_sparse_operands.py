"""Arithmetic of handles with constant matrices of `scipy.sparse`: every format, every operator."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import tape_ad as ta
import tape_ad.scipy.sparse
from tape_ad.errors import ConversionError, UnsupportedArgumentError
from tape_ad.testing import check_grads

Array = Any

DENSE = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
X = np.array([[1.5, -2.0, 0.5], [0.3, 1.2, -0.7], [2.0, 0.4, 1.1]])
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv)

every_format = pytest.mark.parametrize("form", FORMATS)


def gradient(function: Callable[[Array], Array]) -> Array:
    x = ta.ComputationRecord().tensor(X)
    return np.sum(function(x) * X).grad().wrt(x)


@every_format
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("function", OPERATORS)
def test_a_sparse_operand_on_the_left(form: str, kind: str, function: Any) -> None:
    matrix = getattr(scipy.sparse, f"{form}_{kind}")(DENSE)
    plain = np.matmul if kind == "matrix" and function is operator.mul else function
    x = ta.ComputationRecord().tensor(X)
    np.testing.assert_allclose(function(matrix, x).data, plain(DENSE, X))
    np.testing.assert_allclose(
        gradient(lambda x: function(matrix, x)), gradient(lambda x: plain(DENSE, x))
    )


@every_format
@pytest.mark.parametrize("function", OPERATORS[:3])
def test_a_sparse_array_on_the_right(form: str, function: Any) -> None:
    matrix = getattr(scipy.sparse, f"{form}_array")(DENSE)
    x = ta.ComputationRecord().tensor(X)
    np.testing.assert_allclose(function(x, matrix).data, function(X, DENSE))
    np.testing.assert_allclose(
        gradient(lambda x: function(x, matrix)), gradient(lambda x: function(x, DENSE))
    )


def test_an_asterisk_of_a_sparse_matrix_is_a_product_of_matrices() -> None:
    matrix = scipy.sparse.csr_matrix(DENSE)
    x = ta.ComputationRecord().tensor(X)
    np.testing.assert_allclose((matrix * x).data, DENSE @ X)
    np.testing.assert_allclose((x * matrix).data, X @ DENSE)


def test_in_place_arithmetic() -> None:
    x = ta.ComputationRecord().tensor(X)
    y = x * 1
    y += scipy.sparse.csr_array(DENSE)
    y *= scipy.sparse.csr_array(DENSE)
    np.testing.assert_allclose(y.data, (X + DENSE) * DENSE)
    np.testing.assert_allclose(np.sum(y).grad().wrt(x), DENSE)


def test_comparisons_are_plain() -> None:
    x = ta.ComputationRecord().tensor(X)
    np.testing.assert_array_equal(x < scipy.sparse.csr_array(DENSE), X < DENSE)


@every_format
@pytest.mark.parametrize(
    "function",
    [
        lambda a, x: x[0, 0] / a,
        lambda a, x: x / a,
        lambda a, x: a + x[0, 0],
        lambda a, x: np.maximum(x, a),
        lambda a, x: np.where(x > 0, x, a),
        lambda a, x: a.multiply(x),
    ],
)
def test_what_would_make_the_matrix_dense_is_refused(form: str, function: Any) -> None:
    matrix = getattr(scipy.sparse, f"{form}_array")(DENSE)
    x = ta.ComputationRecord().tensor(X)
    with pytest.raises((UnsupportedArgumentError, ConversionError)):
        function(matrix, x)


@every_format
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize(
    "function",
    [
        lambda a, s: s * a,
        lambda a, s: a * s,
        lambda a, s: np.multiply(s, a),
        lambda a, s: a / s,
        lambda a, s: s * a + a,
        lambda a, s: a - a / s,
    ],
    ids=["s * a", "a * s", "multiply", "a / s", "s * a + a", "a - a / s"],
)
def test_a_number_times_a_sparse_array_is_sparse(form: str, kind: str, function: Any) -> None:
    matrix = getattr(scipy.sparse, f"{form}_{kind}")(DENSE)
    s = ta.ComputationRecord().tensor(2.5)
    found, expected = function(matrix, s), function(matrix, np.float64(2.5))
    assert isinstance(found, getattr(ta.scipy.sparse, type(found).__name__))
    assert type(found).__name__.endswith(kind)
    np.testing.assert_allclose(found.toarray().data, expected.toarray(), rtol=1e-15)
    check_grads(lambda s: function(matrix, s).toarray(), (2.5,), order=2)
    check_grads(lambda s: function(matrix, s) @ (X[0] / s), (2.5,), order=2)


@every_format
def test_a_number_times_a_sparse_array_keeps_its_format(form: str) -> None:
    matrix = getattr(scipy.sparse, f"{form}_array")(DENSE)
    s = ta.ComputationRecord().tensor(2.5)
    assert (s * matrix).format == (matrix * s).format == form
    assert (matrix / s).format == ("csr" if form in ("dok", "lil") else form)


def test_a_column_format_is_not_transposed_by_a_number() -> None:
    matrix = scipy.sparse.csc_array(np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]]))
    s = ta.ComputationRecord().tensor(2.0)
    np.testing.assert_array_equal((s * matrix).toarray().data, 2.0 * matrix.toarray())


def test_a_sparse_array_of_one_axis_beside_a_number_is_refused() -> None:
    s = ta.ComputationRecord().tensor(2.0)
    with pytest.raises(UnsupportedArgumentError, match="two axes"):
        s * scipy.sparse.coo_array(np.array([1.0, 0.0, 2.0]))


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dia", "lil"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_products_of_a_compiled_function_are_those_of_scipy(form: str, kind: str) -> None:
    matrix = getattr(scipy.sparse, f"{form}_{kind}")(DENSE)

    def products(x: Array) -> Any:
        own = (matrix * x, x * matrix) if kind == "matrix" else ()
        return matrix @ x, matrix.T @ x[:, 0], x @ matrix, matrix @ (x > 1), *own

    compiled = ta.compile(products, engine="numpy")
    for k in range(4):
        for found, expected in zip(compiled(X + k), products(X + k), strict=True):
            assert type(found) is np.ndarray
            np.testing.assert_array_equal(found, expected, strict=True)
    assert len(compiled.programs) == 1
    batch = np.stack([X, X + 1])
    for found, *expected in zip(ta.batched(products)(batch), *map(products, batch), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_a_compiled_product_follows_its_matrix() -> None:
    matrix = scipy.sparse.csr_array(DENSE)
    compiled = ta.compile(lambda x: matrix @ x)
    for k in range(3):
        compiled(X + k)
    matrix.data[0] = 50.0
    np.testing.assert_array_equal(compiled(X), matrix @ X)


def test_sums_beside_a_sparse_array_in_programs_and_batches() -> None:
    matrix = scipy.sparse.csr_array(DENSE)

    def sums(x: Array) -> Any:
        return matrix + x, x - matrix, matrix - x, (x[0, 0] * matrix) @ x

    expected = sums(X)
    compiled, batched = ta.compile(sums), ta.batched(sums)
    of_one = [each[1] for each in batched(np.stack([X + 1, X]))]
    for found in (*(compiled(X) for _ in range(4)), of_one):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other)


def test_comparisons_with_a_sparse_array_in_programs() -> None:
    matrix = scipy.sparse.csr_array(DENSE)
    compiled = ta.compile(lambda x: (matrix > x, x == matrix))
    for k in range(4):
        greater, equal = compiled(X.round() + k)
        np.testing.assert_array_equal(greater, X.round() + k < DENSE, strict=True)
        np.testing.assert_array_equal(equal, X.round() + k == DENSE, strict=True)


def test_what_ends_in_code_in_c_is_refused_in_a_program() -> None:
    matrix = scipy.sparse.csr_array(DENSE)
    for function in (
        lambda x: matrix * x[0, 0],
        lambda x: matrix / x[0, 0],
        lambda x: scipy.sparse.linalg.aslinearoperator(matrix) @ x,
    ):
        with pytest.raises(ta.errors.CaptureError, match=r"scipy\.sparse"):
            ta.compile(function)(X)


def test_an_empty_array_that_does_not_fit_is_an_error_in_a_batch_too() -> None:
    matrix = scipy.sparse.csr_array(DENSE)
    with pytest.raises(ValueError, match="dimension mismatch"):
        ta.batched(lambda x: x @ matrix)(np.zeros((2, 3, 0)))
    with pytest.raises(ValueError, match="dimension mismatch"):
        ta.batched(lambda x: matrix @ x)(np.zeros((2, 0, 3)))

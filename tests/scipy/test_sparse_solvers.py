"""The sparse solvers of `tape_ad.scipy.sparse.linalg`: against SciPy's values, and differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import tape_ad as ta
from tape_ad.errors import ConversionError, UnsupportedArgumentError
from tape_ad.scipy import sparse
from tape_ad.scipy.sparse import linalg as sparse_linalg
from tape_ad.testing import check_grads

Array = Any

RNG = np.random.default_rng(5)
N = 5
DENSE = np.where(RNG.random((N, N)) < 0.5, RNG.normal(size=(N, N)), 0) + 4 * np.eye(N)
MATRIX = scipy.sparse.csr_array(DENSE)
SYMMETRIC = scipy.sparse.csr_array(DENSE @ DENSE.T)
LOWER = scipy.sparse.csr_array(np.tril(DENSE))
VECTOR, COLUMNS = RNG.normal(size=N), RNG.normal(size=(N, 2))
SIDES = pytest.mark.parametrize("b", [VECTOR, COLUMNS], ids=["vector", "matrix"])
EXACT = {"rtol": 1e-13}
UNSYMMETRIC = ("bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "qmr", "tfqmr")


def of(data: Array, matrix: Any = MATRIX) -> Any:
    """Make a matrix with other elements in the same places."""
    return sparse.csr_array((data, matrix.indices, matrix.indptr), matrix.shape)


def checked(function: Callable[..., Array], expected: Array, *operands: Array) -> None:
    """Check the value, and two orders of derivatives against differences."""
    np.testing.assert_allclose(function(*operands), expected, atol=1e-10)
    record = ta.ComputationRecord()
    found = function(*map(record.tensor, operands))
    np.testing.assert_allclose(found.data, expected, atol=1e-10)
    check_grads(function, operands, order=2)


@SIDES
def test_spsolve(b: Array) -> None:
    expected = np.linalg.solve(DENSE, b)
    checked(lambda b: sparse_linalg.spsolve(MATRIX, b), expected, b)
    checked(lambda data, b: sparse_linalg.spsolve(of(data), b), expected, MATRIX.data, b)


def test_spsolve_gives_a_vector_for_one_column_as_scipy_does() -> None:
    b = ta.ComputationRecord().tensor(COLUMNS[:, :1])
    assert sparse_linalg.spsolve(MATRIX, b).shape == (N,)


def test_a_matrix_given_by_its_arrays() -> None:
    arrays = MATRIX.data, MATRIX.indices, MATRIX.indptr
    checked(
        lambda data: sparse_linalg.spsolve((data, *arrays[1:]), VECTOR),
        np.linalg.solve(DENSE, VECTOR),
        MATRIX.data,
    )


@SIDES
@pytest.mark.parametrize("unit", [False, True])
def test_spsolve_triangular(b: Array, unit: bool) -> None:
    full = np.tril(DENSE, -1) + np.eye(N) if unit else np.tril(DENSE)
    checked(
        lambda data, b: sparse_linalg.spsolve_triangular(of(data, LOWER), b, unit_diagonal=unit),
        np.linalg.solve(full, b),
        *(LOWER.data, b),
    )
    checked(
        lambda b: sparse_linalg.spsolve_triangular(
            LOWER.T.tocsr(), b, lower=False, unit_diagonal=unit
        ),
        np.linalg.solve(full.T, b),
        b,
    )


@SIDES
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_splu(b: Array, trans: str) -> None:
    expected = np.linalg.solve(DENSE if trans == "N" else DENSE.T, b)
    factors = sparse_linalg.splu(MATRIX.tocsc())
    checked(lambda b: factors.solve(b, trans), expected, b)
    checked(lambda data, b: sparse_linalg.splu(of(data)).solve(b, trans), expected, MATRIX.data, b)
    assert factors.shape == (N, N)


@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_spilu(trans: str) -> None:
    factors = sparse_linalg.spilu(MATRIX.tocsc())
    plain = scipy.sparse.linalg.spilu(MATRIX.tocsc()).solve(VECTOR, trans)
    checked(lambda b: factors.solve(b, trans), plain, VECTOR)
    with pytest.raises(UnsupportedArgumentError, match="incomplete"):
        sparse_linalg.spilu(of(ta.ComputationRecord().tensor(MATRIX.data)))


def test_factorized() -> None:
    solve = sparse_linalg.factorized(MATRIX.tocsc())
    checked(solve, np.linalg.solve(DENSE, VECTOR), VECTOR)


@pytest.mark.parametrize("name", UNSYMMETRIC)
def test_iterations(name: str) -> None:
    iterate = getattr(sparse_linalg, name)
    expected = np.linalg.solve(DENSE, VECTOR)
    checked(lambda b: iterate(MATRIX, b, **EXACT)[0], expected, VECTOR)
    checked(lambda data: iterate(of(data), VECTOR, **EXACT)[0], expected, MATRIX.data)


@pytest.mark.parametrize("name", ["cg", "minres"])
def test_iterations_of_symmetric_matrices(name: str) -> None:
    iterate = getattr(sparse_linalg, name)
    expected = np.linalg.solve(DENSE @ DENSE.T, VECTOR)
    checked(lambda b: iterate(SYMMETRIC, b, **EXACT)[0], expected, VECTOR)


def test_iterations_of_other_kinds_of_matrices() -> None:
    expected = np.linalg.solve(DENSE, VECTOR)
    checked(lambda a, b: sparse_linalg.gmres(a, b, **EXACT)[0], expected, DENSE, VECTOR)
    operator = scipy.sparse.linalg.aslinearoperator(MATRIX)
    checked(lambda b: sparse_linalg.gmres(operator, b, **EXACT)[0], expected, VECTOR)
    scaled = scipy.sparse.diags_array(1 / MATRIX.diagonal())
    checked(lambda b: sparse_linalg.bicgstab(MATRIX, b, M=scaled, **EXACT)[0], expected, VECTOR)


def test_an_operator_that_holds_a_handle_is_solved_by_its_matrix() -> None:
    expected = scipy.linalg.solve(DENSE, VECTOR)
    operator = ta.scipy.sparse.linalg.aslinearoperator
    checked(lambda a, b: sparse_linalg.gmres(operator(a), b, **EXACT)[0], expected, DENSE, VECTOR)
    with pytest.raises(ConversionError, match=r"in tape_ad\.scipy\.sparse\.linalg"):
        scipy.sparse.linalg.gmres(of(ta.ComputationRecord().tensor(MATRIX.data)), VECTOR)


def test_an_iteration_tells_how_it_ended() -> None:
    b = ta.ComputationRecord().tensor(VECTOR)
    assert sparse_linalg.cg(SYMMETRIC, b, maxiter=1, **EXACT)[1] == 1


@SIDES
def test_expm_multiply(b: Array) -> None:
    whole = scipy.linalg.expm(DENSE / 9)
    checked(lambda b: sparse_linalg.expm_multiply(MATRIX / 9, b), whole @ b, b)
    times = np.stack([b, scipy.linalg.expm(DENSE / 18) @ b, whole @ b])
    given: Any = {"start": 0, "stop": 1, "num": 3, "endpoint": True}
    checked(lambda b: sparse_linalg.expm_multiply(MATRIX / 9, b, **given), times, b)


@pytest.mark.parametrize("kind", ["csr", "lil", "dok", "dia"])
def test_expm_multiply_by_the_matrix(kind: str) -> None:
    whole = scipy.linalg.expm(DENSE / 9)
    checked(
        lambda data, b: sparse_linalg.expm_multiply(of(data / 9).asformat(kind), b),
        *(whole @ VECTOR, MATRIX.data, VECTOR),
    )
    given: Any = {"start": 0, "stop": 1, "num": 2, "endpoint": True}
    times = np.stack([VECTOR, whole @ VECTOR])
    checked(lambda a: sparse_linalg.expm_multiply(a / 9, VECTOR, **given), times, DENSE)


def test_products_with_elements_that_are_a_handle() -> None:
    checked(lambda data, x: of(data) @ x, DENSE @ COLUMNS, MATRIX.data, COLUMNS)
    checked(lambda data, x: x @ of(data), COLUMNS.T @ DENSE, MATRIX.data, COLUMNS.T.copy())
    checked(lambda data, x: of(data).T @ x, DENSE.T @ VECTOR, MATRIX.data, VECTOR)
    checked(lambda data: of(data).toarray(), DENSE, MATRIX.data)


def test_what_has_no_derivative_says_so() -> None:
    t: Any = ta.ComputationRecord().tensor(VECTOR)
    with pytest.raises(UnsupportedArgumentError, match="x0"):
        sparse_linalg.cg(SYMMETRIC, VECTOR, x0=t)
    with pytest.raises(UnsupportedArgumentError, match="expm"):
        sparse_linalg.expm_multiply(MATRIX, VECTOR, start=t[0])
    with pytest.raises(UnsupportedArgumentError, match="csr_array"):
        sparse_linalg.spsolve(t, VECTOR)


def test_scipys_own_functions_say_what_they_were_given() -> None:
    own = scipy.sparse.linalg
    t: Any = ta.ComputationRecord().tensor(VECTOR)
    with pytest.raises(TypeError, match=r"must be numpy.ndarray, not tape_ad\.Tensor"):
        own.splu(MATRIX.tocsc()).solve(t)
    with pytest.raises(TypeError, match="type not understood"):
        own.svds(t[:, None] * t, k=2)
    for solve in (own.lsqr, own.lsmr):  # which give plain zeros for zeros
        with pytest.raises(
            ConversionError, match=rf"{solve.__name__} of \S+ gives a solution of plain"
        ):
            solve(MATRIX, 0 * t)


def test_a_handle_is_no_linear_operator() -> None:
    t: Any = ta.ComputationRecord().tensor(VECTOR)
    assert not hasattr(t, "matvec")
    assert not hasattr(ta.Tensor, "matvec")

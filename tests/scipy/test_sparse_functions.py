"""Operators and functions of sparse matrices: against SciPy's values, and differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import sparse
from tape_ad.scipy.sparse import linalg
from tape_ad.testing import check_grads

Array = Any

DENSE = np.array([[2.0, 0.0, 0.4], [-0.7, 1.5, 0.0], [0.0, 0.3, 3.0]])
MATRIX = scipy.sparse.csc_array(DENSE)
WIDE = np.array([[0.5, 0.0, 1.2], [0.0, -0.8, 0.3]])
VECTOR, COLUMNS = np.array([0.5, -1.0, 2.0]), np.array([[1.0, 2.0], [0.3, -0.4], [0.7, 0.1]])


def of(data: Array) -> Any:
    """Make the matrix of other elements, in SciPy's way for plain ones."""
    return sparse.csc_array((data, MATRIX.indices, MATRIX.indptr), MATRIX.shape)


def dense(result: Any) -> Any:
    return result.toarray() if hasattr(result, "toarray") else result


def agrees(program: Callable[..., Any], *operands: Array, expected: Any = None) -> None:
    """Check the value, and two orders of derivatives by differences."""
    found = dense(program(*map(ta.ComputationRecord().tensor, operands)))
    plain = dense(program(*operands)) if expected is None else expected
    assert isinstance(found, ta.Tensor)
    np.testing.assert_allclose(found.data, plain, atol=1e-11)
    check_grads(lambda *each: dense(program(*each)), operands, order=2)


# Operators


def taking_plain_numbers(x: Array) -> Array:
    return np.array([x[0] + 2 * x[2], 3 * x[1]])


def back(y: Array) -> Array:
    return np.array([y[0], 3 * y[1], 2 * y[0]])


@pytest.mark.parametrize("rmatvec", [back, None], ids=["with adjoint", "without"])
def test_an_operator_of_a_function_of_plain_numbers(rmatvec: Any) -> None:
    operator = linalg.LinearOperator((2, 3), taking_plain_numbers, rmatvec)
    agrees(lambda x: operator @ x + operator.matvec(x), VECTOR)
    agrees(lambda x: operator @ x, COLUMNS)
    theirs = scipy.sparse.linalg.LinearOperator((2, 3), taking_plain_numbers)
    assert operator.dtype == theirs.dtype


def test_its_adjoint() -> None:
    operator = linalg.LinearOperator((2, 3), taking_plain_numbers, back)
    agrees(
        lambda y: operator.rmatvec(y) + operator.H @ y + operator.T @ y + y @ operator, WIDE[:, 0]
    )
    agrees(
        lambda x: (operator.H @ operator) @ x, VECTOR, expected=back(taking_plain_numbers(VECTOR))
    )


@pytest.mark.parametrize(
    "made", [linalg.aslinearoperator, lambda a: linalg.aslinearoperator(sparse.csr_array(a))]
)
def test_operators_of_matrices_that_are_handles(made: Callable[[Any], Any]) -> None:
    agrees(lambda a, x: made(a) @ x, WIDE, VECTOR, expected=WIDE @ VECTOR)
    agrees(lambda a, x: made(a).rmatmat(x), WIDE, COLUMNS[:2], expected=WIDE.T @ COLUMNS[:2])
    agrees(lambda a: made(a) @ VECTOR + made(a) @ COLUMNS[:, 0], WIDE)
    agrees(lambda a, s: ((2 * made(a) - s[()] * made(a)) / 4) @ VECTOR, WIDE, np.array(0.5))


def test_powers_of_operators() -> None:
    agrees(
        lambda x: (linalg.aslinearoperator(DENSE) ** 2) @ x, VECTOR, expected=DENSE @ DENSE @ VECTOR
    )


def test_the_laplacian() -> None:
    laplacian = linalg.LaplacianNd((3,), boundary_conditions="dirichlet")
    agrees(lambda x: laplacian @ x + laplacian.rmatvec(x), VECTOR)
    agrees(laplacian.matmat, COLUMNS)
    assert linalg.LaplacianNd((3,)).eigenvalues().shape == (3,)


def test_scipys_iterations_take_our_operators() -> None:
    operator = linalg.LinearOperator((3, 3), lambda x: 2.0 * x)
    np.testing.assert_allclose(scipy.sparse.linalg.cg(operator, VECTOR)[0], VECTOR / 2)


def test_shapes_of_operators_that_do_not_fit() -> None:
    x = ta.ComputationRecord().tensor(VECTOR)
    operator = linalg.aslinearoperator(WIDE)
    programs: list[Any] = [lambda a: a @ x[:2], lambda a: a**2, lambda a: a + a.H]
    for program in programs:
        with pytest.raises(ValueError, match=r"mismatch|dimensions|square|cannot add"):
            program(operator)


# Functions

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "inv": linalg.inv,
    "expm": lambda a: linalg.expm(a / 2),
    "power": lambda a: linalg.matrix_power(a, 3),
    "power of 0": lambda a: linalg.matrix_power(a, 0) + a,
    "Frobenius": linalg.norm,
    # SciPy 1.14 takes these of matrices alone
    "columns": lambda a: linalg.norm(sparse.csr_matrix(a), 1),
    "rows": lambda a: linalg.norm(sparse.csr_matrix(a), np.inf),
    "smallest": lambda a: sum(linalg.norm(sparse.csr_matrix(a), each) for each in (-1, -np.inf)),
    "norms": lambda a: linalg.norm(a, axis=0),
    "estimate": linalg.onenormest,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    agrees(lambda data: FUNCTIONS[name](of(data)), MATRIX.data)


def test_functions_of_dense_matrices() -> None:
    agrees(linalg.expm, DENSE)
    agrees(linalg.onenormest, DENSE + 0.2)


def test_a_norm_by_singular_values_says_what_to_write() -> None:
    with pytest.raises(UnsupportedArgumentError, match="svds"):
        linalg.norm(of(ta.ComputationRecord().tensor(MATRIX.data)), 2)


needs_krylov = pytest.mark.skipif(
    not hasattr(scipy.sparse.linalg, "funm_multiply_krylov"), reason="it came with SciPy 1.15"
)


def cubic(x: Array) -> Array:
    return x @ x @ x - x


@needs_krylov
@pytest.mark.parametrize("f", [scipy.linalg.expm, cubic])
def test_functions_of_matrices_times_vectors(f: Callable[[Array], Array]) -> None:
    krylov = linalg.funm_multiply_krylov
    agrees(lambda b, t: krylov(f, MATRIX, b, t=t), VECTOR, np.array(0.3))
    agrees(
        lambda data, b: krylov(f, of(data), b, t=0.3),
        *(MATRIX.data, VECTOR),
        expected=f(0.3 * DENSE) @ VECTOR,
    )
    agrees(lambda a: krylov(f, a, VECTOR), DENSE, expected=f(DENSE) @ VECTOR)


@needs_krylov
def test_tolerances_of_krylov_are_no_handles() -> None:
    t = ta.ComputationRecord().tensor(1e-6)
    with pytest.raises(UnsupportedArgumentError, match="rtol"):
        linalg.funm_multiply_krylov(cubic, MATRIX, VECTOR, t=t, rtol=t)

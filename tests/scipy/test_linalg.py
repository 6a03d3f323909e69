"""The public functions of `tape_ad.scipy.linalg`, and products with sparse matrices."""

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

import tape_ad as ta
from tape_ad.errors import ConversionError, UnsupportedArgumentError
from tape_ad.scipy import linalg
from tape_ad.scipy.linalg.structured import takes_stacks_of_columns
from tape_ad.scipy.linalg.systems import takes_stacks
from tape_ad.testing import check_grads

Array = Any

RNG = np.random.default_rng(5)
A = RNG.standard_normal((4, 4)) + 4 * np.eye(4)
SPD = A @ A.T
B = RNG.standard_normal((4, 2))
AB = np.array([[0.0, 1.0, 0.5, -1.0], [4.0, 3.0, 5.0, 4.0], [1.0, -1.0, 2.0, 0.0]])


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )


# Plain arrays


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("block_diag", (A, B[0], 2.0)),
        ("cho_factor", (SPD,)),
        ("cho_solve", ((np.linalg.cholesky(SPD), True), B)),
        ("expm", (A,)),
        ("logm", (SPD,)),
        ("lu_factor", (A,)),
        ("lu_solve", (scipy.linalg.lu_factor(A), B[:, 0], 1)),
        ("solve_banded", ((1, 1), AB, B)),
        ("solve_sylvester", (A, A[:2, :2], B)),
        ("solve_triangular", (A, B, "T", True)),
        ("sqrtm", (SPD,)),
        ("toeplitz", ([1.0, 2.0], [1.0, 3.0, 4.0])),
        ("toeplitz", ([1.0, 2.0j],)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_plain_arrays_give_scipys_result(name: str, arguments: tuple[Any, ...]) -> None:
    ours, scipys = getattr(linalg, name)(*arguments), getattr(scipy.linalg, name)(*arguments)
    assert type(ours) is type(scipys)
    for one, other in zip(ours, scipys, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_every_public_function_is_scipys_by_name() -> None:
    modules = scipy.linalg, scipy.sparse.linalg, scipy.sparse
    unknown = [name for name in linalg.__all__ if not any(hasattr(m, name) for m in modules)]
    assert unknown == []


@pytest.mark.parametrize("real", ["a", "b", "q"])
def test_sylvester_of_mixed_dtypes_is_solved(real: str) -> None:
    turning = np.array([[1.0, 2.0, 0.0], [-3.0, 1.0, 0.5], [0.2, 0.1, 2.0]])
    operands: dict[str, Array] = {
        "a": turning + 0.5j,
        "b": turning[:2, :2] + 0.5j,
        "q": RNG.standard_normal((3, 2)) + 1j,
    }
    operands[real] = operands[real].real
    x = linalg.solve_sylvester(**operands)
    np.testing.assert_allclose(operands["a"] @ x + x @ operands["b"], operands["q"], atol=1e-13)


# Handles


def test_factors_are_taken_from_the_tuple() -> None:
    a: Any
    a, b = ta.ComputationRecord().bind((SPD, B))
    by_cholesky = linalg.cho_solve(linalg.cho_factor(a, lower=True), b)
    by_lu = linalg.lu_solve(linalg.lu_factor(a), b)
    expected = np.sum(np.linalg.solve(a, b) ** 2).grad().wrt((a, b))
    gradients = np.sum(by_lu**2).grad().wrt((a, b))
    np.testing.assert_allclose(gradients[0], expected[0], atol=1e-14)
    np.testing.assert_allclose(gradients[1], expected[1], atol=1e-14)
    np.testing.assert_allclose(by_cholesky.data, np.linalg.solve(SPD, B), atol=1e-14)
    np.testing.assert_allclose(
        np.sum(by_cholesky**2).grad().wrt(b), np.sum(by_lu**2).grad().wrt(b), atol=1e-14
    )


@pytest.mark.parametrize("lower", [False, True])
def test_a_symmetric_matrix_gets_the_same_gradient_through_either_triangle(lower: bool) -> None:
    a = ta.ComputationRecord().tensor(A)
    spd = a @ a.T
    solved = linalg.cho_solve(linalg.cho_factor(spd, lower), B)
    expected = np.sum(np.linalg.solve(spd, B) ** 2).grad().wrt(a)
    np.testing.assert_allclose(np.sum(solved**2).grad().wrt(a), expected, atol=1e-13)


def test_the_other_triangle_of_a_cholesky_factor_is_scipys() -> None:
    c, lower = linalg.cho_factor(ta.ComputationRecord().tensor(SPD))
    assert lower is False
    np.testing.assert_allclose(c.data, scipy.linalg.cho_factor(SPD)[0], rtol=1e-13)


@pytest.mark.parametrize(
    ("message", "program"),
    [
        ("reflections jump", lambda t: linalg.hessenberg(np.triu(t, -1))),
        ("2 vectors span", lambda t: linalg.null_space(t[:2])),
        ("1 vectors span", lambda t: linalg.null_space(np.concatenate([t[:3], t[:1]]))),
        ("several vectors at once", lambda t: linalg.qr_update(t, t, t[:, :2], t[:, :2])),
        ("several columns", lambda t: linalg.qr_insert(t, t, t[:, :2], 0, "col")),
        ("rows into a wide", lambda t: linalg.qr_insert(t[:2, :2], t[:2], t[0], 0)),
        ("rows of economic", lambda t: linalg.qr_delete(t[:, :2], t[:2, :2], 0)),
        ("complex factors", lambda t: linalg.qr_delete(t, 1j * t, 0)),
        ("meets two zeros", lambda t: linalg.qr_update(t, t, np.zeros(4), t[0])),
        (
            "the space of the columns",
            lambda t: linalg.qr_update(np.eye(4, 3), t[:3], t[0] * [1, 1, 1, 0], t[0]),
        ),
        ("b= is singular", lambda t: linalg.eigvals(t, np.zeros((4, 4)))),
        ("homogeneous_eigvals", lambda t: linalg.eig(t, np.eye(4), homogeneous_eigvals=True)),
        ("eigenvalues of this matrix are equal", lambda t: linalg.funm(t * 0 + np.eye(4), np.exp)),
    ],
)
def test_factors_without_a_derivative_say_so(message: str, program: Any) -> None:
    with pytest.raises(UnsupportedArgumentError, match=message):
        program(ta.ComputationRecord().tensor(A))


def test_the_interchanges_of_lu_are_plain() -> None:
    _, piv = linalg.lu_factor(ta.ComputationRecord().tensor(A))
    np.testing.assert_array_equal(piv, scipy.linalg.lu_factor(A)[1], strict=True)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (linalg.solve_triangular, (A, B)),
        (linalg.solve_banded, ((1, 1), AB, B)),
        (linalg.expm, (A,)),
        (linalg.sqrtm, (SPD,)),
        (linalg.logm, (SPD,)),
        (linalg.solve_sylvester, (A, A[:2, :2], B)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_node_each(function: Any, arguments: tuple[Any, ...]) -> None:
    record = ta.ComputationRecord()
    function(*(a if isinstance(a, tuple) else record.tensor(a) for a in arguments))
    assert len(record) == 1 + sum(isinstance(a, np.ndarray) for a in arguments)


def test_the_exponential_of_a_normal_matrix() -> None:
    a = ta.ComputationRecord().tensor(SPD / 40)
    gradient = np.trace(linalg.expm(a)).grad().wrt(a)
    np.testing.assert_allclose(gradient, scipy.linalg.expm(SPD / 40).T, rtol=1e-12)


def test_logarithm_and_root_invert_exponential_and_square() -> None:
    a = ta.ComputationRecord().tensor(SPD / 40)
    seed = RNG.standard_normal((4, 4))
    for inverted in (linalg.logm(linalg.expm(a)), linalg.sqrtm(a @ a), linalg.expm(linalg.logm(a))):
        np.testing.assert_allclose(inverted.grad(seed=seed).wrt(a), seed, atol=1e-11)


def test_a_logarithm_beyond_the_branch_cut() -> None:
    values, step = np.diag([-2.0, 1.0, 3.0]), 1e-5 * RNG.standard_normal((3, 3))
    a = ta.ComputationRecord().tensor(values)
    seed = RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3))
    gradient = linalg.logm(a).grad(seed=seed).wrt(a)
    change = linalg.logm(values + step) - linalg.logm(values - step)
    expected = np.sum(np.real(seed.conj() * change)) / 2
    np.testing.assert_allclose(np.sum(gradient * step), expected, rtol=1e-7)


def test_deprecated_options_of_scipy_are_refused_on_handles() -> None:
    a = ta.ComputationRecord().tensor(SPD)
    with pytest.raises(UnsupportedArgumentError, match="disp="):
        linalg.logm(a, disp=False)


def test_not_finite_matrices_are_refused_as_scipy_does() -> None:
    a = ta.ComputationRecord().tensor(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="infs or NaNs"):
        linalg.cho_factor(a)


def test_lu_factor_takes_square_matrices() -> None:
    with pytest.raises(UnsupportedArgumentError, match="takes square matrices"):
        linalg.lu_factor(ta.ComputationRecord().tensor(A)[:, :2])


def test_blocks_of_stacks_where_scipy_takes_them() -> None:
    stack = RNG.standard_normal((2, 1, 3))
    try:
        expected = scipy.linalg.block_diag(stack, A)
    except ValueError:  # a release that takes single matrices
        with pytest.raises(ValueError, match="greater than 2"):
            linalg.block_diag(ta.ComputationRecord().tensor(stack), A)
        return
    a = ta.ComputationRecord().tensor(stack)
    blocks = linalg.block_diag(a, A)
    np.testing.assert_array_equal(blocks.data, expected)
    np.testing.assert_array_equal(np.sum(blocks**2).grad().wrt(a), 2 * stack)


def test_scipys_own_function_refuses_a_handle() -> None:
    with pytest.raises(ConversionError):
        scipy.linalg.expm(ta.ComputationRecord().tensor(A))


# Sparse matrices

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_the_operator_works_for_every_format(form: str, kind: str) -> None:
    dense = np.where(np.abs(A) > 1, A, 0)
    matrix = getattr(scipy.sparse, f"{form}_{kind}")(dense)
    x = ta.ComputationRecord().tensor(B)
    left, right = matrix @ x, x.T @ matrix
    np.testing.assert_allclose(left.data, dense @ B, atol=1e-14)
    np.testing.assert_allclose(right.data, B.T @ dense, atol=1e-14)
    np.testing.assert_allclose(np.sum(left).grad().wrt(x), dense.T @ np.ones((4, 2)), atol=1e-14)
    np.testing.assert_allclose(np.sum(right).grad().wrt(x), dense @ np.ones((4, 2)), atol=1e-14)


def test_a_sparse_matrix_is_never_made_dense() -> None:
    n = 10**6
    laplacian = scipy.sparse.diags_array(
        [-np.ones(n - 1), np.full(n, 2.0)], offsets=[-1, 0]
    ).tocsr()
    x = ta.ComputationRecord().tensor(np.ones(n))
    energy = np.sum((laplacian @ x) ** 2)
    np.testing.assert_allclose(energy.grad().wrt(x), 2 * laplacian.T @ (laplacian @ np.ones(n)))


def test_a_sparse_hessian_vector_product() -> None:
    matrix = scipy.sparse.csr_array(np.where(np.abs(A) > 1, A, 0))
    outer = ta.ComputationRecord()
    x = outer.tensor(B[:, 0])
    inner_x = ta.ComputationRecord(within=outer).tensor(x)
    gradient = np.sum((matrix @ inner_x) ** 3).grad().wrt(inner_x)
    product = np.sum(gradient * B[:, 1]).grad().wrt(x)
    expected = matrix.T @ (6 * (matrix @ B[:, 0]) * (matrix @ B[:, 1]))
    np.testing.assert_allclose(product, expected, atol=1e-13)


def test_sparse_arrays_of_other_than_two_axes_are_refused() -> None:
    x = ta.ComputationRecord().tensor(RNG.standard_normal((2, 3, 4)))
    with pytest.raises(UnsupportedArgumentError, match=r"\(2, 3, 4\)"):
        x @ scipy.sparse.csr_array(A)


# Importing


def test_importing_the_library_does_not_import_scipy() -> None:
    code = "import sys, tape_ad; sys.exit(any(name.startswith('scipy') for name in sys.modules))"
    assert run_python(code).returncode == 0


def test_the_absence_of_scipy_names_the_extra() -> None:
    run = run_python("import sys; sys.modules['scipy'] = None; import tape_ad.scipy.linalg")
    assert run.returncode == 1
    assert "pip install 'tape-ad[scipy]'" in run.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
@pytest.mark.parametrize("place", range(4))
def test_riccati_equations_of_numbers(name: str, place: int) -> None:
    def x(value: Any) -> Any:
        numbers: list[Any] = [1.0, 2.0, 3.0, 4.0]
        numbers[place] = value
        return getattr(linalg, name)(*numbers)

    at = place + 1.0
    assert x(ta.ComputationRecord().tensor(at)).shape == x(at).shape == (1, 1)
    check_grads(x, (at,))


def test_full_factors_are_refused_where_the_reflections_jump() -> None:
    a = np.array([[1.0, 2.0], [0.0, 1.0], [0.0, 3.0]])
    with pytest.raises(UnsupportedArgumentError, match="mode='economic'"):
        linalg.qr(ta.ComputationRecord().tensor(a))


def test_equal_spaces_have_an_angle_without_a_slope() -> None:
    a = A[:, :2]
    same = a @ np.array([[1.0, 2.0], [0.3, 1.0]])
    np.testing.assert_array_equal(ta.grad(lambda a: np.sum(linalg.subspace_angles(a, same)))(a), 0)
    other = np.column_stack([same[:, 0], B[:, 0]])  # one of the two angles is 0

    def larger(a: Array) -> Array:
        return linalg.subspace_angles(a, other)[0]

    whole = ta.grad(lambda a: np.sum(linalg.subspace_angles(a, other)))(a)
    np.testing.assert_allclose(whole, ta.grad(larger)(a), atol=1e-12)
    check_grads(larger, (a,), order=1)


def test_funm_of_a_function_that_closes_over_a_handle() -> None:
    funm, a = linalg.funm, np.array([[2.0, 0.3], [0.4, 1.5]])
    t = ta.ComputationRecord().tensor(1.3)
    out = funm(a, lambda x: np.exp(t * x))
    np.testing.assert_allclose(out.data, linalg.expm(1.3 * a), rtol=1e-13)
    np.testing.assert_allclose(np.sum(out).grad().wrt(t), np.sum(a @ linalg.expm(1.3 * a)))
    both: Any = ta.grad(lambda x: np.sum(funm(x, lambda w: np.exp(t * w))))(a)
    np.testing.assert_allclose(both.data, ta.grad(lambda x: np.sum(linalg.expm(1.3 * x)))(a))
    mixed, h = np.sum(both).grad().wrt(t), 1e-5
    slope = ta.grad(lambda x, s: np.sum(linalg.expm(s * x)))
    change = np.sum(slope(a, 1.3 + h) - slope(a, 1.3 - h)) / (2 * h)
    np.testing.assert_allclose(mixed, change)
    with pytest.raises(UnsupportedArgumentError, match="eigenvalues of this matrix are equal"):
        funm(np.eye(2), lambda x: t * x)


STACK = np.stack([A, SPD / 9, A.T])

OF_STACKS: dict[str, Any] = {
    "lu_factor": lambda module, a: module.lu_factor(a)[0],
    **{
        f"lu_solve {trans}": lambda module, a, trans=trans: module.lu_solve(
            module.lu_factor(a), B, trans
        )
        for trans in (0, 1, 2)
    },
    "lu_solve of a vector": lambda module, a: module.lu_solve(module.lu_factor(a), B[:, 0]),
    "qr": lambda module, a: module.qr(a)[1],
    "hessenberg": lambda module, a: module.hessenberg(a, calc_q=True)[1],
    "ldl": lambda module, a: module.ldl(a @ np.swapaxes(a, -1, -2))[0],
    "matrix_balance": lambda module, a: module.matrix_balance(a, separate=True)[0],
    "orth": lambda module, a: module.orth(a),
    "null_space": lambda module, a: module.null_space(a[..., :-1, :]),
    "lstsq": lambda module, a: module.lstsq(a[..., :2], B)[0],
    "lstsq of a vector": lambda module, a: module.lstsq(a[..., :2], B[:, 0])[0],
    "polar": lambda module, a: module.polar(a)[0],
    "polar from the left": lambda module, a: module.polar(a, side="left")[1],
}


@pytest.mark.skipif(not takes_stacks(), reason="SciPy has taken stacks since 1.16")
@pytest.mark.parametrize("name", OF_STACKS)
def test_stacks_of_matrices(name: str) -> None:
    function = OF_STACKS[name]
    found = function(linalg, ta.ComputationRecord().tensor(STACK))
    np.testing.assert_allclose(found.data, function(scipy.linalg, STACK), rtol=0, atol=1e-12)
    check_grads(lambda a: function(linalg, a) ** 2, (STACK,), order=2)


def test_several_columns_are_matrices_as_in_the_installed_scipy() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy before 1.17 says that it will take stacks
        expected = scipy.linalg.toeplitz(A, B)
    found = linalg.toeplitz(ta.ComputationRecord().tensor(A), B)
    np.testing.assert_array_equal(found.data, expected)
    columns = ta.grad(lambda a: np.sum(linalg.toeplitz(a, B)[..., 1:, :1] * 3.0))(A)
    np.testing.assert_array_equal(columns.reshape(-1)[-1], 3.0)


def test_systems_of_columns_are_solved_in_double_precision() -> None:
    column, b = np.array([3.0, 0.5], np.float32), np.ones(2, np.float32)
    found = linalg.solve_toeplitz(ta.ComputationRecord().tensor(column), b)
    expected = scipy.linalg.solve_toeplitz(column, b)
    assert found.dtype == expected.dtype == np.float64
    np.testing.assert_allclose(found.data, expected, rtol=1e-14)


@pytest.mark.skipif(not takes_stacks_of_columns(), reason="SciPy has taken them since 1.17")
def test_systems_of_stacks_of_columns_are_solved_one_by_one() -> None:
    columns, b = np.array([[3.0, 0.5], [2.0, -0.4]]), np.array([1.0, 2.0])
    slopes = ta.grad(lambda c: np.sum(linalg.solve_toeplitz(c, b)))
    np.testing.assert_allclose(slopes(columns), np.stack(list(map(slopes, columns))), rtol=1e-14)


def test_factors_of_nothing() -> None:
    found = linalg.ldl(ta.ComputationRecord().tensor(np.zeros((0, 0))))
    assert [each.shape for each in found] == [(0, 0), (0, 0), (0,)]


def test_a_stack_of_no_matrices_is_refused() -> None:
    with pytest.raises(ValueError, match=r"stack of no matrices \(shape \(0, "):
        linalg.hessenberg(ta.ComputationRecord().tensor(STACK[:0]))


def test_a_driver_that_gives_a_solution_alone_has_its_gradient() -> None:
    a, b = A[:, :2], B[:, 0]
    found: Any = linalg.lstsq(ta.ComputationRecord().tensor(a), b, lapack_driver="gelsy")
    assert (found[1].shape, *found[2:]) == ((0,), 2, None)

    slopes, others = (
        ta.jacobian(lambda a, driver=driver: linalg.lstsq(a, b, lapack_driver=driver)[0])(a)
        for driver in ("gelsy", "gelsd")
    )
    np.testing.assert_allclose(slopes, others, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cond", [0.3, 0.9])
def test_a_driver_that_leaves_out_columns_has_the_gradient_of_what_it_solves(cond: float) -> None:
    matrix = np.array([[3.0, 1.0, 0.2], [0.5, 1.7, 0.3], [0.2, 0.3, 0.4], [0.1, -0.5, 0.3]])

    def solution(a: Array) -> Array:
        found: Array = linalg.lstsq(a, matrix[:, 0] ** 2, cond=cond, lapack_driver="gelsy")[0]
        return found

    rec = ta.ComputationRecord()
    found: Any = linalg.lstsq(rec.tensor(matrix), matrix[:, 0], cond=cond, lapack_driver="gelsy")
    assert 0 < found[2] < 3
    ta.testing.check_grads(solution, (matrix,), order=2, rtol=1e-6, atol=1e-6)

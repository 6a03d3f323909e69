"""Linear algebra at singular matrices, its conventions, its errors, and what it holds."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.linalg import systems, triangles
from tape_ad.rules.linalg.triangles import inverse_of_lower
from tests.rules.checks import central_difference, close, gradients
from tests.shorthand import gradients_of

Array = Any
Function = Callable[..., Any]
HALF: Any = 0.5

SINGULAR = {
    "rank 2 of 3": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
    "rank 1 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]],
    "rank 2 of 4": [[1.0, 0, 2, 1], [0, 1.0, 1, 3], [1.0, 1, 3, 4], [1.0, -1, 1, -2]],
    "a zero column": [[1.0, 0.0, 2.0], [3.0, 0.0, -1.0], [0.5, 0.0, 1.0]],
    "zero, 2 by 2": [[0.0, 0.0], [0.0, 0.0]],
    "zero, 3 by 3": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    "zero, 1 by 1": [[0.0]],
    "equal singular values": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
    "nearly singular": [[1.0, 1.0], [1.0, 1.0 + 1e-12]],
    "regular": [[2.0, 1.0], [1.0, 3.0]],
}
COMPLEX = {
    name: np.array(a) * (1 + 0.5j) + 1j * np.array(a)[:, ::-1] for name, a in SINGULAR.items()
}
MATRICES = [np.array(a) for a in SINGULAR.values()] + list(COMPLEX.values())
NAMES = [*SINGULAR, *(f"{name}, complex" for name in COMPLEX)]

every_matrix = pytest.mark.parametrize("a", MATRICES, ids=NAMES)


def cofactors(a: Array) -> Array:
    """Compute every cofactor from its minor."""
    n = len(a)
    minors = [
        [np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(n)] for i in range(n)
    ]
    return np.array(minors) * (-1.0) ** np.add.outer(np.arange(n), np.arange(n))


# Determinants


@every_matrix
def test_the_gradient_of_det_is_the_cofactors(a: Array) -> None:
    close(gradients_of(np.linalg.det, a), [cofactors(a).conj()], 1e-13)


def test_singular_and_regular_matrices_may_be_stacked() -> None:
    a = np.array([SINGULAR["rank 2 of 3"], np.diag([1.0, 2.0, 3.0]), SINGULAR["zero, 3 by 3"]])
    close(gradients_of(np.linalg.det, a), [np.array([cofactors(each) for each in a])], 1e-13)


@every_matrix
def test_the_second_derivative_of_det_is_right_at_singular_matrices(a: Array) -> None:
    rng = np.random.default_rng(0)
    along, weights = rng.standard_normal((2, *a.shape)).astype(a.dtype)

    def first_order(values: Sequence[Array]) -> list[Array]:
        return [np.sum(np.real(gradients_of(np.linalg.det, values[0])[0] * weights))]

    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    at = outer.tensor(a)
    handle = inner.tensor(at)
    first = np.real(np.linalg.det(handle)).grad().wrt(handle)
    second = gradients(np.sum(np.real(first * weights)), [at])[0]
    expected = central_difference(first_order, [a], [along], step=1e-2)
    close([np.sum(np.real(second.conj() * along))], expected, 1e-11)


def test_slogdet_of_a_singular_matrix_has_no_finite_gradient() -> None:
    with np.errstate(all="ignore"):
        (found,) = gradients_of(lambda a: np.linalg.slogdet(a)[1], SINGULAR["rank 2 of 3"])
        (zero,) = gradients_of(lambda a: np.linalg.slogdet(a).logabsdet, [[0.0]])
    assert not np.isfinite(found).any()
    np.testing.assert_array_equal(zero, [[np.inf]])


def test_slogdet_not_chosen_by_where_has_gradient_zero() -> None:
    def function(a: Array) -> Array:
        sign, logarithm = np.linalg.slogdet(a)
        return np.where(np.equal(sign, 0), 0.0, logarithm)

    regular = np.diag([1.0, 2.0])
    singular = [SINGULAR["zero, 2 by 2"], [[1.0, 0.0], [0.0, 0.0]]]
    (found,) = gradients_of(function, [singular[0], regular, singular[1]])
    expected = [np.zeros((2, 2)), np.diag([1.0, 0.5]), np.zeros((2, 2))]
    np.testing.assert_allclose(found, expected, rtol=1e-15)  # zeros are to be exact


def test_slogdet_has_a_gradient_where_det_overflows() -> None:
    a = np.eye(200) * 1e100
    close(gradients_of(lambda a: np.linalg.slogdet(a)[1], a), [np.eye(200) * 1e-100], 1e-13)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_no_singular_values_are_asked_for_where_a_matrix_is_not_finite(
    value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def svd(a: Array, **options: Any) -> Any:  # LAPACK's may never come back from an infinity
        asked.append(np.isfinite(a).all())
        return true_svd(a, **options)

    true_svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", svd)
    singular = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    broken = np.array([[0.5, 0.75, 3.5], [0.625, 0.5, 1.75], [value, 1.0, 0.5]])
    with np.errstate(invalid="ignore"):
        (found,) = gradients_of(np.linalg.det, [broken, singular])
    assert asked == [True]
    assert np.isnan(found[0]).any()
    close(found[1:], gradients_of(np.linalg.det, singular), 1e-14)


def test_the_sign_of_a_real_determinant_is_plain() -> None:
    handle = ta.ComputationRecord().tensor(np.eye(2))
    assert not isinstance(np.linalg.slogdet(handle).sign, ta.Tensor)


# Inverses and equations


@pytest.mark.parametrize("function", [np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(2))])
def test_a_singular_matrix_is_numpys_error(function: Function) -> None:
    handle = ta.ComputationRecord().tensor(np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        function(handle)


@pytest.mark.parametrize(
    "function",
    [np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh],
)
def test_a_matrix_that_is_not_square_is_numpys_error(function: Function) -> None:
    handle = ta.ComputationRecord().tensor(np.ones((2, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        function(handle)


def test_handles_may_be_given_by_keyword() -> None:
    (found,) = gradients_of(lambda b: np.linalg.solve(a=np.diag([2.0, 4.0]), b=b), [1.0, 1.0])
    np.testing.assert_array_equal(found, [0.5, 0.25])


def test_solve_holds_no_more_than_its_operands_and_its_solution() -> None:
    record = ta.ComputationRecord()
    a, b = record.tensor(np.eye(10)), record.tensor(np.ones((10, 3)))
    np.linalg.solve(a, b)
    assert record.nbytes == a.nbytes + b.nbytes


def test_one_matrix_is_factorised_once_for_a_stack_of_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = ta.ComputationRecord()
    a, b = record.tensor(np.eye(3)), record.tensor(np.ones(3))
    x: Any = np.linalg.solve(a, b)
    solve, shapes = np.linalg.solve, set()

    def watched(a: Array, b: Array) -> Array:
        shapes.add(b.shape)
        return solve(a, b)

    monkeypatch.setattr(np.linalg, "solve", watched)
    x.grad(np.eye(3)).wrt(b)
    assert shapes == {(3, 3)}


LEFT = np.array([[1.0, 0.3], [0.2, -1.0], [2.0, 0.5], [0.4, 0.7]])
RIGHT = np.array([[1.0, 2.0, -1.0], [0.5, 0.1, 0.8]])
SIDE = np.array([1.0, -2.0, 0.5, 3.0])


@pytest.mark.parametrize("turn", [1.0, 1.0 + 0.5j], ids=["real", "complex"])
@pytest.mark.parametrize(
    "function",
    [
        np.linalg.pinv,
        lambda a: np.linalg.lstsq(a, SIDE)[0],
        lambda a: np.linalg.lstsq(a, SIDE[:, None] * SIDE)[0],
    ],
    ids=["pinv", "lstsq", "several right sides"],
)
def test_a_pseudo_inverse_has_a_gradient_where_the_rank_stays(
    function: Function, turn: complex
) -> None:
    def through_factors(factors: Sequence[Array]) -> list[Array]:
        return [function(factors[0] @ factors[1])]

    at = [LEFT * turn, RIGHT * turn**2]
    along = [LEFT[::-1] * turn**3, RIGHT[::-1] * turn]
    (found,) = central_difference(through_factors, at, along)
    weights = np.cos(np.arange(found.size)).reshape(found.shape)
    pulled = gradients_of(lambda a, b: function(a @ b) * weights, *at)
    paired = sum(np.sum(np.real(p.conj() * t)) for p, t in zip(pulled, along, strict=True))
    close([paired], [np.sum(np.real(found * weights))], 1e-10)


@pytest.mark.parametrize("turn", [1.0, 1.0 + 0.5j], ids=["real", "complex"])
@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.linalg.pinv(a, rcond=0.4),
        lambda a: np.linalg.pinv((a @ a.T)[:3, :3], hermitian=True, rtol=0.4),
        lambda a: np.linalg.lstsq(a, SIDE, rcond=0.4)[0],
        lambda a: np.linalg.lstsq(a[:2], SIDE[:2], rcond=0.8)[0],
    ],
    ids=["pinv", "hermitian", "lstsq", "wide"],
)
def test_singular_values_that_are_left_out_turn_the_space_of_the_others(
    function: Function, turn: complex
) -> None:
    def through(operands: Sequence[Array]) -> list[Array]:
        return [function(operands[0])]

    at = np.hstack([LEFT * [1.0, 0.3], LEFT[:, ::-1] ** 2]) * turn
    along = np.cos(np.arange(16.0)).reshape(4, 4) * turn**3
    (found,) = central_difference(through, [at], [along])
    assert np.linalg.matrix_rank(at) == 4
    weights = np.cos(np.arange(found.size)).reshape(found.shape)
    (pulled,) = gradients_of(lambda a: function(a) * weights, at)
    paired = np.sum(np.real(pulled.conj() * along))
    close([paired], [np.sum(np.real(found * weights))], 1e-9)
    if turn == 1:
        ta.testing.check_grads(function, (at,), order=2, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_what_a_cutoff_leaves_out_may_be_of_any_size_in_single_precision(scale: float) -> None:
    def slopes(a: Array) -> Array:
        return gradients_of(lambda a: np.linalg.pinv(a, rcond=0.4), a)[0]

    matrix = np.array([[3.0, 1.0], [0.5, 0.7], [0.2, 0.3]])
    assert np.linalg.matrix_rank(matrix, rtol=0.4) == 1
    single = slopes((matrix * scale).astype(np.float32)) * np.float32(scale**2)
    np.testing.assert_allclose(single, slopes(matrix), rtol=1e-4, atol=1e-5)


def test_lstsq_of_too_low_a_rank_has_plain_empty_residuals() -> None:
    handle = ta.ComputationRecord().tensor(LEFT @ RIGHT)
    x, residuals, rank, s = np.linalg.lstsq(handle, SIDE)
    assert isinstance(x, ta.Tensor)
    assert isinstance(s, ta.Tensor)
    assert type(residuals) is np.ndarray
    assert rank == 2


def test_lstsq_of_a_zero_matrix_has_gradient_zero() -> None:
    found = gradients_of(lambda a: np.linalg.lstsq(a, SIDE)[0], np.zeros((4, 2)))
    np.testing.assert_array_equal(found, np.zeros((1, 4, 2)))


def test_pinv_of_a_hermitian_matrix_reads_one_triangle() -> None:
    a = np.array([[2.0, np.nan], [1.0, 3.0]])
    record = ta.ComputationRecord()
    handle = record.tensor(a)
    total: Any = np.sum(np.linalg.pinv(handle, hermitian=True))
    found = total.grad().wrt(handle)
    assert found[0, 1] == 0
    assert np.isfinite(found).all()


# Errors of the functions that are derivations


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: np.linalg.tensorinv(t, 0), ValueError, "Invalid ind"),
        (
            lambda t: np.linalg.tensorsolve(t, np.ones(2)),
            np.linalg.LinAlgError,
            r"as many equations as unknowns, got shapes \(2,\) and \(3,\)",
        ),
        (
            lambda t: np.linalg.matrix_power(t, 2),
            np.linalg.LinAlgError,
            r"must be square\nthis was in np.linalg.matrix_power of shapes \(2, 3\)",
        ),
        (lambda t: np.linalg.matrix_power(t @ t.T, HALF), TypeError, "integer"),
        (lambda t: np.linalg.multi_dot([t]), ValueError, "at least two arrays"),
        (
            lambda t: np.linalg.multi_dot([t, np.ones((1, 3, 2)), t]),
            np.linalg.LinAlgError,
            r"must be two-dimensional\n.* of shapes \(2, 3\), \(1, 3, 2\), \(2, 3\)",
        ),
        (lambda t: np.linalg.outer(t, t[0]), ValueError, "must be one-dimensional"),
        (lambda t: np.linalg.cross(t[:, :2], t), ValueError, "3-dimensional vectors"),
        (
            lambda t: np.trace(t, out=np.zeros(())),
            ta.errors.InPlaceError,
            "into a plain array",
        ),
        (
            lambda t: np.linalg.multi_dot([t, t.T], out=np.zeros((2, 2))),
            ta.errors.InPlaceError,
            "into a plain array",
        ),
    ],
)
def test_errors_say_what_is_wrong(call: Function, error: type[Exception], text: str) -> None:
    handle = ta.ComputationRecord().tensor(np.ones((2, 3)))
    with pytest.raises(error, match=text):
        call(handle)


# Products


def test_multi_dot_never_makes_a_large_matrix() -> None:
    record = ta.ComputationRecord()
    row, column = record.tensor(np.ones((1, 100))), record.tensor(np.ones((100, 1)))
    np.linalg.multi_dot([column, row, column, row, column])
    assert max(int(np.prod(node.shape)) for node in record) == 100


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy 2.5 takes 3-vectors only"
)
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        (((2,), (2,)), {}),
        (((4, 2), (2,)), {}),
        (((4, 2), (4, 3)), {}),
        (((3,), (4, 2)), {}),
        (((2, 4), (2, 1)), {"axisa": 0, "axisb": 0}),
        (((2, 4), (4, 3)), {"axisa": 0, "axisc": 0}),
    ],
)
def test_cross_takes_vectors_in_a_plane(shapes: Any, options: dict[str, int]) -> None:
    rng = np.random.default_rng(1)
    at, along = ([rng.standard_normal(shape) for shape in shapes] for _ in range(2))
    cross = functools.partial(np.cross, **options)
    (found,) = central_difference(lambda values: [cross(*values)], at, along)
    weights = rng.standard_normal(np.shape(found))
    pulled = gradients_of(lambda a, b: cross(a, b) * weights, *at)
    paired = sum(np.sum(p * t) for p, t in zip(pulled, along, strict=True))
    close([paired], [np.sum(found * weights)], 1e-10)


def test_the_power_zero_of_a_matrix_is_a_handle_that_depends_on_nothing() -> None:
    (found,) = gradients_of(lambda a: np.linalg.matrix_power(a, 0), np.full((2, 2), np.nan))
    np.testing.assert_array_equal(found, np.zeros((2, 2)))


def test_both_gradients_of_a_solution_take_one_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[Any] = []
    real = triangles.solve_all

    def noted(a: Any, b: Any) -> Any:
        solved.append(b)
        return real(a, b)

    monkeypatch.setattr(systems, "solve_all", noted)
    rng = np.random.default_rng(0)
    record = ta.ComputationRecord()
    a, b = record.tensor(rng.normal(size=(3, 3))), record.tensor(rng.normal(size=(3, 2)))
    x: Any = np.linalg.solve(a, b)
    seed = rng.normal(size=(3, 2))
    for factor in (1.0, 2.0):  # the same array, with other numbers in it
        solved.clear()
        seed *= factor
        grads = x.grad(seed)
        assert len(solved) == 1
        expected = np.linalg.inv(a.data).T @ seed
        np.testing.assert_allclose(grads.wrt(b), expected, rtol=1e-12)
        np.testing.assert_allclose(grads.wrt(a), -expected @ x.data.T, rtol=1e-12)
    partials: list[Any] = record.partials
    assert all(partial.equations.latest is None for partial in partials)


@pytest.mark.parametrize("with_matrix", [True, False])
def test_one_gradient_of_a_solution_keeps_no_cotangent(with_matrix: bool) -> None:
    record = ta.ComputationRecord()
    matrix, right = np.eye(3) * 2, np.ones(3)
    handle = record.tensor(matrix if with_matrix else right)
    x: Any = np.linalg.solve(handle, right) if with_matrix else np.linalg.solve(matrix, handle)
    pulled = x.grad(np.ones(3)).wrt(handle)
    np.testing.assert_array_equal(pulled, np.full((3, 3), -0.25) if with_matrix else right / 2)
    partials: list[Any] = record.partials
    assert partials[0].equations.latest is None


@pytest.mark.parametrize("n", [0, 1, 40, 41, 90])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_a_triangle_is_inverted_by_halves(n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    square = rng.normal(size=(2, n, n)) + (1j * rng.normal(size=(2, n, n)) if dtype == "c16" else 0)
    lower = np.tril(square / max(n, 1) + np.eye(n)).astype(dtype)
    inverse = inverse_of_lower(lower)
    assert inverse.dtype == lower.dtype
    np.testing.assert_allclose(inverse @ lower, np.broadcast_to(np.eye(n), (2, n, n)), atol=1e-5)
    tolerance = 1e-5 if dtype == "f4" else 1e-13
    np.testing.assert_allclose(inverse, np.linalg.inv(lower), rtol=tolerance, atol=tolerance)

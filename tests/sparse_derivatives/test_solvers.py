"""SciPy's solvers with sparse derivatives, over arrays and over trees."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.sparse import csr_array

import tape_ad as ta
from tape_ad.errors import PatternError
from tape_ad.scipy.optimize import least_squares, structure

Array = Any
RNG = np.random.default_rng(0)
T = np.linspace(0, 1, 20)
NOISY = [2 * T + 1 + 0.01 * RNG.normal(size=20), -T + 0.01 * RNG.normal(size=20)]


def lines(p: dict[str, Array]) -> list[Array]:
    """Fit several lines, each with numbers of its own."""
    return [p["slopes"][i] * T + p["starts"][i] - y for i, y in enumerate(NOISY)]


START = {"slopes": np.zeros(2), "starts": np.zeros(2)}


def test_least_squares_over_a_tree() -> None:
    result = least_squares(lines, START, "sparse")
    for i, y in enumerate(NOISY):
        slope, start = np.polyfit(T, y, 1)
        np.testing.assert_allclose(result.x["slopes"][i], slope, rtol=1e-6)
        np.testing.assert_allclose(result.x["starts"][i], start, rtol=1e-6, atol=1e-6)
    assert result.jac.nnz == 80
    assert result.success


def test_bounds_are_trees_too() -> None:
    bounds = {"slopes": (None, 1.5), "starts": (-1, [2.0, 0.5])}
    result = least_squares(lines, START, bounds=bounds)
    np.testing.assert_allclose(result.x["slopes"][0], 1.5)


def test_an_array_with_a_sparse_jacobian() -> None:
    def f(x: Array, scale: float) -> Array:
        return np.concatenate([scale * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])

    found = least_squares(f, np.full(8, 0.5), "sparse", args=(10.0,))
    np.testing.assert_allclose(found.x, np.ones(8), rtol=1e-6)
    plain = scipy.optimize.least_squares(f, np.full(8, 0.5), args=(10.0,))
    np.testing.assert_allclose(found.x, plain.x, rtol=1e-6)


def test_scipy_takes_sparse_derivatives_as_they_are() -> None:
    def cost(x: Array) -> Array:
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    for method in ("trust-constr", "Newton-CG"):
        found = ta.scipy.optimize.minimize(
            cost, np.full(10, 0.9), method=method, hess=ta.sparse_hessian(cost)
        )
        np.testing.assert_allclose(found.x, np.ones(10), rtol=1e-3)


@pytest.mark.parametrize("jac", [None, "sparse"])
def test_derivatives_go_through_a_fit_of_a_tree(jac: str | None) -> None:
    def fit(y: Array) -> Array:
        return least_squares(lambda p, y: p["a"] ** 3 - y, {"a": np.ones(2)}, jac, args=(y,)).x

    rates = ta.jacobian(fit)(np.array([1.0, 8.0]))
    np.testing.assert_allclose(rates["a"], np.diag([1 / 3, 1 / 12]), rtol=1e-6)


def test_rows_columns_and_values_of_constraints() -> None:
    def constraints(p: dict[str, Array]) -> Array:
        return p["x"][1:] * p["x"][:-1] + p["y"]

    found = structure(constraints, {"x": np.ones(3), "y": np.ones(2)})
    dense = np.zeros(found.shape)
    dense[found.rows, found.columns] = found.values(np.array([2.0, 3.0, 4.0, 0.0, 0.0]))
    np.testing.assert_array_equal(dense, [[3, 2, 0, 1, 0], [0, 4, 3, 0, 1]])


def test_the_lower_triangle_of_a_hessian() -> None:
    found = structure(lambda x: np.sum(x[1:] ** 2 * x[:-1]), np.ones(3), hessian=True)
    assert (found.rows >= found.columns).all()
    dense = np.zeros((3, 3))
    dense[found.rows, found.columns] = found.values(np.array([2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(dense, [[0, 0, 0], [6, 4, 0], [0, 8, 6]])


def test_another_branch_than_at_the_start_is_refused() -> None:
    found = structure(lambda x: x if x[0] > 0 else x * np.sum(x), np.ones(2))
    with pytest.raises(PatternError, match="other calls here than at x0"):
        found.values(-np.ones(2))


def bends(p: dict[str, Array]) -> Array:
    """Fit five numbers, in a valley that is narrow and bent."""
    x = np.concatenate([p["first"], p["others"]])
    return np.concatenate([100 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


BENT = {"first": np.array([-1.2]), "others": np.full(4, -0.5)}


def test_few_unknowns_are_fitted_by_exact_steps() -> None:
    found = least_squares(bends, BENT)
    assert isinstance(found.jac, np.ndarray)
    assert found.success
    assert found.cost < 1e-20


def test_a_sparse_jacobian_is_so_where_it_is_asked_for() -> None:
    assert least_squares(bends, BENT, "sparse").jac.nnz == 12
    assert isinstance(least_squares(bends, BENT, method="lm").jac, np.ndarray)
    assert isinstance(least_squares(bends, BENT, tr_solver="exact").jac, np.ndarray)


def test_a_jacobian_of_ones_own_is_called_with_the_tree() -> None:
    seen: list[dict[str, Array]] = []
    own = ta.sparse_jacobian(bends)

    def jac(p: dict[str, Array]) -> Array:
        seen.append(p)
        return own(p).toarray()

    found = least_squares(bends, BENT, jac)
    assert found.cost < 1e-20
    assert seen[0]["others"].shape == (4,)


@pytest.mark.parametrize("jac", ["2-point", "3-point"])
def test_differences_are_taken_over_a_tree_too(jac: str) -> None:
    calls: list[int] = []

    def counted(p: dict[str, Array]) -> Array:
        calls.append(1)
        return bends(p)

    found = least_squares(counted, BENT, jac, max_nfev=3)
    assert len(calls) > 2 * found.nfev


@pytest.mark.parametrize("jac", ["garbage", "cs", 3, ["sparse"]])
def test_another_jacobian_is_refused(jac: Any) -> None:
    with pytest.raises(ValueError, match="least_squares: jac is a function, 'sparse', '2-point'"):
        least_squares(bends, BENT, jac)
    with pytest.raises(ValueError, match="jac"):
        least_squares(lambda x: x, np.ones(2), "garbage")


def test_a_pattern_that_is_given_is_used() -> None:
    found = least_squares(bends, BENT, "sparse", jac_sparsity=np.ones((8, 5)), max_nfev=1)
    assert found.jac.nnz == 40


@pytest.mark.parametrize("jac", [None, "sparse"])
def test_a_pattern_moves_with_the_unknowns(jac: str | None) -> None:
    aims = np.array([3.0, -1.0, 0.5])

    def apart(p: dict[str, Array]) -> Array:
        both = np.concatenate([p["first"], p["others"]])
        return np.concatenate([both - np.median(both), np.sort(both) ** 2 - aims])

    for start in ([1.0, 2.0, 3.0], [3.0, 1.0, 2.0]):
        tree = {"first": np.array(start[:1]), "others": np.array(start[1:])}
        seen = least_squares(apart, tree, jac, max_nfev=1)
        whole = ta.jacobian(lambda x: apart({"first": x[:1], "others": x[1:]}))(np.array(start))
        assert np.array_equal(csr_array(seen.jac).toarray(), whole)


def test_steps_follow_an_order_that_changes() -> None:
    def ranks(x: Array) -> Array:
        return np.concatenate([np.sort(x) - [0.0, 1.0, 5.0], 1e-3 * (x - np.median(x))])

    found = least_squares(ranks, np.array([5.0, 0.1, 0.0]), "sparse")
    plain = scipy.optimize.least_squares(ranks, np.array([5.0, 0.1, 0.0]))
    np.testing.assert_allclose(found.cost, plain.cost, rtol=1e-6)

"""SciPy's solvers with sparse derivatives, over arrays and over trees."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize

import tape_ad as ta
from tape_ad.errors import PatternError, UnsupportedArgumentError
from tape_ad.optimize import least_squares, structure

Array = Any
RNG = np.random.default_rng(0)
T = np.linspace(0, 1, 20)
NOISY = [2 * T + 1 + 0.01 * RNG.normal(size=20), -T + 0.01 * RNG.normal(size=20)]


def lines(p: dict[str, Array]) -> list[Array]:
    """Fit several lines, each with numbers of its own."""
    return [p["slopes"][i] * T + p["starts"][i] - y for i, y in enumerate(NOISY)]


START = {"slopes": np.zeros(2), "starts": np.zeros(2)}


def test_least_squares_over_a_tree() -> None:
    result = least_squares(lines, START)
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
        found = ta.optimize.minimize(
            cost, np.full(10, 0.9), method=method, hess=ta.sparse_hessian(cost)
        )
        np.testing.assert_allclose(found.x, np.ones(10), rtol=1e-3)


def test_handles_are_refused_with_a_tree() -> None:
    def fit(y: Array) -> Array:
        return least_squares(lambda p, y: p["a"] - y, {"a": np.zeros(2)}, args=(y,)).x["a"][0]

    with pytest.raises(UnsupportedArgumentError, match="give x0 as one array"):
        ta.grad(fit)(np.ones(2))


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

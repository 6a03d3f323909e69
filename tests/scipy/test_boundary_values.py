"""`solve_bvp` on handles: the derivatives of what solves the equations of collocation."""

import functools
from typing import Any

import numpy as np
import pytest
import scipy.integrate

import tape_ad as ta
from tape_ad.errors import ConvergenceWarning, UnsupportedArgumentError
from tape_ad.scipy import integrate

MESH, START = np.linspace(0.0, 1.0, 4), np.zeros((2, 4))
solve = functools.partial(integrate.solve_bvp, tol=1e-4)


def bratu(k: Any, x: Any = MESH, end: Any = 0.0) -> Any:
    return solve(
        lambda x, y: np.stack([y[1], -k * np.exp(y[0])]),
        lambda a, b: np.stack([a[0], b[0] - end]),
        x,
        START,
    )


def test_values_are_those_of_scipy() -> None:
    theirs = scipy.integrate.solve_bvp(
        lambda x, y: np.stack([y[1], -np.exp(y[0])]),
        lambda a, b: np.stack([a[0], b[0]]),
        MESH,
        START,
        tol=1e-4,
    )
    record = ta.ComputationRecord()
    ours = bratu(record.tensor(1.0))
    np.testing.assert_array_equal(ours.y.data, theirs.y)
    np.testing.assert_array_equal(ours.x, theirs.x)
    np.testing.assert_allclose(ours.yp.data, theirs.yp)
    at = np.array([0.1, 0.55, 1.0])
    np.testing.assert_allclose(ours.sol(at).data, theirs.sol(at))
    np.testing.assert_allclose(ours.sol(at, 1).data, theirs.sol(at, 1))
    plain = bratu(1.0)
    np.testing.assert_array_equal(plain.y, theirs.y)
    assert (ours.success, ours.niter, ours.p) == (True, theirs.niter, None)
    moved = bratu(1.0, record.tensor(MESH))
    np.testing.assert_allclose(moved.x.data, theirs.x)


def test_derivatives_are_those_of_the_equations() -> None:
    # A linear problem, whose solution is sinh(k x) / sinh(k)
    def middle(k: Any) -> Any:
        found = integrate.solve_bvp(
            lambda x, y: np.stack([y[1], k**2 * y[0]]),
            lambda a, b: np.stack([a[0], b[0] - 1.0]),
            MESH,
            START,
            tol=1e-7,
        )
        return found.sol(0.5)[0]

    exact = lambda k: np.sinh(k / 2) / np.sinh(k)  # noqa: E731 - it is short
    np.testing.assert_allclose(ta.grad(middle)(1.3), ta.grad(exact)(1.3), rtol=1e-6)
    second = ta.grad(ta.grad(middle))(1.3)
    np.testing.assert_allclose(second, ta.grad(ta.grad(exact))(1.3), rtol=1e-5)


def test_the_mesh_and_the_ends() -> None:
    def of(x: Any, end: Any) -> Any:
        found = bratu(1.0, x, end)
        return np.concatenate([found.y.reshape(-1), found.yp[1], found.sol(0.37)])

    rates = ta.jacobian(of, argnums=(0, 1))(MESH, 0.3)
    step = 1e-4
    for i in range(4):
        moved = [of(MESH + sign * step * np.eye(4)[i], 0.3) for sign in (1, -1)]
        expected = (moved[0] - moved[1]) / (2 * step)
        np.testing.assert_allclose(rates[0][:, i], expected, rtol=1e-3, atol=1e-4)
    expected = (of(MESH, 0.3 + step) - of(MESH, 0.3 - step)) / (2 * step)
    np.testing.assert_allclose(rates[1], expected, rtol=1e-3, atol=1e-4)


def test_unknown_parameters() -> None:
    def frequency(length: Any) -> Any:
        x, y = np.linspace(0.0, 1.0, 5), np.array([[0, 1, 0, -1, 0], [0.0] * 5])
        found = integrate.solve_bvp(
            lambda x, y, p: length * np.stack([y[1], -(p[0] ** 2) * y[0]]),
            lambda a, b, p: np.stack([a[0], b[0], a[1] - p[0]]),
            x,
            y,
            p=[6.0],
            tol=1e-6,
        )
        return found.p[0]

    np.testing.assert_allclose(ta.grad(frequency)(1.0), -2 * np.pi, rtol=1e-4)


def test_what_is_not_given_says_so() -> None:
    k = ta.ComputationRecord().tensor(1.0)
    fun, bc = lambda x, y: k * y, lambda a, b: a - 1
    with pytest.raises(UnsupportedArgumentError, match="with a singular term"):
        solve(fun, lambda a, b: np.stack([a[1], b[0] - 1]), MESH, START, S=np.diag([0.0, -1.0]))
    with pytest.raises(UnsupportedArgumentError, match="the argument tol="):
        integrate.solve_bvp(fun, bc, MESH, START, tol=k)
    with pytest.warns(ConvergenceWarning, match="solve_bvp has not succeeded"):
        integrate.solve_bvp(lambda x, y: 9 * k * y, bc, MESH, START, tol=1e-9, max_nodes=4)
    start = ta.ComputationRecord().tensor(START)
    found = solve(lambda x, y: y, bc, MESH, start)
    np.testing.assert_array_equal(found.y.sum().grad().wrt(start), 0.0)

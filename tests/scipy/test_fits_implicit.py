"""Fits and corners that SciPy finds, as handles: by the conditions that hold at them."""

import functools
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import tape_ad as ta
from tape_ad.errors import (
    SingularJacobianError,
    UnsupportedArgumentError,
)
from tape_ad.scipy import optimize

Array = Any

close = functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-9)
checked = functools.partial(ta.testing.check_grads, order=2)


# Least squares

RNG = np.random.default_rng(0)
X = np.linspace(0, 2, 8)
Y = 1.5 * np.exp(-0.7 * X) + 0.1 * RNG.standard_normal(8)
SIGMA = RNG.uniform(0.5, 1.5, 8)
EXACT: dict[str, Any] = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}


def curve(x: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * x)


def slopes(x: Any, a: Any, b: Any) -> Any:
    return np.stack([np.exp(-b * x), -a * x * np.exp(-b * x)], axis=1)


def best(x: Any, y: Any, sigma: Any = 1.0) -> Any:
    """Fit by our own minimization, which is exact."""
    cost = lambda p: np.sum(((curve(x, p[0], p[1]) - y) / sigma) ** 2)  # noqa: E731 - it is short
    return optimize.minimize(cost, np.ones(2), "trust-exact", tol=1e-10).x


@pytest.mark.parametrize("method", ["lm", "trf", "dogbox"])
def test_curve_fit(method: str) -> None:
    def fitted(x: Any, y: Any, sigma: Any) -> Any:
        return optimize.curve_fit(curve, x, y, sigma=sigma, method=method, jac=slopes, **EXACT)[0]

    theirs = scipy.optimize.curve_fit(curve, X, Y, sigma=SIGMA, method=method, jac=slopes, **EXACT)[
        0
    ]
    np.testing.assert_array_equal(fitted(X, ta.ComputationRecord().tensor(Y), SIGMA).data, theirs)
    for i in range(3):
        ours = ta.jacobian(fitted, argnums=i)(X, Y, SIGMA)
        np.testing.assert_allclose(ours, ta.jacobian(best, argnums=i)(X, Y, SIGMA), atol=1e-6)


@pytest.mark.parametrize("absolute", [False, True])
def test_the_covariance_of_a_fit(absolute: bool) -> None:
    def covariance(y: Any) -> Any:
        return optimize.curve_fit(
            curve, X, y, sigma=SIGMA, absolute_sigma=absolute, jac=slopes, **EXACT
        )[1]

    plain = covariance(Y)
    np.testing.assert_array_equal(covariance(ta.ComputationRecord().tensor(Y)).data, plain)
    steps = 1e-4 * np.eye(8)
    differences = [(covariance(Y + step) - covariance(Y - step)) / 2e-4 for step in steps]
    np.testing.assert_allclose(
        ta.jacobian(covariance)(Y), np.stack(differences, -1), rtol=1e-4, atol=1e-7
    )


def test_covariances_of_the_data() -> None:
    mixed = 0.2 + np.eye(8)

    def fitted(s: Any) -> Any:
        covariances = mixed * s[0] + np.diag(s)
        return optimize.curve_fit(curve, X, Y, sigma=covariances, jac=slopes, **EXACT)[0]

    def exact(s: Any) -> Any:
        inverse = np.linalg.inv(mixed * s[0] + np.diag(s))

        def cost(p: Any) -> Any:
            residual = curve(X, p[0], p[1]) - Y
            return residual @ inverse @ residual

        return optimize.minimize(cost, np.ones(2), "trust-exact", tol=1e-10).x

    np.testing.assert_allclose(ta.jacobian(fitted)(SIGMA), ta.jacobian(exact)(SIGMA), atol=1e-7)


def test_a_fit_with_full_output_bounds_and_a_parameter_of_the_function() -> None:
    def fitted(k: Any) -> Any:
        popt, *_, flag = optimize.curve_fit(
            lambda x, a, b: k * curve(x, a, b), X, Y, bounds=(0, [1.2, 9]), full_output=True
        )
        assert flag > 0
        return popt

    close(fitted(1.0)[0], 1.2)
    rates = ta.jacobian(fitted)(1.0)
    close(rates[0], 0.0)
    close(rates[1], (fitted(1.001)[1] - fitted(0.999)[1]) / 0.002, rtol=1e-4)


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_least_squares(loss: str) -> None:
    def fitted(y: Any) -> Any:
        residual = lambda p, y: curve(X, *p) - y  # noqa: E731 - it is short
        return optimize.least_squares(
            residual,
            [1.0, 1.0],
            lambda p, y: slopes(X, *p),
            loss=loss,
            f_scale=0.1,
            args=(y,),
            **EXACT,
        )

    handle = ta.ComputationRecord().tensor(Y)
    ours, theirs = fitted(handle), fitted(Y)
    np.testing.assert_array_equal(ours.x.data, theirs.x)
    close([ours.cost.data, *ours.fun.data], [theirs.cost, *theirs.fun])
    rates = ta.jacobian(lambda y: fitted(y).x)(Y)
    differences = [(fitted(Y + step).x - fitted(Y - step).x) / 2e-4 for step in 1e-4 * np.eye(8)]
    np.testing.assert_allclose(rates, np.stack(differences, -1), rtol=1e-3, atol=1e-5)


def test_leastsq_and_a_loss_of_ones_own() -> None:
    def fitted(y: Any) -> Any:
        return optimize.leastsq(lambda p, y: curve(X, *p) - y, [1.0, 1.0], args=(y,), xtol=1e-12)[0]

    np.testing.assert_allclose(
        ta.jacobian(fitted)(Y), ta.jacobian(lambda y: best(X, y))(Y), atol=1e-6
    )
    y = ta.ComputationRecord().tensor(Y)
    own = lambda z: np.stack([z, np.ones_like(z), np.zeros_like(z)])  # noqa: E731 - it is short
    with pytest.raises(UnsupportedArgumentError, match="loss= is a function of its own"):
        optimize.least_squares(lambda p: curve(X, *p) - y, [1.0, 1.0], loss=own)


A, B = RNG.standard_normal((6, 4)), RNG.standard_normal(6)


def test_linear_least_squares() -> None:
    assert np.count_nonzero(optimize.nnls(A, B)[0]) == 2
    checked(lambda a: optimize.nnls(a, B)[0], (A,))
    checked(lambda b: optimize.nnls(A, b)[1], (B,))
    np.testing.assert_array_equal(
        optimize.nnls(ta.ComputationRecord().tensor(A), B)[0].data, scipy.optimize.nnls(A, B)[0]
    )
    bounds = (-0.2, 0.1)
    assert np.all(optimize.lsq_linear(A, B, bounds).active_mask)
    checked(lambda a: optimize.lsq_linear(a, B, (-0.3, 0.6)).x, (A,))
    checked(lambda b: optimize.lsq_linear(A, b).cost, (B,))
    checked(lambda u: optimize.lsq_linear(A, B, (-0.2, u)).x, (np.full(4, 0.1),))


def test_columns_that_are_not_independent_are_an_error() -> None:
    a = ta.ComputationRecord().tensor(np.ones((3, 2)))
    with pytest.raises(SingularJacobianError, match="lsq_linear: the Jacobian"):
        optimize.lsq_linear(a, np.ones(3))


# Corners


def test_linear_programs() -> None:
    def corner(c: Any, a: Any, b: Any) -> Any:
        return optimize.linprog(c, a, b, bounds=[(0, 3), (0, None), (0, None)])

    c, a, b = np.array([-1.0, -2, 0.5]), np.array([[1.0, 1, 0], [0, 1, -1]]), np.array([4.0, 1])
    plain = scipy.optimize.linprog(c, a, b, bounds=[(0, 3), (0, None), (0, None)])
    ours = corner(c, ta.ComputationRecord().tensor(a), b)
    np.testing.assert_array_equal(ours.x.data, plain.x)
    np.testing.assert_array_equal(ours.slack.data, plain.slack)
    checked(lambda *arrays: corner(*arrays).x, (c, a, b))
    checked(lambda *arrays: corner(*arrays).fun, (c, a, b))
    checked(lambda e: optimize.linprog(c, a, b, a[:1], e).x, (np.array([2.0]),))
    flat = ta.ComputationRecord().tensor(np.array([1.0, 1.0]))
    with pytest.raises(SingularJacobianError, match="linprog: the Jacobian"):
        optimize.linprog(flat, A_eq=[[1.0, 1.0]], b_eq=[1.0], bounds=(-5, None))


def test_assignments_are_piecewise_constant() -> None:
    cost = np.array([[4.0, 1.0, 3.0], [2.0, 0.5, 5.0], [3.0, 2.0, 2.0]])
    handle = ta.ComputationRecord().tensor(cost)
    rows, columns = optimize.linear_sum_assignment(handle)
    np.testing.assert_array_equal(columns, scipy.optimize.linear_sum_assignment(cost)[1])
    chosen = np.zeros((3, 3))
    chosen[rows, columns] = 1.0
    np.testing.assert_array_equal(np.sum(handle[rows, columns]).grad().wrt(handle), chosen)


def test_a_fit_of_a_tree_that_closes_over_a_handle() -> None:
    def fit(a: Any) -> Any:
        def residual(z: Any) -> Any:
            return np.concatenate([z["u"] ** 2 - a, z["v"] - z["u"]])

        return optimize.least_squares(residual, {"u": np.ones(1), "v": np.ones(2)}).x["v"][1]

    np.testing.assert_allclose(ta.grad(fit)(4.0), 0.25, rtol=1e-6)

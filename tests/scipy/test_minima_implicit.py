"""Minima that SciPy finds, as handles: by the conditions that hold at them."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

import tape_ad as ta
from tape_ad.errors import (
    ConvergenceWarning,
    SingularJacobianError,
    UnsupportedArgumentError,
)
from tape_ad.scipy import optimize

Array = Any

close = functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-9)
checked = functools.partial(ta.testing.check_grads, order=2)


def hanging(x: Any, p: Any) -> Any:
    return np.sum(np.cosh(x - p)) + 0.5 * np.sum(x) ** 2


P = np.array([0.5, -0.2, 1.0])


# Minima of functions


@pytest.mark.parametrize("method", ["BFGS", "trust-exact", "Newton-CG", "L-BFGS-B", "Nelder-Mead"])
@pytest.mark.parametrize("closure", [False, True])
def test_minimize(method: str, closure: bool) -> None:
    def found(p: Any) -> Any:
        if closure:
            return optimize.minimize(lambda x: hanging(x, p), np.zeros(3), method, tol=1e-9)
        return optimize.minimize(hanging, np.zeros(3), method, args=(p,), tol=1e-9)

    plain, ours = found(P), found(ta.ComputationRecord().tensor(P))
    np.testing.assert_array_equal(ours.x.data, plain.x)
    assert (ours.fun.data, ours.nfev, ours.message) == (plain.fun, plain.nfev, plain.message)
    jacobian = ta.jacobian(lambda p: found(p).x)(P)
    exact = ta.jacobian(accurate)(P)
    np.testing.assert_allclose(jacobian, exact, rtol=1e-5, atol=1e-7)
    rates = ta.grad(lambda p: found(p).fun)(P)  # as exact as the minimum is
    np.testing.assert_allclose(rates, envelope(plain.x), rtol=1e-5)


def accurate(p: Any) -> Any:
    return optimize.minimize(hanging, np.zeros(3), "trust-exact", args=(p,), tol=1e-13).x


def envelope(x: Array) -> Array:
    """Give the derivative of the least value: that of the function, with x held."""
    return ta.grad(lambda p: hanging(x, p))(P)


def test_derivatives_of_a_minimum_are_those_of_differences() -> None:
    checked(accurate, (P,))


def test_trees_of_unknowns_and_of_parameters() -> None:
    def f(x: Any, p: Any) -> Any:
        return np.sum(np.cosh(x["a"] - p["m"])) + (x["b"] - p["n"] * x["a"][0]) ** 2

    def found(p: Any) -> Any:
        start = {"a": np.zeros(2), "b": 0.5}
        return optimize.minimize(f, start, "trust-exact", args=(p,), tol=1e-12).x

    checked(found, ({"m": np.array([0.5, 1.0]), "n": 2.0},))


def test_bounds_hold_and_move() -> None:
    def found(p: Any) -> Any:
        bounds = [(0, 0.3), (None, None), (None, p[0] / 2)]
        return optimize.minimize(
            hanging, np.zeros(3), "L-BFGS-B", args=(p,), bounds=bounds, tol=1e-14
        ).x

    ours, rates = found(P), ta.jacobian(found)(P)
    np.testing.assert_array_equal(ours[[0, 2]], [0.3, 0.25])
    close(rates[[0, 2]], [[0, 0, 0], [0.5, 0, 0]], atol=1e-14)
    curvature = 1 + np.cosh(ours[1] - P[1])  # of the one that is free
    close(rates[1], [-0.5 / curvature, np.cosh(ours[1] - P[1]) / curvature, 0], rtol=1e-5)
    upper = ta.ComputationRecord().tensor(np.array([0.1, 9.0, 9.0]))
    limits = Bounds(np.full(3, -9.0), upper)
    held = optimize.minimize(hanging, np.zeros(3), args=(P,), bounds=limits).x
    np.testing.assert_array_equal(held[0].grad().wrt(upper), [1.0, 0.0, 0.0])


NEAREST = np.array([2.0, 1.0, 1.5])


def distance(x: Any, p: Any) -> Any:
    return np.sum((x - p[:2]) ** 2)


def on_disk(p: Any) -> Any:
    return np.sqrt(p[2]) * p[:2] / np.sqrt(np.sum(p[:2] ** 2))


def on_line(p: Any) -> Any:
    return p[:2] - (np.sum(p[:2]) - p[2]) / 2


CONSTRAINTS: dict[str, tuple[Any, Any]] = {
    "inequality": (
        lambda p: {"type": "ineq", "fun": lambda x, p: p[2] - np.sum(x**2), "args": (p,)},
        on_disk,
    ),
    "equation, and one without effect": (
        lambda p: [
            {"type": "eq", "fun": lambda x: x[0] + x[1] - p[2]},
            {"type": "ineq", "fun": lambda x: x[0] + 9},
        ],
        on_line,
    ),
    "nonlinear": (
        lambda p: NonlinearConstraint(lambda x: np.sum(x**2) - p[2], -np.inf, 0.0),
        on_disk,
    ),
    "linear": (lambda p: LinearConstraint(np.ones((1, 2)), -np.inf, p[2:]), on_line),
}


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_constraints_hold_and_move(kind: str) -> None:
    constraints, formula = CONSTRAINTS[kind]

    def found(p: Any) -> Any:
        start = np.array([0.1, 0.2])
        return optimize.minimize(
            distance, start, "SLSQP", args=(p,), tol=1e-12, constraints=constraints(p)
        ).x

    close(found(NEAREST), formula(NEAREST))
    close(ta.jacobian(found)(NEAREST), ta.jacobian(formula)(NEAREST))
    second = ta.jacobian(ta.jacobian(formula))(NEAREST)
    close(ta.jacobian(ta.jacobian(found))(NEAREST), second, atol=1e-8)


def test_constraints_that_depend_on_each_other_are_an_error() -> None:
    p = ta.ComputationRecord().tensor(NEAREST)
    line = {"type": "ineq", "fun": lambda x: p[2] - x[0] - x[1]}
    twice = {"type": "ineq", "fun": lambda x: 2 * p[2] - 2 * x[0] - 2 * x[1]}
    corner = [line, {"type": "ineq", "fun": lambda x: 0.6 - x[0]}, twice]
    result = optimize.minimize(
        distance, np.array([0.1, 0.2]), "COBYLA", args=(p,), constraints=corner[:1], tol=1e-8
    )
    close(result.x.data, on_line(NEAREST), rtol=1e-5)
    with pytest.raises(SingularJacobianError, match="minimize: the Jacobian"):
        optimize.minimize(lambda x: np.sum(x) * p[0] * 0 + (x[0] - p[1]) ** 2, np.zeros(2))


def test_what_the_conditions_of_a_minimum_cannot_tell_warns() -> None:
    p = ta.ComputationRecord().tensor(P)
    with pytest.warns(ConvergenceWarning, match="minimize has not succeeded"):
        optimize.minimize(hanging, np.full(3, 9.0), args=(p,), options={"maxiter": 1})


def test_a_start_that_is_a_handle_has_no_influence() -> None:
    x0 = ta.ComputationRecord().tensor(np.zeros(3))
    x = optimize.minimize(hanging, x0, args=(P,)).x
    np.testing.assert_array_equal(np.sum(x).grad().wrt(x0), 0.0)


def test_handles_in_options_are_refused() -> None:
    tol = ta.ComputationRecord().tensor(1e-3)
    with pytest.raises(UnsupportedArgumentError, match="minimize: the argument tol="):
        optimize.minimize(hanging, np.zeros(3), args=(P,), tol=tol)
    with pytest.raises(UnsupportedArgumentError, match="least_squares: the argument xtol="):
        optimize.least_squares(lambda x: x, [1.0], xtol=tol)
    with pytest.raises(UnsupportedArgumentError, match="check_grad, for which there is"):
        optimize.check_grad(np.sin, np.cos, tol)


# Functions of one number


def bowl(x: Any, a: Any) -> Any:
    return np.cosh(x - a) + 0.1 * x**4


SEARCHES: dict[str, Any] = {
    "minimize_scalar": lambda o, a: o.minimize_scalar(bowl, args=(a,), tol=1e-10).x,
    "bounded": lambda o, a: o.minimize_scalar(lambda x: bowl(x, a), bounds=(-4, 4)).x,
    "brent": lambda o, a: o.brent(bowl, (a,)),
    "golden": lambda o, a: o.golden(bowl, (a,), full_output=True)[0],
    "fminbound": lambda o, a: o.fminbound(bowl, -4, 4, (a,)),
    "its value": lambda o, a: o.minimize_scalar(bowl, args=(a,), tol=1e-10).fun,
}


@pytest.mark.parametrize("name", SEARCHES)
def test_minima_of_functions_of_one_number(name: str) -> None:
    def found(a: Any) -> Any:
        return SEARCHES[name](optimize, a)

    def exact(a: Any) -> Any:
        slope = ta.grad(bowl)
        x = optimize.brentq(lambda x: slope(x, a), 0.0, 4.0)
        return bowl(x, a) if name == "its value" else x

    handle = ta.ComputationRecord().tensor(2.0)
    if name != "bounded":  # which has a closure
        assert found(handle).data == SEARCHES[name](scipy.optimize, 2.0)
    ours, formula = ta.grad(found), ta.grad(exact)
    np.testing.assert_allclose(ours(2.0), formula(2.0), rtol=1e-5)
    np.testing.assert_allclose(ta.grad(ours)(2.0), ta.grad(formula)(2.0), rtol=1e-4)


def test_a_minimum_at_a_bound_moves_with_it() -> None:
    def found(a: Any) -> Any:
        return optimize.minimize_scalar(bowl, bounds=(a + 1, 7.0), args=(a,)).x

    assert ta.grad(found)(2.0) == 1.0


# Further searches


def tilted(x: Any, p: Any) -> Any:
    return np.sum(np.cosh(x - p)) + 0.1 * x[0] * x[1]


def with_slopes(x: Any, p: Any) -> Any:
    return tilted(x, p), np.sinh(x - p) + 0.1 * x[::-1]


BOX = [(-2.0, 2.0)] * 2

LEGACY: dict[str, Any] = {
    "fmin": lambda o, p: o.fmin(tilted, np.zeros(2), (p,), xtol=1e-9, ftol=1e-12, disp=0),
    "fmin_bfgs": lambda o, p: o.fmin_bfgs(tilted, np.zeros(2), args=(p,), disp=0),
    "fmin_cg": lambda o, p: o.fmin_cg(tilted, np.zeros(2), args=(p,), disp=0, full_output=1)[0],
    "fmin_powell": lambda o, p: o.fmin_powell(tilted, np.zeros(2), (p,), disp=0),
    "fmin_l_bfgs_b": lambda o, p: o.fmin_l_bfgs_b(
        tilted, np.zeros(2), args=(p,), approx_grad=True, bounds=BOX
    )[0],
    "fmin_l_bfgs_b of a pair": lambda o, p: o.fmin_l_bfgs_b(
        with_slopes, np.zeros(2), args=(p,), pgtol=1e-9, factr=10
    )[0],
    "fmin_tnc of a pair": lambda o, p: o.fmin_tnc(with_slopes, np.zeros(2), args=(p,), disp=0)[0],
    "differential_evolution": lambda o, p: o.differential_evolution(tilted, BOX, (p,), seed=0).x,
    "dual_annealing": lambda o, p: o.dual_annealing(tilted, BOX, (p,), maxiter=20, seed=0).x,
    "shgo": lambda o, p: o.shgo(tilted, BOX, (p,)).x,
    "basinhopping": lambda o, p: (
        o.basinhopping(tilted, np.zeros(2), niter=2, minimizer_kwargs={"args": (p,)}, seed=0).x
    ),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # SciPy 1.17 has rng= for seed=
@pytest.mark.parametrize("name", LEGACY)
def test_legacy_and_global_minimizers(name: str) -> None:
    def found(p: Any) -> Any:
        return LEGACY[name](optimize, p)

    def exact(p: Any) -> Any:
        return optimize.minimize(tilted, np.zeros(2), "trust-exact", args=(p,), tol=1e-12).x

    handle = ta.ComputationRecord().tensor(P[:2])
    np.testing.assert_array_equal(found(handle).data, LEGACY[name](scipy.optimize, P[:2]))
    np.testing.assert_allclose(ta.jacobian(found)(P[:2]), ta.jacobian(exact)(P[:2]), atol=1e-6)
    tolerance = {"fmin": "maxiter", "shgo": "n"}
    if name in tolerance:
        options: dict[str, Any] = {tolerance[name]: handle[0]}
        with pytest.raises(UnsupportedArgumentError, match=f"{name}: the argument"):
            getattr(optimize, name)(tilted, BOX, (P[:2],), **options)


@pytest.mark.parametrize(
    "name", ["anderson", "broyden1", "broyden2", "diagbroyden", "newton_krylov"]
)
def test_legacy_root_finders(name: str) -> None:
    def found(p: Any) -> Any:
        return getattr(optimize, name)(lambda x: x**3 + x - p, np.zeros(2), f_tol=1e-10)

    handle = ta.ComputationRecord().tensor(P[:2])
    np.testing.assert_array_equal(found(handle).data, found(P[:2]))
    close(ta.jacobian(found)(P[:2]), np.diag(1 / (3 * found(P[:2]) ** 2 + 1)))


def test_rosenbrocks_function() -> None:
    x, v = np.array([1.3, 0.7, 0.8, 1.9]), np.array([1.0, -2.0, 0.5, 3.0])
    handle = ta.ComputationRecord().tensor(x)
    calls: Any = [
        (optimize.rosen, scipy.optimize.rosen, ()),
        (optimize.rosen_der, scipy.optimize.rosen_der, ()),
        (optimize.rosen_hess, scipy.optimize.rosen_hess, ()),
        (optimize.rosen_hess_prod, scipy.optimize.rosen_hess_prod, (v,)),
    ]
    for ours, theirs, more in calls:
        close(ours(handle, *more).data, theirs(x, *more), rtol=1e-13)
        np.testing.assert_array_equal(ours(x, *more), theirs(x, *more))
        checked(lambda x, ours=ours, more=more: ours(x, *more), (x,))
    close(ta.grad(optimize.rosen)(x), scipy.optimize.rosen_der(x))
    close(ta.hessian(optimize.rosen)(x), scipy.optimize.rosen_hess(x))


@pytest.mark.parametrize("start", [[0.0, 0.0], (0, 0)])
def test_a_list_of_numbers_is_a_vector_as_it_is_for_scipy(start: Sequence[float]) -> None:
    def best(a: Array) -> Array:
        found = ta.scipy.optimize.minimize(lambda x: np.sum((x - a) ** 2), start, tol=1e-10)
        return found.x

    target = np.array([0.4, 0.3])

    np.testing.assert_allclose(best(target), target, atol=1e-8)
    np.testing.assert_allclose(ta.jacobian(best)(target), np.eye(2), atol=1e-8)

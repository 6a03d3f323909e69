"""What SciPy's solvers find, as handles: by the implicit function theorem."""

import functools
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import tape_ad as ta
from tape_ad.errors import (
    ConvergenceWarning,
    DtypeError,
    SingularJacobianError,
    UnsupportedArgumentError,
)
from tape_ad.scipy import optimize

Array = Any

close = functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-9)


# Roots of vector functions


def meeting(x: Any, p: Any) -> Any:
    """Give the residual of x0² = p0 x1 and x1 = p1."""
    return [x[0] ** 2 - p["a"] * x[1], x[1] - p["b"]]


def product(p: Any) -> Any:
    """Give the formula for x0 x1."""
    return np.sqrt(p["a"]) * p["b"] ** 1.5


P = {"a": 2.0, "b": 3.0}

ROOTS = ("hybr", "lm", "broyden1", "broyden2", "anderson", "krylov", "df-sane", "diagbroyden")


@pytest.mark.parametrize("method", ROOTS)
@pytest.mark.parametrize("closure", [False, True])
def test_root(method: str, closure: bool) -> None:
    def found(p: Any) -> Any:
        if closure:
            return optimize.root(lambda x: meeting(x, p), [2.0, 2.5], method=method, tol=1e-9)
        return optimize.root(meeting, [2.0, 2.5], (p,), method, tol=1e-9)

    def area(p: Any) -> Any:
        x = found(p).x
        return x[0] * x[1]

    jac = ta.jacobian(meeting) if method in {"hybr", "lm"} else None
    theirs = scipy.optimize.root(meeting, [2.0, 2.5], (P,), method, jac, tol=1e-9)
    ours = found(ta.ComputationRecord().bind(P))
    np.testing.assert_array_equal(ours.x.data, theirs.x)
    assert (ours.success, ours.nfev, ours.message) == (True, theirs.nfev, theirs.message)
    assert type(ours.fun) is ta.Tensor
    for name, slope in ta.grad(area)(P).items():
        close(slope, ta.grad(product)(P)[name])


def test_derivatives_of_the_second_and_the_third_order() -> None:
    def area(p: Any) -> Any:
        x = optimize.root(meeting, [2.0, 2.5], (p,), tol=1e-13).x
        return x[0] * x[1]

    ours, formula = ta.hessian(area)(P), ta.hessian(product)(P)
    for one in P:
        for other in P:
            close(ours[one][other], formula[one][other])
    third = ta.grad(ta.grad(ta.grad(lambda a: area({"a": a, "b": 3.0}))))
    close(third(2.0), ta.grad(ta.grad(ta.grad(lambda a: product({"a": a, "b": 3.0}))))(2.0))


def test_explicit_records_within_one_another() -> None:
    outer = ta.ComputationRecord()
    a = outer.tensor(2.0)
    inner = ta.ComputationRecord(within=outer)
    b = inner.tensor(a)
    slope = optimize.root(lambda x: x**3 - b, [1.0]).x[0].grad().wrt(b)
    close(slope.data, 2.0 ** (-2 / 3) / 3)
    close(slope.grad().wrt(a), -(2.0 ** (-5 / 3)) * 2 / 9)


def test_forward_mode_and_stacks_of_seeds() -> None:
    def found(p: Any) -> Any:
        return optimize.root(lambda x: x**3 + x - p, np.ones(3)).x

    p = np.array([1.0, 2.0, 5.0])
    diagonal = np.diag(1 / (3 * found(p) ** 2 + 1))
    close(ta.jacobian(found)(p), diagonal)
    close(ta.jacobian(found, mode="forward")(p), diagonal)


def test_a_jacobian_of_the_users_own_is_used_by_the_search() -> None:
    calls = []

    def jac(x: Any, a: Any) -> Any:
        calls.append(x)
        return np.diag(2 * x) * (1 + 0 * a)

    rec = ta.ComputationRecord()
    a = rec.tensor(4.0)

    def f(x: Any, a: Any) -> Any:
        return x**2 - a

    def both(x: Any, a: Any) -> Any:
        return f(x, a), jac(x, a)

    searches: Any = ((f, jac), (both, True))
    for fun, given in searches:
        x = optimize.root(fun, [1.0], (a,), jac=given).x
        close(x.data, 2.0)
        close(x[0].grad().wrt(a), 0.25)
    assert calls


def test_fsolve() -> None:
    a = ta.ComputationRecord().tensor(4.0)
    x = optimize.fsolve(lambda x, a: x**2 - a, [1.0], args=a)
    close(x[0].grad().wrt(a), 0.25)
    x, info, code, message = optimize.fsolve(lambda x, a: x**2 - a, [1.0], a, full_output=True)
    theirs = scipy.optimize.fsolve(
        lambda x, a: x**2 - a, [1.0], 4.0, lambda x, a: np.diag(2 * x), full_output=True
    )
    np.testing.assert_array_equal(x.data, theirs[0])
    assert (info["nfev"], code, message) == (theirs[1]["nfev"], *theirs[2:])
    np.testing.assert_array_equal(optimize.fsolve(lambda x: x**2 - 4, [1.0]), theirs[0])


# Roots of functions of one number


def cube(x: Any, a: Any) -> Any:
    return x**3 - a


def cube_root_slopes(a: float) -> list[float]:
    return [a ** (-2 / 3) / 3, -2 / 9 * a ** (-5 / 3)]


@pytest.mark.parametrize("name", ["brentq", "brenth", "ridder", "bisect", "toms748"])
def test_brackets(name: str) -> None:
    search, theirs = getattr(optimize, name), getattr(scipy.optimize, name)

    def found(a: Any) -> Any:
        return search(cube, 0.0, 3.0, args=(a,))

    def found_by_closure(a: Any) -> Any:
        return search(lambda x: x**3 - a, 0.0, 3.0)

    for f in (found, found_by_closure):
        assert f(8.5) == theirs(cube, 0.0, 3.0, args=(8.5,))
        assert f(ta.ComputationRecord().tensor(8.5)).data == f(8.5)
        close([ta.grad(f)(8.5), ta.grad(ta.grad(f))(8.5)], cube_root_slopes(8.5))
    a = ta.ComputationRecord().tensor(8.5)
    x, info = search(cube, 0.0, 3.0, args=(a,), full_output=True)
    assert info.converged
    assert info.root is x
    start = ta.ComputationRecord().tensor(3.0)
    x = search(lambda x: x**3 - 8.5, 0.0, start)
    assert x.grad().wrt(start) == 0.0


@pytest.mark.parametrize(
    "options",
    [
        {"bracket": [0.0, 3.0]},
        {"bracket": [0.0, 3.0], "method": "bisect"},
        {"x0": 1.0, "x1": 2.5, "method": "secant"},
        {"x0": 1.5, "fprime": lambda x, a: 3 * x**2, "method": "newton"},
        {
            "x0": 1.5,
            "fprime": lambda x, a: 3 * x**2,
            "fprime2": lambda x, a: 6 * x,
            "method": "halley",
        },
    ],
)
def test_root_scalar(options: dict[str, Any]) -> None:
    def found(a: Any) -> Any:
        return optimize.root_scalar(cube, args=(a,), **options).root

    assert found(8.5) == scipy.optimize.root_scalar(cube, args=(8.5,), **options).root
    close([ta.grad(found)(8.5), ta.grad(ta.grad(found))(8.5)], cube_root_slopes(8.5))


def test_a_function_that_gives_its_derivative_too() -> None:
    def both(x: Any, a: Any) -> Any:
        return cube(x, a), 3 * x**2

    def found(a: Any) -> Any:
        return optimize.root_scalar(both, args=(a,), x0=1.5, fprime=True).root

    close(ta.grad(found)(8.5), cube_root_slopes(8.5)[0])


@pytest.mark.parametrize("full_output", [False, True])
def test_newton(full_output: bool) -> None:
    def found(a: Any, **options: Any) -> Any:
        result = optimize.newton(cube, 1.5, args=(a,), full_output=full_output, **options)
        return result[0] if full_output else result

    assert found(8.5) == scipy.optimize.newton(cube, 1.5, args=(8.5,))
    for options in ({}, {"fprime": lambda x, a: 3 * x**2}, {"x1": 2.0, "rtol": 1e-12}):
        f = functools.partial(found, **options)
        close([ta.grad(f)(8.5), ta.grad(ta.grad(f))(8.5)], cube_root_slopes(8.5))


def test_newton_on_arrays() -> None:
    def found(a: Any) -> Any:
        return optimize.newton(cube, np.full(3, 1.5), args=(a,))

    a = np.array([1.0, 8.0, 20.0])
    handle = ta.ComputationRecord().tensor(a)
    theirs = scipy.optimize.newton(cube, np.full(3, 1.5), args=(a,))
    np.testing.assert_array_equal(found(handle).data, theirs)
    slopes = np.array([cube_root_slopes(each) for each in a])
    close(ta.jacobian(found)(a), np.diag(slopes[:, 0]))
    close(ta.hessian(lambda a: np.sum(found(a)))(a), np.diag(slopes[:, 1]))
    full = optimize.newton(cube, np.full(3, 1.5), args=(handle,), full_output=True)
    assert np.all(full.converged)
    np.testing.assert_array_equal(full.root.data, theirs)


@pytest.mark.parametrize("method", ["del2", "iteration"])
def test_fixed_point(method: str) -> None:
    def found(p: Any) -> Any:
        g = lambda x, p: np.cos(x) * p + np.sum(x) / 10  # noqa: E731 - it is short
        return optimize.fixed_point(g, np.full(2, 0.5), (p,), 1e-12, method=method)

    p = np.array([0.5, 0.7])
    ta.testing.check_grads(found, (p,), order=2, modes=["rev"])
    average = lambda x, p: (x + p / x) / 2  # noqa: E731 - it is short
    close(ta.grad(lambda p: optimize.fixed_point(average, 1.0, args=(p,)))(4.0), 0.25)


# What goes wrong


def test_a_singular_jacobian_is_an_error() -> None:
    a = ta.ComputationRecord().tensor(0.0)
    with pytest.raises(SingularJacobianError, match=r"brentq: the Jacobian .* is singular"):
        optimize.brentq(lambda x: x**3 - a, -1.0, 1.0)
    with pytest.raises(SingularJacobianError, match="root: the Jacobian"):
        optimize.root(lambda x: [x[0] + x[1] - a, 2 * x[0] + 2 * x[1] - 2 * a], [0.0, 0.0])
    assert optimize.brentq(lambda x: x**3, -1.0, 1.0) == 0.0


def test_a_search_that_fails_warns() -> None:
    a = ta.ComputationRecord().tensor(1.0)
    c = ta.ComputationRecord().tensor(1.3)
    with pytest.warns(ConvergenceWarning, match="fsolve has not succeeded"):
        optimize.fsolve(lambda z, c: z**2 + 1 + c, [1.0], args=(c,), full_output=True)
    with pytest.warns(RuntimeWarning, match="iteration is not making good progress"):
        optimize.fsolve(lambda z, c: z**2 + 1 + c, [1.0], args=(c,))
    with pytest.warns(ConvergenceWarning, match="root has not succeeded"):
        result = optimize.root(lambda x: x**3 - a, [50.0], options={"maxfev": 3})
    assert not result.success


def test_complex_solutions_are_refused() -> None:
    a = ta.ComputationRecord().tensor(1.0)
    with pytest.raises(DtypeError, match="newton: the derivatives of complex solutions"):
        optimize.newton(lambda x: x**2 + a, 0.5 + 1j)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("brentq: the argument xtol", lambda h: optimize.brentq(np.cos, 0.0, 3.0, xtol=h)),
        ("toms748: the argument k", lambda h: optimize.toms748(np.cos, 0.0, 3.0, (), h)),
        ("newton: the argument tol", lambda h: optimize.newton(np.cos, 1.0, tol=h)),
        ("fixed_point: the argument xtol", lambda h: optimize.fixed_point(np.cos, 1.0, xtol=h)),
        ("root: the argument tol", lambda h: optimize.root(np.cos, [1.0], tol=h)),
        ("fsolve: the argument factor", lambda h: optimize.fsolve(np.cos, [1.0], factor=h)),
        (
            "root_scalar: the argument rtol",
            lambda h: optimize.root_scalar(np.cos, bracket=[0, 3], rtol=h),
        ),
    ],
)
def test_handles_in_options_are_refused(name: str, call: Any) -> None:
    with pytest.raises(UnsupportedArgumentError, match=f"{name}="):
        call(ta.ComputationRecord().tensor(1e-3))


def test_a_solution_that_depends_on_no_handle_has_gradient_zero() -> None:
    x0 = ta.ComputationRecord().tensor([1.0])
    x = optimize.root(lambda x: x**2 - 4, x0).x
    assert x[0].grad().wrt(x0) == 0.0
    a = ta.ComputationRecord().tensor(1.0)
    assert optimize.newton(lambda x, a: x**2 - 4, 1.0, args=(a,)).grad().wrt(a) == 0.0


def squares_from(x: Any, a: Any) -> Any:
    return (x[0] - a) ** 2 + (x[1] - a * x[0]) ** 2


def test_unknowns_that_are_whole_numbers_do_not_move() -> None:
    def found(a: Any, bounds: Any) -> Any:
        search = optimize.differential_evolution
        return search(squares_from, bounds, (a,), integrality=[True, False], tol=1e-10, seed=1).x

    for bounds in ([(-2, 3), (-5, 5)], scipy.optimize.Bounds([-2, -5], [3, 5])):
        np.testing.assert_allclose(ta.jacobian(found)(1.2, bounds), [0.0, 1.0], atol=1e-12)
    moved = ta.jacobian(lambda end: found(2.6, [(-2, 3), (-5, end)]))(5.0)
    np.testing.assert_allclose(moved, [0.0, 1.0], atol=1e-12)


def test_a_search_by_several_processes() -> None:
    found = optimize.differential_evolution(
        squares_from, [(-2, 3), (-5, 5)], (1.0,), workers=2, updating="deferred", maxiter=1, seed=1
    )
    expected = scipy.optimize.differential_evolution(
        squares_from, [(-2, 3), (-5, 5)], (1.0,), updating="deferred", maxiter=1, seed=1
    )
    np.testing.assert_array_equal(found.x, expected.x)

"""Integrals of functions of handles, beside SciPy's, formulae and differences."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate

import tape_ad as ta
from tape_ad.errors import (
    DtypeError,
    NoModeError,
    RecordMismatchError,
    UnsupportedArgumentError,
)
from tape_ad.scipy import integrate
from tests.sampling import some

Array = Any

close = functools.partial(np.testing.assert_allclose, rtol=1e-8, atol=1e-10)
exact = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-14)


def differences(f: Callable[[Array], Any], p: Array, h: float = 1e-5) -> Array:
    """Derive by central differences, the parameters' axis last."""
    return np.stack([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(p.size)], axis=-1)


def bump(x: Any, p: Any) -> Any:
    return p[0] * np.exp(-p[1] * x * x) * np.cos(x)


P = np.array([1.3, 0.7])


def test_plain_calls_are_scipys() -> None:
    assert integrate.quad(bump, 0, 2, (P,)) == scipy.integrate.quad(bump, 0, 2, (P,))
    ours = integrate.quad(bump, 0, np.inf, (P,), full_output=1)
    theirs = scipy.integrate.quad(bump, 0, np.inf, (P,), full_output=1)
    assert ours[:2] == theirs[:2]
    assert ours[2]["neval"] == theirs[2]["neval"]
    args = (lambda y, x: x * np.exp(-x * y), 0, 1, 0, lambda x: 1 + x)
    assert integrate.dblquad(*args) == scipy.integrate.dblquad(*args)
    three = (lambda z, y, x: x + y * z, 0, 1, 0, lambda x: x, 0, lambda x, y: x + y)
    assert integrate.tplquad(*three) == scipy.integrate.tplquad(*three)
    ranges = [(0, 1), lambda y: (0, y)]
    many = (lambda x, y: x * y, ranges[::-1])
    assert integrate.nquad(*many, full_output=True) == scipy.integrate.nquad(
        *many, full_output=True
    )


LIMITS = [(0.0, 2.0), (2.0, -1.0), (0, np.inf), (-np.inf, np.inf)]


@pytest.mark.parametrize(("limits", "closure"), some(itertools.product(LIMITS, [False, True]), 3))
def test_quad_by_parameters(limits: Any, closure: bool) -> None:
    def by_closure(p: Any) -> Any:
        return integrate.quad(lambda x: bump(x, p), *limits)[0]

    def by_args(p: Any) -> Any:
        return integrate.quad(bump, limits[0], limits[1], args=(p,))[0]

    f = by_closure if closure else by_args
    handle = ta.ComputationRecord().tensor(P)
    assert f(handle).data == scipy.integrate.quad(bump, *limits, args=(P,))[0]
    close(ta.grad(f)(P), differences(f, P), atol=1e-9)
    close(ta.jacobian(f, mode="forward")(P), ta.grad(f)(P))
    close(ta.hessian(f)(P), differences(ta.grad(f), P), atol=1e-8)


def test_quad_by_its_limits() -> None:
    def area(p: Any) -> Any:
        return integrate.quad(lambda x: np.exp(p[0] * x), p[1], p[2])[0]

    def formula(p: Any) -> Any:
        return (np.exp(p[0] * p[2]) - np.exp(p[0] * p[1])) / p[0]

    p = np.array([0.7, -0.3, 1.1])
    exact(area(p), formula(p))
    exact(ta.grad(area)(p), ta.grad(formula)(p))
    exact(ta.hessian(area)(p), ta.hessian(formula)(p), rtol=1e-10)
    ta.testing.check_grads(area, (p,), order=2)


def test_third_derivatives_of_an_integral() -> None:
    def moment(k: Any) -> Any:
        return integrate.quad(lambda x: np.exp(-k * x), 0, np.inf)[0]  # 1 / k

    third = ta.grad(ta.grad(ta.grad(moment)))
    exact(third(2.0), -6 / 2.0**4, rtol=1e-9)


def test_an_infinite_limit_has_derivative_zero() -> None:
    slopes = ta.grad(lambda b: integrate.quad(lambda x: np.exp(-x), 0.0, b)[0])
    assert slopes(np.inf) == 0.0
    assert slopes(1.0) == pytest.approx(np.exp(-1))


def test_options_reach_the_integrals_of_derivatives() -> None:
    def f(p: Any) -> Any:  # singular at 0, with a kink
        return integrate.quad(
            lambda x: abs(x - 0.3) ** p[0] / np.sqrt(x), 0, 1, points=[0.3], epsabs=1e-12, limit=200
        )[0]

    p = np.array([1.5])
    close(ta.grad(f)(p), differences(f, p), rtol=1e-7)

    def weighted(p: Any) -> Any:
        return integrate.quad(lambda x: np.exp(p[0] * x), 0, 1, weight="cos", wvar=5.0)[0]

    close(ta.grad(weighted)(p), differences(weighted, p))


def test_complex_integrands_and_parameters() -> None:
    def f(p: Any) -> Any:
        return integrate.quad(lambda x: np.exp(1j * p[0] * x) * p[1], 0, 1, complex_func=True)[0]

    p = np.array([2.0, 0.5])
    plain = scipy.integrate.quad(lambda x: np.exp(2j * x) * 0.5, 0, 1, complex_func=True)[0]
    assert f(p) == plain
    close(ta.grad(lambda p: np.abs(f(p)) ** 2)(p), differences(lambda p: np.abs(f(p)) ** 2, p))

    def g(z: Any) -> Any:
        return integrate.quad(lambda x: np.real(1j * np.exp(z * x)), 0, 1)[0]

    slope, z, h = ta.grad(g)(1 + 2j), 1 + 2j, 1e-6
    close(slope.real, (g(z + h) - g(z - h)) / (2 * h), rtol=1e-7)
    close(slope.imag, (g(z + 1j * h) - g(z - 1j * h)) / (2 * h), rtol=1e-7)


def test_an_integral_that_depends_on_no_handle_has_gradient_zero() -> None:
    rec = ta.ComputationRecord()
    p = rec.tensor(2.0)
    value, _ = integrate.quad(lambda x, p: x * x, 0, 1, args=(p,))
    assert type(value) is ta.Tensor
    assert value.grad().wrt(p) == 0.0


def test_handles_that_are_no_leaves() -> None:
    rec = ta.ComputationRecord()
    p = rec.tensor(2.0)
    k = p * 3
    value, _ = integrate.quad(lambda x: k * x**2 + p, 0, 1)
    grads = value.grad()
    exact([grads.wrt(k), grads.wrt(p)], [1 / 3, 2.0])


def test_a_function_that_keeps_handles_is_refused() -> None:
    kept: dict[float, Any] = {}

    def f(x: Any, p: Any) -> Any:
        if x not in kept:
            kept[x] = np.exp(-p * x)
        return kept[x]

    p = ta.ComputationRecord().tensor(2.0)
    integrate.quad(f, 0, 1, args=(2.0,))
    kept.clear()
    with pytest.raises(UnsupportedArgumentError, match="keeps handles from one call"):
        integrate.quad(f, 0, 1, args=(p,))


def test_handles_of_records_that_have_nothing_to_do_with_each_other_are_refused() -> None:
    one, other = (ta.ComputationRecord().tensor(0.5) for _ in range(2))
    with pytest.raises(RecordMismatchError, match="neither is within the other"):
        integrate.quad(lambda x: one * x, 0, other)
    with pytest.raises(RecordMismatchError):
        integrate.solve_ivp(lambda t, y: one * y, (0, 1), other.reshape(1))


@pytest.mark.parametrize("name", ["epsabs", "points", "wvar", "limit"])
def test_handles_in_options_of_quad_are_refused(name: str) -> None:
    p: Any = ta.ComputationRecord().tensor(0.5)
    options: dict[str, Any] = {name: p}
    with pytest.raises(UnsupportedArgumentError, match=f"quad: the argument {name}="):
        integrate.quad(np.exp, 0, 1, **options)
    with pytest.raises(UnsupportedArgumentError, match="quad_vec: the argument epsrel="):
        integrate.quad_vec(np.exp, 0, 1, epsrel=p)
    with pytest.raises(UnsupportedArgumentError, match="with weight=: the argument b="):
        integrate.quad(np.exp, 0, p, weight="cos", wvar=1.0)


def test_quad_vec() -> None:
    def f(p: Any) -> Any:
        integrand = lambda x, p: np.stack([bump(x, p), p[1] * x + 0 * p[0]]).reshape(1, 2)  # noqa: E731
        return integrate.quad_vec(integrand, 0, p[2], args=(p,))[0]

    p = np.array([1.3, 0.7, 1.5])
    handle = ta.ComputationRecord().tensor(p)
    assert f(handle).shape == (1, 2)
    np.testing.assert_array_equal(f(handle).data, f(p))
    close(ta.jacobian(f)(p), differences(f, p), atol=1e-9)
    second = ta.jacobian(ta.jacobian(f))
    close(second(p), differences(ta.jacobian(f), p), atol=1e-8)
    ours = integrate.quad_vec(lambda x: np.array([x, x**2]), 0, 1, full_output=True)
    theirs = scipy.integrate.quad_vec(lambda x: np.array([x, x**2]), 0, 1, full_output=True)
    np.testing.assert_array_equal(ours[0], theirs[0])
    assert ours[2].neval == theirs[2].neval
    with pytest.raises(DtypeError, match="real and the imaginary part"):
        ta.grad(lambda k: np.abs(integrate.quad_vec(lambda x: np.exp(1j * k * x), 0, 1)[0]))(2.0)


def test_several_variables() -> None:
    def f(p: Any) -> Any:
        return integrate.dblquad(
            lambda y, x: np.exp(-p[0] * x * y), 0, p[1], lambda x: x * p[0], 2.0
        )[0]

    p = np.array([0.8, 0.5])
    assert f(ta.ComputationRecord().tensor(p)).data == f(p)
    close(ta.grad(f)(p), differences(f, p))

    def cube(k: Any) -> Any:
        return integrate.nquad(lambda x, y, k: x * y**k, [(0, 2), (0, 1)], args=(k,))[0]

    exact(ta.grad(cube)(2.0), -2 / 9)


def test_handles_are_refused_where_there_is_no_derivative() -> None:
    x = ta.ComputationRecord().tensor([0.0, 1.0, 2.0])
    with pytest.raises(UnsupportedArgumentError, match="newton_cotes: the argument rn="):
        integrate.newton_cotes(x)
    with pytest.raises(NoModeError, match="the custom rule of solve_ivp has no push"):
        ta.jvp(lambda y: integrate.solve_ivp(np.multiply, (0, 1), y, "LSODA").y, (P,), (P,))


def test_no_output() -> None:
    y0 = ta.ComputationRecord().tensor([1.0])
    assert np.size(integrate.solve_ivp(lambda t, y: -y, (0, 1), y0, t_eval=[]).y) == 0


def test_fixed_quad() -> None:
    def f(p: Any) -> Any:
        return integrate.fixed_quad(lambda x: p[0] * np.exp(p[1] * x), p[1], 2.0, n=6)[0]

    ta.testing.check_grads(f, (P,), order=2)
    assert f(ta.ComputationRecord().tensor(P)).data == f(P)

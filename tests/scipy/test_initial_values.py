"""Initial value problems on handles, beside SciPy's, formulae and differences."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate

import tape_ad as ta
from tape_ad.errors import (
    ConvergenceWarning,
    SingularJacobianError,
    UnsupportedArgumentError,
)
from tape_ad.scipy import integrate

Array = Any

close = functools.partial(np.testing.assert_allclose, rtol=1e-8, atol=1e-10)
exact = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-14)


def differences(f: Callable[[Array], Any], p: Array, h: float = 1e-5) -> Array:
    """Derive by central differences, the parameters' axis last."""
    return np.stack([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(p.size)], axis=-1)


# Initial value problems

OMEGA, SPAN = 2.0, 3.0
TIGHT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
STEPS = ("RK45", "RK23", "DOP853")


def oscillator(t: Any, y: Any, square: Any) -> Any:
    return [y[1], -square * y[0]]


def amplitude(p: Any) -> Any:
    """Give the formula for y(T) of the oscillator: p has ω², y(0), y'(0) and T."""
    omega = np.sqrt(p[0])
    return p[1] * np.cos(omega * p[3]) + p[2] * np.sin(omega * p[3]) / omega


def solved(p: Any, **options: Any) -> Any:
    options = {**TIGHT, "method": "DOP853"} | options
    return integrate.solve_ivp(oscillator, (0.0, p[3]), p[1:3], args=(p[0],), **options)


PHASE = np.array([OMEGA, 1.0, 0.5, SPAN])


@pytest.mark.parametrize("method", STEPS)
@pytest.mark.parametrize("options", [{}, {"t_eval": np.linspace(0, 3, 5)}, {"dense_output": True}])
def test_values_are_scipys(method: str, options: Any) -> None:
    rec = ta.ComputationRecord()
    y0, square = rec.tensor(PHASE[1:3]), rec.tensor(OMEGA)
    ours = integrate.solve_ivp(oscillator, (0, SPAN), y0, method, args=(square,), **options)
    theirs = scipy.integrate.solve_ivp(
        oscillator, (0, SPAN), PHASE[1:3], method, args=(OMEGA,), **options
    )
    np.testing.assert_array_equal(ours.y.data, theirs.y)
    np.testing.assert_array_equal(ours.t, theirs.t)
    assert (ours.nfev, ours.status, ours.message) == (theirs.nfev, 0, theirs.message)
    if options.get("dense_output"):
        for t in (0.0, 0.7, SPAN, [0.1, 2.9]):
            exact(ours.sol(t).data, theirs.sol(t))
        assert (ours.sol.t_min, ours.sol.t_max) == (0.0, SPAN)
    plain = integrate.solve_ivp(oscillator, (0, SPAN), PHASE[1:3], method, args=(OMEGA,), **options)
    np.testing.assert_array_equal(plain.y, theirs.y)


@pytest.mark.parametrize(
    ("method", "adjoint"),
    [*((m, "steps") for m in STEPS), *((m, "adjoint") for m in (*STEPS, "LSODA", "Radau", "BDF"))],
)
def test_gradients_are_those_of_the_formula(method: str, adjoint: str) -> None:
    is_coarse = method in {"RK23", "Radau", "BDF"}  # of low order: they take many steps
    options: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-8} if is_coarse else TIGHT

    def end(p: Any) -> Any:
        return solved(p, method=method, adjoint=adjoint, **options).y[0, -1]

    error = 2e-5 if is_coarse else 1e-7
    close(ta.grad(end)(PHASE), ta.grad(amplitude)(PHASE), rtol=error, atol=error)


@pytest.mark.parametrize("method", STEPS)
def test_the_steps_have_exact_derivatives_however_coarse_they_are(method: str) -> None:
    fixed: dict[str, Any] = {"first_step": 0.5, "max_step": 0.5, "rtol": 1e3, "atol": 1e3}

    def states(p: Any) -> Any:
        return integrate.solve_ivp(
            oscillator, (0.0, 3.0), p[1:], method, np.array([0.4, 2.9]), args=(p[0],), **fixed
        ).y

    ta.testing.check_grads(states, (PHASE[:3],), order=2)


def test_second_order_by_the_steps() -> None:
    def end(p: Any) -> Any:
        return solved(p).y[0, -1]

    close(ta.hessian(end)(PHASE), ta.hessian(amplitude)(PHASE), rtol=1e-6, atol=1e-7)


def test_second_order_by_the_adjoint_equation() -> None:
    def end(p: Any) -> Any:
        decay = lambda t, y, rate: -rate * y * t  # noqa: E731 - it is short
        return integrate.solve_ivp(
            decay, (0.0, p[0]), p[1:2], args=(p[2],), adjoint="adjoint", rtol=1e-8, atol=1e-10
        ).y[0, -1]

    def formula(p: Any) -> Any:
        return p[1] * np.exp(-p[2] * p[0] ** 2 / 2)

    p = np.array([1.0, 2.0, 0.6])
    close(ta.hessian(end)(p), ta.hessian(formula)(p), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("adjoint", ["steps", "adjoint"])
def test_times_of_output(adjoint: str) -> None:
    def positions(t: Any) -> Any:
        return integrate.solve_ivp(
            oscillator, (0, SPAN), PHASE[1:3], "DOP853", t, args=(OMEGA,), adjoint=adjoint, **TIGHT
        ).y[0]

    t = np.array([0.5, 1.5, 3.0])
    formula = np.array([ta.grad(lambda s: amplitude([OMEGA, 1.0, 0.5, s]))(s) for s in t])
    np.testing.assert_allclose(ta.jacobian(positions)(t), np.diag(formula), atol=1e-6)


@pytest.mark.parametrize("adjoint", ["steps", "adjoint"])
def test_lists_stand_for_arrays(adjoint: str) -> None:
    def end(p: Any, y0: Any, t_eval: Any) -> Any:
        options = {"t_eval": t_eval, "args": (p,), "adjoint": adjoint}
        return np.sum(integrate.solve_ivp(oscillator, [0, 1], y0, **options, **TIGHT).y)

    of_lists = ta.grad(end)(OMEGA, [1.0, 0.5], [0.5, 1])
    assert of_lists == ta.grad(end)(OMEGA, np.array([1.0, 0.5]), np.array([0.5, 1.0]))


@pytest.mark.parametrize("adjoint", ["steps", "adjoint"])
def test_backward_in_time(adjoint: str) -> None:
    def start(p: Any) -> Any:
        return integrate.solve_ivp(
            oscillator, (p[3], 0.0), p[1:3], "RK45", args=(p[0],), adjoint=adjoint, **TIGHT
        ).y[0, -1]

    def formula(p: Any) -> Any:
        return amplitude([p[0], p[1], p[2], -p[3]])

    close(start(PHASE), formula(PHASE))
    close(ta.grad(start)(PHASE), ta.grad(formula)(PHASE), rtol=1e-6)


def test_trees_of_parameters_closures_and_vectorized_functions() -> None:
    def by_tree(p: Any) -> Any:
        f = lambda t, y, p, n: p["rate"] * y**n  # noqa: E731 - it is short
        tree = {"rate": p[0], "name": "decay"}
        return integrate.solve_ivp(f, (0, 1), p[1:], args=(tree, 1), **TIGHT).y[:, -1]

    def by_closure(p: Any) -> Any:
        return integrate.solve_ivp(lambda t, y: p[0] * y, (0, 1), p[1:], **TIGHT).y[:, -1]

    def by_columns(p: Any) -> Any:
        f = lambda t, y, rate: np.stack([rate * y[0], rate * y[1]])  # noqa: E731 - it is short
        solution = integrate.solve_ivp(f, (0, 1), p[1:], vectorized=True, args=(p[0],), **TIGHT)
        return solution.y[:, -1]

    p = np.array([-0.5, 2.0, 3.0])
    formula = ta.jacobian(lambda p: p[1:] * np.exp(p[0]))(p)
    for f in (by_tree, by_closure, by_columns):
        close(ta.jacobian(f)(p), formula)


def test_complex_states() -> None:
    def end(p: Any, adjoint: str) -> Any:
        start = np.stack([p[1] + 0j])
        f = lambda t, y, w: 1j * w * y  # noqa: E731 - it is short
        y = integrate.solve_ivp(f, (0, 1), start, args=(p[0],), adjoint=adjoint, **TIGHT).y[0, -1]
        return y.real + 2 * y.imag

    def formula(p: Any) -> Any:
        return p[1] * (np.cos(p[0]) + 2 * np.sin(p[0]))

    p = np.array([0.7, 1.2])
    for adjoint in ("steps", "adjoint"):
        close(ta.grad(end)(p, adjoint), ta.grad(formula)(p), rtol=1e-7)


# odeint


def test_odeint() -> None:
    def swapped(y: Any, t: Any, square: Any) -> Any:
        return oscillator(t, y, square)

    def end(p: Any) -> Any:
        times = np.array([0.0, 1.0, 2.0]) * p[3] / 2
        return integrate.odeint(swapped, p[1:3], times, (p[0],), rtol=1e-10, atol=1e-12)[-1, 0]

    close(ta.grad(end)(PHASE), ta.grad(amplitude)(PHASE), rtol=1e-7)
    times = np.linspace(0, 3, 4)
    theirs = scipy.integrate.odeint(swapped, PHASE[1:3], times, (OMEGA,), full_output=True)
    square = ta.ComputationRecord().tensor(OMEGA)
    y, info = integrate.odeint(swapped, PHASE[1:3], times, (square,), full_output=True)
    np.testing.assert_array_equal(y.data, theirs[0])
    assert info["message"] == theirs[1]["message"]
    plain = integrate.odeint(oscillator, PHASE[1:3], times, (OMEGA,), tfirst=True)
    np.testing.assert_array_equal(plain, theirs[0])


def test_odeint_twice() -> None:
    def middle(p: Any) -> Any:
        times = np.stack([0.0 * p[0], p[1], 2 * p[1]])
        decay = lambda t, y, rate: -rate * y * t  # noqa: E731 - it is short
        return integrate.odeint(decay, p[:1], times, args=(p[2],), tfirst=True)[1, 0]

    def formula(p: Any) -> Any:
        return p[0] * np.exp(-p[2] * p[1] ** 2 / 2)

    p = np.array([2.0, 1.0, 0.6])
    close(ta.hessian(middle)(p), ta.hessian(formula)(p), rtol=1e-5, atol=1e-6)


def test_what_odeint_refuses() -> None:
    rate = ta.ComputationRecord().tensor(0.5)
    decay: Any = lambda y, t: -rate * y  # noqa: E731 - it is short
    with pytest.raises(UnsupportedArgumentError, match="odeint: what the function calls closes"):
        integrate.odeint(lambda y, t: 2 * decay(y, t), [1.0], [0.0, 1.0])
    with pytest.raises(UnsupportedArgumentError, match="odeint: the argument rtol="):
        integrate.odeint(lambda y, t: -y, [1.0], [0.0, 1.0], rtol=rate)


# Events


def falling(t: Any, y: Any, g: Any) -> Any:
    return [y[1], -g + 0 * y[0]]


def hit(t: Any, y: Any, g: Any) -> Any:
    return y[0]


def apex(t: Any, y: Any, g: Any) -> Any:
    return y[1]


hit.terminal, hit.direction = True, -1  # type: ignore[attr-defined]  # as SciPy asks for

THROW = np.array([10.0, 9.81])


def thrown(p: Any, **options: Any) -> Any:
    start = np.stack([0 * p[0], p[0]])
    return integrate.solve_ivp(falling, (0, 9), start, events=[hit, apex], args=(p[1],), **options)


@pytest.mark.parametrize(
    ("found", "formula"),
    [
        (lambda r: r.t_events[0][0], lambda p: 2 * p[0] / p[1]),
        (lambda r: r.t_events[1][0], lambda p: p[0] / p[1]),
        (lambda r: r.t[-1], lambda p: 2 * p[0] / p[1]),
        (lambda r: r.y[1, -1], lambda p: -p[0]),
        (lambda r: r.y_events[1][0, 0], lambda p: p[0] ** 2 / (2 * p[1])),
    ],
)
def test_events(found: Any, formula: Any) -> None:
    def f(p: Any) -> Any:
        return found(thrown(p))

    theirs = scipy.integrate.solve_ivp(
        falling, (0, 9), [0.0, 10.0], events=[hit, apex], args=(9.81,)
    )
    handle = ta.ComputationRecord().tensor(THROW)
    assert f(handle).data == found(theirs)
    close(ta.grad(f)(THROW), ta.grad(formula)(THROW))
    close(ta.hessian(f)(THROW), ta.hessian(formula)(THROW), atol=1e-9)


def test_an_event_that_never_happens() -> None:
    late = lambda t, y, g: t - 100  # noqa: E731 - it is short
    start = ta.ComputationRecord().tensor([0.0, 1.0])
    result = integrate.solve_ivp(falling, (0, 1), start, events=late, args=(9.81,))
    assert result.t_events[0].size == 0
    assert result.y_events[0].size == 0


# What is refused


def test_what_the_adjoint_equation_does_not_give_is_refused() -> None:
    y0 = ta.ComputationRecord().tensor(PHASE[1:3])
    call: Any = functools.partial(integrate.solve_ivp, oscillator, (0, 1), y0, args=(2.0,))
    for name, value in (("dense_output", True), ("events", hit)):
        with pytest.raises(UnsupportedArgumentError, match=f"{name}= is not given by the adjoint"):
            call(method="LSODA", **{name: value})
    with pytest.raises(UnsupportedArgumentError, match="adjoint='steps' is for the methods RK23"):
        call(method="BDF", adjoint="steps")
    with pytest.raises(ValueError, match="'steps', 'adjoint' or None"):
        call(adjoint="backsolve")
    with pytest.raises(UnsupportedArgumentError, match="rtol= is a handle"):
        call(rtol=y0[0])


@pytest.mark.parametrize("method", ["LSODA", "Radau"])
def test_the_adjoint_equation_and_closures(method: str) -> None:
    rate = ta.ComputationRecord().tensor(0.5)
    decay: Any = lambda t, y: -rate * y  # noqa: E731 - it is short
    with pytest.raises(UnsupportedArgumentError, match="closes over a handle"):
        integrate.solve_ivp(lambda t, y: 2 * decay(t, y), (0, 1), [1.0], method)

    def of(p: Any, jac: bool) -> Any:
        given: Any = {"jac": lambda t, y: -p[0] * np.eye(1)} if jac else {}
        found = integrate.solve_ivp(
            lambda t, y: -p[0] * y + p[1], (0, 1), [1.0], method, rtol=1e-9, atol=1e-10, **given
        )
        return found.y[0, -1]

    def formula(p: Any) -> Any:
        return (1 - p[1] / p[0]) * np.exp(-p[0]) + p[1] / p[0]

    p = np.array([0.5, 0.3])
    for jac in (False, True):
        close(ta.grad(lambda p, jac=jac: of(p, jac))(p), ta.grad(formula)(p), rtol=1e-6)
    close(ta.hessian(lambda p: of(p, False))(p), ta.hessian(formula)(p), rtol=1e-5, atol=1e-6)


def test_odeint_of_a_function_that_closes_over_handles() -> None:
    def of(p: Any, **options: Any) -> Any:
        return integrate.odeint(lambda y, t: -p * y, [1.0], [0.0, 2.0], **options)[1, 0]

    for options in ({}, {"Dfun": lambda y, t: -0.5 * np.eye(1)}):
        close(ta.grad(lambda p, o=options: of(p, **o))(0.5), -2 * np.exp(-1), rtol=1e-6)


def test_a_solution_that_does_not_reach_the_end_warns() -> None:
    y0 = ta.ComputationRecord().tensor([1.0])
    with pytest.warns(ConvergenceWarning, match="solve_ivp has not succeeded"):
        result = integrate.solve_ivp(lambda t, y: y**2, (0, 2), y0)  # infinite at t = 1
    assert not result.success


def test_an_event_that_only_touches_zero_has_no_time() -> None:
    y0 = ta.ComputationRecord().tensor([1.0])
    flat = lambda t, y: (t - 0.5) ** 3 + 0 * y[0]  # noqa: E731 - it is short
    with pytest.raises(SingularJacobianError, match="event"):
        integrate.solve_ivp(
            lambda t, y: -y, (0, 1), y0, first_step=0.25, max_step=0.25, events=flat
        )

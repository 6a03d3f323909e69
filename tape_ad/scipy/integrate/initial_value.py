"""`solve_ivp` on handles: by the steps taken, or by the adjoint equation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from tape_ad import Tensor
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import any_handle, joined, plain, primal, refuse_handles
from tape_ad.extend.solvers import implicit, lent, on_plain_arrays, valued, warn_unconverged
from tape_ad.scipy.integrate.adjoint import (
    Problem,
    as_options,
    by_adjoint,
    differentiable,
    without_handles,
)
from tape_ad.scipy.integrate.runge_kutta import METHODS, DenseSolution, steps_of, watched

__all__ = ["odeint", "solve_ivp"]

Function = Callable[..., Any]


def solve_ivp(
    fun: Function,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    adjoint: str | None = None,
    adjoint_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Solve an initial value problem dy/dt = fun(t, y), as `scipy.integrate.solve_ivp` does.

    Parameters
    ----------
    fun : callable
        ``fun(t, y, *args)``, written in NumPy where derivatives are asked for.
    t_span : pair of numbers
        Where to begin and to end. May be handles.
    y0 : array, shape (n,)
        Where to start. May be a handle.
    method : str or type
        SciPy's.
    t_eval : array, shape (m,), optional
        When to give the solution; at the ends of the steps when left out. May be a handle.
    dense_output : bool
        Whether to give a function of time too. Not with the adjoint equation.
    events : callable or list of callable, optional
        ``event(t, y, *args)``; the times at which they are 0 are handles by the implicit function
        theorem. Not with the adjoint equation.
    vectorized : bool
        As in SciPy.
    args : tuple, optional
        Further arguments of `fun` and `events`: handles, or trees of them.
    adjoint : {"steps", "adjoint"}, optional
        How to differentiate. "steps" takes the accepted steps again on handles, for RK45, RK23 and
        DOP853, which is exact for the discrete solution, and takes memory for all of them. `fun`
        may close over handles. "adjoint" solves the adjoint equation backward in time, which is
        exact up to the tolerances, and takes hardly any memory; `fun` is to have all handles by
        `args`. When left out, "steps" for those methods that have it. See docs/ode.md.
    adjoint_options : dict, optional
        What the adjoint equation is solved with in place of `method` and the options of the
        solution: ``{"method": "Radau", "rtol": 1e-9}``.
    **options
        SciPy's `rtol`, `atol`, `jac`, `first_step`, `max_step` and so on.

    Returns
    -------
    scipy.integrate.OdeResult
        SciPy's, and with handles its `y` is one, and so are those of `t`, `sol`, `t_events` and
        `y_events` that depend on them.

    Raises
    ------
    UnsupportedArgumentError
        For handles in options, and for what the adjoint equation does not give.

    Warns
    -----
    ConvergenceWarning
        When the solver has not reached the end, and there are handles.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def decayed(rate):
    ...     solution = solve_ivp(lambda t, y, k: -k * y, (0, 2), [1.0], args=(rate,), rtol=1e-8)
    ...     return solution.y[0, -1]
    >>> ta.grad(decayed)(0.5).round(4)  # -2 exp(-1)
    np.float64(-0.7358)
    """
    kind = METHODS.get(method, method) if isinstance(method, str) else method
    check_arguments(kind, adjoint, options)
    problem = Problem(
        fun, method, vectorized, dict(options), as_options(adjoint_options), solve_ivp
    )
    given = tuple(t_span), y0, t_eval, args
    if adjoint == "adjoint" or kind not in METHODS.values():
        return by_adjoint(problem, given, dense_output, events)
    ends: list[Any] = []
    searched, handlers = on_plain_arrays(fun), with_plain_results(events)
    with lent(searched) as borrowed:
        solved = scipy.integrate.solve_ivp(
            borrowed,
            plain(given[0]),
            plain(joined(y0)),
            watched(kind),
            plain(t_eval),
            dense_output,
            handlers,
            vectorized,
            plain(args),
            ends=ends,
            **options,
        )
    if not any_handle((given, searched.found, [each.found for each in as_list(handlers)])):
        return solved
    if not solved.success:
        warn_unconverged("solve_ivp", solved.message)
    return by_steps(problem, given, events, solved, ends)


def check_arguments(kind: Any, adjoint: str | None, options: Any) -> None:
    """Refuse handles where derivatives make no sense, and ways that there are not.

    Raises
    ------
    UnsupportedArgumentError, ValueError
    """
    if adjoint not in {None, "steps", "adjoint"}:
        raise ValueError(f"adjoint is 'steps', 'adjoint' or None, not {adjoint!r}")
    if adjoint == "steps" and kind not in METHODS.values():
        raise UnsupportedArgumentError(
            f"solve_ivp: adjoint='steps' is for the methods {', '.join(METHODS)}; write "
            "adjoint='adjoint' for others"
        )
    for name, value in options.items():
        if any_handle(value):
            raise UnsupportedArgumentError(
                f"solve_ivp: {name}= is a handle, but the steps of the solver are no smooth "
                "function of it; pass .data of it"
            )


def by_steps(problem: Problem, given: Any, events: Any, solved: Any, ends: list[Any]) -> Any:
    """Put handles into SciPy's result by taking its steps again."""
    (t0, tf), y0, _, args = given
    fun = problem.with_args(args)
    finished = solved.status == 0
    y0 = joined(y0)
    y0 = y0 if y0.dtype.kind in "fc" else y0.astype(np.float64)
    steps = steps_of(
        METHODS.get(problem.method, problem.method),
        fun,
        ends,
        y0,
        t0 if type(t0) is Tensor else None,
        (tf if type(tf) is Tensor else ends[-1][1]) if finished else None,
    )
    at = DenseSolution(np.array([ends[0][0], *(end for _, end in ends)]), steps)
    if solved.t_events is not None:
        listed = as_list(events)
        pairs = [
            found_events(event, times, at, args)
            for event, times in zip(listed, solved.t_events, strict=True)
        ]
        times, states = zip(*pairs, strict=True)
        solved.y_events = [
            valued(y, value) if type(y) is Tensor else value
            for y, value in zip(states, solved.y_events, strict=True)
        ]
        solved.t_events = list(times)
    moments, ys = outputs(given, solved, at, y0)
    if not ys:  # no output was asked for
        return solved
    solved.y = valued(np.stack(ys, axis=1), solved.y)
    if any_handle(moments):
        solved.t = valued(np.stack(moments), solved.t)
    if solved.sol is not None:
        solved.sol = at
    return solved


def outputs(given: Any, solved: Any, at: DenseSolution, start: Any) -> tuple[list[Any], list[Any]]:
    """List the times at which there is output, and the solution there."""
    (t0, _), _, t_eval, _ = given
    if t_eval is not None:
        times = list(joined(t_eval)[: len(solved.t)])
        return times, [at.step_at(primal(t))(t) for t in times]
    times, states = [t0 if type(t0) is Tensor else solved.t[0]], [start]
    for t in solved.t[1:]:
        step = at.step_to(t)
        if step is not None:
            times.append(step.t)
            states.append(step.y)
        else:  # a terminal event
            times.append(next(e[-1] for e in solved.t_events if len(e) and primal(e[-1]) == t))
            states.append(at.step_at(t)(times[-1]))
    return times, states


def found_events(event: Function, times: Any, at: DenseSolution, args: Any) -> tuple[Any, Any]:
    """Give the times of an event as handles, and the solution there."""
    if not len(times):
        return times, times
    further = () if args is None else tuple(args)
    moments, states = [], []
    for time in times:
        step = at.step_at(time)
        moment = implicit(
            lambda t, step=step: event(t, step(t), *further), time, "solve_ivp: event"
        )
        moments.append(moment)
        states.append(step(moment))
    return (np.stack(moments) if any_handle(moments) else times), np.stack(states)


def with_plain_results(events: Any) -> Any:
    """Let events return plain numbers; they keep what SciPy asks them for, such as `terminal`."""
    return [on_plain_arrays(event) for event in as_list(events)] if events is not None else None


def as_list(events: Any) -> list[Any]:
    """List events, where there may be one alone, or none."""
    if events is None:
        return []
    return [events] if callable(events) else list(events)


TOLERANCE = 1.49012e-8
"""What `odeint` takes for both tolerances where none is given."""


def odeint(
    func: Function,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Function | None = None,  # noqa: N803 - the name that SciPy gives it
    col_deriv: Any = 0,
    full_output: Any = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    *more: Any,
    tfirst: bool = False,
    adjoint_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Solve an initial value problem, as `scipy.integrate.odeint` does.

    Parameters
    ----------
    func : callable
        ``func(y, t, *args)``, or ``func(t, y, *args)`` with `tfirst`; written in NumPy where
        derivatives are asked for. It is to have all handles by `args`.
    y0 : array, shape (n,)
        Where to start. May be a handle.
    t : array, shape (m,)
        When to give the solution; it starts at the first time. May be a handle.
    args : tuple
        Further arguments: handles, or trees of them.
    Dfun, col_deriv, full_output, ml, mu, rtol, atol, *more, tfirst, **options
        As in SciPy, not handles.
    adjoint_options : dict, optional
        What the adjoint equation is solved with, see `solve_ivp`; LSODA and the tolerances when
        left out.

    Returns
    -------
    y : array or Tensor, shape (m, n)
    infodict : dict
        With `full_output`, as in SciPy.

    Raises
    ------
    UnsupportedArgumentError
        When `func` closes over a handle, and for handles in options.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def decayed(rate):
    ...     return odeint(lambda y, t, k: -k * y, [1.0], [0.0, 2.0], args=(rate,))[1, 0]
    >>> ta.grad(decayed)(0.5).round(6)  # -2 exp(-1)
    np.float64(-0.735759)
    """
    args = args if isinstance(args, tuple) else (args,)
    fixed = {"rtol": rtol, "atol": atol, "ml": ml, "mu": mu, "further options": (more, options)}
    refuse_handles("odeint", fixed)
    adjoint_options = as_options(adjoint_options)
    checked = without_handles(func, "odeint")
    rest: list[Any] = []

    jacobian = Dfun and on_plain_arrays(Dfun)

    def solve(_: Any, __: Any, y0: Any, t: Any, args: Any) -> Any:
        given = (jacobian, col_deriv, full_output, ml, mu, rtol, atol, *more)
        found = scipy.integrate.odeint(checked, y0, t, args, *given, tfirst=tfirst, **options)
        y, *rest[:] = found if full_output else (found,)
        return y.T

    if not any_handle((y0, t, args)):
        y = solve(None, None, y0, t, args).T
    else:
        t, y0 = joined(t), np.atleast_1d(joined(y0))
        tolerances = {
            "rtol": TOLERANCE if rtol is None else rtol,
            "atol": TOLERANCE if atol is None else atol,
        }
        ordered = func if tfirst else lambda t, y, *args: func(y, t, *args)
        problem = Problem(ordered, "LSODA", False, tolerances, adjoint_options, solve_ivp)
        y = differentiable(
            "odeint", problem, solve, lambda: t, lambda: None, ((t[0], t[-1]), y0, t, args)
        ).T
    return (y, *rest) if full_output else y

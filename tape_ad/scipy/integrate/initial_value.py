"""`solve_ivp` on handles: by the steps taken, or by the adjoint equation.

Let a cotangent c_i of the solution y(t_i) be given for some times t_i. Going backward in time,

    da/dt = -(∂f/∂y)ᵀ a        and        dg/dt = -(∂f/∂p)ᵀ a,

with c_i added to a at t_i: then a(t0) is the cotangent of y(t0), g(t0) that of the parameters, and
c_i · f(t_i, y(t_i)) that of t_i (L. S. Pontryagin et al., *The Mathematical Theory of Optimal
Processes*, 1962). On the way y is interpolated; where that is to be differentiated again, or cannot
be, it is integrated backward as well, anew from each output.
"""

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define

from tape_ad import Tensor, custom_rule, vjp
from tape_ad.errors import ConvergenceError, UnsupportedArgumentError
from tape_ad.extend.arrays import any_handle, array_of, plain, primal, refuse_handles
from tape_ad.extend.solvers import (
    handles_in,
    implicit,
    lent,
    on_plain_arrays,
    opaque,
    valued,
    warn_unconverged,
)
from tape_ad.scipy.counterparts import named, signed_as
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.integrate.runge_kutta import (
    METHODS,
    DenseSolution,
    shaped,
    solved_for_all,
    steps_of,
    watched,
)

__all__ = ["odeint", "solve_ivp"]

Function = Callable[..., Any]


def as_options(adjoint_options: Any) -> dict[str, Any]:
    """Take what a user gave for `adjoint_options`.

    Raises
    ------
    TypeError
    """
    if adjoint_options is None:
        return {}
    if not isinstance(adjoint_options, Mapping):
        raise TypeError(
            "adjoint_options is a dict of options of solve_ivp, such as {'rtol': 1e-8}, not "
            f"{adjoint_options!r}"
        )
    return dict(adjoint_options)


FORWARD_ONLY = ("jac", "jac_sparsity", "lband", "uband", "first_step")
"""The options that are about the equation itself, and not about the adjoint one."""


@define(eq=False)
class Problem:
    """A differential equation, and how to solve it.

    Attributes
    ----------
    fun : callable
        ``fun(t, y, *args)``
    method : str or type
    vectorized : bool
        Whether `fun` takes and gives columns.
    options, adjoint_options : dict
        Of SciPy's solver, for the equation and for the adjoint one.
    solve_ivp : callable
        What solves the adjoint equation, so that it has derivatives of its own.
    """

    fun: Function
    method: Any
    vectorized: bool
    options: dict[str, Any]
    adjoint_options: dict[str, Any]
    solve_ivp: Function

    def with_args(self, args: Any) -> Function:
        """Give the function of time and of one state."""
        further = () if args is None else tuple(args)
        if self.vectorized:
            return lambda t, y: array_of(self.fun(t, y[:, None], *further)).reshape(-1)
        return lambda t, y: self.fun(t, y, *further)

    def slope(self, t: Any, y: Any, args: Any) -> Any:
        """Compute dy/dt, in the shape of `y`."""
        return shaped(self.with_args(args))(t, y)

    def backward_options(self) -> dict[str, Any]:
        """Give what to solve the adjoint equation with: its state has another length."""
        kept = {name: v for name, v in self.options.items() if name not in FORWARD_ONLY}
        for name in ("rtol", "atol"):
            if name in kept:
                kept[name] = np.min(kept[name])
        return {"method": self.method, **kept, **self.adjoint_options}


def by_adjoint(problem: Problem, given: Any, dense_output: bool, events: Any) -> Any:
    """Solve a problem with handles, or without."""
    (t0, tf), y0, t_eval, args = given
    solved: list[Any] = []
    differentiated = any_handle(given)

    def solve(t0: Any, tf: Any, y0: Any, t_eval: Any, args: Any) -> Any:
        solved.append(
            scipy.integrate.solve_ivp(
                without_handles(problem.fun, "solve_ivp"),
                (t0, tf),
                y0,
                problem.method,
                t_eval,
                dense_output or differentiated,
                events,
                problem.vectorized,
                args,
                **problem.options,
            )
        )
        return solved[-1].y

    if not differentiated:
        solve(t0, tf, y0, t_eval, args)
        return solved[0]
    for name, value in (("dense_output", dense_output), ("events", events)):
        if value:
            raise UnsupportedArgumentError(
                f"solve_ivp: {name}= is not given by the adjoint equation; use one of the methods "
                "RK45, RK23 and DOP853, with adjoint='steps', or give the times by t_eval="
            )
    y = differentiable(
        "solve_ivp", problem, solve, lambda: solved[-1].t, lambda: solved[-1].sol, given
    )
    result = type(solved[-1])(solved[-1])  # a pull still asks for SciPy's own
    result.sol = None
    if not result.success:
        warn_unconverged("solve_ivp", result.message)
    result.y = y
    if t_eval is not None:
        result.t = t_eval
    elif type(t0) is Tensor or type(tf) is Tensor:
        result.t = np.stack([t0, *solved[-1].t[1:-1], tf])
    return result


def differentiable(
    name: str,
    problem: Problem,
    solve: Function,
    times_of: Function,
    interpolant: Function,
    given: Any,
) -> Any:
    """Solve a problem, with derivatives by the adjoint equation.

    Parameters
    ----------
    name : str
        Who solves it, for errors.
    problem : Problem
    solve : callable
        ``solve(t0, tf, y0, t_eval, args)`` gives the solution at some times, shape (n, m), for
        plain arrays.
    times_of : callable
        It gives the times of the last solution.
    interpolant : callable
        It gives the last solution as a function of time, or None.
    given : tuple
        ``(t0, tf), y0, t_eval, args``; with handles.
    """
    (t0, tf), y0, t_eval, args = given
    leaves, filled = handles_in(args)
    y0 = array_of(y0)
    y0 = y0 if y0.dtype.kind in "fc" else y0.astype(np.float64)
    t_eval = t_eval if t_eval is None else array_of(t_eval)

    def pull(ct: Any, ys: Any, t0: Any, tf: Any, y0: Any, t_eval: Any, leaves: Any) -> Any:
        own = t_eval is None
        times = [t0, *times_of()[1:-1], tf] if own else list(t_eval)
        again = any_handle((ct, ys, t0, tf, y0, t_eval, leaves))
        backward = Backward(problem, None if again else interpolant(), leaves, filled)
        a, by_time = np.zeros(y0.shape, y0.dtype), [np.zeros(()) for _ in times]
        g = np.zeros(sum(leaf.size for leaf in leaves))
        # without cotangents there is no need to stop; handles of zero may depend on something
        stops = [i for i in range(len(times)) if again or np.any(ct[:, i])]
        earlier = dict(zip(stops[1:], stops[:-1], strict=True))
        for i in reversed(stops):
            by_time[i] = dot(ct[:, i], problem.slope(times[i], ys[:, i], filled(leaves)))
            a = a + ct[:, i]
            before = times[earlier[i]] if i in earlier else t0
            if primal(before) != primal(times[i]) or any_handle((before, times[i])):
                a, g = backward(times[i], before, ys[:, i], a, g)
        by_start = -dot(a, problem.slope(t0, y0, filled(leaves)))
        if own:
            by_start, by_end, by_eval = by_start + by_time[0], by_time[-1], None
        else:
            by_end, by_eval = None, np.stack(by_time)
        return by_start, by_end, a, by_eval, split(g, leaves)

    def solution(t0: Any, tf: Any, y0: Any, t_eval: Any, leaves: Any) -> Any:
        return solve(t0, tf, y0, t_eval, filled(leaves))

    solution.__name__ = name  # for errors
    return custom_rule(pull=pull)(solution)(t0, tf, y0, t_eval, leaves)


@define(eq=False)
class Backward:
    """The adjoint equation between two outputs.

    Attributes
    ----------
    problem : Problem
    interpolant : callable or None
        The solution as a function of time; None to integrate it backward too.
    leaves : list of array or Tensor
        The parameters, and
    filled : callable
        what puts them into their places in the further arguments.
    """

    problem: Problem
    interpolant: Function | None
    leaves: list[Any]
    filled: Function

    def __call__(self, t: Any, before: Any, y: Any, a: Any, g: Any) -> tuple[Any, Any]:
        """Integrate a and g from one time to an earlier one."""
        n, real = y.size, y.dtype.kind == "f"
        problem, interpolant, filled = self.problem, self.interpolant, self.filled

        def derivative(t: Any, state: Any, *leaves: Any) -> Any:
            y = state[:n] if interpolant is None else interpolant(t)
            y = y.real if real and y.dtype.kind == "c" else y
            a = state[-n - g.size : state.size - g.size]
            slope, pulled = vjp(
                lambda y, leaves: problem.slope(t, y, filled(leaves)), y, list(leaves)
            )
            by_y, by_leaves = pulled(a.real if real and a.dtype.kind == "c" else a)
            parts = [-by_y, *(-part.reshape(-1) for part in by_leaves)]
            return np.concatenate([slope, *parts] if interpolant is None else parts)

        start = np.concatenate([y, a, g] if interpolant is None else [a, g])
        solved = problem.solve_ivp(
            derivative,
            (t, before),
            start,
            t_eval=None,
            args=tuple(self.leaves),
            adjoint="adjoint",
            **problem.backward_options(),
        )
        if not solved.success:
            raise ConvergenceError(
                f"solve_ivp: the adjoint equation could not be solved ({solved.message}); try "
                "other adjoint_options=, or adjoint='steps'"
            )
        end = solved.y[:, -1]
        return end[-n - g.size : end.size - g.size], end[end.size - g.size :]


def dot(a: Any, b: Any) -> Any:
    """Compute the real inner product."""
    product = np.sum(a.conjugate() * b)
    return product.real if product.dtype.kind == "c" else product


def split(g: Any, leaves: list[Any]) -> list[Any]:
    """Take a vector apart to cotangents of parameters."""
    parts, start = [], 0
    for leaf in leaves:
        part = g[start : start + leaf.size].reshape(leaf.shape)
        is_real = leaf.dtype.kind == "f" and part.dtype.kind == "c"
        parts.append(part.real if is_real else part)
        start += leaf.size
    return parts


def opened(fun: Function, args: Any, jacobian: Any) -> tuple[Function, Any, Any]:
    """Make a further argument of what a function closes over, where there are handles in it.

    Returns
    -------
    callable, tuple, callable or None
        The function, its further arguments, and its Jacobian, of as many.
    """
    cells = (fun.__closure__ or ()) if isinstance(fun, types.FunctionType) else ()
    held = [cell.cell_contents for cell in cells if cell != EMPTY]
    if not any_handle(held) or len(held) < len(cells):
        return fun, args, jacobian

    def called(*given: Any) -> Any:
        closure = tuple(map(types.CellType, given[-1]))
        parts: Any = fun.__code__, fun.__globals__, fun.__name__, fun.__defaults__, closure
        own = types.FunctionType(*parts)
        own.__kwdefaults__ = fun.__kwdefaults__
        return own(*given[:-1])

    if callable(jacobian):
        without = on_plain_arrays(jacobian)
        return called, (*(args or ()), held), lambda *given: without(*given[:-1])
    return called, (*(args or ()), held), jacobian


EMPTY = types.CellType()


def without_handles(fun: Function, name: str) -> Function:
    """Let a function refuse to close over handles, whose gradient would be lost.

    Raises
    ------
    UnsupportedArgumentError
    """

    def checked(*args: Any) -> Any:
        value = fun(*args)
        if any_handle(value):
            raise UnsupportedArgumentError(
                f"{name}: what the function calls closes over a handle, which the adjoint equation "
                "cannot see; pass it by args=, or use solve_ivp with one of the methods RK45, RK23 "
                "and DOP853, and adjoint='steps'"
            )
        return value

    return checked


@opaque
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
        exact up to the tolerances, and takes hardly any memory; `fun` is to have handles by `args`,
        or to close over them itself. When left out, "steps" for those methods that have it. See
        docs/ode.md.
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
    by_equation = adjoint == "adjoint" or kind not in METHODS.values()
    if by_equation:
        fun, args, jacobian = opened(fun, args, options.get("jac"))
        options |= {"jac": jacobian} if "jac" in options else {}
    problem = Problem(
        fun, method, vectorized, dict(options), as_options(adjoint_options), solve_ivp
    )
    given = tuple(t_span), y0, t_eval, args
    if by_equation:
        return by_adjoint(problem, given, dense_output, events)
    if not dense_output and events is None:
        found = solved_for_all(kind, problem.with_args, (given[0], y0, t_eval), args, options)
        if found is not None:
            return found
    ends: list[Any] = []
    searched, handlers = on_plain_arrays(fun), with_plain_results(events)
    with lent(searched) as borrowed:
        solved = scipy.integrate.solve_ivp(
            borrowed,
            plain(given[0]),
            plain(array_of(y0)),
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
    y0 = array_of(y0)
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
        times = list(array_of(t_eval)[: len(solved.t)])
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


@opaque
@signed_as(scipy.integrate.odeint, adjoint_options=None)
def odeint(
    func: Function,
    y0: Any,
    t: Any,
    args: Any = (),
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
        derivatives are asked for. It is to have handles by `args`, or to close over them itself.
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
        When a function that `func` calls closes over a handle, and for handles in options.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def decayed(rate):
    ...     return odeint(lambda y, t, k: -k * y, [1.0], [0.0, 2.0], args=(rate,))[1, 0]
    >>> ta.grad(decayed)(0.5).round(6)  # -2 exp(-1)
    np.float64(-0.735759)
    """
    args = args if isinstance(args, tuple) else (args,)
    options |= named(scipy.integrate.odeint, 4, more)
    func, args, jacobian = opened(func, args, options.get("Dfun"))
    full_output = options.get("full_output")
    refuse_handles("odeint", {name: each for name, each in options.items() if name != "Dfun"})
    adjoint_options = as_options(adjoint_options)
    checked = without_handles(func, "odeint")
    options["Dfun"] = jacobian and on_plain_arrays(jacobian)
    rest: list[Any] = []

    def solve(_: Any, __: Any, y0: Any, t: Any, args: Any) -> Any:
        found = scipy.integrate.odeint(checked, y0, t, args, tfirst=tfirst, **options)
        y, *rest[:] = found if full_output else (found,)
        return y.T

    if not any_handle((y0, t, args)):
        y = solve(None, None, y0, t, args).T
    else:
        t, y0 = array_of(t), np.atleast_1d(array_of(y0))
        given = {kind: options.get(kind) for kind in ("rtol", "atol")}
        tolerances = {kind: TOLERANCE if each is None else each for kind, each in given.items()}
        ordered = func if tfirst else lambda t, y, *args: func(y, t, *args)
        problem = Problem(ordered, "LSODA", False, tolerances, adjoint_options, solve_ivp)
        y = differentiable(
            "odeint", problem, solve, lambda: t, lambda: None, ((t[0], t[-1]), y0, t, args)
        ).T
    return (y, *rest) if full_output else y

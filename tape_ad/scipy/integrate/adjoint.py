"""Initial value problems differentiated by the adjoint equation.

Let a cotangent c_i of the solution y(t_i) be given for some times t_i. Going backward in time,

    da/dt = -(∂f/∂y)ᵀ a        and        dg/dt = -(∂f/∂p)ᵀ a,

with c_i added to a at t_i: then a(t0) is the cotangent of y(t0), g(t0) that of the parameters, and
c_i · f(t_i, y(t_i)) that of t_i (L. S. Pontryagin et al., *The Mathematical Theory of Optimal
Processes*, 1962). On the way y is interpolated; where that is to be differentiated again, or cannot
be, it is integrated backward as well, anew from each output.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.integrate
from attrs import define

from tape_ad import Tensor, custom_rule, vjp
from tape_ad.base.errors import ConvergenceError, UnsupportedArgumentError
from tape_ad.extend.arrays import any_handle, joined, primal
from tape_ad.extend.solvers import handles_in, warn_unconverged

__all__ = ["Problem", "by_adjoint", "differentiable"]

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
            return lambda t, y: joined(self.fun(t, y[:, None], *further)).reshape(-1)
        return lambda t, y: self.fun(t, y, *further)

    def slope(self, t: Any, y: Any, args: Any) -> Any:
        """Compute dy/dt, in the shape of `y`."""
        value = joined(self.with_args(args)(t, y))
        return value if value.shape == y.shape else np.broadcast_to(value, y.shape)

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
    y0 = joined(y0)
    y0 = y0 if y0.dtype.kind in "fc" else y0.astype(np.float64)
    t_eval = t_eval if t_eval is None else joined(t_eval)

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
                f"{name}: the function closes over a handle, which the adjoint equation cannot "
                "see; pass it by args=, or use solve_ivp with one of the methods RK45, RK23 and "
                "DOP853, and adjoint='steps'"
            )
        return value

    return checked

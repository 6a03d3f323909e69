"""Initial value problems of a batch solved at once, each member by the steps that SciPy would take.

The steps are chosen on plain arrays, for all members together, and then taken again as
`runge_kutta` takes those of one, so that the solution has derivatives of all orders. A member that
needs fewer steps than others has steps of no length behind its last one.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, any_handle, array_of, plain
from tape_ad.extend.solvers import for_all
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.integrate.runge_kutta import steps_of

__all__ = ["solved_for_all"]


Function = Callable[..., Any]

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0
"""By how much SciPy shortens the next step, and how much shorter or longer it may be at most."""

REACHED = "The solver successfully reached the end of the integration interval."


def solved_for_all(
    method: Any, fun: Function, given: Any, args: Any, options: Mapping[str, Any]
) -> Any:
    """Solve the problems of a batch at once.

    Parameters
    ----------
    method : type
        SciPy's class of a Runge-Kutta method.
    fun : callable
        ``fun(args)`` gives the function of time and of one state.
    given : tuple
        The time span, the start, and the times for output.
    args : any
        Further arguments of the function.
    options : dict
        Of SciPy's solver.

    Returns
    -------
    scipy.integrate.OdeResult or None
        None where there is no batch, where the times are no plain numbers, and where a member does
        not come to the end.
    """
    span, y0, t_eval = given
    if any_handle((span, t_eval)) or not are_times(span, t_eval):
        return None
    t0, tf = map(float, span)
    slope = shaped(fun(plain(args)))
    values, y, f = for_all(lambda y: slope(t0, y), plain(array_of(y0)))
    if values is None or y.ndim != 2 or f.shape != y.shape or t0 == tf:
        return None
    checked = method(lambda t, y: f[0], t0, y[0], tf, **options)

    def rows(t: Array, y: Array) -> Array:
        if np.all(t == t[0]):  # the function may branch on a time that is the same for each
            return values(lambda y: slope(float(t[0]), y), y)
        both = np.concatenate([t[:, None], y], 1)
        return values(lambda each: slope(each[0], each[1:]), both)

    begins, ends, counts, calls, failed = chosen(checked, rows, y, f, options.get("first_step"))
    if not values.agreed(~failed):
        return None
    y0 = array_of(y0)
    y0 = y0 if y0.dtype.kind in "fc" else y0.astype(np.float64)
    if t_eval is None:
        several = int(values.agreed(counts))
        begins, ends = begins[:, :several], ends[:, :several]
    at = values.boxed(begins), values.boxed(ends)
    steps = steps_of(method, fun(args), list(zip(*at, strict=True)), y0, None, None)
    if t_eval is None:
        t = np.concatenate([np.full(1, t0), at[1]])
        ys = np.stack([y0, *[step.y for step in steps]], axis=1)
    else:
        t = np.asarray(t_eval)
        ys = between(values, steps, begins, ends, t).T
    return scipy.integrate._ivp.ivp.OdeResult(
        t=t,
        y=ys,
        sol=None,
        t_events=None,
        y_events=None,
        nfev=values.boxed(calls),
        njev=0,
        nlu=0,
        status=0,
        message=REACHED,
        success=True,
    )


def are_times(span: Any, t_eval: Any) -> bool:
    """Tell whether all times are plain numbers, those for output in order and in the span."""
    if len(span) != 2 or any(hasattr(x, "batch_here") for x in (*span, t_eval)):
        return False
    if t_eval is None:
        return True
    times: Any = np.asarray(t_eval)
    forward = np.diff(times) * np.sign(span[1] - span[0]) > 0
    inside = (times >= min(span)) & (times <= max(span))
    return bool(times.ndim == 1 and times.size and np.all(forward) and np.all(inside))


def shaped(fun: Function) -> Function:
    """Give a function's slope in the shape of the state."""

    def slope(t: Any, y: Any) -> Any:
        value = array_of(fun(t, y))
        return value if value.shape == y.shape else np.broadcast_to(value, y.shape)

    return slope


def chosen(
    solver: Any, rows: Function, y: Array, f: Array, first_step: Any
) -> tuple[Array, Array, Array, Array, Array]:
    """Choose steps for each, as SciPy does for one.

    Parameters
    ----------
    solver : RungeKutta
        SciPy's solver for one of them, with its options.
    rows : callable
        ``rows(t, y)`` gives the slopes of all, shape (size, n).
    y, f : array, shape (size, n)
        The starts, and the slopes there.
    first_step : float or None

    Returns
    -------
    begins, ends : array, shape (size, steps)
    counts : array of int, shape (size,)
        How many of them there are, before those of no length.
    calls : array of int
        How often the function was called.
    failed : array of bool
        Where a step became too small.
    """
    size, direction, end = len(y), solver.direction, solver.t_bound
    t = np.full(size, solver.t)
    calls = np.full(size, 1 if first_step is not None else 2)
    length = np.full(size, float(first_step or 0))
    if first_step is None:
        length = first_lengths(solver, rows, y, f)
    running, rejected, failed = np.ones(size, bool), np.zeros(size, bool), np.zeros(size, bool)
    k = np.empty((size, solver.n_stages + 1, y.shape[1]))
    taken: list[tuple[Array, Array, Array]] = []
    while np.any(running):
        least = 10 * np.abs(np.nextafter(t, direction * np.inf) - t)
        length = np.where(rejected, length, np.clip(length, least, solver.max_step))
        failed |= running & (length < least)
        running &= ~failed
        after = t + length * direction
        after = np.where(direction * (after - end) > 0, end, after)
        h = np.where(running, after - t, 0.0)
        k[:, 0] = f
        for s, (a, c) in enumerate(zip(solver.A[1:], solver.C[1:], strict=True), start=1):
            k[:, s] = rows(t + c * h, y + np.matmul(a[:s], k[:, :s]) * h[:, None])
        moved = y + h[:, None] * np.matmul(solver.B, k[:, :-1])
        k[:, -1] = rows(t + h, moved)
        calls += running * (solver.n_stages)
        with np.errstate(all="ignore"):
            scale = solver.atol + np.maximum(np.abs(y), np.abs(moved)) * solver.rtol
            error = errors(solver, k, h, scale)
            factor = np.where(error == 0, MOST, SAFETY * error**solver.error_exponent)
            ok = running & (error < 1)
            longer = np.minimum(np.where(rejected, 1.0, MOST), factor)
            length = np.abs(h) * np.where(ok, longer, np.fmax(LEAST, factor))
        taken.append((ok, t, after))
        rejected = running & ~ok
        t, y, f = (
            np.where(ok, after, t),
            np.where(ok[:, None], moved, y),
            np.where(ok[:, None], k[:, -1], f),
        )
        running &= ~(ok & (direction * (t - end) >= 0))
    accepted, begin, after = (np.stack(each, 1) for each in zip(*taken, strict=True))
    counts = np.sum(accepted, axis=1)
    begins = np.full((size, max(counts)), end)
    ends, places = begins.copy(), np.cumsum(accepted, axis=1) - 1
    member = np.nonzero(accepted)[0]
    begins[member, places[accepted]], ends[member, places[accepted]] = (
        begin[accepted],
        after[accepted],
    )
    return begins, ends, counts, calls, failed


def first_lengths(solver: Any, rows: Function, y: Array, f: Array) -> Array:
    """Choose how long the first step of each is (E. Hairer, S. P. Nørsett, G. Wanner, II.4)."""
    span = abs(solver.t_bound - solver.t)
    scale = solver.atol + np.abs(y) * solver.rtol
    with np.errstate(all="ignore"):
        d0, d1 = norms(y / scale), norms(f / scale)
        h0 = np.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    h0 = np.minimum(h0, span)
    step = h0 * solver.direction
    after = rows(solver.t + step, y + step[:, None] * f)
    with np.errstate(all="ignore"):
        d2 = norms((after - f) / scale) / h0
        h1 = (0.01 / np.maximum(d1, d2)) ** (1 / (solver.error_estimator_order + 1))
    h1 = np.where((d1 <= 1e-15) & (d2 <= 1e-15), np.maximum(1e-6, h0 * 1e-3), h1)
    return np.minimum(np.minimum(100 * h0, h1), min(span, solver.max_step))


def errors(solver: Any, k: Array, h: Array, scale: Array) -> Array:
    """Estimate the error of each step, relative to what it may be."""
    if not hasattr(solver, "E5"):
        return norms(np.matmul(solver.E, k) * h[:, None] / scale)
    fifth = norms(np.matmul(solver.E5, k) / scale) ** 2
    third = norms(np.matmul(solver.E3, k) / scale) ** 2
    both = fifth + 0.01 * third
    return np.where(both == 0, 0.0, np.abs(h) * fifth / np.sqrt(np.where(both == 0, 1.0, both)))


def norms(rows: Array) -> Any:
    """Compute the root of the mean square of each."""
    return np.linalg.norm(rows, axis=1) / rows.shape[1] ** 0.5


def between(values: Any, steps: Any, begins: Array, ends: Array, times: Array) -> Any:
    """Interpolate the solutions at some times, shape (m, n) for each, as a `Step` does for one."""
    direction = np.sign(ends[0, -1] - begins[0, 0])
    passed = np.sum(direction * (ends[:, None] - times[:, None]) < 0, axis=-1)
    place = np.minimum(passed, ends.shape[1] - 1)
    begin, end = (np.take_along_axis(each, place, axis=1) for each in (begins, ends))
    h = end - begin
    place = values.boxed(place)
    parts, weights = steps[0].combined(values.boxed((times - begin) / h), values.boxed(h))
    several = np.stack([parts, *[step.combined(0.0, 0.0)[0] for step in steps[1:]]])
    start = np.stack([step.y_old for step in steps])
    share = np.sum(weights[:, :, None] * np.take(several, place, axis=0), axis=1)
    return np.take(start, place, axis=0) + share

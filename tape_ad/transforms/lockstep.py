"""Solvers that search for all of a batch at once, each member by steps of its own.

A function is called once for all at each step, and what a member has found stays as it is. What
none is found for, where another search finds it, is left to that: members that differ in this are
told apart, so that only those which need it are solved for one after the other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.arrays.overridable import ACTIVE, array_of
from tape_ad.rules.maps import Array
from tape_ad.transforms.gradients import vjp
from tape_ad.transforms.jacobians import jacobian

Function = Callable[..., Any]

STEPS = 100
"""How many are tried before each member has a search of its own."""

FEW = 8
"""How many take away what a search has left of a gradient."""


def below(value: Any) -> Any:
    """Give what a handle of any nesting holds, which may be an array of a batch."""
    while hasattr(value, "record"):
        value = value.data
    return value


def records_in(value: Any) -> int:
    """Count the records that a value is of, in batches too."""
    count = 0
    while value is not None:
        recorded = hasattr(value, "record")
        count += recorded
        value = value.data if recorded else getattr(value, "stack", None)
    return count


@frozen
class ForAll:
    """Functions of one of a batch, or of batches in one another, called with all arrays at once.

    Attributes
    ----------
    kind : type
        Of the arrays of a batch.
    batches : list of Batch
        The innermost first.
    """

    kind: Any
    batches: list[Any]

    @classmethod
    def of(cls, value: Any) -> "ForAll | None":
        """Find the batches that an array is of."""
        kind, batches = type(value), []
        while hasattr(value, "batch_here"):
            batches.append(value.batch_here)
            value = below(value.stack)
        return cls(kind, batches) if batches and all(each.size for each in batches) else None

    def boxed(self, stack: Array) -> Any:
        """Give the arrays of all as one sees them."""
        sizes = [batch.size for batch in reversed(self.batches)]
        box: Any = stack.reshape((*sizes, *stack.shape[1:]))
        for batch in reversed(self.batches):
            box = self.kind(box, batch)
        return box

    def stack_of(self, x: Any) -> Any:
        """Give the arrays of all, without what records them."""
        shape = np.shape(x)
        for batch in self.batches:
            if type(x) is self.kind and x.batch_here is batch:
                x = below(x.stack)
            else:
                x = np.broadcast_to(x, (batch.size, *np.shape(x)))
        return x.reshape((-1, *shape)) if type(x) is np.ndarray else x

    def __call__(self, f: Function, stack: Array) -> Any:
        """Call a function."""
        return self.stack_of(below(f(self.boxed(stack))))

    def agreed(self, answers: Array) -> Any:
        """Give the answer of all members; where it is not the same, they are called apart."""
        answer = self.boxed(answers)
        while type(answer) is self.kind:
            answer = answer.one_answer()
        return answer


def for_all(f: Function, x0: Any) -> tuple[Any, Any, Any]:
    """Begin a search for a batch: give what calls functions, where it starts, and `f` there.

    Nothing is given where there is no batch, or no plain real numbers.
    """
    values = ForAll.of(below(f(x0))) if ACTIVE.get().batches else None
    x = None if values is None else values.stack_of(below(array_of(x0)))
    if values is None or type(x) is not np.ndarray or not x.size:
        return None, None, None
    x = np.array(x, float)
    found = values(f, x)
    if type(found) is not np.ndarray or found.dtype.kind != "f":
        return None, None, None
    return values, x, found


def largest(rows: Any) -> Any:
    """Give the largest number of each, without its sign."""
    return np.max(np.abs(np.reshape(rows, (len(rows), -1))), axis=1, initial=0.0)


def dot(x: Array, y: Array) -> Any:
    """Compute the product of two vectors of each."""
    return np.sum(x * y, axis=-1)


def slopes(rows: Function, x: Any, elementwise: bool = False) -> Any:
    """Derive a residual: its Jacobian, shape (m, n), or its diagonal alone, in the shape of `x`."""
    if elementwise:
        value, pull = vjp(rows, x)
        return pull(np.ones(value.shape))[0]
    return jacobian(rows)(x).reshape(-1, np.size(x))


# Roots


def root_for_all(residual: Function, x0: Any, *, elementwise: bool = False) -> Any:
    """Solve the equations of a batch at once, by Newton's method with steps that are halved.

    Parameters
    ----------
    residual : callable
        As for `implicit`.
    x0 : array
        Where to start, the same for each or one for each.
    elementwise : bool

    Returns
    -------
    array of the batch, or None
        None where there is no batch, and where the residual of one becomes no smaller.
    """

    def rows(x: Any) -> Any:
        return np.reshape(array_of(residual(x)), -1)

    values, x, r = for_all(rows, x0)
    if values is None or r.size != x.size:
        return None
    running = np.ones(len(x), bool)
    failed = np.zeros(len(x), bool)
    last = np.full(x.shape, np.inf)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            matrix = values(lambda x: slopes(rows, x, elementwise), x)
            step = np.where(running[:, None], steps(matrix, r, elementwise), 0).reshape(x.shape)
            near = largest(step) <= 1e-9 * largest(x - step)  # of the largest numbers alone
            ended, last = near & settled(x - step, np.abs(step), last), np.abs(step)
            for _ in range(STEPS):
                after = values(rows, x - step)
                worse = running & ~near & ~(largest(after) < largest(r))
                if not np.any(worse):
                    break
                step[worse] /= 2
            else:
                failed |= worse
                step[worse] = 0
            x, r = x - step, np.where((running & ~failed)[:, None], after, r)
            running &= ~failed & ~ended & (largest(r) > 0)
            if not np.any(running):
                break
    return values.boxed(x) if values.agreed(~(failed | running)) else None


def settled(x: Array, step: Array, last: Array) -> Any:
    """Tell whether each number of a member stays, but for rounding beside much larger ones."""
    x, step, last = (each.reshape(len(x), -1) for each in (np.abs(x), step, last))
    rounding = (step <= 1e-14 * np.max(x, axis=1, keepdims=True)) & (step >= last / 2)
    return np.all((step <= 1e-9 * x) | rounding, axis=1)


def steps(matrix: Array, r: Array, elementwise: bool) -> Any:
    """Compute the steps of Newton's method."""
    if elementwise:
        return r / np.reshape(matrix, r.shape)
    try:
        return np.linalg.solve(matrix, r[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full(r.shape, np.nan)  # which makes no residual smaller


def between_for_all(f: Function, a: Any, b: Any) -> Any:
    """Find the roots of a batch between numbers where the signs differ, by halving; or None."""
    if not ACTIVE.get().batches:
        return None
    ends = [below(array_of(end)) for end in (a, b)]
    given = [*ends, *[below(array_of(f(end))) for end in ends]]
    values = next(filter(None, map(ForAll.of, given)), None)
    if values is None or any(np.ndim(x) for x in given):
        return None
    low, high, first, last = map(values.stack_of, given)
    plain = all(type(x) is np.ndarray for x in (low, high, first, last))
    if not plain or not values.agreed(np.sign(first) * np.sign(last) <= 0):
        return None  # which is an error of one
    low, high = np.where(last == 0, high, low), np.where(first == 0, low, high)
    while True:
        middle = low + (high - low) / 2
        if not np.any((middle != low) & (middle != high)):
            return values.boxed(middle)
        at = values(lambda x: array_of(f(x)), middle)
        if not values.agreed(~np.isnan(at)):
            return None
        same = np.sign(at) == np.sign(first)
        low = np.where(same | (at == 0), middle, low)
        high = np.where(same, high, middle)


# Minima


@frozen
class Search:
    """Where all of a batch have come to, as arrays of the batch.

    Attributes
    ----------
    x : array, shape (n,)
    value, slope : array
        The least value and the gradient; for least squares the residuals and their Jacobian.
    counts : dict of str to array of int
        How many steps there were, and calls of the function and its derivative.
    curvature : array, shape (n, n), or None
        The inverse Hessian that the search has come to.
    """

    x: Any
    value: Any
    slope: Any
    counts: dict[str, Any]
    curvature: Any = field(default=None)


ARMIJO, WOLFE = 1e-4, 0.9
"""By how much a step has to lessen a function, and its slope, as shares of the first slope."""


def minimum_for_all(both: Function, x0: Any, gtol: float) -> Search | None:
    """Minimize the functions of a batch at once, by the method of Broyden and others (BFGS).

    Steps begin as SciPy's do, and are halved or doubled until they lessen a function and its slope
    by enough (J. Nocedal and S. J. Wright, *Numerical Optimization*, 2006, chapters 3 and 6).

    Parameters
    ----------
    both : callable
        Takes a vector, and gives a function's value and its gradient in a row.
    x0 : array, shape (n,)
    gtol : float
        A gradient without larger elements ends a search.

    Returns
    -------
    Search or None
        None where there is no batch, and where a search does not come to its end.
    """
    values, x, row = for_all(both, x0)
    if values is None or np.ndim(x) != 2:
        return None
    size, n = x.shape
    f, g = row[:, 0], row[:, 1:]
    before = f + np.sqrt(dot(g, g)) / 2
    h = np.broadcast_to(np.eye(n), (size, n, n))
    count, calls = np.zeros(size, int), np.ones(size, int)
    running, failed = ~(largest(g) <= gtol), np.zeros(size, bool)
    with np.errstate(all="ignore"):
        for _ in range(2 * STEPS * n):
            if not np.any(running):
                break
            count += running
            p = np.where(running[:, None], -(h @ g[:, :, None])[:, :, 0], 0.0)
            share = np.minimum(1.0, 2.02 * (f - before) / dot(p, g))
            share = np.where(running, np.where(share > 0, share, 1.0), 0.0)
            share, row, missed, tried = searched_along(values, both, (x, f, g, p), share, running)
            calls += tried
            failed |= missed
            running &= ~failed
            moved = running[:, None]
            before = np.where(running, f, before)
            s, y = share[:, None] * p, row[:, 1:] - g
            x, g = np.where(moved, x + s, x), np.where(moved, row[:, 1:], g)
            f = np.where(running, row[:, 0], f)
            h = np.where(moved[:, :, None], updated(h, s, y), h)
            running &= ~(largest(g) <= gtol)
    if not values.agreed(~(failed | running)):
        return None
    x, f, g, h, count, calls = map(values.boxed, (x, f, g, h, count, calls))
    return Search(x, f, g, {"nit": count, "nfev": calls, "njev": calls}, h)


def vanishes(slope: Function, x: Any, near: float) -> bool:
    """Tell of the minima of a batch whether the gradient is zero close by, as it is at no kink.

    What a search has left of it there, Newton's method takes away.

    Parameters
    ----------
    slope : callable
        It gives the gradient.
    x : array of the batch
    near : float
        What is zero, relative to what the Hessian makes of a step as long as `x`.
    """
    values: Any = ForAll.of(x)
    start = at = values.stack_of(x)
    size = 1 + largest(start)
    first: Any = None
    found: Any = None
    with np.errstate(all="ignore"):
        for _ in range(FEW):
            left, matrix = values(slope, at), values(lambda x: slopes(slope, x), at)
            if found is None:
                first = largest(left)
                found = (first <= near * size * largest(matrix)) & (largest(matrix) > 0)
            else:
                found |= (largest(left) <= first / 100) & (largest(at - start) <= size / 10)
            if np.all(found):
                break
            at = np.where(found[:, None], at, at - steps(matrix, left, elementwise=False))
    return bool(values.agreed(found))


def searched_along(
    values: ForAll, both: Function, start: Any, share: Array, running: Array
) -> tuple[Array, Array, Array, Array]:
    """Find how far to go along a direction, for each; tell who goes nowhere, and count calls."""
    x, f, g, p = start
    slope = dot(p, g)
    low, high = np.zeros(len(x)), np.full(len(x), np.inf)
    found, calls = ~running, np.zeros(len(x), int)
    for _ in range(STEPS):
        calls += ~found
        row = values(both, x + share[:, None] * p)
        after, steep = row[:, 0], dot(row[:, 1:], p)
        less = after <= f + ARMIJO * share * slope
        level = (after <= f + 1e-15 * np.abs(f)) & (np.abs(steep) <= -WOLFE * slope)
        short = less & (steep < WOLFE * slope)
        found |= (less | level) & ~short
        if np.all(found):
            break
        low = np.where(short & ~found, share, low)
        high = np.where(short | found, high, share)
        share = np.where(found, share, np.where(np.isinf(high), 2 * share, (low + high) / 2))
    return share, row, ~found, calls


def updated(h: Array, s: Array, y: Array) -> Array:
    """Update inverse Hessians by steps and by changes of gradients."""
    factor = 1 / dot(s, y)[:, None, None]
    left = np.eye(s.shape[-1]) - factor * s[:, :, None] * y[:, None, :]
    return left @ h @ left.mT + factor * s[:, :, None] * s[:, None, :]


def squares_for_all(
    residual: Function, x0: Any, ftol: float, xtol: float, gtol: float
) -> Search | None:
    """Minimize the sums of squares of a batch at once, by the method of Levenberg and Marquardt.

    Parameters
    ----------
    residual : callable
        Takes a vector, and gives one.
    x0 : array, shape (n,)
    ftol, xtol, gtol : float
        As SciPy's `least_squares` takes them.

    Returns
    -------
    Search or None
        None where there is no batch, and where a search does not come to its end.
    """

    def rows(x: Any) -> Any:
        return np.reshape(array_of(residual(x)), -1)

    values, x, r = for_all(rows, x0)
    if values is None or np.ndim(x) != 2 or not np.all(np.isfinite(r)):
        return None
    size, n = x.shape
    running, damping = np.ones(size, bool), np.full(size, 1e-3)
    count = np.zeros(size, int)
    cost, matrix = dot(r, r) / 2, values(lambda x: slopes(rows, x), x)
    derived = np.ones(size, int)
    with np.errstate(all="ignore"):
        for _ in range(STEPS * n):
            running &= ~(largest((matrix.mT @ r[:, :, None])[:, :, 0]) < gtol)
            if not np.any(running) or not np.all(np.isfinite(matrix)):
                break
            count += running
            left, s, right = np.linalg.svd(matrix, full_matrices=False)
            along = (left.mT @ r[:, :, None])[:, :, 0]
            scale = s[:, :1] ** 2
            share = s / (s**2 + damping[:, None] * np.where(scale > 0, scale, 1))
            step = (right.mT @ (share * along)[:, :, None])[:, :, 0] * running[:, None]
            after = values(rows, x - step)
            rest = r - (matrix @ step[:, :, None])[:, :, 0]
            gain, expected = cost - dot(after, after) / 2, cost - dot(rest, rest) / 2
            better = running & (gain > 0)
            good = better & (gain > expected / 4)
            length = np.sqrt(dot(step, step))
            near = xtol * (xtol + np.sqrt(dot(x, x)))
            done = (length < near) | good & (gain < ftol * cost)
            # nor is there more to gain without damping, which holds back where slopes are small
            clear = s > np.finfo(float).eps * max(matrix.shape[1:]) * s[:, :1]
            along = np.where(clear, along, 0.0)
            whole = along / np.where(clear, s, 1.0)
            done &= (dot(along, along) / 2 < ftol * cost) | (np.sqrt(dot(whole, whole)) < near)
            x, r = np.where(better[:, None], x - step, x), np.where(better[:, None], after, r)
            cost = np.where(better, cost - gain, cost)
            damping = np.where(good, damping / 9, np.where(better, damping, damping * 4))
            damping = np.clip(damping, 1e-30, None)
            running &= ~done
            if np.any(better):
                derived += better
                matrix = values(lambda x: slopes(rows, x), x)
    sloping = np.all(np.isfinite(matrix), axis=(1, 2)) & (largest(matrix) > 0)
    if not values.agreed(~running & sloping):
        return None
    counts = {"nfev": values.boxed(1 + count), "njev": values.boxed(derived)}
    return Search(values.boxed(x), values.boxed(r), values.boxed(matrix), counts)

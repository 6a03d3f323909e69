"""Minima as handles: by the conditions of first order that hold at them.

Where x minimizes f(x) subject to c(x) ≥ l, the constraints that hold x back have multipliers λ with

    ∇f(x) - (∂c/∂x)ᵀ λ = 0        and        c(x) - l = 0

(W. Karush; H. W. Kuhn and A. W. Tucker). These equations determine x and λ, and so their
derivatives with respect to whatever f, c and l depend on. Which constraints take part is a
constant: those that x is at, with a multiplier that is not zero.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad import jacobian, vjp
from tape_ad.base.errors import SingularJacobianError
from tape_ad.extend.arrays import Array, joined, plain
from tape_ad.extend.solvers import check_regular, implicit, warn_unconverged
from tape_ad.scipy.optimize.constraints import Constraint

__all__ = ["stationary", "warn_if_not"]

Function = Callable[..., Any]

NEAR = 1e-4
"""How near to a bound a solver may stop, relative to 1 and to the bound."""

NEGLIGIBLE = 1e-7
"""What multiplier counts as zero, relative to the largest one and to the gradient."""

SMALL = 1e-7
"""What gradient counts as zero, relative to what the Hessian makes of a step as long as x."""

STEPS = 8
"""How many steps of Newton's method may take what is left of a gradient away."""


def stationary(
    slopes: Function,
    x: Array,
    constraints: Sequence[Constraint],
    name: str,
    *,
    reached: bool = True,
) -> tuple[Any, bool]:
    """Give a minimum the derivatives that the conditions of first order have.

    Parameters
    ----------
    slopes : callable
        It takes a vector and gives the gradient there, shape (n,), with handles.
    x : array, shape (n,)
        The minimum.
    constraints : sequence of Constraint
    name : str
        Who found it, for errors.
    reached : bool
        Whether the search has succeeded; what it gives else need not be a minimum.

    Returns
    -------
    x : Tensor or array
    holds : bool
        Whether the conditions hold there, as far as can be told by their sizes.

    Raises
    ------
    SingularJacobianError
        Where the conditions do not say how the minimum moves, as at a kink.
    """
    held, multipliers, holds = holding(plain(joined(slopes(x))), x, constraints)
    count = x.size
    places = np.cumsum([0, *(len(each) for _, each, _ in held)])

    def residual(unknowns: Any) -> Any:
        x, factors = unknowns[:count], unknowns[count:]
        total, feasible = joined(slopes(x)), []
        for i, (constraint, rows, at_upper) in enumerate(held):
            value, pull = vjp(constraint.values, x)
            scattered = np.eye(value.shape[0])[:, rows]
            total = total - pull(scattered @ factors[places[i] : places[i + 1]])[0]
            lower, upper = constraint.bounds(value.shape[0])
            feasible.append(value[rows] - np.where(at_upper, upper[rows], lower[rows]))
        return np.concatenate([total, *feasible])

    unknowns = np.concatenate([x, multipliers])
    if holds:
        check_smooth(residual, unknowns, name, reached)
    return implicit(residual, unknowns, name)[:count], holds


def check_smooth(residual: Function, start: Array, name: str, reached: bool) -> None:
    """Refuse what minimizes without a solution of the equations nearby, as a kink does.

    A search stops near to where a smooth gradient vanishes, and Newton's method takes away what is
    left of it. At a kink the gradient jumps from one sign to the other, and does not get smaller.

    Raises
    ------
    SingularJacobianError
    """

    def rest(unknowns: Any) -> Any:
        return joined(residual(unknowns)).reshape(-1)

    x, size = start, 1 + np.max(abs(start), initial=0.0)
    first = 0.0
    for step in range(STEPS if reached else 1):
        value = plain(rest(x))
        left = np.max(abs(value), initial=0.0)
        if not np.isfinite(left) or np.max(abs(x - start), initial=0.0) > size / 10:
            break
        if step and left <= first / 100:
            return
        matrix = plain(joined(jacobian(rest)(x)).reshape(-1, x.size))
        if step == 0:
            check_regular(matrix, name, FLAT)
            first = left
            if left <= SMALL * size * np.max(abs(matrix), initial=0.0):
                return
        x = x - np.linalg.lstsq(matrix, value)[0]
    if reached:
        raise SingularJacobianError(
            f"{name}: the gradient does not vanish at what has been found, nor close to it, for "
            f"the objective has a kink there, or the search has stopped early; {INSTEAD}"
        )


INSTEAD = (
    "minimize a smooth objective (np.sqrt(x**2 + eps) for np.abs(x)), and closely, or give the "
    "derivative of the minimum yourself by ta.custom_rule"
)
FLAT = f"; the objective may have a kink or be flat there: {INSTEAD}"


def holding(
    gradient: Array, x: Array, constraints: Sequence[Constraint]
) -> tuple[list[tuple[Constraint, Array, Array]], Array, bool]:
    """Find the constraints that hold a minimum back, all plain.

    Returns
    -------
    list of tuple of Constraint, array of int and array of bool
        A constraint, which rows of it, and whether they are at the upper bound.
    array
        The multipliers of all those rows.
    bool
        Whether the gradient is what they balance.
    """
    candidates = []
    columns = [np.zeros((x.size, 0))]
    for constraint in constraints:
        values = plain(constraint.values(x))
        lower, upper = (plain(bound) for bound in constraint.bounds(values.size))
        equal = lower == upper
        at_lower = equal | near(values, lower)
        at_upper = ~at_lower & near(values, upper)
        rows = np.flatnonzero(at_lower | at_upper)
        candidates.append((constraint, rows, at_upper[rows], equal[rows]))
        matrix = plain(jacobian(constraint.values)(x)) if rows.size else np.zeros((0, x.size))
        columns.append(matrix[rows].T.reshape(x.size, -1) if rows.size else np.zeros((x.size, 0)))
    matrix = np.concatenate(columns, axis=1)
    if not matrix.shape[1]:
        return [], np.zeros(0), True
    free = np.concatenate([equal for *_, equal in candidates])
    signs = np.where(np.concatenate([upper for _, _, upper, _ in candidates]), -1.0, 1.0)
    factors = balanced(matrix * signs, gradient, free) * signs
    scale = NEGLIGIBLE * max(np.max(abs(factors)), np.max(abs(gradient)))
    taken = free | (abs(factors) > scale)
    rest = gradient - matrix @ (factors * taken)
    held, start = [], 0
    for constraint, rows, at_upper, _ in candidates:
        own = taken[start : start + len(rows)]
        start += len(rows)
        if own.any():
            held.append((constraint, rows[own], at_upper[own]))
    holds = bool(np.linalg.norm(rest) <= 1e-2 * (1 + np.linalg.norm(gradient)))
    return held, factors[taken], holds


def near(values: Array, bound: Array) -> Array:
    """Tell which values are at a bound."""
    finite = np.isfinite(bound)
    bound = np.where(finite, bound, 0.0)
    return finite & (abs(values - bound) <= NEAR * (1 + abs(bound)))


def balanced(matrix: Array, gradient: Array, free: Array) -> Array:
    """Find multipliers, none negative but for the `free` ones, that come nearest to a gradient."""
    from scipy.optimize import nnls  # noqa: PLC0415 - SciPy is there where this is called

    both = np.concatenate([matrix, -matrix[:, free]], axis=1)
    found, _ = nnls(both, gradient)
    factors = found[: matrix.shape[1]].copy()
    factors[free] -= found[matrix.shape[1] :]
    return factors


def warn_if_not(holds: bool, name: str) -> None:
    """Warn where the conditions do not hold."""
    if not holds:
        warn_unconverged(name, "the gradient is not zero, nor balanced by constraints")

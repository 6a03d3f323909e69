"""Bounds and constraints as SciPy takes them, and minima as handles by the conditions at them.

Where x minimizes f(x) subject to c(x) ≥ l, the constraints that hold x back have multipliers λ with

    ∇f(x) - (∂c/∂x)ᵀ λ = 0        and        c(x) - l = 0

(W. Karush; H. W. Kuhn and A. W. Tucker). These equations determine x and λ, and so their
derivatives with respect to whatever f, c and l depend on. Which constraints take part is a
constant: those that x is at, with a multiplier that is not zero.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad import grad, jacobian, sparse_jacobian, vjp
from tape_ad.errors import SingularJacobianError
from tape_ad.extend.arrays import Array, any_handle, array_of, plain
from tape_ad.extend.solvers import check_regular, implicit, warn_unconverged
from tape_ad.extend.trees import at_leaves, is_leaf
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.optimize.objectives import (
    Plain,
    check_option,
    in_a_vector,
    named_as,
    of_vector,
    prepared,
    writable,
)

Function = Callable[..., Any]

DIFFERENCES = ("3-point", "cs")
"""What SciPy takes for a Jacobian of a constraint, other than its default."""


def derived(constraints: Any, objective: Plain, second: bool) -> Any:
    """Give constraints plain numbers, functions of a vector, and the derivatives of those.

    Parameters
    ----------
    constraints : any
        As SciPy takes them.
    objective : Plain
        What is minimized.
    second : bool
        Whether the method takes second derivatives, and sparse matrices.
    """
    if isinstance(constraints, (list, tuple)):
        return [derived(each, objective, second) for each in constraints]
    own = copy.copy(constraints)
    if isinstance(own, Mapping):
        if second:
            return derived(nonlinear(own), objective, second)
        args = plain(own.get("args", ()))
        fun = of_vector(own["fun"], objective, args)
        jac = slopes(fun, own.get("jac"), objective, args, second)
        made = objective.wrapped(prepared(fun, objective))
        return {**own, "args": (), "fun": made, "jac": objective.wrapped(jac)}
    for name in ("A", "lb", "ub"):
        if any_handle(getattr(own, name, None)):
            setattr(own, name, plain(array_of(getattr(own, name))))
    if not hasattr(own, "fun"):
        return own
    fun, pattern = of_vector(own.fun, objective, ()), own.finite_diff_jac_sparsity
    own.finite_diff_jac_sparsity = None
    own.jac = objective.wrapped(slopes(fun, own.jac, objective, (), second, pattern))
    if second and (own.hess is None or isinstance(own.hess, scipy.optimize.BFGS)):
        own.hess = objective.wrapped(curvature(fun, objective))
    elif callable(own.hess):
        own.hess = objective.wrapped(of_vector(own.hess, objective, ()))
    own.fun = objective.wrapped(prepared(fun, objective))
    return own


def nonlinear(constraint: Mapping[str, Any]) -> Any:
    """Make an object of a constraint that is a dict, as SciPy does for this method."""
    args, jac = plain(constraint.get("args", ())), constraint.get("jac")
    fun = named_as(constraint["fun"], lambda x: constraint["fun"](x, *args))
    upper = 0.0 if constraint["type"].lower() == "eq" else np.inf
    given = (lambda x: jac(x, *args)) if callable(jac) else jac
    return scipy.optimize.NonlinearConstraint(fun, 0.0, upper, given)


def slopes(
    fun: Function,
    jac: Any,
    objective: Plain,
    args: tuple[Any, ...],
    sparse: bool,
    pattern: Any = None,
) -> Any:
    """Derive the Jacobian of a constraint, unless one is given.

    Raises
    ------
    ValueError
        For a `jac` that there is not.
    """
    check_option("minimize, a constraint", "jac", jac, "sparse", "2-point", *DIFFERENCES)
    if callable(jac):
        return of_vector(jac, objective, args)
    if isinstance(jac, str) and jac in DIFFERENCES:
        return jac

    def row(x: Any) -> Any:
        return in_a_vector(fun(x))

    wanted = jac == "sparse" or pattern is not None
    if wanted and sparse:
        return prepared(sparse_jacobian(named_as(fun, row), pattern=pattern), objective)
    rows = prepared(jacobian(named_as(fun, row)), objective)
    return lambda x: writable(rows(x))


def curvature(fun: Function, objective: Plain) -> Function:
    """Derive the Hessian of a constraint times its multipliers, as an operator."""

    def pull(x: Any, multipliers: Any) -> Function:
        weighted = grad(lambda x: np.sum(multipliers * in_a_vector(fun(x))))
        return vjp(weighted, x)[1]

    product = prepared(named_as(fun, lambda x, v, p: pull(x, v)(p)[0]), objective)

    def hess(x: Array, multipliers: Array) -> Any:
        x, multipliers = np.array(x), np.array(multipliers)
        if objective.compile:
            along: Function = lambda p: product(x, multipliers, p)  # noqa: E731 - as the other
        else:
            recorded = pull(x, multipliers)  # once for all products here
            along = lambda p: recorded(p)[0]  # noqa: E731 - as the other
        shape = x.size, x.size
        return scipy.sparse.linalg.LinearOperator(
            shape, matvec=lambda p: plain(along(np.ravel(p))), dtype=float
        )

    return hess


def in_a_row(bounds: Any, x0: Any) -> Any:
    """Give bounds as SciPy takes them, about the elements of all arrays of a tree in a row.

    Parameters
    ----------
    bounds : any
        The tree `x0` with a pair (lower, upper) in place of each array, or None where there is
        none; or what SciPy takes, which stays as it is. Lower and upper bounds are numbers, arrays
        that broadcast to the shape of what they bound, handles, or None.
    x0 : array or tree

    Returns
    -------
    any
        A list of pairs, or what SciPy takes already.

    Raises
    ------
    ValueError
        When there are no bounds for a part of `x0`, or some for what is not there, or no pair where
        one should be.
    """
    if isinstance(bounds, tuple) and any(isinstance(each, Mapping) for each in bounds):
        raise ValueError(
            "bounds are one tree, with a pair (lower, upper) in place of each array, and not a "
            'pair of trees; write {"w": (0, 1)}'
        )
    if not isinstance(bounds, Mapping) and not is_like(bounds, x0):
        return bounds
    sides = at_leaves(x0, bounds)
    return [pair for at, x, given in sides for pair in pairs(at, np.shape(x), given)]


def is_like(bounds: Any, x0: Any) -> bool:
    """Tell whether bounds are a tree of a class that SciPy knows nothing of."""
    return type(bounds) is type(x0) and not is_leaf(x0) and not isinstance(x0, (list, tuple))


def pairs(at: str, shape: tuple[int, ...], given: Any) -> Iterator[tuple[Any, Any]]:
    """Give every element of an array its bounds."""
    if given is not None and not (isinstance(given, (tuple, list)) and len(given) == 2):
        raise ValueError(
            f"the bounds of {at} are {given!r}; write a pair (lower, upper), with None for none"
        )
    lower, upper = (side(at, shape, each) for each in given or (None, None))
    return zip(lower, upper, strict=True)


def side(at: str, shape: tuple[int, ...], bound: Any) -> Any:
    """Give every element of an array its lower bound, or its upper one."""
    if bound is None:
        return [None] * int(np.prod(shape))
    try:
        return np.ravel(np.broadcast_to(bound, shape))
    except ValueError:
        raise ValueError(
            f"a bound of {at} has shape {np.shape(bound)}, which does not broadcast to {shape}"
        ) from None


@frozen(eq=False)
class Constraint:
    """``lower <= fun(x) <= upper``.

    Attributes
    ----------
    fun : callable
        Takes a vector, and gives numbers or a vector.
    lower, upper : number, array or Tensor
        Equal ones make an equation.
    """

    fun: Function
    lower: Any
    upper: Any

    def values(self, x: Any) -> Any:
        """Evaluate the constraint as one vector."""
        return array_of(self.fun(x)).reshape(-1)

    def bounds(self, count: int) -> tuple[Any, Any]:
        """Give both bounds as vectors."""
        lower, upper = (
            np.broadcast_to(array_of(bound), (count,)) for bound in (self.lower, self.upper)
        )
        return lower, upper


def box(lower: Any, upper: Any) -> Constraint:
    """Bound the elements of a vector themselves."""
    return Constraint(lambda x: x, lower, upper)


def boxed_in(bounds: Any, size: int) -> list[Constraint]:
    """Read what SciPy takes for bounds: pairs, with None for infinity, or a `Bounds`."""
    if bounds is None:
        return []
    if hasattr(bounds, "lb"):
        return [box(array_of(bounds.lb), array_of(bounds.ub))]
    pairs = list(bounds)
    lower = [-np.inf if low is None else low for low, _ in pairs]
    upper = [np.inf if high is None else high for _, high in pairs]
    if len(pairs) == 1 < size:
        lower, upper = lower * size, upper * size
    return [box(array_of(lower), array_of(upper))]


def plain_bounds(bounds: Any) -> Any:
    """Give what SciPy takes for bounds without the handles in it."""
    if not hasattr(bounds, "lb"):
        return plain(bounds)
    return type(bounds)(
        plain(array_of(bounds.lb)), plain(array_of(bounds.ub)), bounds.keep_feasible
    )


def constraints_of(options: Mapping[str, Any], tree: Function, size: int) -> list[Constraint]:
    """List bounds and constraints, with handles, as functions of a vector."""
    given = options.get("constraints", ())
    listed = given if isinstance(given, (list, tuple)) else [given]
    return [*boxed_in(options.get("bounds"), size), *(constraint_of(each, tree) for each in listed)]


def constraint_of(constraint: Any, tree: Function) -> Constraint:
    """Read one of SciPy's constraints."""
    fun: Function
    if isinstance(constraint, Mapping):
        fun, args = constraint["fun"], constraint.get("args", ())
        upper = 0.0 if constraint["type"].lower() == "eq" else np.inf
        return Constraint(lambda x: fun(tree(x), *args), 0.0, upper)
    if hasattr(constraint, "A"):
        matrix = constraint.A
        dense = matrix.toarray() if hasattr(matrix, "toarray") else array_of(matrix)
        return Constraint(lambda x: dense @ x, array_of(constraint.lb), array_of(constraint.ub))
    return Constraint(
        lambda x: constraint.fun(tree(x)), array_of(constraint.lb), array_of(constraint.ub)
    )


NEAR = 1e-4
"""How near to a bound a solver may stop, relative to 1 and to the bound."""

NEGLIGIBLE = 1e-7
"""What multiplier counts as zero, relative to the largest one and to the gradient."""

VANISHING = 1e-7
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
    held, multipliers, holds = holding(plain(array_of(slopes(x))), x, constraints)
    count = x.size
    places = np.cumsum([0, *(len(each) for _, each, _ in held)])

    def residual(unknowns: Any) -> Any:
        x, factors = unknowns[:count], unknowns[count:]
        total, feasible = array_of(slopes(x)), []
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
        return array_of(residual(unknowns)).reshape(-1)

    x, size = start, 1 + np.max(abs(start), initial=0.0)
    first = 0.0
    for step in range(STEPS if reached else 1):
        value = plain(rest(x))
        left = np.max(abs(value), initial=0.0)
        if not np.isfinite(left) or np.max(abs(x - start), initial=0.0) > size / 10:
            break
        if step and left <= first / 100:
            return
        matrix = plain(array_of(jacobian(rest)(x)).reshape(-1, x.size))
        if step == 0:
            check_regular(matrix, name, FLAT)
            first = left
            if left <= VANISHING * size * np.max(abs(matrix), initial=0.0):
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

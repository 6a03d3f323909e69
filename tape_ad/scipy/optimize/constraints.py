"""Bounds and constraints as SciPy takes them, over trees, with derivatives and with handles."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad import grad, jacobian, sparse_jacobian, vjp
from tape_ad.extend.arrays import Array, any_handle, joined, plain
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

__all__ = [
    "Constraint",
    "box",
    "boxed_in",
    "constraints_of",
    "derived",
    "in_a_row",
    "plain_bounds",
]

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
            setattr(own, name, plain(joined(getattr(own, name))))
    if not hasattr(own, "fun"):
        return own
    fun, pattern = of_vector(own.fun, objective, ()), own.finite_diff_jac_sparsity
    own.finite_diff_jac_sparsity = None
    own.jac = objective.wrapped(slopes(fun, own.jac, objective, (), second, pattern))
    if second and (own.hess is None or type(own.hess) is scipy.optimize.BFGS):
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
        return joined(self.fun(x)).reshape(-1)

    def bounds(self, count: int) -> tuple[Any, Any]:
        """Give both bounds as vectors."""
        lower, upper = (
            np.broadcast_to(joined(bound), (count,)) for bound in (self.lower, self.upper)
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
        return [box(joined(bounds.lb), joined(bounds.ub))]
    pairs = list(bounds)
    lower = [-np.inf if low is None else low for low, _ in pairs]
    upper = [np.inf if high is None else high for _, high in pairs]
    if len(pairs) == 1 < size:
        lower, upper = lower * size, upper * size
    return [box(joined(lower), joined(upper))]


def plain_bounds(bounds: Any) -> Any:
    """Give what SciPy takes for bounds without the handles in it."""
    if not hasattr(bounds, "lb"):
        return plain(bounds)
    return type(bounds)(plain(joined(bounds.lb)), plain(joined(bounds.ub)), bounds.keep_feasible)


def constraints_of(options: Mapping[str, Any], tree: Function, size: int) -> list[Constraint]:
    """List bounds and constraints, with handles, as functions of a vector."""
    given = options.get("constraints", ())
    listed = given if isinstance(given, (list, tuple)) else [given]
    return [
        *boxed_in(options.get("bounds"), size),
        *(constraint_of(each, tree) for each in listed),
    ]


def constraint_of(constraint: Any, tree: Function) -> Constraint:
    """Read one of SciPy's constraints."""
    fun: Function
    if isinstance(constraint, Mapping):
        fun, args = constraint["fun"], constraint.get("args", ())
        upper = 0.0 if constraint["type"].lower() == "eq" else np.inf
        return Constraint(lambda x: fun(tree(x), *args), 0.0, upper)
    if hasattr(constraint, "A"):
        matrix = constraint.A
        dense = matrix.toarray() if hasattr(matrix, "toarray") else joined(matrix)
        return Constraint(lambda x: dense @ x, joined(constraint.lb), joined(constraint.ub))
    return Constraint(
        lambda x: constraint.fun(tree(x)), joined(constraint.lb), joined(constraint.ub)
    )

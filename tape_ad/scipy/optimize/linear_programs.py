"""Linear programs and assignments, whose solutions are corners."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

from tape_ad.extend.arrays import any_handle, array_of, as_constant_handle, plain, refuse_handles
from tape_ad.extend.solvers import opaque, valued, warn_unconverged
from tape_ad.scipy.optimize.constraints import Constraint, box, boxed_in, stationary, warn_if_not

__all__ = ["check_grad", "linear_sum_assignment", "linprog", "milp", "quadratic_assignment"]

Function = Callable[..., Any]


@opaque
def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    """Assign rows to columns at the least cost, as `scipy.optimize.linear_sum_assignment`.

    Parameters
    ----------
    cost_matrix : array or Tensor, shape (m, n)
    maximize : bool

    Returns
    -------
    row_ind, col_ind : array of int
        They are piecewise constant, and so plain; ``cost_matrix[row_ind, col_ind]`` is a handle.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def least(cost):
    ...     return np.sum(cost[linear_sum_assignment(cost)])
    >>> ta.grad(least)(np.array([[4.0, 1.0], [2.0, 3.0]]))
    array([[0., 1.],
           [1., 0.]])
    """
    cost = plain(array_of(cost_matrix)) if any_handle(cost_matrix) else cost_matrix
    return scipy.optimize.linear_sum_assignment(cost, maximize)


@opaque
def quadratic_assignment(A: Any, B: Any, method: str = "faq", options: Any = None) -> Any:
    """Match two graphs, as `scipy.optimize.quadratic_assignment` does.

    Parameters
    ----------
    A, B : array or Tensor, shape (n, n)
    method, options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `fun` is. The assignment is piecewise constant, and so plain.

    Examples
    --------
    >>> import tape_ad as ta
    >>> A, B = np.array([[0.0, 5.0], [1.0, 0.0]]), np.array([[0.0, 2.0], [7.0, 0.0]])
    >>> options = {"rng": np.random.default_rng(0)}
    >>> ta.grad(lambda A: quadratic_assignment(A, B, options=options).fun)(A)
    array([[0., 2.],
           [7., 0.]])
    """
    if not any_handle((A, B)):
        return scipy.optimize.quadratic_assignment(A, B, method, options)
    refuse_handles("quadratic_assignment", {"options": options})
    A, B = array_of(A), array_of(B)
    result = scipy.optimize.quadratic_assignment(plain(A), plain(B), method, options)
    rows = result.col_ind
    result.fun = valued(np.sum(A * B[rows[:, None], rows]), result.fun)
    return result


@opaque
def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "highs",
    **options: Any,
) -> Any:
    """Minimize a linear function under linear constraints, as `scipy.optimize.linprog` does.

    Parameters
    ----------
    c : array or Tensor, shape (n,)
    A_ub, b_ub, A_eq, b_eq : array or Tensor, optional
        ``A_ub @ x <= b_ub`` and ``A_eq @ x == b_eq``.
    bounds : pair or sequence of pairs
        May be handles.
    method, **options
        As in SciPy. Variables that `integrality` makes integers do not move.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x` is the corner that the constraints which meet there move, and
        `fun`, `slack` and `con` are handles too.

    Raises
    ------
    SingularJacobianError
        Where the minimum is no corner of exactly as many constraints as there are variables: where
        it is not the only one, or where more of them meet than are needed.

    Examples
    --------
    >>> import tape_ad as ta
    >>> best = lambda b: linprog([-1.0, -2.0], [[1.0, 1.0]], [b], bounds=(0, 3)).fun
    >>> float(ta.grad(best)(4.0))
    -1.0
    """
    named = {"c": c, "A_ub": A_ub, "b_ub": b_ub, "A_eq": A_eq, "b_eq": b_eq}
    bounds_plain = plain(bounds)
    if not any_handle((named, bounds)):
        return scipy.optimize.linprog(**named, bounds=bounds, method=method, **options)
    refuse_handles("linprog", options)
    arrays = {name: None if value is None else array_of(value) for name, value in named.items()}
    result = scipy.optimize.linprog(**plain(arrays), bounds=bounds_plain, method=method, **options)
    if not result.success:
        warn_unconverged("linprog", result.message)
        return result
    c, size = arrays["c"], result.x.size
    limits = boxed_in([bounds] if np.ndim(bounds_plain) < 2 else bounds, size)
    for left, right, lower in (("A_ub", "b_ub", -np.inf), ("A_eq", "b_eq", arrays["b_eq"])):
        if arrays[left] is not None:
            matrix = arrays[left]
            limits.append(Constraint(product(matrix), lower, arrays[right]))
    put_corner(result, c, limits, options.get("integrality"), (named, bounds), "linprog")
    if A_ub is not None:
        result.slack = valued(arrays["b_ub"] - arrays["A_ub"] @ result.x, result.slack)
    if A_eq is not None:
        result.con = valued(arrays["b_eq"] - arrays["A_eq"] @ result.x, result.con)
    return result


@opaque
def milp(
    c: Any,
    *,
    integrality: Any = None,
    bounds: Any = None,
    constraints: Any = None,
    options: Any = None,
) -> Any:
    """Minimize a linear function of numbers and integers, as `scipy.optimize.milp` does.

    Parameters
    ----------
    c : array or Tensor, shape (n,)
    integrality, options
        As in SciPy.
    bounds : Bounds or pair of array, optional
        May be of handles.
    constraints : LinearConstraint, tuple or sequence of them, optional
        ``lb <= A @ x <= ub``, which may be of handles.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x` and `fun` are. The integers in `x` do not move, and the other
        variables are the corner of what is left.

    Raises
    ------
    SingularJacobianError
        As in `linprog`.

    Examples
    --------
    >>> import tape_ad as ta
    >>> best = lambda c: milp(c, integrality=[1, 1], constraints=([[2.0, 3.0]], 5.5, 100)).fun
    >>> ta.grad(best)(np.array([1.0, 2.0]))
    array([3., 0.])
    """
    refuse_handles("milp", {"integrality": integrality, "options": options})
    given = [] if constraints is None else triples(constraints)
    limits = (0.0, np.inf) if bounds is None else ends(bounds)
    if not any_handle((c, given, limits)):
        return scipy.optimize.milp(
            c, integrality=integrality, bounds=bounds, constraints=constraints, options=options
        )
    c, low, high = array_of(c).reshape(-1), array_of(limits[0]), array_of(limits[1])
    result = scipy.optimize.milp(
        plain(c),
        integrality=integrality,
        bounds=scipy.optimize.Bounds(plain(low), plain(high)),
        constraints=[scipy.optimize.LinearConstraint(*plain(each)) for each in given],
        options=options,
    )
    if result.x is None:
        warn_unconverged("milp", result.message)
        return result
    rows = [Constraint(product(matrix), lower, upper) for matrix, lower, upper in given]
    put_corner(result, c, [box(low, high), *rows], integrality, (c, limits, given), "milp")
    return result


def triples(constraints: Any) -> list[Any]:
    """Read what SciPy takes for linear constraints: matrices with lower and upper bounds."""
    one = scipy.optimize.LinearConstraint
    if not isinstance(constraints, one):
        constraints = list(constraints)
        if len(constraints) == 3 and not isinstance(constraints[0], one | tuple):
            constraints = [tuple(constraints)]
    several = [constraints] if isinstance(constraints, one) else constraints
    found = []
    for each in several:
        made = each if isinstance(each, one) else one(*map(joined_if_dense, each))
        matrix = made.A.toarray() if hasattr(made.A, "toarray") else made.A
        found.append((matrix, made.lb, made.ub))
    return found


def joined_if_dense(part: Any) -> Any:
    """Make an array of a part of a constraint, if it is no sparse matrix."""
    return part if hasattr(part, "toarray") else array_of(part)


def ends(bounds: Any) -> tuple[Any, Any]:
    """Read bounds that are a `Bounds` or a pair."""
    if hasattr(bounds, "lb"):
        return bounds.lb, bounds.ub
    low, high = (*bounds, np.inf)[:2]
    return low, high


def put_corner(
    result: Any, c: Any, limits: list[Constraint], integrality: Any, handles: Any, name: str
) -> None:
    """Put handles for a corner, in which integers do not move, into a result of SciPy's."""
    x = result.x
    kinds = np.broadcast_to(0 if integrality is None else integrality, x.shape)
    fixed = (kinds == 1) | (kinds == 3) | ((kinds == 2) & (x == 0))
    chosen, integers = np.eye(x.size)[:, ~fixed], np.where(fixed, x, 0.0)
    moving: Any = x[~fixed]
    if moving.size:
        limits = [beside(each, chosen, integers) for each in limits] if fixed.any() else limits
        moving, holds = stationary(lambda z: c[~fixed] + 0 * z, moving, limits, name)
        warn_if_not(holds, name)
    found = integers + chosen @ moving if fixed.any() else moving
    result.x = as_constant_handle(found, handles)
    result.fun = valued(c @ result.x, result.fun)


def beside(limit: Constraint, chosen: Any, integers: Any) -> Constraint:
    """Make the constraint that one is for the variables that are no integers."""
    return Constraint(lambda z: limit.fun(integers + chosen @ z), limit.lower, limit.upper)


def product(matrix: Any) -> Function:
    """Make the function that multiplies with a matrix."""
    return lambda x: matrix @ x


def check_grad(func: Function, grad: Function, x0: Any, *args: Any, **options: Any) -> Any:
    """Compare a gradient with differences, as `scipy.optimize.check_grad`; not for handles.

    Examples
    --------
    >>> check_grad(lambda x: x[0] ** 2, lambda x: 2 * x, np.array([1.0])) < 1e-6
    np.True_
    """
    refuse_handles(
        "check_grad, for which there is ta.testing.check_grads", {"x0": x0, "args": args}
    )
    return scipy.optimize.check_grad(func, grad, x0, *args, **options)

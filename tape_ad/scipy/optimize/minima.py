"""SciPy's `minimize` over trees, with derivatives into it and through it."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad import grad
from tape_ad.extend.arrays import any_handle, array_of, as_constant_handle, plain, refuse_handles
from tape_ad.extend.solvers import (
    check_callable,
    implicit,
    minimum_for_all,
    opaque,
    records_in,
    vanishes,
    warn_unconverged,
)
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.optimize.constraints import (
    VANISHING,
    constraints_of,
    derived,
    in_a_row,
    plain_bounds,
    stationary,
    warn_if_not,
)
from tape_ad.scipy.optimize.objectives import Plain, WithGradient, check_option, searched

__all__ = ["minimize"]

Function = Callable[..., Any]


@opaque
def minimize(
    f: Function,
    x0: Any,
    method: Any = None,
    *,
    args: Any = (),
    compile: bool = False,
    **options: Any,
) -> Any:
    """Minimize with `scipy.optimize.minimize`, giving it the derivatives that the method takes.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, a function of an array or tree that returns one real number.
    x0 : array or tree of real arrays and numbers
        Where to start. A list of numbers is a vector, as it is for SciPy.
    method : str or callable, optional
        SciPy's; its default is BFGS, L-BFGS-B or SLSQP. Most methods get the gradient; Newton-CG,
        trust-ncg, trust-krylov and trust-constr get products with the Hessian too, dogleg and
        trust-exact the Hessian itself.
    args : tuple
        Further arguments of `f`, and of a `jac`, `hess` or `hessp` that is given. There may be
        handles among them, and `f` and constraints may close over handles: the minimum then is a
        handle too, by the conditions that hold at it. So may `bounds` be handles.
    compile : bool
        Whether to compile `f` and its derivatives, and those of constraints, by `tape_ad.compile`:
        the first two calls of each capture it, and later ones replay that, by native code where
        the extra `compile` is installed. Without it the numbers are the same, to the bit; with it
        up to rounding, so that a search may take other steps. A `jac`, `hess` or `hessp` that is
        given is called as it is.
    **options
        SciPy's `bounds`, `constraints`, `tol`, `callback` and `options`, and `jac`, `hess` or
        `hessp` to be used in place of ours. With ``jac=True``, `f` returns the number and its
        gradient, a tree, as what `tape_ad.interop.dask.value_and_grad` makes does. A
        `LinearConstraint` is about the elements of all arrays in a row, and so are the matrices
        that a `hess` gives. Bounds may be, too, or the tree `x0` with a pair (lower, upper) in
        place of each array. All functions take trees. The
        Jacobians of constraints are derived unless they are given.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's, where `x` has the structure of `x0`. With handles, the arrays in `x` are handles,
        and so is `fun`. Constraints and bounds that the minimum is at, and that hold it back, go on
        to hold; one without effect (a multiplier of zero) is taken for absent.

    Raises
    ------
    ImportError
        When SciPy is not installed.
    TypeError
        For ``jac=True`` with ``compile=True``, with a method that takes more than a gradient, or
        with a function that returns no pair.
    DtypeError
        When `x0` has complex elements.
    SingularJacobianError
        With handles, where the Hessian is singular, so that the minimum is not the only one near
        by, or where constraints that hold it back depend on each other.

    Warns
    -----
    ConvergenceWarning
        When the search has not succeeded, and there are handles.

    Examples
    --------
    >>> result = minimize(lambda p: (p["a"] - 3) ** 2 + p["b"] ** 2, {"a": 0.0, "b": 1.0})
    >>> {name: round(float(value), 6) + 0.0 for name, value in result.x.items()}
    {'a': 3.0, 'b': 0.0}

    The derivative of where the minimum is:

    >>> import tape_ad as ta
    >>> best = lambda a: minimize(lambda x, a: np.cosh(x - a), 0.0, args=(a,), tol=1e-10).x
    >>> ta.grad(best)(2.0).round(6)
    np.float64(1.0)
    """
    args = args if isinstance(args, tuple) else (args,)
    check_callable("scipy_objective", f)
    x0 = row_of_numbers(x0)
    if "bounds" in options:
        options["bounds"] = in_a_row(options["bounds"], x0)
    kind = WithGradient if options.get("jac") is True else Plain
    if kind is WithGradient:
        del options["jac"]
    objective = kind(f, plain(x0), plain(args), compile)
    refuse_handles("minimize", {name: options.get(name) for name in ("tol", "options")})
    check_option("minimize", "jac", options.get("jac"), True, "2-point", "3-point", False)
    both = kind is WithGradient
    value: Any = (lambda tree: f(tree, *args)[0]) if both else lambda tree: f(tree, *args)
    slopes: Any = (lambda tree: f(tree, *args)[1]) if both else grad(value)
    through = kind(f, plain(x0), args)

    def slope(x: Any) -> Any:
        return through.vector(slopes(through.tree(x)))

    def row(x: Any) -> Any:
        f, g = through._value_and_slopes(x, *args)
        return np.concatenate([np.reshape(array_of(f), (1,)), g])

    found = None
    if method in (None, "BFGS") and (gtol := tolerance(options)) is not None:
        found = minimum_for_all(row, objective.x0, gtol)
    derived = found and records_in(value(through.tree(found.x)))
    if found and (not derived or vanishes(slope, found.x, VANISHING)):
        x = as_constant_handle(implicit(slope, found.x, "minimize"), x0, args)
        return scipy.optimize.OptimizeResult(
            x=through.tree(x),
            fun=value(through.tree(x)),
            jac=found.slope,
            hess_inv=found.curvature,
            success=True,
            status=0,
            message=FOUND,
            **found.counts,
        )
    result = searched(objective, method, without_handles(options, objective, method))
    x, result.x = result.x, objective.tree(result.x)
    constraints = constraints_of(options, objective.tree, x.size)
    limits = [(each.lower, each.upper) for each in constraints]
    given = x0, args, limits, objective.found, [each.found for each in objective.functions]
    if not any_handle(given):
        return result
    if not result.success:
        warn_unconverged("minimize", result.message)
    if any_handle(given[1:]):  # a start alone has no influence
        x, holds = stationary(slope, x, constraints, "minimize", reached=bool(result.success))
        warn_if_not(holds or not result.success, "minimize")
    result.x = through.tree(as_constant_handle(x, given))
    result.fun = value(result.x)
    return result


FOUND = "Optimization terminated successfully."
"""What SciPy says."""


def tolerance(options: Mapping[str, Any]) -> float | None:
    """Read at which gradient a search ends; None where there are other options."""
    further = options.get("options") or {}
    if options.keys() - {"tol", "options"} or further.keys() - {"gtol"}:
        return None
    tol = options.get("tol")
    gtol: float = further.get("gtol", 1e-5 if tol is None else tol)
    return gtol


def without_handles(options: Mapping[str, Any], objective: Plain, method: Any) -> dict[str, Any]:
    """Let SciPy have plain numbers for bounds, and functions that give them with derivatives."""
    options = {
        name: objective.wrapped(value) if name in {"jac", "hess", "hessp"} else value
        for name, value in options.items()
    }
    if options.get("bounds") is not None:
        options["bounds"] = plain_bounds(options["bounds"])
    if "constraints" in options:
        second = isinstance(method, str) and method.lower() == "trust-constr"
        options["constraints"] = derived(options["constraints"], objective, second)
    return options


def row_of_numbers(x0: Any) -> Any:
    """Return a vector for a list of plain numbers, which SciPy takes for one, and else `x0`.

    Programs written for SciPy start at ``[0.0, 1.0]`` and do arithmetic with the whole point.
    """
    if not isinstance(x0, (list, tuple)) or hasattr(x0, "_fields") or not x0:
        return x0
    numbers = all(isinstance(each, (int, float, np.integer, np.floating)) for each in x0)
    return np.asarray(x0, float) if numbers else x0

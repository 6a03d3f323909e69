"""Minima of functions of one number that SciPy finds, as handles."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

from tape_ad.scipy.optimize.roots import as_number, as_tuple
from tape_ad.scipy.optimize.stationary import box, stationary, warn_if_not
from tape_ad.transforms.gradients import grad
from tape_ad.transforms.implicit import (
    any_handle,
    as_constant_handle,
    joined,
    on_plain_arrays,
    plain,
    refuse_handles,
    warn_unconverged,
)

__all__ = ["brent", "fminbound", "golden", "minimize_scalar"]

Function = Callable[..., Any]


def minimize_scalar(
    fun: Function,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: float | None = None,
    options: Any = None,
) -> Any:
    """Minimize a function of one number, as `scipy.optimize.minimize_scalar` does.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``, which may close over handles.
    bracket : sequence of float, optional
        Where to start. The minimum does not depend on it.
    bounds : pair of float, optional
        Where to look; may be handles. A minimum at a bound that holds it back moves with the bound.
    args : tuple
        Further arguments, with handles among them.
    method, tol, options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x` and `fun` are.

    Raises
    ------
    SingularJacobianError
        Where the second derivative vanishes at the minimum.

    Examples
    --------
    >>> import tape_ad as ta
    >>> best = lambda a: minimize_scalar(lambda x: np.cosh(x - a)).x
    >>> ta.grad(best)(2.0).round(6)
    np.float64(1.0)
    """
    args = as_tuple(args)
    refuse_handles("minimize_scalar", {"tol": tol, "options": options})
    searched = on_plain_arrays(fun)
    result = scipy.optimize.minimize_scalar(
        searched,
        bracket=numbers(bracket),
        bounds=numbers(bounds),
        args=plain(args),
        method=method,
        tol=tol,
        options=options,
    )
    handles = (bracket, bounds, args, searched.found)
    if any_handle(handles):
        if not result.success:
            warn_unconverged("minimize_scalar", result.message)
        result.x = as_minimum(
            "minimize_scalar", fun, result.x, bounds, args, handles, bool(result.success)
        )
        result.fun = fun(result.x, *args)
    return result


def fminbound(
    func: Function,
    x1: Any,
    x2: Any,
    args: Any = (),
    xtol: float = 1e-5,
    maxfun: int = 500,
    full_output: Any = 0,
    disp: int = 1,
) -> Any:
    """Minimize between two bounds, as `scipy.optimize.fminbound`; see `minimize_scalar`.

    Examples
    --------
    >>> bool(np.isclose(fminbound(lambda x: (x - 1) ** 2, 0.0, 3.0), 1.0))
    True
    """
    args = as_tuple(args)
    searched = on_plain_arrays(func)
    ends = numbers((x1, x2))
    found = scipy.optimize.fminbound(searched, *ends, plain(args), xtol, maxfun, full_output, disp)
    handles = (x1, x2, args, searched.found)
    if not any_handle(handles):
        return found
    return with_minimum("fminbound", func, found, (x1, x2), args, handles)


def brent(
    func: Function,
    args: Any = (),
    brack: Any = None,
    tol: float = 1.48e-8,
    full_output: Any = 0,
    maxiter: int = 500,
) -> Any:
    """Minimize by Brent's method, as `scipy.optimize.brent`; see `minimize_scalar`.

    Examples
    --------
    >>> bool(np.isclose(brent(lambda x: (x - 1) ** 2), 1.0))
    True
    """
    return by_bracket(scipy.optimize.brent, func, args, brack, tol, full_output, maxiter)


def golden(
    func: Function,
    args: Any = (),
    brack: Any = None,
    tol: float = np.sqrt(np.finfo(float).eps),
    full_output: Any = 0,
    maxiter: int = 5000,
) -> Any:
    """Minimize by golden sections, as `scipy.optimize.golden`; see `minimize_scalar`.

    Examples
    --------
    >>> bool(np.isclose(golden(lambda x: (x - 1) ** 2), 1.0))
    True
    """
    return by_bracket(scipy.optimize.golden, func, args, brack, tol, full_output, maxiter)


def by_bracket(search: Function, func: Function, args: Any, brack: Any, *more: Any) -> Any:
    """Call one of SciPy's that start from a bracket."""
    args = as_tuple(args)
    searched = on_plain_arrays(func)
    found = search(searched, plain(args), numbers(brack), *more)
    handles = (brack, args, searched.found)
    if not any_handle(handles):
        return found
    return with_minimum(search.__name__, func, found, None, args, handles)


def numbers(bracket: Any) -> Any:
    """Give a bracket without handles, as numbers."""
    return bracket if bracket is None else tuple(map(as_number, plain(tuple(bracket))))


def with_minimum(name: str, fun: Function, found: Any, bounds: Any, args: Any, handles: Any) -> Any:
    """Put a handle into what SciPy gives, which is the minimum or a tuple that begins with it."""
    x, *rest = found if isinstance(found, tuple) else (found,)
    x = as_minimum(name, fun, x, bounds, args, handles)
    return (x, fun(x, *args), *rest[1:]) if rest else x


def as_minimum(
    name: str, fun: Function, x: Any, bounds: Any, args: Any, handles: Any, reached: bool = True
) -> Any:
    """Make a handle of a minimum."""
    slope = grad(lambda x: joined(fun(x, *args)).reshape(()))
    limits = [] if bounds is None else [box(*map(joined, bounds))]
    handle, holds = stationary(
        lambda x: joined(slope(x[0])).reshape(1),
        np.array([float(x)]),
        limits,
        name,
        reached=reached,
    )
    warn_if_not(holds, name)
    return as_constant_handle(x if handle is None or not any_handle(handle) else handle[0], handles)

"""Roots and minima of many functions of one number at once, as in `scipy.optimize.elementwise`.

SciPy has these functions since 1.15.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import grad
from tape_ad.extend.arrays import any_handle, as_constant_handle, plain, refuse_handles
from tape_ad.extend.packages import listed
from tape_ad.extend.solvers import implicit, on_plain_arrays, opaque, valued, warn_unconverged
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.optimize.roots import as_tuple
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["bracket_minimum", "bracket_root", "find_minimum", "find_root"]
__dir__ = listed(__all__)

Function = Callable[..., Any]


@opaque
def find_root(f: Function, init: Any, /, *, args: Any = (), **options: Any) -> Any:
    """Find a root for each element, as `scipy.optimize.elementwise.find_root` does.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, element by element.
    init : pair of array
        Brackets. The roots do not depend on them.
    args : tuple of array or Tensor
        Further arguments, which broadcast with the brackets. `f` may close over handles, too.
    **options
        SciPy's `tolerances`, `maxiter` and `callback`.

    Returns
    -------
    object
        SciPy's result. With handles, `x` and `f_x` are handles by the implicit function theorem,
        and all else is about the search. What was not found has no derivative.

    Raises
    ------
    SingularJacobianError
        At a root where the derivative by x vanishes.

    Warns
    -----
    ConvergenceWarning
        When a root was not found, and there are handles.

    Examples
    --------
    >>> import tape_ad as ta
    >>> root = lambda a: find_root(lambda x, a: x**3 + x - a, (0.0, 5.0), args=(a,)).x
    >>> ta.grad(root)(2.0).round(6) if scipy.optimize.elementwise.find_root else np.float64(0.25)
    np.float64(0.25)
    """
    refuse_handles("find_root", options)
    search = scipy.optimize.elementwise.find_root
    return found(search, f, f, (init,), args, options)


@opaque
def find_minimum(f: Function, init: Any, /, *, args: Any = (), **options: Any) -> Any:
    """Find a minimum for each element, as `scipy.optimize.elementwise.find_minimum` does.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, element by element.
    init : triple of array
        Brackets: left, middle and right. The minima do not depend on them.
    args, **options
        As for `find_root`.

    Returns
    -------
    object
        As for `find_root`.

    Raises
    ------
    SingularJacobianError
        At a minimum where the second derivative by x vanishes.

    Examples
    --------
    >>> import tape_ad as ta
    >>> best = lambda a: find_minimum(lambda x, a: np.cosh(x - a), (-5.0, 0.0, 5.0), args=(a,)).x
    >>> ta.grad(best)(1.0).round(6) if scipy.optimize.elementwise.find_root else np.float64(1.0)
    np.float64(1.0)
    """
    refuse_handles("find_minimum", options)
    search = scipy.optimize.elementwise.find_minimum
    return found(search, slope_of(f), f, (init,), args, options)


def slope_of(f: Function) -> Function:
    """Differentiate a function element by element."""

    def slope(x: Any, *args: Any) -> Any:
        return grad(lambda x: np.sum(f(x, *args)))(x)

    return slope


def found(
    search: Function,
    equation: Function,
    f: Function,
    starts: tuple[Any, ...],
    args: Any,
    options: dict[str, Any],
) -> Any:
    """Let SciPy search with plain numbers, and attach the derivatives of an equation's solution.

    Those of its steps are others where one of them comes upon the solution.
    """
    args, searched = as_tuple(args), on_plain_arrays(f)
    result = search(searched, *plain(starts), args=plain(args), **plain(options))
    handles = (starts, args)
    if not (searched.found or any_handle(handles)):
        return result
    done, name = np.asarray(result.success), search.__name__
    public = hasattr(result, "f_x")
    if public and not done.all():
        warn_unconverged(name, f"status {np.unique(result.status).tolist()}")

    def residual(x: Any) -> Any:  # which has the solution 0 where there is no other
        return np.where(done, equation(x, *args), x)

    x = implicit(residual, np.where(done, result.x, 0.0)[()], name, elementwise=True)
    result.x = as_constant_handle(x if done.all() else np.where(done, x, result.x), handles)
    value = "f_x" if public else "fun"
    result[value] = valued(f(result.x, *args), result[value])
    return result


SEARCHES = scipy.optimize._chandrupatla


@stands_for(SEARCHES._chandrupatla)
def root_by_chandrupatla(func: Function, a: Any, b: Any, *, args: Any = (), **options: Any) -> Any:
    """Find roots within SciPy's own code: those of distributions, which it searches for."""
    return found(SEARCHES._chandrupatla, func, func, (a, b), args, options)


@stands_for(SEARCHES._chandrupatla_minimize)
def minimum_by_chandrupatla(
    func: Function, x1: Any, x2: Any, x3: Any, *, args: Any = (), **options: Any
) -> Any:
    """Find minima within SciPy's own code, which has the modes of distributions by it."""
    search = SEARCHES._chandrupatla_minimize
    return found(search, slope_of(func), func, (x1, x2, x3), args, options)


@opaque
def bracket_root(f: Function, xl0: Any, xr0: Any = None, **options: Any) -> Any:
    """Bracket roots, as `scipy.optimize.elementwise.bracket_root` does.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, element by element.
    xl0, xr0 : array
        Where to start.
    **options
        SciPy's. `args` may hold handles, of which brackets are piecewise constant functions, so
        that the result is plain.

    Returns
    -------
    object
        SciPy's result.

    Examples
    --------
    >>> found = scipy.optimize.elementwise.find_root  # SciPy 1.15 has it
    >>> bool(not found or bracket_root(lambda x: x - 4, 0.0).success)
    True
    """
    return bracketed("bracket_root", f, {"xl0": xl0, "xr0": xr0}, options)


@opaque
def bracket_minimum(f: Function, xm0: Any, **options: Any) -> Any:
    """Bracket minima, as `scipy.optimize.elementwise.bracket_minimum` does; see `bracket_root`.

    Examples
    --------
    >>> found = scipy.optimize.elementwise.find_root  # SciPy 1.15 has it
    >>> bool(not found or bracket_minimum(lambda x: (x - 4) ** 2, 0.0).success)
    True
    """
    return bracketed("bracket_minimum", f, {"xm0": xm0}, options)


def bracketed(name: str, f: Function, starts: dict[str, Any], options: dict[str, Any]) -> Any:
    """Let SciPy search with plain numbers from plain starts."""
    args = as_tuple(options.pop("args", ()))
    refuse_handles(name, starts | options)
    search = getattr(scipy.optimize.elementwise, name)
    return search(on_plain_arrays(f), *starts.values(), args=plain(args), **options)

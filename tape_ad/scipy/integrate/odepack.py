"""`odeint` on handles, by the adjoint equation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from tape_ad.scipy.integrate.adjoint import Problem, as_options, differentiable, without_handles
from tape_ad.scipy.integrate.initial_value import solve_ivp
from tape_ad.transforms.implicit import any_handle, joined, on_plain_arrays, refuse_handles

__all__ = ["odeint"]

Function = Callable[..., Any]

TOLERANCE = 1.49012e-8
"""What `odeint` takes for both tolerances where none is given."""


def odeint(
    func: Function,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Function | None = None,  # noqa: N803 - the name that SciPy gives it
    col_deriv: Any = 0,
    full_output: Any = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    *more: Any,
    tfirst: bool = False,
    adjoint_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Solve an initial value problem, as `scipy.integrate.odeint` does.

    Parameters
    ----------
    func : callable
        ``func(y, t, *args)``, or ``func(t, y, *args)`` with `tfirst`; written in NumPy where
        derivatives are asked for. It is to have all handles by `args`.
    y0 : array, shape (n,)
        Where to start. May be a handle.
    t : array, shape (m,)
        When to give the solution; it starts at the first time. May be a handle.
    args : tuple
        Further arguments: handles, or trees of them.
    Dfun, col_deriv, full_output, ml, mu, rtol, atol, *more, tfirst, **options
        As in SciPy, not handles.
    adjoint_options : dict, optional
        What the adjoint equation is solved with, see `solve_ivp`; LSODA and the tolerances when
        left out.

    Returns
    -------
    y : array or Tensor, shape (m, n)
    infodict : dict
        With `full_output`, as in SciPy.

    Raises
    ------
    UnsupportedArgumentError
        When `func` closes over a handle, and for handles in options.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def decayed(rate):
    ...     return odeint(lambda y, t, k: -k * y, [1.0], [0.0, 2.0], args=(rate,))[1, 0]
    >>> ta.grad(decayed)(0.5).round(6)  # -2 exp(-1)
    np.float64(-0.735759)
    """
    args = args if isinstance(args, tuple) else (args,)
    fixed = {"rtol": rtol, "atol": atol, "ml": ml, "mu": mu, "further options": (more, options)}
    refuse_handles("odeint", fixed)
    adjoint_options = as_options(adjoint_options)
    checked = without_handles(func, "odeint")
    rest: list[Any] = []

    jacobian = Dfun and on_plain_arrays(Dfun)

    def solve(_: Any, __: Any, y0: Any, t: Any, args: Any) -> Any:
        given = (jacobian, col_deriv, full_output, ml, mu, rtol, atol, *more)
        found = scipy.integrate.odeint(checked, y0, t, args, *given, tfirst=tfirst, **options)
        y, *rest[:] = found if full_output else (found,)
        return y.T

    if not any_handle((y0, t, args)):
        y = solve(None, None, y0, t, args).T
    else:
        t, y0 = joined(t), np.atleast_1d(joined(y0))
        tolerances = {
            "rtol": TOLERANCE if rtol is None else rtol,
            "atol": TOLERANCE if atol is None else atol,
        }
        ordered = func if tfirst else lambda t, y, *args: func(y, t, *args)
        problem = Problem(ordered, "LSODA", False, tolerances, adjoint_options, solve_ivp)
        y = differentiable(
            "odeint", problem, solve, lambda: t, lambda: None, ((t[0], t[-1]), y0, t, args)
        ).T
    return (y, *rest) if full_output else y

"""Integrals by SciPy's adaptive rules; see `leibniz` for their derivatives."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate
import scipy.special

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import (
    any_handle,
    as_constant_handle,
    joined,
    plain,
    primal,
    refuse_handles,
)
from tape_ad.extend.solvers import on_plain_arrays, valued
from tape_ad.scipy.integrate.leibniz import by_leibniz
from tape_ad.transforms.excerpts import HandleMet, Watched, alert

__all__ = [
    "fixed_quad",
    "newton_cotes",
    "qmc_quad",
    "quad",
    "quad_vec",
]

Function = Callable[..., Any]


def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
) -> Any:
    """Compute a definite integral, as `scipy.integrate.quad` does.

    Parameters
    ----------
    func : callable
        ``func(x, *args)``, a number; written in NumPy where derivatives are asked for. It may
        close over handles.
    a, b : float
        The limits, which may be handles where there is no `weight`. With respect to an infinite
        one the derivative is 0.
    args : tuple
        Further arguments of `func`: handles, or trees of them. Each element that the integrand
        depends on takes an integral of its own.
    full_output, epsabs, epsrel, limit, points, weight, wvar, wopts, maxp1, limlst, complex_func
        As in SciPy, not handles. The tolerances are those of the derivatives' integrals too.

    Returns
    -------
    y : float or Tensor
        The integral.
    abserr : float
        What SciPy estimates for the error.
    more
        With `full_output`, as in SciPy.

    Raises
    ------
    UnsupportedArgumentError
        Where a handle may not be given, and for a function with a cache of handles.

    Examples
    --------
    >>> import tape_ad as ta
    >>> ta.grad(lambda k: quad(lambda x: np.exp(-k * x), 0, np.inf)[0])(2.0).round(8)
    np.float64(-0.25)
    """
    args = args if isinstance(args, tuple) else (args,)
    options = {
        "epsabs": epsabs,
        "epsrel": epsrel,
        "limit": limit,
        "points": points,
        "weight": weight,
        "wvar": wvar,
        "wopts": wopts,
        "maxp1": maxp1,
        "limlst": limlst,
    }
    refuse_handles("quad", options)
    if not callable(func):  # a LowLevelCallable, which is a tuple of C functions
        refuse_handles("quad", {"a": a, "b": b, "args": args})
        return scipy.integrate.quad(func, a, b, args, full_output, **options)
    if weight is not None:
        refuse_handles("quad, with weight=", {"a": a, "b": b})
    if complex_func:
        return complex_quad(func, a, b, args, full_output, options)
    if not any_handle((a, b, args)):
        with contextlib.suppress(HandleMet):
            return scipy.integrate.quad(alert(func), a, b, args, full_output, **options)
    watched = Watched(lambda x: func(x, *args), "quad", as_number)
    value, *rest = scipy.integrate.quad(watched, primal(a), primal(b), (), full_output, **options)

    def integrals(integrand: Function, size: int, a: Any, b: Any) -> Any:
        return np.stack([quad(element(integrand, i), a, b, **options)[0] for i in range(size)])

    if watched.records or any_handle((a, b, args)):
        value = by_leibniz(watched, np.float64(value), a, b, integrals)
        value = as_constant_handle(value, a, b, args)
    return value, *rest


def as_number(value: Any) -> Any:
    """Give what a function returns as an array without axes."""
    return joined(value).reshape(())


def element(integrand: Function, i: int) -> Function:
    """Make the function that gives one element of what another one gives."""
    return lambda x: integrand(x)[i]


def complex_quad(func: Any, a: Any, b: Any, args: Any, full_output: Any, options: Any) -> Any:
    """Integrate the real and the imaginary part of a function, as SciPy does."""

    def part(name: str) -> Any:
        of_func = lambda x, *args: getattr(joined(func(x, *args)), name)  # noqa: E731 - it is short
        return quad(of_func, a, b, args, full_output, **options)

    re, im = part("real"), part("imag")
    value, error = re[0] + 1j * im[0], re[1] + 1j * im[1]
    return (value, error, {"real": re[2:], "imag": im[2:]}) if full_output else (value, error)


def quad_vec(
    f: Function,
    a: Any,
    b: Any,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    norm: str = "2",
    cache_size: float = 1e8,
    limit: int = 10000,
    workers: Any = 1,
    points: Any = None,
    quadrature: Any = None,
    full_output: bool = False,
    *,
    args: Any = (),
) -> Any:
    """Compute the integral of a vector-valued function, as `scipy.integrate.quad_vec` does.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, an array of real numbers; it may close over handles.
    a, b : float
        The limits, which may be handles.
    args : tuple
        Further arguments of `f`: handles, or trees of them. All derivatives are one integral.
    epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output
        As in SciPy, not handles.

    Returns
    -------
    res : array or Tensor
        The integral.
    err : float
        What SciPy estimates for the error.
    info : object
        With `full_output`, as in SciPy.

    Raises
    ------
    UnsupportedArgumentError
        Where a handle may not be given, and for a function with a cache of handles.
    DtypeError
        For a complex integrand with handles.

    Examples
    --------
    >>> quad_vec(lambda x, k: np.cos(k * x), 0, 1, args=(np.array([1.0, 2.0]),))[0].round(6)
    array([0.841471, 0.454649])
    """
    args = args if isinstance(args, tuple) else (args,)
    options = {
        "epsabs": epsabs,
        "epsrel": epsrel,
        "norm": norm,
        "cache_size": cache_size,
        "limit": limit,
        "points": points,
        "quadrature": quadrature,
    }
    refuse_handles("quad_vec", {**options, "workers": workers})
    if workers != 1 and not any_handle((a, b, args)):  # other processes know of no handles
        whole = {**options, "workers": workers, "full_output": full_output}
        return scipy.integrate.quad_vec(f, a, b, args=args, **whole)
    if not any_handle((a, b, args)):
        with contextlib.suppress(HandleMet):
            return scipy.integrate.quad_vec(
                alert(f), a, b, args=args, full_output=full_output, **options
            )
    watched = Watched(lambda x: f(x, *args), "quad_vec")
    value, *rest = scipy.integrate.quad_vec(
        watched, primal(a), primal(b), full_output=full_output, **options
    )

    def integrals(integrand: Function, size: int, a: Any, b: Any) -> Any:
        return quad_vec(integrand, a, b, **options)[0]

    value = by_leibniz(watched, value, a, b, integrals)
    return as_constant_handle(value, a, b, args), *rest


def newton_cotes(rn: Any, equal: int = 0) -> Any:
    """Give the weights of a rule for samples, as `scipy.integrate.newton_cotes`; not for handles.

    Examples
    --------
    >>> newton_cotes(2)[0] * 3
    array([1., 4., 1.])
    """
    refuse_handles("newton_cotes", {"rn": rn})
    return scipy.integrate.newton_cotes(rn, equal)


# Rules with given points


def fixed_quad(func: Function, a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """Compute a definite integral by a Gaussian rule, as `scipy.integrate.fixed_quad` does.

    Parameters
    ----------
    func : callable
        ``func(x, *args)``, for an array of points along the last axis.
    a, b : number or Tensor, shape ()
        Finite limits.
    args : tuple
    n : int
        The number of points.

    Returns
    -------
    tuple
        The integral, and None.

    Examples
    --------
    >>> fixed_quad(lambda x: x**3, 0.0, 2.0)[0].round(12)
    np.float64(4.0)
    """
    if not any_handle((a, b)):
        return scipy.integrate.fixed_quad(func, a, b, args, n)
    points, weights = scipy.special.roots_legendre(n)
    if np.isinf(primal(a)) or np.isinf(primal(b)):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    x = (b - a) * (np.real(points) + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(x, *args), axis=-1), None


def qmc_quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    *,
    n_estimates: int = 8,
    n_points: int = 1024,
    qrng: Any = None,
    log: bool = False,
) -> Any:
    """Integrate by a quasi-Monte Carlo method, as `scipy.integrate.qmc_quad` does.

    Parameters
    ----------
    func : callable
        ``func(x)`` of points, shape (d, n), written in NumPy where derivatives are asked for. It
        may close over handles.
    a, b : array or Tensor, shape (d,)
        The limits.
    n_estimates, n_points, qrng
        As in SciPy.
    log : bool
        Not where there are handles.

    Returns
    -------
    QMCQuadResult
        SciPy's; with handles, `integral` and `standard_error` are. The points stay where they are
        between the limits.

    Raises
    ------
    UnsupportedArgumentError
        For handles with `log`, with a function of one point, and with limits that are equal.

    Examples
    --------
    >>> import tape_ad as ta
    >>> area = lambda b: qmc_quad(lambda x: x[0] * 0 + 3.0, 0.0, b).integral
    >>> ta.grad(area)(2.0).round(9)
    np.float64(3.0)
    """
    searched = on_plain_arrays(func)
    visited: list[Any] = []

    def watched(x: Any) -> Any:
        visited.append(np.array(x))
        del visited[: -n_estimates if n_estimates else None]
        return searched(x)

    limits = joined(a), joined(b)
    options = {"n_estimates": n_estimates, "n_points": n_points, "qrng": qrng, "log": log}
    found = scipy.integrate.qmc_quad(watched, *plain(limits), **options)
    if not (searched.found or any_handle(limits)):
        return found
    low, high = np.broadcast_arrays(*(np.atleast_1d(each) for each in limits))
    if log or visited[-1].ndim < 2 or np.any(low == high):
        raise UnsupportedArgumentError(
            "qmc_quad: with handles, log= is to be False, the function one of several points at "
            "once, x of shape (d, n), and no limit equal to the other; pass .data of handles"
        )
    first, last = (plain(each)[:, None] for each in (low, high))
    volume = np.prod(high - low)
    estimates = []
    for x in visited:
        share = (x - first) / (last - first)
        values = joined(func(low[:, None] + (high - low)[:, None] * share))
        estimates.append(np.sum(values) * volume / n_points)
    several = np.stack(estimates)
    error = np.std(several, ddof=1) / n_estimates**0.5
    return type(found)(
        valued(np.mean(several), found.integral), valued(error, found.standard_error)
    )

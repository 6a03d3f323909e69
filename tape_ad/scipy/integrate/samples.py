"""Integrals of samples: compositions of NumPy's functions, to SciPy's formulae."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, along, as_array, axis_of
from tape_ad.extend.rules import Derivation, Entry
from tape_ad.scipy.counterparts import takes_lists

__all__ = [
    "SAMPLES",
    "cumulative_simpson",
    "cumulative_trapezoid",
    "romb",
    "simpson",
    "trapezoid",
]


@takes_lists
def trapezoid(y: Array, x: Array = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate samples by the trapezoidal rule, as `scipy.integrate.trapezoid` does.

    Parameters
    ----------
    y : array or Tensor
    x : array or Tensor, optional
        Where the samples are; `dx` apart when left out.
    dx : number or Tensor
    axis : int

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> trapezoid(np.array([1.0, 2.0, 3.0]))
    np.float64(4.0)
    """
    return scipy.integrate.trapezoid(y, x, dx=dx, axis=axis)


@takes_lists
def cumulative_trapezoid(
    y: Array, x: Array = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    """Integrate samples up to each, as `scipy.integrate.cumulative_trapezoid` does.

    Parameters
    ----------
    y : array or Tensor
    x : array or Tensor, optional
        Where the samples are; `dx` apart when left out.
    dx : number or Tensor
    axis : int
    initial : 0 or None
        Whether to put 0 in front.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> cumulative_trapezoid(np.array([1.0, 2.0, 3.0]), initial=0)
    array([0. , 1.5, 4. ])
    """
    return scipy.integrate.cumulative_trapezoid(y, x, dx=dx, axis=axis, initial=initial)


@takes_lists
def simpson(y: Array, x: Array = None, *, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate samples by Simpson's rule, as `scipy.integrate.simpson` does.

    Parameters
    ----------
    y : array or Tensor
    x : array or Tensor, optional
        Where the samples are; `dx` apart when left out. Where two of them coincide SciPy leaves
        terms out, and so do the derivatives.
    dx : number or Tensor
    axis : int

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> simpson(np.array([0.0, 1.0, 4.0]))
    np.float64(2.6666666666666665)
    """
    return scipy.integrate.simpson(y, x=x, dx=dx, axis=axis)


@takes_lists
def cumulative_simpson(
    y: Array, *, x: Array = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    """Integrate samples up to each, as `scipy.integrate.cumulative_simpson` does.

    Parameters
    ----------
    y : array or Tensor
    x : array or Tensor, optional
        Where the samples are, in increasing order; `dx` apart when left out.
    dx : number, array or Tensor
    axis : int
    initial : number, array or Tensor, optional
        What to put in front, and to add to all others.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> cumulative_simpson(np.array([0.0, 1.0, 4.0, 9.0])) * 3
    array([ 1.,  8., 27.])
    """
    return scipy.integrate.cumulative_simpson(y, x=x, dx=dx, axis=axis, initial=initial)


@takes_lists
def romb(y: Array, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Array:
    """Integrate samples by Romberg's method, as `scipy.integrate.romb` does.

    Parameters
    ----------
    y : array or Tensor
        1 + 2**k samples along the axis.
    dx : number or Tensor
    axis : int
    show : bool
        Whether to print a table; not for handles.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> romb(np.arange(5.0) ** 3)
    np.float64(64.0)
    """
    return scipy.integrate.romb(y, dx=dx, axis=axis, show=show)


# What they are made of


def floating(y: Any) -> Array:
    """Take integers to float64, as SciPy's formulae do by a division."""
    y = as_array(y)
    return y if y.dtype.kind in "fc" else y.astype(np.float64)


def spacings(y: Array, x: Any, axis: int, *, one_point: bool = False) -> Array:
    """Give the differences of the places of samples, in a shape that broadcasts to theirs.

    Raises
    ------
    ValueError
        What SciPy says.
    """
    x = floating(x)
    if x.ndim == 1:
        lengths = [1] * y.ndim
        lengths[axis] = -1
        x = x.reshape(lengths)
    elif x.ndim != y.ndim:
        raise ValueError("If given, shape of x must be 1-D or the same as y.")
    if x.shape[axis] != y.shape[axis]:
        raise ValueError("If given, length of x along axis must be the same as y.")
    return np.diff(x, axis=axis)


def quotient(a: Any, b: Any) -> Array:
    """Divide; 0 where the divisor is."""
    nonzero = np.not_equal(b, 0)
    return np.where(nonzero, a / np.where(nonzero, b, 1.0), 0.0)


def trapezoid_of_handles(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate samples by the trapezoidal rule, on handles."""
    y, x = floating(y), x if x is None else floating(x)
    return np.trapezoid(y, x, dx, axis)


def cumulative_trapezoid_of_handles(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    """Integrate samples cumulatively by the trapezoidal rule, on handles."""
    y = floating(y)
    axis = axis_of(y.ndim, axis)
    if y.shape[axis] == 0:
        raise ValueError("At least one point is required along `axis`.")
    if initial is not None and not (np.isscalar(initial) and initial == 0):
        raise ValueError("`initial` must be `None` or `0`.")
    step = dx if x is None else spacings(y, x, axis)
    before, after = y[along(axis, slice(None, -1))], y[along(axis, slice(1, None))]
    total = np.cumsum(step * (before + after) / 2.0, axis=axis)
    if initial is None:
        return total
    return np.concatenate([np.zeros_like(total.sum(axis=axis, keepdims=True)), total], axis=axis)


def simpson_of_handles(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate samples by Simpson's rule, with a correction where their number is even."""
    y = floating(y)
    axis = axis_of(y.ndim, axis)
    count = y.shape[axis]
    steps = None if x is None else spacings(y, x, axis)
    if count == 2:
        step = dx if steps is None else steps[along(axis, 0)]
        return 0.5 * step * (y[along(axis, -1)] + y[along(axis, -2)])
    if count % 2:
        return parabolas(y, steps, dx, axis)
    first = along(axis, slice(None, -1))
    total = parabolas(y[first], None if steps is None else steps[first], dx, axis)
    h, k = (dx, dx) if steps is None else (steps[along(axis, -2)], steps[along(axis, -1)])
    if steps is None:
        h = k = floating(dx)
    last = quotient(2 * k**2 + 3 * h * k, 6 * (k + h))
    middle = quotient(k**2 + 3.0 * h * k, 6 * h)
    before = quotient(k**3, 6 * h * (h + k))
    return (
        total
        + last * y[along(axis, -1)]
        + middle * y[along(axis, -2)]
        - before * y[along(axis, -3)]
    )


def parabolas(y: Array, steps: Array | None, dx: Any, axis: int) -> Array:
    """Integrate an odd number of samples by Simpson's rule."""
    a, b, c = (y[along(axis, slice(i, y.shape[axis] - 2 + i, 2))] for i in (0, 1, 2))
    if steps is None:
        return np.sum(a + 4.0 * b + c, axis=axis) * (dx / 3.0)
    h, k = (steps[along(axis, slice(i, None, 2))] for i in (0, 1))
    both, ratio = h + k, quotient(h, k)
    terms = (
        a * (2.0 - quotient(1.0, ratio)) + b * (both * quotient(both, h * k)) + c * (2.0 - ratio)
    )
    return np.sum(both / 6.0 * terms, axis=axis)


def cumulative_simpson_of_handles(
    y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    """Integrate samples cumulatively by Simpson's rule, on handles."""
    y = floating(y)
    axis = axis_of(y.ndim, axis)
    count = y.shape[axis]
    if count < 3:
        total = cumulative_trapezoid_of_handles(y, x, dx, axis)
    else:
        if x is None:
            steps, formula = floating(dx), even_halves
            if steps.ndim and steps.shape != y[along(axis, slice(1))].shape:
                raise ValueError(
                    "If provided, `dx` must either be a scalar or have the same shape as `y` but "
                    "with only 1 point along `axis`."
                )
            steps = steps * np.ones(
                [n - 1 if i == y.ndim + axis else 1 for i, n in enumerate(y.shape)]
            )
        else:
            steps, formula = spacings(y, x, axis), uneven_halves
            if np.any(steps <= 0):
                raise ValueError("Input x must be strictly increasing.")
        y_last, steps = np.moveaxis(y, axis, -1), np.moveaxis(steps, axis, -1)
        first = formula(y_last, steps)
        second = formula(y_last[..., ::-1], steps[..., ::-1])[..., ::-1]
        joined = np.concatenate([first, second], axis=-1)
        total = np.moveaxis(np.cumsum(joined[..., taking_turns(count)], axis=-1), -1, axis)
    if initial is None:
        return total
    initial = floating(initial)
    one = tuple(1 if i == y.ndim + axis else n for i, n in enumerate(y.shape))
    if initial.ndim and initial.shape != one:
        raise ValueError(
            "If provided, `initial` must either be a scalar or have the same shape as `y` but with "
            "only 1 point along `axis`."
        )
    initial = np.broadcast_to(initial, one)
    return np.concatenate([initial, total + initial], axis=axis)


def taking_turns(count: int) -> Array:
    """Tell which integral between two samples is taken from which of two lists of `count` - 2."""
    picked = np.empty(count - 1, int)
    picked[:-1:2] = np.arange(count - 2)[::2]
    picked[1::2] = np.arange(count - 2)[::2] + count - 2
    picked[-1] = 2 * (count - 2) - 1
    return picked


def even_halves(y: Array, steps: Array) -> Array:
    """Integrate between the first two of each three samples, by the parabola through them."""
    a, b, c = y[..., :-2], y[..., 1:-1], y[..., 2:]
    return steps[..., :-1] / 3 * (5 * a / 4 + 2 * b - c / 4)


def uneven_halves(y: Array, steps: Array) -> Array:
    """Integrate the half intervals of Simpson's rule for samples at unequal distances."""
    a, b, c = y[..., :-2], y[..., 1:-1], y[..., 2:]
    h, k = steps[..., :-1], steps[..., 1:]
    part, ratio = h / (h + k), h / k
    return h / 6 * ((3 - part) * a + (3 + part * ratio + part) * b - part * ratio * c)


def romb_of_handles(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Array:
    """Do what `romb` does: it is a sum with constant weights."""
    if show:
        raise UnsupportedArgumentError(
            "tape_ad.scipy.integrate.romb: of handles there is no table to show; call it with "
            "show=True on their values, .data"
        )
    y = floating(y)
    weights = scipy.integrate.romb(np.eye(y.shape[axis_of(y.ndim, axis)]))
    return np.sum(np.moveaxis(y, axis, -1) * (weights * floating(dx)), axis=-1)


PAIRS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (trapezoid, trapezoid_of_handles),
    (cumulative_trapezoid, cumulative_trapezoid_of_handles),
    (simpson, simpson_of_handles),
    (cumulative_simpson, cumulative_simpson_of_handles),
    (romb, romb_of_handles),
]


def in_its_dtype(public: Any, compute: Callable[..., Array]) -> Derivation:
    """Let a function give the dtype that SciPy's gives, which is not always that of its formula.

    It depends on SciPy's version, and on whether there is an even number of samples.
    """
    original, signature = public._implementation, inspect.signature(public)

    def converted(*args: Any, **kwargs: Any) -> Array:
        given = signature.bind(*args, **kwargs).arguments
        out = compute(*args, **kwargs)
        y = floating(given["y"])
        axis = axis_of(y.ndim, given.get("axis", -1))
        count = y.shape[axis]
        few = count if public is romb else min(count, 4 + count % 2)
        lengths = [1] * y.ndim
        lengths[axis] = few
        options: dict[str, Any] = {"axis": axis}
        if given.get("x") is not None:
            options["x"] = np.arange(few, dtype=as_array(given["x"]).dtype)
        for name in ("dx", "initial"):
            value = given.get(name)
            if value is not None:
                is_number = isinstance(value, (int, float, complex))  # which has a weak dtype
                options[name] = value if is_number else np.zeros((), as_array(value).dtype)
        dtype = original(np.zeros(lengths, y.dtype), **options).dtype
        return out if out.dtype == dtype else out.astype(dtype)

    return Derivation(converted)


SAMPLES: dict[Any, Entry] = {public: in_its_dtype(public, compute) for public, compute in PAIRS}

"""Coefficients of splines through evenly spaced samples, and what such splines are in between."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.installed import scipy

SPLINE_FILTERS: dict[Any, Entry] = {}

CUBIC, QUADRATIC = math.sqrt(3.0) - 2.0, 2.0 * math.sqrt(2.0) - 3.0
"""The poles of the filters that make coefficients of samples."""


def cubic(x: Array) -> Array:
    """Evaluate the cubic spline of one coefficient."""
    x = np.abs(x)
    near = 2.0 / 3 - 0.5 * x**2 * (2.0 - x)
    return np.where(x < 1, near, np.where(x < 2, (2.0 - x) ** 3 / 6.0, 0.0))


def quadratic(x: Array) -> Array:
    """Evaluate the quadratic spline of one coefficient."""
    x = np.abs(x)
    return np.where(x < 0.5, 0.75 - x**2, np.where(x < 1.5, (x - 1.5) ** 2 / 2.0, 0.0))


EVALUATED = "cj newx dx x0"


@counterpart(SPLINE_FILTERS, scipy.signal.cspline1d_eval, EVALUATED)
def cspline1d_eval(cj: Array, newx: Array, dx: Any = 1.0, x0: Any = 0) -> Array:
    """Evaluate a cubic spline, as `scipy.signal.cspline1d_eval` does.

    Parameters
    ----------
    cj : array or Tensor, shape (n,)
        Its coefficients.
    newx : array or Tensor
        The points.
    dx, x0 : number or Tensor
        The distance of the samples, and where the first one is.

    Returns
    -------
    array or Tensor, shape of `newx`
    """
    return evaluated(cj, newx, dx, x0, cubic, 4)


@counterpart(SPLINE_FILTERS, scipy.signal.qspline1d_eval, EVALUATED)
def qspline1d_eval(cj: Array, newx: Array, dx: Any = 1.0, x0: Any = 0) -> Array:
    """Evaluate a quadratic spline, as `scipy.signal.qspline1d_eval` does.

    Parameters
    ----------
    cj, newx, dx, x0
        As for `cspline1d_eval`.

    Returns
    -------
    array or Tensor, shape of `newx`
    """
    return evaluated(cj, newx, dx, x0, quadratic, 3)


def evaluated(
    cj: Any, newx: Any, dx: Any, x0: Any, basis: Callable[[Array], Array], count: int
) -> Array:
    """Add up the splines of the coefficients that reach a point, mirrored at the ends."""
    cj = as_array(cj)
    x = (as_array(newx) - x0) / dx
    last = cj.shape[0] - 1
    if last < 1:
        raise ShapeError(f"a spline on handles takes two coefficients at least, got {cj.shape}")
    if np.isinf(x).any():
        raise ValueError("points and their distance from each other have to be finite and not 0")
    x = np.where(x < 0, -x, x)
    x = x - 2 * last * np.floor(x / (2 * last))
    x = np.where(x > last, 2 * last - x, x)
    lowest = np.floor(x - count / 2).astype(int) + 1
    total: Any = 0.0
    for i in range(count):
        total = total + cj[np.clip(lowest + i, 0, last)] * basis(x - (lowest + i))
    return total.astype(cj.dtype if basis is cubic else x.dtype)


# Filters of images, which are linear along each axis


Rows = Callable[[Array], Array]


def along_both(signal: Array, rows: Rows, columns: Rows | None) -> Array:
    """Filter rows, and columns if there is a filter for these, by what it makes of impulses."""
    dtype = signal.real.dtype
    out = signal @ np.stack([rows(unit) for unit in np.eye(signal.shape[-1], dtype=dtype)])
    if columns is None:
        return out
    units = np.eye(signal.shape[-2], dtype=dtype)
    return np.stack([columns(unit) for unit in units], axis=1) @ out


@counterpart(SPLINE_FILTERS, scipy.signal.symiirorder1, "signal c0", anchor=True)
def symiirorder1(signal: Array, c0: Any, z1: Any, precision: float = -1.0) -> Array:
    """Filter rows forth and back by one pole, as `scipy.signal.symiirorder1` does.

    Parameters
    ----------
    signal : array or Tensor, shape (n,) or (m, n)
    c0 : number or Tensor
        The gain.
    z1 : float
        The pole.
    precision : float
        From where on what lies before the start is left out.

    Returns
    -------
    array or Tensor, shape of `signal`
    """

    def rows(x: Array) -> Array:
        return scipy.signal.symiirorder1(x, 1.0, z1, precision)

    return c0 * along_both(as_array(signal), rows, None)


@counterpart(SPLINE_FILTERS, scipy.signal.symiirorder2, "input", anchor=True)
def symiirorder2(input: Array, r: float, omega: float, precision: float = -1.0) -> Array:
    """Filter rows forth and back by a pair of poles, as `scipy.signal.symiirorder2` does.

    Parameters
    ----------
    input : array or Tensor, shape (n,) or (m, n)
    r, omega : float
        The poles are at ``r exp(+-i omega)``.
    precision : float
        As for `symiirorder1`.

    Returns
    -------
    array or Tensor, shape of `input`
    """

    def rows(x: Array) -> Array:
        return scipy.signal.symiirorder2(x, r, omega, precision)

    return along_both(as_array(input), rows, None)


@counterpart(SPLINE_FILTERS, scipy.signal.cspline2d, "signal", anchor=True)
def cspline2d(signal: Array, lamb: float = 0.0, precision: float = -1.0) -> Array:
    """Compute the coefficients of a cubic spline of an image, as `scipy.signal.cspline2d` does.

    Parameters
    ----------
    signal : array or Tensor, shape (m, n)
    lamb : float
        How much it is smoothed.
    precision : float
        As for `symiirorder1`.

    Returns
    -------
    array or Tensor, shape of `signal`
    """
    rows = smoothing(as_array(signal), lamb, precision)
    return along_both(as_array(signal), rows, rows)


def smoothing(signal: Array, lamb: float, precision: float) -> Rows:
    """Make the filter of the rows of a smoothing spline; see Unser, Aldroubi & Eden 1993."""
    if not 0 <= precision < 1:
        precision = 1e-3 if signal.dtype in (np.float32, np.complex64) else 1e-6
    if lamb <= 1 / 144.0:
        return lambda x: scipy.signal.symiirorder1(x, -CUBIC * 6.0, CUBIC, precision)
    root = math.sqrt(3 + 144 * lamb)
    xi = 1 - 96 * lamb + 24 * lamb * root
    omega = math.atan(math.sqrt((144 * lamb - 1) / xi))
    rho = (24 * lamb - 1 - math.sqrt(xi)) / (24 * lamb)
    rho *= math.sqrt((48 * lamb + 24 * lamb * root) / xi)
    return lambda x: scipy.signal.symiirorder2(x, rho, omega, precision)


@counterpart(SPLINE_FILTERS, scipy.signal.qspline2d, "signal", anchor=True)
def qspline2d(signal: Array, lamb: float = 0.0, precision: float = -1.0) -> Array:
    """Compute the coefficients of a quadratic spline of an image, as SciPy's `qspline2d` does.

    Parameters
    ----------
    signal, lamb, precision
        As for `cspline2d`; SciPy smooths no quadratic splines.

    Returns
    -------
    array or Tensor, shape of `signal`
    """
    signal = as_array(signal)
    if not 0 <= precision < 1:
        precision = 1e-3 if signal.dtype in (np.float32, np.complex64) else 1e-6

    def rows(x: Array) -> Array:
        return scipy.signal.symiirorder1(x, -QUADRATIC * 8.0, QUADRATIC, precision)

    return along_both(signal, rows, rows)


@counterpart(SPLINE_FILTERS, scipy.signal.sepfir2d, "input hrow hcol", anchor=True)
def sepfir2d(input: Array, hrow: Array, hcol: Array) -> Array:
    """Filter rows and columns of an image, mirrored at its edges, as `scipy.signal.sepfir2d` does.

    Parameters
    ----------
    input : array or Tensor, shape (m, n)
    hrow, hcol : array or Tensor, shapes (k,) and (l,)
        The taps for rows and columns, of odd numbers.

    Returns
    -------
    array or Tensor, shape (m, n)
    """
    arrays = [as_array(each) for each in (input, hrow, hcol)]
    across = np.swapaxes(mirrored_taps(arrays[0], arrays[1]), 0, 1)
    return np.swapaxes(mirrored_taps(across, arrays[2]), 0, 1)


def mirrored_taps(x: Array, taps: Array) -> Array:
    """Filter the rows of an image by taps."""
    count = taps.shape[0]
    if count % 2 == 0:
        raise ValueError("hrow and hcol must be odd length")
    padded = np.pad(x, [(0, 0), (count // 2, count // 2)], mode="symmetric")
    return np.lib.stride_tricks.sliding_window_view(padded, count, axis=1) @ taps[::-1]

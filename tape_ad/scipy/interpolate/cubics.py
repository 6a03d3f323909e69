"""Coefficients of the piecewise cubic interpolants: from values and slopes at the knots.

Each function gives the `PPoly` coefficients of SciPy's class, for values whose first axis is that
of the knots. What SciPy computes in NumPy is composed of the same operations in the same order.
"""

from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.extend.arrays import Array, in_double
from tape_ad.extend.rules import Derivation, Entry, overridable
from tape_ad.scipy.interpolate.shared import columns
from tape_ad.scipy.linalg.systems import solve_banded

__all__ = [
    "CUBICS",
    "akima_coefficients",
    "cubic_spline_coefficients",
    "hermite_coefficients",
    "pchip_coefficients",
]

Condition = int | str
"""The order of the derivative that is given at an end, "not-a-knot" or "periodic"."""


@overridable
def hermite_coefficients(x: Array, y: Array, dydx: Array) -> Array:
    """Compute the coefficients of `scipy.interpolate.CubicHermiteSpline`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y, dydx : array or Tensor, shape (n, ...)
        Values and slopes there.

    Returns
    -------
    array or Tensor, shape (4, n - 1, ...)

    Examples
    --------
    >>> hermite_coefficients(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    array([[0.], [1.], [0.], [0.]])
    """
    return scipy.interpolate.CubicHermiteSpline(x, y, dydx).c


def hermite(x: Array, y: Array, dydx: Array) -> Array:
    """Compute the coefficients of cubics with given values and slopes, by NumPy calls."""
    x, y, dydx = in_double(x), in_double(y), in_double(dydx)
    dx = columns(x[1:] - x[:-1], y.ndim)
    slope = (y[1:] - y[:-1]) / dx
    t = (dydx[:-1] + dydx[1:] - 2 * slope) / dx
    parts = t / dx, (slope - dydx[:-1]) / dx - t, dydx[:-1], y[:-1]
    common = np.result_type(*(part.dtype for part in parts))
    return np.stack([part if part.dtype == common else part.astype(common) for part in parts])


# Cubic splines


@overridable
def cubic_spline_coefficients(
    x: Array,
    y: Array,
    start: Array = 0.0,
    end: Array = 0.0,
    kinds: tuple[Condition, Condition] = ("not-a-knot", "not-a-knot"),
) -> Array:
    """Compute the coefficients of `scipy.interpolate.CubicSpline`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y : array or Tensor, shape (n, ...)
    start, end : array or Tensor, shape of the further axes of `y`
        The derivatives given at the ends; ignored where `kinds` says that none is.
    kinds : pair of int or str
        What is given at each end: 1 or 2, the order of the derivative, "not-a-knot" for none, or
        "periodic" for both.

    Returns
    -------
    array or Tensor, shape (4, n - 1, ...)
    """
    if kinds[0] == "periodic":
        return scipy.interpolate.CubicSpline(x, y, bc_type="periodic").c
    given = zip(kinds, (start, end), strict=True)
    bc_type = tuple(kind if isinstance(kind, str) else (kind, value) for kind, value in given)
    return scipy.interpolate.CubicSpline(x, y, bc_type=bc_type).c


def cubic_spline(
    x: Array,
    y: Array,
    start: Array = 0.0,
    end: Array = 0.0,
    kinds: tuple[Condition, Condition] = ("not-a-knot", "not-a-knot"),
) -> Array:
    """Compute the coefficients of a cubic spline, by NumPy calls."""
    x, y, start, end = (in_double(each) for each in (x, y, start, end))
    if y.size == 0:
        return hermite(x, y, np.zeros_like(y))
    dx, rise = x[1:] - x[:-1], y[1:] - y[:-1]
    slope = rise / columns(dx, y.ndim)
    n = x.shape[0]
    if n == 2:  # on one piece, "not-a-knot" and "periodic" ask for nothing
        free = [isinstance(kind, str) for kind in kinds]
        start, end = slope[0] if free[0] else start, slope[0] if free[1] else end
        kinds = 1 if free[0] else kinds[0], 1 if free[1] else kinds[1]
    if kinds[0] == "periodic":
        return hermite(x, y, periodic_slopes(dx, slope))
    if n == 3 and kinds == ("not-a-knot", "not-a-knot"):
        return hermite(x, y, parabola_slopes(dx, slope))
    main, upper, first = end_row(kinds[0], start, x[2:3] - x[:1], dx, slope, rise)
    backwards = dx[::-1], slope[::-1], rise[::-1]
    mirrored = -end if kinds[1] == 2 else end
    last_main, lower, last = end_row(kinds[1], mirrored, x[-1:] - x[-3:-2], *backwards)
    zero, wide = np.zeros(1), columns(dx, y.ndim)
    middle = 3 * (wide[1:] * slope[:-1] + wide[:-1] * slope[1:])
    rows = (
        np.concatenate((zero, upper, dx[:-1])),
        np.concatenate((main, 2 * (dx[:-1] + dx[1:]), last_main)),
        np.concatenate((dx[1:], lower, zero)),
    )
    return hermite(x, y, tridiagonal(np.stack(rows), np.concatenate((first, middle, last))))


def end_row(
    kind: Condition, value: Array, d: Array, dx: Array, slope: Array, rise: Array
) -> tuple[Array, Array, Array]:
    """Write what is given at the first knot as an equation for the first two slopes.

    Returns
    -------
    tuple of array
        The two coefficients, each of shape (1,), and the right side, of shape (1, ...).
    """
    if kind == 1:
        return np.ones(1), np.zeros(1), value[None]
    wide = columns(dx, slope.ndim)
    if kind == 2:
        return 2 * dx[:1], dx[:1], -0.5 * value * wide[:1] ** 2 + 3 * rise[:1]
    wide_d = columns(d, slope.ndim)
    side = (wide[:1] + 2 * wide_d) * wide[1:2] * slope[:1] + wide[:1] ** 2 * slope[1:2]
    return dx[1:2], d, side / wide_d


def tridiagonal(ab: Array, b: Array) -> Array:
    """Solve a tridiagonal system for right sides with any number of axes."""
    solution = solve_banded((1, 1), ab, b.reshape((b.shape[0], -1)), check_finite=False)
    return solution.reshape(b.shape)


def parabola_slopes(dx: Array, slope: Array) -> Array:
    """Compute the slopes of the parabola through three points."""
    wide = columns(dx, slope.ndim)
    middle = (wide[:1] * slope[1:] + wide[1:] * slope[:1]) / (wide[:1] + wide[1:])
    return np.concatenate((2 * slope[:1] - middle, middle, 2 * slope[1:] - middle))


def periodic_slopes(dx: Array, slope: Array) -> Array:
    """Compute the slopes of a spline that goes on with its first piece behind its last one.

    The slope at the last but one knot is split off from the cyclic system; what is left is
    tridiagonal.
    """
    wide = columns(dx, slope.ndim)
    if dx.shape[0] == 2:
        t = np.add.reduce(slope / wide, axis=0) / np.add.reduce(1.0 / wide, axis=0)
        return np.stack((t, t, t))
    before, wide_before = np.concatenate((dx[-1:], dx[:-1])), np.concatenate((wide[-1:], wide[:-1]))
    b = 3 * (wide_before * slope + wide * np.concatenate((slope[-1:], slope[:-1])))
    main, zero = 2 * (before + dx), np.zeros(1)
    n = dx.shape[0] - 1
    ab = np.stack(
        (
            np.concatenate((zero, before[: n - 1])),
            main[:n],
            np.concatenate((dx[1:n], zero)),
        )
    )
    ends = np.concatenate((-dx[:1], np.zeros(n - 2), -before[n - 1 : n]))
    s1, s2 = tridiagonal(ab, b[:n]), columns(tridiagonal(ab, ends), slope.ndim)
    last = (b[n:] - dx[n - 1] * s1[:1] - dx[n] * s1[-1:]) / (
        main[n] + dx[n - 1] * s2[:1] + dx[n] * s2[-1:]
    )
    s = s1 + last * s2
    return np.concatenate((s, last, s[:1]))


# Slopes that keep the shape of the data


@overridable
def pchip_coefficients(x: Array, y: Array) -> Array:
    """Compute the coefficients of `scipy.interpolate.PchipInterpolator`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y : array or Tensor, shape (n, ...)
        Real.

    Returns
    -------
    array or Tensor, shape (4, n - 1, ...)
    """
    return scipy.interpolate.PchipInterpolator(x, y).c


def pchip(x: Array, y: Array) -> Array:
    """Compute the coefficients of PCHIP interpolation, by NumPy calls.

    The slope at a knot is the weighted harmonic mean of those beside it, or 0 where they do not
    have one sign; its derivative is 0 there too.
    """
    x, y = in_double(x), in_double(y)
    refuse_complex("PchipInterpolator", y)
    h = columns(x[1:] - x[:-1], y.ndim)
    m = (y[1:] - y[:-1]) / h
    if y.shape[0] == 2:
        return hermite(x, y, np.concatenate((m, m)))
    sign = np.sign(m)
    flat = (sign[1:] != sign[:-1]) | (sign[1:] == 0) | (sign[:-1] == 0)
    before, after = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    means = 1.0 / ((w1 / before + w2 / after) / (w1 + w2))
    ends = one_sided(h[:1], h[1:2], m[:1], m[1:2]), one_sided(h[-1:], h[-2:-1], m[-1:], m[-2:-1])
    return hermite(x, y, np.concatenate((ends[0], np.where(flat, 0.0, means), ends[1])))


def one_sided(h0: Array, h1: Array, m0: Array, m1: Array) -> Array:
    """Estimate the slope at an end from the two pieces beside it, with the sign of the first."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(steep, 3.0 * m0, d))


@overridable
def akima_coefficients(x: Array, y: Array, method: str = "akima") -> Array:
    """Compute the coefficients of `scipy.interpolate.Akima1DInterpolator`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y : array or Tensor, shape (n, ...)
        Real.
    method : str
        "akima" or "makima".

    Returns
    -------
    array or Tensor, shape (4, n - 1, ...)
    """
    return scipy.interpolate.Akima1DInterpolator(x, y, method=method).c


def akima(x: Array, y: Array, method: str = "akima") -> Array:
    """Compute the coefficients of Akima interpolation, by NumPy calls."""
    if method not in {"akima", "makima"}:
        raise NotImplementedError(f"`method`={method} is unsupported.")
    x, y = in_double(x), in_double(y)
    refuse_complex("Akima1DInterpolator", y)
    m = (y[1:] - y[:-1]) / columns(x[1:] - x[:-1], y.ndim)
    if y.shape[0] == 2:
        return hermite(x, y, np.concatenate((m, m)))
    before, behind = 2.0 * m[:1] - m[1:2], 2.0 * m[-1:] - m[-2:-1]
    m = np.concatenate((2.0 * before - m[:1], before, m, behind, 2.0 * behind - m[-1:]))
    bends = np.abs(m[1:] - m[:-1])
    if method == "makima":
        bends = bends + 0.5 * np.abs(m[1:] + m[:-1])
    total = bends[2:] + bends[:-2]
    defined = total > 1e-9 * np.max(total, initial=-np.inf)  # SciPy's own cutoff
    share = bends[:-2] / np.where(defined, total, 1.0)
    slopes = m[1:-2] + share * (m[2:-1] - m[1:-2])
    return hermite(x, y, np.where(defined, slopes, 0.5 * (m[3:] + m[:-3])))


def refuse_complex(name: str, y: Array) -> None:
    """Refuse complex values, as SciPy does.

    Raises
    ------
    ValueError
    """
    if y.dtype.kind == "c":
        raise ValueError(f"`{name}` only works with real values for `y`; use np.real on them.")


CUBICS: dict[Any, Entry] = {
    hermite_coefficients: Derivation(hermite),
    cubic_spline_coefficients: Derivation(cubic_spline),
    pchip_coefficients: Derivation(pchip),
    akima_coefficients: Derivation(akima),
}

"""B-splines of data: through points, near them, or smooth beside them."""

import operator
from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, axis_of, in_double
from tape_ad.scipy.interpolate.bsplines import (
    BSpline,
    fitted_coefficients,
    interpolating_coefficients,
    periodic_coefficients,
)
from tape_ad.scipy.interpolate.shared import is_plain

__all__ = ["knots_for", "make_interp_spline", "make_lsq_spline", "make_smoothing_spline"]


def knots_for(x: Array, k: int, kind: str = "not-a-knot") -> Array:
    """Choose knots for an interpolating spline, as SciPy does.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    k : int
        The degree.
    kind : str
        "not-a-knot", "given" for derivatives that are given at the ends, or "periodic".
    """
    if kind == "given":
        return np.concatenate((*[x[:1]] * k, x, *[x[-1:]] * k))
    middle = x if k % 2 else (x[1:] + x[:-1]) / 2
    if kind == "not-a-knot":
        cut = (k + 1) // 2 if k % 2 else k // 2
        inner = middle[cut : middle.shape[0] - cut]
        return np.concatenate((*[x[:1]] * (k + 1), inner, *[x[-1:]] * (k + 1)))
    if k % 2 == 0:
        x = np.concatenate((x[:1], middle[:-1], x[-1:]))
    dx = x[1:] - x[:-1]
    order = np.arange(k) % dx.shape[0]
    before = x[:1] - np.cumsum(dx[::-1][order])[::-1]
    return np.concatenate((before, x, x[-1:] + np.cumsum(dx[order])))


def make_interp_spline(
    x: Array,
    y: Array,
    k: int = 3,
    t: Array | None = None,
    bc_type: Any = None,
    axis: int = 0,
    check_finite: bool = True,
) -> BSpline:
    """Make the B-spline through points, as `scipy.interpolate.make_interp_spline` does.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        Increasing.
    y : array or Tensor, shape (..., n, ...)
    k : int
        The degree.
    t : array or Tensor, shape (m + k + 1,), optional
        The knots; if they are left out they are made of `x`, and move with it.
    bc_type : str or pair, optional
        As in SciPy; the derivatives in it may be handles.
    axis : int
    check_finite : bool

    Returns
    -------
    BSpline

    Examples
    --------
    >>> float(make_interp_spline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 8.0, 27.0])(1.5).round(9))
    3.375
    """
    x, y, k = in_double(x), in_double(y), operator.index(k)
    axis = axis_of(y.ndim, axis) + y.ndim
    y = y if axis == 0 else np.moveaxis(y, axis, 0)
    check_data(x, y, check_finite)
    kind = bc_type if isinstance(bc_type, str) else None
    if kind == "periodic":
        if t is not None:
            raise NotImplementedError(
                "For periodic case t is constructed automatically and can not be passed manually"
            )
        if not np.allclose(y[0], y[-1], atol=1e-15):
            raise ValueError("First and last points does not match while periodic case expected")
    if bc_type is None or kind in ("not-a-knot", "periodic"):
        given: list[Any] = [None, None]
    else:
        given = [kind, kind] if kind else list(bc_type)
    free = all(each is None for each in given)
    if k <= 1 and t is None:
        if not free:
            raise ValueError(f"Too much info for k={k}: t and bc_type can only be None.")
        knots = np.concatenate((*[x[:1]] * k, x, x[-1:]))
        return BSpline.construct_fast(knots, y, k, axis=axis)
    if t is None:
        t = knots_for(x, k, "periodic" if kind == "periodic" else "not-a-knot" if free else "given")
    t = in_double(t)
    if kind == "periodic":
        c = periodic_coefficients(x, y, t, k)
        return BSpline.construct_fast(t, c, k, "periodic", axis)
    conditions = [end_conditions(each, y) for each in given]
    check_knots(x, t, k, sum(len(orders) for orders, _ in conditions))
    (starts, start), (ends, end) = conditions
    if y.size == 0:
        c = np.zeros((t.shape[0] - k - 1, *y.shape[1:]))
    else:
        c = interpolating_coefficients(x, y, t, start, end, k, (starts, ends))
    return BSpline.construct_fast(t, c, k, axis=axis)


def check_data(x: Array, y: Array, check_finite: bool) -> None:
    """Check points, as SciPy does.

    Raises
    ------
    ValueError
    """
    if check_finite and not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise ValueError("array must not contain infs or NaNs")
    if x.ndim != 1 or np.any(x[1:] <= x[:-1]):
        raise ValueError("Expect x to be a 1D strictly increasing sequence.")
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"Shapes of x {x.shape} and y {y.shape} are incompatible")


def check_knots(x: Array, t: Array, k: int, conditions: int) -> None:
    """Check knots, as SciPy does.

    Raises
    ------
    ValueError
    """
    if t.ndim != 1 or np.any(t[1:] < t[:-1]):
        raise ValueError("Expect t to be a 1-D sorted array_like.")
    if t.shape[0] < x.shape[0] + k + 1:
        raise ValueError(f"Got {t.shape[0]} knots, need at least {x.shape[0] + k + 1}.")
    if x[0] < t[k] or x[-1] > t[-k]:
        raise ValueError(f"Out of bounds w/ x = {x}.")
    missing = t.shape[0] - k - 1 - x.shape[0]
    if missing != conditions:
        raise ValueError(
            "The number of derivatives at boundaries does not match: expected "
            f"{missing}, got {conditions}"
        )


NAMED = {"clamped": 1, "natural": 2}


def end_conditions(given: Any, y: Array) -> tuple[tuple[int, ...], Array]:
    """Read which derivatives are given at one end, and their values."""
    shape = y.shape[1:]
    if given is None:
        return (), np.zeros((0, *shape))
    if isinstance(given, str):
        if given not in NAMED:
            raise ValueError(f"Unknown boundary condition : {given}")
        return (NAMED[given],), np.zeros((1, *shape))
    pairs = list(given)
    orders = tuple(operator.index(order) for order, _ in pairs)
    values = [np.broadcast_to(as_array(value), shape) for _, value in pairs]
    return orders, np.stack(values) if values else np.zeros((0, *shape))


def make_lsq_spline(
    x: Array,
    y: Array,
    t: Array,
    k: int = 3,
    w: Array | None = None,
    axis: int = 0,
    check_finite: bool = True,
    **method: Any,
) -> BSpline:
    """Make the B-spline that fits points best, as `scipy.interpolate.make_lsq_spline` does.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    y : array or Tensor, shape (..., n, ...)
    t : array or Tensor, shape (m + k + 1,)
        The knots.
    k : int
    w : array or Tensor, shape (n,), optional
        What each residual is multiplied by before it is squared.
    axis : int
    check_finite : bool
    method
        SciPy's ``method``, for plain arrays; the result does not depend on it.

    Returns
    -------
    BSpline
    """
    x, y, t = in_double(x), in_double(y), in_double(t)
    axis = axis_of(y.ndim, axis) + y.ndim
    y = y if axis == 0 else np.moveaxis(y, axis, 0)
    w = np.ones(x.shape) if w is None else in_double(w)
    if is_plain(x, y, t, w):
        theirs = scipy.interpolate.make_lsq_spline(
            x, y, t, k, w, check_finite=check_finite, **method
        )
        return BSpline.construct_fast(t, theirs.c, k, axis=axis)
    if not (x.shape[0] == y.shape[0] == w.shape[0]):
        raise ValueError(f"Shapes of x {x.shape}, y {y.shape} and w {w.shape} are incompatible")
    if np.any((x < t[k]) | (x > t[-k])):
        raise ValueError(f"Out of bounds w/ x = {x}.")
    return BSpline.construct_fast(t, fitted_coefficients(x, y, t, w, k), k, axis=axis)


def make_smoothing_spline(
    x: Array,
    y: Array,
    w: Array | None = None,
    lam: Array | None = None,
    *,
    axis: int = 0,
) -> BSpline:
    """Make a smoothing spline, as `scipy.interpolate.make_smoothing_spline` does.

    Parameters
    ----------
    x, w : array or Tensor, shape (n,)
    y : array or Tensor, shape (..., n, ...)
    lam : float or Tensor
        The weight of the curvature. Handles want one; SciPy chooses it by a search.
    axis : int

    Returns
    -------
    BSpline

    Notes
    -----
    The values at the points solve Reinsch's equations (Green & Silverman 1994, *Nonparametric
    Regression and Generalized Linear Models*, section 2.3), and a natural spline goes through them.
    """
    x, y = in_double(x), in_double(y)
    axis = axis_of(y.ndim, axis) + y.ndim
    if is_plain(x, y, w, lam):
        options = {} if axis == 0 else {"axis": axis}  # which SciPy 1.14 does not have
        theirs = scipy.interpolate.make_smoothing_spline(x, y, w, lam, **options)
        return BSpline.construct_fast(theirs.t, theirs.c, 3, theirs.extrapolate, theirs.axis)
    if lam is None:
        raise UnsupportedArgumentError(
            "make_smoothing_spline: lam= has to be given for handles, as the search for it has no "
            "derivative; scipy.stats or a grid of values finds one on t.data"
        )
    if lam < 0:
        raise ValueError("Regularization parameter should be non-negative")
    y = y if axis == 0 else np.moveaxis(y, axis, 0)
    check_data(x, y, check_finite=True)
    if x.shape[0] < 5:
        raise ValueError("``x`` and ``y`` length must be at least 5")
    inverse = np.ones(x.shape) if w is None else 1 / in_double(w)
    n, widths = x.shape[0], x[1:] - x[:-1]
    h = (1 / widths)[:, None]
    eye, inner = np.eye(n), np.eye(n - 2)
    second = h[1:] * (eye[2:] - eye[1:-1]) - h[:-1] * (eye[1:-1] - eye[:-2])
    beside = np.concatenate((widths[1:-1, None] * inner[1:] / 6, np.zeros((1, n - 2))))
    products = (widths[:-1] + widths[1:])[:, None] * inner / 3 + beside + beside.T
    columns = y.reshape((n, -1))
    matrix = products + lam * ((second * inverse) @ second.T)
    curvature = np.linalg.solve(matrix, second @ columns)
    smooth = columns - lam * inverse[:, None] * (second.T @ curvature)
    spline = make_interp_spline(x, smooth.reshape(y.shape), bc_type="natural")
    return BSpline.construct_fast(spline.t, spline.c, 3, axis=axis)

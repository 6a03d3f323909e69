"""The value of a B-spline, and the coefficients of one that interpolates or fits data.

All of it follows from the values of the B-splines that are not 0 at a point, by the recurrence of
Cox and de Boor (de Boor 2001, *A Practical Guide to Splines*, chapter X), in which knots and points
may be handles. On a knot the derivative is that of the piece to its right.
"""

import inspect
import operator
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, as_in_key, axis_of, in_double, whole
from tape_ad.extend.packages import copied_object
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import folded, in_place_of_axis, is_plain
from tape_ad.scipy.linalg.systems import solve_banded
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["SPLINES", "make_interp_spline", "make_lsq_spline", "make_smoothing_spline"]

Orders = tuple[int, ...]


@overridable
def spline_piece(t: Array, k: int, points: Array) -> Array:
    """Number the last knot that is not to the right of each point, between the k outer ones."""
    return np.clip(np.searchsorted(t, points, side="right") - 1, k, t.shape[0] - k - 2)


@overridable
def within_knots(t: Array, k: int, points: Array, extrapolate: bool) -> Array:
    """Tell which points a spline has a value at."""
    if extrapolate:
        return ~np.isnan(points)
    return (points >= t[k]) & (points <= t[-k - 1])


def basis_values(t: Array, k: int, points: Array, piece: Array, nu: int = 0) -> Array:
    """Compute the B-splines that are not 0 in a piece, or their derivatives.

    Parameters
    ----------
    t : array, shape (n + k + 1,)
    k : int
        The degree.
    points : array, shape (...)
    piece : array of int, shape (...)
        For each point, the number of the knot to its left.
    nu : int
        The order of the derivative.

    Returns
    -------
    array, shape (k + 1, ...)
    """
    if nu > k:
        return np.zeros((k + 1, *points.shape))
    t = as_in_key(t, (piece,))
    offsets = np.arange(1 - k, k + 1).reshape((-1,) + (1,) * points.ndim)
    knots = t[piece + offsets] if k else t[piece]  # knots[k - 1] is the one to the left
    values: list[Array] = [np.ones(points.shape)]
    for degree in range(1, k + 1):
        raised: list[Array] = [0.0] * (degree + 1)
        for n in range(degree):
            above, below = knots[k + n], knots[k + n - degree]
            share = values[n] / (above - below)
            if degree > k - nu:
                raised[n] = raised[n] - degree * share
                raised[n + 1] = degree * share
            else:
                raised[n] = raised[n] + share * (above - points)
                raised[n + 1] = share * (points - below)
        values = raised
    return np.stack(values)


def spline_value(
    t: Array, c: Array, k: int, points: Array, nu: int = 0, extrapolate: bool = True
) -> Array:
    """Evaluate a B-spline, as `scipy.interpolate.BSpline` does.

    Parameters
    ----------
    t : array or Tensor, shape (n + k + 1,)
        The knots.
    c : array or Tensor, shape (n, ...)
        The coefficients.
    k : int
        The degree.
    points : array or Tensor, any shape
    nu : int
        The order of the derivative.
    extrapolate : bool
        Whether there are values outside of the knots, rather than nan.

    Returns
    -------
    array or Tensor, shape of `points`, then the further axes of `c`

    Examples
    --------
    >>> spline_value(np.arange(4.0), np.array([1.0, 3.0]), 1, np.array([1.5]))
    array([2.])
    """
    t, c, points = in_double(t), in_double(c), in_double(points)
    piece = spline_piece(t, k, points)
    trailing = (...,) + (None,) * (c.ndim - 1)
    places = piece + np.arange(-k, 1).reshape((-1,) + (1,) * points.ndim)
    values = basis_values(t, k, points, piece, nu)
    value = np.add.reduce(as_in_key(c, (piece,))[places] * values[trailing], axis=0)
    inside = within_knots(t, k, points, extrapolate)
    return value if np.all(inside) else np.where(inside[trailing], value, np.nan)


# Interpolation


def interpolating_coefficients(
    x: Array,
    y: Array,
    t: Array,
    start: Array,
    end: Array,
    k: int = 3,
    orders: tuple[Orders, Orders] = ((), ()),
) -> Array:
    """Compute the coefficients of the B-spline through points.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    y : array or Tensor, shape (n, ...)
    t : array or Tensor, shape (m + k + 1,)
        The knots.
    start, end : array or Tensor, shape (number of orders, ...)
        Derivatives given at the first point and at the last one.
    k : int
        The degree.
    orders : pair of tuple of int
        The orders of those; m is n and as many as there are.

    Returns
    -------
    array or Tensor, shape (m, ...)
    """
    x, y, t, start, end = (in_double(each) for each in (x, y, t, start, end))
    piece = spline_piece(t, k, x)
    ends = [
        [basis_values(t, k, x[i : i + 1], piece[i : i + 1], nu) for nu in each]
        for i, each in ((0, orders[0]), (x.shape[0] - 1, orders[1]))
    ]
    values = np.concatenate((*ends[0], basis_values(t, k, x, piece), *ends[1]), axis=1)
    pieces = np.concatenate(
        (np.repeat(piece[:1], len(orders[0])), piece, np.repeat(piece[-1:], len(orders[1])))
    )
    flat = np.concatenate((values.reshape(-1), np.zeros(1)))
    right = np.concatenate([part for part in (start, y, end) if part.shape[0]])
    columns = right.reshape((right.shape[0], -1))
    ab = flat[banded_places(k, pieces)]
    return solve_banded((k, k), ab, columns, check_finite=False).reshape(right.shape)


def banded_places(k: int, pieces: Array) -> Array:
    """Find for each place in the diagonals of a square matrix which value stands there.

    Row i of the matrix has ``values[:, i]`` in the columns up to ``pieces[i]``. One number more
    than there are values stands for none.
    """
    n = pieces.shape[0]
    row = np.arange(-k, k + 1)[:, None] + np.arange(n)
    inside = (row >= 0) & (row < n)
    number = np.arange(n) - pieces[np.where(inside, row, 0)] + k
    inside = inside & (number >= 0) & (number <= k)
    return np.where(inside, number * n + row, (k + 1) * n)


@whole
def periodic_coefficients(x: Array, y: Array, t: Array, k: int = 3) -> Array:
    """Compute the coefficients of the periodic B-spline through points.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    y : array or Tensor, shape (n, ...)
        The last one is the first one again.
    t : array or Tensor, shape (n + 2 * k,)
        SciPy's knots for these points, which it makes itself for plain arrays.
    k : int

    Returns
    -------
    array or Tensor, shape (n + k - 1, ...)
    """
    x, y, t = in_double(x), in_double(y), in_double(t)
    if is_plain(x, y, t):  # SciPy's own bits
        return scipy.interpolate.make_interp_spline(x, y, k, bc_type="periodic").c
    n = x.shape[0] - 1
    piece = spline_piece(t, k, x[:-1])
    values = basis_values(t, k, x[:-1], piece)
    columns = (piece + np.arange(-k, 1)[:, None]) % n
    chosen = np.equal(columns[:, :, None], np.arange(n)).astype(float)
    matrix = np.add.reduce(values[:, :, None] * chosen, axis=0)
    right = y[:-1]
    c = np.linalg.solve(matrix, right.reshape((n, -1))).reshape(right.shape)
    return c[np.arange(n + k) % n]


def fitted_coefficients(x: Array, y: Array, t: Array, w: Array, k: int = 3) -> Array:
    """Compute the coefficients of the B-spline that fits points best by weighted least squares.

    Parameters
    ----------
    x, w : array or Tensor, shape (n,)
    y : array or Tensor, shape (n, ...)
    t : array or Tensor, shape (m + k + 1,)
        The knots.
    k : int

    Returns
    -------
    array or Tensor, shape (m, ...)
    """
    x, y, t, w = (in_double(each) for each in (x, y, t, w))
    n, m = x.shape[0], t.shape[0] - k - 1
    piece = spline_piece(t, k, x)
    number = np.arange(m) - piece[:, None] + k
    inside = (number >= 0) & (number <= k)
    places = np.where(inside, number * n + np.arange(n)[:, None], (k + 1) * n)
    values = basis_values(t, k, x, piece)
    matrix = np.concatenate((values.reshape(-1), np.zeros(1)))[places]
    columns = y.reshape((n, -1)) * w[:, None]
    return np.linalg.lstsq(matrix * w[:, None], columns, rcond=None)[0].reshape((m, *y.shape[1:]))


SPLINES: dict[Any, Entry] = {
    **constants(spline_piece, facts=facts.composed(inspect.unwrap(spline_piece))),
    **constants(within_knots, facts=facts.composed(inspect.unwrap(within_knots))),
}


# What stands for these in SciPy's own class


def spline_of(t: Array, c: Array, k: int, extrapolate: Any = True, axis: int = 0) -> Any:
    """Make a `BSpline` that may hold handles, without checks."""
    kind = differentiable(scipy.interpolate.BSpline)
    return kind.construct_fast(t, c, k, extrapolate, axis)


@stands_for(scipy.interpolate.BSpline.__call__)
def evaluate(self: Any, x: Array, nu: int = 0, extrapolate: Any = None) -> Array:
    """Evaluate a `BSpline` or its derivative."""
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    x = in_double(x)
    if extrapolate == "periodic":
        x, extrapolate = folded(x, self.t[self.k], self.t[-self.k - 1]), False
    value = spline_value(self.t, self.c, self.k, x, nu, bool(extrapolate))
    return in_place_of_axis(value[...], x, self.axis)  # of a number it is an array, as SciPy's is


# Splines of data: through points, near them, or smooth beside them


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
) -> Any:
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
    if is_plain(x, y, t, bc_type):
        options = {"axis": axis, "check_finite": check_finite}
        return copied_object(scipy.interpolate.make_interp_spline(x, y, k, t, bc_type, **options))
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
        return spline_of(knots, y, k, axis=axis)
    if t is None:
        t = knots_for(x, k, "periodic" if kind == "periodic" else "not-a-knot" if free else "given")
    t = in_double(t)
    if kind == "periodic":
        c = periodic_coefficients(x, y, t, k)
        return spline_of(t, c, k, "periodic", axis)
    conditions = [end_conditions(each, y) for each in given]
    check_knots(x, t, k, sum(len(orders) for orders, _ in conditions))
    (starts, start), (ends, end) = conditions
    if y.size == 0:
        c = np.zeros((t.shape[0] - k - 1, *y.shape[1:]))
    else:
        c = interpolating_coefficients(x, y, t, start, end, k, (starts, ends))
    return spline_of(t, c, k, axis=axis)


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
) -> Any:
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
        options = {"check_finite": check_finite, **method}
        return spline_of(
            t, scipy.interpolate.make_lsq_spline(x, y, t, k, w, **options).c, k, axis=axis
        )
    if {"method": "qr"} | method not in ({"method": "qr"}, {"method": "norm-eq"}):
        raise ValueError(f"make_lsq_spline: method is 'qr' or 'norm-eq', got {method}")
    if not (x.shape[0] == y.shape[0] == w.shape[0]):
        raise ValueError(f"Shapes of x {x.shape}, y {y.shape} and w {w.shape} are incompatible")
    if np.any((x < t[k]) | (x > t[-k])):
        raise ValueError(f"Out of bounds w/ x = {x}.")
    return spline_of(t, fitted_coefficients(x, y, t, w, k), k, axis=axis)


def make_smoothing_spline(
    x: Array, y: Array, w: Array | None = None, lam: Array | None = None, *, axis: int = 0
) -> Any:
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
        return copied_object(scipy.interpolate.make_smoothing_spline(x, y, w, lam, **options))
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
    return spline_of(spline.t, spline.c, 3, axis=axis)

"""The value of a B-spline, and the coefficients of one that interpolates or fits data.

All of it follows from the values of the B-splines that are not 0 at a point, by the recurrence of
Cox and de Boor (de Boor 2001, *A Practical Guide to Splines*, chapter X), in which knots and points
may be handles. On a knot the derivative is that of the piece to its right.
"""

import inspect
import operator
from typing import Any, Self

import numpy as np
import scipy.interpolate

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axis_of, in_double, primal
from tape_ad.extend.rules import Derivation, Entry, constants, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import (
    folded,
    in_place_of_axis,
    integral_over_periods,
)
from tape_ad.scipy.linalg.systems import solve_banded

__all__ = [
    "SPLINES",
    "BSpline",
    "basis_values",
    "fitted_coefficients",
    "interpolating_coefficients",
    "periodic_coefficients",
    "splantider",
    "splder",
    "spline_piece",
    "spline_value",
    "within_knots",
]

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


@overridable
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
    spline = scipy.interpolate.BSpline.construct_fast(in_double(t), in_double(c), k)
    return spline(points, nu, extrapolate)


def spline_derivation(
    t: Array, c: Array, k: int, points: Array, nu: int = 0, extrapolate: bool = True
) -> Array:
    """Weigh the coefficients whose B-splines are not 0 at each point."""
    t, c, points = in_double(t), in_double(c), in_double(points)
    piece = spline_piece(t, k, points)
    trailing = (...,) + (None,) * (c.ndim - 1)
    places = piece + np.arange(-k, 1).reshape((-1,) + (1,) * points.ndim)
    values = basis_values(t, k, points, piece, nu)
    value = np.add.reduce(c[places] * values[trailing], axis=0)
    inside = within_knots(t, k, points, extrapolate)
    return value if np.all(inside) else np.where(inside[trailing], value, np.nan)


# Interpolation


@overridable
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
    start, end = np.asarray(start), np.asarray(end)
    given = [
        list(zip(o, v, strict=True)) or None for o, v in zip(orders, (start, end), strict=True)
    ]
    return scipy.interpolate.make_interp_spline(x, y, k, t, tuple(given)).c


def interpolating(
    x: Array,
    y: Array,
    t: Array,
    start: Array,
    end: Array,
    k: int = 3,
    orders: tuple[Orders, Orders] = ((), ()),
) -> Array:
    """Compute the coefficients of an interpolating spline, by NumPy calls."""
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


@overridable
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
    return scipy.interpolate.make_interp_spline(x, y, k, bc_type="periodic").c


def periodic(x: Array, y: Array, t: Array, k: int = 3) -> Array:
    """Compute what `periodic_coefficients` does, with all that is one period apart as one."""
    x, y, t = in_double(x), in_double(y), in_double(t)
    n = x.shape[0] - 1
    piece = spline_piece(t, k, x[:-1])
    values = basis_values(t, k, x[:-1], piece)
    columns = (piece + np.arange(-k, 1)[:, None]) % n
    chosen = np.equal(columns[:, :, None], np.arange(n)).astype(float)
    matrix = np.add.reduce(values[:, :, None] * chosen, axis=0)
    right = y[:-1]
    c = np.linalg.solve(matrix, right.reshape((n, -1))).reshape(right.shape)
    return c[np.arange(n + k) % n]


@overridable
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
    return fitted(x, y, t, w, k)


def fitted(x: Array, y: Array, t: Array, w: Array, k: int = 3) -> Array:
    """Compute the coefficients of a least-squares spline, by NumPy calls."""
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
    spline_value: Derivation(spline_derivation),
    interpolating_coefficients: Derivation(interpolating),
    periodic_coefficients: Derivation(periodic),
    fitted_coefficients: Derivation(fitted),
    **constants(spline_piece, facts=facts.composed(inspect.unwrap(spline_piece))),
    **constants(within_knots, facts=facts.composed(inspect.unwrap(within_knots))),
}


# `BSpline`, as an object that may hold handles

Extrapolation = bool | str | None


class BSpline:
    """A spline in the basis of B-splines, as `scipy.interpolate.BSpline`, of arrays or handles.

    Parameters
    ----------
    t : array or Tensor, shape (n + k + 1,)
        The knots.
    c : array or Tensor, shape (n, ...)
        The coefficients.
    k : int
        The degree.
    extrapolate : bool or "periodic"
    axis : int

    Attributes
    ----------
    t, c, k, extrapolate, axis, tck

    Examples
    --------
    >>> import tape_ad as ta
    >>> c = ta.ComputationRecord().tensor([1.0, 3.0])
    >>> ta.scipy.interpolate.BSpline([0.0, 1.0, 2.0, 3.0], c, 1)(1.25).grad().wrt(c)
    array([0.75, 0.25])
    """

    def __init__(
        self, t: Array, c: Array, k: int, extrapolate: Extrapolation = True, axis: int = 0
    ) -> None:
        t, c, k = in_double(t), in_double(c), operator.index(k)
        axis = axis_of(c.ndim, axis) + c.ndim
        n = t.shape[0] - k - 1
        c = c if axis == 0 else np.moveaxis(c, axis, 0)
        if k < 0:
            raise ValueError("Spline order cannot be negative.")
        if t.ndim != 1:
            raise ValueError("Knot vector must be one-dimensional.")
        if n < k + 1:
            raise ValueError(f"Need at least {2 * k + 2} knots for degree {k}")
        if np.any(t[1:] < t[:-1]):
            raise ValueError("Knots must be in a non-decreasing order.")
        if np.all(t[k : n + 1] == t[k]):
            raise ValueError("Need at least two internal knots.")
        if not np.all(np.isfinite(t)):
            raise ValueError("Knots should not have nans or infs.")
        if c.shape[0] < n:
            raise ValueError("Knots, coefficients and degree are inconsistent.")
        self._fill(t, c, k, extrapolate, axis)

    def _fill(self, t: Array, c: Array, k: int, extrapolate: Extrapolation, axis: int) -> None:
        self.t, self.c, self.k, self.axis = t, c, k, axis
        self.extrapolate = extrapolate if extrapolate == "periodic" else bool(extrapolate)

    @classmethod
    def construct_fast(
        cls, t: Array, c: Array, k: int, extrapolate: Extrapolation = True, axis: int = 0
    ) -> Self:
        """Make a spline of arrays that are known to be right, without checks."""
        made = cls.__new__(cls)
        made._fill(as_array(t), as_array(c), k, extrapolate, axis)
        return made

    @classmethod
    def basis_element(cls, t: Array, extrapolate: Extrapolation = True) -> Self:
        """Make the B-spline on the given knots, of a degree 2 less than their number."""
        t = in_double(t)
        k = t.shape[0] - 2
        t = np.concatenate((*[t[:1] - 1] * k, t, *[t[-1:] + 1] * k))
        c = np.zeros(t.shape)
        c[k] = 1.0
        return cls.construct_fast(t, c, k, extrapolate)

    design_matrix = staticmethod(scipy.interpolate.BSpline.design_matrix)

    @property
    def tck(self) -> tuple[Array, Array, int]:
        """The knots, coefficients and degree of the spline."""
        return self.t, self.c, self.k

    def __call__(self, x: Array, nu: int = 0, extrapolate: Extrapolation = None) -> Array:
        """Evaluate the spline or its derivative.

        Parameters
        ----------
        x : array or Tensor, any shape
        nu : int
            The order of the derivative.
        extrapolate : bool or "periodic", optional

        Returns
        -------
        array or Tensor
            The axis of the coefficients is replaced by those of `x`.
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = in_double(x)
        if extrapolate == "periodic":
            x, extrapolate = folded(x, *self._ends()), False
        value = spline_value(self.t, self.c, self.k, x, nu, bool(extrapolate))
        return in_place_of_axis(value, x, self.axis)

    def _ends(self) -> tuple[Array, Array]:
        return self.t[self.k], self.t[self.t.shape[0] - self.k - 1]

    def derivative(self, nu: int = 1) -> Self:
        """Make the spline that is the derivative."""
        t, c, k = splder(padded(self.tck), nu)
        return self.construct_fast(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Self:
        """Make a spline of which this is the derivative."""
        t, c, k = splantider(padded(self.tck), nu)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return self.construct_fast(t, c, k, extrapolate, self.axis)

    def integrate(self, a: Array, b: Array, extrapolate: Extrapolation = None) -> Array:
        """Integrate between two bounds; without extrapolation the spline is 0 outside.

        Parameters
        ----------
        a, b : float or Tensor
        extrapolate : bool or "periodic", optional

        Returns
        -------
        array or Tensor, shape of the further axes of `c`
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if b < a:
            return -self.integrate(b, a, extrapolate)
        first, last = self._ends()
        t, c, k = splantider(padded(self.tck))
        primitive = self.construct_fast(t, c, k, False)
        if extrapolate != "periodic":
            if not extrapolate:
                a, b = max(a, first), min(b, last)
            return primitive(b, extrapolate=True) - primitive(a, extrapolate=True)
        return integral_over_periods(
            lambda start, end: primitive(end) - primitive(start), a, b, first, last
        )


# Derivatives and integrals, in the form of FITPACK


def padded(tck: tuple[Array, Array, int]) -> tuple[Array, Array, int]:
    """Give as many coefficients as there are knots, as FITPACK has it."""
    t, c, k = tck
    missing = t.shape[0] - c.shape[0]
    if missing > 0:
        c = np.concatenate((c, np.zeros((missing, *c.shape[1:]), c.dtype)))
    return t, c, k


def splder(tck: Any, n: int = 1) -> Any:
    """Derive a spline, as `scipy.interpolate.splder` does.

    Parameters
    ----------
    tck : BSpline or tuple
        Knots, coefficients, as many as there are knots, and the degree; arrays or handles.
    n : int
        The order of the derivative.

    Returns
    -------
    BSpline or tuple, as `tck`

    Raises
    ------
    ValueError
        When a knot is there so often that the derivative has a jump.
    """
    if isinstance(tck, BSpline):
        return tck.derivative(n)
    if n < 0:
        return splantider(tck, -n)
    t, c, k = tck
    if n > k:
        raise ValueError(f"Order of derivative (n = {n!r}) must be <= order of spline (k = {k!r})")
    for _ in range(n):
        dt = t[k + 1 : -1] - t[1 : -k - 1]
        if np.any(primal(dt) == 0):
            raise ValueError(
                f"The spline has internal repeated knots and is not differentiable {n} times"
            )
        dt = dt.reshape((-1,) + (1,) * (c.ndim - 1))
        c = (c[1 : -1 - k] - c[: -2 - k]) * k / dt
        c = np.concatenate((c, np.zeros((k, *c.shape[1:]))))
        t, k = t[1:-1], k - 1
    return t, c, k


def splantider(tck: Any, n: int = 1) -> Any:
    """Integrate a spline, as `scipy.interpolate.splantider` does.

    Parameters
    ----------
    tck : BSpline or tuple
        As in `splder`.
    n : int
        How often.

    Returns
    -------
    BSpline or tuple, as `tck`
    """
    if isinstance(tck, BSpline):
        return tck.antiderivative(n)
    if n < 0:
        return splder(tck, -n)
    t, c, k = tck
    for _ in range(n):
        dt = (t[k + 1 :] - t[: -k - 1]).reshape((-1,) + (1,) * (c.ndim - 1))
        c = np.cumsum(c[: -k - 1] * dt, axis=0) / (k + 1)
        c = np.concatenate((np.zeros((1, *c.shape[1:])), c, *[c[-1:]] * (k + 2)))
        t, k = np.concatenate((t[:1], t, t[-1:])), k + 1
    return t, c, k

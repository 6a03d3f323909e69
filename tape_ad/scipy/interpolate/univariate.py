"""`interp1d`, and polynomials through points, as objects that may hold handles."""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, axis_of, in_double, joined
from tape_ad.scipy.interpolate.fitting import make_interp_spline
from tape_ad.scipy.interpolate.polynomials import piece_of
from tape_ad.scipy.interpolate.shared import in_place_of_axis, is_plain

__all__ = [
    "BarycentricInterpolator",
    "KroghInterpolator",
    "approximate_taylor_polynomial",
    "barycentric_interpolate",
    "interp1d",
    "krogh_interpolate",
    "lagrange",
    "pade",
]

ORDERS = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
STEPS = {"nearest", "nearest-up", "previous", "next"}


class interp1d:  # noqa: N801 - SciPy's name
    """Interpolation between points, as `scipy.interpolate.interp1d`, also of handles.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    y : array or Tensor, shape (..., n, ...)
    kind : str or int
        As in SciPy.
    axis : int
    copy : bool
        Ignored for handles.
    bounds_error : bool, optional
    fill_value : float, Tensor, pair of them, or "extrapolate"
    assume_sorted : bool

    Examples
    --------
    >>> import tape_ad as ta
    >>> y = ta.ComputationRecord().tensor([0.0, 1.0, 4.0])
    >>> ta.scipy.interpolate.interp1d([0.0, 1.0, 2.0], y)(1.25).grad().wrt(y)
    array([0.  , 0.75, 0.25])
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        kind: str | int = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: Any = np.nan,
        assume_sorted: bool = False,
    ) -> None:
        self._host = None
        ends = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
        if is_plain(x, y, *ends):
            self._host = scipy.interpolate.interp1d(
                x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted
            )
        x, y = in_double(x), in_double(y)
        self.axis = axis_of(y.ndim, axis) + y.ndim
        if x.ndim != 1 or x.shape[0] != y.shape[self.axis]:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        if not assume_sorted:
            order = np.argsort(x, kind="stable")
            x, y = x[order], np.take(y, order, axis=self.axis)
        self.x, self.y = x, y
        self._rows = np.moveaxis(y, self.axis, 0)
        self._extrapolate = isinstance(fill_value, str) and fill_value == "extrapolate"
        if self._extrapolate and bounds_error:
            raise ValueError("Cannot extrapolate and raise at the same time.")
        self.bounds_error = not self._extrapolate if bounds_error is None else bounds_error
        self.fill_value, self._ends = fill_value, ends
        self.kind = kind
        if isinstance(kind, str) and kind not in {"linear", *STEPS, *ORDERS}:
            raise NotImplementedError(
                f"{kind} is unsupported: Use fitpack routines for other types."
            )
        order_of = ORDERS.get(kind, -1) if isinstance(kind, str) else kind
        self._spline = make_interp_spline(x, self._rows, order_of) if order_of >= 0 else None

    def __call__(self, x: Array) -> Array:
        """Interpolate at points.

        Parameters
        ----------
        x : array or Tensor, any shape

        Returns
        -------
        array or Tensor
            The axis of interpolation is replaced by those of `x`.
        """
        if self._host is not None and is_plain(x):
            return self._host(x)
        x = in_double(x)
        value = self._at(x)
        if not self._extrapolate:
            value = self._bounded(x, value)
        elif self.kind in {"previous", "next"}:  # which SciPy extends to one side only
            outside = x < self.x[0] if self.kind == "previous" else x > self.x[-1]
            value = np.where(outside[self._behind()], np.nan, value)
        return in_place_of_axis(value, x, self.axis)

    def _behind(self) -> tuple[Any, ...]:
        further: int = self._rows.ndim - 1
        return (...,) + (None,) * further

    def _at(self, x: Array) -> Array:
        if self._spline is not None:
            return self._spline(x)
        if self.kind != "linear":
            return self._rows[self._step(x)]
        i = piece_of(self.x, x)
        width = (self.x[i + 1] - self.x[i])[self._behind()]
        slope = (self._rows[i + 1] - self._rows[i]) / width
        return slope * (x - self.x[i])[self._behind()] + self._rows[i]

    def _step(self, x: Array) -> Array:
        """Number the value that holds at each point."""
        last = self.x.shape[0] - 1
        if self.kind == "previous":
            return np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, last)
        if self.kind == "next":
            return np.clip(np.searchsorted(self.x, x, side="left"), 0, last)
        middles = self.x[1:] / 2.0 + self.x[:-1] / 2.0
        side: Any = "left" if self.kind == "nearest" else "right"
        return np.clip(np.searchsorted(middles, x, side=side), 0, last)

    def _bounded(self, x: Array, value: Array) -> Array:
        """Put the given values outside of the knots, or refuse points there."""
        for outside, end, side in (
            (x < self.x[0], self._ends[0], "below the interpolation range's minimum value"),
            (x > self.x[-1], self._ends[1], "above the interpolation range's maximum value"),
        ):
            if not np.any(outside):
                continue
            if self.bounds_error:
                raise ValueError(f"A value in x_new is {side}.")
            # A fill has the axes of the values but for that of the knots
            value = np.where(outside[self._behind()], as_array(end), value)
        return value


class KroghInterpolator:
    """The polynomial through points with slopes, as `scipy.interpolate.KroghInterpolator`.

    Parameters
    ----------
    xi : array or Tensor, shape (n,)
        Where a point is repeated one after another, further values are derivatives there.
    yi : array or Tensor, shape (..., n, ...)
    axis : int

    Examples
    --------
    >>> float(KroghInterpolator([0.0, 0.0, 1.0], [1.0, 2.0, 4.0])(0.5))
    2.25
    """

    def __init__(self, xi: Array, yi: Array, axis: int = 0) -> None:
        self.xi, yi = in_double(xi), in_double(yi)
        self.axis = axis_of(yi.ndim, axis) + yi.ndim
        self.yi = yi if self.axis == 0 else np.moveaxis(yi, self.axis, 0)
        if self.xi.ndim != 1 or self.xi.shape[0] != self.yi.shape[0]:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        self._host = None
        if is_plain(xi, yi):
            self._host = scipy.interpolate.KroghInterpolator(xi, yi, axis)
        self._newton = divided_differences(self.xi, self.yi)

    def __call__(self, x: Array) -> Array:
        """Evaluate the polynomial."""
        if self._host is not None and is_plain(x):
            return self._host(x)
        return self._moved(as_array(x), newton_derivatives(self._newton, self.xi, x, 1)[0])

    def derivative(self, x: Array, der: int = 1) -> Array:
        """Evaluate one derivative of the interpolating polynomial at points."""
        if self._host is not None and is_plain(x):
            return self._host.derivative(x, der)
        return self._moved(as_array(x), newton_derivatives(self._newton, self.xi, x, der + 1)[der])

    def derivatives(self, x: Array, der: int | None = None) -> Array:
        """Evaluate the polynomial and its derivatives, on a further axis in front."""
        if self._host is not None and is_plain(x):
            return self._host.derivatives(x, der)
        count = self.xi.shape[0] if der is None else der
        values = newton_derivatives(self._newton, self.xi, x, count)
        return np.stack([self._moved(as_array(x), value) for value in values])

    def _moved(self, x: Array, value: Array) -> Array:
        return in_place_of_axis(value, x, self.axis)


def divided_differences(xi: Array, yi: Array) -> list[Array]:
    """Compute the coefficients of Newton's form; equal points are next to each other."""
    n = xi.shape[0]
    first = [0] * n
    for i in range(1, n):
        first[i] = first[i - 1] if xi[i] == xi[i - 1] else i
    column = [yi[first[i]] for i in range(n)]
    coefficients = [column[0]]
    factorial = 1.0
    for order in range(1, n):
        factorial *= order
        column = [
            yi[first[i] + order] / factorial
            if first[i] == first[i + order]
            else (column[i + 1] - column[i]) / (xi[i + order] - xi[i])
            for i in range(n - order)
        ]
        coefficients.append(column[0])
    return coefficients


def newton_derivatives(coefficients: list[Array], xi: Array, x: Array, count: int) -> list[Array]:
    """Evaluate a polynomial in Newton's form, and its derivatives."""
    x = in_double(x)
    behind = (...,) + (None,) * coefficients[0].ndim
    zero = np.zeros((*x.shape, *coefficients[0].shape))
    values: list[Array] = [zero + coefficients[-1], *[zero] * (count - 1)]
    for i in range(len(coefficients) - 2, -1, -1):
        distance = (x - xi[i])[behind]
        for order in range(count - 1, 0, -1):
            values[order] = values[order] * distance + order * values[order - 1]
        values[0] = values[0] * distance + coefficients[i]
    return values


class BarycentricInterpolator(KroghInterpolator):
    """The polynomial through points, as `scipy.interpolate.BarycentricInterpolator`.

    Parameters
    ----------
    xi : array or Tensor, shape (n,)
        No two of them equal.
    yi : array or Tensor, shape (..., n, ...)
    axis : int
    wi, rng
        SciPy's, for plain arrays; handles are interpolated in Lagrange's form, which is smooth at
        the points too.

    Examples
    --------
    >>> round(float(BarycentricInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])(1.5)), 9)
    2.25
    """

    def __init__(
        self, xi: Array, yi: Array | None = None, axis: int = 0, *, wi: Any = None, **rng: Any
    ) -> None:
        if yi is None:
            raise UnsupportedArgumentError(
                "BarycentricInterpolator: yi has to be given here; make another one for new values"
            )
        super().__init__(xi, yi, axis)
        self._host = None
        if is_plain(xi, yi):
            options = rng if wi is None else {"wi": wi, **rng}
            self._host = scipy.interpolate.BarycentricInterpolator(xi, yi, axis, **options)

    def __call__(self, x: Array) -> Array:
        """Evaluate the polynomial."""
        if self._host is not None and is_plain(x):
            return self._host(x)
        x = in_double(x)
        n = self.xi.shape[0]
        others = ~np.eye(n, dtype=bool)
        apart = np.where(others, self.xi[:, None] - self.xi, 1.0)
        weights = 1.0 / np.prod(apart, axis=-1)
        factors = np.where(others, (x[..., None] - self.xi)[..., None, :], 1.0)
        basis = np.prod(factors, axis=-1) * weights
        value = np.tensordot(basis, self.yi, axes=1)
        return self._moved(x, value)


def krogh_interpolate(xi: Array, yi: Array, x: Array, der: Any = 0, axis: int = 0) -> Any:
    """Evaluate a polynomial through points, as `scipy.interpolate.krogh_interpolate` does.

    Parameters
    ----------
    xi, yi, axis
        As in `KroghInterpolator`.
    x : array or Tensor
    der : int or list of int
        The order of the derivative, or several.

    Returns
    -------
    array or Tensor, with a further axis in front for several
    """
    return several_derivatives(KroghInterpolator(xi, yi, axis), x, der)


def barycentric_interpolate(
    xi: Array, yi: Array, x: Array, axis: int = 0, *, der: Any = 0, **rng: Any
) -> Any:
    """Evaluate a polynomial through points, as `scipy.interpolate.barycentric_interpolate` does.

    Parameters
    ----------
    xi, yi, axis, rng
        As in `BarycentricInterpolator`.
    x : array or Tensor
    der : int or list of int
        The order of the derivative, or several.

    Returns
    -------
    array or Tensor, with a further axis in front for several
    """
    return several_derivatives(BarycentricInterpolator(xi, yi, axis, **rng), x, der)


def several_derivatives(polynomial: KroghInterpolator, x: Array, der: Any) -> Any:
    """Evaluate one derivative or several."""
    if np.ndim(der) == 0:
        return polynomial(x) if der == 0 else polynomial.derivative(x, der)
    return polynomial.derivatives(x, max(der) + 1)[np.asarray(der)]


# Polynomials and fractions of polynomials that approximate a function


def pade(an: Array, m: int, n: int | None = None) -> tuple[np.poly1d, np.poly1d]:
    """Approximate a power series by a quotient, as `scipy.interpolate.pade` does.

    Parameters
    ----------
    an : array or Tensor, shape (N,)
        The coefficients of the series, the lowest power first.
    m, n : int
        The degrees of the denominator and the numerator.

    Returns
    -------
    p, q : poly1d
        The numerator and the denominator, of handles if `an` is one.

    Examples
    --------
    >>> import tape_ad as ta
    >>> p, q = pade(ta.ComputationRecord().tensor([1.0, 1.0, 1 / 2, 1 / 6]), 1)
    >>> (p(0.5) / q(0.5)).round(5).item()
    1.65
    """
    an = joined(an)
    if is_plain(an):
        return scipy.interpolate.pade(an, m, n)  # type: ignore[no-any-return]  # a tuple
    if n is None:
        n = an.shape[0] - 1 - m
    if n < 0 or m + n > an.shape[0] - 1:
        raise ValueError("Order of q+p <m+n> must be smaller than len(an).")
    size = m + n + 1
    an = an[:size]
    beyond = np.concatenate((np.zeros(m), an))
    # Column j has the series from power j + 1 on
    shifted = [-beyond[m - j - 1 : m - j - 1 + size] for j in range(m)]
    columns = [*np.eye(size)[: n + 1], *shifted]
    both = np.linalg.solve(np.stack(columns, axis=1), an)
    q = np.concatenate((np.ones(1), both[n + 1 :]))
    return np.poly1d(both[n::-1]), np.poly1d(q[::-1])


def lagrange(x: Array, w: Array) -> np.poly1d:
    """Make the polynomial through points, as `scipy.interpolate.lagrange` does.

    Parameters
    ----------
    x, w : array or Tensor, shape (n,)

    Returns
    -------
    poly1d
        Of handles if one is given.

    Examples
    --------
    >>> import tape_ad as ta
    >>> w = ta.ComputationRecord().tensor([0.0, 1.0, 4.0])
    >>> lagrange([0.0, 1.0, 2.0], w).coeffs.data.round(9) + 0.0
    array([1., 0., 0.])
    """
    if is_plain(x, w):
        return scipy.interpolate.lagrange(x, w)  # type: ignore[no-any-return]  # a poly1d
    x, w = in_double(joined(x)), in_double(joined(w))
    total: Any = 0.0
    for j in range(x.shape[0]):
        term = w[j : j + 1]
        for k in range(x.shape[0]):
            if k != j:
                product = np.concatenate((term, np.zeros(1)))
                product = product - np.concatenate((np.zeros(1), x[k] * term))
                term = product / (x[j] - x[k])
        total = total + term
    return np.poly1d(total)


def approximate_taylor_polynomial(
    f: Callable[[Array], Array], x: Any, degree: int, scale: Any, order: int | None = None
) -> np.poly1d:
    """Approximate a Taylor polynomial, as `scipy.interpolate.approximate_taylor_polynomial` does.

    Parameters
    ----------
    f : callable
        In NumPy; it may close over handles.
    x, scale : float or Tensor
    degree : int
    order : int, optional

    Returns
    -------
    poly1d
        In powers of the distance from `x`; of handles if there are any.
    """
    n = (degree if order is None else order) + 1
    # SciPy's points, which leave the endpoint out
    xs = joined(scale) * np.cos(np.linspace(0, np.pi, n, endpoint=False)) + joined(x)
    derivatives = KroghInterpolator(xs, f(xs)).derivatives(x, degree + 1)
    factorials = np.array([factorial(i) for i in range(degree + 1)], float)
    return np.poly1d((derivatives / factorials)[::-1])

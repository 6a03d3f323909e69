"""Piecewise polynomials, their derivatives and integrals; and polynomials through points.

On a breakpoint all derivatives are those of the piece that SciPy evaluates: the one to the right,
and on the last breakpoint the one to the left. Where a point is not evaluated (nan, for lack of
extrapolation) they are 0.
"""

import inspect
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, as_in_key, in_double, joined, primal
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import (
    folded,
    in_place_of_axis,
    integral_over_periods,
    is_plain,
    refuse_handles,
)
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["PIECES", "RATIONAL", "ROOTS_OF_PIECES", "lagrange"]


@overridable
def piece_of(x: Array, points: Array) -> Array:
    """Number the piece that each point is in, or the outermost one that is nearest to it."""
    last = x.shape[0] - 2
    if x[-1] < x[0]:
        return last - np.clip(np.searchsorted(x[::-1], points, side="left") - 1, 0, last)
    return np.clip(np.searchsorted(x, points, side="right") - 1, 0, last)


@overridable
def evaluated(x: Array, points: Array, extrapolate: bool) -> Array:
    """Tell which points have a value."""
    if extrapolate:
        return ~np.isnan(points)
    low, high = (x[-1], x[0]) if x[-1] < x[0] else (x[0], x[-1])
    return (points >= low) & (points <= high)


def rising(power: int, nu: int) -> float:
    """Compute the factor that a power gets by deriving it nu times, or by integrating it."""
    factor = 1.0
    for j in range(max(nu, 0)):
        factor *= power - j
    for j in range(max(-nu, 0)):
        factor /= power + j + 1
    return factor


def local_value(c: Array, s: Array, nu: int) -> Array:
    """Evaluate polynomials, each at one point.

    Parameters
    ----------
    c : array, shape (k, ...)
        For each point, the highest power first.
    s : array, shape (..., 1, 1)
        It broadcasts to the further axes of `c`.
    nu : int
        The order of the derivative; negative for integrals from 0.
    """
    degree = c.shape[0] - 1
    if nu > degree:
        return c[0] * 0.0 + 0.0  # as SciPy's zeros have no sign
    power = s**-nu if nu < 0 else None
    total = None
    for exponent in range(max(nu, 0), degree + 1):  # in SciPy's order
        term = c[degree - exponent] if power is None else c[degree - exponent] * power
        factor = rising(exponent, nu)
        term = term if factor == 1 else term * factor
        total = term if total is None else total + term
        power = s if power is None else power * s
    return total


def piecewise_value(
    c: Array, x: Array, points: Array, nu: int = 0, extrapolate: bool = True
) -> Array:
    """Evaluate a piecewise polynomial, as `scipy.interpolate.PPoly` does.

    Parameters
    ----------
    c : array or Tensor, shape (k, m, ...)
        The coefficients of each piece in powers of the distance from its left end, the highest
        power first.
    x : array or Tensor, shape (m + 1,)
        The breakpoints, in increasing or decreasing order.
    points : array or Tensor, any shape
    nu : int
        The order of the derivative.
    extrapolate : bool
        Whether there are values outside of the breakpoints, rather than nan.

    Returns
    -------
    array or Tensor, shape of `points`, then the further axes of `c`

    Examples
    --------
    >>> c = np.array([[1.0, 1.0], [0.0, 2.0], [0.0, 1.0]])
    >>> piecewise_value(c, np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5]))
    array([0.25, 2.25])
    """
    c, x, points = in_double(c), in_double(x), in_double(points)
    i = piece_of(x, points)
    c, x = as_in_key(c, (i,)), as_in_key(x, (i,))
    trailing = (...,) + (None,) * (c.ndim - 2)
    value = local_value(c[:, i], (points - x[i])[trailing], nu)
    inside = evaluated(x, points, extrapolate)
    return value if np.all(inside) else np.where(inside[trailing], value, np.nan)


def antiderivative_coefficients(c: Array, x: Array, nu: int) -> Array:
    """Compute the coefficients of an antiderivative without jumps, as SciPy does."""
    steps = x[1:] - x[:-1]
    for _ in range(nu):
        k, s = c.shape[0], steps.reshape((-1,) + (1,) * (c.ndim - 2))
        factors = 1.0 / np.arange(k, 0, -1)
        rises = local_value(c, s, -1)[:-1]
        start = np.cumsum(np.concatenate((np.zeros_like(c[:1, 0]), rises)), axis=0)
        c = np.concatenate((c * factors.reshape((k,) + (1,) * (c.ndim - 1)), start[None]))
    return c


PIECES: dict[Any, Entry] = {
    **constants(piece_of, facts=facts.composed(inspect.unwrap(piece_of))),
    **constants(evaluated, facts=facts.composed(inspect.unwrap(evaluated))),
}


@overridable
def places_of(c: Array, x: Array, y: Array, jumps: bool, extrapolate: bool) -> Array:
    """Find where a piecewise polynomial has a value, as `scipy.interpolate.PPoly.solve` does."""
    polynomial = scipy.interpolate.PPoly.construct_fast(in_double(c), in_double(x), extrapolate)
    return polynomial.solve(y, jumps, extrapolate)


def solutions(c: Array, x: Array, y: Array, jumps: bool, extrapolate: bool) -> Array:
    """Find where a piecewise polynomial has a value.

    Two steps of Newton's method do not move a root, and have its first three derivatives.
    A root at which the polynomial jumps moves with its breakpoint.

    Parameters
    ----------
    c : array or Tensor, shape (k, m)
    x : array or Tensor, shape (m + 1,)
    y : float or Tensor
    jumps : bool
        Whether jumps across the value count.
    extrapolate : bool

    Returns
    -------
    array or Tensor, shape (number of roots,)

    Raises
    ------
    UnsupportedArgumentError
        For handles, where a root is a double one or the polynomial is constant.
    """
    places = places_of(c, x, y, jumps, extrapolate)
    if is_plain(c, x, y):
        return places
    if c.ndim != 2:
        raise UnsupportedArgumentError(
            "PPoly.solve takes handles of a single polynomial; index the further axes of c"
        )
    roots: Array = places
    residual = piecewise_value(c, x, places) - y
    jumped = np.isin(places, x) & (np.abs(residual) > 1e-9 * np.max(np.abs(c)))
    slope = piecewise_value(c, x, places, 1)
    if np.any(np.isnan(places)) or np.any((primal(slope) == 0) & ~jumped):
        raise UnsupportedArgumentError(
            "PPoly.solve: a root of handles has to be a simple one; a double root has no derivative"
        )
    for _ in range(2):
        slope = piecewise_value(c, x, roots, 1)
        step = (piecewise_value(c, x, roots) - y) / np.where(jumped, 1.0, slope)
        roots = np.where(jumped, roots, roots - step)
    if not np.any(jumped):
        return roots
    return np.where(jumped, x[np.argmin(np.abs(places[:, None] - x), axis=1)], roots)


ROOTS_OF_PIECES: dict[Any, Entry] = constants(places_of, facts=facts.SHAPED_BY_VALUES)


# What stands for these in SciPy's own classes


@stands_for(scipy.interpolate.PPoly.__call__)
def evaluate(self: Any, x: Array, nu: int = 0, extrapolate: Any = None) -> Array:
    """Evaluate a `PPoly` or a `BPoly`, or their derivative."""
    kind = differentiable(scipy.interpolate.PPoly)
    pieces = self if isinstance(self, kind) else kind.from_bernstein_basis(self)
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    x = in_double(x)
    if extrapolate == "periodic":
        x, extrapolate = folded(x, self.x[0], self.x[-1]), False
    value = piecewise_value(pieces.c, self.x, x, nu, bool(extrapolate))
    return in_place_of_axis(value[...], x, self.axis)  # of a number it is an array, as SciPy's is


@stands_for(scipy.interpolate.PPoly.antiderivative)
def antiderivative(self: Any, nu: int = 1) -> Any:
    """Make a `PPoly` without jumps of which this is the derivative."""
    if nu <= 0:
        return self.derivative(-nu)
    extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
    c = antiderivative_coefficients(self.c, self.x, nu)
    return self.construct_fast(c, self.x, extrapolate, self.axis)


@stands_for(scipy.interpolate.PPoly.integrate, scipy.interpolate.BSpline.integrate)
def integrate(self: Any, a: Array, b: Array, extrapolate: Any = None) -> Array:
    """Integrate a `PPoly` or a `BSpline` between two bounds.

    Without extrapolation a spline is 0 outside of its knots, where a polynomial is nan.
    """
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    if b < a:
        return -integrate(self, b, a, extrapolate)
    spline = hasattr(self, "t")
    first, last = (self.t[self.k], self.t[-self.k - 1]) if spline else (self.x[0], self.x[-1])
    primitive = self.antiderivative()
    if spline and not extrapolate:
        a, b, extrapolate = max(a, first), min(b, last), True

    def part(start: Array, end: Array) -> Array:
        values = primitive(np.stack((start, end)), extrapolate=extrapolate)
        values = np.moveaxis(values, self.axis, 0)
        return values[1] - values[0]

    if extrapolate != "periodic":
        return part(a, b)
    extrapolate = False
    return integral_over_periods(part, a, b, first, last)


@stands_for(scipy.interpolate.PPoly.solve)
def solve(self: Any, y: Array = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Array:
    """Find where a `PPoly` has a value."""
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    beyond = extrapolate is not False and extrapolate != "periodic"
    return solutions(self.c, self.x, y, bool(discontinuity), beyond)


@stands_for(scipy.interpolate.PchipInterpolator._find_derivatives)
def slopes_of_pchip(x: Array, y: Array, xp: Any = None) -> Array:
    """Compute the slopes at the knots that keep the shape of the data.

    That is the weighted harmonic mean of those beside it, or 0 where they do not have one sign; its
    derivative is 0 there too.
    """
    h = x[1:] - x[:-1]
    m = (y[1:] - y[:-1]) / h
    if y.shape[0] == 2:
        return np.concatenate((m, m))
    sign = np.sign(m)
    flat = (sign[1:] != sign[:-1]) | (sign[1:] == 0) | (sign[:-1] == 0)
    before, after = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    means = 1.0 / ((w1 / before + w2 / after) / (w1 + w2))
    ends = one_sided(h[:1], h[1:2], m[:1], m[1:2]), one_sided(h[-1:], h[-2:-1], m[-1:], m[-2:-1])
    return np.concatenate((ends[0], np.where(flat, 0.0, means), ends[1]))


def one_sided(h0: Array, h1: Array, m0: Array, m1: Array) -> Array:
    """Estimate the slope at an end from the two pieces beside it, with the sign of the first."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(steep, 3.0 * m0, d))


# Polynomials and rational functions through points, which are smooth at the points, too


@stands_for(scipy.interpolate.KroghInterpolator.__init__)
def newton_form(self: Any, xi: Array, yi: Array, axis: int = 0) -> None:
    """Compute the coefficients of Newton's form; where a point is repeated, those of slopes."""
    self.xi, self._y_axis, self.dtype = in_double(joined(xi)), axis, None
    self._set_yi(yi, self.xi, axis)
    self.yi = self._reshape_yi(yi)
    self.n, self.r = self.yi.shape
    self.c = np.stack([*divided_differences(self.xi, self.yi), np.zeros(self.r)])


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


@stands_for(scipy.interpolate.BarycentricInterpolator._evaluate)
def barycentric_form(self: Any, x: Array) -> Array:
    """Evaluate the polynomial through points, or the rational function that other weights make."""
    return rational_value(self.xi, self.yi, self.wi, x)


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


@overridable
def nearest_support(points: Array, z: Array) -> Array:
    """Number the point that is nearest to each of others."""
    return np.argmin(np.abs(z[:, None] - points), axis=1)


def rational_value(points: Array, values: Array, weights: Array, z: Array) -> Array:
    """Evaluate a rational function in the barycentric form.

    Both sums are multiplied with the distance from the nearest point, so that they are smooth
    there too.

    Parameters
    ----------
    points, weights : array, shape (n,)
    values : array, shape (n, ...)
    z : array, shape (m,)

    Returns
    -------
    array, shape (m, ...)
    """
    number = nearest_support(points, z)
    own = number[:, None] == np.arange(points.shape[0])
    apart = np.where(own, 1.0, z[:, None] - points)
    shares = weights * np.where(own, 1.0, (z - points[number])[:, None] / apart)
    flat = values.reshape((values.shape[0], -1))
    total = np.add.reduce(shares, axis=1)[:, None]
    return (shares @ flat / total).reshape((z.shape[0], *values.shape[1:]))


RATIONALS = scipy.interpolate._bary_rational


@stands_for(RATIONALS._BarycentricRational.__call__)
def evaluate_rational(self: Any, z: Array) -> Array:
    """Evaluate a rational function at points."""
    z = as_array(joined(z))
    parts = self._support_points, self._support_values, self.weights
    value = rational_value(*parts, z.reshape((-1,))).reshape(z.shape + self._shape)
    return np.moveaxis(value, 0, self._axis) if z.ndim else value


@stands_for(RATIONALS.FloaterHormannInterpolator._compute_weights)
def blending(self: Any, z: Array, f: Array, d: int) -> tuple[Array, Array, Array]:
    """Compute the weights of a blend of polynomials through d + 1 points in a row each.

    Notes
    -----
    M. S. Floater and K. Hormann, *Barycentric rational interpolation with no poles and high rates
    of approximation*, Numer. Math. 107 (2007).
    """
    n = z.shape[0]
    several = z[np.arange(n - d)[:, None] + np.arange(d + 1)]
    apart = np.abs(several[:, :, None] - several[:, None, :])
    shares = 1 / np.prod(np.where(np.eye(d + 1, dtype=bool), 1.0, apart), axis=-1)
    total: Any = 0.0
    for m in range(d + 1):  # what the polynomials that begin m points before give
        total = total + np.concatenate((np.zeros(m), shares[:, m], np.zeros(d - m)))
    return z, f, total * (-1.0) ** (np.arange(n) - d)


@stands_for(RATIONALS.AAA.__init__)
def searched(self: Any, x: Array, y: Array, **options: Any) -> None:
    """Refuse handles, for a search finds which of them the approximation goes through."""
    instead = "its support is found by a search; write FloaterHormannInterpolator(x, y)"
    refuse_handles("AAA", instead, x=joined(x), y=joined(y))


RATIONAL: dict[Any, Entry] = {
    **constants(nearest_support, facts=facts.composed(inspect.unwrap(nearest_support)))
}

"""Polynomials and rational functions through points, which are smooth at the points, too."""

import inspect
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, in_double, joined
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import is_plain, refuse_handles
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["RATIONAL", "lagrange"]


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
def evaluate(self: Any, z: Array) -> Array:
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

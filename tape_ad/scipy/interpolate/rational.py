"""Rational interpolants in the barycentric form, as objects that may hold handles."""

from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.extend.arrays import Array, as_array, axis_of, in_double, joined
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.interpolate.shared import is_plain, refuse_handles

__all__ = ["AAA", "RATIONAL", "FloaterHormannInterpolator", "nearest_support"]


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


class Rational:
    """What the two kinds share.

    Attributes
    ----------
    weights : array or Tensor, shape (n,)
    """

    _host: Any
    _axis: int
    weights: Array
    _points: Array
    _values: Array

    def __call__(self, z: Array) -> Array:
        """Evaluate the rational function at points.

        Parameters
        ----------
        z : array or Tensor, any shape

        Returns
        -------
        array or Tensor
        """
        if self._host is not None and is_plain(z):
            return self._host(z)
        z = as_array(joined(z))
        z = z if z.dtype.kind == "c" else in_double(z)
        value = rational_value(self._points, self._values, self.weights, z.reshape((-1,)))
        value = value.reshape(z.shape + self._values.shape[1:])
        return np.moveaxis(value, 0, self._axis) if z.ndim else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._host is None:
            raise AttributeError(
                f"tape_ad.scipy.interpolate.{type(self).__name__} has no {name} of handles; make "
                "it of t.data for what is plain"
            )
        return getattr(self._host, name)


class FloaterHormannInterpolator(Rational):
    """A rational function through points, as `scipy.interpolate.FloaterHormannInterpolator`.

    Parameters
    ----------
    points : array or Tensor, shape (n,)
    values : array or Tensor, shape (n, ...)
    d : int
        The degree of the polynomials that it is blended of.
    axis : dict
        ``axis=`` of SciPy 1.17.

    Notes
    -----
    The weights are those of M. S. Floater and K. Hormann, *Barycentric rational interpolation with
    no poles and high rates of approximation*, Numer. Math. 107 (2007).

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> float(FloaterHormannInterpolator(x, x**3)(1.5).round(9))
    3.375
    """

    def __init__(self, points: Array, values: Array, *, d: int = 3, **axis: int) -> None:
        points, values = joined(points), joined(values)
        self._host = None
        if is_plain(points, values):
            self._host = scipy.interpolate.FloaterHormannInterpolator(points, values, d=d, **axis)
        z, f = in_double(points), as_array(values)
        f = f if f.dtype.kind == "c" else in_double(f)
        if z.ndim != 1:
            raise ValueError("`x` must be 1-D.")
        self._axis = axis_of(f.ndim, axis.get("axis", 0)) + f.ndim
        if z.shape[0] != f.shape[self._axis]:
            raise ValueError(f"`x` be of size {f.shape[self._axis]} but got size {z.shape[0]}.")
        if not 0 <= d < z.shape[0]:
            raise ValueError("`d` must satisfy 0 <= d < n")
        f = np.moveaxis(f, self._axis, 0)
        kept = np.all(np.isfinite(f).reshape((f.shape[0], -1)), axis=1)
        z, f = z[kept], f[kept]
        chosen = np.unique(z, return_index=True)[1]
        self._points, self._values = z[chosen], f[chosen]
        self.weights = blending_weights(self._points, d)


def blending_weights(z: Array, d: int) -> Array:
    """Compute the weights of a blend of polynomials through d + 1 points in a row each."""
    n = z.shape[0]
    several = z[np.arange(n - d)[:, None] + np.arange(d + 1)]
    apart = np.abs(several[:, :, None] - several[:, None, :])
    shares = 1 / np.prod(np.where(np.eye(d + 1, dtype=bool), 1.0, apart), axis=-1)
    total: Any = 0.0
    for m in range(d + 1):  # what the polynomials that begin m points before give
        total = total + np.concatenate((np.zeros(m), shares[:, m], np.zeros(d - m)))
    return total * (-1.0) ** (np.arange(n) - d)


class AAA(Rational):
    """A rational approximation, as `scipy.interpolate.AAA`, with derivatives by where it is taken.

    Parameters
    ----------
    x, y : array
        They may not be handles: which of them the approximation goes through is found by a search.
    **options
        SciPy's.

    Examples
    --------
    >>> import tape_ad as ta
    >>> x = np.linspace(-1, 1, 50)
    >>> ta.grad(AAA(x, np.exp(x)))(0.5).round(9)
    np.float64(1.648721271)
    """

    def __init__(self, x: Array, y: Array, **options: Any) -> None:
        instead = "its support is found by a search; write FloaterHormannInterpolator(x, y)"
        refuse_handles("AAA", instead, x=joined(x), y=joined(y))
        self._host = scipy.interpolate.AAA(x, y, **options)
        self._axis = self._host.__dict__.get("_axis", 0)
        self._points, self._values = self._host.support_points, self._host.support_values
        self.weights = self._host.weights


RATIONAL: dict[Any, Entry] = {**constants(nearest_support)}

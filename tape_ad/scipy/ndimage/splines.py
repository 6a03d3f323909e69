"""B-splines: their weights between grid points, and the filter that makes them interpolate."""

import functools
import math
from typing import Any

import numpy as np
from attrs import define

from tape_ad.extend.arrays import Array
from tape_ad.extend.maps import Chain, LinearMap, PlainMap
from tape_ad.extend.patterns import along
from tape_ad.extend.rules import Derivation, Entry, rule
from tape_ad.scipy.counterparts import checked_call, operands_of, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.axes import one_axis
from tape_ad.scipy.ndimage.correlation import MODULE

__all__ = ["SPLINES", "SplineFilter", "spline_filter", "spline_filter1d", "weights_at"]

spline_filter = scipy_function(scipy.ndimage.spline_filter, MODULE, "input")
spline_filter1d = scipy_function(scipy.ndimage.spline_filter1d, MODULE, "input")

HALVED = ("mirror", "constant", "wrap", "grid-constant")
"""The modes in which the first and the last element are mirrored at."""

SHORT = 32
"""So few elements are filtered back by the matrix itself, for SciPy's values at the edges are
approximations, of which nothing is left after so many."""


@define(eq=False, repr=False)
class SplineFilter(PlainMap):
    """The coefficients of the splines through the elements along one axis.

    It is the inverse of the matrix of the splines' samples, which is symmetric; where the first
    and the last element are mirrored at, it is so if these two rows have half the weight.

    Parameters
    ----------
    order : int
    axis : int
        Negative.
    mode : str
    """

    pattern = along("axis")
    order: int
    axis: int
    mode: str

    def forward(self, t: Array) -> Array:
        """Compute the spline coefficients of a tangent along one axis."""
        if t.size == 0:
            return t.astype(np.result_type(t, np.float64))
        output = np.result_type(t, np.float64).type
        return scipy.ndimage.spline_filter1d(t, self.order, self.axis, output, self.mode)

    def backward(self, ct: Array) -> Array:
        """Filter, which is its own adjoint but for the edges."""
        n = ct.shape[self.axis]
        if self.order < 2 or ct.size == 0:
            return self.forward(ct)
        if n <= SHORT:
            matrix = SplineFilter(self.order, -1, self.mode).forward(np.eye(n))
            return np.moveaxis(np.moveaxis(ct, self.axis, -1) @ matrix.T, -1, self.axis)
        if self.mode not in HALVED:
            return self.forward(ct)
        weights = np.ones(n)
        weights[0] = weights[-1] = 0.5
        weights = weights.reshape((-1,) + (1,) * (-self.axis - 1))
        return weights * self.forward(ct / weights)


def filter_partial(out: Array, image: Array, order: int, axis: int, mode: str, output: Any) -> Any:
    """Make the partial of `spline_filter1d`."""
    if out.size == 0:
        return None
    return SplineFilter(order, one_axis(image.ndim, axis) - image.ndim, mode)


def filters(order: int, ndim: int, mode: str) -> LinearMap:
    """Make the map of `spline_filter` along the last axes."""
    return Chain(tuple(SplineFilter(order, axis, mode) for axis in range(-ndim, 0)))


def spline_filter_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    order: int,
    output: Any,
    mode: str,
) -> Array:
    """Filter along one axis after another."""
    if order < 2 or order > 5:
        raise ValueError("spline_filter takes an order from 2 to 5")
    if input.dtype.kind == "c":
        output = np.promote_types(output, np.complex64)
    out = input.astype(output)
    for axis in range(input.ndim):
        out = spline_filter1d(out, order, axis, output, mode)
    return out


# Weights


@functools.cache
def pieces(order: int, derivative: int) -> Array:
    """Make the coefficients of the B-spline's pieces, or of a derivative of these.

    Returns
    -------
    array, shape (order + 1, order + 1)
        In row k what the powers y^k are multiplied by, with a column for each of the splines that
        reach between two knots, y after the first of these. The spline is the sum of
        ``(-1)^i binomial(order + 1, i) / order! (d - i)^order`` over all i below d, the distance
        from where it begins (Schoenberg 1946).
    """
    n = order
    table = np.zeros((n + 1, n + 1))
    for j in range(n + 1):
        total = np.polynomial.Polynomial([0.0])
        for i in range(n - j + 1):
            factor = (-1) ** i * math.comb(n + 1, i)
            total = total + factor * np.polynomial.Polynomial([float(n - j - i), 1.0]) ** n
        total = (
            (total / math.factorial(n)).deriv(derivative)
            if derivative
            else (total / math.factorial(n))
        )
        table[: len(total.coef), j] = total.coef
    return table


def weights_at(y: Array, order: int, derivative: int = 0) -> Array:
    """Compute the weights of the splines that reach to a place between two knots.

    Parameters
    ----------
    y : array or Tensor, shape (...)
        From 0 at the one knot to 1 at the next.
    order : int
    derivative : int
        Which of its derivatives in `y` to compute instead.

    Returns
    -------
    array or Tensor, shape (..., order + 1)

    Examples
    --------
    >>> weights_at(np.array(0.5), 1)
    array([0.5, 0.5])
    >>> weights_at(np.array(0.0), 3) * 6
    array([1., 4., 1., 0.])
    """
    table = pieces(order, derivative)
    y = y[..., None]
    out = table[order] + y * 0
    for k in range(order - 1, -1, -1):  # Horner's scheme
        out = out * y + table[k]
    return out


SPLINES: dict[Any, Entry] = {
    spline_filter1d: rule(filter_partial, signature=operands_of(spline_filter1d, "input")),
    spline_filter: Derivation(checked_call(spline_filter, spline_filter_of_handle)),
}

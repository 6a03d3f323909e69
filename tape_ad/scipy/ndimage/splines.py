"""B-splines: their weights between grid points, and the filter that makes them interpolate."""

import functools
import math
from typing import Any

import numpy as np
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.maps import PlainMap
from tape_ad.extend.patterns import along
from tape_ad.extend.rules import Entry, arguments_of, overridable, rule
from tape_ad.scipy.ndimage.correlation import KERNELS, write
from tape_ad.scipy.ndimage.extension import MODES
from tape_ad.scipy.stand_ins import stands_for

HALVED = tuple(map(MODES.index, ("mirror", "constant", "wrap", "grid-constant")))
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
        From 2.
    axis : int
        Negative.
    mode : int
        SciPy's number of it.
    """

    pattern = along("axis")
    order: int
    axis: int
    mode: int

    def forward(self, t: Array) -> Array:
        """Compute the spline coefficients of a tangent along one axis."""
        if t.dtype.kind == "c":
            return self.forward(t.real) + 1j * self.forward(t.imag)
        return prefiltered(t, self.order, self.axis, self.mode, np.result_type(t, np.float64))

    def backward(self, ct: Array) -> Array:
        """Filter, which is its own adjoint but for the edges."""
        n = ct.shape[self.axis]
        if ct.size == 0:
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


@overridable
def prefiltered(image: Array, order: int, axis: int, mode: int, dtype: Any) -> Array:
    """Compute the spline coefficients along one axis, by SciPy's compiled code.

    Parameters
    ----------
    image : array or Tensor
    order, axis, mode : int
        The axis is negative.
    dtype : dtype
        Of the result.
    """
    out = np.zeros(image.shape, dtype)
    if out.size:
        KERNELS.spline_filter1d(image, order, axis % image.ndim, out, mode)
    return out


@stands_for(KERNELS.spline_filter1d)
def spline_filter1d(image: Array, order: int, axis: int, output: Array, mode: int) -> None:
    """Compute the spline coefficients along one axis."""
    write(output, prefiltered(image, order, axis - image.ndim, mode, output.dtype))


def filter_partial(out: Array, image: Array, order: int, axis: int, mode: int, dtype: Any) -> Any:
    """Make the partial of `prefiltered`."""
    return SplineFilter(order, axis, mode) if out.size else None


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
    prefiltered: rule(
        filter_partial, signature=arguments_of(prefiltered, "image"), facts=facts.along(axis="axis")
    )
}

"""`BSpline`, as an object that may hold handles."""

import operator
from typing import Any, Self

import numpy as np

from tape_ad.extend.arrays import Array, as_array, axis_of, in_double, primal
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import (
    folded,
    in_place_of_axis,
    integral_over_periods,
)
from tape_ad.scipy.interpolate.splines import spline_value

__all__ = [
    "BSpline",
    "splantider",
    "splder",
]

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

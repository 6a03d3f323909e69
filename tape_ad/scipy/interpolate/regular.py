"""`RegularGridInterpolator`, as an object that may hold handles, and `interpn`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.extend.arrays import Array, as_array, in_double
from tape_ad.scipy.interpolate.grids import DEGREES, grid_value
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.interpolate.surfaces import RectBivariateSpline

__all__ = ["RegularGridInterpolator", "coordinates_of", "interpn"]

ITERATED = {"slinear", "cubic", "quintic"}
"""The methods that have derivatives, and whose coefficients SciPy solves for by iteration."""


class RegularGridInterpolator:
    """Interpolation on a grid, as `scipy.interpolate.RegularGridInterpolator`, also of handles.

    Parameters
    ----------
    points : sequence of array or Tensor, shape (n1,), ..., (nd,)
        The axes of the grid, increasing or decreasing.
    values : array or Tensor, shape (n1, ..., nd, ...)
    method : str
        "linear", "nearest", "slinear", "cubic", "quintic" or "pchip".
    bounds_error : bool
    fill_value : float, Tensor or None
        The value of points outside of the grid; None to go on beyond it.
    solver, solver_args
        SciPy's, for plain arrays. For handles the equations are solved exactly.

    Examples
    --------
    >>> import tape_ad as ta
    >>> values = ta.ComputationRecord().tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> grid = [0.0, 1.0], [0.0, 1.0]
    >>> ta.scipy.interpolate.RegularGridInterpolator(grid, values)([0.25, 0.5]).sum().grad().wrt(
    ...     values
    ... )
    array([[0.375, 0.375], [0.125, 0.125]])
    """

    def __init__(
        self,
        points: Sequence[Array],
        values: Array,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = np.nan,
        *,
        solver: Any = None,
        solver_args: Any = None,
    ) -> None:
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self._host = None
        if is_plain(values, fill_value, *points):
            self._host = scipy.interpolate.RegularGridInterpolator(
                points,
                values,
                method,
                bounds_error,
                fill_value,
                **{} if solver is None else {"solver": solver},
                **{} if solver_args is None else {"solver_args": solver_args},
            )
            self.grid, self.values = self._host.grid, self._host.values
            return
        values = as_array(values)
        values = values if values.dtype.kind in "fc" else values.astype(np.float64)
        if len(points) > values.ndim:
            raise ValueError(
                f"There are {len(points)} point arrays, but values has {values.ndim} dimensions"
            )
        axes = []
        for i, each in enumerate(points):
            axis = in_double(each)
            if axis.ndim != 1:
                raise ValueError(f"The points in dimension {i} must be 1-dimensional")
            if axis.shape[0] != values.shape[i]:
                raise ValueError(
                    f"There are {axis.shape[0]} points and {values.shape[i]} values in dimension "
                    f"{i}"
                )
            if axis.shape[0] > 1 and axis[1] < axis[0]:
                axis, values = axis[::-1], np.flip(values, i)
            if np.any(axis[1:] <= axis[:-1]):
                raise ValueError(
                    f"The points in dimension {i} must be strictly ascending or descending"
                )
            axes.append(axis)
        self.grid, self.values = tuple(axes), values
        self._check(method)

    def _check(self, method: str) -> None:
        if method not in {"linear", "nearest", "pchip", *DEGREES}:
            raise ValueError(f"Method '{method}' is not defined")
        k = DEGREES.get(method, 3 if method == "pchip" else 0)
        for i, axis in enumerate(self.grid if k else ()):
            if axis.shape[0] <= k:
                raise ValueError(
                    f"There are {axis.shape[0]} points in dimension {i}, but method {method} "
                    f"requires at least {k + 1} points per dimension."
                )

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Array:
        """Interpolate at points.

        Parameters
        ----------
        xi : array, Tensor or tuple of them, shape (..., d)
            The points, or a tuple of their coordinates.
        method : str, optional
            Another one than the grid was made with.
        nu : sequence of int, optional
            The orders of the derivative, for splines.

        Returns
        -------
        array or Tensor
        """
        d = len(self.grid)
        xi = coordinates_of(xi, d)
        if self._host is not None and is_plain(xi):
            return self._host(xi, method, **{} if nu is None else {"nu": nu})
        method = self.method if method is None else method
        self._check(method)
        if nu is not None and method not in ITERATED:
            raise ValueError(
                f"Can only compute derivatives for methods {ITERATED}, got method = {method!r}."
            )
        if xi.shape[-1] != d:
            raise ValueError(
                f"The requested sample points xi have dimension {xi.shape[-1]} but this "
                f"RegularGridInterpolator has dimension {d}"
            )
        points = in_double(xi).reshape((-1, d))
        outside = self._outside(points)
        order = None if nu is None else tuple(int(each) for each in nu)
        out = grid_value(self.values, points, *self.grid, method=method, nu=order)
        out = marked(out, outside, self.fill_value)
        out = marked(out, np.any(np.isnan(points), axis=-1), np.nan)
        return out.reshape((*xi.shape[:-1], *self.values.shape[d:]))

    def _outside(self, points: Array) -> Array:
        """Tell which points are outside of the grid, or refuse them."""
        beyond = np.zeros(points.shape[0], bool)
        for i, axis in enumerate(self.grid):
            x = points[:, i]
            inside = (x >= axis[0]) & (x <= axis[-1])
            if self.bounds_error and not np.all(inside):
                raise ValueError(f"One of the requested xi is out of bounds in dimension {i}")
            beyond = beyond | (x < axis[0]) | (x > axis[-1])
        return beyond & (self.fill_value is not None)


def marked(values: Array, rows: Array, mark: Any) -> Array:
    """Put one value in the place of some rows, which then have no gradient of their own."""
    if not np.any(rows):
        return values
    return np.where(rows.reshape((-1,) + (1,) * (values.ndim - 1)), mark, values)


def coordinates_of(xi: Any, d: int) -> Array:
    """Take points, or a tuple of arrays of their coordinates, to one array with a last axis."""
    if isinstance(xi, tuple) and len(xi) == 1 and np.ndim(xi[0]) > 1:
        xi = xi[0]
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*(as_array(x) for x in xi)), axis=-1)
    xi = as_array(xi)
    return xi.reshape((-1, d)) if xi.ndim == 1 else xi


def interpn(
    points: Sequence[Array],
    values: Array,
    xi: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = np.nan,
) -> Array:
    """Interpolate on a grid, as `scipy.interpolate.interpn` does.

    Parameters
    ----------
    points, values, method, bounds_error, fill_value
        As in `RegularGridInterpolator`, and the method "splinef2d", see `RectBivariateSpline`.
    xi
        As in its call.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> interpn(([0.0, 1.0],), [3.0, 5.0], [0.25])
    array([3.5])
    """
    if method != "splinef2d":
        made = RegularGridInterpolator(points, as_array(values), method, bounds_error, fill_value)
        return made(xi)
    xi = coordinates_of(xi, len(points))
    if is_plain(values, xi, fill_value, *points):
        return scipy.interpolate.interpn(points, values, xi, method, bounds_error, fill_value)
    if len(points) != 2 or as_array(values).ndim != 2:
        raise ValueError("The method splinef2d can only be used for 2-dimensional input data")
    flat = in_double(xi).reshape((-1, 2))
    outside = np.zeros(flat.shape[0], bool)
    for i, axis in enumerate(map(as_array, points)):
        outside = outside | ~((flat[:, i] >= axis[0]) & (flat[:, i] <= axis[-1]))
        if bounds_error and np.any(outside):
            raise ValueError(f"One of the requested xi is out of bounds in dimension {i}")
    if fill_value is None:
        raise ValueError("The method splinef2d does not support extrapolation.")
    spline = RectBivariateSpline(points[0], points[1], values)
    return marked(spline.ev(flat[:, 0], flat[:, 1]), outside, fill_value).reshape(xi.shape[:-1])

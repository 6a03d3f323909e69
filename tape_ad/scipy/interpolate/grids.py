"""Interpolation on grids, as `scipy.interpolate.RegularGridInterpolator` and `interpn` do it.

The tensor products of B-splines are solved for exactly, axis by axis. SciPy's class solves for them
by iteration, so that its values are off by what that leaves.
"""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend.arrays import Array, as_array, in_double
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.bsplines import (
    basis_values,
    interpolating_coefficients,
    knots_for,
    spline_piece,
)
from tape_ad.scipy.interpolate.polynomials import antiderivative_coefficients, local_value, piece_of
from tape_ad.scipy.stand_ins import stands_for

DEGREES = {
    "slinear": 1,
    "cubic": 3,
    "quintic": 5,
    "slinear_legacy": 1,
    "cubic_legacy": 3,
    "quintic_legacy": 5,
}
"""The methods that are splines."""


def grid_value(
    values: Array,
    points: Array,
    *grid: Array,
    method: str = "linear",
    nu: tuple[int, ...] | None = None,
) -> Array:
    """Interpolate values on a grid, and go on beyond it.

    Parameters
    ----------
    values : array or Tensor, shape (n1, ..., nd, ...)
    points : array or Tensor, shape (m, d)
    grid : array or Tensor, shape (n1,), ..., (nd,)
        Increasing.
    method : str
        As in `scipy.interpolate.RegularGridInterpolator`.
    nu : tuple of int, optional
        The orders of the derivative, for splines.

    Returns
    -------
    array or Tensor, shape (m, ...)

    Examples
    --------
    >>> grid = np.arange(2.0), np.arange(3.0)
    >>> grid_value(np.arange(6.0).reshape(2, 3), np.array([[0.5, 1.5]]), *grid)
    array([3.])
    """
    given, values, points = as_array(values), in_double(values), in_double(points)
    axes = [in_double(axis) for axis in grid]
    coordinates = [points[:, i] for i in range(len(axes))]
    if method in DEGREES:
        degrees = (DEGREES[method],) * len(axes)
        knots = [knots_of(axis, degrees[0]) for axis in axes]
        c = tensor_coefficients(values, axes, knots, degrees)
        out = tensor_value(c, knots, degrees, coordinates, nu or (0,) * len(axes))
    elif method == "pchip":
        out = pchip_value(values, axes, coordinates)
    else:
        out = multilinear(values, axes, coordinates, method)
    as_given = method in {"nearest", "pchip"} or method.endswith("_legacy")
    return out.astype(given.dtype) if as_given and out.dtype != given.dtype else out


def multilinear(values: Array, axes: list[Array], coordinates: list[Array], method: str) -> Array:
    """Interpolate between the corners of the cells, or take the nearest corner."""
    places, shares = [], []
    for axis, x in zip(axes, coordinates, strict=True):
        if axis.shape[0] == 1:
            places.append(np.zeros((2, *x.shape), np.intp))
            shares.append(np.zeros(x.shape))
            continue
        i = piece_of(axis, x)
        places.append(np.stack((i, i + 1)))
        shares.append((x - axis[i]) / (axis[i + 1] - axis[i]))
    if method == "nearest":
        nearest = [np.where(s <= 0.5, *p) for s, p in zip(shares, places, strict=True)]
        return values[tuple(nearest)]
    d = len(axes)
    # All corners at once: an axis of length 2 for each of the grid's in front
    corners = values[tuple(opened(p, j, d) for j, p in enumerate(places))]
    trailing = (slice(None),) + (None,) * (values.ndim - d)
    for share in shares:
        weight = share[trailing]
        corners = corners[0] * (1 - weight) + corners[1] * weight
    return corners


def opened(places: Array, position: int, d: int) -> Array:
    """Put the first axis at a position among d axes that all others are to have length 1 in."""
    shape = [1] * d
    shape[position] = places.shape[0]
    return places.reshape((*shape, *places.shape[1:]))


# Splines


def knots_of(axis: Array, k: int) -> Array:
    """Choose knots for one axis."""
    if k > 1:
        return knots_for(axis, k)
    return np.concatenate((axis[:1], axis, axis[-1:]))


def tensor_coefficients(
    values: Array, axes: list[Array], knots: list[Array], degrees: tuple[int, ...]
) -> Array:
    """Solve for the coefficients of a tensor product of splines, one axis after the other."""
    for i, (axis, t, k) in enumerate(zip(axes, knots, degrees, strict=True)):
        if k > 1:
            rows = np.moveaxis(values, i, 0)
            none = np.zeros((0, *rows.shape[1:]))
            values = np.moveaxis(interpolating_coefficients(axis, rows, t, none, none, k), 0, i)
    return values


def tensor_value(
    c: Array,
    knots: list[Array],
    degrees: tuple[int, ...],
    coordinates: list[Array],
    nu: tuple[int, ...],
) -> Array:
    """Evaluate a tensor product of splines at points of one axis."""
    d = len(knots)
    pieces = [spline_piece(t, k, x) for t, k, x in zip(knots, degrees, coordinates, strict=True)]
    places = [
        opened(piece + np.arange(-k, 1)[:, None], j, d)
        for j, (piece, k) in enumerate(zip(pieces, degrees, strict=True))
    ]
    total = c[tuple(places)]
    for t, k, x, piece, order in zip(knots, degrees, coordinates, pieces, nu, strict=True):
        values = basis_values(t, k, x, piece, order)
        trailing = (1,) * (c.ndim - d)
        others = (1,) * (total.ndim - 2 - len(trailing))
        values = values.reshape((k + 1, *others, x.shape[0], *trailing))
        total = np.add.reduce(total * values, axis=0)
    return total


# Slopes that keep the shape of the data


def pchip_value(values: Array, axes: list[Array], coordinates: list[Array]) -> Array:
    """Interpolate along the last axis of the grid, and what that gives along the others."""
    d, numbers = len(axes), np.arange(coordinates[0].shape[0])
    kind = differentiable(scipy.interpolate.PchipInterpolator)
    for i in range(d - 1, -1, -1):
        started = i < d - 1  # from then on the axis of the points is in front of those of the grid
        c = kind(axes[i], np.moveaxis(values, i + started, 0)).c
        piece = piece_of(axes[i], coordinates[i])
        picked = c[:, piece, numbers] if started else c[:, piece]
        s = coordinates[i] - axes[i][piece]
        values = local_value(picked, s[(...,) + (None,) * (picked.ndim - 2)], 0)
    return values


# What stands for these in SciPy's own class

KIND = scipy.interpolate.RegularGridInterpolator


@stands_for(KIND._construct_spline)
def no_spline(self: Any, *args: Any, **options: Any) -> None:
    """Leave the equations to the call, which solves them exactly."""


@stands_for(KIND.__call__)
def evaluate(self: Any, xi: Any, method: str | None = None, *, nu: Any = None) -> Array:
    """Interpolate at points."""
    method = self.method if method is None else method
    if method not in self._ALL_METHODS:
        raise ValueError(f"Method '{method}' is not defined")
    if method in DEGREES or method == "pchip":
        self._validate_grid_dimensions(self.grid, method)
    if nu is not None and (method not in DEGREES or method.endswith("_legacy")):
        raise ValueError(f"Can only compute derivatives for splines, got {method = }.")
    xi, shape, d, nans, outside = self._prepare_xi(xi)
    order = None if nu is None else tuple(int(each) for each in nu)
    out = grid_value(self.values, xi, *self.grid, method=method, nu=order)
    if not self.bounds_error and self.fill_value is not None:
        out = marked(out, outside, self.fill_value)
    return marked(out, nans, np.nan).reshape((*shape[:-1], *self.values.shape[d:]))


def marked(values: Array, rows: Array, mark: Any) -> Array:
    """Put one value in the place of some rows, which then have no gradient of their own."""
    if not np.any(rows):
        return values
    return np.where(rows.reshape((-1,) + (1,) * (values.ndim - 1)), mark, values)


def along_axes(
    self: Any, ends: Any, points: Array, nu: Any, extrapolate: Any
) -> tuple[list[Array], tuple[int, ...], Array]:
    """List the coordinates of points and the orders of derivatives, and tell what is no value."""
    if points.shape[-1] != len(ends):
        raise ValueError(f"points of {points.shape[-1]} coordinates in {len(ends)} dimensions")
    flat = np.reshape(points, (-1, len(ends)))
    coordinates = [flat[:, i] for i in range(len(ends))]
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    inside = [(x >= low) & (x <= high) for x, (low, high) in zip(coordinates, ends, strict=True)]
    none = np.any(np.isnan(flat), axis=-1) | (~np.all(inside, axis=0) & (not extrapolate))
    return coordinates, tuple(map(int, (0,) * len(ends) if nu is None else nu)), none


@stands_for(scipy.interpolate.NdBSpline.__call__)
def tensor_spline(self: Any, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Array:
    """Evaluate a tensor product of B-splines, or a derivative of it."""
    xi, knots, degrees = in_double(xi), list(self.t), tuple(map(int, self.k))
    axes = [(t[k], t[-k - 1]) for t, k in zip(knots, degrees, strict=True)]
    coordinates, orders, none = along_axes(self, axes, xi, nu, extrapolate)
    out = marked(tensor_value(self.c, knots, degrees, coordinates, orders), none, np.nan)
    return np.reshape(out, (*xi.shape[:-1], *self.c.shape[len(knots) :]))


@stands_for(scipy.interpolate.NdPPoly._antiderivative_inplace)
def tensor_antiderivative(self: Any, nu: int, axis: int) -> None:
    """Integrate piecewise polynomials of several variables by one of them, without jumps."""
    if nu <= 0:
        return self._derivative_inplace(-nu, axis)  # type: ignore[no-any-return]  # it is None
    d = len(self.x)
    places = axis % d, d + axis % d
    c = antiderivative_coefficients(np.moveaxis(self.c, places, (0, 1)), self.x[axis], nu)
    self.c = np.moveaxis(c, (0, 1), places)
    return None


@stands_for(scipy.interpolate.NdPPoly.__call__)
def tensor_pieces(self: Any, x: Any, nu: Any = None, extrapolate: Any = None) -> Array:
    """Evaluate piecewise polynomials of several variables, or a derivative of them."""
    x, d = in_double(x), len(self.x)
    ends = [(breaks[0], breaks[-1]) for breaks in self.x]
    coordinates, orders, none = along_axes(self, ends, x, nu, extrapolate)
    pieces = tuple(map(piece_of, self.x, coordinates))
    out, trailing = self.c[(slice(None),) * d + pieces], (...,) + (None,) * (self.c.ndim - 2 * d)
    for breaks, place, piece, order in zip(self.x, coordinates, pieces, orders, strict=True):
        out = local_value(out, (place - breaks[piece])[trailing], order)
    return np.reshape(marked(out, none, np.nan), (*x.shape[:-1], *self.c.shape[2 * d :]))

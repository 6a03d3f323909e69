"""Interpolation between scattered points, of arrays or handles.

Which simplex or which neighbour counts is SciPy's choice, and constant; the rest is smooth.
"""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, in_double, joined
from tape_ad.extend.rules import Derivation, Entry, constants, overridable
from tape_ad.scipy.counterparts import WITH_VALUE, with_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import is_plain, refuse_handles
from tape_ad.scipy.stand_ins import stands_for

__all__ = [
    "SCATTERED",
    "CloughTocher2DInterpolator",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "clough_tocher_value",
    "griddata",
    "nearest_point",
    "simplex_value",
    "vertices_around",
]


@stands_for(
    scipy.interpolate.interpnd._ndim_coords_from_arrays,  # before SciPy 1.15
    scipy.interpolate._interpnd._ndim_coords_from_arrays,
)
def points_of(points: Any, ndim: int | None = None) -> Array:
    """Take points, or a tuple of arrays of their coordinates, to one array with a last axis."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*(in_double(joined(x)) for x in points)), axis=-1)
    points = in_double(joined(points))
    return points.reshape((-1, ndim or 1)) if points.ndim == 1 else points


@overridable
def vertices_around(points: Array, xi: Array) -> tuple[Array, Array]:
    """Number the corners of the simplex that each point is in, or of any for points in none.

    Parameters
    ----------
    points : array, shape (n, d)
    xi : array, shape (m, d)

    Returns
    -------
    tuple of array, shape (m, d + 1) and (m,)
        The numbers, and which points are in no simplex.
    """
    mesh = scipy.spatial.Delaunay(np.asarray(points))
    simplex = mesh.find_simplex(xi)
    return mesh.simplices[simplex], simplex < 0


@overridable
def nearest_point(points: Array, xi: Array, options: dict[str, Any]) -> Array:
    """Number the nearest point to each one of others; of what is not finite it is any."""
    tree = scipy.spatial.cKDTree(np.nan_to_num(points))
    return tree.query(np.nan_to_num(xi), **options)[1]


@overridable
def simplex_value(points: Array, values: Array, xi: Array, vertices: Array) -> Array:
    """Interpolate linearly between the corners of simplices.

    Parameters
    ----------
    points : array or Tensor, shape (n, d)
    values : array or Tensor, shape (n, ...)
    xi : array or Tensor, shape (m, d)
    vertices : array of int, shape (m, d + 1)

    Returns
    -------
    array or Tensor, shape (m, ...)
    """
    return barycentric_value(points, values, xi, vertices)


def barycentric_value(points: Array, values: Array, xi: Array, vertices: Array) -> Array:
    """Weigh the values at the corners by barycentric coordinates."""
    points, values, xi = in_double(points), in_double(values), in_double(xi)
    corners = points[vertices]
    last = corners[:, -1]
    edges = (corners[:, :-1] - last[:, None]).mT
    weights = np.linalg.solve(edges, (xi - last)[..., None])[..., 0]
    whole = np.concatenate((weights, 1 - np.add.reduce(weights, axis=1)[:, None]), axis=1)
    behind = (...,) + (None,) * (values.ndim - 1)
    return np.add.reduce(values[vertices] * whole[behind], axis=1)


class Scattered:
    """What interpolators between scattered points share."""

    def __init__(self, points: Array, values: Array, rescale: bool) -> None:
        self.points, self.values = points_of(points), as_array(values)
        if self.values.dtype.kind not in "fc":
            self.values = self.values.astype(np.float64)
        if self.points.shape[0] != self.values.shape[0]:
            raise ValueError("different number of values and points")
        if rescale:
            raise UnsupportedArgumentError(
                "rescale= is not supported on handles; scale the points before"
            )

    def _given(self, args: tuple[Any, ...]) -> Array:
        d = self.points.shape[1]
        xi = points_of(args if len(args) > 1 else args[0], d)
        if xi.shape[-1] != d:
            raise ValueError("number of dimensions in xi does not match x")
        return xi


def refuse_options(name: str, options: dict[str, Any]) -> None:
    """Refuse what SciPy alone takes, in this release or others."""
    if options:
        raise UnsupportedArgumentError(f"{name}: {', '.join(options)}= cannot go with handles")


class LinearNDInterpolator(Scattered):
    """Linear interpolation on a triangulation, as `scipy.interpolate.LinearNDInterpolator`.

    Parameters
    ----------
    points : array or Tensor, shape (n, d)
        Their triangulation is SciPy's, and does not change with them.
    values : array or Tensor, shape (n, ...)
    fill_value : float or Tensor
        The value outside of the triangulation.
    rescale : bool
        For plain arrays.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> LinearNDInterpolator(corners, np.array([0.0, 1.0, 2.0]))([[0.25, 0.5]]).tolist()
    [1.25]
    """

    def __init__(
        self, points: Array, values: Array, fill_value: Any = np.nan, rescale: bool = False
    ) -> None:
        self._host = None
        if is_plain(points, values, fill_value):
            self._host = scipy.interpolate.LinearNDInterpolator(points, values, fill_value, rescale)
            rescale = False
        super().__init__(points, values, rescale)
        self.fill_value = fill_value

    def __call__(self, *args: Array, **options: Any) -> Array:
        """Interpolate at points, given as one array or as several of coordinates."""
        if self._host is not None and is_plain(*args):
            return self._host(*args, **options)
        refuse_options("LinearNDInterpolator", options)
        xi = self._given(args)
        flat = xi.reshape((-1, xi.shape[-1]))
        vertices, outside = vertices_around(self.points, flat)
        out = simplex_value(self.points, self.values, flat, vertices)
        if np.any(outside):
            mask = outside.reshape((-1,) + (1,) * (out.ndim - 1))
            out = np.where(mask, self.fill_value, out)
        return out.reshape((*xi.shape[:-1], *self.values.shape[1:]))


class NearestNDInterpolator(Scattered):
    """The value at the nearest point, as `scipy.interpolate.NearestNDInterpolator`.

    It is constant between jumps: there is no derivative but in the values.

    Parameters
    ----------
    x : array or Tensor, shape (n, d)
    y : array or Tensor, shape (n, ...)
    rescale : bool
        For plain arrays.
    tree_options : dict, optional
        SciPy's, for plain arrays.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> NearestNDInterpolator(points, np.array([3.0, 5.0]))([[0.75, 0.0]]).tolist()
    [5.0]
    """

    def __init__(self, x: Array, y: Array, rescale: bool = False, tree_options: Any = None) -> None:
        self._host = None
        if is_plain(x, y):
            self._host = scipy.interpolate.NearestNDInterpolator(x, y, rescale, tree_options)
            rescale = False
        super().__init__(x, y, rescale)

    def __call__(self, *args: Array, **options: Any) -> Array:
        """Give the values at the points that are nearest to others."""
        if self._host is not None and is_plain(*args):
            return self._host(*args, **options)
        refuse_options("NearestNDInterpolator", options)
        return self.values[nearest_point(self.points, self._given(args), {})]


@overridable
def clough_tocher_value(values: Array, points: Array, xi: Array, options: dict[str, Any]) -> Array:
    """Interpolate scattered points with cubics, as `scipy.interpolate.CloughTocher2DInterpolator`.

    Parameters
    ----------
    values : array or Tensor, shape (n, ...)
    points : array, shape (n, 2)
    xi : array, shape (m, 2)
    options : dict
        SciPy's.

    Returns
    -------
    array or Tensor, shape (m, ...)
    """
    return scipy.interpolate.CloughTocher2DInterpolator(points, values, **options)(xi)


def by_clough_tocher(values: Array, points: Array, xi: Array, options: dict[str, Any]) -> Array:
    """Apply the matrix that SciPy's iteration for the slopes comes to, which is linear."""
    units, exact = np.eye(values.shape[0]), {**options, "tol": 1e-12, "maxiter": 10000}
    matrix = clough_tocher_value(units, points, xi, exact)
    outside = np.any(np.isnan(matrix), axis=1)
    flat = values.reshape((values.shape[0], -1))
    composed = (np.where(outside[:, None], 0.0, matrix) @ flat).reshape((-1, *values.shape[1:]))
    mask = outside.reshape((-1,) + (1,) * (values.ndim - 1))
    composed = np.where(mask, options.get("fill_value", np.nan), composed)
    return with_value(composed, None, clough_tocher_value, (values, points, xi, options), {})


class CloughTocher2DInterpolator(Scattered):
    """Cubic interpolation on triangles, as `scipy.interpolate.CloughTocher2DInterpolator`.

    Parameters
    ----------
    points : array, shape (n, 2)
    values : array or Tensor, shape (n, ...)
        It alone may be a handle; its derivatives take an n by n matrix of slopes.
    fill_value : float
    tol, maxiter, rescale
        As in SciPy.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> made = CloughTocher2DInterpolator(corners, np.array([0.0, 1.0, 2.0]))
    >>> made([[0.25, 0.5]]).round(6).tolist()
    [1.25]
    """

    def __init__(
        self,
        points: Array,
        values: Array,
        fill_value: float = np.nan,
        tol: float = 1e-6,
        maxiter: int = 400,
        rescale: bool = False,
    ) -> None:
        points, values = joined(points), joined(values)
        refuse_handles("CloughTocher2DInterpolator", ALONE, points=points, fill_value=fill_value)
        self._options = {
            "fill_value": fill_value,
            "tol": tol,
            "maxiter": maxiter,
            "rescale": rescale,
        }
        super().__init__(points, values, rescale=False)

    def __call__(self, *args: Array, **options: Any) -> Array:
        """Interpolate at points, given as one array or as several of coordinates."""
        refuse_handles("CloughTocher2DInterpolator", ALONE, xi=list(args))
        if options and is_plain(self.values):
            host = scipy.interpolate.CloughTocher2DInterpolator
            return host(self.points, self.values, **self._options)(*args, **options)
        refuse_options("CloughTocher2DInterpolator", options)
        xi = self._given(args)
        flat = xi.reshape((-1, xi.shape[-1]))
        out = clough_tocher_value(self.values, self.points, flat, self._options)
        return out.reshape((*xi.shape[:-1], *self.values.shape[1:]))


ALONE = "there are derivatives by the values alone; write RBFInterpolator, or linear interpolation"


def griddata(
    points: Array,
    values: Array,
    xi: Any,
    method: str = "linear",
    fill_value: Any = np.nan,
    rescale: bool = False,
    **options: Any,
) -> Array:
    """Interpolate between scattered points, as `scipy.interpolate.griddata` does.

    Parameters
    ----------
    points : array or Tensor, shape (n, d) or (n,)
    values : array or Tensor, shape (n, ...)
    xi : array, Tensor or tuple of them
    method : str
        "nearest" or "linear"; in one dimension also the kinds of `interp1d`. "cubic" in two
        dimensions takes handles as `values` alone.
    fill_value : float or Tensor
    rescale : bool
        For plain arrays, as what this release of SciPy takes besides.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> float(griddata(np.array([0.0, 1.0]), np.array([3.0, 5.0]), 0.25))
    3.5
    """
    given = xi if isinstance(xi, tuple) else (xi,)
    if is_plain(points, values, fill_value, *given):
        rest = (method, fill_value, rescale)
        return scipy.interpolate.griddata(points, values, xi, *rest, **options)
    refuse_options("griddata", options)
    points = points_of(points)
    if points.shape[-1] == 1:
        fill = "extrapolate" if method == "nearest" else fill_value
        x = points.reshape((-1,))
        kind = differentiable(scipy.interpolate.interp1d)
        made = kind(x, values, method, 0, bounds_error=False, fill_value=fill)
        return made(xi[0] if isinstance(xi, tuple) else xi)
    if method == "nearest":
        return NearestNDInterpolator(points, values, rescale)(xi)
    if method == "linear":
        return LinearNDInterpolator(points, values, fill_value, rescale)(xi)
    if method == "cubic" and points.shape[-1] == 2:
        cubic = CloughTocher2DInterpolator(points, values, fill_value, rescale=rescale)
        return cubic(xi)
    raise ValueError(
        f"Unknown interpolation method {method!r} for {points.shape[-1]} dimensional data"
    )


SCATTERED: dict[Any, Entry] = {
    simplex_value: Derivation(barycentric_value),
    clough_tocher_value: Derivation(by_clough_tocher),
    **WITH_VALUE,
    **constants(vertices_around, nearest_point),
}

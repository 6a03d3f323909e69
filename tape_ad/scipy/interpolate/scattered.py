"""Interpolation between scattered points, by simplices, neighbours or radial functions.

Which simplex or which neighbour counts is SciPy's choice, and constant; the rest is smooth.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, in_double, joined, whole
from tape_ad.extend.rules import Derivation, Entry, constants, overridable
from tape_ad.scipy.counterparts import WITH_VALUE, with_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import is_plain, refuse_handles
from tape_ad.scipy.spatial.metrics import sqeuclidean_pairs
from tape_ad.scipy.stand_ins import WHOLE, stands_for

__all__ = ["SCATTERED", "CloughTocher2DInterpolator", "LinearNDInterpolator"]
__all__ += ["NearestNDInterpolator"]


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
    tree = scipy.spatial.cKDTree(np.nan_to_num(points), **options)
    return tree.query(np.nan_to_num(xi))[1]


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
    points, values, xi = in_double(points), in_double(values), in_double(xi)
    corners = points[vertices]
    last = corners[:, -1]
    edges = (corners[:, :-1] - last[:, None]).mT
    weights = np.linalg.solve(edges, (xi - last)[..., None])[..., 0]
    whole = np.concatenate((weights, 1 - np.add.reduce(weights, axis=1)[:, None]), axis=1)
    behind = (...,) + (None,) * (values.ndim - 1)
    return np.add.reduce(values[vertices] * whole[behind], axis=1)


class Scattered:
    """What interpolators between scattered points share: SciPy's own, where nothing is a handle."""

    _host: Any = None

    def __init__(self, points: Array, values: Array, **options: Any) -> None:
        if is_plain(points, values, *options.values()):
            kind = getattr(scipy.interpolate, type(self).__name__)
            self._host = kind(points, values, **options)
        self.points, self.values, self._options = points_of(points), as_array(values), options
        if self.values.dtype.kind not in "fc":
            self.values = self.values.astype(np.float64)
        if self.points.shape[0] != self.values.shape[0]:
            raise ValueError("different number of values and points")

    def __call__(self, *args: Array, **options: Any) -> Array:
        """Interpolate at points, given as one array or as several of coordinates."""
        if self._host is not None and is_plain(*args):
            return self._host(*args, **options)
        if options.pop("simplex_tolerance", 1.0) != 1.0 or options:  # SciPy 1.18 brought it
            names = ", ".join(options or ["simplex_tolerance"])
            raise UnsupportedArgumentError(
                f"{type(self).__name__}: {names}= cannot go with handles"
            )
        d = self.points.shape[1]
        xi = points_of(args if len(args) > 1 else args[0], d)
        if xi.shape[-1] != d:
            raise ValueError("number of dimensions in xi does not match x")
        out = self._at(xi.reshape((-1, d)))
        return out.reshape((*xi.shape[:-1], *self.values.shape[1:]))

    def _scaled(self, xi: Array) -> tuple[Array, Array]:
        """Give the points and others as a tree or a triangulation has them, which may rescale."""
        if not self._options["rescale"]:
            return self.points, xi
        offset, width = np.mean(self.points, axis=0), np.ptp(self.points, axis=0)
        width = np.where(width > 0, width, 1.0)
        return (self.points - offset) / width, (xi - offset) / width

    def _at(self, xi: Array) -> Array:
        raise NotImplementedError


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
        Whether the points are triangulated as if they were as far apart along each axis.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> LinearNDInterpolator(corners, np.array([0.0, 1.0, 2.0]))([[0.25, 0.5]]).tolist()
    [1.25]
    """

    def __init__(
        self, points: Array, values: Array, fill_value: Any = np.nan, rescale: bool = False
    ) -> None:
        super().__init__(points, values, fill_value=fill_value, rescale=rescale)
        self.fill_value = fill_value

    def _at(self, xi: Array) -> Array:
        vertices, outside = vertices_around(*self._scaled(xi))
        out = simplex_value(self.points, self.values, xi, vertices)
        mask = outside.reshape((-1,) + (1,) * (out.ndim - 1))
        return np.where(mask, self.fill_value, out) if np.any(outside) else out


class NearestNDInterpolator(Scattered):
    """The value at the nearest point, as `scipy.interpolate.NearestNDInterpolator`.

    It is constant between jumps: there is no derivative but in the values.

    Parameters
    ----------
    x : array or Tensor, shape (n, d)
    y : array or Tensor, shape (n, ...)
    rescale : bool
        Whether what is near is asked as if the points were as far apart along each axis.
    tree_options : dict, optional
        SciPy's.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> NearestNDInterpolator(points, np.array([3.0, 5.0]))([[0.75, 0.0]]).tolist()
    [5.0]
    """

    def __init__(self, x: Array, y: Array, rescale: bool = False, tree_options: Any = None) -> None:
        super().__init__(x, y, rescale=rescale, tree_options=tree_options)

    def _at(self, xi: Array) -> Array:
        return self.values[nearest_point(*self._scaled(xi), self._options["tree_options"] or {})]


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
        options = {"fill_value": fill_value, "tol": tol, "maxiter": maxiter}
        super().__init__(points, values, **options, rescale=rescale)

    def _at(self, xi: Array) -> Array:
        refuse_handles("CloughTocher2DInterpolator", ALONE, xi=xi)
        return clough_tocher_value(self.values, self.points, xi, self._options)


ALONE = "there are derivatives by the values alone; write RBFInterpolator, or linear interpolation"


KINDS = CloughTocher2DInterpolator, LinearNDInterpolator, NearestNDInterpolator
WHOLE.update(getattr(scipy.interpolate, kind.__name__) for kind in KINDS)  # for `griddata`


SCATTERED: dict[Any, Entry] = {
    clough_tocher_value: Derivation(by_clough_tocher),
    **WITH_VALUE,
    **constants(vertices_around, nearest_point),
}


# Radial basis functions, as `scipy.interpolate.RBFInterpolator` has them, of arrays or handles


def of_roots(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Make a function of squares that is 0 at 0, with all its derivatives there."""

    def kernel(squares: Array) -> Array:
        apart = squares != 0
        return np.where(apart, function(np.where(apart, squares, 1.0)), 0.0)

    return kernel


KERNELS: dict[str, Callable[[Array], Array]] = {
    "linear": of_roots(lambda s: -np.sqrt(s)),
    "thin_plate_spline": of_roots(lambda s: s * np.log(s) / 2),
    "cubic": of_roots(lambda s: s * np.sqrt(s)),
    "quintic": of_roots(lambda s: -s * s * np.sqrt(s)),
    "multiquadric": lambda s: -np.sqrt(s + 1),
    "inverse_multiquadric": lambda s: 1 / np.sqrt(s + 1),
    "inverse_quadratic": lambda s: 1 / (s + 1),
    "gaussian": lambda s: np.exp(-s),
}
"""The functions of the square of a distance."""


def exponents_of(d: int, degree: int) -> Array:
    """List the exponents of all monomials up to a degree."""
    powers = [
        [chosen.count(i) for i in range(d)]
        for total in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(d), total)
    ]
    return np.array(powers, int).reshape((-1, d))


@whole
def radial_value(
    points: Array,
    values: Array,
    xi: Array,
    smoothing: Array,
    epsilon: Array,
    kernel: str = "thin_plate_spline",
    degree: int = 1,
) -> Array:
    """Interpolate by radial basis functions and a polynomial.

    Parameters
    ----------
    points : array or Tensor, shape (n, d)
    values : array or Tensor, shape (n, r)
    xi : array or Tensor, shape (m, d)
    smoothing : array or Tensor, shape (n,)
    epsilon : array or Tensor, shape ()
    kernel : str
    degree : int
        -1 for no polynomial.

    Returns
    -------
    array or Tensor, shape (m, r)
    """
    points, values, xi = in_double(points), in_double(values), in_double(xi)
    smoothing, epsilon = in_double(smoothing), in_double(epsilon)
    if is_plain(points, values, xi, smoothing, epsilon):  # SciPy's own bits
        options = {"smoothing": smoothing, "epsilon": epsilon, "kernel": kernel, "degree": degree}
        return scipy.interpolate.RBFInterpolator(points, values, **options)(xi)
    n = points.shape[0]
    exponents = exponents_of(points.shape[1], degree)
    # The result does not depend on where the polynomial's origin is and how it is scaled
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    middle, half = (high + low) / 2, (high - low) / 2
    half = np.where(half == 0, 1.0, half)

    def monomials(x: Array) -> Array:
        return np.prod(((x - middle) / half)[:, None] ** exponents, axis=-1)

    near = KERNELS[kernel](sqeuclidean_pairs(points * epsilon, points * epsilon))
    polynomial = monomials(points)
    terms = exponents.shape[0]
    upper = np.concatenate((near + smoothing * np.eye(n), polynomial), axis=1)
    lower = np.concatenate((polynomial.T, np.zeros((terms, terms))), axis=1)
    right = np.concatenate((values, np.zeros((terms, values.shape[1]))))
    coefficients = np.linalg.solve(np.concatenate((upper, lower)), right)
    far = KERNELS[kernel](sqeuclidean_pairs(xi * epsilon, points * epsilon))
    return np.concatenate((far, monomials(xi)), axis=1) @ coefficients


# What stands for these in SciPy's own classes

THEIRS = scipy.interpolate


@stands_for(
    THEIRS._rbfinterp._build_and_solve_system,  # before SciPy 1.17
    THEIRS._rbfinterp_np._build_and_solve_system,
    THEIRS._rbfinterp_xp._build_and_solve_system,
)
def no_system(*args: Any) -> tuple[None, None, None]:
    """Leave the equations to the call, for what it is called with may be a handle too."""
    return None, None, None


@stands_for(scipy.interpolate.RBFInterpolator.__call__)
def evaluate(self: Any, x: Array) -> Array:
    """Interpolate at points."""
    if self.neighbors is not None:
        raise UnsupportedArgumentError(
            "RBFInterpolator: neighbors= is not supported on handles; leave it out"
        )
    x = in_double(x)
    if x.ndim != 2 or x.shape[1] != self.y.shape[1]:
        raise ValueError(f"Expected the second axis of `x` to have length {self.y.shape[1]}.")
    parts = self.y, self.d, x, self.smoothing, self.epsilon, self.kernel
    value = radial_value(*parts, int(np.max(np.sum(self.powers, axis=1), initial=-1)))
    return value.reshape((x.shape[0], *self.d_shape))


OPPOSITE = frozenset({"linear", "multiquadric", "quintic"})
SCALED = frozenset({"gaussian", "inverse_multiquadric", "multiquadric"})
"""The functions of `Rbf` that are of the other sign, and those that epsilon is for."""


def of_distances(self: Any, x: Array) -> Array:
    """Apply the function to the distances of points, shape (d, n), from those of the data."""
    name = self.function
    kernel = KERNELS.get({"thin_plate": "thin_plate_spline"}.get(name, name))
    if kernel is None or self.norm != "euclidean":
        return self._function(self._call_norm(x, self.xi))
    squares = sqeuclidean_pairs(x.T, self.xi.T)
    value = kernel(squares / self.epsilon**2 if name in SCALED else squares)
    return -value if name in OPPOSITE else value


@stands_for(scipy.interpolate.Rbf.A.fget)
def matrix(self: Any) -> Array:
    """Compute the matrix of the function between all points."""
    self._init_function(np.zeros((1, 1)))  # which gives the function its whole name
    return of_distances(self, self.xi) - np.eye(self.N) * self.smooth


@stands_for(scipy.interpolate.Rbf.__call__)
def evaluate_rbf(self: Any, *args: Array) -> Array:
    """Interpolate at points, given by their coordinates."""
    coordinates = [in_double(joined(each)) for each in args]
    shape = coordinates[0].shape
    if any(each.shape != shape for each in coordinates):
        raise ValueError("Array lengths must be equal")
    x = np.stack([each.reshape((-1,)) for each in coordinates])
    return (of_distances(self, x) @ self.nodes).reshape(shape + self.di.shape[1:])

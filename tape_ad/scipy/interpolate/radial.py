"""Radial basis functions, as `scipy.interpolate.RBFInterpolator` has them, of arrays or handles."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, joined, whole
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial.metrics import sqeuclidean_pairs
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["radial_value"]


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

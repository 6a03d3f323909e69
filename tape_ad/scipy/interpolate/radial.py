"""Radial basis functions, as `scipy.interpolate.RBFInterpolator` has them, of arrays or handles."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double
from tape_ad.extend.rules import Derivation, Entry, overridable
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial.pairs import sqeuclidean_pairs

__all__ = ["RADIAL", "RBFInterpolator", "radial_value"]


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

SCALE_INVARIANT = {"linear", "thin_plate_spline", "cubic", "quintic"}
LEAST_DEGREES = {
    "multiquadric": 0,
    "linear": 0,
    "thin_plate_spline": 1,
    "cubic": 1,
    "quintic": 2,
}


def exponents_of(d: int, degree: int) -> Array:
    """List the exponents of all monomials up to a degree."""
    powers = [
        [chosen.count(i) for i in range(d)]
        for total in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(d), total)
    ]
    return np.array(powers, int).reshape((-1, d))


@overridable
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
    return by_radial_functions(points, values, xi, smoothing, epsilon, kernel, degree)


def by_radial_functions(
    points: Array,
    values: Array,
    xi: Array,
    smoothing: Array,
    epsilon: Array,
    kernel: str = "thin_plate_spline",
    degree: int = 1,
) -> Array:
    """Solve for the coefficients, and evaluate."""
    points, values, xi = in_double(points), in_double(values), in_double(xi)
    smoothing, epsilon = in_double(smoothing), in_double(epsilon)
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


class RBFInterpolator:
    """Interpolation by radial basis functions, as `scipy.interpolate.RBFInterpolator`.

    Parameters
    ----------
    y : array or Tensor, shape (n, d)
        The points.
    d : array or Tensor, shape (n, ...)
        The values there.
    neighbors : int, optional
        For plain arrays.
    smoothing : float, array or Tensor, shape () or (n,)
    kernel : str
    epsilon : float or Tensor, optional
    degree : int, optional

    Examples
    --------
    >>> made = RBFInterpolator(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 4.0]))
    >>> made(np.array([[1.0]])).round(9).tolist()
    [1.0]
    """

    def __init__(
        self,
        y: Array,
        d: Array,
        neighbors: int | None = None,
        smoothing: Any = 0.0,
        kernel: str = "thin_plate_spline",
        epsilon: Any = None,
        degree: int | None = None,
    ) -> None:
        self._host = None
        self.neighbors = neighbors
        if is_plain(y, d, smoothing, epsilon):
            self._host = scipy.interpolate.RBFInterpolator(
                y, d, neighbors, smoothing, kernel, epsilon, degree
            )
        else:
            self._refuse_neighbors()
        self.y, d = in_double(y), in_double(d)
        if self.y.ndim != 2:
            raise ValueError("`y` must be a 2-dimensional array.")
        n = self.y.shape[0]
        if d.shape[0] != n:
            raise ValueError(f"Expected the first axis of `d` to have length {n}.")
        self.d, self.d_shape = d.reshape((n, -1)), d.shape[1:]
        smoothing = in_double(smoothing)
        self.smoothing = np.broadcast_to(smoothing, (n,)) if smoothing.ndim == 0 else smoothing
        self.kernel = kernel.lower()
        if self.kernel not in KERNELS:
            raise ValueError(f"`kernel` must be one of {set(KERNELS)}.")
        if epsilon is None and self.kernel not in SCALE_INVARIANT:
            raise ValueError(
                f"`epsilon` must be specified if `kernel` is not one of {SCALE_INVARIANT}."
            )
        self.epsilon = in_double(1.0 if epsilon is None else epsilon)
        least = LEAST_DEGREES.get(self.kernel, -1)
        self.degree = max(least, 0) if degree is None else int(degree)
        if exponents_of(self.y.shape[1], self.degree).shape[0] > n:
            raise ValueError(f"Too few points for a polynomial of degree {self.degree}.")

    def _refuse_neighbors(self) -> None:
        if self.neighbors is not None:
            raise UnsupportedArgumentError(
                "RBFInterpolator: neighbors= is not supported on handles; leave it out"
            )

    def __call__(self, x: Array) -> Array:
        """Interpolate at points.

        Parameters
        ----------
        x : array or Tensor, shape (m, d)

        Returns
        -------
        array or Tensor, shape (m, ...)
        """
        if self._host is not None and is_plain(x):
            return self._host(x)
        self._refuse_neighbors()
        x = in_double(x)
        if x.ndim != 2 or x.shape[1] != self.y.shape[1]:
            raise ValueError(f"Expected the second axis of `x` to have length {self.y.shape[1]}.")
        value = radial_value(
            self.y, self.d, x, self.smoothing, self.epsilon, self.kernel, self.degree
        )
        return value.reshape((x.shape[0], *self.d_shape))


RADIAL: dict[Any, Entry] = {radial_value: Derivation(by_radial_functions)}

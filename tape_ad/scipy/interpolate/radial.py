"""Radial basis functions, as `scipy.interpolate.RBFInterpolator` has them, of arrays or handles."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, joined
from tape_ad.extend.rules import Derivation, Entry, overridable
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial.metrics import cdist, sqeuclidean_pairs

__all__ = ["RADIAL", "RBFInterpolator", "Rbf", "radial_value"]


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


# `Rbf`, SciPy's older class for radial basis functions, which may hold handles

Kernel = Callable[[Array, Any], Array]

OF_SQUARES: dict[str, Kernel] = {
    "multiquadric": lambda s, epsilon: np.sqrt(s / epsilon**2 + 1),
    "inverse_multiquadric": lambda s, epsilon: 1 / np.sqrt(s / epsilon**2 + 1),
    "gaussian": lambda s, epsilon: np.exp(-s / epsilon**2),
    "linear": lambda s, epsilon: of_roots(np.sqrt)(s),
    "cubic": lambda s, epsilon: of_roots(lambda s: s * np.sqrt(s))(s),
    "quintic": lambda s, epsilon: of_roots(lambda s: s * s * np.sqrt(s))(s),
    "thin_plate": lambda s, epsilon: of_roots(lambda s: s * np.log(s) / 2)(s),
}
"""The functions, of the square of a distance, so that they are smooth where it is 0."""

SHORT = {
    "inverse": "inverse_multiquadric",
    "inverse multiquadric": "inverse_multiquadric",
    "thin-plate": "thin_plate",
}


class Rbf:
    """Interpolation by radial basis functions, as `scipy.interpolate.Rbf`.

    Parameters
    ----------
    *args : array or Tensor
        The coordinates of the points, and the values there.
    function : str or callable
        As in SciPy; one of one's own, in NumPy, of an array of distances.
    epsilon, smooth : float or Tensor
    norm : str or callable
    mode : str
        "1-D", or "N-D" for several values at each point.

    Examples
    --------
    >>> import tape_ad as ta
    >>> values = ta.ComputationRecord().tensor([0.0, 1.0, 4.0])
    >>> made = ta.scipy.interpolate.Rbf([0.0, 1.0, 2.0], values, function="linear")
    >>> made(1.5).grad().wrt(values).round(9)
    array([0. , 0.5, 0.5])
    """

    def __init__(self, *args: Array, **kwargs: Any) -> None:
        args = tuple(map(joined, args))
        named = {key: each for key, each in kwargs.items() if not callable(each)}
        self._host = None
        if is_plain(*args, *named.values()):
            self._host = scipy.interpolate.Rbf(*args, **kwargs)
        self.mode = kwargs.pop("mode", "1-D")
        if self.mode not in ("1-D", "N-D"):
            raise ValueError("Mode has to be 1-D or N-D.")
        self.xi = np.stack([in_double(each).reshape((-1,)) for each in args[:-1]])
        di = in_double(args[-1])
        self.di = di if self.mode == "N-D" else di.reshape((-1,))
        self.N = self.xi.shape[1]
        if self.di.shape[0] != self.N:
            raise ValueError("All arrays must be equal length.")
        self.norm, self.smooth = kwargs.pop("norm", "euclidean"), kwargs.pop("smooth", 0.0)
        self.epsilon = kwargs.pop("epsilon", None)
        if self.epsilon is None:
            edges = np.max(self.xi, axis=1) - np.min(self.xi, axis=1)
            edges = edges[edges != 0]
            self.epsilon = (np.prod(edges) / self.N) ** (1.0 / edges.size)
        self.function = kwargs.pop("function", "multiquadric")
        if isinstance(self.function, str):
            self.function = SHORT.get(self.function.lower(), self.function.lower())
            if self.function not in OF_SQUARES:
                raise ValueError(
                    f"function must be a callable or one of {', '.join(sorted(OF_SQUARES))}"
                )
        for name, value in kwargs.items():  # for a function of one's own
            setattr(self, name, value)
        right = self.di.reshape((self.N, -1))
        self.nodes = np.linalg.solve(self.A, right).reshape(self.di.shape)

    @property
    def A(self) -> Array:  # noqa: N802 - SciPy's name
        """The matrix of the function between all points."""
        return self._of_distances(self.xi) - np.eye(self.N) * self.smooth

    def _of_distances(self, x: Array) -> Array:
        """Apply the function to the distances of points, shape (d, n), from those of the data."""
        own = callable(self.function)
        if self.norm == "euclidean" and not own:
            return OF_SQUARES[self.function](sqeuclidean_pairs(x.T, self.xi.T), self.epsilon)
        distances = cdist(x.T, self.xi.T, self.norm)
        if not own:
            return OF_SQUARES[self.function](distances**2, self.epsilon)
        if self.function.__code__.co_argcount == 2:
            return self.function(self, distances)
        return self.function(distances)

    def __call__(self, *args: Array) -> Array:
        """Interpolate at points, given by their coordinates."""
        args = tuple(map(joined, args))
        if self._host is not None and is_plain(*args):
            return self._host(*args)
        coordinates = [in_double(each) for each in args]
        shape = coordinates[0].shape
        if any(each.shape != shape for each in coordinates):
            raise ValueError("Array lengths must be equal")
        x = np.stack([each.reshape((-1,)) for each in coordinates])
        return (self._of_distances(x) @ self.nodes).reshape(shape + self.di.shape[1:])

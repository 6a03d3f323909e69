"""`Rbf`, SciPy's older class for radial basis functions, which may hold handles."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.extend.arrays import Array, in_double
from tape_ad.scipy.counterparts import joined
from tape_ad.scipy.interpolate.radial import of_roots
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial.pairs import cdist, sqeuclidean_pairs

__all__ = ["Rbf"]

Kernel = Callable[[Array, Any], Array]

KERNELS: dict[str, Kernel] = {
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
            if self.function not in KERNELS:
                raise ValueError(
                    f"function must be a callable or one of {', '.join(sorted(KERNELS))}"
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
            return KERNELS[self.function](sqeuclidean_pairs(x.T, self.xi.T), self.epsilon)
        distances = cdist(x.T, self.xi.T, self.norm)
        if not own:
            return KERNELS[self.function](distances**2, self.epsilon)
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

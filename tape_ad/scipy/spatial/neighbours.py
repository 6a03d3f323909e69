"""Distances by the functions of `scipy.spatial` itself: matrices of them, neighbours, shapes."""

from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double
from tape_ad.extend.rules import Entry, constants
from tape_ad.scipy.counterparts import counterpart, takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial import metrics

__all__ = ["NEIGHBOURS", "KDTree", "distance_matrix", "minkowski_distance", "minkowski_distance_p"]

NEIGHBOURS: dict[Any, Entry] = {}

# SciPy 1.18 deprecates its own three of these, so that they are not called


@counterpart(NEIGHBOURS, None, "x y p")
def minkowski_distance(x: Array, y: Array, p: Any = 2.0) -> Array:
    """Measure the difference on the last axis, as `scipy.spatial.minkowski_distance` does.

    Parameters
    ----------
    x, y : array or Tensor, shape (..., d)
    p : float or Tensor
        The order of the norm.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> float(minkowski_distance([0.0, 0.0], [3.0, 4.0]))
    5.0
    """
    return metrics.minkowski(in_double(x), in_double(y), p)


@counterpart(NEIGHBOURS, None, "x y p")
def minkowski_distance_p(x: Array, y: Array, p: Any = 2.0) -> Array:
    """Compute the power of a distance that takes no root, as SciPy's function does.

    Parameters
    ----------
    x, y, p
        As in `minkowski_distance`.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> float(minkowski_distance_p([0.0, 0.0], [3.0, 4.0]))
    25.0
    """
    d = np.abs(in_double(x) - in_double(y))
    if not hasattr(p, "__array_function__") and p in (1, np.inf):
        return np.add.reduce(d, axis=-1) if p == 1 else np.max(d, axis=-1)
    return np.add.reduce(d**p, axis=-1)


@counterpart(NEIGHBOURS, None, "x y p")
def distance_matrix(x: Array, y: Array, p: Any = 2.0, threshold: int = 1000000) -> Array:
    """Measure the distance of each point to each of others, as SciPy's function does.

    Parameters
    ----------
    x : array or Tensor, shape (m, d)
    y : array or Tensor, shape (n, d)
    p : float or Tensor
        The order of the norm.
    threshold : int
        Ignored.

    Returns
    -------
    array or Tensor, shape (m, n)

    Examples
    --------
    >>> distance_matrix([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """
    x, y = in_double(x), in_double(y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(
            f"x contains {x.shape[1]}-dimensional vectors but y contains {y.shape[1]}-dimensional "
            "vectors"
        )
    return metrics.minkowski(x[:, None], y[None], p)


@takes_lists
def nearest_neighbours(
    data: Array, x: Array, tree: dict[str, Any], options: dict[str, Any]
) -> Array:
    """Number the nearest points of a set to others; one more than there are stands for none."""
    return scipy.spatial.KDTree(data, **tree).query(x, **options)[1]


class KDTree:
    """Nearest points, as `scipy.spatial.KDTree` finds them, and their distances from handles.

    Parameters
    ----------
    data : array or Tensor, shape (n, d)
    options
        SciPy's.

    Notes
    -----
    Which points are near is SciPy's choice, and constant; the distances are smooth. With `boxsize`,
    that is to the nearest image of a point.

    Examples
    --------
    >>> distance, number = KDTree([[0.0, 0.0], [9.0, 9.0]]).query([3.0, 4.0])
    >>> float(distance), int(number)
    (5.0, 0)
    """

    def __init__(self, data: Array, **options: Any) -> None:
        self._host = scipy.spatial.KDTree(data, **options) if is_plain(data) else None
        self._options = options
        self.data = in_double(data)
        self.n, self.m = self.data.shape

    def query(
        self,
        x: Array,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: int = 1,
    ) -> tuple[Array, Array]:
        """Find the nearest points of the tree, and the distances to them.

        Parameters
        ----------
        x : array or Tensor, shape (..., d)
        k : int or list of int
            How many, or which.
        eps, p, distance_upper_bound, workers
            As in SciPy.

        Returns
        -------
        tuple of array
            The distances, inf where there is none, and the numbers of the points.
        """
        if self._host is not None and is_plain(x):
            return self._host.query(x, k, eps, p, distance_upper_bound, workers)  # type: ignore[no-any-return]  # a tuple
        x = in_double(x)
        options = {
            "k": k,
            "eps": eps,
            "p": p,
            "distance_upper_bound": distance_upper_bound,
            "workers": workers,
        }
        numbers = nearest_neighbours(self.data, x, self._options, options)
        several = np.ndim(numbers) == x.ndim
        found = numbers < self.n
        near = self.data[np.where(found, numbers, 0)]
        apart = (x[..., None, :] if several else x) - near
        if (box := self._options.get("boxsize")) is not None:
            periods = np.broadcast_to(np.asarray(box, float), (self.m,))
            apart = apart - periods * np.rint(apart / np.where(periods > 0, periods, np.inf))
        distances = metrics.minkowski(apart, np.zeros(self.m), p)
        return np.where(found, distances, np.inf), numbers

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(scipy.spatial.KDTree, name):
            raise AttributeError(f"KDTree has no attribute {name!r}")
        if self._host is None:
            raise UnsupportedArgumentError(
                f"KDTree.{name} takes no handles; make the tree of t.data, for it gives numbers of "
                "points, or write query"
            )
        return getattr(self._host, name)


NEIGHBOURS.update(constants(nearest_neighbours))

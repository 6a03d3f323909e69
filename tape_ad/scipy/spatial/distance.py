"""Distances: functions of `scipy.spatial.distance` on handles.

Metrics of vectors are those of `cdist` on one pair. Those of truth values, and what tells sizes,
are SciPy's own code.

Examples
--------
>>> import tape_ad as ta
>>> points = ta.ComputationRecord().tensor([[0.0, 0.0], [3.0, 4.0]])
>>> ta.scipy.spatial.distance.pdist(points).sum().grad().wrt(points)
array([[-0.6, -0.8], [ 0.6,  0.8]])
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance

from tape_ad import differentiable
from tape_ad.extend.arrays import Array, as_array, in_double
from tape_ad.extend.rules import Derivation, Entry, constants
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.faces import face
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.spatial import metrics

host = scipy.spatial.distance

cdist, pdist = metrics.cdist, metrics.pdist
is_valid_dm, squareform, yule = map(takes_lists, (host.is_valid_dm, host.squareform, host.yule))
counts = differentiable(host._nbool_correspond_all)

METRICS: dict[str, Any] = {
    name: takes_lists(getattr(host, name)) for name in metrics.METRICS if getattr(host, name)
}


def vector(u: Array) -> Array:
    """Check a vector, as SciPy does."""
    u = as_array(u)
    if u.ndim != 1:
        raise ValueError("Input vector should be 1-D.")
    return u


def of_vectors(metric: Callable[..., Array]) -> Derivation:
    """Make the rule for a metric on the last axes of arrays."""
    if metric is metrics.jensenshannon:
        return Derivation(divergence_root)
    doubles = metric in (metrics.braycurtis, metrics.canberra)

    def compute(u: Array, v: Array, *args: Any, **kwargs: Any) -> Array:
        u, v = vector(u), vector(v)
        if doubles and v.dtype != np.float64:  # as SciPy has the second vector
            v = v.astype(np.float64)
        return metric(u, v, *args, **kwargs)

    return Derivation(compute)


def divergence_root(
    p: Array, q: Array, base: Any = None, *, axis: int = 0, keepdims: bool = False
) -> Array:
    """Compute the distance of probabilities, along another axis than the metric's."""
    return metrics.jensenshannon(as_array(p), as_array(q), base, axis=axis, keepdims=keepdims)


def yule_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Compare the two ways to differ with those of agreeing; SciPy gives 0 without any slope."""
    weights = None if w is None else metrics.weights_of(w)
    neither, second, first, both = counts(vector(u), vector(v), w=weights)
    crossed = second * first
    whole = both * neither + crossed
    return 2.0 * crossed / np.where(whole == 0, 1.0, whole)


# Sets of points, and matrices of distances


@takes_lists
def directed_hausdorff(u: Array, v: Array, *seed: Any, **options: Any) -> tuple[Array, int, int]:
    """Compute how far a set is from another, as `scipy.spatial.distance.directed_hausdorff` does.

    Parameters
    ----------
    u : array or Tensor, shape (m, d)
    v : array or Tensor, shape (n, d)
    seed, options
        SciPy's random numbers, which do not change the result.

    Returns
    -------
    tuple
        The distance, and the numbers of the two points that it is the distance of; the derivative
        is theirs alone.

    Examples
    --------
    >>> directed_hausdorff(np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]]))
    (1.0, 1, 1)
    """
    writeable = np.array(u), np.array(v)  # which SciPy 1.14 demands
    distance, i, j = host.directed_hausdorff(*writeable, *seed, **options)
    return float(distance), int(i), int(j)


@takes_lists
def hausdorff_pair(u: Array, v: Array) -> tuple[int, int]:
    """Find the point of the first set that is farthest from the second, and its nearest there."""
    return directed_hausdorff(u, v)[1:]


def directed_hausdorff_derivation(u: Array, v: Array, *seed: Any, **options: Any) -> Any:
    """Measure the distance of the two points that SciPy finds."""
    u, v = in_double(u), in_double(v)
    i, j = hausdorff_pair(u, v)
    return metrics.euclidean(u[i], v[j]), i, j


def squareform_derivation(X: Array, force: str = "no", checks: bool = True) -> Array:
    """Pick the elements of one form out of the other; of a matrix, those above the diagonal."""
    x = as_array(X)
    if checks and x.ndim == 2:
        is_valid_dm(x, throw=True, name="X")
    numbers = np.reshape(np.arange(1.0, x.size + 1), x.shape)
    places = host.squareform(numbers, force, checks=False).astype(np.intp)
    return np.concatenate((np.zeros(1, x.dtype), x.reshape(-1)))[places]


VECTORS: dict[Any, Entry] = {
    **{METRICS[name]: of_vectors(metrics.METRICS[name]) for name in METRICS},
    directed_hausdorff: Derivation(directed_hausdorff_derivation),
    squareform: Derivation(squareform_derivation),
    yule: Derivation(yule_derivation),
    **constants(hausdorff_pair, is_valid_dm),
}

__getattr__, __dir__ = face(__name__, METRICS)

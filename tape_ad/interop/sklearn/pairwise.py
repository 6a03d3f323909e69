"""Distances and kernels of all pairs of points: functions of `sklearn.metrics.pairwise` on handles.

They need scikit-learn, as all of `tape_ad.interop.sklearn` does.

Examples
--------
>>> import tape_ad as ta
>>> points = ta.ComputationRecord().tensor([[0.0, 0.0], [3.0, 4.0]])
>>> distances = ta.interop.sklearn.pairwise.euclidean_distances(points, [[0.0, 1.0]])
>>> distances.sum().grad().wrt(points).round(3)
array([[ 0.   , -1.   ],
       [ 0.707,  0.707]])
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import scipy as ours
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array
from tape_ad.extend.packages import listed
from tape_ad.interop.sklearn.counterparts import numbers, published

__all__: list[str] = []


def pair(X: Any, Y: Any) -> tuple[Array, Array]:
    """Give both sets of points, the same where there is one."""
    if Y is None:
        (x,) = numbers(X)
        return x, x
    x, y = numbers(X, Y)
    return x, y


def distances(X: Any, Y: Any, metric: str, **options: Any) -> Array:
    """Compute the distances that SciPy has under a name, and exactly 0 from each point to itself.

    So that has no slope there, as a distance of two points which happen to be equal would have.
    """
    x, y = pair(X, Y)
    spatial = ours.spatial.distance
    if y is x or Y is X:
        return spatial.squareform(spatial.pdist(x, metric, **options))
    return spatial.cdist(x, y, metric, **options)


def _euclidean_distances(
    X: Any, Y: Any, squared: bool, X_norm_squared: Any = None, Y_norm_squared: Any = None
) -> Any:
    """Compute the lengths of the differences."""
    for name, given in (("X_norm_squared", X_norm_squared), ("Y_norm_squared", Y_norm_squared)):
        if given is not None:
            raise UnsupportedArgumentError(
                f"tape_ad.interop.sklearn.pairwise.euclidean_distances: {name}= depends on the "
                "points, and is not supported with handles; leave it out"
            )
    dtype = np.result_type(*(each.dtype for each in pair(X, Y)))
    return distances(X, Y, "sqeuclidean" if squared else "euclidean").astype(dtype)


def _manhattan_distances(X: Any, Y: Any) -> Any:
    """Sum up the absolute differences."""
    return distances(X, Y, "cityblock")


def of_length_one(points: Array) -> Array:
    """Divide points by their lengths, but those at the origin."""
    lengths = np.sqrt(np.sum(points * points, axis=1, keepdims=True))
    return points / np.where(lengths == 0, 1, lengths)


def _cosine_similarity(X: Any, Y: Any) -> Any:
    """Compute the cosines of the angles between the points."""
    x, y = map(of_length_one, pair(X, Y))
    return x @ y.T


def _cosine_distances(X: Any, Y: Any) -> Any:
    """Compute one less the cosines, and exactly 0 from each point to itself."""
    distances = 1 - _cosine_similarity(X, Y)
    if Y is None or X is Y:
        return np.where(np.eye(len(distances), dtype=bool), 0, distances)
    return distances


def _paired_euclidean_distances(X: Any, Y: Any) -> Any:
    """Compute the lengths of the differences, row by row."""
    x, y = pair(X, Y)
    return np.linalg.norm(x - y, axis=1)


def _paired_manhattan_distances(X: Any, Y: Any) -> Any:
    """Sum up the absolute differences, row by row."""
    x, y = pair(X, Y)
    return np.sum(np.abs(x - y), axis=1)


def _paired_cosine_distances(X: Any, Y: Any) -> Any:
    """Compute one less the cosines, row by row."""
    x, y = map(of_length_one, pair(X, Y))
    return 0.5 * np.sum((x - y) ** 2, axis=1)


def _linear_kernel(X: Any, Y: Any) -> Any:
    """Compute the products of the points."""
    x, y = pair(X, Y)
    return x @ y.T


def factor(X: Any, gamma: Any) -> Any:
    """Give what a kernel multiplies by, one over the number of features if nothing is given."""
    return 1.0 / np.shape(X)[1] if gamma is None else gamma


def _polynomial_kernel(X: Any, Y: Any, degree: Any, gamma: Any, coef0: Any) -> Any:
    """Compute a power of the products."""
    return (factor(X, gamma) * _linear_kernel(X, Y) + coef0) ** degree


def _sigmoid_kernel(X: Any, Y: Any, gamma: Any, coef0: Any) -> Any:
    """Compute the hyperbolic tangent of the products."""
    return np.tanh(factor(X, gamma) * _linear_kernel(X, Y) + coef0)


def _rbf_kernel(X: Any, Y: Any, gamma: Any) -> Any:
    """Compute the bell curve of the distances."""
    return np.exp(-factor(X, gamma) * _euclidean_distances(X, Y, True))


def _laplacian_kernel(X: Any, Y: Any, gamma: Any) -> Any:
    """Compute the exponential of the sums of absolute differences."""
    return np.exp(-factor(X, gamma) * _manhattan_distances(X, Y))


def _additive_chi2_kernel(X: Any, Y: Any) -> Any:
    """Sum up the squares of differences over sums, with a minus."""
    x, y = pair(X, Y)
    total, difference = x[:, None] + y, x[:, None] - y
    return -np.sum(difference**2 / np.where(total == 0, 1, total), axis=2)


def _chi2_kernel(X: Any, Y: Any, gamma: Any) -> Any:
    """Compute the exponential of that kernel."""
    return np.exp(gamma * _additive_chi2_kernel(X, Y))


def by_name(group: str, names: dict[str, str]) -> Callable[..., Any]:
    """Make the function that finds one of those above by the name of its metric."""

    def compute(X: Any, Y: Any, metric: Any, **given: Any) -> Any:
        name = names.get(metric) if isinstance(metric, str) else None
        options = {k: given[k] for k in given if k not in HOW}
        if group == "pairwise_distances" and metric in OTHERS:
            return distances(X, Y, metric, **options)
        if name is None:
            raise UnsupportedArgumentError(
                f"tape_ad.interop.sklearn.pairwise.{group}: metric={metric!r} is not supported on "
                "handles; "
                f"there are {', '.join(names)}, and those of tape_ad.scipy.spatial.distance.cdist"
            )
        return functions()[name](X, Y, **options)

    return compute


HOW = ("n_jobs", "filter_params", "ensure_all_finite", "force_all_finite")
"""Arguments that decide how something is computed, and not what."""

DISTANCES = {
    **dict.fromkeys(("euclidean", "l2"), "euclidean_distances"),
    **dict.fromkeys(("manhattan", "cityblock", "l1"), "manhattan_distances"),
    "cosine": "cosine_distances",
}
OTHERS = ("braycurtis", "canberra", "chebyshev", "correlation", "minkowski", "sqeuclidean")
KERNELS = {
    **{name: f"{name}_kernel" for name in ("linear", "rbf", "laplacian", "sigmoid", "chi2")},
    **dict.fromkeys(("poly", "polynomial"), "polynomial_kernel"),
    "additive_chi2": "additive_chi2_kernel",
    "cosine": "cosine_similarity",
}

FORMULAS: dict[str, Callable[..., Any]] = {
    each.__name__[1:]: each
    for each in (
        *(_euclidean_distances, _manhattan_distances, _cosine_similarity, _cosine_distances),
        *(_paired_euclidean_distances, _paired_manhattan_distances, _paired_cosine_distances),
        *(_linear_kernel, _polynomial_kernel, _sigmoid_kernel, _rbf_kernel, _laplacian_kernel),
        *(_additive_chi2_kernel, _chi2_kernel),
    )
}
FORMULAS |= {
    "pairwise_distances": by_name("pairwise_distances", DISTANCES),
    "pairwise_kernels": by_name("pairwise_kernels", KERNELS),
}

SMOOTH = ("X", "Y", "degree", "gamma", "coef0")
"""What may be a handle, where a formula takes it."""


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Give the functions by their names."""
    smooth = {"pairwise_kernels": " ".join(SMOOTH)}
    for name, formula in FORMULAS.items():
        taken = inspect.signature(formula).parameters
        smooth.setdefault(name, " ".join(each for each in SMOOTH if each in taken))
    return published("sklearn.metrics.pairwise", smooth, FORMULAS)


def __getattr__(name: str) -> Any:
    """Give a function, for which scikit-learn is imported when the first is asked for."""
    if name in FORMULAS and name in functions():
        return functions()[name]
    raise AttributeError(f"tape_ad.interop.sklearn.pairwise has no {name}")


__dir__ = listed([*__all__, *FORMULAS])

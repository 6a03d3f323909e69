"""Distances between two vectors, and the two forms of a matrix of distances.

SciPy's own functions are what is called for plain arrays.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array, in_double, primal
from tape_ad.extend.rules import Derivation, Entry, constants
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.spatial import metrics
from tape_ad.scipy.spatial.metrics import weights_of

__all__ = [
    "VECTORS",
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "dice",
    "directed_hausdorff",
    "euclidean",
    "hamming",
    "hausdorff_pair",
    "is_valid_dm",
    "is_valid_y",
    "jaccard",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "num_obs_dm",
    "num_obs_y",
    "rogerstanimoto",
    "russellrao",
    "seuclidean",
    "sokalsneath",
    "sqeuclidean",
    "squareform",
    "yule",
]

host = scipy.spatial.distance

braycurtis = takes_lists(host.braycurtis)
canberra = takes_lists(host.canberra)
chebyshev = takes_lists(host.chebyshev)
cityblock = takes_lists(host.cityblock)
correlation = takes_lists(host.correlation)
cosine = takes_lists(host.cosine)
dice = takes_lists(host.dice)
euclidean = takes_lists(host.euclidean)
hamming = takes_lists(host.hamming)
is_valid_dm = takes_lists(host.is_valid_dm)


@takes_lists
@functools.wraps(host.jaccard)
def jaccard(*args: Any, **kwargs: Any) -> Any:
    """Compute the Jaccard dissimilarity of two boolean vectors, with SciPy's own docstring."""
    return np.float64(host.jaccard(*args, **kwargs))  # of no non-zeros SciPy 1.14 gives an int


jensenshannon = takes_lists(host.jensenshannon)
mahalanobis = takes_lists(host.mahalanobis)
minkowski = takes_lists(host.minkowski)
rogerstanimoto = takes_lists(host.rogerstanimoto)
russellrao = takes_lists(host.russellrao)
seuclidean = takes_lists(host.seuclidean)
sokalsneath = takes_lists(host.sokalsneath)
sqeuclidean = takes_lists(host.sqeuclidean)
squareform = takes_lists(host.squareform)
yule = takes_lists(host.yule)


def vector(u: Array) -> Array:
    """Check a vector, as SciPy does."""
    u = as_array(u)
    if u.ndim != 1:
        raise ValueError("Input vector should be 1-D.")
    return u


def of_vectors(metric: Callable[..., Array]) -> Derivation:
    """Make the rule for a metric on the last axes of arrays."""
    return Derivation(lambda u, v, *args, **kwargs: metric(vector(u), vector(v), *args, **kwargs))


def of_doubles(metric: Callable[..., Array]) -> Derivation:
    """Make the rule for a metric of which SciPy takes the second vector in double precision."""

    def compute(u: Array, v: Array, w: Array | None = None) -> Array:
        u, v = vector(u), vector(v)
        return metric(u, v if v.dtype == np.float64 else v.astype(np.float64), w)

    return Derivation(compute)


def jensenshannon_derivation(
    p: Array, q: Array, base: Any = None, *, axis: int = 0, keepdims: bool = False
) -> Array:
    """Compute what `jensenshannon` does, which has another axis than the metric."""
    return metrics.jensenshannon(as_array(p), as_array(q), base, axis=axis, keepdims=keepdims)


# Metrics of truth values, which SciPy also takes for numbers between 0 and 1


def hamming_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Add up the weights of the elements that differ: there is no slope but in the weights."""
    apart = np.not_equal(vector(u), vector(v))
    if w is None:
        return np.mean(apart)
    w = weights_of(w)
    return np.add.reduce(np.where(apart, w, 0.0)) / np.add.reduce(w)


def jaccard_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Divide the weight of the elements of which one is 0 by that of those that are not both."""
    first, second = np.not_equal(vector(u), 0), np.not_equal(vector(v), 0)
    if w is None:
        return host.jaccard(first, second)
    w = weights_of(w)
    some = np.add.reduce(np.where(first | second, w, 0.0))
    return np.add.reduce(np.where(first ^ second, w, 0.0)) / np.where(some == 0, 1, some)


def counts(u: Array, v: Array, w: Array | None) -> tuple[Array, Array, Array, Array]:
    """Weigh where neither vector is 1, the second one only, the first one only, and both."""
    u, v = (x if x.dtype.kind == "f" else x.astype(np.float64) for x in (vector(u), vector(v)))
    pairs = (1.0 - u) * (1.0 - v), (1.0 - u) * v, u * (1.0 - v), u * v
    if w is not None:
        w = weights_of(w)
        pairs = tuple(pair * w for pair in pairs)
    neither, second, first, both = (np.add.reduce(pair) for pair in pairs)
    return neither, second, first, both


def dice_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Divide the weight of where one vector is 1 by that of where any is, both counting twice."""
    _, second, first, both = counts(u, v, w)
    return (first + second) / (2.0 * both + first + second)


def rogerstanimoto_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Divide twice the weight of where the vectors differ by the sum of it and the rest."""
    neither, second, first, both = counts(u, v, w)
    return 2.0 * (first + second) / (both + neither + 2.0 * (first + second))


def russellrao_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Compute the share of the weight where not both vectors are 1."""
    both = counts(u, v, w)[3]
    n = float(len(u)) if w is None else np.add.reduce(weights_of(w))
    return (n - both) / n


def sokalsneath_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Divide twice the weight of where the vectors differ by it and that of where both are 1."""
    _, second, first, both = counts(u, v, w)
    whole = both + 2.0 * (first + second)
    if primal(whole) == 0:
        raise ValueError(
            "Sokal-Sneath dissimilarity is not defined for vectors that are entirely false."
        )
    return 2.0 * (first + second) / whole


def yule_derivation(u: Array, v: Array, w: Array | None = None) -> Array:
    """Compare the product of the weights of the two ways to differ with that of agreeing."""
    neither, second, first, both = counts(u, v, w)
    crossed = second * first
    straight = both * neither + crossed
    return 2.0 * crossed / np.where(crossed == 0, 1.0, straight)


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


def is_valid_y(
    y: Array, warning: bool = False, throw: bool = False, name: str | None = None
) -> bool:
    """Tell whether a vector has as many elements as a set has pairs; see SciPy."""
    valid: bool = host.is_valid_y(np.zeros(as_array(y).shape), warning, throw, name)
    return valid


def num_obs_y(Y: Array) -> int:  # noqa: N803 - SciPy's name
    """Count the points that a vector of distances is of, as SciPy does."""
    return int(host.num_obs_y(np.zeros(as_array(Y).shape)))


def num_obs_dm(d: Array) -> int:
    """Count the points that a matrix of distances is of, as SciPy does."""
    d = as_array(d)
    is_valid_dm(d, tol=np.inf, throw=True, name="d")
    return int(d.shape[0])


def squareform_derivation(X: Array, force: str = "no", checks: bool = True) -> Array:  # noqa: N803 - SciPy's name
    """Pick the elements of one form out of the other; of a matrix, those above the diagonal."""
    x = np.atleast_1d(as_array(X))
    if x.ndim == 1 and force.lower() != "tovector":
        n = round((1 + (1 + 8 * x.shape[0]) ** 0.5) / 2)
        if n * (n - 1) != 2 * x.shape[0]:
            raise ValueError(
                "Incompatible vector size. It must be a binomial coefficient n choose 2 for some "
                "integer n >= 2."
            )
        places = np.zeros((n, n), np.intp)
        places[np.triu_indices(n, 1)] = np.arange(1, x.shape[0] + 1)
        return np.concatenate((np.zeros(1, x.dtype), x))[places + places.T]
    if x.ndim == 2 and force.lower() != "tomatrix":
        if x.shape[0] != x.shape[1]:
            raise ValueError("The matrix argument must be square.")
        if checks:
            is_valid_dm(x, throw=True, name="X")
        return x[np.triu_indices(x.shape[0], 1)]
    raise ValueError(f"squareform with force={force!r} does not take an array of shape {x.shape}")


VECTORS: dict[Any, Entry] = {
    braycurtis: of_doubles(metrics.braycurtis),
    canberra: of_doubles(metrics.canberra),
    chebyshev: of_vectors(metrics.chebyshev),
    cityblock: of_vectors(metrics.cityblock),
    correlation: of_vectors(metrics.correlation),
    cosine: of_vectors(metrics.cosine),
    dice: Derivation(dice_derivation),
    directed_hausdorff: Derivation(directed_hausdorff_derivation),
    euclidean: of_vectors(metrics.euclidean),
    hamming: Derivation(hamming_derivation),
    jaccard: Derivation(jaccard_derivation),
    jensenshannon: Derivation(jensenshannon_derivation),
    mahalanobis: of_vectors(metrics.mahalanobis),
    minkowski: of_vectors(metrics.minkowski),
    rogerstanimoto: Derivation(rogerstanimoto_derivation),
    russellrao: Derivation(russellrao_derivation),
    seuclidean: of_vectors(metrics.seuclidean),
    sokalsneath: Derivation(sokalsneath_derivation),
    sqeuclidean: of_vectors(metrics.sqeuclidean),
    squareform: Derivation(squareform_derivation),
    yule: Derivation(yule_derivation),
    **constants(hausdorff_pair, is_valid_dm),
}

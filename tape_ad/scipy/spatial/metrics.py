"""Distances between vectors on the last axes of two arrays, in NumPy calls that record themselves.

The gradient of a distance that is a root is 0 where the points are equal, as that of a norm is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance
import scipy.special

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, within
from tape_ad.extend.rules import Entry, overridable, quiet, rule

__all__ = ["METRICS", "ROOTS", "canonical_name", "half_inverse", "root", "weights_of"]


@overridable
def root(x: Array) -> Array:
    """Take the square root of what is a sum of squares: where that is 0, so is its gradient.

    Parameters
    ----------
    x : array or Tensor

    Returns
    -------
    array or Tensor, shape of `x`
    """
    return np.sqrt(x)


@overridable
def half_inverse(x: Array) -> Array:
    """Divide 1/2 by numbers, where 1/0 is 0; but its slope there is infinite."""
    return np.where(np.equal(x, 0), 0, 0.5 / np.where(np.equal(x, 0), 1, x)).astype(x.dtype)


def total(x: Array) -> Array:
    """Add up along the last axis."""
    return np.add.reduce(x, axis=-1)


def weights_of(w: Array) -> Array:
    """Check weights, as SciPy does.

    Raises
    ------
    ValueError
        When one is negative.
    """
    w = as_array(w)
    w = w if w.dtype == np.float64 else w.astype(np.float64)
    if w.ndim != 1:
        raise ValueError("Input vector should be 1-D.")
    if np.any(w < 0):
        raise ValueError("Input weights should be all non-negative")
    return w


def sqeuclidean(u: Array, v: Array, w: Array | None = None) -> Array:
    """Add up the squares of the differences."""
    d = u - v
    return total(d * d if w is None else d * (weights_of(w) * d))


def euclidean(u: Array, v: Array, w: Array | None = None) -> Array:
    """Measure the length of the difference."""
    if w is None:
        return np.linalg.norm(u - v, axis=-1)
    return root(sqeuclidean(u, v, w))


def minkowski(u: Array, v: Array, p: Any = 2, w: Array | None = None) -> Array:
    """Measure the difference by the norm of an order."""
    if p <= 0:
        raise ValueError("p must be greater than 0")
    if not hasattr(p, "__array_function__"):
        if p == 2:
            return euclidean(u, v, w)
        if np.isinf(p):
            return chebyshev(u, v, w)
        if w is None:
            return np.linalg.norm(u - v, ord=p, axis=-1)
    d = np.abs(u - v)
    powers = total(d**p if w is None else weights_of(w) * d**p)
    apart = powers != 0
    return np.where(apart, np.where(apart, powers, 1.0) ** (1 / p), 0.0)


def cityblock(u: Array, v: Array, w: Array | None = None) -> Array:
    """Add up the magnitudes of the differences."""
    d = np.abs(u - v)
    return total(d if w is None else weights_of(w) * d)


def chebyshev(u: Array, v: Array, w: Array | None = None) -> Array:
    """Find the largest magnitude of the differences; those of weight 0 do not count."""
    d = np.abs(u - v)
    return np.max(d if w is None else np.where(weights_of(w) > 0, d, 0.0), axis=-1)


def seuclidean(u: Array, v: Array, V: Array) -> Array:  # noqa: N803 - SciPy's name
    """Measure the difference with a variance for each element."""
    variances = as_array(V)
    return euclidean(u, v, 1 / variances.astype(np.float64))


def mahalanobis(u: Array, v: Array, VI: Array) -> Array:  # noqa: N803 - SciPy's name
    """Measure the difference with the inverse of a covariance."""
    d, inverse = u - v, np.atleast_2d(as_array(VI))
    return root(total((d[..., None, :] @ inverse)[..., 0, :] * d))


def cosine(u: Array, v: Array, w: Array | None = None) -> Array:
    """Compute 1 less the cosine of the angle between the vectors."""
    return correlation(u, v, w, centered=False)


def correlation(u: Array, v: Array, w: Array | None = None, centered: bool = True) -> Array:
    """Compute 1 less the correlation of the vectors."""
    if u.dtype.kind == "c" or v.dtype.kind == "c":
        raise TypeError("`u` and `v` must be real.")
    if w is not None:
        w = weights_of(w)
        w = w / np.add.reduce(w)
    if centered:
        means = [
            np.mean(x, axis=-1, keepdims=True) if w is None else total(x * w)[..., None]
            for x in (u, v)
        ]
        u, v = u - means[0], v - means[1]
    uw, vw = (u, v) if w is None else (u * w, v * w)
    lengths = np.sqrt(total(u * uw) * total(v * vw))
    return within(1.0 - total(u * vw) / lengths, 0.0, 2.0)


def canberra(u: Array, v: Array, w: Array | None = None) -> Array:
    """Add up the differences, each relative to the magnitudes; 0 / 0 counts as 0."""
    size = np.abs(u) + np.abs(v)
    shares = np.abs(u - v) / np.where(size == 0, 1, size)
    return total(shares if w is None else weights_of(w) * shares)


def braycurtis(u: Array, v: Array, w: Array | None = None) -> Array:
    """Divide the sum of the differences by that of the sums."""
    parts, whole = np.abs(u - v), np.abs(u + v)
    if w is not None:
        w = weights_of(w)
        parts, whole = w * parts, w * whole
    return total(parts) / total(whole)


def jensenshannon(
    p: Array, q: Array, base: Any = None, *, axis: int = -1, keepdims: bool = False
) -> Array:
    """Compute the distance of probabilities, which are made to add up to 1 first."""
    p = p / np.add.reduce(p, axis=axis, keepdims=True)
    q = q / np.add.reduce(q, axis=axis, keepdims=True)
    mean = (p + q) / 2.0
    left, right = (
        np.sum(scipy.special.rel_entr(x, mean), axis=axis, keepdims=keepdims) for x in (p, q)
    )
    divergence = left + right
    if base is not None:  # which does not promote: SciPy divides in place
        divergence = (divergence / np.log(base)).astype(divergence.dtype)
    return root(divergence / 2.0)


METRICS: dict[str, Callable[..., Array]] = {
    function.__name__: function
    for function in (
        braycurtis,
        canberra,
        chebyshev,
        cityblock,
        correlation,
        cosine,
        euclidean,
        jensenshannon,
        mahalanobis,
        minkowski,
        seuclidean,
        sqeuclidean,
    )
}

ALIASES = {
    "chebyshev": "chebychev cheby cheb ch",
    "cityblock": "cblock cb c",
    "correlation": "co",
    "cosine": "cos",
    "euclidean": "euclid eu e",
    "hamming": "matching hamm ha h",
    "jaccard": "jacc ja j",
    "jensenshannon": "js",
    "mahalanobis": "mahal mah",
    "minkowski": "mi m pnorm",
    "seuclidean": "se s",
    "sqeuclidean": "sqe sqeuclid",
}
CANONICAL = {alias: name for name, others in ALIASES.items() for alias in others.split()}


def canonical_name(metric: str) -> str:
    """Give the name of a metric that SciPy has several for.

    Raises
    ------
    UnsupportedArgumentError
        When the metric is one of truth values, which have no derivative.
    """
    name = CANONICAL.get(metric.lower(), metric.lower())
    if name in METRICS:
        return name
    if hasattr(scipy.spatial.distance, name):
        raise UnsupportedArgumentError(
            f"the metric {name!r} compares truth values, which have no derivative; call it on "
            "t.data if no gradient is meant to flow"
        )
    raise ValueError(f"Unknown Distance Metric: {name}")


ROOTS: dict[Any, Entry] = {
    root: rule(lambda out, x: half_inverse(out), facts=facts.ELEMENTWISE),
    half_inverse: rule(quiet(lambda out, x: -0.5 / (x * x)), facts=facts.ELEMENTWISE),
}

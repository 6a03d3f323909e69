"""Distances between vectors on the last axes of two arrays, and of all pairs: `cdist`, `pdist`.

The gradient of a distance that is a root is 0 where the points are equal, as that of a norm is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance
import scipy.special
from attrs import define

from tape_ad.errors import DtypeError, UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, Shape, as_array, unit, within
from tape_ad.extend.patterns import Pattern, dense_blocks, reads
from tape_ad.extend.rules import Derivation, Entry, overridable, quiet, rule
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.interpolate.shared import is_plain

__all__ = ["PAIRS", "ROOTS"]


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


def seuclidean(u: Array, v: Array, V: Array) -> Array:
    """Measure the difference with a variance for each element."""
    variances = as_array(V)
    return euclidean(u, v, 1 / variances.astype(np.float64))


def mahalanobis(u: Array, v: Array, VI: Array) -> Array:
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
    metric.__name__: metric
    for metric in (
        *(braycurtis, canberra, chebyshev, cityblock, correlation, cosine, euclidean),
        *(jensenshannon, mahalanobis, minkowski, seuclidean, sqeuclidean),
    )
}


def canonical_name(metric: str) -> str:
    """Give the name of a metric that SciPy has several for.

    Raises
    ------
    UnsupportedArgumentError
        When the metric is one of truth values, which have no derivative.
    """
    known = scipy.spatial.distance._METRIC_ALIAS.get(metric.lower())
    if known is None:
        raise ValueError(f"Unknown Distance Metric: {metric}")
    if known.canonical_name not in METRICS:
        raise UnsupportedArgumentError(
            f"the metric {metric!r} compares truth values, which have no derivative; call it on "
            "t.data if no gradient is meant to flow"
        )
    name: str = known.canonical_name
    return name


ROOTS: dict[Any, Entry] = {
    root: rule(lambda out, x: half_inverse(out), facts=facts.ELEMENTWISE),
    half_inverse: rule(quiet(lambda out, x: -0.5 / (x * x)), facts=facts.ELEMENTWISE),
}


# Distances of all pairs of points

LARGE = 2**20
"""From how many elements on the differences of all pairs are computed some rows at a time."""


@takes_lists
def cdist(
    XA: Array,
    XB: Array,
    metric: str | Callable[..., Array] = "euclidean",
    *,
    out: Array | None = None,
    **kwargs: Any,
) -> Array:
    """Compute the distance of each point of one set to each of another, as SciPy's `cdist` does.

    Parameters
    ----------
    XA : array or Tensor, shape (m, d)
    XB : array or Tensor, shape (n, d)
    metric : str or callable
        One of SciPy's names. Those that compare truth values have no derivative.
    out : array, optional
        Not together with handles.
    kwargs
        What the metric takes: ``p``, ``w``, ``V`` or ``VI``, which may be handles.

    Returns
    -------
    array or Tensor, shape (m, n)

    Examples
    --------
    >>> cdist([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[5., 1.]])
    """
    if gives_handles(metric, XA, XB, kwargs):
        return cdist_derivation(XA, XB, metric, **kwargs)
    return scipy.spatial.distance.cdist(XA, XB, metric, out=out, **kwargs)


@takes_lists
def pdist(
    X: Array,
    metric: str | Callable[..., Array] = "euclidean",
    *,
    out: Array | None = None,
    **kwargs: Any,
) -> Array:
    """Compute the distances between the points of a set, as `scipy.spatial.distance.pdist` does.

    Parameters
    ----------
    X : array or Tensor, shape (m, d)
    metric, out, kwargs
        As in `cdist`.

    Returns
    -------
    array or Tensor, shape (m * (m - 1) / 2,)

    Examples
    --------
    >>> pdist([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]).round(3)
    array([5.   , 1.   , 4.243])
    """
    if gives_handles(metric, X, X, kwargs):
        return pdist_derivation(X, metric, **kwargs)
    return scipy.spatial.distance.pdist(X, metric, out=out, **kwargs)


def gives_handles(metric: Any, xa: Array, xb: Array, options: dict[str, Any]) -> bool:
    """Tell whether a metric of the user's gives handles of plain points."""
    if not callable(metric) or np.ndim(xa) != 2 or not (len(xa) and len(xb)):
        return False
    return not is_plain(metric(np.asarray(xa)[0], np.asarray(xb)[0], **options))


# The two metrics that need no temporary with an axis more than the result


@overridable
def euclidean_pairs(xa: Array, xb: Array) -> Array:
    """Compute the lengths of the differences between points.

    Parameters
    ----------
    xa : array or Tensor, shape (m, d)
    xb : array or Tensor, shape (n, d)

    Returns
    -------
    array or Tensor, shape (m, n)
    """
    return scipy.spatial.distance.cdist(xa, xb)


@overridable
def sqeuclidean_pairs(xa: Array, xb: Array) -> Array:
    """Compute the squares of what `euclidean_pairs` does."""
    return scipy.spatial.distance.cdist(xa, xb, "sqeuclidean")


def squares(xa: Array, xb: Array) -> Array:
    """Compute `sqeuclidean_pairs` from all the differences."""
    difference = xa[:, None] - xb
    return np.vecdot(difference, difference)


@define(eq=False, repr=False)
class Differences:
    """``sum((xa[:, None] - xb) / divisor[..., None] * parent[:, None], axis=-1)``.

    Parameters
    ----------
    xa : array, shape (m, d)
    xb : array, shape (n, d)
    divisor : array, shape (m, n), or float
        If it is an array, it is 0 only where two points are equal.
    """

    xa: Array
    xb: Array
    divisor: Array

    @reads()
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that a row depends on one of the parent."""
        return dense_blocks(parent, node, [(-axis, -axis) for axis in range(2, len(parent) + 1)])

    def push(self, t: Array) -> Array:
        parts = [
            np.matmul(difference, t[..., rows, :, None])[..., 0]
            for rows, difference in self._blocks()
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-2)

    def pull(self, ct: Array) -> Array:
        parts = [
            np.matmul(ct[..., rows, None, :], difference)[..., 0, :]
            for rows, difference in self._blocks()
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-2)

    def _blocks(self) -> Any:
        """Give the differences, as many rows of points at a time as take little memory."""
        m, n, d = self.xa.shape[0], self.xb.shape[0], self.xa.shape[1]
        step = max(1, LARGE // max(1, n * d))
        for start in range(0, max(m, 1), step):
            rows = slice(start, start + step)
            difference = self.xa[rows, None] - self.xb
            if isinstance(self.divisor, float):
                yield rows, difference / self.divisor
            else:
                yield rows, unit(difference, self.divisor[rows, :, None])


@define(eq=False, repr=False)
class Transposed:
    """A map to matrices, and then their transposes."""

    linear: Differences

    @reads()
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that a column depends on a row of the parent."""
        stack = [(-axis, -axis) for axis in range(3, len(parent) + 1)]
        return dense_blocks(parent, node, [(-2, -1), *stack])

    def push(self, t: Array) -> Array:
        return self.linear.push(t).mT

    def pull(self, ct: Array) -> Array:
        return self.linear.pull(ct.mT)


# The general way


def cdist_derivation(
    XA: Array, XB: Array, metric: str | Callable[..., Array] = "euclidean", **kwargs: Any
) -> Array:
    """Compute what `cdist` does, of arrays with an axis for each of the sets."""
    xa, xb = points_of("cdist", XA), points_of("cdist", XB)
    if xa.shape[1] != xb.shape[1]:
        raise ValueError("XA and XB must have the same number of columns")
    if callable(metric):
        rows = [np.stack([as_array(metric(a, b, **kwargs)) for b in xb]) for a in xa]
        return np.stack(rows)
    name = canonical_name(metric)
    if not kwargs and name == "euclidean":
        return euclidean_pairs(xa, xb)
    if not kwargs and name == "sqeuclidean":
        return sqeuclidean_pairs(xa, xb)
    options = completed(name, kwargs, lambda: np.concatenate((xa, xb)))
    return METRICS[name](xa[:, None], xb[None], **options)


def pdist_derivation(
    X: Array, metric: str | Callable[..., Array] = "euclidean", **kwargs: Any
) -> Array:
    """Compute what `pdist` does, of the two points of each pair."""
    x = points_of("pdist", X)
    first, second = np.triu_indices(x.shape[0], 1)
    if callable(metric):
        pairs = zip(first, second, strict=True)
        return np.stack([as_array(metric(x[i], x[j], **kwargs)) for i, j in pairs])
    name = canonical_name(metric)
    options = completed(name, kwargs, lambda: x)
    return METRICS[name](x[first], x[second], **options)


def points_of(function: str, x: Array) -> Array:
    """Check a set of points, and cast it to the double precision that SciPy computes in."""
    x = as_array(x)
    if x.ndim != 2:
        raise ValueError(f"A 2-dimensional array must be passed. (Shape was {x.shape}).")
    if x.dtype.kind == "c":
        raise DtypeError(f"{function} takes real points; give it real and imaginary parts")
    return x if x.dtype == np.float64 else x.astype(np.float64)


def completed(name: str, options: dict[str, Any], points: Callable[[], Array]) -> dict[str, Any]:
    """Estimate the variances that a metric takes from all points, where they are not given."""
    if name == "seuclidean" and options.get("V") is None:
        return {**options, "V": np.var(points(), axis=0, ddof=1)}
    if name == "mahalanobis" and options.get("VI") is None:
        covariance = np.atleast_2d(np.cov(points().T))
        return {**options, "VI": np.linalg.inv(covariance).T}
    return options


PAIRS: dict[Any, Entry] = {
    cdist: Derivation(cdist_derivation),
    pdist: Derivation(pdist_derivation),
    euclidean_pairs: rule(
        lambda out, xa, xb: Differences(xa, xb, out),
        lambda out, xa, xb: Transposed(Differences(xb, xa, out.mT)),
        body=lambda xa, xb: root(squares(xa, xb)),
    ),
    sqeuclidean_pairs: rule(
        lambda out, xa, xb: Differences(xa, xb, 0.5),
        lambda out, xa, xb: Transposed(Differences(xb, xa, 0.5)),
        body=squares,
    ),
}

"""How samples are spread: distances between distribution functions, and entropies of spacings."""

import math
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse

from tape_ad.base.errors import DtypeError
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Derivation
from tape_ad.scipy.stats.samples import Table, floating, of_samples, primal, taken_over

__all__ = ["DISTANCES"]


def empirical(values: Array, weights: Any, at: Array) -> Array:
    """The share of a sample that is not above each of some numbers."""
    order = np.argsort(values)
    places = np.searchsorted(values[order], at, side="right")
    if weights is None:
        return places / values.shape[0]
    sums = np.concatenate([np.zeros(1), np.cumsum(floating(weights)[order])])
    return sums[places] / sums[-1]


def distribution_distance(
    p: int, u_values: Any, v_values: Any, u_weights: Any, v_weights: Any
) -> Array:
    """The p-th power of how far two distribution functions differ, integrated."""
    u, v = floating(u_values), floating(v_values)
    if "c" in (u.dtype.kind, v.dtype.kind):
        raise DtypeError("a distance of distributions of complex numbers is not given; take .real")
    if not (u.size and v.size):
        raise ValueError("Distribution can't be empty.")
    every = np.sort(np.concatenate([u, v]))
    difference = empirical(u, u_weights, every[:-1]) - empirical(v, v_weights, every[:-1])
    return np.sum(np.absolute(difference) ** p * np.diff(every))


def wasserstein_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Array:
    """How far one distribution has to be moved to become the other."""
    return distribution_distance(1, u_values, v_values, u_weights, v_weights)


def energy_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Array:
    """The distance of Cramer, times the root of 2."""
    square = distribution_distance(2, u_values, v_values, u_weights, v_weights)
    return np.sqrt(2) * np.sqrt(square)


def wasserstein_distance_nd(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Array:
    """How far one distribution of points has to be moved to become the other.

    What is moved from where to where is a corner of a polytope, so that the distance is a sum over
    a tree of pairs of points, and how much is moved along each follows from the weights.
    """
    u, v = floating(u_values), floating(v_values)
    if u.ndim == v.ndim == 1:
        return wasserstein_distance(u, v, u_weights, v_weights)
    if u.ndim != 2 or v.ndim != 2 or u.shape[1] != v.shape[1]:
        raise ValueError("Invalid input values. The inputs must have the same number of columns.")
    shares = [
        np.full(len(points), 1 / len(points)) if weights is None else weights / np.sum(weights)
        for points, weights in ((u, u_weights), (v, v_weights))
    ]
    rows, columns = pairs_of(primal(u), primal(v), *map(primal, shares))
    lengths = np.linalg.norm(u[rows] - v[columns], axis=-1)
    ends = np.concatenate([np.eye(len(u))[:, rows], np.eye(len(v))[:, columns]])
    moved = np.matmul(np.linalg.pinv(ends), np.concatenate(shares))
    return np.sum(moved * lengths)


def pairs_of(u: Any, v: Any, u_shares: Any, v_shares: Any) -> tuple[Any, Any]:
    """Find the pairs of points along which mass is moved, filled up to a tree."""
    m, n = len(u), len(v)
    cost = np.linalg.norm(u[:, None] - v, axis=-1)
    sources = scipy.sparse.kron(scipy.sparse.eye(m), np.ones((1, n)))
    targets = scipy.sparse.kron(np.ones((1, m)), scipy.sparse.eye(n))
    found = scipy.optimize.linprog(
        cost.ravel(),
        A_eq=scipy.sparse.vstack([sources, targets]).tocsr(),
        b_eq=np.concatenate([u_shares, v_shares]),
        method="highs",
    )
    spare = cost - np.add.outer(found.eqlin.marginals[:m], found.eqlin.marginals[m:])
    moved = np.reshape(found.x, (m, n))
    order = np.lexsort((spare.ravel(), -moved.ravel()))
    group = np.arange(m + n)  # which points are joined already
    chosen = []
    for pair in order:
        one, other = group[pair // n], group[m + pair % n]
        if one != other:
            group[group == other] = one
            chosen.append(pair)
    return np.divmod(np.array(chosen), n)


# Differential entropy by the spacings of a sorted sample


def spacings(x: Array, m: int) -> Array:
    """How far the m-th neighbours on both sides are apart; the ends are repeated."""
    padded = padded_by(x, m)
    return padded[..., 2 * m :] - padded[..., : -2 * m]


def padded_by(x: Array, m: int) -> Array:
    """Repeat the ends of a sample m times."""
    left = np.broadcast_to(x[..., :1], (*x.shape[:-1], m))
    right = np.broadcast_to(x[..., -1:], (*x.shape[:-1], m))
    return np.concatenate([left, x, right], axis=-1)


def vasicek(x: Array, m: int) -> Array:
    """Estimate the differential entropy by the estimator of Vasicek (1976)."""
    return np.mean(np.log(x.shape[-1] / (2 * m) * spacings(x, m)), axis=-1)


def van_es(x: Array, m: int) -> Array:
    """Estimate the differential entropy by the estimator of van Es (1992)."""
    n = x.shape[-1]
    logs = np.sum(np.log((n + 1) / m * (x[..., m:] - x[..., :-m])), axis=-1)
    rest = np.sum(1 / np.arange(m, n + 1, dtype=x.dtype)) + math.log(m) - math.log(n + 1)
    return 1 / (n - m) * logs + rest


def ebrahimi(x: Array, m: int) -> Array:
    """Estimate the differential entropy by the estimator of Ebrahimi et al. (1994)."""
    n = x.shape[-1]
    i = np.arange(1, n + 1, dtype=x.dtype)
    factor = np.where(i <= m, 1 + (i - 1) / m, 2.0)
    factor = np.where(i >= n - m + 1, 1 + (n - i) / m, factor).astype(x.dtype)
    return np.mean(np.log(n * spacings(x, m) / (factor * m)), axis=-1)


def correa(x: Array, m: int) -> Array:
    """Estimate the differential entropy by the estimator of Correa (1995)."""
    n = x.shape[-1]
    steps = np.arange(-m, m + 1)[:, None]
    near = padded_by(x, m)[..., np.arange(1, n + 1) + steps + m - 1]
    difference = near - np.mean(near, axis=-2, keepdims=True)
    slope = np.sum(difference * steps, axis=-2) / (n * np.sum(difference**2, axis=-2))
    return -np.mean(np.log(slope), axis=-1)


ESTIMATES = {"vasicek": vasicek, "van es": van_es, "ebrahimi": ebrahimi, "correa": correa}


def differential_entropy(
    values: Array, window_length: Any = None, base: Any = None, method: str = "auto"
) -> Array:
    """Estimate the entropy of the density that a sample is drawn from."""
    n = values.shape[-1]
    m = math.floor(math.sqrt(n) + 0.5) if window_length is None else window_length
    if not 2 <= 2 * m < n:
        return np.sum(values, axis=-1) * np.nan  # as SciPy gives for samples that are too short
    method = method.lower()
    if method == "auto":
        method = "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    if method not in ESTIMATES:
        raise ValueError(f"`method` must be 'auto' or one of {sorted(ESTIMATES)}")
    estimate = ESTIMATES[method](np.sort(values, axis=-1), m)
    return estimate if base is None else estimate / np.log(base)


DISTANCES: Table = {
    taken_over("wasserstein_distance"): Derivation(wasserstein_distance),
    taken_over("energy_distance"): Derivation(energy_distance),
    taken_over("wasserstein_distance_nd"): Derivation(wasserstein_distance_nd),
    **dict([of_samples("differential_entropy", differential_entropy, "values")]),
}
"""The functions by SciPy's."""

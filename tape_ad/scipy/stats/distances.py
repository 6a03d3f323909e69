"""How far distributions of points are from one another."""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend.arrays import Array, primal
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for
from tape_ad.scipy.stats.samples import floating

__all__: list[str] = []


@stands_for(scipy.stats.wasserstein_distance_nd)
def wasserstein_distance_nd(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Array:
    """How far one distribution of points has to be moved to become the other.

    What is moved from where to where is a corner of a polytope, so that the distance is a sum over
    a tree of pairs of points, and how much is moved along each follows from the weights.
    """
    u, v = floating(u_values), floating(v_values)
    if u.ndim == v.ndim == 1:
        flat = differentiable(scipy.stats.wasserstein_distance)
        return flat(u, v, u_weights, v_weights)
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

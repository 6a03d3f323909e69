"""The log-likelihood of a Gaussian mixture, as in ADBench.

Srajer, Kukelova & Fitzgibbon, "A benchmark of selected algorithmic differentiation tools on some
problems in computer vision and machine learning", 2018, https://arxiv.org/abs/1807.10129.
"""

import functools
import math
from typing import Any

import numpy as np

from benchmarks.libraries import TORCH
from benchmarks.libraries.plain import Data
from benchmarks.workloads.base import Array, Workload, seeded

__all__ = ["WORKLOADS"]


def log_likelihood(library: Any, p: Data, data: Data) -> Array:
    """Sum over points of the log of the mixture's density, with a Wishart prior; no constants.

    Each inverse covariance is L @ L.T, with exp(log_diagonal) on L's diagonal and `below` under it.
    """
    xp, x = library.xp, data["x"]
    roots = library.fill_triangles(xp.exp(p["log_diagonal"]), p["below"], data["places"])
    centred = x - p["means"][:, None, :]
    whitened = xp.matmul(centred, xp.swapaxes(roots, -1, -2))
    log_roots = xp.sum(p["log_diagonal"], -1)
    weights = p["logits"] + log_roots
    terms = weights[:, None] - 0.5 * xp.sum(whitened * whitened, -1)
    mixture = xp.sum(library.logsumexp(terms, 0)) - len(x) * library.logsumexp(p["logits"], 0)
    prior = 0.5 * xp.sum(roots * roots) - xp.sum(log_roots)
    return mixture - prior


def mixture(points: int, d: int, count: int) -> tuple[Data, Data]:
    x, logits, means, log_diagonal, below = seeded(
        (points, d), (count,), (count, d), (count, d), (count, d * (d - 1) // 2)
    )
    p = {
        "logits": logits,
        "means": means,
        "log_diagonal": 0.1 * log_diagonal,
        "below": below / math.sqrt(d),
    }
    return p, {"x": x, "places": np.stack(np.tril_indices(d, -1))}


WORKLOADS = [
    Workload(
        f"Gaussian mixture, d={d}, K={count}",
        f"log-likelihood of 1,000 points in {d} dimensions under {count} Gaussians",
        log_likelihood,
        functools.partial(mixture, 1_000, d, count),
        targets={TORCH: 1.0},
    )
    for d, count in ((10, 25), (64, 100))
]

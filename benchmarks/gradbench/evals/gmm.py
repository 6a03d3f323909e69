"""The log-likelihood of a mixture of Gaussians, with a Wishart prior for their precisions."""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks
from tape_ad.scipy.special import logsumexp, multigammaln


def factors(p: Any, places: Array) -> Any:
    """Make the triangular factors of the precisions: ``exp(q)`` on the diagonals, `l` below."""
    padded = np.concatenate([np.zeros((len(p["q"]), 1)), np.exp(p["q"]), p["l"]], axis=1)
    return padded[:, places]


def layout(d: int) -> Array:
    """Say which number of a row (a zero, the diagonal, what is below by columns) stands where."""
    places = np.diag(np.arange(1, d + 1))
    column, row = np.triu_indices(d, 1)
    places[row, column] = d + 1 + np.arange(len(row))
    return places


def objective(p: Any, x: Array, gamma: float, m: int, places: Array) -> Any:
    n, d = x.shape
    k = len(p["alpha"])
    sums = np.sum(p["q"], axis=1)
    upper = np.swapaxes(factors(p, places), 1, 2)
    off = x @ upper - p["mu"][:, np.newaxis, :] @ upper
    terms = (p["alpha"] + sums)[:, np.newaxis] - 0.5 * np.sum(off * off, axis=2)
    likelihood = np.sum(logsumexp(terms, axis=0)) - n * logsumexp(p["alpha"])
    squares = np.sum(np.exp(2 * p["q"])) + np.sum(p["l"] ** 2)
    degrees = d + m + 1
    constant = degrees * d * (np.log(gamma) - 0.5 * np.log(2)) - multigammaln(0.5 * degrees, d)
    prior = k * constant - 0.5 * gamma * gamma * squares + m * np.sum(sums)
    return likelihood + prior - n * d * 0.5 * np.log(2 * np.pi)


def prepare(given: Any) -> tuple[Any, Array, float, int, Array]:
    d, k = given["d"], given["k"]
    p = {
        "alpha": np.array(given["alpha"], float),
        "mu": np.array(given["mu"], float),
        "q": np.array(given["q"], float),
        "l": np.array(given["l"], float).reshape(k, d * (d - 1) // 2),
    }
    return p, np.array(given["x"], float), float(given["gamma"]), int(given["m"]), layout(d)


TASKS: Tasks = {
    "objective": Task(objective, prepare),
    "jacobian": Task(ta.grad(objective), prepare),
}

"""The cost of clusters, and Newton's direction for their centres.

The Hessian is diagonal where no point is as near to one centre as to another: its product with ones
is its diagonal, pushed through the gradient.
"""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks


def cost(centroids: Any, points: Array) -> Any:
    """Add up the squared distance of each point to the centre next to it.

    The square of a point itself is no reason for one centre or another, and is added at the end.
    """
    apart = np.sum(centroids * centroids, axis=1) - points @ (2 * centroids.T)
    return np.sum(points * points) + np.sum(np.min(apart, axis=1))


def direction(centroids: Array, points: Array) -> Any:
    """Divide the gradient by the diagonal of the Hessian."""
    slope = ta.grad(cost)
    gradient, diagonal = ta.jvp(
        lambda c: slope(c, points), (centroids,), (np.ones_like(centroids),)
    )
    return gradient / diagonal


def prepare(given: Any) -> tuple[Array, Array]:
    return np.array(given["centroids"], float), np.array(given["points"], float)


TASKS: Tasks = {"cost": Task(cost, prepare), "dir": Task(direction, prepare)}

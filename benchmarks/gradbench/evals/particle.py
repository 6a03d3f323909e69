"""The charge that sends a particle through the origin: a derivative within a derivative.

In each task's name the first letter says how the search has its derivative, and the second how the
path has that of the potential: forward or in reverse.
"""

import functools
from typing import Any

import numpy as np

from benchmarks.gradbench.descent import SLOPES, Slope, argmin, length
from benchmarks.gradbench.tasks import Array, Task, Tasks

STEP = 0.1


def missed(w: Any, slope: Slope) -> Any:
    """Follow the particle to the axis, and square how far from the origin it meets it."""
    charges = [np.array([10.0, 10.0]) - np.array([0.0, 1.0]) * w, np.array([10.0, 0.0])]

    def potential(x: Any) -> Any:
        return 1 / length(x - charges[0]) + 1 / length(x - charges[1])

    force = slope(potential)
    x: Any = np.array([0.0, 8.0])
    speed: Any = np.array([0.75, 0.0])
    while True:
        pull = force(x)
        after = x + STEP * speed
        if after[1] <= 0:
            break
        x, speed = after, speed - STEP * pull
    met = x - x[1] / speed[1] * speed
    return met[0] * met[0]


def charge(w: Array, outer: Slope, inner: Slope) -> Any:
    return argmin(lambda w: missed(w, inner), w, outer)[0]


def prepare(given: Any) -> tuple[Array]:
    return (np.array([given["w"]], float),)


TASKS: Tasks = {
    outer + inner: Task(
        functools.partial(charge, outer=SLOPES[outer], inner=SLOPES[inner]), prepare
    )
    for outer in "fr"
    for inner in "fr"
}

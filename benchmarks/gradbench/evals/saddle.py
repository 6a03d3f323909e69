"""A saddle point, as a minimum of maxima: a search within the function of a search.

In each task's name the first letter says how the outer search has its derivative, and the second
how the inner one has it: forward or in reverse.
"""

import functools
from typing import Any

import numpy as np

from benchmarks.gradbench.descent import SLOPES, Slope, argmax, argmin
from benchmarks.gradbench.tasks import Array, Task, Tasks


def height(x: Any, y: Any) -> Any:
    return np.sum(x * x) - np.sum(y * y)


def saddle(start: Array, outer: Slope, inner: Slope) -> Any:
    """Give the point at which neither side can do better, as four numbers."""

    def best_answer(x: Any) -> Any:
        return height(x, argmax(lambda y: height(x, y), start, inner))

    x = argmin(best_answer, start, outer)
    return np.concatenate([x, argmax(lambda y: height(x, y), start, outer)])


def prepare(given: Any) -> tuple[Array]:
    return (np.array(given["start"], float),)


TASKS: Tasks = {
    outer + inner: Task(
        functools.partial(saddle, outer=SLOPES[outer], inner=SLOPES[inner]), prepare
    )
    for outer in "fr"
    for inner in "fr"
}

"""The logarithm of a sum of exponentials, from its parts as the eval asks for."""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks


def primal(x: Any) -> Any:
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def prepare(given: Any) -> tuple[Array]:
    return (np.array(given["x"], float),)


TASKS: Tasks = {"primal": Task(primal, prepare), "gradient": Task(ta.grad(primal), prepare)}

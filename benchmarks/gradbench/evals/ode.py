"""The end of a chain of differential equations, by the classical Runge-Kutta method."""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks

END = 2.0


def slope(x: Any, y: Any) -> Any:
    """Give ``x[0], x[1] y[0], x[2] y[1], ...``."""
    return x * np.concatenate([np.ones(1), y[:-1]])


def primal(x: Any, steps: int) -> Any:
    h = END / steps
    y: Any = np.zeros(x.shape)
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + h / 2 * k1)
        k3 = slope(x, y + h / 2 * k2)
        k4 = slope(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def last(x: Any, steps: int) -> Any:
    return primal(x, steps)[-1]


def prepare(given: Any) -> tuple[Array, int]:
    return np.array(given["x"], float), int(given["s"])


TASKS: Tasks = {"primal": Task(primal, prepare), "gradient": Task(ta.grad(last), prepare)}

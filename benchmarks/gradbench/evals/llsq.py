"""How far a polynomial is from a step, at points side by side from -1 to 1."""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks


def primal(x: Any, n: int) -> Any:
    t = -1 + np.arange(n) * 2 / (n - 1)
    off = np.sign(t) - np.vander(t, len(x), increasing=True) @ x
    return np.sum(off * off) / 2


def prepare(given: Any) -> tuple[Array, int]:
    return np.array(given["x"], float), int(given["n"])


TASKS: Tasks = {"primal": Task(primal, prepare), "gradient": Task(ta.grad(primal), prepare)}

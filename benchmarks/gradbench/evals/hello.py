"""A square and its derivative, by which a tool learns to speak the protocol."""

from typing import Any

import tape_ad as ta
from benchmarks.gradbench.tasks import Task, Tasks


def square(x: Any) -> Any:
    return x * x


def prepare(given: Any) -> tuple[float]:
    return (float(given),)


TASKS: Tasks = {"square": Task(square, prepare), "double": Task(ta.grad(square), prepare)}

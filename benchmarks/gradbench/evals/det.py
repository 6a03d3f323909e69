"""A determinant by expansion by minors.

Each minor of the last m rows is expanded once, for each choice of m columns, and all those of one m
in one call: 2ˡ minors in place of the l! products of a plain recursion.
"""

import functools
import itertools
from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks


@functools.cache
def expansion(size: int) -> list[tuple[Array, Array]]:
    """Say for each m which columns are chosen, and which minors of m - 1 rows are left of each."""
    steps = []
    numbers: dict[tuple[int, ...], int] = {(): 0}
    for m in range(1, size + 1):
        chosen = list(itertools.combinations(range(size), m))
        left = [[numbers[c[:j] + c[j + 1 :]] for j in range(m)] for c in chosen]
        steps.append((np.array(chosen), np.array(left)))
        numbers = {c: i for i, c in enumerate(chosen)}
    return steps


def primal(matrix: Any) -> Any:
    minors: Any = np.ones(1)
    for m, (columns, left) in enumerate(expansion(len(matrix)), 1):
        signs = (-1.0) ** np.arange(m)
        minors = np.sum(signs * matrix[len(matrix) - m][columns] * minors[left], axis=1)
    return minors[0]


def prepare(given: Any) -> tuple[Array]:
    return (np.array(given["A"], float).reshape(given["ell"], given["ell"]),)


def flat(result: Any, _prepared: Any) -> Any:
    """Write row after row."""
    return result.ravel()


TASKS: Tasks = {"primal": Task(primal, prepare), "gradient": Task(ta.grad(primal), prepare, flat)}

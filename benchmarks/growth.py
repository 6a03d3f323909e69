"""Whether a node costs the same in a long record as in a short one."""

import statistics
import time
from typing import Any

import numpy as np

import tape_ad as ta

__all__ = ["GROWTH_TARGET", "growth", "nanoseconds_per_node"]

GROWTH_TARGET = 1.2
"""The most that the slowest size may cost per node, as a multiple of the quickest."""

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)


def nanoseconds_per_node() -> dict[int, float]:
    """Time recording and sweeping a chain, for each number of nodes; turn by turn, medians."""
    taken: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(5):
        for size in SIZES:
            calls = max(1, 200_000 // size)
            start = time.perf_counter()
            for _ in range(calls):
                record_and_sweep(size)
            taken[size].append((time.perf_counter() - start) / calls / size * 1e9)
    return {size: statistics.median(times) for size, times in taken.items()}


def record_and_sweep(nodes: int) -> None:
    x: Any = ta.ComputationRecord().tensor(np.array([0.9]))
    y = x
    for _ in range(nodes // 2):
        y = np.sin(y) + 0.5
    y.grad(np.ones(1)).wrt(x)


def growth(per_node: dict[int, float]) -> float:
    """Give the most that a node costs, as a multiple of the least."""
    return max(per_node.values()) / min(per_node.values())

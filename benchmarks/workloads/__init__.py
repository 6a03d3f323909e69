"""What is computed, each in every library that can express it."""

from benchmarks.workloads import (
    calls,
    dense,
    elementwise,
    functions,
    layers,
    matrices,
    mixtures,
    networks,
    recurrent,
)
from benchmarks.workloads.base import Workload

__all__ = ["EVERY", "FUNCTIONS", "WORKLOADS", "Workload"]

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for themed in (elementwise, networks, dense, layers, mixtures, recurrent, matrices, calls)
    for workload in themed.WORKLOADS
}

FUNCTIONS: dict[str, Workload] = {workload.name: workload for workload in functions.WORKLOADS}

EVERY = WORKLOADS | FUNCTIONS

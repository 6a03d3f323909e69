"""What is computed, each in every library that can express it."""

from benchmarks.workloads import elementwise, matrices, mixtures, networks, recurrent
from benchmarks.workloads.base import Workload

__all__ = ["WORKLOADS", "Workload"]

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for themed in (elementwise, networks, mixtures, recurrent, matrices)
    for workload in themed.WORKLOADS
}

"""The workload `elementwise, 10^6` by two threads beside one."""

import functools
import os
from collections.abc import Collection

import numpy as np

from benchmarks.beside import Beside
from benchmarks.libraries import tape_ad as ours
from benchmarks.libraries.tape_ad_replayed import Replays
from benchmarks.timing import in_turns, seconds_of
from benchmarks.workloads import WORKLOADS

__all__ = ["two_threads_beside_one"]

NAME = "elementwise, 10^6"


def two_threads_beside_one(cores: Collection[int]) -> Beside:
    """Time both in turns, on all the cores that there are.

    Parameters
    ----------
    cores : collection of int
        Those that the benchmarks were started on; all else is measured on one of them.
    """
    what, bound = f"{NAME}: time by two threads / by one", 1 / 1.7
    if len(cores) < 2:
        return Beside(what, bound, reason="there is one core alone")
    os.sched_setaffinity(0, cores)
    workload = WORKLOADS[NAME]
    p, data = workload.inputs()
    programs = {
        f"{threads}": Replays.by("native", threads=threads).gradient(
            functools.partial(workload.formula, ours), p, data
        )
        for threads in (1, 2)
    }
    for _ in range(3):
        (one, slopes), (two, others) = (program() for program in programs.values())
        np.testing.assert_array_equal(two, one)
        np.testing.assert_array_equal(others["x"], slopes["x"])
    times = in_turns({n: functools.partial(seconds_of, each) for n, each in programs.items()})
    return Beside(what, bound, times["2"], times["1"], "the same bits by both")

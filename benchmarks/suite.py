"""The benchmark's run in the pinned process that `python -m benchmarks` starts."""

import argparse
import os
import platform
import sys

import numpy as np

import tape_ad as ta
from benchmarks.timing import Times, measure, peak_memory
from benchmarks.workloads import OURS, TORCH, Workload, disagreements, torch, workloads

COLUMNS = "{:<26} {:>12} {:>23} {:>15} {:>8}  {}"


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks", description=ta.__doc__)
    parser.add_argument("--quick", action="store_true", help="agreement and memory, no times")
    quick = parser.parse_args().quick
    if torch is not None:
        torch.set_num_threads(1)
    print(setting())
    failures = 0
    for workload in workloads():
        print(f"\n{workload.title}")
        found = disagreements(workload)
        print(*(f"  DISAGREEMENT: {line}" for line in found), sep="\n", end="\n" * bool(found))
        if not found:
            print(f"  value and gradients agree to {workload.tolerance:.0e}")
        failures += bool(found)
        if not quick:
            print_times(workload)
        if workload.array_bytes:
            failures += not print_memory(workload)
    return int(failures > 0)


def setting() -> str:
    peer = f"PyTorch {torch.__version__}" if torch is not None else "no PyTorch (extra `bench`)"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"Python {platform.python_version()}, NumPy {np.__version__}, {peer}; "
        f"{platform.machine()}, {cores} core(s)"
    )


def print_times(workload: Workload) -> None:
    times = measure(workload.programs, rounds=workload.rounds, calls=workload.calls)
    print("  " + COLUMNS.format("library", "median", "quartiles", "tape_ad/library", "target", "met"))
    for name, taken in times.items():
        print("  " + row(name, taken, times[OURS], workload.targets.get(name)).rstrip())
    if torch is None:
        print("  " + COLUMNS.format(TORCH, "not installed: pip install 'tape-ad[bench]'", *"    "))


def row(name: str, taken: Times, ours: Times, target: float | None) -> str:
    low, high = taken.quartiles
    ratio = ours.over(taken)
    return COLUMNS.format(
        name,
        milliseconds(taken.median),
        f"{milliseconds(low)} - {milliseconds(high)}",
        "" if name == OURS else f"{ratio:.2f}",
        "" if target is None else f"{target:g}",
        "" if target is None else met(ratio <= target),
    )


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"


def met(is_met: bool) -> str:
    return "yes" if is_met else "NO"


def print_memory(workload: Workload) -> bool:
    """Print the peaks of memory that NumPy's allocator sees, and tell whether ours is in bounds."""
    peaks = {
        name: peak_memory(program) / workload.array_bytes
        for name, program in workload.programs.items()
        if name != TORCH  # it allocates past tracemalloc
    }
    in_bounds = peaks[OURS] <= workload.memory_target
    print(
        "  peak memory beyond the input, in arrays of its size: "
        + ", ".join(f"{name} {peak:.2f}" for name, peak in peaks.items())
        + f"; target {workload.memory_target:g}, met: {met(in_bounds)}"
    )
    return in_bounds


if __name__ == "__main__":
    sys.exit(main())

"""Time bundle adjustment and hand tracking beside what else one would use for them.

::

    python -m benchmarks.gradbench.timings              # two minutes; jax and torch if there
    python -m benchmarks.gradbench.timings --quick      # smaller
    python -m benchmarks.gradbench.timings --cpp PATH   # ten evals beside C++; three minutes

All on one core, in turns, medians. The data are of ADBench's sizes and made up here. PATH is a
checkout of GradBench, whose tool in C++ written by hand is compiled there by g++ or clang++, or by
what CXX says; the least times of both are compared. The exit status is 1 when two disagree; a
missed time is printed, and changes nothing.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.__main__ import ONE_THREAD

if __name__ == "__main__":
    os.environ |= ONE_THREAD  # before NumPy and its linear algebra
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
import scipy.sparse

import tape_ad as ta
from benchmarks.gradbench import by_hand, peers
from benchmarks.gradbench.evals import ba, ht
from benchmarks.gradbench.inputs import SIZES, bundle, hand, of_all_evals
from benchmarks.gradbench.other_tools import beside_cpp, missing
from benchmarks.gradbench.timing import Timing

Call = Callable[[], Any]


def medians(calls: list[Call], rounds: int) -> list[float]:
    """Time calls in turn, so that what else a machine does meets all of them."""
    for call in calls:  # two capture what is compiled
        call()
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, kept in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            kept.append(time.perf_counter() - begin)
    return [statistics.median(each) for each in times]


def bundle_adjustment(size: tuple[int, int, int], rounds: int, colours: bool) -> list[Timing]:
    """Time the whole matrix: entries, and their places, which stay where they are."""
    arguments = ba.prepare(bundle(*size))
    columns, starts, width = ba.structure(*arguments[:2])

    def filled(blocks: Callable[..., Any]) -> Call:
        shape = len(starts) - 1, width
        return lambda: scipy.sparse.csr_array((blocks(*arguments), columns, starts), shape)

    calls = {"compiled": filled(ta.compile(ba.blocks)), "eager": filled(ba.blocks)}
    if colours:
        coloured = ta.sparse_jacobian(ba.objective)
        replayed = ta.compile(ta.sparse_jacobian(ba.objective))
        calls["sparse_jacobian"] = lambda: coloured(*arguments)
        calls["sparse_jacobian, compiled"] = lambda: replayed(*arguments)
    hand = filled(by_hand.blocks)
    expected = hand()
    for call in calls.values():
        np.testing.assert_allclose((call() - expected).data, 0, atol=1e-8 * abs(expected).max())
    *ours, theirs = medians([*calls.values(), hand], rounds)
    name = f"ba, {size[2]} observations, "
    rows = [
        Timing(name + how, "by hand in NumPy", seconds, theirs, 3)
        for how, seconds in zip(calls, ours, strict=True)
    ]
    some = 100
    torch = peers.torch_blocks(arguments, some)
    if torch is not None:
        given = expected[: 2 * some].data
        np.testing.assert_allclose(torch(), given, atol=1e-8 * abs(given).max())
        whole = medians([torch], 3)[0] * size[2] / some
        rows.append(
            Timing(name + "compiled", f"PyTorch, {some} of them scaled", ours[0], whole, 1 / 50)
        )
    return rows


def hand_tracking(count: int, rounds: int) -> list[Timing]:
    """Time all columns of a complicated hand."""
    arguments = ht.prepare(hand(count, 544))
    compiled = ta.compile(ht.jacobian)
    name = f"ht complicated, {count} points, "
    jax = peers.jax_hand(arguments)
    if jax is None:
        return []
    expected = jax()
    for function in (ht.jacobian, compiled):
        np.testing.assert_allclose(function(*arguments), expected, rtol=1e-8, atol=1e-8)
    ours, eager, theirs = medians(
        [lambda: compiled(*arguments), lambda: ht.jacobian(*arguments), jax], rounds
    )
    return [
        Timing(name + "compiled", "JAX, jit(jacfwd)", ours, theirs, 3),
        Timing(name + "eager", "JAX, jit(jacfwd)", eager, theirs, float("inf")),
    ]


def timings(quick: bool = False) -> list[Timing]:
    """Measure all."""
    if quick:
        return [*bundle_adjustment((10, 200, 1000), 5, colours=True), *hand_tracking(100, 5)]
    return [
        *bundle_adjustment(SIZES[0], 9, colours=True),
        *bundle_adjustment(SIZES[1], 3, colours=False),
        *hand_tracking(100, 21),
        *hand_tracking(10_000, 9),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gradbench.timings",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller, in seconds")
    parser.add_argument(
        "--cpp", metavar="PATH", type=Path, help="beside C++ by hand, in a checkout of GradBench"
    )
    arguments = parser.parse_args()
    reason = arguments.cpp and missing(arguments.cpp)
    if reason:
        print(reason)
        return 0
    agreed = True
    rows: Iterable[Timing] = (
        beside_cpp(arguments.cpp, of_all_evals()) if arguments.cpp else timings(arguments.quick)
    )
    for row in rows:
        print(row, flush=True)
        agreed &= not row.problem
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())

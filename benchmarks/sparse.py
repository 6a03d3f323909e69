"""Time sparse Jacobians and Hessians as multiples of the function's own time, and their memory.

::

    python -m benchmarks.sparse            # a minute
    python -m benchmarks.sparse --quick    # smaller, in seconds

All in one process on one core, in turns, medians. Every matrix is compared with a product along a
random direction before it is timed. The exit status is 1 when two disagree; a missed time is
printed, and changes nothing. Functions that are compiled natively are left out without llvmlite.
"""

import argparse
import functools
import importlib.util
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.__main__ import ONE_THREAD

if __name__ == "__main__":
    os.environ |= ONE_THREAD  # before NumPy and its linear algebra
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
from attrs import frozen

import tape_ad as ta
from benchmarks.tables import duration, megabytes, table
from benchmarks.timing import BRIEF, THOROUGH, Pace, in_turns, seconds_of

Array = Any
Function = Callable[[Array], Any]


def brusselator(state: Array) -> Array:
    """Give the rates of two substances that react and diffuse on a periodic square.

    Hairer & Wanner, "Solving Ordinary Differential Equations II", section IV.10.

    Parameters
    ----------
    state : array, shape (2, n, n)
    """
    u, v = state
    reaction = u * u * v
    speed = 0.1 * u.shape[0] ** 2
    return np.stack(
        [
            1 + reaction - 4.4 * u + speed * laplacian(u),
            3.4 * u - reaction + speed * laplacian(v),
        ]
    )


def laplacian(w: Array) -> Array:
    """Compare each point of a periodic grid with its four neighbours."""
    beside = np.roll(w, 1, 0) + np.roll(w, -1, 0) + np.roll(w, 1, 1) + np.roll(w, -1, 1)
    return beside - 4 * w


def extended_rosenbrock(x: Array) -> Array:
    """Add up Rosenbrock's function of pairs.

    Moré, Garbow & Hillstrom, "Testing unconstrained optimization software", ACM Transactions on
    Mathematical Software 7 (1981), problem 21.
    """
    return np.sum(100 * (x[1::2] - x[::2] ** 2) ** 2 + (1 - x[::2]) ** 2)


def chained_rosenbrock(x: Array) -> Array:
    """Add up Rosenbrock's function of neighbours."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def springs(x: Array) -> Array:
    """Pull each of a chain at the next: three nonzeros in a row."""
    return x[1:-1] ** 3 + x[2:] - 2 * x[1:-1] + x[:-2]


@frozen
class Problem:
    """A function, and how often it might be evaluated in the time of a derivative.

    Attributes
    ----------
    name : str
    function : callable
    at : array
    derivative : callable
        `tape_ad.sparse_jacobian` or `tape_ad.sparse_hessian`.
    at_most : float
    """

    name: str
    function: Function
    at: Array
    derivative: Callable[[Function], Any]
    at_most: float


def problems(quick: bool) -> list[Problem]:
    """List what is timed."""
    rng = np.random.default_rng(0)
    side, size = (24, 1_000) if quick else (224, 10_000)
    grid, x = rng.uniform(0.5, 2, (2, side, side)), rng.uniform(-1, 1, size)
    return [
        Problem("Brusselator, Jacobian", brusselator, grid, ta.sparse_jacobian, 30),
        Problem("extended Rosenbrock, Hessian", extended_rosenbrock, x, ta.sparse_hessian, 20),
        Problem("chained Rosenbrock, Hessian", chained_rosenbrock, x, ta.sparse_hessian, 20),
    ]


ENGINES = ["numpy", "native"] if importlib.util.find_spec("llvmlite") else ["numpy"]


def check(problem: Problem, derivative: Any) -> None:
    """Compare a derivative with a product; called often enough for a program to be replayed.

    Raises
    ------
    AssertionError
    """
    along = np.random.default_rng(1).uniform(1, 2, problem.at.shape)
    function = problem.function
    if problem.derivative is ta.sparse_hessian:
        function = ta.grad(function)
    product = ta.jvp(function, (problem.at,), (along,))[1].reshape(-1)
    for _ in range(3):
        found = derivative(problem.at) @ along.reshape(-1)
        np.testing.assert_allclose(found, product, rtol=1e-8, atol=1e-8 * abs(product).max())


def first_call(problem: Problem) -> float:
    """Time pattern, colours and values together: the median of three."""
    seconds = []
    for _ in range(3):
        derivative = problem.derivative(problem.function)
        start = time.perf_counter()
        derivative(problem.at)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def timed(problem: Problem, pace: Pace) -> list[str]:
    """Time one problem, as a row of a table."""
    recorded = problem.derivative(problem.function)
    ways: dict[str, Any] = {"recorded": recorded}
    for engine in ENGINES:
        ways[engine] = ta.compile(problem.derivative(problem.function), engine=engine)
    for way in ways.values():
        check(problem, way)
    programs = {name: functools.partial(way, problem.at) for name, way in ways.items()}
    programs["f"] = functools.partial(problem.function, problem.at)
    timers = {name: functools.partial(seconds_of, program) for name, program in programs.items()}
    times = {name: each.median for name, each in in_turns(timers, pace).items()}
    ratios = [times[way] / times["f"] for way in ways]
    ratios += [float("nan")] * (3 - len(ratios))
    return [
        problem.name,
        str(problem.at.size),
        str(recorded.pattern.nnz),
        str(recorded.colors),
        duration(first_call(problem)),
        duration(times["f"]),
        *("" if np.isnan(ratio) else f"{ratio:.1f}" for ratio in ratios),
        f"{problem.at_most:g}",
    ]


HEAD = ["what", "unknowns", "nonzeros", "colours", "first call", "one f"]
HEAD += ["recorded / f", "compiled / f", "native / f", "at most"]


def memory(sizes: Iterable[int]) -> list[list[str]]:
    """Measure the peak of what calls allocate, by nonzeros, as rows of a table."""
    rows = []
    for nonzeros in sizes:
        x = np.linspace(0, 1, nonzeros // 3 + 2)
        jacobian = ta.sparse_jacobian(springs)
        first, _ = peak(functools.partial(jacobian, x))
        later, kept = peak(functools.partial(jacobian, x))
        counts = [first, later, kept]
        per = [f"{count / jacobian.pattern.nnz:.0f}" for count in counts]
        rows.append([str(jacobian.pattern.nnz), *map(megabytes, counts), *per])
    return rows


MEMORY_HEAD = ["nonzeros", "first call", "later call", "its matrix"]
MEMORY_HEAD += [f"{what}, bytes / nonzero" for what in MEMORY_HEAD[1:]]


def peak(program: Callable[[], object]) -> tuple[int, int]:
    """Give the most that a call has allocated at once, and what its result holds, in bytes."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        outcome = program()
        after, most = tracemalloc.get_traced_memory()
        del outcome
        return most - before, after - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def report(quick: bool) -> list[str]:
    """Measure all, and lay it out in Markdown."""
    pace = BRIEF if quick else THOROUGH
    rows = [timed(problem, pace) for problem in problems(quick)]
    sizes = (1_000, 10_000) if quick else (10_000, 100_000, 1_000_000)
    return [*table(HEAD, rows), "", *table(MEMORY_HEAD, memory(sizes))]


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.sparse",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller, in seconds")
    print("\n".join(report(parser.parse_args().quick)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

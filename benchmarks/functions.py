"""What is said of single functions beside PyTorch."""

import itertools
import statistics
from collections.abc import Sequence

from benchmarks.libraries import BY_HAND, FORWARD, OURS, OURS_COMPILED, OURS_NATIVE, TORCH
from benchmarks.results import Result, Target
from benchmarks.tables import microseconds, table

__all__ = ["DTYPES", "bound_by_numpy", "function_targets", "functions_section", "printed_function"]

DTYPES = ("float64", "float32")

COMPILED = ("compiled", "native")

MEDIAN_TARGET = 0.8
WORST_TARGET = 1.5
"""The most that our time may be as a fraction of PyTorch's: in the median, and in the worst row."""


def compared(results: Sequence[Result]) -> list[Result]:
    """Leave out what was not timed beside PyTorch."""
    return [result for result in results if {OURS, TORCH} <= result.times.keys()]


def ratio(result: Result) -> float:
    """Give our time as a fraction of PyTorch's.

    The quickest rounds are compared: among so many ratios of medians, the worst would be noise.
    """
    return result.times[OURS].least / result.times[TORCH].least


def bound_by_numpy(result: Result) -> float:
    """Give what NumPy's own kernels take, as a fraction of PyTorch's time.

    It is the time of value and cotangents by hand where they are written out, and at least that of
    the value alone.
    """
    taken = [result.times[name].least for name in (FORWARD, BY_HAND) if name in result.times]
    return max(taken, default=0.0) / result.times[TORCH].least


def is_bounded(result: Result) -> bool:
    return bound_by_numpy(result) > WORST_TARGET


def function_targets(results: Sequence[Result]) -> list[Target]:
    """Give the bounds on the median of all ratios, and on the worst that NumPy does not bound."""
    ratios = [ratio(result) for result in compared(results)]
    free = [ratio(result) for result in compared(results) if not is_bounded(result)]
    if not ratios or not free:
        return []
    return [
        Target("functions: time / PyTorch eager, median", statistics.median(ratios), MEDIAN_TARGET),
        Target("functions: time / PyTorch eager, worst", max(free), WORST_TARGET),
    ]


def printed_function(result: Result) -> str:
    """Lay out one function in one dtype, in a line for a terminal."""
    name = f"{result.workload.name} ({result.workload.dtype})"
    if result.problems:
        return "\n".join((name, *(f"  PROBLEM: {problem}" for problem in result.problems)))
    if not compared([result]):
        return f"{name}: all derivatives agree"
    times = ", ".join(f"{key} {microseconds(t.least)}" for key, t in result.times.items())
    return f"{name}: {ratio(result):.2f} of PyTorch's time ({times} us)"


def functions_section(results: Sequence[Result]) -> list[str]:
    """Write the section of the page: the table, and which rows NumPy's own kernels bound."""
    results = compared(results)
    if not results:
        return []
    by_name = itertools.groupby(results, key=lambda result: result.workload.name)
    rows = [{result.workload.dtype: result for result in of_one} for _, of_one in by_name]
    rows.sort(key=lambda row: -max(ratio(result) for result in row.values()))
    ratios = [ratio(result) for result in results]
    bounded = sorted(filter(is_bounded, results), key=bound_by_numpy, reverse=True)
    columns = ("ratio", "tape_ad", "PyTorch", "NumPy, value", "NumPy, by hand", *COMPILED)
    return [
        "## Functions",
        "",
        f"{len(rows)} functions, each recorded and swept with a seed, mostly of 64 by 128",
        "elements: tape_ad's time as a fraction of PyTorch's, and the times in microseconds, each",
        "the quickest of several rounds. Beside them NumPy's time for the value alone and, where",
        "that comes near to PyTorch's time, for value and cotangents written by hand. What is",
        "compiled, by the NumPy engine and by the native one, is a fraction of tape_ad's own time.",
        "",
        f"Median of all ratios {statistics.median(ratios):.2f}, worst {max(ratios):.2f};",
        *said_of(bounded),
        "",
        *table(
            ("function", *(f"{dtype}: {column}" for dtype in DTYPES for column in columns)),
            (
                (name_of(row), *itertools.chain(*(cells(row.get(dtype)) for dtype in DTYPES)))
                for row in rows
            ),
        ),
        "",
    ]


def said_of(bounded: Sequence[Result]) -> list[str]:
    if not bounded:
        return [
            f"in no row do NumPy's own kernels take more than {WORST_TARGET} of PyTorch's time."
        ]
    return [
        f"in {len(bounded)} rows NumPy's own kernels already take more than {WORST_TARGET} of",
        "PyTorch's time:",
        "",
        *(
            f"- {result.workload.name} ({result.workload.dtype}): NumPy alone "
            f"{bound_by_numpy(result):.2f}, tape_ad {ratio(result):.2f}"
            for result in bounded
        ),
    ]


def name_of(row: dict[str, Result]) -> str:
    return next(iter(row.values())).workload.name


def cells(result: Result | None) -> tuple[str, ...]:
    """Write the ratio, the four times and the two fractions of a function in one dtype."""
    if result is None:
        return ("",) * (5 + len(COMPILED))
    own = result.times[OURS].least
    times = (
        microseconds(result.times[name].least) if name in result.times else ""
        for name in (OURS, TORCH, FORWARD, BY_HAND)
    )
    fractions = (
        f"{result.times[name].least / own:.2f}" if name in result.times else ""
        for name in (OURS_COMPILED, OURS_NATIVE)
    )
    return (f"{ratio(result):.2f}", *times, *fractions)

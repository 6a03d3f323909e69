"""What is said of compiled functions, beside the same ones uncompiled and `jax.jit`."""

import math
import statistics
from collections.abc import Mapping, Sequence

from benchmarks.libraries import (
    BY_HAND,
    COMPILED,
    LIBRARIES,
    OURS,
    OURS_COMPILED,
    UNCOMPILED,
)
from benchmarks.overhead import overhead_targets
from benchmarks.results import Result, Target
from benchmarks.tables import duration, table

__all__ = [
    "FUNCTIONS_TARGET",
    "calls_until_paid",
    "compared",
    "compiled_section",
    "compiled_targets",
    "printed_compiled",
    "ratio",
    "said_of_overheads",
    "said_of_rows",
]

FUNCTIONS_TARGET = 1.0


def compared(results: Sequence[Result], library: str = OURS_COMPILED) -> list[Result]:
    """Leave out what was not timed both ways."""
    return [result for result in results if {OURS, library} <= result.times.keys()]


def ratio(result: Result, library: str = OURS_COMPILED) -> float:
    """Give our compiled time, by one engine or the other, as a fraction of our own.

    The quickest rounds are compared: many ratios are near 1, and those of medians would be noise.
    """
    return result.times[library].least / result.times[OURS].least


def calls_until_paid(result: Result, library: str) -> float:
    """Say how many calls it takes until what each saves makes up for the first ones.

    It is inf where a compiled call saves nothing, and nan where that is not known.
    """
    times, uncompiled = result.times, UNCOMPILED[library]
    if library not in result.first or not {library, uncompiled} <= times.keys():
        return math.nan
    saved = times[uncompiled].least - times[library].least
    return result.first[library] / saved if saved > 0 else math.inf


def time_target(result: Result) -> Target:
    what = f"{result.workload.name}: compiled time / eager"
    return Target(what, ratio(result), result.workload.compiled)


def memory_targets(result: Result) -> list[Target]:
    """Give the bounds on memory, but for steps: a compiled one gives new parameters besides."""
    if result.workload.kind == "step":
        return []
    return [
        Target(
            f"{result.workload.name}: peak of {kind} memory, compiled / eager",
            peaks[OURS_COMPILED] / peaks[OURS],
            1.0,
        )
        for kind, peaks in (("allocated", result.peaks), ("resident", result.resident))
        if {OURS, OURS_COMPILED} <= peaks.keys()
    ]


def compiled_targets(
    results: Sequence[Result], functions: Sequence[Result], overheads: Mapping[str, float]
) -> list[Target]:
    """Give the bounds on times, on memory and on what a call takes at least."""
    found = []
    for result in results:
        if compared([result]):
            found.append(time_target(result))
        found += memory_targets(result)
    if ratios := [ratio(result) for result in compared(functions)]:
        found.append(
            Target("functions: compiled time / eager, worst", max(ratios), FUNCTIONS_TARGET)
        )
    return found + overhead_targets(overheads, "numpy")


def printed_compiled(result: Result) -> list[str]:
    """Say in lines for a terminal what the first calls took, and when they have paid."""
    lines = []
    for name, first in result.first.items():
        paid = until_paid(result, name)
        what = f"{LIBRARIES[name].title}: first calls {duration(first)}"
        said = {"": "", "never": ", which never pays"}
        lines.append(what + said.get(paid, f", paid after {paid} calls"))
    return lines


def until_paid(result: Result, library: str) -> str:
    calls = calls_until_paid(result, library)
    if math.isnan(calls):
        return ""
    return "never" if math.isinf(calls) else f"{math.ceil(calls):,}"


COLUMNS = (
    "workload",
    "eager",
    "compiled",
    "compiled / eager",
    "at most",
    "by hand / eager",
    "first calls",
    "calls of the program",
    "paid after",
    "jax.jit",
    "its first call",
    "paid after",
    "compiled / jax.jit",
)


def compiled_section(
    results: Sequence[Result], functions: Sequence[Result], overheads: Mapping[str, float]
) -> list[str]:
    """Write the section of the page."""
    if not compared(results):
        return []
    targets = compiled_targets(results, functions, overheads)
    missed = [target for target in targets if not target.met]
    return [
        f"## Compiled: {len(targets) - len(missed)} of {len(targets)} targets met",
        "",
        "`ta.compile` by the NumPy engine beside the same function uncompiled, and beside",
        "`jax.jit`; each time is that of the quickest of several rounds. The first calls are those",
        "that compile: with us two, which capture, with JAX one. They have paid after as many",
        "calls as it takes to save their time, against the same library uncompiled, where that",
        "was timed. A step of training is compiled whole, and gives new parameters. NumPy by hand",
        "is there where value and gradient have been written out with the same functions.",
        "",
        *table(COLUMNS, map(row, compared(results))),
        "",
        *said_of_rows(functions, OURS_COMPILED),
        "What was missed:" if missed else "Nothing was missed.",
        "",
        *(f"- {t.what}: {t.measured:.4g} (at most {t.bound:g})" for t in missed),
        *([""] if missed else []),
        *said_of_overheads(overheads, "numpy"),
    ]


def row(result: Result) -> tuple[str, ...]:
    """Write what was found for one workload."""
    times, first = result.times, result.first
    theirs = COMPILED in times
    met = ratio(result) <= result.workload.compiled
    return (
        result.workload.name,
        duration(times[OURS].least),
        duration(times[OURS_COMPILED].least),
        f"{ratio(result):.3g}" if met else f"**{ratio(result):.3g}**",
        f"{result.workload.compiled:g}",
        f"{times[BY_HAND].least / times[OURS].least:.3g}" if BY_HAND in times else "",
        duration(first[OURS_COMPILED]),
        f"{result.calls:,}",
        until_paid(result, OURS_COMPILED),
        duration(times[COMPILED].least) if theirs else "",
        duration(first[COMPILED]) if theirs else "",
        until_paid(result, COMPILED),
        f"{times[OURS_COMPILED].least / times[COMPILED].least:.3g}" if theirs else "",
    )


def said_of_rows(functions: Sequence[Result], library: str) -> list[str]:
    """Sum up the table of functions."""
    ratios = [ratio(result, library) for result in compared(functions, library)]
    if not ratios:
        return []
    return [
        f"Of the {len(ratios)} rows of the table of functions below, the median is "
        f"{statistics.median(ratios):.2f} of the eager time, the worst {max(ratios):.2f}.",
        "",
    ]


def said_of_overheads(overheads: Mapping[str, float], engine: str) -> list[str]:
    """Write what a call takes besides its program."""
    if not overheads:
        return []
    rows = zip(overheads, overhead_targets(overheads, engine), strict=True)
    return [
        "What a compiled call takes besides its program, in microseconds:",
        "",
        *table(
            ("arguments", "measured", "at most"),
            ((name, f"{target.measured:.2f}", f"{target.bound:.1f}") for name, target in rows),
        ),
        "",
    ]

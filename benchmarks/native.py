"""What is said of the native engine, beside `jax.jit`, `torch.compile` and a loop in C."""

from collections.abc import Mapping, Sequence

from benchmarks.beside import Beside
from benchmarks.compiled import (
    FUNCTIONS_TARGET,
    compared,
    ratio,
    said_of_overheads,
    said_of_rows,
)
from benchmarks.libraries import COMPILED, OURS_COMPILED, OURS_NATIVE, TORCH_COMPILED
from benchmarks.overhead import overhead_targets
from benchmarks.results import Result, Target
from benchmarks.tables import duration, table

__all__ = ["native_section", "native_targets"]


def beside_jit(results: Sequence[Result]) -> list[Result]:
    """Leave out what was not timed by both."""
    return [result for result in results if {OURS_NATIVE, COMPILED} <= result.times.keys()]


def time_target(result: Result) -> Target:
    times, what = result.times, f"{result.workload.name}: native time / jax.jit"
    return Target(what, times[OURS_NATIVE].median / times[COMPILED].median, result.workload.native)


def first_target(result: Result) -> Target:
    first, what = result.first, f"{result.workload.name}: native first calls / jax.jit's"
    return Target(what, first[OURS_NATIVE] / first[COMPILED], result.workload.first)


def native_targets(
    results: Sequence[Result],
    functions: Sequence[Result],
    overheads: Mapping[str, float],
    besides: Sequence[Beside],
) -> list[Target]:
    """Give the bounds on times, on first calls, and on what was timed apart."""
    found = [
        target
        for result in beside_jit(results)
        for target in (time_target(result), first_target(result))
    ]
    if ratios := [ratio(result, OURS_NATIVE) for result in compared(functions, OURS_NATIVE)]:
        found.append(Target("functions: native time / eager, worst", max(ratios), FUNCTIONS_TARGET))
    found += [beside.target for beside in besides if beside.target is not None]
    return found + overhead_targets(overheads, "native")


COLUMNS = (
    "workload",
    "NumPy engine",
    "native",
    "jax.jit",
    "native / jax.jit",
    "at most",
    "torch.compile",
    "native / torch.compile",
    "first calls",
    "jax.jit's",
    "first / jax.jit's",
    "at most",
    "torch.compile's",
    "native calls, runs",
)


def native_section(
    results: Sequence[Result],
    functions: Sequence[Result],
    overheads: Mapping[str, float],
    besides: Sequence[Beside],
) -> list[str]:
    """Write the section of the page."""
    timed = [result for result in results if OURS_NATIVE in result.times]
    if not timed:
        return []
    targets = native_targets(results, functions, overheads, besides)
    missed = [target for target in targets if not target.met]
    return [
        f"## Native: {len(targets) - len(missed)} of {len(targets)} targets met",
        "",
        '`ta.compile(f, engine="native")` beside `jax.jit` and `torch.compile`: medians, and the',
        "first calls, which compile: with us two, which capture, with the others one. Each library",
        "compiles anew, and forgets what it has compiled before.",
        "`torch.compile` has value and gradient in one graph (`torch.func`), and is left out where",
        "it would compile for more than 20 seconds. In the last column stands how many of a",
        "program's calls are native code, in how many runs; NumPy does the others, except views,",
        "which take no time.",
        "",
        *table(COLUMNS, map(row, timed)),
        "",
        *said_of_rows(functions, OURS_NATIVE),
        *said_of_besides(besides),
        *said_of_misses(missed),
        *said_of_what_is_left(timed),
        *said_of_overheads(overheads, "native"),
    ]


def row(result: Result) -> tuple[str, ...]:
    """Write what was found for one workload."""
    times, first, report = result.times, result.first, result.report
    own = times[OURS_NATIVE].median
    against = time_target(result) if COMPILED in times else None
    compiling = first_target(result) if COMPILED in first else None
    return (
        result.workload.name,
        duration(times[OURS_COMPILED].median) if OURS_COMPILED in times else "",
        duration(own),
        duration(times[COMPILED].median) if COMPILED in times else "",
        *measured(against),
        duration(times[TORCH_COMPILED].median) if TORCH_COMPILED in times else "",
        f"{own / times[TORCH_COMPILED].median:.3g}" if TORCH_COMPILED in times else "",
        duration(first[OURS_NATIVE]),
        duration(first[COMPILED]) if COMPILED in first else "",
        *measured(compiling),
        duration(first[TORCH_COMPILED]) if TORCH_COMPILED in first else "",
        f"{report.native:,} of {result.calls:,}, {report.segments:,}" if report else "",
    )


def measured(target: Target | None) -> tuple[str, str]:
    """Write what was measured, in bold where it is too much, and the bound."""
    if target is None:
        return "", ""
    found = f"{target.measured:.3g}"
    return found if target.met else f"**{found}**", f"{target.bound:g}"


def said_of_besides(besides: Sequence[Beside]) -> list[str]:
    """Write what was timed apart from the libraries."""
    if not besides:
        return []
    columns = ("what", "the one", "the other", "ratio", "at most", "how")
    return [
        "Beside a loop in C that calls the same functions of whole registers (`libmvec`), and by",
        "two threads on two cores:",
        "",
        *table(columns, (beside.row() for beside in besides)),
        "",
    ]


def said_of_misses(missed: Sequence[Target]) -> list[str]:
    """List what was missed, and by how much."""
    if not missed:
        return ["Nothing was missed.", ""]
    return [
        "What was missed, and by how much:",
        "",
        *(
            f"- {t.what}: {t.measured:.4g} (at most {t.bound:.3g}), "
            f"{t.measured / t.bound:.3g} times as much"
            for t in missed
        ),
        "",
    ]


def said_of_what_is_left(results: Sequence[Result]) -> list[str]:
    """List which calls NumPy does, and why."""
    lines = [
        f"- {result.workload.name}: {functions}: {reason}"
        for result in results
        if result.report is not None
        for reason, functions in left(result.report.left)
    ]
    return ["What NumPy does, and why:", "", *lines, ""] if lines else []


def left(calls: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    """Write reasons, and the functions with how often each is called."""
    return [
        (reason, ", ".join(f"{name} ({n:,} times)" if n > 1 else name for name, n in each.items()))
        for reason, each in calls.items()
    ]

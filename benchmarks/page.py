"""The pages that are written."""

from collections.abc import Callable, Sequence

from benchmarks.agreement import TOLERANCE
from benchmarks.compiled import compiled_section
from benchmarks.found import Run, losses
from benchmarks.functions import functions_section
from benchmarks.growth import growth
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.native import native_section
from benchmarks.results import Result, Target
from benchmarks.tables import duration, megabytes, rounded, table

__all__ = ["pages"]


def pages(found: Run, bars: str, chart: str) -> dict[str, str]:
    """Write the pages, by their files' names: what users look for, and what developers do."""
    parts = {
        "benchmarks.md": for_users(found, bars),
        "benchmarks-in-detail.md": in_detail(found, chart),
        "benchmarks-native.md": of_native_code(found),
        "benchmarks-by-function.md": by_function(found),
        "benchmarks-workloads.md": workloads(found),
    }
    return {name: "\n".join(lines) + "\n" for name, lines in parts.items()}


def for_users(found: Run, bars: str) -> list[str]:
    """Write how tape_ad compares, and where it loses."""
    return [
        "# Benchmarks",
        "",
        "This page is written by `python -m benchmarks`; do not edit it. Every library has its own",
        "process; they run in turn, on one core, with one thread for linear algebra. Before any",
        f"time is taken, all derivatives are compared in float64 and agree to {TOLERANCE:.0e}.",
        "[In detail](benchmarks-in-detail.md) are the targets and compiled code,",
        "[by function](benchmarks-by-function.md) single functions; there is also a page of",
        "[what each workload is](benchmarks-workloads.md).",
        "",
        f"![How many times as long as tape_ad PyTorch and JAX take]({bars})",
        "",
        "## Medians",
        "",
        "Below each median stands tape_ad's time as a fraction of it: below 1, tape_ad is quicker.",
        "A compiled program is in a class of its own; its compilation is not counted here.",
        "",
        *medians(found),
        "",
        "## Where tape_ad loses",
        "",
        "How many times as long it takes as the other library, or as much memory. What differs by",
        "less than 5 % counts as equal.",
        "",
        *lost(found),
        "",
        "## Peak memory beyond the inputs",
        "",
        "Allocated: NumPy's arrays and Python's objects as `tracemalloc` sees them, PyTorch's",
        "tensors as its profiler sees them, without what PyTorch keeps about its graph. Resident:",
        "all of it, and what the allocator wastes, as Linux sees it. It is the memory of",
        "`grad(release=True)`, for PyTorch too frees its graph in the sweep unless told otherwise.",
        "What a compiled program keeps between calls is counted with it, and so are the new",
        "parameters that a compiled step returns.",
        "",
        *memory(found),
        "",
        "## Import time",
        "",
        "What importing a library adds to importing NumPy, by `python -X importtime`. The rules",
        "for many functions, the `further` ones, are imported when one of them is first called,",
        "and the native engine, with LLVM, when it first compiles.",
        "",
        *table(("library", "ms"), ((name, f"{t:.0f}") for name, t in found.imports.items())),
        "",
        "## The run",
        "",
        "The first record that tape_ad makes teaches the C library to keep freed memory, in its",
        "own process alone.",
        "",
        *(f"- {what}: {value}" for what, value in found.setting.items()),
        "- Versions: " + "; ".join(f"{LIBRARIES[n].title} {v}" for n, v in found.versions.items()),
        *(f"- {LIBRARIES[n].title} is left out: {why}" for n, why in found.missing.items()),
    ]


WRITTEN = (
    "This page is written by `python -m benchmarks`, in the same run as that for",
    "[users](benchmarks.md); do not edit it.",
    "",
)


def in_detail(found: Run, chart: str) -> list[str]:
    """Write which targets are met, and what else was measured in the same run."""
    targets = found.targets()
    missed = [target for target in targets if not target.met]
    return [
        "# Benchmarks in detail",
        "",
        *WRITTEN,
        f"![How many times as long as tape_ad each library takes]({chart})",
        "",
        f"## Targets: {len(targets) - len(missed)} of {len(targets)} met",
        "",
        *beside_by_hand(found),
        "",
        *table(
            (*COLUMNS, "met"),
            ((*columns(t), "yes" if t.met else "**no**") for t in targets),
        ),
        "",
        *dropped(found),
        *compiled_section(found.results, found.functions, found.overheads.get("numpy", {})),
    ]


def of_native_code(found: Run) -> list[str]:
    """Write what native code takes, and which of its targets are met."""
    return [
        "# Benchmarks of native code",
        "",
        *WRITTEN,
        *native_section(
            found.results, found.functions, found.overheads.get("native", {}), found.besides
        ),
    ]


def by_function(found: Run) -> list[str]:
    """Write what single functions take, how sure that is, and how time grows."""
    return [
        "# Benchmarks by function",
        "",
        *WRITTEN,
        *functions_section(found.functions),
        "## Spread",
        "",
        "The distance between the quartiles, as a percentage of the median.",
        "",
        *spreads(found),
        "",
        "## Growth",
        "",
        "Nanoseconds for each node or element, recorded and swept (or captured twice and compiled",
        "by the native engine), by how many there are: each the quickest of several rounds. It",
        "should stay about flat. What rises at 10^5 and more is the time of Python's garbage",
        "collector, which looks through all that is kept, and of the processor's caches.",
        "",
        *grown(found),
    ]


def workloads(found: Run) -> list[str]:
    """Write what each workload is, and who does not take part in it."""
    return [
        "# What each workload is, and who does not take part",
        "",
        *WRITTEN,
        *(
            f"- **{r.workload.name}** ({r.workload.dtype}): {r.workload.title}.{absent(r)}"
            for r in found.results
        ),
    ]


COLUMNS = ("what", "measured", "at most", "NumPy by hand", "and a record", "nodes")


def columns(target: Target) -> tuple[str, ...]:
    """Write a target and what stands beside it."""
    return (
        target.what,
        f"{target.measured:.4g}",
        f"{target.bound:g}",
        f"{target.by_hand:.4g}" if target.by_hand else "",
        f"{target.recorded:.4g}" if target.recorded else "",
        f"{target.nodes:,}" if target.recorded else "",
    )


def beside_by_hand(found: Run) -> list[str]:
    """Say what the columns beside a target are."""
    record, node = found.cost.record * 1e6, found.cost.node * 1e6
    return [
        "Where values and gradients are written in NumPy by hand as well, its time stands beside",
        "ours, as a fraction of the same peer's. A library that records NumPy's calls does all of",
        f"that, and keeps a record besides: {record:.1f} us in this run, and {node:.2f} us a node.",
    ]


def dropped(found: Run) -> list[str]:
    """List the targets that were dropped, each with the reason."""
    if not found.dropped():
        return []
    return [
        "## Targets that were dropped",
        "",
        "Where NumPy by hand misses a target as well, there is none.",
        "",
        *table(COLUMNS, map(columns, found.dropped())),
        "",
    ]


def lost(found: Run) -> list[str]:
    """List who is quicker, and where."""
    lines = [f"- **{title}**: {'; '.join(where)}" for title, where in losses(found).items()]
    return lines or ["Nowhere in this run."]


def medians(found: Run) -> list[str]:
    names = list(found.versions)

    def cell(result: Result, name: str) -> str:
        if name not in result.times:
            return ""
        median = duration(result.times[name].median, digits=2)
        return median if name == OURS else f"{median}<br>{rounded(result.ratio(name), 2)}"

    return by_library(found, names, cell)


def spreads(found: Run) -> list[str]:
    def cell(result: Result, name: str) -> str:
        return f"{result.times[name].spread:.0%}" if name in result.times else ""

    return by_library(found, list(found.versions), cell)


def memory(found: Run) -> list[str]:
    looked = [
        (f"{result.workload.name}, {kind}", peaks)
        for result in found.results
        for kind, peaks in (("allocated", result.peaks), ("resident", result.resident))
        if peaks
    ]
    names = list(dict.fromkeys(name for _, peaks in looked for name in peaks))
    rows = (
        (what, *(megabytes(peaks[name]) if name in peaks else "" for name in names))
        for what, peaks in looked
    )
    return table(("workload", *(LIBRARIES[name].title for name in names)), rows)


def by_library(found: Run, names: Sequence[str], cell: Callable[[Result, str], str]) -> list[str]:
    rows = (
        (result.workload.name, *(cell(result, name) for name in names))
        for result in found.results
        if result.times
    )
    return table(("workload", *(LIBRARIES[name].title for name in names)), rows)


def grown(found: Run) -> list[str]:
    sizes = sorted({size for per_element in found.growths.values() for size in per_element})
    rows = (
        (
            name,
            *(f"{per_element[size]:.0f}" if size in per_element else "" for size in sizes),
            f"{growth(per_element):.2f}",
        )
        for name, per_element in found.growths.items()
    )
    return table(("what", *(f"{size:,}" for size in sizes), "slowest / quickest"), rows)


def absent(result: Result) -> str:
    """Say who does not take part, and why."""
    said = "; ".join(f"{LIBRARIES[name].title}: {why}" for name, why in result.absent.items())
    return f" Not there: {said}." if said else ""

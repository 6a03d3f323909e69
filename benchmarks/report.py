"""What is printed in a terminal."""

from collections.abc import Iterable

from benchmarks.agreement import TOLERANCE
from benchmarks.compiled import compiled_targets, printed_compiled
from benchmarks.found import Run, losses
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.native import native_targets
from benchmarks.results import Result, Target
from benchmarks.tables import duration, megabytes
from benchmarks.timing import Times

__all__ = ["printed", "printed_targets"]

COLUMNS = "  {:<26} {:>12} {:>25} {:>16}  {}"


def printed(result: Result) -> str:
    """Lay out what was found for one workload, for a terminal."""
    workload = result.workload
    lines = ["", f"{workload.name}: {workload.title}"]
    lines += [f"  PROBLEM: {problem}" for problem in result.problems]
    if not result.problems:
        lines.append(f"  all derivatives agree to {TOLERANCE:.0e} (float64)")
    if result.times:
        title = f"tape_ad / peer ({workload.dtype})"
        lines.append(COLUMNS.format("library", "median", "quartiles", title, "").rstrip())
        lines += [time_line(result, name, times) for name, times in result.times.items()]
    for kind, peaks in (("allocated", result.peaks), ("resident", result.resident)):
        if peaks:
            said = (f"{LIBRARIES[name].title} {megabytes(peak)}" for name, peak in peaks.items())
            lines.append(f"  peak of {kind} memory beyond the inputs: " + ", ".join(said))
    lines += [f"  {LIBRARIES[name].title}: -, {why}" for name, why in result.absent.items()]
    lines += [f"  {line}" for line in printed_compiled(result)]
    targets = result.time_targets() + result.memory_targets()
    targets += compiled_targets([result], [], {}) + native_targets([result], [], {}, [])
    lines += [f"  {line}" for line in target_lines(targets)]
    return "\n".join(lines)


def time_line(result: Result, name: str, times: Times) -> str:
    low, high = times.quartiles
    ratio = "" if name == OURS else f"{result.ratio(name):.3g}"
    slower = name != OURS and result.ratio(name) > 1
    return COLUMNS.format(
        LIBRARIES[name].title,
        duration(times.median),
        f"{duration(low)} - {duration(high)}",
        ratio,
        "slower" if slower else "",
    ).rstrip()


def printed_targets(found: Run) -> str:
    """Sum up: which bounds are kept, and where we lose."""
    targets = found.targets() + found.compiled_targets() + found.native_targets()
    missed = [target for target in targets if not target.met]
    lines = ["", f"targets met: {len(targets) - len(missed)} of {len(targets)}"]
    lines += [f"  {line}" for line in target_lines(missed)]
    lines += ["another library needs less:"] if losses(found) else []
    lines += [f"  {title}: {'; '.join(where)}" for title, where in losses(found).items()]
    return "\n".join(lines)


def target_lines(targets: Iterable[Target]) -> list[str]:
    return [
        f"{'met    ' if t.met else 'NOT MET'}  {t.what}: {t.measured:.4g} (at most {t.bound:g})"
        for t in targets
    ]

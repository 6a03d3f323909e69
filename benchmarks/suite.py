"""The run: agreement first, then times, memory, imports and growth."""

import contextlib
import datetime as dt
import functools
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

from benchmarks.agreement import disagreements
from benchmarks.c_loop import NAME as IN_C
from benchmarks.c_loop import beside_c
from benchmarks.chart import draw, draw_bars
from benchmarks.found import Run
from benchmarks.functions import DTYPES, printed_function
from benchmarks.growth import GROWTHS, nanoseconds_per_element, record_cost
from benchmarks.imports import import_milliseconds
from benchmarks.libraries import LIBRARIES, OURS, OURS_COMPILED, OURS_NATIVE, TORCH, TORCH_COMPILED
from benchmarks.overhead import OVERHEADS, overhead_seconds
from benchmarks.page import pages
from benchmarks.report import printed, printed_targets
from benchmarks.results import Result
from benchmarks.threads import two_threads_beside_one
from benchmarks.timing import BRIEF, THOROUGH, Pace, in_turns
from benchmarks.workers import Worker, WorkerError, apart, peak_of, resident_peak_of
from benchmarks.workloads import EVERY, FUNCTIONS, WORKLOADS, Workload

__all__ = ["Options", "run"]

DOCS = Path(__file__).parent.parent / "docs"
SEE_MEMORY = (OURS, OURS_COMPILED, OURS_NATIVE, TORCH, "hips_autograd", "my_grad")


@frozen
class Options:
    """What the command line asks for.

    Attributes
    ----------
    quick : bool
        Take no times and write no files.
    only : str
        Take the workloads whose names contain this.
    without : frozenset of str
        Libraries to leave out.
    cores : tuple of int
        Those that there were before one of them was taken.
    """

    quick: bool = False
    only: str = ""
    without: frozenset[str] = frozenset()
    cores: tuple[int, ...] = ()

    @property
    def left_out(self) -> frozenset[str]:
        """The libraries that do not run, and those that take too long for a quick look."""
        return self.without | {"jax_eager", TORCH_COMPILED} if self.quick else self.without

    @property
    def complete(self) -> bool:
        """Whether this is a run to be published."""
        return not (self.quick or self.only or self.without)


def run(options: Options) -> int:
    """Run what is asked for, print it, write the files of a complete run; give the exit status."""
    chosen = [
        workload
        for name, workload in WORKLOADS.items()
        if options.only in name and (workload.timed or not options.quick)
    ]
    functions = [workload for name, workload in FUNCTIONS.items() if options.only in name]
    if not chosen and not functions:
        print(f"no workload has {options.only!r} in its name; there are:", *EVERY, sep="\n  ")
        return 2
    with contextlib.ExitStack() as stack:
        started = [Worker(name) for name in LIBRARIES if name not in options.left_out]
        workers = {worker.name: stack.enter_context(worker) for worker in started}
        found = Run(
            setting=setting(),
            versions={name: worker.version for name, worker in workers.items() if worker.version},
            missing={name: worker.missing for name, worker in workers.items() if worker.missing},
        )
        present = {name: worker for name, worker in workers.items() if not worker.missing}
        print(*(f"{what}: {value}" for what, value in found.setting.items()), sep="\n")
        print(*(f"{LIBRARIES[n].title}: {v}" for n, v in found.versions.items()), sep="; ")
        for name, reason in found.missing.items():
            print(f"{LIBRARIES[name].title} is left out: {reason}")
        if not options.quick:
            found.cost = apart(record_cost)
        for workload in chosen:
            result = one(workload, present, found.missing, options)
            found.results.append(result)
            print(printed(result), flush=True)
        for workload in functions:
            for dtype in DTYPES[:1] if options.quick else DTYPES:
                in_dtype = evolve(workload, dtype=dtype)
                result = one(in_dtype, present, found.missing, options, BRIEF)
                found.functions.append(result)
                print(printed_function(result), flush=True)
    if not options.quick and not options.only:
        found.imports = {
            name: import_milliseconds(name)
            for name in ("tape_ad", "torch", "autograd", "mygrad", "jax")
            if name == "tape_ad" or name in {LIBRARIES[n].distribution for n in found.versions}
        }
        late = ["tape_ad.rules.lazy_tables"]
        if OURS_NATIVE in found.versions:
            late.append("tape_ad.programs.engines.native.native_engine")
        found.imports |= {name: import_milliseconds(name, beyond="numpy, tape_ad") for name in late}
        found.growths = {
            name: apart(nanoseconds_per_element, name)
            for name, asked in GROWTHS.items()
            if not asked.native or OURS_NATIVE in found.versions
        }
        found.overheads = {
            engine: {name: apart(overhead_seconds, name, engine) for name in OVERHEADS}
            for engine, library in (("numpy", OURS_COMPILED), ("native", OURS_NATIVE))
            if library in found.versions
        }
    if OURS_NATIVE in found.versions and not options.quick and options.only in IN_C:
        found.besides = [apart(beside_c), apart(two_threads_beside_one, options.cores)]
    print(printed_targets(found))
    if options.complete:
        write(found)
    broken_bound = not all(t.met for result in found.results for t in result.memory_targets())
    return int(broken_bound or any(each.problems for each in found.results + found.functions))


def one(
    workload: Workload,
    present: Mapping[str, Worker],
    missing: Mapping[str, str],
    options: Options,
    pace: Pace = THOROUGH,
) -> Result:
    """Check a workload's agreement, and measure it if there is any."""
    result = Result(workload, absent=dict.fromkeys(missing, "left out"))
    taking_part = {}
    for name, worker in present.items():
        reason = workload.reason_against(name)
        if options.quick and name in workload.not_quick:
            reason = "too slow for a quick look"
        if reason:
            result.absent[name] = reason
        else:
            taking_part[name] = worker
    if workload.timed:
        result.problems += problems(workload, taking_part)
    if result.problems:
        return result
    if workload.timed and not options.quick:
        take_times(result, taking_part, pace)
    looks = workload.arrays is not None or (workload.memory is not None and not options.quick)
    if looks:
        result.input_bytes = first_input(workload).nbytes
        result.peaks = {
            name: apart(peak_of, name, workload.name, workload.dtype)
            for name in ((OURS, OURS_COMPILED) if options.quick else SEE_MEMORY)
            if name in taking_part
        }
        if not workload.timed:
            found = {
                name: apart(resident_peak_of, name, workload.name, workload.dtype)
                for name in SEE_MEMORY
                if name in taking_part
            }
            result.resident = {name: peak for name, peak in found.items() if peak is not None}
    return result


def take_times(result: Result, workers: Mapping[str, Worker], pace: Pace) -> None:
    """Time a workload in all libraries, and ask those that can be asked what they did."""
    workload = result.workload
    timers = {
        name: functools.partial(worker.ask, "seconds", workload.name, workload.dtype)
        for name, worker in workers.items()
    }
    result.times = in_turns(timers, pace)
    for name, worker in workers.items():
        if LIBRARIES[name].first_calls:
            result.first[name] = worker.ask("first")
    for name in {OURS_COMPILED, OURS_NATIVE} & workers.keys():
        result.calls = workers[name].ask("calls")
        result.report = workers[name].ask("report") or result.report
    if OURS in workers and workload.kind in ("gradient", "step"):
        result.nodes = workers[OURS].ask("nodes", workload.name)


def problems(workload: Workload, workers: Mapping[str, Worker]) -> list[str]:
    """Ask every library for its derivatives, and say which disagree with ours or fail."""
    calls = 4 if workload.kind == "step" else 1
    for worker in workers.values():
        worker.put("outcomes", workload.name, calls)
    found, outcomes = [], {}
    for name, worker in workers.items():
        try:
            outcomes[name] = worker.answer()
        except WorkerError as error:
            found.append(f"{name} fails: {error}")
    ours = outcomes.pop(OURS, None)
    return found + (disagreements(ours, outcomes) if ours is not None else [])


def first_input(workload: Workload) -> np.ndarray[Any, Any]:
    """Give the first input as it is timed."""
    p, _ = workload.inputs()
    array: np.ndarray[Any, Any] = next(iter(p.values())).astype(workload.dtype)
    return array


def setting() -> dict[str, str]:
    """Say where and when this runs."""
    return {
        "Command": "python -m benchmarks",
        "Machine": f"{processor()}, {cores()} core(s) in use",
        "System": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "Date": dt.datetime.now(dt.UTC).strftime("%d %B %Y"),
    }


def processor() -> str:
    """Name the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()} ({platform.machine()})"
    return platform.processor() or platform.machine()


def cores() -> int:
    """Count the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def write(found: Run) -> None:
    """Write the pages and their charts."""
    DOCS.mkdir(exist_ok=True)
    draw_bars(found, DOCS / "benchmarks.png")
    draw(found, DOCS / "benchmarks-all.png")
    for name, text in pages(found, "benchmarks.png", "benchmarks-all.png").items():
        (DOCS / name).write_text(text)
        print(f"\nwritten: {DOCS / name}")

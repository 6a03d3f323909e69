"""What has become of a compiled function, in words."""

import functools
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from operator import index
from time import perf_counter
from typing import Any

import numpy as np

from tape_ad.base.naming import called, counted
from tape_ad.programs.capture.tracers import complex_code, float_code
from tape_ad.programs.engines import compiler_passes
from tape_ad.programs.engines.plans import Report
from tape_ad.programs.program import body_of
from tape_ad.programs.program.keys import Static
from tape_ad.programs.replay.paths import Path, Paths

QUESTIONS: Mapping[Any, str] = {
    bool: "a condition is asked for",
    int: "an integer is taken out",
    index: "an integer is taken out as an index",
    float_code: "a number is taken out",
    complex_code: "a complex number is taken out",
    np.shape: "the shape of a result depends on values",
}
"""What a guard is about; those that are not here write a number as text."""
NAMES: Mapping[Any, str] = {float_code: "float", complex_code: "complex"}
SHOWN = 12
"""How many arguments of a key are listed."""


def title(function: Any) -> str:
    """Name a function for an error, also where it has no name of its own.

    Examples
    --------
    >>> title(functools.partial(np.sum, axis=0)), title(title)
    ('np.sum', 'title')
    """
    while isinstance(function, functools.partial):
        function = function.func
    module = getattr(function, "__module__", None) or ""
    owner = getattr(function, "__self__", function)  # a ufunc's method has its ufunc there
    of_numpy = module.startswith("numpy") and not isinstance(function, np.vectorize)
    if isinstance(owner, np.ufunc) or of_numpy:
        return called(function)
    return str(getattr(function, "__name__", type(function).__name__))


def asked(question: Callable[..., Any]) -> str:
    """Say what a guard is about."""
    return QUESTIONS.get(question, "a number is written as text")


def explained(
    compiled: Any, known: Sequence[Paths], not_captured: Mapping[str, int], *, passes: bool = False
) -> str:
    """Write what `Compiled.explain` gives.

    Parameters
    ----------
    compiled : Compiled
    known : sequence of Paths
    not_captured : mapping of str to int
        Why calls were not captured, and how many.
    passes : bool
        Whether to list programs after each pass.
    """
    lines = [f"{compiled!r}, engine {compiled.engine!r}"]
    numbers = count()
    for paths in known:
        lines += for_key(paths, numbers, compiled.engine if passes else None)
    lines += [f"ran by itself {times(number)}: {why}" for why, number in not_captured.items()]
    return "\n".join(lines)


def for_key(paths: Paths, numbers: Iterator[int], engine: str | None) -> Iterator[str]:
    """Write what there is for arguments of one key; with all passes, if an engine is named."""
    yield f"for {arguments(paths)}"
    for path, number in zip(paths.all, numbers, strict=False):
        yield from for_path(number, path)
        if engine is not None:
            for name, listing in listings(path, engine):
                yield f"    {name}:"
                yield textwrap.indent(listing, " " * 6)
    if paths.exhausted:
        yield f"  not replayed any more, {times(paths.eager)} by itself: {paths.exhausted[0]}"


def arguments(paths: Paths) -> str:
    """Write the arguments of a key: types and shapes, and what else is in it."""
    inputs = paths.all[0].program.inputs if paths.all else ()
    shown = [f"{value.name}: {value}" for value in inputs[:SHOWN]]
    if len(inputs) > SHOWN:
        shown.append(f"{len(inputs) - SHOWN} others")
    statics = [repr(each.leaf) for each in statics_in(paths.key.form)]
    return ", ".join([*shown, *statics[:SHOWN]]) or "no arguments"


def statics_in(form: Any) -> list[Static]:
    """List what in a key is no number."""
    if isinstance(form, Static):
        return [form]
    return [each for part in form for each in statics_in(part)] if type(form) is tuple else []


def for_path(number: int, path: Path) -> Iterator[str]:
    """Write what has become of a program."""
    program = path.simple or path.program
    calls, guards = counted(len(program.calls), "call"), counted(len(program.guards), "guard")
    if loops := sum(body_of(call) is not None for call in program.calls):
        calls += f", {counted(loops, 'loop')}"
    numbers = " and ".join(str(each) for each, _ in path.captures)
    seconds = sum(seconds for _, seconds in path.captures)
    state = "not yet compared" if path.replay is None else f"replayed {times(path.replays)}"
    if path.checks:
        state += f", {path.checks} of them beside the function"
    if path.replay is not None and path.untested:
        same = ", ".join(path.program.inputs[place].name for place in path.untested)
        state += f", not yet with other numbers in {same}"
    memory = "" if program.nbytes is None else f"; {program.nbytes:,} bytes"
    yield (
        f"  program {number}: {calls}, {guards}; captured by call{'s' * (len(path.captures) > 1)} "
        f"{numbers} ({seconds * 1e3:.1f} ms); {state}{memory}"
    )
    if path.report is not None:
        yield from for_engine(path.report)
    names = program.numbers()
    for place, failures in sorted(path.failed_guards.items()):
        guard = program.guards[place]
        question = NAMES.get(guard.question, getattr(guard.question, "__name__", "?"))
        yield f"    guard {question} %{names[guard.value]}, {guard.line}: failed {times(failures)}"
    for constant in program.constants:
        made = ": made by the function, and kept" if constant.value in path.kept else ""
        yield f"    constant {constant.value}, {constant.line}{made}"


def for_engine(report: Report) -> Iterator[str]:
    """Write which calls are native code, and why others are not."""
    yield (
        f"    native: {counted(report.native, 'call')}, as {counted(report.loops, 'loop')} in "
        f"{counted(report.segments, 'run')} of native code; compiled in {report.seconds * 1e3:.1f} "
        "ms"
    )
    for reason, functions in report.left.items():
        names = [f"{name} {times(n)}" if n > 1 else name for name, n in functions.items()]
        yield f"    NumPy: {', '.join(names)}: {reason}"


def listings(path: Path, engine: str) -> Iterator[tuple[str, str]]:
    """Give the name of each pass that has changed a program, with what it made, as text."""
    program = path.simple or path.program
    name = "capture"
    for simplification, before in program.history:
        yield name, str(before)
        name = simplification
    yield name, str(program)
    if path.report is not None and path.report.segments:
        before_it = ""
        for name, listing in compiler_passes(engine, program):
            if listing != before_it:
                yield name, listing
            before_it = listing


def times(number: int) -> str:
    """Write how often something happened: "once", "3 times"."""
    return counted(number, "time")


PATIENCE = 2.0
"""After how many seconds somebody at a terminal is told what takes so long."""


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Write a line to stderr if a ``with`` block takes long, and stderr is a terminal."""
    stream = sys.stderr
    if not (hasattr(stream, "isatty") and stream.isatty()):
        yield
        return
    start, told = perf_counter(), threading.Event()

    def tell() -> None:
        told.set()
        print(f"{what} ...", end="", file=stream, flush=True)

    timer = threading.Timer(PATIENCE, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if told.is_set():
            print(f" {perf_counter() - start:.1f} s", file=stream, flush=True)

"""Random programs by native code, beside NumPy's engine, in processes of their own.

python -m tests.fuzz.native --programs 100000 --seed 0      look for programs that go wrong
python -m tests.fuzz.native --seed 0 --number 123           try one program again, in this process
python -m tests.fuzz.native --kind functions                functions with branches and derivatives
python -m tests.fuzz.native --kind views                    views and what is done in place
python -m tests.fuzz.native --guarded end                   arrays end where no memory is

PYTHONMALLOC=malloc valgrind --quiet --undef-value-errors=no \\
    python -m tests.fuzz.native --programs 20 --alone       tell of each access to no array's memory

A program that crashes is named, and those after it are tried in a new process. Results may differ
as far as rounding explains (`tests.programs.closeness`). With ``--guarded``, each array lies right
before (``end``) or right behind (``start``) memory that may not be touched, so that whoever reads
or writes a byte too far crashes.
"""

import argparse
import contextlib
import ctypes
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

import tape_ad as ta
from tape_ad.programs.engines import storage
from tape_ad.programs.passes import simplified
from tape_ad.programs.program import Call, Program, Value
from tape_ad.programs.program.keys import key_of
from tests.fuzz.calls_of_arrays import drawn_program
from tests.fuzz.compiled import random_program
from tests.fuzz.guarded import guarded
from tests.fuzz.views import drawn_function, small_parts, unlike_eager
from tests.programs import verifier
from tests.programs.natively import problems
from tests.programs.verifier import verify_owners

__all__ = ["Finding", "found_in", "searched"]

Point = tuple[Any, ...]

TURN = 1000
"""How many programs one process tries: LLVM keeps what it has compiled."""
PATIENCE = 120.0
"""After how many seconds without a new program a process is ended."""


@frozen
class Finding:
    """A program that goes wrong.

    Attributes
    ----------
    number : int
    story : str
    """

    number: int
    story: str


def of_calls(seed: int, number: int) -> Iterator[tuple[Program, list[Point]]]:
    """Draw a program of calls."""
    drawn = drawn_program(seed, number)
    yield simplified(drawn.program) if number % 2 else drawn.program, drawn.points


def of_functions(seed: int, number: int) -> Iterator[tuple[Program, list[Point]]]:
    """Draw a function with branches, perhaps a derivative, and capture it."""
    drawn = random_program(seed, number)
    fast = ta.compile(drawn.function(), engine="numpy")
    points = [drawn.arguments(number) for number in (0, 0, 1, 2, 5, 2, 5)]
    with contextlib.suppress(Exception):  # what cannot be captured, or is NumPy's own
        for point in points:
            fast(*point)
    for paths in fast._paths.values():
        inputs = [given for key, given in map(with_key, points) if key.form == paths.key.form]
        for path in paths.all:
            if path.simple is not None:
                yield path.simple, inputs[1:5]


def of_views(seed: int, number: int) -> Iterator[tuple[Program, list[Point]]]:
    """Draw a function of views and in-place operations, and compare NumPy's engine with it."""
    drawn = drawn_function(seed, number)
    fast = ta.compile(drawn.given, engine="numpy")
    with small_parts(drawn, number):
        found = next(unlike_eager(drawn, fast), "")
    if found:
        raise AssertionError(found)
    for path in (path for paths in fast._paths.values() for path in paths.all):
        if path.simple is not None:
            yield path.simple, drawn.points


def with_key(point: Point) -> Any:
    """Give the key of arguments, and the arrays and numbers among them."""
    return key_of(point, {}, ("x", "y", "n", "k"))


KINDS: dict[str, Callable[[int, int], Iterator[tuple[Program, list[Point]]]]] = {
    "calls": of_calls,
    "functions": of_functions,
    "views": of_views,
}


def found_in(seed: int, number: int, kind: str = "calls", guard: str = "") -> str:
    """Try one program; say what is wrong with it, and with the least that is wrong of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        beside = guarded(guard == "end") if guard else contextlib.nullcontext()
        with beside:
            try:
                for program, points in KINDS[kind](seed, number):
                    found = problem_of(program, points)
                    if found:
                        return smallest(program, points, found)
            except AssertionError as difference:
                return str(difference)
    return ""


def problem_of(program: Program, points: list[Point]) -> str:
    """Compare both engines; a failure to compile is a problem as well."""
    try:
        with contextlib.suppress(IndexError, ValueError, np.linalg.LinAlgError):  # NumPy's own
            verify_owners(program, points[0])
        return next(problems(program, points), "")
    except Exception as error:
        return f"fails with {type(error).__name__}: {error}"


def smallest(program: Program, points: list[Point], found: str) -> str:
    """Show the first value that comes out wrong alone, with what it is computed of."""
    for call in program.calls:
        for value in call.outputs:
            shorter = computing(program, value)
            story = problem_of(shorter, points)
            if story:
                return f"{story}\n{shorter}"
    return f"{found}\n{program}"


def computing(program: Program, value: Value) -> Program:
    """Give the part of a program that a value depends on."""
    needed, steps = {value}, []
    for step in reversed(program.steps):
        if isinstance(step, Call) and not needed.isdisjoint(step.outputs):
            steps.append(step)
            needed.update(step.operands)
    return evolve(program, steps=tuple(reversed(steps)), output=(value,), history=())


# The process that tries, and the one that watches it


def work(start: int, stop: int, options: argparse.Namespace) -> None:
    """Try programs, writing the number of each to a file before, and what is found to another."""
    with Path(options.at or os.devnull).open("w", encoding="utf-8") as place:
        for number in range(start, stop):
            place.seek(0)
            place.write(f"{number:12}")
            place.flush()
            if number == options.crashing:
                ctypes.string_at(0)
            story = found_in(options.seed, number, options.kind, options.guarded)
            if story:
                print(json.dumps([number, story]), flush=True)


def tried(start: int, stop: int, options: argparse.Namespace) -> Iterator[Finding]:
    """Try programs in another process, and in one more behind each that has ended it."""
    while start < stop:
        with tempfile.TemporaryDirectory() as folder:
            at, said = Path(folder) / "at", Path(folder) / "said"
            at.write_text(f"{start}")
            command = [sys.executable, "-m", "tests.fuzz.native", "--at", str(at)]
            command += ["--seed", str(options.seed), "--kind", options.kind]
            command += ["--guarded", options.guarded, "--crashing", str(options.crashing)]
            command += ["--work", str(start), str(stop)]
            with said.open("w") as out:
                begun = subprocess.Popen(  # noqa: S603 - our own command
                    command, stdout=out, stderr=subprocess.STDOUT
                )
                end = watched(begun, at)
            lines = said.read_text().splitlines()
            last = int(at.read_text())
        for line in lines:
            if line.startswith("["):
                yield Finding(*json.loads(line))
        if end == 0:
            return
        tail = " | ".join([line for line in lines if not line.startswith("[")][-3:])
        yield Finding(last, f"ends the process: {end} {tail}")
        start = last + 1


def watched(process: subprocess.Popen[bytes], at: Path) -> int | str:
    """Wait for a process, and end it where it does not come on."""
    before, since = "", time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(2.0)
        now = at.read_text()
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            process.kill()
            process.wait()
            return "it does not come on"


def searched(options: argparse.Namespace) -> Iterator[Finding]:
    """Try as many programs as asked for, by several processes at once."""
    first, last = options.first, options.first + options.programs
    with ThreadPoolExecutor(options.jobs) as pool:
        several = pool.map(
            lambda start: list(tried(start, min(start + TURN, last), options)),
            range(first, last, TURN),
        )
        yield from itertools.chain.from_iterable(several)


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.native", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=[*KINDS], default="calls")
    parser.add_argument("--guarded", choices=["", "end", "start"], default="")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes at once")
    parser.add_argument("--number", type=int, help="try one program alone, in this process")
    parser.add_argument("--alone", action="store_true", help="try them in this process")
    parser.add_argument("--crashing", type=int, default=-1, help="which program is to crash")
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--at", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main() -> None:
    options = parsed()
    storage.verifier = verifier
    if options.work:
        start, stop = options.work
        work(start, stop, options)
        return
    if options.number is not None:
        story = found_in(options.seed, options.number, options.kind, options.guarded)
        print(story or "nothing is wrong with it")
        return
    if options.alone:
        work(options.first, options.first + options.programs, options)
        return
    began, count = time.monotonic(), 0
    for finding in searched(options):
        count += 1
        print(f"--seed {options.seed} --number {finding.number}: {finding.story}\n", flush=True)
    took = time.monotonic() - began
    print(f"{options.programs} programs in {took:.0f} s, {count} problems")


if __name__ == "__main__":
    main()

"""Random programs that are interrupted once, at a random instruction.

python -m tests.fuzz.interrupts --seconds 3600 --seed 0     look for programs that go wrong
"""

import argparse
import itertools
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import tape_ad as ta
from tape_ad.base.arrays.overridable import ACTIVE
from tests.fuzz.programs import Problem, Program, Run, is_variable, random_program

__all__ = ["interrupted"]

HOME = str(Path(ta.__file__).parent)

ERRORS = (KeyboardInterrupt, MemoryError, RecursionError)

SEVERAL = ("for ", "], ", "double(", "fill(", "shift(", "normalize(", "reverse(", "@=", "real ")
"""What is in lines that assign more than once, between which an interrupt may come."""


def interrupted(seed: int, number: int) -> tuple[Program, Problem | None]:
    """Interrupt a random line of a random program, and compare with it run and left out."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = random_program(seed, number)
        rng = np.random.default_rng([seed, number, 1])
        can = [i for i, line in enumerate(program.lines, 1) if not any(s in line for s in SEVERAL)]
        if not can:
            return program, None
        line, error = int(rng.choice(can)), ERRORS[int(rng.integers(3))]
        length = instructions(program, line)
        if length == 0:
            return program, None
        moment = int(rng.integers(length))
        story = f"{error.__name__} in line {line} at instruction {moment}"
        return program, wrong_after(program, line, moment, error, story)


def instructions(program: Program, line: int) -> int:
    """Count the instructions of the library that a line takes."""
    run = Run.recorded(program)
    for _ in range(line):
        run.step()
    numbers = itertools.count()
    step_traced(run, numbers, -1, KeyboardInterrupt)
    return next(numbers) if run.errors[-1] is None else 0


def step_traced(run: Run, numbers: Any, moment: int, error: Any) -> bool:
    """Run the next line, raising before an instruction of the library."""
    before = sys.gettrace()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            if next(numbers) == moment:
                sys.settrace(before)
                raise error
            return trace
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return trace

    sys.settrace(trace)
    try:
        run.step()
    except error:
        run.errors.append(None)
        return True
    finally:
        sys.settrace(before)
    return False


def wrong_after(program: Program, line: int, moment: int, error: Any, story: str) -> Problem | None:
    """Interrupt a program, go on, and compare with programs that were not interrupted."""
    run = Run.recorded(program)
    for _ in range(line):
        run.step()
    before = run.values()
    step_traced(run, itertools.count(), moment, error)
    now = run.values()
    if ACTIVE.get().record is not None:
        return Problem("context", story)
    uncut = Run.recorded(program)
    for _ in range(line + 1):
        uncut.step()
    candidates = [after for after in (before, uncut.values()) if same(now, after)]
    if not candidates:
        return Problem("half", f"{story}: {now}; before {before}")
    run.finish()
    for skipped in ((), (line,)):
        other = Run.recorded(program).finish(skipped)
        if same(run.values(), other.values()) and same(slopes(run), slopes(other)):
            return None
    return Problem("afterwards", story)


def slopes(run: Run) -> dict[str, Any]:
    """Give the gradients of the total by all handles."""
    total = run.total()
    if type(total) is not ta.Tensor:
        return {}
    grads = total.grad()
    return {
        name: grads.wrt(handle)
        for name, handle in run.arrays().items()
        if type(handle) is ta.Tensor and is_variable(handle)
    }


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether arrays are the same, with the same names."""
    return one.keys() == other.keys() and all(
        value.shape == other[name].shape
        and np.allclose(value, other[name], rtol=1e-6, atol=1e-6, equal_nan=True)
        for name, value in one.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.interrupts", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=0, help="where to begin")
    chosen = parser.parse_args()
    end, kinds, number = time.monotonic() + chosen.seconds, Counter[str](), chosen.number
    while time.monotonic() < end:
        program, problem = interrupted(chosen.seed, number)
        if problem is not None:
            kinds[problem.kind] += 1
            print(f"--seed {chosen.seed} --number {number}: {problem.kind}: {problem.story}")
            print(f"{program}\n", flush=True)
        number += 1
    print(f"{number - chosen.number} programs, {sum(kinds.values())} problems: {dict(kinds)}")


if __name__ == "__main__":
    main()

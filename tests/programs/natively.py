"""Replaying by native code what has been captured, and comparing it with NumPy's replay."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines import engine_named
from tape_ad.programs.program import Program
from tape_ad.programs.program.keys import key_of
from tape_ad.programs.replay.compiled import Compiled
from tests.programs.closeness import Reference

__all__ = ["assert_native_agrees", "assert_programs_agree", "outcome"]


def outcome(replay: Any, inputs: Sequence[Any]) -> Any:
    """Call a replay; an error is a result as well."""
    with np.errstate(all="ignore"):
        try:
            return replay(*inputs)
        except Exception as error:  # which the function itself will raise, or catch
            return error.with_traceback(None)


def problems(program: Program, points: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Replay a program by both engines with several sets of inputs, twice with the first ones."""
    numpy, native = engine_named("numpy")(program), engine_named("native")(program)
    for inputs in (*points, points[0]):
        before = [np.array(x) for x in inputs]
        wanted, given = outcome(numpy, inputs), outcome(native, inputs)
        found = Reference(program, inputs, wanted).problem(given) or layout_problem(given, wanted)
        if found:
            yield found
        if any(a.tobytes() != np.asarray(x).tobytes() for a, x in zip(before, inputs, strict=True)):
            yield "an input has been written to"


def layout_problem(given: Any, wanted: Any) -> str:
    """Say where results lie otherwise in memory than those of NumPy's replay."""
    if type(given) is not tuple:
        return ""
    for place, (one, other) in enumerate(zip(given, wanted, strict=True)):
        if not isinstance(one, np.ndarray):
            continue
        if one.flags.writeable != other.flags.writeable:
            return f"result {place}: writeable is {one.flags.writeable}"
        if one.size and axes_of(one) != axes_of(other):
            return f"result {place}: strides {one.strides} in place of {other.strides}"
    return ""


def axes_of(array: Any) -> tuple[int, ...]:
    """Give the strides of the axes that have some length."""
    return tuple(s for s, n in zip(array.strides, array.shape, strict=True) if n > 1)


def assert_programs_agree(program: Program, *points: Sequence[Any]) -> None:
    """Compare native replays of a program with NumPy's, as closely as rounding allows."""
    found = next(problems(program, points), "")
    assert not found, f"native: {found}, in\n{program}"


def assert_native_agrees(compiled: Compiled, *points: Sequence[Any]) -> None:
    """Compare native replays of all that a function has been captured as.

    Parameters
    ----------
    compiled : Compiled
        It has been called with arguments like all those below, and is replayed.
    *points : tuple
        The arguments of a call.
    """
    leaves: dict[Any, list[Any]] = {}
    for point in points:
        key, given = key_of(tuple(point), {}, compiled._parameters)
        leaves.setdefault(key.form, []).append(given)
    checked = 0
    for form, inputs in leaves.items():
        for path in compiled._paths[form].all:
            if path.simple is not None:
                assert_programs_agree(path.simple, *inputs)
                checked += 1
    assert checked, "nothing of it is replayed"

"""Where a function and its program part, for the error that says that they do."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.capture.capture import Capture
from tape_ad.programs.capture.comparison import alike_functions
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.program.program import Call, Guard, Program, Step, Value, replaced, written
from tape_ad.programs.replay.checking import differ, difference_of, same_bits
from tape_ad.record.messages.callers import caller

__all__ = ["first_difference"]


@define(eq=False)
class CallSites:
    """What stands in place of a comparison, and notes the line of each step."""

    lines: list[str] = field(factory=list)

    def check(self, capture: Capture, step: Step) -> None:
        """Note where a step is from."""
        self.lines.append(caller())


def first_difference(
    program: Program,
    function: Callable[..., Any],
    rebuild: Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]],
    leaves: Sequence[Any],
) -> str:
    """Name the first call of a program that gives something else than the function has there.

    Parameters
    ----------
    program : Program
        As it was captured.
    function : callable
    rebuild : callable
        Makes the arguments, positional and by name, out of the leaves.
    leaves : sequence of array and number

    Returns
    -------
    str
        The value, the call and the line; nothing where all are alike.
    """
    lines = CallSites()
    comparison: Any = lines
    capture = Capture(program.name, comparison, Constants(program.name, ()))
    inputs = zip(leaves, program.inputs, strict=True)
    args, kwargs = rebuild([capture.input(leaf, value.name) for leaf, value in inputs])
    try:
        now = capture.program(capture.run(function, args, kwargs))
    except Exception as error:
        return f"when it is captured once more, it raises {type(error).__name__}: {error}"
    ours, theirs = Run(program, leaves), Run(now, leaves)
    for step, other, line in zip(program.steps, now.steps, lines.lines, strict=False):
        with np.errstate(all="ignore"):
            try:
                what = ours.parted(step, theirs, other)
            except Exception as error:
                what = f"there, the program raises {type(error).__name__}: {error}"
        if what:
            return f"they part in {line}: {what}"
    if len(program.steps) != len(now.steps):
        return f"the function does {len(now.steps)} steps now, in place of {len(program.steps)}"
    if differ(replaced(program.output, ours.values), replaced(now.output, theirs.values)):
        return "the calls are the same, and what is no result of them has changed"
    return ""


@define(eq=False, init=False)
class Run:
    """A program that is run step by step.

    Attributes
    ----------
    values : dict
    numbers : dict
    """

    values: dict[Value, Any]
    numbers: dict[Value, int]

    def __init__(self, program: Program, leaves: Sequence[Any]) -> None:
        self.values = dict(zip(program.inputs, leaves, strict=True))
        self.values |= {constant.value: constant.data for constant in program.constants}
        self.numbers = program.numbers()

    def parted(self, step: Step, theirs: "Run", other: Step) -> str:
        """Do a step, and the function's in its place; say in what they differ."""
        if isinstance(step, Guard) or isinstance(other, Guard):
            both = isinstance(step, Guard) and isinstance(other, Guard)
            return "" if both else "Python asks for a value in one of them only"
        if not alike_functions(step.function, other.function):
            return (
                f"{self.shown(step)} in the program is "
                f"{written(other, theirs.numbers)} in the function now"
            )
        ours, now = self.done(step), theirs.done(other)
        for one, two in zip(ours, now, strict=False):
            if what := difference_of(one, two, same_bits):
                return f"{self.shown(step)} gives another value: {what}"
        return ""

    def shown(self, step: Call) -> str:
        """Write a call as the listing of the program does."""
        given = ", ".join(f"%{self.numbers[value]}: {value}" for value in step.outputs)
        return f"{given} = {written(step, self.numbers)}"

    def done(self, step: Call) -> tuple[Any, ...]:
        """Do a call."""
        with np.errstate(**(step.errors or {})):
            args, kwargs = replaced(step.args, self.values), replaced(step.kwargs, self.values)
            out = step.function(*args, **kwargs)
        outs = tuple(out) if step.several else (out,)
        self.values |= zip(step.outputs, outs, strict=True)
        return outs

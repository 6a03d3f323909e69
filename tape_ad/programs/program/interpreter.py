"""Running a program step by step, in the plainest way: what every engine has to agree with."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.trees import map_leaves
from tape_ad.programs.program.program import Guard, Program, Value, put, replaced

__all__ = ["Diverged", "interpret", "interpreted"]


@frozen(eq=False)
class Diverged:
    """What a replay gives in place of results when a guard has got another answer.

    Attributes
    ----------
    guard : int
        Which one, counted from 0.
    answer : any
        The other answer.
    """

    guard: int
    answer: Any


def interpret(program: Program, inputs: Sequence[Any]) -> Any:
    """Run a program.

    Parameters
    ----------
    program : Program
    inputs : sequence of array and number
        One for each of the program's inputs.

    Returns
    -------
    The output's tree with arrays and numbers in it, or Diverged
    """
    values, diverged = interpreted(program, inputs)
    if diverged is not None:
        return diverged
    return map_leaves(lambda leaf, path: put(leaf, values), program.output)


def interpreted(
    program: Program, inputs: Sequence[Any]
) -> tuple[dict[Value, Any], Diverged | None]:
    """Run a program, and give all of its values; those before the guard where it has diverged."""
    values: dict[Value, Any] = dict(zip(program.inputs, inputs, strict=True))
    values |= {constant.value: constant.data for constant in program.constants}
    guards = 0
    for step in program.steps:
        if isinstance(step, Guard):
            answer = step.question(values[step.value])
            if answer != step.answer:
                return values, Diverged(guards, answer)
            guards += 1
            continue
        with np.errstate(**(step.errors or {})):
            out = step.function(*replaced(step.args, values), **replaced(step.kwargs, values))
        outs = out if step.several else (out,)
        values |= zip(step.outputs, outs, strict=True)
    return values, None

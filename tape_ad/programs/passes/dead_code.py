"""Leaving out what nobody uses."""

from attrs import evolve

from tape_ad.programs.capture.op_facts import may_fail
from tape_ad.programs.program.program import Call, Program, Step, Value

__all__ = ["eliminate_dead_code"]


def eliminate_dead_code(program: Program) -> Program:
    """Leave out calls and constants that neither an output nor a guard depends on.

    A call that may fail stays: the function may catch its error, and a check may be meant.
    The inputs stay: they are what the caller gives.
    """
    needed: set[Value] = set(program.outputs)
    kept: list[Step] = []
    for step in reversed(program.steps):
        if type(step) is not Call or not needed.isdisjoint(step.outputs) or may_fail(step):
            needed.update(step.operands)
            kept.append(step)
    constants = tuple([each for each in program.constants if each.value in needed])
    if len(kept) == len(program.steps) and len(constants) == len(program.constants):
        return program
    return evolve(program, steps=tuple(reversed(kept)), constants=constants)

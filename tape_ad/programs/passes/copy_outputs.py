"""Giving the caller arrays of his own where a function makes them out of nothing."""

from typing import Any

import numpy as np
from attrs import evolve

from tape_ad.programs.passes.rewriting import Rewriting
from tape_ad.programs.program.program import Call, Constant, Program, Value
from tape_ad.record.gradients import through_buffer
from tape_ad.rules.maps import clone
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import viewed

__all__ = ["copy_returned_constants", "with_returned_copied"]


def returned_constants(program: Program) -> list[Constant]:
    """List the constants that a function makes anew at each call, and gives away."""
    outs = program.outputs
    seen = {*outs, *(out.owner for out in outs)}
    return [each for each in program.constants if each.own and each.value in seen]


def with_returned_copied(program: Program) -> Program:
    """Copy the arrays that this call of the function has given away: its caller may write there."""
    given = {id(memory_of(each.data)) for each in returned_constants(program)}
    copies: dict[int, Any] = {}
    constants = []
    for each in program.constants:
        constant = each
        base = memory_of(each.data)
        if id(base) in given:
            copy = copies.setdefault(id(base), clone(base))
            data = copy.view() if base is each.data else Window.of(base, each.data).on(copy)
            data.flags.writeable = each.data.flags.writeable
            constant = evolve(each, data=data)
        constants.append(constant)
    return evolve(program, constants=tuple(constants)) if given else program


def copy_returned_constants(program: Program) -> Program:
    """Copy at each replay what the function would make anew, so that no two calls share it.

    Those that show the same memory do so still.
    """
    given = returned_constants(program)
    if not given:
        return program
    rewriting = Rewriting(program)
    constants = {id(each.data): each for each in program.constants}
    copies: dict[int, Value] = {}
    for each in given:
        base = memory_of(each.data)
        if id(base) not in copies:
            of = constants.setdefault(id(base), Constant(Value.like(base), base, each.line))
            copies[id(base)] = Value.like(clone(base))
            rewriting.keep(Call(clone, (of.value,), {}, (copies[id(base)],)))
        new = copies[id(base)]
        if base is not each.data:
            window = Window.of(base, each.data)
            owner, new = new, Value.like(each.data, new)
            rewriting.keep(Call(viewed, (owner, window), {}, (new,)))
        elif not each.data.flags.writeable:
            owner, new = new, Value.like(each.data, new)
            rewriting.keep(Call(through_buffer, (owner,), {}, (new,)))
        rewriting.replace(each.value, new)
    for step in program.steps:
        rewriting.keep(rewriting.rewired(step))
    return evolve(rewriting.finished(), constants=tuple(constants.values()))


def memory_of(array: Any) -> Any:
    """Find the array that has the memory that an array shows."""
    while True:
        base = array.base
        if type(base) is not np.ndarray:
            base = getattr(base, "base", None)  # as `numpy.lib.stride_tricks` has it
        if type(base) is not np.ndarray:
            return array
        array = base

"""Runs: elementwise calls on large arrays, brought together so that they can be done in parts.

A part of an array that stays in the cache is cheaper to go over ten times than ten arrays once.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.out_support import fills, is_c
from tape_ad.programs.program.program import Call, Guard, Step, Value, root_of

__all__ = ["LARGE", "Run", "is_one_element", "scheduled"]

LARGE = 30_000
"""From how many elements on arrays are taken in parts."""

PART = 8_192
"""How many elements a part has, about: eight arrays of parts fit into the second-level cache."""

LINE = 64
"""Of how many elements it has a multiple, so that all parts begin alike in memory."""


@frozen(eq=False)
class Run:
    """Neighbouring steps that are done part by part.

    Attributes
    ----------
    start, stop : int
        The numbers of the first step, and of the one behind the last.
    size : int
        The elements of each array.
    part : int
        The elements of a part; the last one may have fewer.
    """

    start: int
    stop: int
    size: int
    part: int


@define(eq=False)
class Schedule:
    """Steps in a new order, and the runs among them."""

    steps: list[Step] = field(factory=list)
    runs: list[Run] = field(factory=list)
    _calls: list[Call] = field(factory=list)
    _held: list[Step] = field(factory=list)
    _of_run: set[Value] = field(factory=set)
    _of_held: set[Value] = field(factory=set)

    def add(self, step: Step) -> None:
        """Take the next step of a program."""
        roots = set(step.operands)
        roots.update([root_of(value) for value in roots])
        if type(step) is Guard:
            self.close()
            self.steps.append(step)
        elif type(step) is Call and can_run(step):
            apart = bool(self._calls) and not alike(self._calls[0].outputs[0], step.outputs[0])
            if apart or not roots.isdisjoint(self._of_held):
                self.close()
            self._calls.append(step)
            self._of_run.update(step.outputs)
        elif type(step) is Call:
            if roots.isdisjoint(self._of_run) and roots.isdisjoint(self._of_held):
                if is_large(step):  # until which all that the run goes over would stay as well
                    self.close()
                self.steps.append(step)
            else:
                self._held.append(step)
                self._of_held.update(step.outputs)

    def close(self) -> None:
        """End the run that is going on, and do what waits for it."""
        start = len(self.steps)
        if len(self._calls) > 1:
            size = math.prod(self._calls[0].outputs[0].shape)
            count = max(1, round(size / PART))
            part = -(-size // count // LINE) * LINE
            self.runs.append(Run(start, start + len(self._calls), size, part))
        self.steps += self._calls
        self.steps += self._held
        self._calls, self._held = [], []
        self._of_run, self._of_held = set(), set()


def scheduled(steps: Sequence[Step]) -> tuple[Sequence[Step], list[Run]]:
    """Put elementwise calls on large arrays beside each other.

    Guards stay where they are, and nothing passes them.

    Parameters
    ----------
    steps : sequence of Call and Guard

    Returns
    -------
    steps : sequence of Call and Guard
        In an order in which nothing is used before it is there.
    runs : list of Run
    """
    if not any(type(step) is Call and is_large(step) for step in steps):
        return steps, []
    schedule = Schedule()
    for step in steps:
        schedule.add(step)
    schedule.close()
    return schedule.steps, schedule.runs


def is_large(call: Call) -> bool:
    """Tell whether a call gives an array that is worth taking apart."""
    return math.prod(call.outputs[0].shape) >= LARGE if call.outputs else False


def can_run(call: Call) -> bool:
    """Tell whether a call can be done part by part."""
    function = call.function
    if type(function) is not np.ufunc or not is_large(call) or call.kwargs:
        return False
    out = call.outputs[0]
    if function.signature is not None or not fills(call) or not (is_c(out) or is_f(out)):
        return False
    return all(fits(arg, out) for arg in call.args)


def fits(operand: Any, out: Value) -> bool:
    """Tell whether an operand is a number, or can be taken apart as the result is."""
    if type(operand) is not Value or is_one_element(operand):
        return not hasattr(operand, "__array__") or np.ndim(operand) == 0
    in_step = len(out.shape) == 1 or operand.strides == steps_of(operand, out)
    return operand.shape == out.shape and in_step


def steps_of(operand: Value, out: Value) -> tuple[int, ...]:
    """Say what the strides of an operand are if it lies in memory as the result does."""
    ours, theirs = np.dtype(operand.dtype).itemsize, np.dtype(out.dtype).itemsize
    return tuple(stride // theirs * ours for stride in out.strides)


def is_one_element(operand: Value) -> bool:
    """Tell whether an operand is one element, repeated or not, which is given to each part."""
    return math.prod(operand.shape) == 1 or (bool(operand.shape) and not any(operand.strides))


def is_f(value: Value) -> bool:
    """Tell whether the first axis is that of neighbours in memory."""
    return value.strides == np.empty(value.shape, value.dtype, "F").strides


def alike(one: Value, other: Value) -> bool:
    """Tell whether two results can be taken apart together."""
    return one.shape == other.shape and one.strides == steps_of(one, other)

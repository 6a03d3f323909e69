"""Comparing a capture with an earlier one on the same path."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.handles.callers import caller
from tape_ad.naming import called
from tape_ad.programs.constants import same_memory
from tape_ad.programs.program import Call, Constant, Guard, Program, Step, Value
from tape_ad.trees import structure_of

__all__ = ["Comparison"]


@define(eq=False, repr=False)
class Comparison:
    """A comparison, step by step, while the later capture goes on.

    Attributes
    ----------
    earlier : Program or None
    alike : bool
        Whether nothing has differed so far. Where a function has been another, there is no telling
        what would be replayed, and no replay; a number or an array that is another is an error.
    """

    earlier: Program | None
    alike: bool = field(init=False)
    _others: dict[Value, Value] = field(factory=dict, init=False)
    _constants: dict[Value, Constant] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.alike = self.earlier is not None
        if self.earlier is not None:
            self._constants = {each.value: each for each in self.earlier.constants}

    def check(self, capture: Any, step: Step) -> None:
        """Compare a step with the one in its place."""
        place = len(capture.steps) - 1
        if not self.alike or self.earlier is None:
            return
        if place == 0:
            self._others |= zip(self.earlier.inputs, capture.inputs, strict=True)
        if place >= len(self.earlier.steps):
            self.alike = False
            return
        before = self.earlier.steps[place]
        if isinstance(step, Guard) or isinstance(before, Guard):
            self.alike = alike_guards(before, step)
            return
        if self.is_plainly_alike(before, step):
            self._others[before.outputs[0]] = step.outputs[0]
            return
        if not alike_functions(before.function, step.function):
            self.alike = False
            return
        self.compare(
            capture, (before.args, dict(before.kwargs)), (step.args, dict(step.kwargs)), step
        )
        if len(before.outputs) != len(step.outputs):
            self.alike = False
        self._others |= zip(before.outputs, step.outputs, strict=False)

    def is_plainly_alike(self, before: Call, step: Call) -> bool:
        """Tell whether two calls of nothing but values and the very same objects are alike."""
        if before.function is not step.function or step.kwargs or before.kwargs or step.several:
            return False
        others = self._others.get
        if len(before.args) != len(step.args):
            return False
        for one, two in zip(before.args, step.args, strict=True):
            if one is not two and (type(one) is not Value or others(one) is not two):
                return False
        return True

    def compare(self, capture: Any, one: Any, two: Any, step: Call | None) -> None:
        """Compare two arguments, the earlier one first."""
        kind = type(one)
        if kind is not type(two):
            self.alike = False
        elif kind is Value:
            self.compare_values(capture, one, two, step)
        elif kind in (int, float, complex, bool) or isinstance(one, np.generic):
            if code_of(one) != code_of(two):
                raise capture.refusal(made_anew(f"the number {two!r}", step))
        elif kind is slice:
            self.compare(
                capture, (one.start, one.stop, one.step), (two.start, two.stop, two.step), step
            )
        elif (structure := structure_of(one.__class__)) is not None:
            ours, theirs = list(structure.values(one)), list(structure.values(two))
            if len(ours) != len(theirs) or (kind is dict and list(one) != list(two)):
                self.alike = False
                return
            for pair in zip(ours, theirs, strict=True):
                self.compare(capture, *pair, step)
        elif callable(one):
            self.alike = self.alike and alike_functions(one, two)
        elif one is not two:
            self.alike = self.alike and bool(one == two)

    def compare_values(self, capture: Any, one: Value, two: Value, step: Call | None) -> None:
        """Compare what two values are."""
        constant = self._constants.get(one)
        if constant is None or one in self._others:
            self.alike = self.alike and self._others.get(one) is two
            return
        now = next((each for each in capture.constants.found() if each.value is two), None)
        if now is None:
            self.alike = False
            return
        self._others[one] = two
        if same_memory(constant.data, now.data):
            return
        if not np.array_equal(constant.data, now.data, equal_nan=constant.data.dtype.kind in "fc"):
            raise capture.refusal(made_anew(f"an array of shape {now.data.shape}", step))

    def finished(self, capture: Any, program: Program) -> bool:
        """Tell whether the whole program is the earlier one."""
        if self.earlier is None or not self.alike:
            return False
        if len(self.earlier.steps) != len(program.steps):
            return False
        if not program.steps:
            self._others |= zip(self.earlier.inputs, capture.inputs, strict=True)
        self.compare(capture, self.earlier.output, program.output, None)
        return self.alike


def made_anew(what: str, step: Call | None) -> str:
    """Say that a constant is another at the second call."""
    where = f"{called(step.function)} ({caller()})" if step is not None else "what it returns"
    return (
        f"{what} in {where} is not what it was at the call before; a replay would freeze it. If it "
        "is drawn, counted or read anew each time, pass it as an argument"
    )


def alike_guards(one: Step, two: Step) -> bool:
    """Tell whether two steps ask the same question, and are answered alike."""
    if not (isinstance(one, Guard) and isinstance(two, Guard)):
        return False
    return one.question is two.question and bool(one.answer == two.answer)


def code_of(number: Any) -> tuple[str, str]:
    """Write a number so that nan is like nan."""
    both = complex(number)
    return both.real.hex(), both.imag.hex()


def alike_functions(one: Callable[..., Any], two: Callable[..., Any]) -> bool:
    """Tell whether two functions are the same, or made by the same line."""
    if one is two or one == two:
        return True
    code = getattr(one, "__code__", None)
    return code is not None and code is getattr(two, "__code__", None)

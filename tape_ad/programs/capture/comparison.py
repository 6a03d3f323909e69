"""Comparing a capture with an earlier one on the same path."""

from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np
from attrs import define, evolve, field

from tape_ad.base.naming import called
from tape_ad.base.trees import structure_of
from tape_ad.programs.capture.constants import same_memory
from tape_ad.programs.capture.tracers import exact_question
from tape_ad.programs.program import Call, Constant, Guard, Program, Step, Value
from tape_ad.record.messages.callers import caller

WHOLE = frozenset({int, bool, type(None)})
"""Types of which equal instances are alike."""


@define(eq=False, repr=False)
class Comparison:
    """A comparison, step by step, while the later capture goes on.

    It begins with one of several earlier programs. Where a guard is answered otherwise, or
    something else is done, it goes over to another of them that fits so far.

    Attributes
    ----------
    candidates : list of Program
        The earlier captures that are still to be tried.
    outgrown : container of Program
        Those of them that read arrays with other numbers in them by now, of which the function may
        have computed another number by itself: then it is another program, and no error.
    earlier : Program or None
        The one that nothing has differed from so far. Where a function does what it has never
        done, there is none, and no replay. A number or an array that is another is an error, as
        soon as both have asked a question after it, or have ended, with nothing else different.
    own : set of Value
        The constants of the later capture that are not the earlier one's, but hold the same.
    """

    candidates: list[Program]
    outgrown: Container[Program] = ()
    earlier: Program | None = field(default=None, init=False)
    own: set[Value] = field(factory=set, init=False)
    _steps: Iterator[Step] = field(factory=lambda: iter(()), init=False)
    _others: dict[Value, Value] = field(factory=dict, init=False)
    _constants: dict[Value, Constant] = field(factory=dict, init=False)
    _alike: bool = field(default=True, init=False)
    _again: bool = field(default=False, init=False)
    _suspect: str = field(default="", init=False)

    def begin(self, capture: Any) -> None:
        """Take the first of the earlier programs, once the inputs are known."""
        if self.candidates:
            self.take(capture, self.candidates.pop(0))

    def take(self, capture: Any, program: Program) -> None:
        """Compare with this program from now on."""
        self.earlier, self._alike, self._suspect = program, True, ""
        self.own.clear()
        self._steps = iter(program.steps)
        self._others = dict(zip(program.inputs, capture.inputs, strict=True))
        self._constants = {each.value: each for each in program.constants}

    def check(self, capture: Any, step: Step) -> None:
        """Compare a step with the one in its place."""
        self.look(capture, step)
        while not self._alike and self.go_over(capture):
            pass

    def go_over(self, capture: Any) -> bool:
        """Compare what has been noted with another earlier program, if there is one."""
        self.earlier = None
        answers = tuple([step.answer for step in capture.steps if type(step) is Guard])
        while self.candidates:
            other = self.candidates.pop(0)
            if tuple([guard.answer for guard in other.guards[: len(answers)]]) == answers:
                break
        else:
            return False
        self.take(capture, other)
        self._again = True
        for step in capture.steps:
            self.look(capture, step)
            if not self._alike:
                break
        self._again = False
        return True

    def look(self, capture: Any, step: Step) -> None:
        """Compare a step with the next one of the earlier program."""
        before = next(self._steps, None)
        if before is None:
            self._alike = False
            return
        if isinstance(step, Guard) and isinstance(before, Guard):
            self._alike = before.question is step.question
            self.compare_values(capture, before.value, step.value, None)
            if self._alike:
                self.check_suspect(capture)  # both have gone the same way so far
                self._alike = bool(before.answer == step.answer)
            return
        if isinstance(step, Guard) or isinstance(before, Guard):
            self._alike = False
            return
        if self.is_plainly_alike(before, step):
            self._others[before.outputs[0]] = step.outputs[0]
            return
        if not alike_functions(before.function, step.function):
            self._alike = False
            return
        self.compare(capture, before.args, step.args, step)
        if before.kwargs or step.kwargs:
            self.compare(capture, dict(before.kwargs), dict(step.kwargs), step)
        if len(before.outputs) != len(step.outputs):
            self._alike = False
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
            self._alike = False
        elif kind in WHOLE and one == two:
            return  # as most are, in keys
        elif kind is Value:
            self.compare_values(capture, one, two, step)
        elif kind in (int, float, complex, bool) or isinstance(one, np.generic):
            if exact_question(one)(one) != exact_question(two)(two):
                self.suspect(f"the number {two!r}", step)
        elif kind is slice:
            self.compare(
                capture, (one.start, one.stop, one.step), (two.start, two.stop, two.step), step
            )
        elif (structure := structure_of(one.__class__)) is not None:
            ours, theirs = list(structure.values(one)), list(structure.values(two))
            if len(ours) != len(theirs) or (kind is dict and list(one) != list(two)):
                self._alike = False
                return
            for pair in zip(ours, theirs, strict=True):
                self.compare(capture, *pair, step)
        elif callable(one):
            self._alike = self._alike and alike_functions(one, two)
        elif one is not two:
            self._alike = self._alike and alike_objects(one, two)

    def compare_values(self, capture: Any, one: Value, two: Value, step: Call | None) -> None:
        """Compare what two values are."""
        constant = self._constants.get(one)
        if constant is None or one in self._others:
            self._alike = self._alike and self._others.get(one) is two
            return
        now = capture.constants.standing_for(two)
        if now is None:
            self._alike = False
            return
        self._others[one] = two
        if same_memory(constant.data, now.data):
            return
        self.own.add(two)
        alike = (one.shape, one.dtype, one.strides) == (two.shape, two.dtype, two.strides)
        if not alike or (constant.mark != now.mark and not same_numbers(constant.data, now.data)):
            self.suspect(f"an array of shape {now.data.shape}", step)

    def finished(self, capture: Any, program: Program) -> Program | None:
        """Give the earlier program that the whole of this one is like."""
        if self.earlier is None or len(self.earlier.steps) != len(program.steps):
            return None
        self.compare(capture, self.earlier.output, program.output, None)
        if self._alike:
            self.check_suspect(capture)
        return self.earlier if self._alike else None

    def suspect(self, what: str, step: Call | None) -> None:
        """Note that a constant is another than before, if no function has been another so far."""
        if self.earlier in self.outgrown:
            self._alike = False
        elif self._alike and not self._suspect:
            self._suspect = self.made_anew(what, step)

    def check_suspect(self, capture: Any) -> None:
        """Refuse a constant that is another in what is the same program otherwise.

        Raises
        ------
        CaptureError
        """
        if self._suspect:
            raise capture.refusal(self._suspect)

    def with_own(self, program: Program) -> Program:
        """Mark the constants that the function makes anew at each call."""
        constants = [
            evolve(each, own=True) if each.value in self.own else each for each in program.constants
        ]
        return evolve(program, constants=tuple(constants))

    def made_anew(self, what: str, step: Call | None) -> str:
        """Say that a constant is another than at an earlier call."""
        where = "what it returns"
        if step is not None:
            where = f"{called(step.function)} ({'before ' * self._again}{caller()})"
        return (
            f"{what} in {where} is not what it was at an earlier call; a replay would freeze it. "
            "If it is drawn, counted or read anew each time, pass it as an argument"
        )


def alike_functions(one: Callable[..., Any], two: Callable[..., Any]) -> bool:
    """Tell whether two functions are the same, or made by the same line."""
    if one is two or one == two:
        return True
    if hasattr(one, "is_like"):
        return bool(one.is_like(two))
    code = getattr(one, "__code__", None)
    return code is not None and code is getattr(two, "__code__", None)


def alike_objects(one: Any, two: Any) -> bool:
    """Tell whether two objects of one kind are alike; sparse matrices compare their elements."""
    if hasattr(one, "tocsr"):
        return bool(one.shape == two.shape and (one != two).nnz == 0)
    return bool(one == two)


def same_numbers(one: Any, two: Any) -> bool:
    """Tell whether two arrays hold the same, whatever bytes stand between their numbers."""
    return np.array_equal(one, two, equal_nan=one.dtype.kind in "fc")

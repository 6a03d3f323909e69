"""Going through a program once, with a rule for the calls of some functions."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define, evolve, field

from tape_ad.programs.program import Call, Constant, Program, Step, Value, body_of, replaced


def alike(one: Value, other: Value) -> bool:
    """Tell whether values are of one type, and lie in memory in the same way."""
    return (
        one.kind is other.kind
        and one.shape == other.shape
        and one.dtype == other.dtype
        and one.strides == other.strides
    )


@define(eq=False, repr=False)
class Rewriting:
    """A program on its way through a pass.

    Inside a program it does not matter which array holds some numbers, for nothing writes to it.
    The caller may write to what is returned, so two values of which the caller gets to see the
    memory never become one, nor does such a value become an argument or a constant.

    Attributes
    ----------
    program : Program
    literals : dict of Value to array
        What some values are at every replay.
    by : dict of Value to Value
        What stands in place of values from now on.
    constants : list of Constant
        Further ones.
    changed : bool
        Whether the program has become another.
    """

    program: Program
    literals: dict[Value, Any] = field(factory=dict)
    by: dict[Value, Value] = field(factory=dict, init=False)
    constants: list[Constant] = field(factory=list, init=False)
    changed: bool = field(default=False, init=False)
    _steps: list[Step] = field(factory=list, init=False)
    _seen: set[Value] = field(init=False)
    _inputs: set[Value] = field(init=False)
    _constants: set[Value] = field(init=False)
    _answers: dict[Any, bool] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        outputs = self.program.outputs
        self._seen = {value for out in outputs for value in (out, out.owner) if value is not None}
        self._inputs = set(self.program.inputs)
        self._constants = {each.value for each in self.program.constants}

    def rewired(self, step: Any) -> Any:
        """Give a step of the program as a step of what it is to become."""
        return step if self.by.keys().isdisjoint(step.operands) else step.replaced(self.by)

    def keep(self, step: Any) -> Any:
        """Append a step to what the program is to become, and give it as it is then.

        What a call gives are views of what now stands in place of the arrays that they viewed.
        """
        by = self.by
        if by:
            for out in step.outputs:
                if out.owner is not None and out.owner in by:
                    before, step = step, step.giving(map(self.with_owner, step.outputs))
                    by |= zip(before.outputs, step.outputs, strict=True)
                    break
        self._steps.append(step)
        return step

    def with_owner(self, out: Value) -> Value:
        """Give a value that is a view of what now stands in place of its owner."""
        owner = None if out.owner is None else self.by.get(out.owner)
        owner = out.owner if owner is None else owner.owner or owner
        new = Value(out.kind, out.shape, out.dtype, out.strides, owner, out.name)
        if out in self._seen:
            self._seen.add(new)
        return new

    def add_constants(self, constants: list[Constant]) -> None:
        """Add further constants, whose memory the caller must not get to see either."""
        self.constants += constants
        self._constants.update([each.value for each in constants])

    def is_known(self, operand: Any, test: Callable[[Any], bool]) -> bool:
        """Tell whether an operand is the same at every replay, and passes a test."""
        if type(operand) is not Value:
            return test(operand)
        if operand not in self.literals:
            return False
        answer = self._answers.get((operand, test))
        if answer is None:  # asked of each array once, for there may be many calls on it
            answer = self._answers[operand, test] = test(self.literals[operand])
        return answer

    def is_returned(self, value: Value) -> bool:
        """Tell whether the caller gets to see the memory of a value."""
        return value in self._seen

    def may_replace(self, old: Value, new: Value) -> bool:
        """Tell whether one value can stand in place of another with the same numbers."""
        if not alike(old, new):
            return False
        if old.kind is not np.ndarray:
            return True
        if old.owner is None and (new.owner or new) in self._inputs:
            return False  # a copy is aligned in memory, and an argument need not be
        if old not in self._seen:
            return True
        if old.owner is not None or new.owner is not None or new in self._seen:
            return False
        return new not in self._constants

    def replace(self, old: Value, new: Value) -> None:
        """Let one value stand in place of another from here on."""
        self.by[old] = new
        self.changed = True
        if old in self._seen:
            self._seen.add(new)

    def finished(self) -> Program:
        """Give what the program has become; the very program, if that is the same."""
        if not self.changed:
            return self.program
        output = replaced(self.program.output, self.by)
        constants = (*self.program.constants, *self.constants)
        return evolve(self.program, constants=constants, steps=tuple(self._steps), output=output)


Rule = Callable[[Call, Rewriting], Value | Call | None]
"""What gives a value in place of a call's only one, another call for it, or nothing."""


def rewritten(
    program: Program,
    rules: Mapping[Any, Rule],
    literals: dict[Value, Any] | None = None,
    fold: Callable[[Call, Rewriting], bool] | None = None,
) -> Program:
    """Apply the rule for its function to each call.

    Parameters
    ----------
    program : Program
    rules : mapping of callable to Rule
    literals : dict of Value to array, optional
        For rules that ask what a value is at every replay.
    fold : callable, optional
        ``fold(call, rewriting)``: tell whether a call that begins with a literal has been done
        without, before any rule is applied.

    Returns
    -------
    Program
        The very program, where no rule has found anything.
    """
    rewriting = Rewriting(program, literals or {})
    by, keep, known = rewriting.by, rewriting.keep, rewriting.literals
    for old in program.steps:
        step = rewriting.rewired(old) if by else old
        if type(step) is not Call:
            keep(step)
            continue
        if (body := body_of(step)) is not None:
            function: Any = step.function
            behind = function.carried  # what is carried is another value in each iteration
            pairs = zip(body.inputs[behind:], step.args[behind:], strict=True)
            read = {inner: known[given] for inner, given in pairs if given in known}
            loop = with_body(step, rewritten(body, rules, read))
            rewriting.changed |= loop is not step
            keep(loop)
            continue
        if known and fold is not None:
            operands = step.operands
            if (not operands or operands[0] in known) and fold(step, rewriting):
                continue
        rule = None if step.several else rules.get(step.function)
        found = None if rule is None else rule(step, rewriting)
        if type(found) is Value and rewriting.may_replace(step.outputs[0], found):
            rewriting.replace(step.outputs[0], found)
            continue
        if type(found) is Call:
            step, rewriting.changed = found, True
        keep(step)
    return rewriting.finished()


def with_body(call: Call, body: Program) -> Call:
    """Give a loop with another body; the very call, if that is the same."""
    loop: Any = call.function
    if body is loop.body:
        return call
    return Call(evolve(loop, body=body), call.args, {}, call.outputs, several=True)

"""A plan written as a function in Python, one call to a line."""

from collections.abc import Iterator, Mapping
from typing import Any

from tape_ad.programs.plans import Plan
from tape_ad.programs.program import Call, Guard, Value
from tape_ad.programs.text.arguments import Arguments
from tape_ad.programs.text.expressions import EXPRESSIONS
from tape_ad.programs.text.names import Names

__all__ = ["Writer"]


class Writer:
    """What writes a plan.

    Parameters
    ----------
    plan : Plan

    Attributes
    ----------
    names : Names
        After writing, with the objects that the text refers to.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.names = plan, Names()
        self.of: dict[Value, str] = {}
        self.arguments = Arguments(self.names, self.of)
        self.mine: set[Value] = set()

    def lines(self) -> Iterator[str]:
        """Write it, line by line."""
        program = self.plan.program
        for value in program.inputs:
            self.of[value] = self.names.new(value.name or "x")
        yield f"def replay({', '.join(self.of.values())}):"
        for constant in program.constants:
            self.of[constant.value] = self.names.object(constant.data, "constant")
        yield from self.body()
        leaves = [self.of[value] for value in program.outputs]
        yield f"    return ({', '.join(leaves)}{',' * (len(leaves) == 1)})"

    def body(self) -> Iterator[str]:
        """Write the steps, neighbours that ran in the same `numpy.errstate` in one block."""
        errors: Mapping[str, Any] | None = None
        indent = "    "
        guards = 0
        for number, step in enumerate(self.plan.program.steps):
            if type(step) is Guard:
                yield from (indent + line for line in self.guard(step, guards))
                guards += 1
            elif type(step) is Call:
                if step.errors != errors:
                    errors = step.errors
                    indent = "        " if errors else "    "
                    if errors:
                        yield f"    with errstate({self.arguments.all((), errors)}):"
                yield indent + self.call(step, number)
                continue
            self.forget(number)

    def guard(self, guard: Guard, number: int) -> Iterator[str]:
        """Write a comparison."""
        question = self.names.function(guard.question)
        yield f"answer = {question}({self.of[guard.value]})"
        yield f"if answer != {self.arguments.one(guard.answer)}:"
        yield f"    return Diverged({number}, answer)"

    def call(self, call: Call, number: int) -> str:
        """Write a call, and name what it gives."""
        text = self.expression(call)
        self.forget(number)
        outs = [self.name(value) for value in call.outputs]
        if call.several:
            return f"{', '.join(outs)}{',' * (len(outs) == 1)} = {text}"
        return f"{outs[0]} = {text}"

    def expression(self, call: Call) -> str:
        """Write what a call computes."""
        special = EXPRESSIONS.get(call.function) if hashable(call.function) else None
        text = None if special is None else special(self.arguments, call)
        if text is None:
            function = self.names.function(call.function)
            text = f"{function}({self.arguments.all(call.args, call.kwargs)})"
        return text

    def name(self, value: Value) -> str:
        """Name what a call gives."""
        if value not in self.plan.used:
            return "_"
        name = self.of[value] = self.names.value()
        self.mine.add(value)
        return name

    def forget(self, number: int) -> None:
        """Let others have the names of what is not needed behind a step."""
        for value in self.plan.dying[number]:
            if value in self.mine:
                self.names.free(self.of.pop(value))


def hashable(function: Any) -> bool:
    """Tell whether a function can be looked up in a table."""
    return type(function).__hash__ is not None

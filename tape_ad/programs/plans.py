"""Plans: a program, with how long each of its values is needed."""

from collections.abc import Sequence
from typing import Self

from attrs import frozen

from tape_ad.programs.program import Program, Value

__all__ = ["Plan"]


@frozen(eq=False)
class Plan:
    """A program made ready for an engine.

    Attributes
    ----------
    program : Program
    dying : sequence of list of Value
        For each step, the operands that nothing behind it uses; what is returned never dies.
    used : frozenset of Value
        What any step uses, or the caller gets.
    """

    program: Program
    dying: Sequence[list[Value]]
    used: frozenset[Value]

    @classmethod
    def of(cls, program: Program) -> Self:
        """Find out how long the values of a program are needed."""
        used = set(program.outputs)
        dying: list[list[Value]] = []
        for step in reversed(program.steps):
            final = []
            for value in step.operands:
                if value not in used:
                    used.add(value)
                    final.append(value)
            dying.append(final)
        return cls(program, dying[::-1], frozenset(used))

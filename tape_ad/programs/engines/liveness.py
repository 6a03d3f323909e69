"""Liveness: from where to where memory is in use, all values that show one memory being one."""

from collections.abc import Iterable, Sequence
from typing import Self

from attrs import define, field

from tape_ad.programs.program.program import Step, Value

__all__ = ["LiveRanges", "root_of"]


def root_of(value: Value) -> Value:
    """Find what owns the memory of a value."""
    while value.owner is not None:
        value = value.owner
    return value


@define(eq=False)
class LiveRanges:
    """The steps from the first to the last one that uses each memory, by what owns it.

    Whatever lets one value have the memory of another asks here: plans for the operand that a
    result is written over and for blocks of a workspace, native code for arrays that change in
    place, for its arena and for its buffers.

    Attributes
    ----------
    starts, ends : dict of Value to int
    kept : set of Value
        Owners of memory that is in use behind the last step, for the caller gets it.
    """

    starts: dict[Value, int] = field(factory=dict)
    ends: dict[Value, int] = field(factory=dict)
    kept: set[Value] = field(factory=set)

    @classmethod
    def of(cls, steps: Sequence[Step], outputs: Iterable[Value]) -> Self:
        """Look through steps for what their operands show."""
        ranges = cls(kept={root_of(value) for value in outputs})
        for number, step in enumerate(steps):
            for value in step.operands:
                ranges.use(value, number)
        return ranges

    def use(self, value: Value, number: int) -> None:
        """Note that a step uses the memory of a value; steps come in their order."""
        owner = root_of(value)
        self.starts.setdefault(owner, number)
        self.ends[owner] = number

    def is_over(self, value: Value, number: int) -> bool:
        """Tell whether nothing behind a step, which uses a value, uses the value's memory."""
        owner = root_of(value)
        return owner not in self.kept and self.ends.get(owner) == number

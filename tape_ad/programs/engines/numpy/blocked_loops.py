"""Runs written as Python: a function of parts of arrays, and the loop that calls it."""

from typing import Any

import numpy as np

from tape_ad.programs.engines.numpy.out_calls import with_out
from tape_ad.programs.engines.out_support import is_c, size_of
from tape_ad.programs.engines.scheduling import Run, is_one_element
from tape_ad.programs.program.program import Call, Value

__all__ = ["BlockedLoop"]


class BlockedLoop:
    """What one part goes through.

    Parameters
    ----------
    writer : Writer
    run : Run

    Attributes
    ----------
    passed : dict of str to (str, str)
        The parameters of the function, with the argument for a part and the one for the last part,
        which may be shorter.
    """

    def __init__(self, writer: Any, run: Run) -> None:
        self.writer, self.run = writer, run
        self.rest = run.size % run.part
        self.passed: dict[str, tuple[str, str]] = {}
        self.before: list[str] = []
        self.flats: list[str] = []

    def line(self, call: Call) -> str:
        """Write a call on parts."""
        for value in call.operands:
            self.take(value)
        out = call.outputs[0]
        block, writer = self.writer.plan.blocks[out], self.writer
        onto = writer.plan.onto.get(out)
        if block.size != size_of(out):
            self.take_part(out, block.offset)
        elif not block.given:
            writer.of[out] = writer.workspace.array(out, block.offset)
        elif onto is not None:
            writer.of[out] = writer.of[onto]
            writer.owned.discard(onto)
            writer.owned.add(out)
        else:
            self.make(out)
        self.take(out)
        (text,) = with_out(writer.arguments, call, writer.of[out])
        return text

    def take(self, value: Value) -> None:
        """Pass an operand to the function."""
        name = self.writer.of[value]
        if name in self.passed:
            return
        if value.dtype is None or not value.shape:
            self.passed[name] = name, name
        elif is_one_element(value):
            one = name if value.shape == (1,) else f"{name}[{', '.join([':1'] * len(value.shape))}]"
            one = one if len(value.shape) == 1 else f"{one}.reshape(1)"
            self.passed[name] = one, one
        else:
            flat = name if len(value.shape) == 1 else self.flat(name, value)
            self.passed[name] = f"{flat}[part]", f"{flat}[{self.run.size - self.rest}:]"

    def flat(self, name: str, value: Value) -> str:
        """Write an array with one axis."""
        expression = f"{name}.reshape(-1)" if is_c(value) else f"{name}.T.reshape(-1)"
        if self.writer.workspace.has(name):
            flat: str = self.writer.workspace.view(expression)
            return flat
        flat = self.writer.names.new(f"{name}_flat")
        self.before.append(f"{flat} = {expression}")
        self.flats.append(flat)
        return flat

    def take_part(self, out: Value, offset: int) -> None:
        """Pass memory for a part of what is used in the run only."""
        workspace = self.writer.workspace
        part = Value(np.ndarray, (self.run.part,), out.dtype, (np.dtype(out.dtype).itemsize,))
        name = self.writer.of[out] = workspace.array(part, offset)
        last = workspace.view(f"{name}[:{self.rest}]") if self.rest else name
        self.passed[name] = name, last

    def make(self, out: Value) -> None:
        """Make an array that the caller gets."""
        names = self.writer.names
        name = self.writer.of[out] = names.value()
        self.writer.owned.add(out)
        order = "" if is_c(out) else ", 'F'"
        empty, dtype = names.function(np.empty), names.dtype(np.dtype(out.dtype))
        self.before.append(f"{name} = {empty}({out.shape}, {dtype}{order})")

    def calls(self, name: str) -> list[str]:
        """Write the calls of the function."""
        end, part = self.run.size - self.rest, self.run.part
        arguments = ", ".join(each for each, _ in self.passed.values())
        lines = [
            *self.before,
            f"for start in range(0, {end}, {part}):",
            f"    part = slice(start, start + {part})",
            f"    {name}({arguments})",
        ]
        if self.rest:
            lines.append(f"{name}({', '.join(last for _, last in self.passed.values())})")
        if self.flats:
            lines.append(f"del {', '.join(self.flats)}")
        return lines

"""Assembling a program in which each run of native work is one call of bytecode."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.engines.liveness import root_of
from tape_ad.programs.engines.native.codegen.library import compiled_loops
from tape_ad.programs.engines.native.fusion.fusion import Slot, grouped, segments
from tape_ad.programs.engines.native.ir.memory_map import kept_as
from tape_ad.programs.engines.native.runtime.layouts import fits, layouts_of
from tape_ad.programs.engines.native.schedule.bytecode import Bytecode
from tape_ad.programs.program.native import Segment, element, placed_number, python_number
from tape_ad.programs.program.program import Call, Guard, Program, Step, Value

__all__ = ["Assembled", "assembled"]


@frozen(eq=False)
class Assembled:
    """A program with native calls in it.

    Attributes
    ----------
    program : Program
    left : list of (step, str)
        What NumPy does, and why.
    """

    program: Program
    left: Sequence[tuple[Step, str]]
    segments: Sequence[Segment]


@define(eq=False)
class Assembly:
    """The assembly of a program, for a number of threads.

    Attributes
    ----------
    threads : int
    steps : list
        A native call is its bytecode, its operands and its results.
    known : set of Value
        The arrays that are sure to lie as they are said to: those that native code has made, and
        the arguments, as replays are found by that.
    """

    threads: int
    steps: list[Step | tuple[Bytecode, list[Value], list[Value]]] = field(factory=list)
    known: set[Value] = field(factory=set)
    _raw: dict[Value, Value] = field(factory=dict)
    _given: set[Value] = field(factory=set)

    def native(self, row: Sequence[Slot], needed: set[Value]) -> None:
        """Make one call of slots; of what they write, `needed` is used by others."""
        written: dict[Value, None] = {}
        read: dict[Value, None] = {}
        for slot in row:
            work: Any = slot
            read |= dict.fromkeys(r for r in work.read_roots if r not in written)
            written |= dict.fromkeys(work.written_roots)
        again = [value for value in written if value in self._given]  # and is written over
        given = [value for value in written if value in needed and value not in self._given]
        taken = [*(value for value in read if value not in written), *again]
        self._given.update(given)
        inputs = [self.raw(value) for value in taken]
        outputs = [raw_of(value) for value in given]
        own, arena = bytes_of(0), bytes_of(0)
        order = [*given, *taken]
        table = Bytecode({value: number for number, value in enumerate(order, start=2)})
        for slot in row:
            table.add(slot)
        arena.shape = (max(table.settle(), 8),)
        own.shape = (max(table.own, 8),)
        self.steps.append((table, inputs, [own, arena, *outputs]))
        self.known.update(outputs)
        for value, raw in zip(given, outputs, strict=True):
            if raw is not value:
                taking = python_number if value.dtype is None else element
                self.steps.append(Call(taking, (raw,), {}, (value,)))
                self._raw[value] = raw

    def raw(self, value: Value) -> Value:
        """Give the array that native code finds a value in."""
        if value.kind is np.ndarray:
            return value
        raw = self._raw.get(value)
        if raw is None:
            raw = self._raw[value] = raw_of(value)
            self.known.add(raw)
            self.steps.append(Call(placed_number, (value,), {}, (raw,)))
        return raw

    def finished(self) -> tuple[list[Step], list[Segment]]:
        """Compile all loops at once, and make the calls of them."""
        tables = [step[0] for step in self.steps if isinstance(step, tuple)]
        compiled = compiled_loops(loop for table in tables for loop in table.loops)
        steps: list[Step] = []
        segments: list[Segment] = []
        for step in self.steps:
            if isinstance(step, tuple):
                table, inputs, outputs = step
                segment = table.segment(compiled, self.threads)
                segment.foreign = [value for value in inputs if value not in self.known]
                segment.fits, segment.layouts = fits(), layouts_of(segment.foreign)
                segments.append(segment)
                steps.append(Call(segment, tuple(inputs), {}, tuple(outputs), several=True))
            else:
                steps.append(step)
        return steps, segments


def raw_of(value: Value) -> Value:
    """Give a value for the array that holds a number; an array is its own."""
    return value if value.kind is np.ndarray else Value(np.ndarray, (), kept_as(value))


def bytes_of(size: int) -> Value:
    """Give a value for memory that native code needs."""
    return Value(np.ndarray, (size,), np.dtype(np.uint8), (1,))


def assembled(program: Program, threads: int = 1) -> Assembled:
    """Make native calls of what can be native.

    Parameters
    ----------
    program : Program
        Simplified.
    threads : int
        How many may share a nest.
    """
    groups = grouped(program)
    rows = list(segments(groups))
    needed = needed_behind(rows, program)
    assembly = Assembly(
        threads, known={*program.inputs, *(own.value for own in groups.memory_map.constants)}
    )
    for row, wanted in zip(rows, needed, strict=True):
        if isinstance(row[0], (Call, Guard)):
            assembly.steps.append(row[0])
        else:
            assembly.native(row, wanted)
    steps, native = assembly.finished()
    constants = (*program.constants, *groups.memory_map.constants)
    made = evolve(program, constants=constants, steps=tuple(steps))
    return Assembled(made, groups.left, native)


def written_by(slot: Slot) -> Iterable[Value]:
    """Give what is native code's to give."""
    return () if isinstance(slot, (Call, Guard)) else slot.written_roots


def needed_behind(rows: Sequence[Sequence[Slot]], program: Program) -> list[set[Value]]:
    """Say for each row which of the values that it gives are used by what follows it.

    That may be another row which writes another part of the same array.
    """
    needed = {root_of(value) for value in program.outputs} | set(program.outputs)
    behind = []
    for row in reversed(rows):
        behind.append({root for slot in row for root in written_by(slot) if root in needed})
        for slot in row:
            if isinstance(slot, (Call, Guard)):
                for value in slot.operands:
                    needed |= {value, root_of(value)}
            else:
                needed |= slot.read_roots | slot.written_roots
    return behind[::-1]

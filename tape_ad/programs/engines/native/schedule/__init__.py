"""Scheduling: a program in which each run of native work is one call of bytecode."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.engines.native.codegen import compiled_loops, text_of
from tape_ad.programs.engines.native.codegen.loops import Loop
from tape_ad.programs.engines.native.fusion import Fused, Slot
from tape_ad.programs.engines.native.ir import Listing, LLVMFunction, kept_as
from tape_ad.programs.engines.native.runtime.compiling import fits, layouts_of
from tape_ad.programs.engines.native.schedule.bytecode import Bytecode, scratch_of
from tape_ad.programs.engines.native.schedule.copies import without_copies
from tape_ad.programs.engines.native.schedule.tiling import tiled
from tape_ad.programs.engines.segments import Segment, element, placed_number, python_number
from tape_ad.programs.program import Call, Guard, Program, Step, Value, root_of


@define(eq=False)
class Schedule:
    """A program in which each run of native work is one call of bytecode, not compiled yet.

    Attributes
    ----------
    fused : Fused
        What it was made from.
    threads : int
        How many may share a nest.
    steps : list
        A native call is its bytecode, its operands and its results.
    known : set of Value
        The arrays that are sure to lie as they are said to: those that native code has made, and
        the arguments, as replays are found by that.
    """

    fused: Fused
    threads: int = 1
    steps: list[Step | tuple[Bytecode, list[Value], list[Value]]] = field(factory=list)
    known: set[Value] = field(factory=set)
    _raw: dict[Value, Value] = field(factory=dict)
    _given: set[Value] = field(factory=set)

    def native(self, row: Sequence[Slot], needed: set[Value]) -> None:
        """Make one call of slots; of what they write, `needed` is used by others."""
        row = tiled(row, needed | self._given, self.threads)
        row = without_copies(row, needed | self._given)
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
        own, arena = scratch_of(0), scratch_of(0)
        order = [*given, *taken]
        places = {value: number for number, value in enumerate(order, start=2)}
        bytecode = Bytecode(places, self.threads)
        for slot in row:
            bytecode.add(slot)
        arena.shape = (max(bytecode.settle(), 8),)
        own.shape = (max(bytecode.own, 8),)
        self.steps.append((bytecode, inputs, [own, arena, *outputs]))
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

    @property
    def bytecodes(self) -> list[Bytecode]:
        """The bytecode of each native call."""
        return [step[0] for step in self.steps if isinstance(step, tuple)]

    @property
    def loops(self) -> list[Loop | LLVMFunction]:
        """The different inner loops that are to be compiled."""
        return list(dict.fromkeys(loop for each in self.bytecodes for loop in each.loops))

    @property
    def llvm(self) -> str:
        """The LLVM text of the inner loops."""
        return "\n\n".join(
            text_of(loop, f"loop{number}")[0].strip() for number, loop in enumerate(self.loops)
        )

    def __str__(self) -> str:
        """List the bytecode, with what NumPy does between."""
        listing = Listing.of(self.fused.lowered.program)
        names = {loop: f"loop{number}" for number, loop in enumerate(self.loops)}
        for step in self.steps:
            if isinstance(step, tuple):
                listing.lines += step[0].listed(names, listing)
            elif all(value in listing.numbers for value in [*step.operands, *outputs_of(step)]):
                listing.step(step, "")
        return listing.text


@frozen(eq=False)
class Assembled:
    """A program with native calls in it, for a plan to be made of.

    Attributes
    ----------
    program : Program
    left : list of (step, str)
        What NumPy does, and why.
    segments : sequence of Segment
    guards : sequence of Guard
        All in their order, those too that are native by now.
    """

    program: Program
    left: Sequence[tuple[Step, str]]
    segments: Sequence[Segment]
    guards: Sequence[Guard]


def schedule(fused: Fused, threads: int = 1) -> Schedule:
    """Make bytecode of each run of native work.

    Parameters
    ----------
    fused : Fused
    threads : int
        How many may share a nest.
    """
    program, own = fused.lowered.program, fused.lowered.constants
    rows = list(runs(fused.slots))
    made = Schedule(fused, threads, known={*program.inputs, *(each.value for each in own)})
    for row, wanted in zip(rows, needed_behind(rows, program), strict=True):
        if isinstance(row[0], (Call, Guard)):
            made.steps.append(row[0])
        else:
            made.native(row, wanted)
    return made


def compile_schedule(made: Schedule) -> Assembled:
    """Compile all inner loops at once, and make the native calls of them."""
    compiled = compiled_loops(made.loops)
    steps: list[Step] = []
    segments: list[Segment] = []
    for step in made.steps:
        if isinstance(step, tuple):
            bytecode, inputs, outputs = step
            segment = bytecode.segment(compiled)
            segment.foreign = [value for value in inputs if value not in made.known]
            segment.fits, segment.layouts = fits(), layouts_of(segment.foreign)
            segments.append(segment)
            steps.append(Call(segment, tuple(inputs), {}, tuple(outputs), several=True))
        else:
            steps.append(step)
    lowered = made.fused.lowered
    constants = (*lowered.program.constants, *lowered.constants)
    left = [(each.step, each.reason) for each in lowered.steps if each.reason is not None]
    program = evolve(lowered.program, constants=constants, steps=tuple(steps))
    return Assembled(program, left, segments, lowered.program.guards)


def runs(slots: Iterable[Slot]) -> Iterator[list[Slot]]:
    """Divide the work into runs of what is native, and single steps of NumPy's."""
    row: list[Slot] = []
    for slot in slots:
        if isinstance(slot, (Call, Guard)):
            if row:
                yield row
            yield [slot]
            row = []
        else:
            row.append(slot)
    if row:
        yield row


def raw_of(value: Value) -> Value:
    """Give a value for the array that holds a number; an array is its own."""
    return value if value.kind is np.ndarray else Value(np.ndarray, (), kept_as(value))


def outputs_of(step: Step) -> Sequence[Value]:
    """Give what a step of NumPy's gives."""
    return step.outputs if isinstance(step, Call) else ()


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

"""The verifier: no step of a plan, and none of native code, reads memory that a later value took.

It goes through a program in its plain order, noting of each piece of memory which value lies there,
and compares that with what storage, fusion and the order of native work have made of it.
`verify_owners` runs a program in the plain
interpreter, to see whether its views are those that all of this relies on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.naming import called
from tape_ad.errors import TapeError
from tape_ad.programs.engines.storage import size_of
from tape_ad.programs.program import Call, Program, Step, Value, interpreted, root_of

__all__ = [
    "StorageError",
    "verify_entries",
    "verify_order",
    "verify_owners",
    "verify_plan",
    "verify_ranges",
]

Extent = tuple[Any, int, int]
"""A piece of memory: which one, from which byte on, and how many."""


class StorageError(TapeError):
    """A program would read what has been written over: a fault of this library."""


@define(eq=False)
class Contents:
    """Which values lie in memory.

    Attributes
    ----------
    pieces : dict
        For each piece of memory the parts that are written to, as (start, stop, value).
    """

    pieces: dict[Any, list[tuple[int, int, Value]]] = field(factory=dict)

    def write(self, extent: Extent, value: Value) -> None:
        """Put a value somewhere."""
        memory, start, size = extent
        stop, kept = start + size, []
        for first, last, other in self.pieces.get(memory, ()):
            if first < start:
                kept.append((first, min(last, start), other))
            if last > stop:
                kept.append((max(first, stop), last, other))
        self.pieces[memory] = [*kept, (start, stop, value)]

    def check(self, extent: Extent, value: Value, reader: str) -> None:
        """Look whether a value is still there.

        Raises
        ------
        StorageError
        """
        memory, start, size = extent
        there = 0
        for first, last, other in self.pieces.get(memory, ()):
            inside = min(last, start + size) - max(first, start)
            if inside > 0 and other is not value:
                raise StorageError(
                    f"{reader} reads {value}, but {other} has been written there since"
                )
            there += max(inside, 0)
        if there < size:
            raise StorageError(f"{reader} reads {value}, of which {size - there} bytes are missing")


def verify_plan(plan: Any) -> None:
    """Verify where a plan puts results, and what it writes over.

    What is done in parts is gone through twice, for the first half of each array and the second.

    Parameters
    ----------
    plan : Plan

    Raises
    ------
    StorageError
    """
    contents = Contents()
    number = 0
    while number < len(plan.steps):
        run = plan.runs.get(number)
        if run is None:
            do_step(plan, plan.steps[number], contents)
            number += 1
            continue
        inside = plan.steps[run.start : run.stop]
        for half in (0, 1):
            for step in inside:
                do_step(plan, step, contents, half)
        number = run.stop
    for value in plan.program.outputs:
        block = plan.blocks.get(root_of(value))
        if block is not None and not block.given:
            raise StorageError(f"the caller gets {value}, which lies in a workspace")
        check_at(plan, value, contents, "the caller")


def do_step(plan: Any, step: Step, contents: Contents, half: int | None = None) -> None:
    """Check what a step reads, and note what it writes."""
    for value in step.operands:
        check_at(plan, value, contents, name_of(step), half)
    for out in step.outputs if isinstance(step, Call) else ():
        block = plan.blocks.get(out)
        if block is not None:
            contents.write(extent_of(plan, out, half), out)


def check_at(
    plan: Any, value: Value, contents: Contents, reader: str, half: int | None = None
) -> None:
    """Check one operand; what a view shows may be anywhere in its memory."""
    owner = root_of(value)
    block = plan.blocks.get(owner)
    if block is None:
        return
    if half is None or value is owner:
        contents.check(extent_of(plan, owner, half), owner, reader)
        return
    contents.check(extent_of(plan, owner, None), owner, reader)


def extent_of(plan: Any, value: Value, half: int | None) -> Extent:
    """Say where a plan puts a value, or a half of it; a block for one part holds all of that."""
    block = plan.blocks[value]
    memory, start = (block, 0) if block.given else (None, block.offset)
    if half is None or block.size != size_of(value):
        return memory, start, block.size
    middle = block.size // 2
    return memory, start + half * middle, block.size - middle if half else middle


def verify_ranges(
    touched: Sequence[Iterable[Value]], where: Mapping[Value, tuple[int, int]]
) -> None:
    """Verify that steps find what they share in an arena.

    Parameters
    ----------
    touched : sequence of iterable of Value
        For each step what it reads or writes.
    where : mapping of Value to (int, int)
        The first byte, and how many there are.

    Raises
    ------
    StorageError
    """
    contents, seen = Contents(), set[Value]()
    for number, values in enumerate(touched):
        here = [value for value in dict.fromkeys(values) if value in where]
        for value in here:
            if value not in seen:
                contents.write((None, *where[value]), value)
                seen.add(value)
        for value in here:
            contents.check((None, *where[value]), value, f"step {number} of native code")


def verify_entries(
    entries: Iterable[tuple[str, Any]], where: Mapping[Value, tuple[int, int]]
) -> None:
    """Verify that the entries of a bytecode find what they share in an arena.

    Parameters
    ----------
    entries : iterable of (str, tuple)
        Each a kind, and what its words are made of.
    where : mapping of Value to (int, int)
        As for `verify_ranges`.

    Raises
    ------
    StorageError
    """
    verify_ranges([ROOTS[kind](*parts) for kind, parts in entries], where)


def of_loop(part: Any, body: Any, table: Value, unit: int) -> list[Value]:
    """List the memory that a loop of a program needs as long as it goes round."""
    return [table, body.arena, *(ref.root for ref in body.outside.values())]


ROOTS: Mapping[str, Callable[..., list[Value]]] = {
    "call": lambda loop, data, name, refs, lengths, steps: [ref.root for ref in refs],
    "nest": lambda dims, length, last, unit, bodies: [
        operand.ref.root for body in bodies for operand in body.operands
    ],
    "guard": lambda ref, answer, number: [ref.root],
    "loop": of_loop,
}
"""What an entry reads or writes, by its kind."""


@define(eq=False)
class Order:
    """Native work, taken in the program's order, with the slot in which it is done.

    Attributes
    ----------
    memory : callable
        Gives what owns the memory of an owner, which may have been another's before.
    """

    memory: Callable[[Value], Value]
    holds: dict[Value, Value] = field(factory=dict)
    written: dict[Value, int] = field(factory=dict)
    read: dict[Value, int] = field(factory=dict)

    def take(self, step: Step, parts: Sequence[tuple[Any, int]]) -> None:
        """Take what is done for a step."""
        name = name_of(step)
        self.check_contents(step.operands, name)
        check_complete(step, parts, name, self.memory)
        for part, slot in parts:
            self.check_slot(part, slot, name)
        for part, slot in parts:
            for root in map(self.memory, part.written_roots):
                self.written[root] = max(slot, self.written.get(root, -1))
        for out in step.outputs if isinstance(step, Call) else ():
            if out.owner is None:
                self.holds[self.memory(out)] = out

    def check_contents(self, values: Iterable[Value], reader: str) -> None:
        """Look whether nothing has been written over values, in the program's order."""
        for value in values:
            owner = root_of(value)
            found = self.holds.get(self.memory(owner), owner)
            if found is not owner:
                raise StorageError(f"{reader} reads {value}, over which {found} has been written")

    def check_slot(self, part: Any, slot: int, name: str) -> None:
        """Look whether work comes behind what it waits for."""
        for root in map(self.memory, part.read_roots):
            if self.written.get(root, -1) > slot:
                raise StorageError(f"{name} reads {root} before it is there")
            self.read[root] = max(slot, self.read.get(root, -1))
        for root in map(self.memory, part.written_roots):
            last = max(self.written.get(root, -1), self.read.get(root, -1))
            if last > slot and not getattr(part, "apart", False):
                raise StorageError(f"{name} writes to {root}, which is still to be read")


def check_complete(
    step: Step, parts: Sequence[tuple[Any, int]], name: str, memory: Callable[[Value], Value]
) -> None:
    """Look whether the loop for a ufunc reads all operands."""
    if not (isinstance(step, Call) and type(step.function) is np.ufunc and len(parts) == 1):
        return
    read = set(map(memory, parts[0][0].read_roots))
    for value in step.operands:
        if memory(value) not in read:
            raise StorageError(f"the loop for {name} does not read {value}")


def verify_order(
    program: Program,
    work: Iterable[tuple[Step, Sequence[tuple[Any, int]]]],
    memory: Callable[[Value], Value],
) -> None:
    """Verify the order of native work, what it writes over, and that loops read their operands.

    Parameters
    ----------
    program : Program
    work : iterable of (step, [(nest, slot)])
        For each step that native code does, in the program's order.
    memory : callable
        Gives what owns the memory of an owner, which may have been another's before.

    Raises
    ------
    StorageError
    """
    order = Order(memory)
    for step, parts in work:
        order.take(step, parts)
    order.check_contents(program.outputs, "the caller")


def verify_owners(program: Program, inputs: Sequence[Any]) -> None:
    """Run a program in the plain interpreter, and verify whose memory its values show.

    Parameters
    ----------
    program : Program
    inputs : sequence of array and number

    Raises
    ------
    StorageError
    """
    values, _ = interpreted(program, inputs)
    arrays = {value: x for value, x in values.items() if type(x) is np.ndarray and x.size}
    computed = {out for call in program.calls for out in call.outputs}
    written = {*computed, *program.inputs}  # which may be; two constants may be of one memory
    for step in program.steps:
        for out in step.outputs if isinstance(step, Call) else ():
            if out not in arrays:
                continue
            for value in step.operands:
                shared = value in arrays and np.may_share_memory(arrays[out], arrays[value])
                roots = {root_of(value), root_of(out)}
                if shared and len(roots) > 1 and not written.isdisjoint(roots):
                    raise StorageError(f"{name_of(step)} gives {out}, an unknown view of {value}")


def name_of(step: Step) -> str:
    """Name what a step does."""
    return called(step.function) if isinstance(step, Call) else "a guard"

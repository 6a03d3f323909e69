"""Fusion: what a program does natively, in groups that are one loop each."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.naming import called
from tape_ad.programs.capture.op_facts import type_of
from tape_ad.programs.engines import verifier
from tape_ad.programs.engines.liveness import root_of
from tape_ad.programs.engines.native.codegen.reduction_epilogue import is_sum
from tape_ad.programs.engines.native.fusion.repeats import Repeats
from tape_ad.programs.engines.native.fusion.reuse import last_uses, renamed
from tape_ad.programs.engines.native.ir.loop_nests import (
    Argument,
    ExternalCall,
    Literal,
    LoopNest,
    Op,
    Reduction,
    RuntimeCheck,
)
from tape_ad.programs.engines.native.ir.memory_map import MemoryMap, MemRef
from tape_ad.programs.engines.native.lowering.calls import lowered
from tape_ad.programs.engines.native.lowering.lowering import NotLowerable, Work
from tape_ad.programs.engines.native.runtime.inner_loops import is_foreign
from tape_ad.programs.program.program import COMPUTED, Call, Guard, Program, Step, Value

__all__ = ["FusedNest", "Fusion", "grouped"]

MOST_OPS, MOST_SINGLE = 48, 1500
"""How many operations one loop has at most, and how many one that is no loop."""

MOST_OPERANDS = 32

MOST_FOREIGN = 12
"""How many operations of one loop are others' loops, between which it is divided."""


STATIC = frozenset({np.shape, type_of})
"""Questions that are not about values."""


@define(eq=False)
class FusedNest:
    """Loop nests over one iteration space, fused into one.

    Attributes
    ----------
    nest : LoopNest
    stored : dict of MemRef to argument
        What has been computed for the elements there, and need not be loaded.
    """

    nest: LoopNest
    stored: dict[MemRef, Argument] = field(factory=dict)
    _foreign: int = 0

    @property
    def refs(self) -> list[MemRef]:
        """All that is touched."""
        return self.nest.refs

    @property
    def read_roots(self) -> set[Value]:
        """The values whose memory is read."""
        return self.nest.read_roots

    @property
    def written_roots(self) -> set[Value]:
        """The values whose memory is written to."""
        return self.nest.written_roots

    def has_room(self, other: LoopNest) -> bool:
        """Tell whether another nest may be added."""
        most = MOST_OPS if self.nest.shape else MOST_SINGLE
        if len(self.nest.ops) + len(other.ops) > most:
            return False
        if self._foreign + sum(map(is_foreign, other.ops)) > MOST_FOREIGN:
            return False
        return not self.nest.shape or self.nest.operands + other.operands <= MOST_OPERANDS

    def add(self, other: LoopNest) -> None:
        """Fuse another nest into this one."""
        mine = self.nest
        reads = [self.stored.get(ref) for ref in other.reads]
        args = [
            mine.read(ref) if arg is None else arg
            for arg, ref in zip(reads, other.reads, strict=True)
        ]
        ops: list[Argument] = []

        def now(arg: Argument) -> Argument:
            if type(arg) is not int:
                return arg
            return ops[arg] if arg >= 0 else args[~arg]

        for kind, operands in other.ops:  # each may be of those before it
            known = len(mine.ops)
            again = mine.again(Op(kind, tuple([now(arg) for arg in operands])))
            ops.append(again)
            if again == known:  # it is new
                self._foreign += is_foreign(mine.ops[again])
        for arg, ref in other.writes:
            mine.writes.append((now(arg), ref))
            self.stored[ref] = now(arg)
        for each in other.reductions:
            mine.reductions.append(type(each)(each.ufunc, now(each.arg), each.ref))


def squeezed(nest: LoopNest) -> LoopNest:
    """Leave out the axes of one element, and store what is brought together of one alone."""
    if 1 not in nest.shape:
        return without_trivial_reductions(nest)
    reads = [ref.squeezed() for ref in nest.reads]
    writes = [(arg, ref.squeezed()) for arg, ref in nest.writes]
    epilogues = [type(each)(each.ufunc, each.arg, each.ref.squeezed()) for each in nest.reductions]
    shape = tuple([length for length in nest.shape if length != 1])
    narrow = LoopNest(
        shape, reads, nest.ops, writes, epilogues, nest.loop, nest.apart, nest.ordered
    )
    return without_trivial_reductions(narrow)


def without_trivial_reductions(nest: LoopNest) -> LoopNest:
    """Store the results of reductions that have one element each."""
    if not nest.reductions:
        return nest
    for each in nest.reductions:
        if 0 not in each.ref.strides:
            nest.writes.append((trivial_reduction(nest, each), each.ref))
    nest.reductions = [each for each in nest.reductions if 0 in each.ref.strides]
    return nest


def trivial_reduction(nest: LoopNest, each: Reduction) -> Argument:
    """Give what is brought together of one element: that, but -0.0 has become 0.0 in a sum."""
    dtype = each.ref.dtype
    if not is_sum(each.ufunc, dtype):
        return each.arg
    return nest.op(np.add, (dtype,) * 3, each.arg, Literal.of(0.0, dtype))


Slot = FusedNest | ExternalCall | RuntimeCheck | Call | Guard | LoopNest


@define(eq=False)
class Fusion:
    """A program's work in its new order.

    Attributes
    ----------
    memory_map : MemoryMap
    slots : list
        Groups, and what is no loop of ours; a call or a guard is NumPy's.
    left : list of (Call, str)
        What NumPy has to do, and why.
    last_uses : dict of Call to Value
        The calls that may write over an array.
    names : dict of Value to Value
        For an array that is written over, what is there in the end.
    settled : set of Value
        The constants that are the program's own, and so always lie as they do.
    noted : list of (step, list of (nest, int))
        What is done for each step and in which slots, for the verifier.
    """

    memory_map: MemoryMap = field(factory=MemoryMap)
    slots: list[Slot] = field(factory=list)
    left: list[tuple[Step, str]] = field(factory=list)
    guards: int = 0
    _written: dict[Value, int] = field(factory=dict)
    _last: dict[tuple[int, ...], int] = field(factory=dict)
    _floor: int = 0
    last_uses: dict[Call, Value] = field(factory=dict)
    names: dict[Value, Value] = field(factory=dict)
    settled: set[Value] = field(factory=set)
    noted: list[tuple[Step, list[tuple[Any, int]]]] = field(factory=list)
    _row: int = 0
    _made: set[Value] = field(factory=set)
    _seen: set[Value] = field(factory=set)
    _read: dict[Value, int] = field(factory=dict)
    _repeats: Repeats = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._repeats = Repeats(self.memory_map)

    def take(self, step: Step) -> None:
        """Take the next step of a program."""
        if type(step) is Guard:
            self.guards += 1
            self.guard(step)
        elif type(step) is Call and self.memory_map.look(step):
            self.slots.append(step)  # left out again where NumPy does not need the view
            self._row = len(self.slots)  # else it divides what is native
        elif type(step) is Call:
            key = self._repeats.key_of(step)
            nest = self._repeats.find(key, step)
            if nest is not None:
                self._made.update(step.outputs)
                self.note(step, [(nest, self.join(nest))])
                return
            base = self.written_over(step)
            try:
                work = lowered(step, self.memory_map)
            except NotLowerable as reason:
                if base is not None:
                    self.memory_map.forget(step.outputs[0])
                self._seen.update(map(root_of, step.operands))
                self.left.append((step, str(reason)))
                self.append(step)
                self.note(step, [])
                return
            if base is not None:
                self.names[base] = step.outputs[0]
            self._repeats.remember(key, step, work)
            self._made.update(step.outputs)
            floor = self._floor
            if len(work) > 1:  # parts of one array, which one run of native code has to write
                self._floor = max(floor, self._row)
            parts = [each for each in work if not (type(each) is LoopNest and 0 in each.shape)]
            self.note(step, [(each, self.put(each)) for each in parts])
            self._floor = floor

    def note(self, step: Step, parts: list[tuple[Any, int]]) -> None:
        """Note what is done for a step in which slots, where that is verified."""
        if verifier.ENABLED:
            self.noted.append((step, parts))

    def memory(self, value: Value) -> Value:
        """Give what native code knows as the owner of the memory in which a value lies."""
        ref = self.memory_map.of(value)
        root = value if ref is None else ref.root
        return self.names.get(root, root)

    def written_over(self, call: Call) -> Value | None:
        """Give the result of a call the memory of an operand, if nobody else needs that."""
        base = self.last_uses.get(call)
        ref = None if base is None else self.memory_map.of(base)
        if base is None or ref is None or base not in self._made or base in self._seen:
            return None
        self.memory_map.put(call.outputs[0], ref)
        return ref.root

    def guard(self, guard: Guard) -> None:
        """Take a guard."""
        ref = self.memory_map.of(guard.value)
        known = guard.value in self._made or guard.value in self.settled
        if guard.question in STATIC and known:
            return  # which native code does not make depend on values
        if guard.question is bool and ref is not None and ref.dtype.kind == "b":
            self.append(RuntimeCheck(ref, int(guard.answer), self.guards))
        else:
            self._seen.add(root_of(guard.value))
            self.left.append((guard, f"{called(guard.question)} asks Python"))
            self.append(guard)
        self.note(guard, [])
        self._floor = len(self.slots)

    def append(self, slot: Slot) -> None:
        """Do something after all that has been there."""
        if isinstance(slot, (Call, Guard)):
            self._row = len(self.slots) + 1
        if isinstance(slot, Call):
            for value in slot.outputs:
                self._written[value] = self._written[root_of(value)] = len(self.slots)
        elif not isinstance(slot, Guard):
            for root in slot.written_roots:
                self._written[root] = len(self.slots)
            if self.last_uses:
                self._read |= dict.fromkeys(slot.read_roots, len(self.slots))
        self.slots.append(slot)

    def put(self, work: Work) -> int:
        """Find a group that can do it, or make one, and give its number."""
        if type(work) is not LoopNest:
            self.append(work)
            return len(self.slots) - 1
        nest = squeezed(work)
        if nest.loop is None:
            return self.join(nest)
        self.append(nest)
        return len(self.slots) - 1

    def join(self, nest: LoopNest) -> int:
        """Find a group for a nest of ours, or make one, and give its number."""
        number = self._last.get(nest.shape)
        if number is not None and self.fits(nest, number):
            group: Any = self.slots[number]
            group.add(nest)
            if self.last_uses:
                for root in nest.read_roots:
                    self._read[root] = max(number, self._read.get(root, -1))
            refs = [ref for _, ref in nest.writes] + [e.ref for e in nest.reductions]
            for ref in refs:  # of which a later group may have another part
                self._written[ref.root] = max(number, self._written.get(ref.root, -1))
            return number
        group = FusedNest(LoopNest(nest.shape))
        group.add(nest)
        number = self._last[nest.shape] = len(self.slots)
        self.append(group)
        return number

    def fits(self, nest: LoopNest, number: int) -> bool:
        """Tell whether a group comes late enough for a nest, and has room."""
        group: Any = self.slots[number]
        if number < self._floor or not group.has_room(nest):
            return False
        for ref in nest.reads:
            written = self._written.get(ref.root, -1)
            if written > number or (written == number and ref not in group.stored):
                return False
        if nest.apart:
            return True
        refs = [ref for _, ref in nest.writes] + [each.ref for each in nest.reductions]
        touched = self._written, self._read
        return all(each.get(ref.root, -1) < number for ref in refs for each in touched)


def grouped(program: Program) -> Fusion:
    """Put a program's calls into groups.

    Parameters
    ----------
    program : Program

    Returns
    -------
    Fusion
    """
    settled = {each.value for each in program.constants if each.line == COMPUTED}
    groups = Fusion(last_uses=last_uses(program), settled=settled)
    for step in program.steps:
        groups.take(step)
    if verifier.ENABLED:
        verifier.verify_order(program, groups.noted, groups.memory)
    if groups.names:
        for number, slot in enumerate(groups.slots):
            groups.slots[number] = renamed(slot, groups.names)
    drop_unread(groups, program)
    return groups


def drop_unread(groups: Fusion, program: Program) -> None:
    """Leave out views that nobody sees, and the storing of what nobody reads."""
    needed = {root_of(value) for value in program.outputs} | set(program.outputs)
    kept: list[Slot] = []
    for slot in reversed(groups.slots):
        if isinstance(slot, (Call, Guard)):
            if isinstance(slot, Call) and is_unseen(slot, needed):
                continue
            for value in slot.operands:
                needed |= {value, root_of(value)}
        elif isinstance(slot, FusedNest):
            nest = slot.nest
            nest.writes = [(arg, ref) for arg, ref in nest.writes if ref.root in needed]
            if not (nest.writes or nest.reductions):
                continue
            needed |= nest.read_roots
        else:
            needed |= slot.read_roots
        kept.append(slot)
    groups.slots[:] = kept[::-1]


def is_unseen(call: Call, needed: set[Value]) -> bool:
    """Tell whether a call is a view that no call of NumPy's sees."""
    return call.outputs[0].owner is not None and needed.isdisjoint(call.outputs)


def segments(groups: Fusion) -> Iterator[list[Slot]]:
    """Divide the work into what is native in a row, and single steps of NumPy's."""
    row: list[Slot] = []
    for slot in groups.slots:
        if isinstance(slot, (Call, Guard)):
            if row:
                yield row
            yield [slot]
            row = []
        else:
            row.append(slot)
    if row:
        yield row

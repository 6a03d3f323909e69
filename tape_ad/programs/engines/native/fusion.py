"""Fusion: loop nests over one iteration space become one, memory is reused, and dead stores go."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.capture.op_facts import may_fail
from tape_ad.programs.engines import storage
from tape_ad.programs.engines.native.ir import (
    Argument,
    ExternalCall,
    Listing,
    LoopCall,
    LoopNest,
    MemRef,
    Op,
    Reduction,
    RuntimeCheck,
    is_external,
)
from tape_ad.programs.engines.native.lowering import Lowered, LoweredStep, changes
from tape_ad.programs.engines.native.lowering.calls import Work
from tape_ad.programs.engines.plans import overwritten
from tape_ad.programs.engines.storage import LiveRanges
from tape_ad.programs.program import Call, Guard, Program, Value, body_of, root_of


def reuse_memory(lowered: Lowered, own: Collection[Value] = ()) -> Lowered:
    """Let updates write over arrays that nothing else needs.

    Such an array is one that native code has made, and that no call of NumPy's has seen, for that
    may have kept a view; or one of its `own`.
    """
    dying = last_uses(lowered.program)
    if not dying:
        return lowered
    homes: dict[Value, Value] = {}
    native: set[Value] = set(own)
    seen: set[Value] = set()
    for each in lowered.steps:
        if each.reason is not None:
            seen.update(map(root_of, each.step.operands))
        elif isinstance(each.step, Call) and not each.is_view:
            base = dying.get(each.step)
            if base is not None and base in native and base not in seen:
                homes[each.step.outputs[0]] = homes.get(base, base)
            native.update(each.step.outputs)
    if not homes:
        return lowered
    last = {home: value for value, home in homes.items()}
    names = {value: last[home] for value, home in homes.items()} | last
    renamed = {value: name for value, name in names.items() if value is not name}
    renaming = Renaming(renamed)
    steps = [in_place(each, homes, renaming) for each in lowered.steps]
    return evolve(lowered, steps=steps, renamed=renamed)


def last_uses(program: Program) -> dict[Call, Value]:
    """Find the calls that change an array which nothing behind them uses.

    Parameters
    ----------
    program : Program

    Returns
    -------
    dict of Call to Value
        The array.
    """
    changing = [
        (number, step)
        for number, step in enumerate(program.steps)
        if type(step) is Call and changes(step)
    ]
    if not changing:
        return {}
    live = LiveRanges.of(program.steps, program.outputs)
    found: dict[Call, Value] = {}
    for number, step in changing:
        for base in overwritten(step):
            if base.owner is None and base.kind is np.ndarray and live.is_over(base, number):
                found[step] = base
                break
    return found


@define(eq=False)
class Renaming:
    """Other names for memory.

    Attributes
    ----------
    names : mapping of Value to Value
    """

    names: Mapping[Value, Value]
    _known: dict[MemRef, MemRef] = field(factory=dict)

    def ref(self, ref: MemRef) -> MemRef:
        """Give a memory reference under the new name."""
        name = self.names.get(ref.root)
        if name is None:
            return ref
        known = self._known.get(ref)
        if known is None:
            known = self._known[ref] = MemRef(name, ref.offset, ref.shape, ref.strides, ref.dtype)
        return known

    def work(self, work: Work, *, reuses: bool) -> Work:
        """Give a loop nest, an external call or a runtime check under the new names.

        Where it is of a call that reuses memory, others touch what it writes.
        """
        if not reuses and not any(ref.root in self.names for ref in work.refs):
            return work
        if isinstance(work, RuntimeCheck):
            return evolve(work, ref=self.ref(work.ref))
        if isinstance(work, LoopCall):
            return evolve(work, places={v: self.ref(ref) for v, ref in work.places.items()})
        reads = list(map(self.ref, work.reads))
        if isinstance(work, ExternalCall):
            return evolve(work, reads=reads, writes=list(map(self.ref, work.writes)))
        return LoopNest(
            work.shape,
            reads,
            work.ops,
            [(arg, self.ref(ref)) for arg, ref in work.writes],
            work.reductions
            and [Reduction(each.ufunc, each.arg, self.ref(each.ref)) for each in work.reductions],
            work.callee,
            work.apart and not reuses,
            work.ordered,
        )


def in_place(each: LoweredStep, homes: Mapping[Value, Value], renaming: Renaming) -> LoweredStep:
    """Give a step with its memory under the new names, without copies of an array to itself."""
    if not each.work:
        return each
    reuses = isinstance(each.step, Call) and each.step.outputs[0] in homes
    work = [renaming.work(part, reuses=reuses) for part in each.work]
    if reuses:
        work = [part for part in work if not is_copy_to_itself(part)]
    return LoweredStep(each.step, work)


def is_copy_to_itself(work: Work) -> bool:
    """Tell whether a nest stores elements where they are already."""
    if not isinstance(work, LoopNest) or work.ops or work.reductions or work.callee:
        return False
    return len(work.reads) == 1 and work.writes == [(-1, work.reads[0])]


MOST_OPS, MOST_SINGLE = 48, 1500
"""How many operations one loop has at most, and how many one that is no loop."""

MOST_OPERANDS = 32

MOST_EXTERNAL = 12
"""How many operations of one loop are others' inner loops, between which it is divided."""


@define(eq=False)
class FusedNest(LoopNest):
    """Loop nests over one iteration space, fused into one.

    Attributes
    ----------
    stored : dict of MemRef to argument
        What has been computed for the elements there, and need not be loaded.
    """

    stored: dict[MemRef, Argument] = field(factory=dict, kw_only=True)
    _external: int = field(default=0, kw_only=True)

    def can_take(self, other: LoopNest) -> bool:
        """Tell whether another nest may be added."""
        most = MOST_OPS if self.shape else MOST_SINGLE
        if len(self.ops) + len(other.ops) > most:
            return False
        if self._external + sum(map(is_external, other.ops)) > MOST_EXTERNAL:
            return False
        return not self.shape or self.operands + other.operands <= MOST_OPERANDS

    def add(self, other: LoopNest) -> None:
        """Fuse another nest into this one."""
        reads = [self.stored.get(ref) for ref in other.reads]
        args = [
            self.read(ref) if arg is None else arg
            for arg, ref in zip(reads, other.reads, strict=True)
        ]
        ops: list[Argument] = []

        def now(arg: Argument) -> Argument:
            if type(arg) is not int:
                return arg
            return ops[arg] if arg >= 0 else args[~arg]

        for kind, operands in other.ops:  # each may be of those before it
            known = len(self.ops)
            again = self.again(Op(kind, tuple([now(arg) for arg in operands])))
            ops.append(again)
            if again == known:  # it is new
                self._external += is_external(self.ops[again])
        for arg, ref in other.writes:
            self.writes.append((now(arg), ref))
            self.stored[ref] = now(arg)
        for each in other.reductions:
            self.reductions.append(Reduction(each.ufunc, now(each.arg), each.ref))


Slot = FusedNest | LoopNest | ExternalCall | LoopCall | RuntimeCheck | Call | Guard
"""One thing to be done; a nest that is not fused has an inner loop of its own, and a call or a
guard is NumPy's."""


@frozen(eq=False)
class Fused:
    """A program after fusion.

    Attributes
    ----------
    lowered : Lowered
        What it was made from.
    slots : list
        What is to be done, in order.
    """

    lowered: Lowered
    slots: list[Slot]

    def __str__(self) -> str:
        """List what is to be done."""
        listing = Listing.of(self.lowered.program)
        for slot in self.slots:
            if isinstance(slot, (Call, Guard)):
                listing.step(slot, "")
            else:
                listing.work(slot)
        return listing.text


def fuse(lowered: Lowered, reuses: bool = False) -> Fused:
    """Fuse loop nests over one iteration space, each with the last one that comes late enough.

    Parameters
    ----------
    lowered : Lowered
    reuses : bool
        Whether memory is used again that the passes before do not know of.

    Returns
    -------
    Fused
        Its nests are those of the steps in another order, in which each still comes behind what it
        reads, and behind what reads what it writes over.
    """
    has_loops = any(isinstance(part, LoopCall) for each in lowered.steps for part in each.work)
    fusion = Fusion(reuses=reuses or has_loops or bool(lowered.renamed))
    done = [(each, fusion.take(each)) for each in lowered.steps]
    if storage.verifier is not None:
        noted = [
            (each.step, list(zip(each.work, numbers, strict=True)))
            for each, numbers in done
            if not each.is_view
        ]
        storage.verifier.verify_order(lowered.program, noted, lowered.memory)
    return Fused(lowered, fusion.slots)


@define(eq=False)
class Fusion:
    """A program's work while it is brought into its new order.

    Attributes
    ----------
    reuses : bool
        Whether memory is used again, so that reads matter to who writes.
    slots : list
    """

    reuses: bool
    slots: list[Slot] = field(factory=list)
    _written: dict[Value, int] = field(factory=dict)
    _read: dict[Value, int] = field(factory=dict)
    _last: dict[tuple[int, ...], int] = field(factory=dict)
    _barrier: int = 0
    _row: int = 0

    def take(self, each: LoweredStep) -> list[int]:
        """Take the next step; give for each part of its work the number of its slot."""
        step = each.step
        if each.is_view:
            self.slots.append(step)  # left out again where NumPy does not need the view
            self._row = len(self.slots)  # else it divides what is native
            return []
        if each.reason is not None:
            self.append(step)
        barrier = self._barrier
        if len(each.work) > 1:  # parts of one array, which one run of native code has to write
            self._barrier = max(barrier, self._row)
        numbers = [self.put(part) for part in each.work]
        guarded = isinstance(step, Guard) or bool(getattr(body_of(step), "guards", ()))
        self._barrier = len(self.slots) if guarded else barrier
        return numbers

    def append(self, slot: Slot) -> None:
        """Append an operation behind all that are there."""
        if isinstance(slot, (Call, Guard)):
            self._row = len(self.slots) + 1
        if isinstance(slot, Call):
            for value in slot.outputs:
                self._written[value] = self._written[root_of(value)] = len(self.slots)
        elif not isinstance(slot, Guard):
            for root in slot.written_roots:
                self._written[root] = len(self.slots)
            if self.reuses:
                self._read |= dict.fromkeys(slot.read_roots, len(self.slots))
        self.slots.append(slot)

    def put(self, work: Work) -> int:
        """Find a nest that work can be fused with, or let it stand alone, and give its slot."""
        if type(work) is LoopNest and work.callee is None:
            return self.join(work)
        self.append(work)
        return len(self.slots) - 1

    def join(self, nest: LoopNest) -> int:
        """Fuse a nest of elementwise operations with one before, or begin a new one."""
        number = self._last.get(nest.shape)
        if number is not None and self.fits(nest, number):
            fused: Any = self.slots[number]
            fused.add(nest)
            if self.reuses:
                for root in nest.read_roots:
                    self._read[root] = max(number, self._read.get(root, -1))
            for root in nest.written_roots:  # of which a later nest may have another part
                self._written[root] = max(number, self._written.get(root, -1))
            return number
        fused = FusedNest(nest.shape)
        fused.add(nest)
        number = self._last[nest.shape] = len(self.slots)
        self.append(fused)
        return number

    def fits(self, nest: LoopNest, number: int) -> bool:
        """Tell whether a slot comes late enough for a nest, and its loop does not get too large."""
        fused: Any = self.slots[number]
        if number < self._barrier or not fused.can_take(nest):
            return False
        for ref in nest.reads:
            written = self._written.get(ref.root, -1)
            if written > number or (written == number and ref not in fused.stored):
                return False
            if written == number and ref in nest.gathered:
                return False
        if nest.apart:
            return True
        touched = self._written, self._read
        return all(each.get(root, -1) < number for root in nest.written_roots for each in touched)


def eliminate_dead_stores(fused: Fused, others: Collection[Value] = ()) -> Fused:
    """Leave out views that nobody sees, and the storing of what nobody loads; but `others` do."""
    outputs = fused.lowered.program.outputs
    needed = {root_of(value) for value in outputs} | set(outputs) | set(others)
    kept: list[Slot] = []
    for slot in reversed(fused.slots):
        if isinstance(slot, (Call, Guard)):
            if isinstance(slot, Call) and is_unseen(slot, needed):
                continue
            for value in slot.operands:
                needed |= {value, root_of(value)}
        elif isinstance(slot, FusedNest):
            writes = [(arg, ref) for arg, ref in slot.writes if ref.root in needed]
            if not (writes or slot.reductions):
                continue
            needed |= slot.read_roots
            if len(writes) < len(slot.writes):
                kept.append(evolve(slot, writes=writes))
                continue
        elif isinstance(slot, (ExternalCall, LoopNest)) and needed.isdisjoint(slot.written_roots):
            continue
        else:
            needed |= slot.read_roots
        kept.append(slot)
    return Fused(fused.lowered, kept[::-1])


def is_unseen(call: Call, needed: set[Value]) -> bool:
    """Tell whether a call is a view that no call of NumPy's sees, and no index out of bounds."""
    view = call.outputs[0].owner is not None and needed.isdisjoint(call.outputs)
    return view and not may_fail(call)

"""Bytecode of a segment: its loops, tiled and divided among threads."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve, field

from tape_ad.programs.engines import storage
from tape_ad.programs.engines.native.codegen import CompiledLoop
from tape_ad.programs.engines.native.codegen.loads_stores import ANY, SAME, STEPS, UNIT
from tape_ad.programs.engines.native.codegen.loops import (
    ASSIGN,
    BLOCK,
    EACH,
    JOIN,
    ROWS,
    Epilogue,
    Loop,
    identity_of,
    is_sum,
    picks_well,
)
from tape_ad.programs.engines.native.fusion import FusedNest
from tape_ad.programs.engines.native.ir import (
    ExternalCall,
    IterationSpace,
    Listing,
    Literal,
    LLVMFunction,
    LoopCall,
    LoopNest,
    MemRef,
    Reduction,
    RuntimeCheck,
    is_external,
    iteration_space,
)
from tape_ad.programs.engines.native.runtime import vm
from tape_ad.programs.engines.native.runtime.vm import Team
from tape_ad.programs.engines.native.schedule.strip_mining import StripMined
from tape_ad.programs.engines.segments import Segment
from tape_ad.programs.engines.storage import Block, LiveRanges, placed, rounded, size_of
from tape_ad.programs.program import Value


class Operand(NamedTuple):
    """What a loop reads or writes, with its strides along the loops around.

    Attributes
    ----------
    ref : MemRef
    step : int
        Along the inner loop.
    outer : tuple of int
        Along the outer ones.
    side : int or None
        How far it is from one block of the inner loop to the next, if not block times step.
    """

    ref: MemRef
    step: int
    outer: tuple[int, ...]
    side: int | None = None

    @classmethod
    def buffer(cls, ref: MemRef, space: IterationSpace) -> "Operand":
        """Give what holds one block, the same at each iteration."""
        return cls(ref, ref.dtype.itemsize, (0,) * len(space.dims), 0)

    @classmethod
    def partial(cls, ref: MemRef, space: IterationSpace) -> "Operand":
        """Give the results of blocks: one at each iteration."""
        return cls(ref, 0, ref.strides[:-1], ref.strides[-1])

    @property
    def side_by_side(self) -> bool:
        """Whether elements are next to one another."""
        return self.step == self.ref.dtype.itemsize

    @property
    def access(self) -> str:
        """Say how it lies along the inner loop."""
        if self.side_by_side:
            return UNIT
        every, rest = divmod(self.step, self.ref.dtype.itemsize)
        few = f"one in {every}"
        if few in STEPS and not rest and picks_well(self.ref.dtype):
            return few
        return ANY if self.step else SAME


class Body(NamedTuple):
    """A loop with its operands.

    Attributes
    ----------
    loop : Loop, LLVMFunction or int
        One of ours, or the address of one that is there.
    data : int or tuple of int
        An address, or numbers that lie at one.
    name : str
        Of a loop that is not ours.
    operands : list of Operand
    """

    loop: Loop | LLVMFunction | int
    data: int | tuple[int, ...]
    name: str
    operands: list[Operand]

    def in_blocks(self, block: int) -> "Body":
        """Add an outer loop over blocks of the inner one."""
        operands = [
            Operand(ref, step, (*outer, step * block if side is None else side))
            for ref, step, outer, side in self.operands
        ]
        return self._replace(operands=operands)

    def in_chunks(self, axis: int, chunk: int) -> "Body":
        """Go over chunks of an outer loop first of all; where a chunk is 1, nothing is left of it.

        Parameters
        ----------
        axis : int
        chunk : int
            How many iterations of it are a chunk.
        """
        operands = []
        for each in self.operands:
            before, way, after = each.outer[:axis], each.outer[axis], each.outer[axis + 1 :]
            rest = (way,) if chunk > 1 else ()
            operands.append(each._replace(outer=(way * chunk, *before, *rest, *after)))
        return self._replace(operands=operands)

    def behind(self, count: int) -> "Body":
        """Begin after so many elements of the inner loop."""
        operands = []
        for each in self.operands:
            ref, way = each.ref, each.step * count if each.side is None else each.side
            operands.append(each._replace(ref=ref.along(ref.shape, ref.strides, way)))
        return self._replace(operands=operands)


def reads_its_writes(nest: LoopNest) -> bool:
    """Tell whether elements are written that others are computed of, which goes in order."""
    reads, roots = set(nest.reads), nest.read_roots
    return any(ref.root in roots and ref not in reads for _, ref in nest.writes)


def operands_of(nest: LoopNest, space: IterationSpace) -> list[Operand]:
    """Give what a nest reads and writes, and how it is gone over."""
    ways = zip(nest.refs, space.steps, space.outer, strict=True)
    return [Operand(ref, step, outer) for ref, step, outer in ways]


def loop_of(nest: LoopNest, operands: Sequence[Operand], epilogues: tuple[Epilogue, ...]) -> Loop:
    """Say what a loop of ours does."""
    accesses = [(each.ref.dtype, each.access) for each in operands]
    count = len(nest.reads)
    writes = zip(nest.writes, accesses[count:], strict=False)
    return Loop(
        tuple(accesses[:count]),
        tuple(nest.ops),
        tuple((arg, *access) for (arg, _), access in writes),
        epilogues,
        single=not nest.shape,
    )


def parts_of(
    each: Reduction, space: IterationSpace, outer: tuple[int, ...], block: int
) -> LoopNest:
    """Bring together the results of blocks, for each of which there is a place."""
    shape = (*space.dims, -(-space.length // block))
    after = LoopNest(shape)
    arg = after.read(MemRef.new(shape, each.ref.dtype))
    after.reductions.append(Reduction(each.ufunc, arg, each.ref.along(shape, (*outer, 0))))
    return after


PART = 8192
"""How many elements one iteration of a nest has, where there are many more."""

SHARED = 100_000
"""From how many elements on several threads may share a nest."""

FEW = 8
"""How many units are enough to be divided among threads."""

STRIP = 128
"""How many results, side by side, of a sum over other axes are a unit."""

ROW = 256
"""Up to how many elements a row is short: the way to the next iteration would take as long."""

LONG = 30_000
"""From about how many operations on others may run Python meanwhile."""


@define(eq=False)
class Bytecode:
    """A segment's bytecode while it is written.

    Attributes
    ----------
    outside : mapping of Value to int, or to MemRef
        The arrays that it is called with, each with its number; for a body what lies outside of it,
        in terms of what is around.
    threads : int
        How many may share a nest.
    words : list
        A Loop stands for its address, and a tuple for that of its numbers.
    divided : bool
        Whether there is a nest in it that several threads may share.
    own : int
        The bytes that a thread needs for itself.
    places : mapping of Value to MemRef
        What of its own lies outside as well, in terms of that.
    guards : int
        How many guards come before those that it counts.
    """

    outside: Mapping[Value, Any]
    threads: int = 1
    words: list[Any] = field(factory=list)
    answers: dict[int, bool] = field(factory=dict)
    checks: int = 0
    cost: int = 0
    divided: bool = False
    own: int = 0
    places: Mapping[Value, MemRef] = field(factory=dict)
    guards: int = 0
    _live: LiveRanges = field(factory=LiveRanges)
    _inside: dict[Value, Block] = field(factory=dict)
    _buffers: dict[Value, int] = field(factory=dict)
    _most: int = 1
    _deep: int = 1
    _entries: list[tuple[str, Any]] = field(factory=list)

    # What is to be done, one after the other, with the lifetimes of what lies inside

    def add(self, slot: Any) -> None:
        """Write the instructions of the next piece of work."""
        if isinstance(slot, FusedNest):
            self.nest(slot)
        elif isinstance(slot, LoopNest):
            self.foreign(slot)
        elif isinstance(slot, ExternalCall):
            self.external_call(slot)
        elif isinstance(slot, LoopCall):
            self.loop(slot)
        else:
            self.check(slot)

    def check(self, check: RuntimeCheck) -> None:
        """Write the instruction that stops a replay where a runtime check fails."""
        self.touch([check.ref])
        self.checks += 1
        number = check.number or -1
        if number > 0:
            self.answers[number] = bool(check.answer)
        self._entries.append(("guard", (check.ref, check.answer, number)))

    def external_call(self, call: ExternalCall) -> None:
        """Call a loop that does all by itself."""
        self.touch(call.refs)
        self.cost += call.cost
        loop, data, name = call.callee
        self.call(loop, data, name, call.refs, call.lengths, call.steps)

    def foreign(self, nest: LoopNest) -> None:
        """Call a loop that is there over a space."""
        assert nest.callee is not None  # noqa: S101 - for mypy
        space = iteration_space(nest.shape, [ref.strides for ref in nest.refs], nest.ordered)
        self.touch(nest.refs)
        self.cost += 4 * math.prod(nest.shape)
        self.over(space, [Body(*nest.callee, operands_of(nest, space))], alone=nest.ordered)

    def nest(self, nest: LoopNest) -> None:
        """Go over a space with loops of our own, and perhaps some of NumPy's between them."""
        space = iteration_space(nest.shape, [ref.strides for ref in nest.refs])
        operands = {each.ref: each for each in operands_of(nest, space)}
        block, parts = PART, [nest]
        if any(is_sum(each.ufunc, each.ref.dtype) for each in nest.reductions):
            block = BLOCK
        if any(map(is_external, nest.ops)):
            mined = StripMined(nest, [each.ref for each in operands.values() if each.side_by_side])
            block, parts = mined.block(), mined.parts
            length = space.length if space.length <= 2 * block else block
            offsets, size = mined.settled(length)
            self._buffers |= offsets
            self.own = max(self.own, size)
        self.cost += sum(4 if part.callee else len(part.ops) + 1 for part in parts) * math.prod(
            nest.shape
        )
        later: list[LoopNest] = []
        bodies: list[Body] = []
        accumulated: list[Operand] = []
        modes: set[str] = set()
        for part in parts:
            mine = [operands.get(ref) or Operand.buffer(ref, space) for ref in part.refs]
            if part.callee is not None:
                bodies.append(Body(*part.callee, mine))
                continue
            epilogues = []
            for number, each in enumerate(part.reductions, start=len(mine) - len(part.reductions)):
                epilogue, after = self.epilogue(each, mine[number], space, block)
                epilogues.append(epilogue)
                modes.add(epilogue.mode)
                if after is None and epilogue.mode != ASSIGN:
                    accumulated.append(mine[number])
                if after is not None:
                    mine[number] = Operand.partial(after.reads[0], space)
                    later.append(after)
            loop = loop_of(part, mine, tuple(epilogues))
            bodies.append(Body(loop, 0, "", mine))
        self.touch(operand.ref for body in bodies for operand in body.operands)
        self.over(
            space, bodies, accumulated, reads_its_writes(nest), block, bool(later), modes == {EACH}
        )
        for after in later:
            self.nest(after)

    def epilogue(
        self, each: Reduction, operand: Operand, space: IterationSpace, block: int
    ) -> tuple[Epilogue, LoopNest | None]:
        """Say how a reduction ends a loop; and what is done behind, where it is done in parts."""
        dtype, repeated = each.ref.dtype, zip(operand.outer, space.dims, strict=True)
        if operand.step == 0 and space.length > block:
            after = parts_of(each, space, operand.outer, block)
            return Epilogue(each.ufunc, each.arg, dtype, ASSIGN), after
        if operand.step == 0 and all(stride for stride, length in repeated if length > 1):
            return Epilogue(each.ufunc, each.arg, dtype, ASSIGN), None
        self.fill(each)
        mode = EACH if operand.step else JOIN
        return Epilogue(each.ufunc, each.arg, dtype, mode, operand.access), None

    def fill(self, each: Reduction) -> None:
        """Begin a reduction with what changes nothing."""
        ref = each.ref
        kept = [k for k, stride in enumerate(ref.strides) if stride]
        shape = tuple(ref.shape[k] for k in kept)
        target = ref.along(shape, tuple(ref.strides[k] for k in kept))
        identity = Literal.of(identity_of(each.ufunc, ref.dtype), ref.dtype)
        self.nest(LoopNest(shape, writes=[(identity, target)]))

    # Words

    def call(
        self,
        loop: Any,
        data: int | tuple[int, ...],
        name: str,
        refs: Sequence[MemRef],
        lengths: Sequence[int],
        steps: Sequence[int],
    ) -> None:
        """Write one call of a loop."""
        self._most = max(self._most, len(refs))
        self._entries.append(("call", (loop, data, name, refs, lengths, steps)))

    def over(
        self,
        space: IterationSpace,
        bodies: list[Body],
        accumulated: Sequence[Operand] = (),
        alone: bool = False,
        block: int = PART,
        parts: bool = False,
        each_alone: bool = False,
    ) -> None:
        """Write a nest, or one call where it has no outer loops.

        Parameters
        ----------
        space : IterationSpace
        bodies : list of Body
            What is called one after the other at each iteration.
        accumulated : sequence of Operand
            Those that several iterations accumulate in, which one thread does, in order.
        alone : bool
            Whether one thread has to do all.
        block : int
            How many elements an iteration has, where there are many more.
        parts : bool
            Whether there have to be blocks, for there is a result of each.
        each_alone : bool
            Whether no result is of several elements of the inner loop.
        """
        if not bodies:  # all that it would compute is unread
            return
        dims, length = space.dims, space.length
        shared = self.threads > 1 and not alone
        large = shared and math.prod(dims) * length >= SHARED
        units, by_rows = 1, not parts and length <= ROW
        if large and accumulated:
            units, axis = self.units(dims, accumulated)
            if units == 1 and length > STRIP and each_alone:
                self.strips(space, bodies)
                return
            if axis is not None:
                chunk = dims[axis] // units
                by_rows &= each_alone or chunk > 1 or axis < len(dims) - 1  # in the same order
                rest = (chunk,) if chunk > 1 else ()
                dims = (units, *dims[:axis], *rest, *dims[axis + 1 :])
                bodies = [body.in_chunks(axis, chunk) for body in bodies]
        if by_rows:
            dims, bodies = self.in_rows(dims, bodies, large and not accumulated)
        units = units if accumulated else math.prod(dims)
        last = length
        if parts or length > 2 * block:
            count = -(-length // block)
            last = length - (count - 1) * block
            dims = (*dims, count)
            bodies = [body.in_blocks(block) for body in bodies]
            length = block
            units *= 1 if accumulated else count
        if not dims and len(bodies) == 1:
            loop, data, name, operands = bodies[0]
            refs, steps = [each.ref for each in operands], [each.step for each in operands]
            self.call(loop, data, name, refs, (length,), steps)
            return
        if not dims:
            dims, bodies = (1,), [body.in_blocks(0) for body in bodies]
        self.iterations(dims, length, last, units if large else 1, bodies)

    def units(
        self, dims: tuple[int, ...], accumulated: Sequence[Operand]
    ) -> tuple[int, int | None]:
        """Say in how many units threads share a nest, each of which has results of its own.

        Returns
        -------
        units : int
            1 where there are too few results apart.
        axis : int or None
            Which axis is divided in so many chunks, all alike, if it is not the outermost. The
            fewer they are, the more of the memory's order is kept.
        """
        apart = [all(each.outer[k] for each in accumulated) for k in range(len(dims))]
        outermost = math.prod(dims[: [*apart, False].index(False)])
        if outermost >= FEW:
            return outermost, None
        axis = next((k for k, it in enumerate(apart) if it and dims[k] >= FEW), None)
        if axis is None:
            return 1, None
        counts = range(self.threads, dims[axis], self.threads)
        units = next((count for count in counts if dims[axis] % count == 0), dims[axis])
        return units, axis

    def in_rows(
        self, dims: tuple[int, ...], bodies: list[Body], large: bool
    ) -> tuple[tuple[int, ...], list[Body]]:
        """Let a loop that is alone go over short rows itself; but leave threads some iterations."""
        if not dims or len(bodies) > 1 or not isinstance(bodies[0].loop, Loop):
            return dims, bodies
        count, iterations = dims[-1], 1
        if large and math.prod(dims[:-1]) < FEW:
            iterations = next((k for k in range(FEW, 8 * FEW) if count % k == 0), 0)
        if not iterations or count // iterations < 2:
            return dims, bodies
        rows = (count // iterations, *(each.outer[-1] for each in bodies[0].operands))
        loop = bodies[0].loop
        ways = rows[len(rows) - len(loop.epilogues) :]
        epilogues = tuple(
            evolve(each, mode=ROWS) if each.mode == JOIN and not way else each
            for each, way in zip(loop.epilogues, ways, strict=True)
        )
        loop = evolve(loop, rows=True, epilogues=epilogues)
        operands = [
            each._replace(
                outer=(*each.outer[:-1], *(each.outer[-1] * rows[0] for _ in range(iterations > 1)))
            )
            for each in bodies[0].operands
        ]
        dims = (*dims[:-1], iterations) if iterations > 1 else dims[:-1]
        return dims, [Body(loop, rows, "", operands)]

    def strips(self, space: IterationSpace, bodies: Sequence[Body]) -> None:
        """Write a nest whose results lie along the inner loop, a strip of that for each ticket."""
        whole, rest = divmod(space.length, STRIP)
        axis = len(space.dims)
        strips = [body.in_blocks(STRIP).in_chunks(axis, 1) for body in bodies]
        self.iterations((whole, *space.dims), STRIP, STRIP, whole, strips)
        if rest:
            bodies = [body.behind(whole * STRIP) for body in bodies]
            self.iterations(space.dims, rest, rest, 1, bodies)

    def iterations(
        self, dims: tuple[int, ...], length: int, last: int, units: int, bodies: Sequence[Body]
    ) -> None:
        """Write a nest whose iterations are divided in so many units."""
        self.divided |= units > 1
        self._most = max(self._most, *(len(body.operands) for body in bodies))
        self._deep = max(self._deep, len(dims))
        unit = math.prod(dims) // units
        self.touch(operand.ref for body in bodies for operand in body.operands)
        self._entries.append(("nest", (dims, length, last, unit, bodies)))

    def touch(self, refs: Iterable[MemRef]) -> None:
        """Note that values are needed by the entry that comes next."""
        number = len(self._entries)
        for ref in refs:
            root = ref.root
            if root in self.outside or root in self._buffers or root in self.places:
                continue
            if root not in self._inside:
                size = size_of(root) or ref.dtype.itemsize
                self._inside[root] = Block(size, number, number)
            self._live.use(root, number)

    def loop(self, loop: LoopCall) -> None:
        """Go round in a loop of the program: its parts one after the other."""
        for part in loop.body.parts:
            body = BodyBytecode(loop.places, around=self, places=part.places)
            for slot in part.slots:
                body.add(slot)
            table, arena = scratch_of(8 * part.words), scratch_of(body.lay_out())
            body.arena = arena
            own = body.own
            if loop.in_any_order:  # each thread has memory of its own for them
                for memory in (table, arena):
                    self._buffers[memory] = start = rounded(own)
                    own = start + size_of(memory)
            self.own = max(self.own, own)
            divided = loop.in_any_order and self.threads > 1 and part.count > 1
            self.divided |= divided
            self.cost += body.cost * part.count
            self.checks += body.checks * part.count
            body.guards = loop.guards
            for number, answer in body.answers.items():
                for time in range(part.count):
                    self.answers[loop.guards + number + time * part.guards] = answer
            self.touch([*loop.refs, *map(MemRef.whole, (table, arena))])
            unit = 1 if divided else part.count
            self._entries.append(("loop", (part, body, table, unit)))

    def settle(self) -> int:
        """Lay out temporaries in the arena, and write the words.

        Returns
        -------
        int
            The bytes of the arena, which is array 1; array 0 is the thread's own.
        """
        size = self.lay_out()
        self.write()
        return size

    def lay_out(self) -> int:
        """Lay out temporaries in the arena; give its bytes."""
        for root, block in self._inside.items():
            block.end = self._live.ends[root]
        size = placed(self._inside.values())
        if storage.verifier is not None:
            where = {root: (block.offset, block.size) for root, block in self._inside.items()}
            storage.verifier.verify_entries(self._entries, where)
        return size

    def write(self) -> None:
        """Write the words."""
        self.words += [vm.RELEASE * (self.cost > LONG), self._most, self._deep]
        write: dict[str, Any] = {
            "call": self.call_words,
            "nest": self.nest_words,
            "guard": self.guard_words,
            "loop": self.loop_words,
        }
        for kind, entry in self._entries:
            self.words += write[kind](*entry)
        self.words.append(vm.END)

    def listed(self, names: Mapping[Any, str], listing: Listing) -> list[str]:
        """List the instructions as text.

        Parameters
        ----------
        names : mapping of Loop and LLVMFunction to str
            The inner loops' names.
        listing : Listing
            What names memory.
        """
        lines = [f"bytecode of {len(self.words)} words"]
        for kind, entry in self._entries:
            if kind == "loop":
                part, body, _, _ = entry
                lines.append(f"  loop {part.count} times, {len(part.moves)} words move")
                lines += ["  " + line for line in body.listed(names, listing)]
            elif kind == "guard":
                ref, answer, number = entry
                lines.append(f"  guard {number}: {listing.ref(ref)} is {answer}")
            elif kind == "call":
                loop, _, name, refs, lengths, steps = entry
                operands = ", ".join(map(listing.ref, refs))
                title = names.get(loop, name)
                lines.append(f"  call {title} ({operands}) lengths {lengths} steps {tuple(steps)}")
            else:
                dims, length, last, unit, bodies = entry
                lines.append(f"  nest {dims} of {length} elements, last {last}, unit {unit}")
                for body in bodies:
                    operands = ", ".join(
                        f"{listing.ref(each.ref)} by {(*each.outer, each.step)}"
                        for each in body.operands
                    )
                    lines.append(f"    call {names.get(body.loop, body.name)} ({operands})")
        return lines

    @property
    def loops(self) -> list[Loop | LLVMFunction]:
        """The loops that have to be compiled."""
        return [word for word in self.words if isinstance(word, (Loop, LLVMFunction))]

    def segment(self, compiled: Mapping[Loop | LLVMFunction, CompiledLoop]) -> Segment:
        """Put addresses in place of loops."""
        loops = {loop: compiled[loop] for loop in self.loops}
        rows = {word: np.array(word, np.int64) for word in self.words if type(word) is tuple}
        addresses = {loop: each.address for loop, each in loops.items()}
        addresses |= {numbers: array.ctypes.data for numbers, array in rows.items()}
        words = [addresses.get(word, word) for word in self.words]
        table = np.array(words, np.int64)
        run = vm.virtual_machine().run
        if self.divided:
            run = Team(self.threads, len(self._entries)).run
        return Segment(
            run, table, self.answers, self.checks, list(loops.values()), rows=list(rows.values())
        )

    def at(self, ref: MemRef) -> tuple[int, int]:
        """Give the address of a memory reference: the number of an array, and a byte offset."""
        own = self._buffers.get(ref.root)
        if own is not None:
            return 0, own
        block = self._inside.get(ref.root)
        if block is not None:
            number, offset = self.arena_at()
            return number, offset + block.offset + ref.offset
        number, offset = self.outside_at(ref.root)
        return number, offset + ref.offset

    def arena_at(self) -> tuple[int, int]:
        """Give the address of the arena."""
        return 1, 0

    def outside_at(self, root: Value) -> tuple[int, int]:
        """Give the address of what lies outside."""
        place = self.places.get(root)
        if place is None:
            return self.outside[root], 0
        return self.outside[place.root], place.offset

    def call_words(
        self,
        loop: Any,
        data: int | tuple[int, ...],
        name: str,
        refs: Sequence[MemRef],
        lengths: Sequence[int],
        steps: Sequence[int],
    ) -> list[Any]:
        """Write the words of a call."""
        where = [word for ref in refs for word in self.at(ref)]
        rest = [loop, data, len(refs), len(lengths), *where, *lengths, *steps]
        return [vm.CALL, 2 + len(rest), *rest]

    def nest_words(
        self, dims: Sequence[int], length: int, last: int, unit: int, bodies: Sequence[Body]
    ) -> list[Any]:
        """Write the words of a nest."""
        rest: list[Any] = [math.prod(dims), unit, len(dims), length, last, len(bodies), *dims]
        for loop, data, _, operands in bodies:
            rest += [loop, data, len(operands)]
            for ref, _, outer, _ in operands:
                rest += [*self.at(ref), *outer]
            rest += [each.step for each in operands]
        return [vm.NEST, 2 + len(rest), *rest]

    def loop_words(self, part: Any, body: "BodyBytecode", table: Value, unit: int) -> list[Any]:
        """Write the words of a loop, with those of its body."""
        body.write()
        moves = [word for move in part.moves for word in move]
        where = self.at(MemRef.whole(table))
        rest = [part.count, unit, len(body.words), len(part.moves), *where, *moves, *body.words]
        return [vm.LOOP, 2 + len(rest), *rest]

    def guard_words(self, ref: MemRef, answer: int, number: int) -> list[Any]:
        """Write the words of a guard."""
        return [vm.GUARD, 6, *self.at(ref), answer, number + self.guards * (number > 0)]


@define(eq=False)
class BodyBytecode(Bytecode):
    """The bytecode of a loop's body, inside that of a segment or of another body.

    Attributes
    ----------
    around : Bytecode
    arena : Value
        Memory for its temporaries.
    """

    around: Any = None
    arena: Value = field(factory=lambda: scratch_of(8))

    def arena_at(self) -> tuple[int, int]:
        """Give the address of the arena."""
        around: Bytecode = self.around
        return around.at(MemRef.whole(self.arena))

    def outside_at(self, root: Value) -> tuple[int, int]:
        """Give the address of what lies outside."""
        place = self.places.get(root)
        around: Bytecode = self.around
        if place is None:
            return around.at(self.outside[root])
        number, offset = around.at(self.outside[place.root])
        return number, offset + place.offset


def scratch_of(size: int) -> Value:
    """Give a value for memory of so many bytes."""
    return Value(np.ndarray, (max(size, 8),), np.dtype(np.uint8), (1,))

"""Segments: what is native in a row, as a table for the driver, and one call in a program."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field

from tape_ad.programs.engines import verifier
from tape_ad.programs.engines.liveness import LiveRanges
from tape_ad.programs.engines.native.codegen.library import Ready
from tape_ad.programs.engines.native.codegen.loops import BLOCK, Loop
from tape_ad.programs.engines.native.codegen.reduction_epilogue import (
    ASSIGN,
    EACH,
    JOIN,
    Ending,
    identity_of,
    is_sum,
)
from tape_ad.programs.engines.native.fusion.fusion import Group
from tape_ad.programs.engines.native.ir.loop_nests import (
    Direct,
    Literal,
    Nest,
    Question,
    Reduction,
    Written,
)
from tape_ad.programs.engines.native.ir.memory_map import Place
from tape_ad.programs.engines.native.ir.nests import Layout, laid_out
from tape_ad.programs.engines.native.runtime import vm
from tape_ad.programs.engines.native.runtime.inner_loops import is_foreign
from tape_ad.programs.engines.native.runtime.teams import Team
from tape_ad.programs.engines.native.schedule.loop_operands import (
    Body,
    Operand,
    is_moving,
    loop_of,
    operands_of,
    parts_of,
)
from tape_ad.programs.engines.native.schedule.strip_mining import Interleaved
from tape_ad.programs.engines.out_support import size_of
from tape_ad.programs.engines.storage import Block, placed
from tape_ad.programs.program.native import Segment
from tape_ad.programs.program.program import Value

__all__ = ["Table"]

PART = 8192
"""How many elements one turn of a nest has, where there are many more."""

SHARED = 100_000
"""From how many elements on several threads may share a nest."""

FEW = 8
"""How many units are enough to be divided among threads."""

STRIP = 128
"""How many results, side by side, of a sum over other axes are a unit."""

ROW = 256
"""Up to how many elements a row is short: the way to the next turn would take as long."""

LONG = 30_000
"""From about how many operations on others may run Python meanwhile."""


@define(eq=False)
class Table:
    """A segment's table while it is written.

    Attributes
    ----------
    outside : dict of Value to int
        The arrays that it is called with, each with its number.
    words : list
        A Loop stands for its address.
    divided : bool
        Whether there is a nest in it that several threads may share.
    own : int
        The bytes that a thread needs for itself.
    """

    outside: dict[Value, int]
    words: list[Any] = field(factory=list)
    answers: dict[int, bool] = field(factory=dict)
    questions: int = 0
    cost: int = 0
    divided: bool = False
    own: int = 0
    _live: LiveRanges = field(factory=LiveRanges)
    _inside: dict[Value, Block] = field(factory=dict)
    _touched: list[list[Value]] = field(factory=list)
    _buffers: dict[Value, int] = field(factory=dict)
    _most: int = 1
    _deep: int = 1
    _entries: list[tuple[str, Any]] = field(factory=list)
    _rows: list[Any] = field(factory=list)

    # What is to be done, one after the other, with the lifetimes of what lies inside

    def add(self, slot: Any) -> None:
        """Take the next slot."""
        if isinstance(slot, Group):
            self.nest(slot.nest)
        elif isinstance(slot, Nest):
            self.foreign(slot)
        elif isinstance(slot, Direct):
            self.direct(slot)
        else:
            self.question(slot)

    def question(self, question: Question) -> None:
        """Ask for a byte."""
        self.touch([question.place])
        self.questions += 1
        number = question.number or -1
        if number > 0:
            self.answers[number] = bool(question.answer)
        self._entries.append(("guard", (question.place, question.answer, number)))

    def direct(self, direct: Direct) -> None:
        """Call a loop that does all by itself."""
        self.touch(direct.places)
        self.cost += direct.cost
        loop, data = direct.loop
        self.call(loop, data, direct.places, direct.lengths, direct.steps)

    def foreign(self, nest: Nest) -> None:
        """Call a loop that is there over a space."""
        assert nest.loop is not None  # noqa: S101 - for mypy
        address, data = nest.loop
        layout = laid_out(nest.shape, [place.strides for place in nest.places], nest.ordered)
        self.touch(nest.places)
        self.cost += 4 * math.prod(nest.shape)
        self.over(layout, [Body(address, data, operands_of(nest, layout))], alone=nest.ordered)

    def nest(self, nest: Nest) -> None:
        """Go over a space with loops of our own, and perhaps some of NumPy's between them."""
        layout = laid_out(nest.shape, [place.strides for place in nest.places])
        operands = {each.place: each for each in operands_of(nest, layout)}
        block, parts = PART, [nest]
        if any(is_sum(each.ufunc, each.place.dtype) for each in nest.reductions):
            block = BLOCK
        if any(map(is_foreign, nest.ops)):
            woven = Interleaved(
                nest, [each.place for each in operands.values() if each.side_by_side]
            )
            block, parts = woven.block(), woven.parts
            length = layout.length if layout.length <= 2 * block else block
            offsets, size = woven.settled(length)
            self._buffers |= offsets
            self.own = max(self.own, size)
        self.cost += sum(4 if part.loop else len(part.ops) + 1 for part in parts) * math.prod(
            nest.shape
        )
        later: list[Nest] = []
        bodies: list[Body] = []
        gathered: list[Operand] = []
        modes: set[str] = set()
        for part in parts:
            mine = [operands.get(place) or Operand.buffer(place, layout) for place in part.places]
            if part.loop is not None:
                bodies.append(Body(*part.loop, mine))
                continue
            endings = []
            for number, each in enumerate(part.reductions, start=len(mine) - len(part.reductions)):
                ending, after = self.ending(each, mine[number], layout, block)
                endings.append(ending)
                modes.add(ending.mode)
                if after is None and ending.mode != ASSIGN:
                    gathered.append(mine[number])
                if after is not None:
                    mine[number] = Operand.partial(after.reads[0], layout)
                    later.append(after)
            loop = loop_of(part, mine, tuple(endings))
            bodies.append(Body(loop, 0, mine))
        self.touch(operand.place for body in bodies for operand in body.operands)
        self.over(layout, bodies, gathered, is_moving(nest), block, bool(later), modes == {EACH})
        for after in later:
            self.nest(after)

    def ending(
        self, each: Reduction, operand: Operand, layout: Layout, block: int
    ) -> tuple[Ending, Nest | None]:
        """Say how a reduction ends a loop; and what is done behind, where it is done in parts."""
        dtype, repeated = each.place.dtype, zip(operand.outer, layout.dims, strict=True)
        if operand.step == 0 and layout.length > block:
            after = parts_of(each, layout, operand.outer, block)
            return Ending(each.ufunc, each.arg, dtype, ASSIGN), after
        if operand.step == 0 and all(stride for stride, length in repeated if length > 1):
            return Ending(each.ufunc, each.arg, dtype, ASSIGN), None
        self.fill(each)
        mode = EACH if operand.step else JOIN
        return Ending(each.ufunc, each.arg, dtype, mode, operand.access), None

    def fill(self, each: Reduction) -> None:
        """Begin a reduction with what changes nothing."""
        place = each.place
        kept = [k for k, stride in enumerate(place.strides) if stride]
        shape = tuple(place.shape[k] for k in kept)
        target = Place(
            place.root, place.offset, shape, tuple(place.strides[k] for k in kept), place.dtype
        )
        identity = Literal.of(identity_of(each.ufunc, place.dtype), place.dtype)
        self.nest(Nest(shape, writes=[(identity, target)]))

    # Words

    def call(
        self,
        loop: Any,
        data: int,
        places: Sequence[Place],
        lengths: Sequence[int],
        steps: Sequence[int],
    ) -> None:
        """Write one call of a loop."""
        self._most = max(self._most, len(places))
        self._entries.append(("call", (loop, data, places, lengths, steps)))

    def over(
        self,
        layout: Layout,
        bodies: list[Body],
        gathered: Sequence[Operand] = (),
        alone: bool = False,
        block: int = PART,
        parts: bool = False,
        each_alone: bool = False,
    ) -> None:
        """Write a nest, or one call where it has no outer loops.

        Parameters
        ----------
        layout : Layout
        bodies : list of Body
            What takes turns.
        gathered : sequence of Operand
            Those that several turns bring together, which one thread does, in order.
        alone : bool
            Whether one thread has to do all.
        block : int
            How many elements a turn has, where there are many more.
        parts : bool
            Whether there have to be blocks, for there is a result of each.
        each_alone : bool
            Whether no result is of several elements of the inner loop.
        """
        if not bodies:  # all that it would compute is unread
            return
        dims, length = layout.dims, layout.length
        large = math.prod(dims) * length >= SHARED and not alone
        apart = [k for k in range(len(dims)) if all(each.outer[k] for each in gathered)]
        units = math.prod(dims[k] for k in apart)
        if large and gathered and units >= FEW:
            order = [*apart, *(k for k in range(len(dims)) if k not in apart)]
            dims, bodies = tuple(dims[k] for k in order), [each.ordered(order) for each in bodies]
        elif large and gathered and length > STRIP and each_alone:
            self.strips(layout, bodies)
            return
        elif gathered:
            units = 1
        if not parts and length <= ROW and (not large or not gathered):
            dims, bodies = self.in_rows(dims, bodies, large)
            units = math.prod(dims)
        last = length
        if parts or length > 2 * block:
            count = -(-length // block)
            last = length - (count - 1) * block
            dims = (*dims, count)
            bodies = [body.in_blocks(block) for body in bodies]
            length = block
            units *= 1 if gathered else count
        if not dims and len(bodies) == 1:
            loop, data, operands = bodies[0]
            places, steps = [each.place for each in operands], [each.step for each in operands]
            self.call(loop, data, places, (length,), steps)
            return
        if not dims:
            dims, bodies = (1,), [body.in_blocks(0) for body in bodies]
        self.turns(dims, length, last, units if large else 1, bodies)

    def in_rows(
        self, dims: tuple[int, ...], bodies: list[Body], large: bool
    ) -> tuple[tuple[int, ...], list[Body]]:
        """Let a loop go over short rows itself, if it is alone; but leave threads some turns."""
        if not dims or len(bodies) > 1 or not isinstance(bodies[0].loop, Loop):
            return dims, bodies
        count, turns = dims[-1], 1
        if large and math.prod(dims[:-1]) < FEW:
            turns = next((k for k in range(FEW, 8 * FEW) if count % k == 0), 0)
        if not turns or count // turns < 2:
            return dims, bodies
        rows = [count // turns, *(each.outer[-1] for each in bodies[0].operands)]
        self._rows.append(np.array(rows, np.int64))
        loop = evolve(bodies[0].loop, rows=True)
        operands = [
            each._replace(
                outer=(*each.outer[:-1], *(each.outer[-1] * rows[0] for _ in range(turns > 1)))
            )
            for each in bodies[0].operands
        ]
        dims = (*dims[:-1], turns) if turns > 1 else dims[:-1]
        return dims, [Body(loop, self._rows[-1].ctypes.data, operands)]

    def strips(self, layout: Layout, bodies: Sequence[Body]) -> None:
        """Write a nest whose results lie along the inner loop, a strip of that for each ticket."""
        whole, rest = divmod(layout.length, STRIP)
        strips = [body.in_blocks(STRIP).ordered([-1, *range(len(layout.dims))]) for body in bodies]
        self.turns((whole, *layout.dims), STRIP, STRIP, whole, strips)
        if rest:
            bodies = [body.behind(whole * STRIP) for body in bodies]
            self.turns(layout.dims, rest, rest, 1, bodies)

    def turns(
        self, dims: tuple[int, ...], length: int, last: int, units: int, bodies: Sequence[Body]
    ) -> None:
        """Write a nest whose turns are divided in so many units."""
        self.divided |= units > 1
        self._most = max(self._most, *(len(body.operands) for body in bodies))
        self._deep = max(self._deep, len(dims))
        unit = math.prod(dims) // units
        self.touch(operand.place for body in bodies for operand in body.operands)
        self._entries.append(("nest", (dims, length, last, unit, bodies)))

    def touch(self, places: Iterable[Place]) -> None:
        """Note that values are needed by the entry that comes next."""
        number = len(self._entries)
        for place in places:
            root = place.root
            if root in self.outside or root in self._buffers:
                continue
            if root not in self._inside:
                size = size_of(root) or place.dtype.itemsize
                self._inside[root] = Block(size, number, number)
            self._live.use(root, number)
            if verifier.ENABLED:
                self._touched += [[] for _ in range(number + 1 - len(self._touched))]
                self._touched[number].append(root)

    def settle(self) -> int:
        """Give places to what lies inside, and write the words.

        Returns
        -------
        int
            The bytes of the arena, which is array 1; array 0 is the thread's own.
        """
        for root, block in self._inside.items():
            block.end = self._live.ends[root]
        size = placed(self._inside.values())
        self.words += [vm.RELEASE * (self.cost > LONG), self._most, self._deep]
        write: dict[str, Any] = {
            "call": self.call_words,
            "nest": self.nest_words,
            "guard": self.guard_words,
        }
        if verifier.ENABLED:
            where = {root: (block.offset, block.size) for root, block in self._inside.items()}
            verifier.verify_ranges(self._touched, where)
        for kind, entry in self._entries:
            self.words += write[kind](*entry)
        self.words.append(vm.END)
        return size

    @property
    def loops(self) -> list[Loop | Written]:
        """The loops that have to be compiled."""
        return [word for word in self.words if isinstance(word, (Loop, Written))]

    def segment(self, compiled: Mapping[Loop | Written, Ready], threads: int = 1) -> Segment:
        """Put addresses in place of loops."""
        loops = {loop: compiled[loop] for loop in self.loops}
        addresses = {loop: each.address for loop, each in loops.items()}
        words = [addresses.get(word, word) for word in self.words]
        table = np.array(words, np.int64)
        run = vm.driver().run
        if self.divided and threads > 1:
            run = Team(threads, len(self._entries)).run
        return Segment(
            run, table, self.answers, self.questions, list(loops.values()), rows=self._rows
        )

    def at(self, place: Place) -> tuple[int, int]:
        """Say where a place is: the number of an array, and the bytes from its beginning."""
        number = self.outside.get(place.root)
        if number is not None:
            return number, place.offset
        own = self._buffers.get(place.root)
        if own is not None:
            return 0, own
        return 1, self._inside[place.root].offset + place.offset

    def call_words(
        self,
        loop: Any,
        data: int,
        places: Sequence[Place],
        lengths: Sequence[int],
        steps: Sequence[int],
    ) -> list[Any]:
        """Write the words of a call."""
        where = [word for place in places for word in self.at(place)]
        rest = [loop, data, len(places), len(lengths), *where, *lengths, *steps]
        return [vm.CALL, 2 + len(rest), *rest]

    def nest_words(
        self, dims: Sequence[int], length: int, last: int, unit: int, bodies: Sequence[Body]
    ) -> list[Any]:
        """Write the words of a nest."""
        rest: list[Any] = [len(dims), math.prod(dims), length, last, len(bodies), unit, *dims]
        for loop, data, operands in bodies:
            rest += [loop, data, len(operands)]
            for place, _, outer, _ in operands:
                rest += [*self.at(place), *outer]
            rest += [each.step for each in operands]
        return [vm.NEST, 2 + len(rest), *rest]

    def guard_words(self, place: Place, answer: int, number: int) -> list[Any]:
        """Write the words of a guard."""
        return [vm.GUARD, *self.at(place), answer, number]

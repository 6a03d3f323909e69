"""Loops of a program as bytecode that is run again and again.

A body is lowered and fused several times: for its first iteration, for the second and for the last,
or as many iterations at once as make a body that is long enough. Whole numbers move in keys alone,
and so what differs between the bytecodes are offsets and the numbers of guards, which move by as
much after each iteration; where anything else does, there is no loop.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.engines.native.fusion import (
    Slot,
    eliminate_dead_stores,
    fuse,
    is_copy_to_itself,
    reuse_memory,
)
from tape_ad.programs.engines.native.ir import MemRef, is_simple
from tape_ad.programs.engines.native.lowering import LoweredStep, copy_of, lower
from tape_ad.programs.engines.native.lowering.calls import NotLowerable, known_ref
from tape_ad.programs.engines.native.schedule.bytecode import Bytecode
from tape_ad.programs.engines.native.stencils import write_in_one_pass
from tape_ad.programs.passes.rolling import unroll
from tape_ad.programs.program import Call, Constant, Guard, Program, Step, Value, root_of
from tape_ad.programs.program.loops import Loop, Stacking, call_at, iteration
from tape_ad.rules.maps.indexing import added_at, picked_elements, scatter
from tape_ad.rules.numpy.updates import updated, viewed

__all__ = ["LoopBody", "LoopPart", "with_native_loops"]

CALLS = 128
"""About how many calls are in a body that is run again and again: fewer are unrolled."""


INDEXING = frozenset({operator.getitem, updated, viewed, added_at, scatter, picked_elements})
"""Where whole numbers are keys: what they tell is an offset, which moves as evenly as they do."""

FEW = 1500
"""How many calls in loops are compiled one by one as quickly, and then run a little quicker."""


@frozen(eq=False)
class LoopPart:
    """Some iterations of a loop, so many at once.

    Attributes
    ----------
    slots : list of Slot
        What is done the first time.
    places : mapping of Value to MemRef
        Where what is stacked lies, in terms of the stack.
    count : int
        How many times.
    unrolled : int
        How many iterations each time.
    words : int
        How long the bytecode is.
    moves : list of (int, int)
        Which of its words move, and by how much.
    guards : int
        How many guards there are each time.
    """

    slots: list[Slot]
    places: Mapping[Value, MemRef]
    count: int
    unrolled: int
    words: int
    moves: list[tuple[int, int]]
    guards: int


@frozen(eq=False)
class LoopBody:
    """A loop with its body lowered.

    Attributes
    ----------
    parts : list of LoopPart
        What is done one after the other.
    constants : list of Constant
        What it needs beside its operands.
    numbers : mapping of Value to int
        For listings: those of the values that it starts from.
    """

    parts: list[LoopPart]
    constants: list[Constant]
    numbers: Mapping[Value, int] = field(factory=dict)


def with_native_loops(program: Program) -> tuple[Program, dict[Loop, LoopBody]]:
    """Lower the bodies of a program's loops, and unroll those loops that cannot be lowered so."""
    bodies: dict[Loop, LoopBody] = {}
    wrong: set[Loop] = set()
    loops = [call.function for call in program.calls if type(call.function) is Loop]
    if sum(loop.count * len(loop.body.steps) for loop in loops) < FEW:
        return unroll(program), bodies
    for loop in loops:
        try:
            bodies[loop] = body_of(loop)
        except NotLowerable:
            wrong.add(loop)
    return unroll(program, wrong) if wrong else program, bodies


def body_of(loop: Loop) -> LoopBody:
    """Lower a loop.

    Raises
    ------
    NotLowerable
        There is something to do for NumPy in it, or what moves is not offsets alone.
    """
    moving = [call.function for call in loop.body.calls if call_at(call, 0) is not call]
    if not INDEXING.issuperset(moving):
        raise NotLowerable("whole numbers that move and are no keys")
    values = [*loop.body.inputs, *loop.body.output]
    if not all(map(is_simple, values)):
        raise NotLowerable("values that are nothing for native code")
    many = min(max(1, CALLS // len(loop.body.steps)), loop.count // 2)
    times, rest = divmod(loop.count, many)
    constants: list[Constant] = []
    parts = [part_of(loop, 0, times, many, constants)]
    if rest:
        parts.append(part_of(loop, times * many, rest, 1, constants))
    return LoopBody(parts, constants, {v: n for n, v in enumerate(loop.body.inputs)})


def part_of(loop: Loop, begin: int, count: int, many: int, constants: list[Constant]) -> LoopPart:
    """Lower `count` times `many` iterations of a loop from some iteration on."""
    first = Iterations.of(loop, begin, many)
    constants += first.constants
    moves: list[tuple[int, int]] = []
    for time in {1, count - 1} - {0} if count > 1 else ():
        other = Iterations.of(loop, begin + time * many, many)
        other.share(first.constants)
        found = moves_between(first.words, other.words, time)
        if moves and found != moves:
            raise NotLowerable("iterations that do not move evenly")
        moves = found
    guards = len(loop.body.guards) * many
    return LoopPart(first.slots, first.places, count, many, len(first.words), moves, guards)


@define(eq=False)
class Iterations:
    """Some iterations of a loop, lowered and fused.

    Attributes
    ----------
    loop : Loop
    slots : list of Slot
    places : dict of Value to MemRef
        Where what is stacked lies.
    constants : list of Constant
    """

    loop: Loop
    slots: list[Slot]
    places: dict[Value, MemRef]
    constants: list[Constant]
    _others: dict[Value, Value] = field(factory=dict)
    _words: list[Any] = field(factory=list)

    @classmethod
    def of(cls, loop: Loop, begin: int, many: int) -> "Iterations":
        """Lower them."""
        carried = loop.body.inputs[: loop.carried]
        given, read = carried, loop.body.inputs[loop.carried :]
        steps: list[Step] = []
        places: dict[Value, MemRef] = {}
        outside = set(loop.body.inputs)
        for k in range(begin, begin + many):
            outs = iteration(loop, k, (*given, *read), steps, {})
            given = tuple(outs[: loop.carried])
            for stacking, value in zip(loop.stackings, outs[loop.carried :], strict=True):
                own = value
                if value.owner is not None or value in places or value in outside:
                    own = copied(value, steps)
                places[own] = element(stacking, k)
        targets: dict[Value, Value] = {}
        for mine, value in zip(carried, given, strict=True):
            if value is mine:
                continue
            root = root_of(value)
            over = root is mine or root in targets  # which is written over by then
            targets[mine] = copied(value, steps) if over else value
        program = Program(loop.body.name, loop.body.inputs, (), tuple(steps), (*places,))
        return cls.lowered(loop, program, places, targets, begin * len(loop.body.guards))

    @classmethod
    def lowered(
        cls,
        loop: Loop,
        program: Program,
        places: dict[Value, MemRef],
        targets: Mapping[Value, Value],
        guards: int,
    ) -> "Iterations":
        """Lower the calls of iterations, and then bring what is carried to where it has to be."""
        copies = {mine: copied_call(value) for mine, value in targets.items()}
        program = evolve(
            program,
            steps=(*program.steps, *copies.values()),
            output=(*places, *(call.outputs[0] for call in copies.values())),
        )
        whole = {call.outputs[0]: MemRef.whole(mine) for mine, call in copies.items()}
        made = lower(program, {}, whole, guards)
        for number, call in enumerate(copies.values(), start=len(made.steps) - len(copies)):
            source = known_ref(call.args[0], made.memory_map)
            nest = copy_of(source, whole[call.outputs[0]])
            made.steps[number] = LoweredStep(call, [nest])
        for each in made.steps:
            if each.reason is not None:
                raise NotLowerable(f"work for NumPy: {each.reason}")
        names = reuse_memory(made, targets.keys()).renamed
        own = [mine for mine, value in targets.items() if names.get(mine, value) is value]
        made = reuse_memory(made, own)  # what ends elsewhere would be written over by then
        back = {name: mine for mine in targets if (name := made.renamed.get(mine)) is not None}
        kept = [
            each
            if not any(map(is_copy_to_itself, each.work))
            else LoweredStep(each.step, [w for w in each.work if not is_copy_to_itself(w)])
            for each in made.steps
        ]
        fused = fuse(write_in_one_pass(evolve(made, steps=kept)), reuses=True)
        fused = eliminate_dead_stores(fused, [*targets, *back])
        places = places | {name: MemRef.whole(mine) for name, mine in back.items()}
        slots: list[Slot] = [slot for slot in fused.slots if not isinstance(slot, (Call, Guard))]
        return cls(loop, slots, places, list(made.constants))

    def share(self, constants: Sequence[Constant]) -> None:
        """Take constants of the first iteration in place of equal ones of this."""
        if len(constants) != len(self.constants):
            raise NotLowerable("iterations that are not alike")
        for mine, first in zip(self.constants, constants, strict=True):
            same = mine.data.dtype == first.data.dtype and np.array_equal(mine.data, first.data)
            if not same:
                raise NotLowerable("tables that differ from iteration to iteration")
            self._others[mine.value] = first.value

    @property
    def words(self) -> list[Any]:
        """The bytecode, for comparison with that of other iterations."""
        if not self._words:
            roots = [*self.loop.body.inputs, *(each.value for each in self.loop.stackings)]
            roots += [self._others.get(each.value, each.value) for each in self.constants]
            numbers = {root: number for number, root in enumerate(roots, start=2)}
            numbers |= {mine: numbers[first] for mine, first in self._others.items()}
            self._words = words_of(self.slots, numbers, self.places)
        return self._words


class MovingWord(int):
    """A word that may be another one in each iteration: an offset, or the number of a guard."""


class Alone(Bytecode):
    """The bytecode of a body by itself."""

    def at(self, ref: MemRef) -> tuple[int, int]:
        """Give an address, of which the offset alone may move."""
        number, offset = super().at(ref)
        return number, MovingWord(offset)

    def guard_words(self, ref: MemRef, answer: int, number: int) -> list[Any]:
        """Write the words of a guard, each of which has a number of its own."""
        *words, number = super().guard_words(ref, answer, number)
        return [*words, MovingWord(number)]


def words_of(
    slots: Iterable[Slot],
    numbers: Mapping[Value, int],
    places: Mapping[Value, MemRef] = MappingProxyType({}),
) -> list[Any]:
    """Write the bytecode of a body by itself, for comparison with that of another iteration."""
    bytecode = Alone(numbers, places=places)
    for slot in slots:
        bytecode.add(slot)
    bytecode.settle()
    return bytecode.words


def moves_between(first: Sequence[Any], other: Sequence[Any], times: int) -> list[tuple[int, int]]:
    """List which words move from one iteration to another, so many times later, and by how much.

    Raises
    ------
    NotLowerable
        The iterations differ in more than words that move evenly.
    """
    if len(first) != len(other):
        raise NotLowerable("iterations that are not alike")
    moves = []
    for number, (one, two) in enumerate(zip(first, other, strict=True)):
        if one == two:
            continue
        if type(one) is not MovingWord or type(two) is not MovingWord or (two - one) % times:
            raise NotLowerable("iterations that are not alike")
        moves.append((number, (two - one) // times))
    return moves


def element(stacking: Stacking, k: int) -> MemRef:
    """Give the memory reference of an element of a stack."""
    whole = MemRef.whole(stacking.value)
    return whole.along(whole.shape[1:], whole.strides[1:], k * whole.strides[0])


def copied_call(value: Value) -> Call:
    """Give the call that copies a value, which may be a number."""
    return Call(np.copy, (value,), {}, (value.fresh(),))


def copied(value: Value, steps: list[Step]) -> Value:
    """Append a copy of a value to some calls, and give it."""
    call = copied_call(value)
    steps.append(call)
    return call.outputs[0]

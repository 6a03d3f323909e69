"""Rolling of loops: stretches of a program that repeat become one call of a `Loop` each.

A loop of Python is captured step by step, so the trace repeats itself: forward, and backward where
there is a gradient. Calls are alike that have one *token*: function, options, shapes, dtypes and
strides. Where tokens repeat with a period, the operands have to do so as well: in every iteration
the same value, the one that an iteration before has computed, one of a row of values that an
earlier loop has computed, or one of a row of constants; and whole numbers, such as indices, have to
move evenly.
"""

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.passes.rewriting import Rewriting
from tape_ad.programs.passes.simplifications import (
    eliminate_common_subexpressions,
    eliminate_dead_code,
    equal_literals,
    literals_of,
    memory_of,
)
from tape_ad.programs.passes.tokens import Tokens
from tape_ad.programs.program import (
    COMPUTED,
    Call,
    Constant,
    Guard,
    Program,
    Step,
    Value,
)
from tape_ad.programs.program.loops import (
    Loop,
    Moving,
    Stacking,
    element_of,
    relocated,
    unrolled,
    viewing,
)
from tape_ad.programs.program.trace import in_numpy, may_vary, respelled, selected
from tape_ad.rules.maps import clone

__all__ = ["roll", "unroll"]

FEWEST, LEAST, SHORT, WINDOW = 4, 200, 40, 4
"""How many iterations a loop has at least, how many calls the largest and others have at least, and
how many tokens in a row are compared."""
CANDIDATES = 16
"""How many periods are tried."""
FARTHEST = 4
"""How many iterations back a value may come from."""
LARGE = 50_000
"""From how many elements on arrays are computed by several threads, each call by itself."""


def roll(program: Program) -> Program:
    """Find the loops in a program.

    Returns
    -------
    Program
        The very program, where there are none.
    """
    if len(program.steps) < LEAST:
        return program
    tokens = Tokens.of(program, equal_literals(program))
    needed = tokens.needed()
    live = evolve(program, steps=selected(program.steps, needed))
    tokens = tokens.among(needed)
    stretches = repeated(tokens.numbers)
    if not stretches:
        return program
    rolling = Rolling(live, tokens)
    for start, period, length in sorted(stretches):
        rolling.take(start, period, length)
    large = any(len(each.steps) * each.count >= LEAST for each in rolling.found)
    return rolling.finished() if large else program


def unroll(program: Program, loops: Collection[Loop] | None = None) -> Program:
    """Write loops out, and let equal calls of several iterations become one.

    Parameters
    ----------
    program : Program
    loops : collection of Loop, optional
        Which, as for `unrolled`.
    """
    flat = unrolled(program, loops)
    if flat is program:
        return program
    return eliminate_dead_code(eliminate_common_subexpressions(flat))


# Where tokens repeat


def repeated(tokens: Any) -> list[tuple[int, int, int]]:
    """Find stretches of tokens that repeat: start, period and length, none over another."""
    found = [
        (start, stop, period) for period in periods(tokens) for start, stop in runs(tokens, period)
    ]
    found.sort(key=lambda each: (each[0] - each[1] + each[2], each[2]))  # the longest first
    free = np.ones(len(tokens), bool)
    chosen = []
    for start, stop, period in found:
        for begin, end in stretches_of(free[start:stop], 0):
            count = (end - begin) // period
            if count >= FEWEST and count * period >= SHORT:
                chosen.append((start + begin, period, end - begin))
                free[start + begin : start + end] = False
    return chosen


def periods(tokens: Any) -> list[int]:
    """List distances at which tokens most often come again, several in a row."""
    if len(tokens) < 2 * WINDOW:
        return []
    mixed = np.zeros(len(tokens) - WINDOW + 1, np.uint64)
    for k in range(WINDOW):
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed += tokens[k : len(tokens) - WINDOW + 1 + k].astype(np.uint64)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable")
    same = mixed[order[1:]] == mixed[order[:-1]]
    distances = (order[1:] - order[:-1])[same]
    if not len(distances):
        return []
    often = np.bincount(distances)
    best = np.argsort(-often, kind="stable")[:CANDIDATES]
    return [int(each) for each in best if often[each] >= FEWEST]


def runs(tokens: Any, period: int) -> Iterable[tuple[int, int]]:
    """Give the stretches in which tokens repeat with a period."""
    least = max(FEWEST * period, SHORT)
    for start, stop in stretches_of(tokens[period:] == tokens[:-period], period):
        if stop - start >= least:
            yield start, stop


# Whether operands do so too


@frozen
class Slot:
    """What is carried: an output of the body, by its number in there, from iterations before."""

    output: int
    back: int


@define(eq=False)
class Found:
    """A loop that has been found.

    Attributes
    ----------
    start, period, count : int
        The number of its first step, how many steps an iteration has, and how many there are.
    first, outputs : int
        The number of the first value that it computes, and how many there are in an iteration.
    operands, integers : array of int64
        Those of the first iteration.
    moves, ways : array of int64
        By how much those are larger in the next iteration.
    steps : sequence of int
        Which steps of an iteration are done in the loop: all but those that give the same in each.
    slots : dict of Slot to int
        What is carried, with the number of the value before the first iteration.
    reads : dict of int to int
        The values from before the loop that all iterations read, by their numbers.
    elements : dict of (int, int, int, int) to None
        The elements of stacks that iterations read: the number of the loop, the output of its body,
        and the iteration, with its way; for one of `Rolling.rows`, `ROWS` and its number.
    stacked : dict of int to None
        Which outputs of the body are stacked.
    """

    start: int
    period: int
    count: int
    first: int
    outputs: int
    operands: Any
    integers: Any
    moves: Any
    ways: Any
    steps: Sequence[int]
    slots: dict[Slot, int] = field(factory=dict)
    reads: dict[int, None] = field(factory=dict)
    elements: dict[tuple[int, int, int, int], None] = field(factory=dict)
    stacked: dict[int, None] = field(factory=dict)

    @property
    def stop(self) -> int:
        """The number of the step behind the last."""
        return self.start + self.period * self.count

    @property
    def behind(self) -> int:
        """The number of the value behind the last that it computes."""
        return self.first + self.outputs * self.count

    @property
    def numbers(self) -> range:
        """The numbers of the values that it computes."""
        return range(self.first, self.behind)

    def final(self) -> dict[int, Slot]:
        """Give the values that are carried out of the loop, by their numbers."""
        return {self.behind - self.outputs * s.back + s.output: s for s in self.slots}

    def computed(self, number: int, move: int) -> Slot | None:
        """Say which output of its body an operand is, if it is one of this iteration or before."""
        behind = self.first + self.outputs
        if move != self.outputs or number >= behind or number + move * self.count < behind:
            return None
        back, output = divmod(number - self.first, self.outputs)
        return Slot(output, -back) if back < 0 else Slot(number - self.first, 0)


@define(eq=False)
class Row:
    """Constants that the iterations of a loop read one after the other.

    Attributes
    ----------
    first : int
        The number of the first; those of the others follow.
    constant : Constant
        The stack of them.
    """

    first: int
    constant: Constant


ROWS = -2
"""Where other stacks have the number of their loop."""


@define(eq=False)
class Rolling:
    """The loops of a program while they are found.

    Attributes
    ----------
    program : Program
    tokens : Tokens
    found : list of Found
    rows : list of Row
    """

    program: Program
    tokens: Tokens
    found: list[Found] = field(factory=list)
    rows: list[Row] = field(factory=list)
    _loop_of: Any = field(init=False)
    _is_known: Any = field(init=False)
    _literals_from: int = field(init=False)
    _returned: set[int] = field(init=False)
    _literals: dict[Value, Any] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        values = self.tokens.values
        self._loop_of = np.full(len(values), -1, np.int64)
        self._is_known = np.zeros(len(values), bool)
        self._is_known[len(self.program.inputs) : self.tokens.outputs_from[0]] = True
        self._literals_from = len(values) - len(self.tokens.literals)
        self._is_known[self._literals_from :] = True
        self._returned = set(self.tokens.returned.tolist())

    def take(self, start: int, period: int, length: int) -> None:
        """Make a loop of a stretch, as far as its operands repeat."""
        tokens, count = self.tokens, length // period
        whole = slice(start, start + period * count + 1)
        operands = rows_of(tokens.operands_of(whole), count)
        self.find_rows(operands, int(tokens.operands_from[start]))
        integers = rows_of(tokens.integers_of(whole), count)
        outputs = int(tokens.outputs_from[start + period] - tokens.outputs_from[start])
        first = int(tokens.outputs_from[start])
        steady = stretches_of(evenly(operands) & evenly(integers))
        begin, end = max(steady, key=lambda pair: pair[1] - pair[0], default=(0, 0))
        if begin == end:
            return
        moves = operands[begin + 1] - operands[begin]
        begin = max(begin, self.first_after_invariants(operands[begin], moves, first, outputs))
        begin, end = self.within_stacks(operands, moves, begin, end, first, outputs)
        if end - begin < FEWEST:
            return
        found = self.iterations(start + begin * period, range(period), period, end - begin)
        steady_outputs, varying = self.invariants(found)
        if len(varying) < period:
            for output in steady_outputs:
                numbers = slice(found.first + output, found.behind, outputs)
                tokens.same[numbers] = found.first + output
            found = self.iterations(found.start + period, varying, period, found.count - 1)
        if found.count < FEWEST or found.count * len(found.steps) < SHORT:
            return
        if self.read_operands(found):
            self.found.append(found)
            self._loop_of[found.first : found.behind] = len(self.found) - 1

    def find_rows(self, operands: Any, begin: int) -> None:
        """Give constants that iterations read one after the other numbers that move evenly.

        Parameters
        ----------
        operands : array of int64
            Those of each iteration, which are changed in place.
        begin : int
            Where those begin among all.
        """
        tokens, known = self.tokens, self._is_known[operands]
        for column in np.flatnonzero(known.sum(axis=0) >= FEWEST):
            rows = np.flatnonzero(known[:, column])
            numbers = operands[rows, column]
            if np.all(numbers == numbers[0]) or len(rows) != rows[-1] - rows[0] + 1:
                continue
            constant = self.stack_of(numbers.tolist())
            if constant is None:
                continue
            first = len(tokens.values)
            now = np.arange(first, first + len(rows))
            operands[rows, column] = now
            tokens.operands[begin + rows * operands.shape[1] + column] = now
            tokens.values.repeat(numbers)
            tokens.same = np.concatenate([tokens.same, now])
            self._loop_of = np.concatenate(
                [self._loop_of, np.full(len(rows), ROWS - len(self.rows))]
            )
            self._is_known = np.concatenate([self._is_known, np.zeros(len(rows), bool)])
            self.rows.append(Row(first, constant))

    def stack_of(self, numbers: Sequence[int]) -> Constant | None:
        """Give an array that shows constants in a row, as it does whatever is written to them.

        Nobody writes to literals, so that those are copied. Nothing where that cannot be done.
        """
        like, inputs = self.tokens.values[numbers[0]], len(self.program.inputs)
        if self.is_literal(numbers[0]):
            data = np.array([in_numpy(self.literal_of(number)) for number in numbers])
            return Constant(Value.like(data), data, COMPUTED)
        constants = [self.program.constants[number - inputs] for number in numbers]
        line = constants[0].line
        if (data := in_one_memory([each.data for each in constants])) is not None:
            return Constant(Value.like(data), data, line)
        if self._literals is None:
            self._literals = literals_of(self.program)
        if not can_be_kept(like) or not all(each.value in self._literals for each in constants):
            return None
        data = Stacking.of(like, len(numbers)).empty()
        for k, each in enumerate(constants):
            data[k] = each.data
        return Constant(Value.like(data), data, line)

    def is_literal(self, number: int) -> bool:
        """Tell whether a value is a number among the arguments of a ufunc."""
        return 0 <= number - self._literals_from < len(self.tokens.literals)

    def literal_of(self, number: int) -> Any:
        """Give the number that a value is."""
        return self.tokens.literals[number - self._literals_from]

    def iterations(self, start: int, steps: Sequence[int], period: int, count: int) -> Found:
        """Describe iterations that are known to be alike, with some of their steps."""
        tokens, two = self.tokens, slice(start, start + 2 * period + 1)
        one = slice(start, start + period + 1)
        lengths = np.diff(tokens.operands_from[one])
        operands = rows_of(tokens.operands_of(two), 2)[:, np.repeat(among(steps, period), lengths)]
        lengths = np.diff(tokens.integers_from[one])
        integers = rows_of(tokens.integers_of(two), 2)[:, np.repeat(among(steps, period), lengths)]
        first, second = (int(tokens.outputs_from[start + k * period]) for k in range(2))
        return Found(
            start,
            period,
            count,
            first,
            second - first,
            operands[0],
            integers[0],
            operands[1] - operands[0],
            integers[1] - integers[0],
            steps,
        )

    def invariants(self, found: Found) -> tuple[set[int], list[int]]:
        """Find outputs that are the same in all iterations, and the steps that give others.

        What is returned stays: no two of those are one array.
        """
        tokens, steady, varying = self.tokens, set[int](), list[int]()
        one = slice(found.start, found.start + found.period + 1)
        operands, integers, outputs = (
            [*itertools.pairwise((begins[one] - begins[one][0]).tolist())]
            for begins in (tokens.operands_from, tokens.integers_from, tokens.outputs_from)
        )
        numbers, moves = found.operands.tolist(), found.moves.tolist()
        given = {(n - found.first) % found.outputs for n in self._returned if n in found.numbers}
        for place in range(found.period):
            own = range(*outputs[place])
            is_steady = (
                type(self.program.steps[found.start + place]) is Call
                and not found.ways[slice(*integers[place])].any()
                and all(
                    moves[n] == 0 or numbers[n] - found.first in steady
                    for n in range(*operands[place])
                )
                and given.isdisjoint(own)
            )
            if is_steady:
                steady.update(own)
            else:
                varying.append(place)
        return steady, varying

    def first_after_invariants(self, row: Any, moves: Any, first: int, outputs: int) -> int:
        """Say from which iteration on all that stays the same is there."""
        latest = int(np.max(row[(moves == 0) & (row < self._literals_from)], initial=-1))
        return 0 if latest < first else (latest - first) // max(outputs, 1) + 1

    def within_stacks(
        self, operands: Any, moves: Any, begin: int, end: int, first: int, outputs: int
    ) -> tuple[int, int]:
        """Leave out iterations that read elsewhere than in one stack where others do so."""
        valid = np.ones(len(operands), bool)
        valid[:begin] = valid[end:] = False
        for column in np.flatnonzero(moves):
            row = operands[:, column]
            if moves[column] == outputs and row[end - 1] >= first:
                continue  # carried, or of the same iteration
            loops = self._loop_of[row]
            least = int(np.min(loops))
            valid &= loops == np.bincount(loops[valid] - least, minlength=1).argmax() + least
            if not valid.any():
                return 0, 0
            loop = int(loops[valid][0])
            if loop <= ROWS:
                continue
            if loop < 0 or moves[column] % self.found[loop].outputs:
                return 0, 0
        return max(stretches_of(valid, 0), key=lambda pair: pair[1] - pair[0], default=(0, 0))

    def read_operands(self, found: Found) -> bool:
        """Say where the operands come from; tell whether all of that can be carried or stacked."""
        tokens, first, outputs = self.tokens, found.first, found.outputs
        for place in found.steps:
            if any(map(is_large, self.program.steps[found.start + place].outputs)):
                return False
        if not self.move_alike(found):
            return False
        for number, move in zip(found.operands.tolist(), found.moves.tolist(), strict=True):
            if move == 0:
                if not self.is_literal(number):
                    found.reads[number] = None
            elif (slot := found.computed(number, move)) is not None:
                value = tokens.values[first + slot.output]
                if slot.back > FARTHEST or (slot.back and not can_be_kept(value)):
                    return False
                for nearer in range(slot.back, 0, -1):
                    before = number + outputs * (slot.back - nearer)
                    found.slots.setdefault(Slot(slot.output, nearer), before)
            elif not self.read_stack(found, number, move):
                return False
        return True

    def move_alike(self, found: Found) -> bool:
        """Tell whether whole numbers stay on one side of 0, where they may count from the end."""
        last = found.integers + found.ways * (found.count - 1)
        return bool(np.all((found.ways == 0) | ((found.integers >= 0) == (last >= 0))))

    def read_stack(self, found: Found, number: int, move: int) -> bool:
        """Let a loop read a stack of an earlier one; tell whether that is possible."""
        loop = int(self._loop_of[number])
        if loop <= ROWS:
            found.elements[self.element_key(number, move)] = None
            return True
        if loop < 0 or move % self.found[loop].outputs:
            return False
        _, _, k, way = key = self.element_key(number, move)
        if not 0 <= k + way * (found.count - 1) < self.found[loop].count:
            return False
        if not can_be_kept(self.tokens.values[number]):
            return False
        found.elements[key] = None
        return True

    def element_key(self, number: int, move: int) -> tuple[int, int, int, int]:
        """Say which element of a stack a value is, as `Found.elements` has it."""
        loop = int(self._loop_of[number])
        if loop <= ROWS:
            return ROWS, ROWS - loop, number - self.rows[ROWS - loop].first, move
        other = self.found[loop]
        k, output = divmod(number - other.first, other.outputs)
        return loop, output, k, move // other.outputs

    # What becomes of the program

    def finished(self) -> Program:
        """Write the program with its loops."""
        self.check_uses()
        if not self.found:
            return self.program
        writing = Writing(self)
        return writing.program()

    def check_uses(self) -> None:
        """Say which outputs are stacked; leave out loops of which too much would be."""
        while True:
            for each in self.found:
                each.stacked = {}
            wrong = self.wrong_uses()
            if wrong is None:
                return
            del self.found[wrong:]  # later ones may read of its stacks
            self._loop_of[self._loop_of >= wrong] = -1

    def wrong_uses(self) -> int | None:
        """Note what is used of loops elsewhere; give the number of one that cannot give it."""
        for each in self.found:
            for loop, output, _, _ in each.elements:
                if loop != ROWS:
                    self.found[loop].stacked[output] = None
        finals = [each.final() for each in self.found]
        for number in self.used_outside():
            loop = int(self._loop_of[number])
            if loop < 0:
                continue
            value = self.tokens.values[number]
            if number in self._returned and value.owner is not None:
                return loop  # two that are returned may show one memory
            if number in finals[loop]:
                continue
            if not can_be_kept(value):
                return loop
            found = self.found[loop]
            found.stacked[(number - found.first) % found.outputs] = None
        idle = (n for n, each in enumerate(self.found) if not (each.slots or each.stacked))
        return next(idle, None)  # its calls are there for the errors that they may raise

    def operands_outside(self) -> set[int]:
        """Give the numbers of the operands of steps that are in no loop."""
        inside = np.zeros(len(self.program.steps), bool)
        for each in self.found:
            inside[each.start : each.stop] = True
        of_step = np.repeat(np.arange(len(inside)), np.diff(self.tokens.operands_from))
        return set(self.tokens.operands[~inside[of_step]].tolist())

    def used_outside(self) -> Iterable[int]:
        """Give the numbers of all values that are used by other than loops."""
        operands = np.array([*self.operands_outside()], np.int64)
        used = set(self.tokens.same[operands].tolist()) | self._returned
        for each in self.found:
            used.update(each.slots.values())
            used.update(each.reads)
        return used


def in_one_memory(arrays: Sequence[Any]) -> Any:
    """Give an array that shows arrays as its rows; None where they do not lie evenly in one."""
    first = arrays[0]
    if type(first) is not np.ndarray or not first.size:
        return None
    memory = memory_of(first)
    if any(memory_of(each) is not memory for each in arrays):
        return None
    steps = np.diff([each.__array_interface__["data"][0] for each in arrays])
    if np.any(steps != steps[0]):
        return None
    shape, strides = (len(arrays), *first.shape), (int(steps[0]), *first.strides)
    return np.lib.stride_tricks.as_strided(first, shape, strides)


def rows_of(flat: Any, count: int) -> Any:
    """Give a row for each iteration."""
    return flat.reshape(count, len(flat) // count)


def among(steps: Sequence[int], period: int) -> Any:
    """Tell for each step of an iteration whether it is among some."""
    return np.isin(np.arange(period), steps)


def evenly(rows: Any) -> Any:
    """Tell for each iteration but the ends whether all columns move there as they did before."""
    steps = np.diff(rows, axis=0)
    return np.all(steps[1:] == steps[:-1], axis=1)


def stretches_of(steady: Any, more: int = 2) -> list[tuple[int, int]]:
    """List where it is true in a row, with so many iterations more than there are."""
    padded = np.zeros(len(steady) + 2, np.int8)
    padded[1:-1] = steady
    change = np.flatnonzero(np.diff(padded))
    pairs = zip(change[::2], change[1::2], strict=True)
    return [(int(begin), int(end) + more) for begin, end in pairs]


def is_large(value: Value) -> bool:
    """Tell whether an array is so large that its calls are best left alone."""
    return math.prod(value.shape) >= LARGE


def can_be_kept(value: Value) -> bool:
    """Tell whether a value can be copied to other memory, and lie there as it does."""
    if value.dtype is None or value.dtype.hasobject:
        return False
    if value.kind is not np.ndarray:
        return True
    step = value.dtype.itemsize
    if 0 in value.shape:
        return False
    pairs = sorted(zip(value.strides, value.shape, strict=True))
    for stride, length in pairs:
        if length != 1 and stride != step:
            return False
        step *= length
    return True


@define(eq=False)
class Writing:
    """A program while it is written with loops.

    Attributes
    ----------
    rolling : Rolling
    """

    rolling: Rolling
    _rewriting: Rewriting = field(init=False)
    _stacks: dict[tuple[int, int], Value] = field(factory=dict)
    _outside: set[int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._rewriting = rewriting = Rewriting(self.rolling.program)
        self._outside = self.rolling.operands_outside() | self.rolling._returned
        tokens = self.rolling.tokens
        given = tokens.values.given
        for number, same in enumerate(tokens.same[: len(given)].tolist()):
            if same != number:
                rewriting.by[given[number]] = given[same]
        constants = [row.constant for row in self.rolling.rows]
        rewriting.add_constants(constants)
        self._stacks |= {(ROWS, number): each.value for number, each in enumerate(constants)}

    def program(self) -> Program:
        """Write it."""
        rewriting, rolling = self._rewriting, self.rolling
        steps, place = rolling.program.steps, 0
        needed = set(rolling.used_outside())
        for number, found in enumerate(rolling.found):
            for step in steps[place : found.start]:
                rewriting.keep(relocated(step, rewriting.by))
            self.write(number, found, needed)
            place = found.stop
        for step in steps[place:]:
            rewriting.keep(relocated(step, rewriting.by))
        return rewriting.finished()

    def merge(self, numbers: range) -> None:
        """Let one of those that are the same stand for the others, once it has been written."""
        tokens = self.rolling.tokens
        for number in sorted(self._outside.intersection(numbers)):
            same = int(tokens.same[number])
            if same != number:
                self._rewriting.by[tokens.values[number]] = self.now(same)

    def now(self, number: int) -> Value:
        """Give what stands for a value of the program as it was."""
        value = self.rolling.tokens.values[number]
        return self._rewriting.by.get(value, value)

    def write(self, number: int, found: Found, needed: set[int]) -> None:
        """Write a loop, and what is read of its stacks elsewhere."""
        rolling, rewriting = self.rolling, self._rewriting
        values = rolling.tokens.values
        self.merge(found.numbers)
        body = Body(rolling, found)
        loop = body.loop()
        operands = [self.now(before) for before in found.slots.values()]
        operands += [self.now(read) for read in found.reads]
        operands += [self._stacks[stack] for stack in body.stacks]
        carried = [value.fresh() for value in body.carried]
        stacks = [each.value for each in loop.stackings]
        rewriting.keep(Call(loop, tuple(operands), {}, (*carried, *stacks), several=True))
        for output, stack in zip(found.stacked, stacks, strict=True):
            self._stacks[number, output] = stack
        final = found.final()
        out_of = dict(zip(found.slots, carried, strict=True))
        for used in sorted(each for each in needed if found.first <= each < found.behind):
            if used in final:
                rewriting.replace(values[used], out_of[final[used]])
                continue
            k, output = divmod(used - found.first, found.outputs)
            stack = self._stacks[number, output]
            call = element_of(stack, k, values[used])
            rewriting.keep(call)
            new = call.outputs[0]
            if used in rolling._returned and new.kind is np.ndarray:
                own = new.fresh()
                rewriting.keep(Call(clone, (new,), {}, (own,)))
                new = own
            rewriting.replace(values[used], new)


class Body:
    """The body of a loop, which is written as the calls of its first iteration.

    Attributes
    ----------
    carried : list of Value
        What the body starts from.
    stacks : dict of (int, int) to Value
        The stacks that it reads: the number of the loop, and the output of its body.
    """

    def __init__(self, rolling: Rolling, found: Found) -> None:
        self._rolling, self._found = rolling, found
        values = rolling.tokens.values
        of_slot = {s: values[found.first + s.output].fresh() for s in found.slots}
        of_read = {number: values[number].fresh() for number in found.reads}
        self.carried = list(of_slot.values())
        self._slots, self._reads = of_slot, of_read
        self.stacks: dict[tuple[int, int], Value] = {}
        self._steps: list[Step] = []
        self._elements: dict[tuple[int, int, int, int], Value] = {}
        for key in found.elements:
            self.read_element(key)
        self._made: dict[int, Value] = {}

    def read_element(self, key: tuple[int, int, int, int]) -> None:
        """Append the call that reads an element of a stack."""
        loop, output, k, way = key
        rolling = self._rolling
        first = rolling.rows[output].first if loop == ROWS else rolling.found[loop].first + output
        like = rolling.tokens.values[first]
        stack = self.stacks.get((loop, output))
        if stack is None:
            if loop == ROWS:
                stack = rolling.rows[output].constant.value.fresh()
            else:
                stack = Stacking.of(like, rolling.found[loop].count).value
            self.stacks[loop, output] = stack
        call = element_of(stack, k if way == 0 else Moving(k, way), like)
        self._steps.append(call)
        self._elements[key] = call.outputs[0]

    def loop(self) -> Loop:
        """Write the body, and give the loop."""
        found = self._found
        steps: Any = self._rolling.program.steps[found.start : found.start + found.period]
        outputs_from = self._rolling.tokens.outputs_from[found.start :]
        columns = iter(zip(found.operands.tolist(), found.moves.tolist(), strict=True))
        pairs: list[tuple[Any, Any]] = []
        ways = iter(found.ways.tolist())

        def operand(value: Any) -> Any:
            new = self.operand(*next(columns))
            pairs.append((value, new))
            return new

        def other(leaf: Any) -> Any:
            if type(leaf) is Value:
                return operand(leaf)
            way = next(ways)
            return Moving(leaf, way) if way else leaf

        for place in found.steps:
            step = steps[place]
            if isinstance(step, Guard):
                value = operand(step.value)
                self._steps.append(Guard(step.question, value, step.answer, step.line))
                continue
            pairs.clear()
            args = tuple(
                [
                    operand(arg)
                    if may_vary(step.function, step.outputs, arg)
                    else respelled(arg, other)
                    for arg in step.args
                ]
            )
            kwargs = step.kwargs and respelled(dict(step.kwargs), other)
            call = step.given(args, kwargs)
            call = call.giving([viewing(out, pairs) for out in step.outputs])
            self._made |= enumerate(call.outputs, start=int(outputs_from[place]) - found.first)
            self._steps.append(call)
        following = [
            self._made[s.output] if s.back == 1 else self._slots[Slot(s.output, s.back - 1)]
            for s in found.slots
        ]
        stacked = [self._made[output] for output in found.stacked]
        inputs = (*self.carried, *self._reads.values(), *self.stacks.values())
        name = self._rolling.program.name
        body = Program(name, inputs, (), tuple(self._steps), (*following, *stacked))
        stackings = tuple([Stacking.of(value, found.count) for value in stacked])
        return Loop(body, found.count, len(self.carried), stackings)

    def operand(self, number: int, move: int) -> Any:
        """Give what stands for an operand in the body."""
        found = self._found
        if move == 0:
            read = self._reads.get(number)
            return self._rolling.literal_of(number) if read is None else read
        slot = found.computed(number, move)
        if slot is None:
            return self._elements[self._rolling.element_key(number, move)]
        return self._slots[slot] if slot.back else self._made[slot.output]

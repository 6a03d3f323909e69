"""Tokens: what is alike in the steps of a program, written apart from what differs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define

from tape_ad.programs.capture.op_facts import may_fail
from tape_ad.programs.program import Guard, Program, Value, root_of
from tape_ad.programs.program.trace import Trace, in_numpy


@define(eq=False)
class Values:
    """The values of a program by their numbers, made where they are asked for.

    Attributes
    ----------
    given, literals : sequence of Value
        Those that come before and behind what the steps of a trace compute.
    trace : Trace
    places : array of int64
        Which each is.
    """

    given: Sequence[Value]
    trace: Trace
    literals: Sequence[Value]
    places: Any

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: int) -> Value:
        place = int(self.places[number])
        if place < len(self.given):
            return self.given[place]
        place -= len(self.given)
        computed = len(self.trace.reading.kind_of)
        found: Value = (
            self.trace.value(place) if place < computed else self.literals[place - computed]
        )
        return found

    def repeat(self, numbers: Sequence[int]) -> None:
        """Append values that are there once more."""
        self.places = np.concatenate([self.places, self.places[numbers]])

    def among(self, kept: Any) -> "Values":
        """Give some of the values."""
        return Values(self.given, self.trace, self.literals, self.places[kept])


BLOCK = 4096
"""How many steps are looked at at once, whose numbers take many times as much in a list."""


@define(eq=False)
class Tokens:
    """What is alike in the steps of a program, and what differs.

    Attributes
    ----------
    numbers : array of int32
        One for each step; equal ones are alike.
    operands, integers : array of int32 and of int64
        The numbers of all steps' operands, and the whole numbers among their arguments.
    operands_from, integers_from : array of int32
        Where those of each step begin.
    values : Values
        By their numbers.
    outputs_from : array of int32
        The number of the first output of each step.
    stays : array of bool
        For each token whether such steps are done though nobody needs what they give.
    same : array of int32
        For each value the number of one that is the same: its own, where there is none earlier.
    literals : sequence of float
        Numbers among the arguments of ufuncs, which are operands too: their values come last.
    returned : array of int32
        The numbers of what the program gives, and of what owns its memory.
    """

    numbers: Any
    operands: Any
    integers: Any
    operands_from: Any
    integers_from: Any
    values: Values
    outputs_from: Any
    stays: Any
    same: Any
    literals: Sequence[Any]
    returned: Any

    @classmethod
    def of(cls, program: Program, same: Mapping[Value, Value]) -> "Tokens":
        """Look through a program, of which some constants are the `same` as others.

        Raises
        ------
        KeyError
            A call has an operand that nothing before it has given.
        """
        trace = program.steps if isinstance(program.steps, Trace) else Trace.of(program.steps)
        reading = trace.reading
        given = (*program.inputs, *(each.value for each in program.constants))
        place_of = {value: place for place, value in enumerate(given)}
        literals = [each for each in reading.given if type(each) is not Value]
        behind = len(given) + len(reading.kind_of)
        last = iter(range(behind, behind + len(literals)))
        places = [
            place_of.get(each, -1) if type(each) is Value else next(last) for each in reading.given
        ]
        operands = np.array(reading.operands) + np.int32(len(given))
        others = operands < len(given)
        operands[others] = np.array([*places, -1])[len(given) - 1 - operands[others]]
        if np.any(operands < 0):
            raise KeyError("an operand that nothing has given")
        found = np.array(trace.tokens)
        lengths = np.array(trace.lengths, np.int32).reshape(-1, 3)
        begins = [starts(length[found]) for length in lengths.T]

        def number_of(value: Value) -> int | None:
            number = place_of.get(value)
            if number is not None:
                return number
            number = reading.number_of(value)
            return None if number is None or number < 0 else len(given) + number

        outputs = map(number_of, {*program.outputs, *map(root_of, program.outputs)})
        same_as = np.arange(behind + len(literals), dtype=np.int32)
        for one, other in same.items():
            same_as[place_of[one]] = place_of[other]
        return cls(
            found,
            operands,
            np.array(reading.integers or [0]),
            begins[0],
            begins[1],
            Values(given, trace, [*map(Value.like, map(in_numpy, literals))], same_as.copy()),
            begins[2] + len(given),
            np.array([isinstance(step, Guard) or may_fail(step) for step in trace.kinds]),
            same_as,
            literals,
            np.array([number for number in outputs if number is not None], np.int32),
        )

    def needed(self) -> Any:
        """Tell which steps an output or a guard depends on, or which may fail."""
        wanted = bytearray(len(self.values))
        for output in self.returned.tolist():
            wanted[output] = True
        needed = self.stays[self.numbers]
        for begin in range((len(needed) - 1) // BLOCK * BLOCK, -1, -BLOCK):
            block = slice(begin, begin + BLOCK + 1)
            starts, outs = self.operands_from[block].tolist(), self.outputs_from[block].tolist()
            operands = self.operands[starts[0] : starts[-1]].tolist()
            found = needed[begin : begin + BLOCK].tolist()
            for step in range(len(found) - 1, -1, -1):
                if found[step] or wanted.find(True, outs[step], outs[step + 1]) >= 0:
                    found[step] = True
                    for operand in operands[
                        starts[step] - starts[0] : starts[step + 1] - starts[0]
                    ]:
                        wanted[operand] = True
            needed[begin : begin + BLOCK] = found
        return needed

    def among(self, kept: Any) -> "Tokens":
        """Give the tokens of some of the steps, whose values are numbered anew."""
        if kept.all():
            return self
        given = int(self.outputs_from[0])
        lengths = [
            np.diff(begins)
            for begins in (self.operands_from, self.integers_from, self.outputs_from)
        ]
        operands, integers, outputs = (np.repeat(kept, length) for length in lengths)
        literals = np.ones(len(self.literals), bool)
        stay = np.concatenate([np.ones(given, bool), outputs, literals])
        begins = [starts(length[kept]) for length in lengths]
        number = np.cumsum(stay, dtype=np.int32) - 1
        return Tokens(
            self.numbers[kept],
            number[self.operands[operands]],
            self.integers[: len(integers)][integers],
            begins[0],
            begins[1],
            self.values.among(stay),
            begins[2] + given,
            self.stays,
            number[self.same[stay]],
            self.literals,
            number[self.returned],
        )

    def operands_of(self, steps: slice) -> Any:
        """Give the operands of steps by the numbers that they are the same as.

        The slice ends one behind the step after the last.
        """
        starts = self.operands_from[steps]
        return self.same[self.operands[starts[0] : starts[-1]]]

    def integers_of(self, steps: slice) -> Any:
        """Give the whole numbers among the arguments of steps, in the same way."""
        starts = self.integers_from[steps]
        return self.integers[starts[0] : starts[-1]]


def starts(lengths: Any) -> Any:
    """Say where each of several stretches in a row begins, and where the last one ends."""
    found = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=found[1:])
    return found

"""Tokens: what is alike in the steps of a program, written apart from what differs."""

import itertools
import math
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.trees import structure_of
from tape_ad.programs.capture.op_facts import may_fail
from tape_ad.programs.passes.simplifications import equal_literals
from tape_ad.programs.program import Call, Guard, Program, Value, rebuilt


@define(eq=False)
class Tokens:
    """What is alike in the steps of a program, and what differs.

    Attributes
    ----------
    numbers : array of int64
        One for each step; equal ones are alike.
    operands, integers : array of int64
        The numbers of all steps' operands, and the whole numbers among their arguments.
    operands_from, integers_from : array of int64
        Where those of each step begin.
    values : list of Value
        By their numbers.
    outputs_from : array of int64
        The number of the first output of each step.
    stays : array of bool
        For each token whether such steps are done though nobody needs what they give.
    same : array of int64
        For each value the number of one that is the same: its own, where there is none earlier.
    literals : sequence of float
        Numbers among the arguments of ufuncs, which are operands too: their values come last.
    """

    numbers: Any
    operands: Any
    integers: Any
    operands_from: Any
    integers_from: Any
    values: list[Value]
    outputs_from: Any
    stays: Any
    same: Any
    literals: Sequence[Any]

    @classmethod
    def of(cls, program: Program) -> "Tokens":
        """Look through a program."""
        values = [*program.inputs, *(each.value for each in program.constants)]
        given = len(values)
        number_of = {value: number for number, value in enumerate(values)}
        equal = {number_of[a]: number_of[b] for a, b in equal_literals(program).items()}
        kinds: dict[Any, int] = {}
        kind_of = [kinds.setdefault(described(value), len(kinds)) for value in values]
        tokens: dict[Any, int] = {}
        numbers = array("q")
        lengths: list[tuple[int, int, int]] = []  # of what there is in steps, by their tokens
        stays: list[bool] = []
        spelling = Spelling(number_of, kind_of)
        operands, integers = spelling.operands, spelling.integers
        for step in program.steps:
            before = len(operands), len(integers)
            parts: list[Any]
            if isinstance(step, Guard):
                parts = [step.question, type(step.answer), repr(step.answer), step.line]
                spelling.take(step.value, parts)
            else:
                parts = [step.function, step.several]
                spelling.take_arguments(step, parts)
                for out in step.outputs:
                    kind = kinds.setdefault(described(out), len(kinds))
                    number_of[out] = len(values)
                    values.append(out)
                    kind_of.append(kind)
                    parts.append(kind)
                if step.errors:
                    parts.append(tuple(step.errors.items()))
            token = len(lengths)
            try:
                token = tokens.setdefault(tuple(parts), token)
            except TypeError:
                token = len(lengths)  # of its own: the function, or an option, has no hash
            if token == len(lengths):
                outputs = len(getattr(step, "outputs", ()))
                lengths.append((len(operands) - before[0], len(integers) - before[1], outputs))
                stays.append(isinstance(step, Guard) or may_fail(step))
            numbers.append(token)
        found = np.array(numbers)
        begins = np.zeros((3, len(found) + 1), np.int64)
        np.cumsum(np.array(lengths).T[:, found], axis=1, out=begins[:, 1:])
        places = np.array(operands)
        places[places >= NUMBERS_FROM] += len(values) - NUMBERS_FROM
        values += map(Value.like, map(in_numpy, spelling.numbers))
        same = np.arange(len(values))
        same[[*equal.keys()]] = [*equal.values()]
        return cls(
            found,
            places,
            np.array(integers or [0]),
            begins[0],
            begins[1],
            values,
            begins[2] + given,
            np.array(stays),
            same,
            spelling.numbers,
        )

    def needed(self, outputs: Collection[Value]) -> Any:
        """Tell which steps an output or a guard depends on, or which may fail."""
        wanted = bytearray([value in outputs for value in self.values])
        needed = self.stays[self.numbers].tolist()
        operands, starts = self.operands.tolist(), self.operands_from.tolist()
        outs = self.outputs_from.tolist()
        for step in range(len(needed) - 1, -1, -1):
            if needed[step] or wanted.find(True, outs[step], outs[step + 1]) >= 0:
                needed[step] = True
                for operand in operands[starts[step] : starts[step + 1]]:
                    wanted[operand] = True
        return np.array(needed)

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
        begins = [np.concatenate([[0], np.cumsum(length[kept])]) for length in lengths]
        number = np.cumsum(stay) - 1
        return Tokens(
            self.numbers[kept],
            number[self.operands[operands]],
            self.integers[: len(integers)][integers],
            begins[0],
            begins[1],
            [*itertools.compress(self.values, stay)],
            begins[2] + given,
            self.stays,
            number[self.same[stay]],
            self.literals,
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


def described(value: Value) -> Any:
    """Say what values have in common that calls cannot tell apart."""
    return value.kind, value.shape, value.dtype, value.strides, value.owner is not None


WORDS = frozenset({str, bool, type(None), type(Ellipsis), type})
NUMBERS = frozenset({int, float, np.float64})
NUMBERS_FROM = 2**60
"""The number of the first of them, until it is known how many values there are."""
LARGEST_EXACT = 2**53
POWERS = frozenset({np.power, np.float_power})


def may_vary(call: Call, arg: Any) -> bool:
    """Tell whether an element of an array can stand for a number among the arguments of a call.

    A number in double precision is not weak, as Python's are, but that changes no double precision.
    Powers are computed otherwise where the exponent is known.
    """
    function = call.function
    return (
        type(arg) in NUMBERS
        and type(function) is np.ufunc
        and "dd->d" in function.types
        and function not in POWERS
        and all(out.dtype is not None and out.dtype.char in "dD" for out in call.outputs)
        and abs(arg) < LARGEST_EXACT
    )


def in_numpy(number: float) -> np.number[Any]:
    """Give a number as NumPy has it, a whole one as such: some ufuncs compute it another way."""
    return np.int64(number) if type(number) is int else np.float64(number)


@define(eq=False)
class Spelling:
    """What arguments have in common, and what differs, while a program is looked through.

    Attributes
    ----------
    number_of : mapping of Value to int
    kind_of : sequence of int
        What values have in common, by their numbers.
    operands, integers : array of int
        What differs: the numbers of values, and whole numbers.
    numbers : list of float
        Those that are operands too, each once.
    """

    number_of: Mapping[Value, int]
    kind_of: Sequence[int]
    operands: "array[int]" = field(factory=lambda: array("q"))
    integers: "array[int]" = field(factory=lambda: array("q"))
    numbers: list[Any] = field(factory=list)
    _operand_of: dict[Any, int] = field(factory=dict)

    def take_arguments(self, call: Call, parts: list[Any]) -> None:
        """Append what is alike of the arguments of a call, and note what differs."""
        for arg in call.args:
            if type(arg) is Value:  # as most are
                number = self.number_of[arg]
                self.operands.append(number)
                parts.append(self.kind_of[number])
            elif may_vary(call, arg):
                self.take_number(arg, parts)
            else:
                self.take(arg, parts)
        if call.kwargs:
            self.take(dict(call.kwargs), parts)

    def take_number(self, number: float, parts: list[Any]) -> None:
        """Note a number among the operands, one for all that are equal."""
        mark = type(number), repr(number)
        found = self._operand_of.get(mark)
        if found is None:
            found = self._operand_of[mark] = NUMBERS_FROM + len(self.numbers)
            self.numbers.append(number)
        self.operands.append(found)
        parts.append(type(in_numpy(number)))

    def take(self, tree: Any, parts: list[Any]) -> None:
        """Append what is alike of an argument to its parts, and note what differs."""
        kind: Any = type(tree)
        if kind is Value:
            number = self.number_of[tree]
            self.operands.append(number)
            parts.append(self.kind_of[number])
        elif kind is int and abs(tree) < 2**62:
            self.integers.append(tree)
            parts.append(int)
        elif kind in WORDS:
            parts.append((kind, tree))
        elif kind is float:
            parts.append((kind, tree, math.copysign(1.0, tree)))
        elif kind is slice:
            parts.append(kind)
            for each in (tree.start, tree.stop, tree.step):
                self.take(each, parts)
        elif (structure := structure_of(kind)) is not None:
            below = tree if kind is tuple else list(structure.values(tree))
            parts += [kind, len(below), *(tree if kind is dict else ())]
            for each in below:
                self.take(each, parts)
        elif isinstance(tree, (np.bool_, np.number)):
            parts.append((kind, tree.dtype, tree.tobytes()))
        else:
            parts.append((kind, tree))


def respelled(tree: Any, operand: Callable[[Value], Any], integer: Callable[[int], Any]) -> Any:
    """Rebuild an argument, in the order of `Spelling`, with others for its values and integers."""

    def other(leaf: Any) -> Any:
        if type(leaf) is Value:
            return operand(leaf)
        return integer(leaf) if type(leaf) is int and abs(leaf) < 2**62 else leaf

    return rebuilt(other, tree)

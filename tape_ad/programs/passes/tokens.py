"""Tokens: what is alike in the steps of a program, written apart from what differs."""

import itertools
from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.trees import MAPPING, attributes_beside, structure_of
from tape_ad.programs.capture.op_facts import may_fail
from tape_ad.programs.program import Call, Guard, Program, Step, Value, rebuilt, root_of
from tape_ad.programs.program.keys import VerySame, content_of, key_alone
from tape_ad.programs.program.loops import Moving

# The arguments of a call


TOLD_BY_EQUALITY = frozenset({str, bytes, bool, int, type(None), type(Ellipsis), range, Moving})
PLAIN = frozenset({dict, list, tuple})
NUMBERS = (float, complex, np.bool_, np.number)
LARGEST = 2**62
"""From where on whole numbers are part of what is alike: beside 64 bits, some might not move."""


def spell(tree: Any, parts: list[Any], leaves: list[Any]) -> None:
    """Append what is alike in arguments of one kind, and what may differ.

    Parameters
    ----------
    tree : any
        An argument of a call.
    parts : list
        Gets what the argument is but for its values and whole numbers, in one order: equal where it
        is the same, and only there.
    leaves : list
        Gets those values and numbers, in the order of `respelled`. It may be the same list.
    """
    kind: Any = type(tree)
    if kind is Value or (kind is int and abs(tree) < LARGEST):  # `may_differ`, written out
        parts.append(kind)
        leaves.append(tree)
    elif kind in TOLD_BY_EQUALITY:
        parts.append((kind, tree))
    elif kind is slice:
        parts.append(kind)
        for each in (tree.start, tree.stop, tree.step):
            spell(each, parts, leaves)
    elif (structure := structure_of(kind)) is not None:
        below = tree if kind is tuple else list(structure.values(tree))
        parts += [kind, len(below)]
        if structure is MAPPING:
            parts += map(key_alone, tree)
        if not (kind in PLAIN or kind.__module__.startswith("tape_ad.")):
            parts.append(content_of(attributes_beside(tree)))
        for each in below:
            spell(each, parts, leaves)
    elif isinstance(tree, NUMBERS):  # by their bytes: the zeros are equal, but not the same
        number = np.asarray(tree)
        parts.append((kind, number.dtype, number.tobytes()))
    else:
        parts.append((kind, tree) if isinstance(tree, np.dtype) else VerySame(tree))


def may_differ(leaf: Any) -> bool:
    """Tell whether a leaf of an argument is a value or a whole number."""
    return type(leaf) is Value or (type(leaf) is int and abs(leaf) < LARGEST)


def respelled(tree: Any, other: Callable[[Any], Any]) -> Any:
    """Rebuild an argument with others for its values and whole numbers."""
    return rebuilt(lambda leaf: other(leaf) if may_differ(leaf) else leaf, tree)


POWERS = frozenset({np.power, np.float_power})
LARGEST_EXACT = 2**53


def may_vary(call: Call, arg: Any) -> bool:
    """Tell whether an element of an array can stand for a number among the arguments of a call.

    A number in double precision is not weak, as Python's are, but that changes no double precision.
    Powers are computed otherwise where the exponent is known.
    """
    function = call.function
    return (
        type(arg) in (int, float, np.float64)
        and type(function) is np.ufunc
        and "dd->d" in function.types
        and function not in POWERS
        and all(out.dtype is not None and out.dtype.char in "dD" for out in call.outputs)
        and abs(arg) < LARGEST_EXACT
    )


def in_numpy(number: float) -> np.number[Any]:
    """Give a number as NumPy has it, a whole one as such: some ufuncs compute it another way."""
    return np.int64(number) if type(number) is int else np.float64(number)


# The steps of a program


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
    returned : array of int64
        The numbers of what the program gives, and of what owns its memory.
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
    returned: Any

    @classmethod
    def of(cls, program: Program, same: Mapping[Value, Value]) -> "Tokens":
        """Look through a program, of which some constants are the `same` as others."""
        reading = Reading()
        for value in (*program.inputs, *(each.value for each in program.constants)):
            reading.add(value)
        values, operands, integers = reading.values, reading.operands, reading.integers
        given = len(values)
        tokens: dict[Any, int] = {}
        numbers = array("q")
        lengths: list[list[int]] = []  # of what there is in steps, by their tokens
        stays: list[bool] = []
        for step in program.steps:
            before = len(operands), len(integers), len(values)
            token = tokens.setdefault(reading.read(step), len(lengths))
            if token == len(lengths):
                after = len(operands), len(integers), len(values)
                lengths.append([end - begin for begin, end in zip(before, after, strict=True)])
                stays.append(isinstance(step, Guard) or may_fail(step))
            numbers.append(token)
        found = np.array(numbers)
        begins = [starts(length[found]) for length in np.array(lengths).T]
        places = np.array(operands)
        places = np.where(places < 0, len(values) + ~places, places)
        values += map(Value.like, map(in_numpy, reading.literals))
        outputs = {*program.outputs, *map(root_of, program.outputs)}
        returned = [reading.number_of[each] for each in outputs if each in reading.number_of]
        same_as = np.arange(len(values))
        for one, other in same.items():
            same_as[reading.number_of[one]] = reading.number_of[other]
        return cls(
            found,
            places,
            np.array(integers or [0]),
            begins[0],
            begins[1],
            values,
            begins[2] + given,
            np.array(stays),
            same_as,
            reading.literals,
            np.array(returned, np.int64),
        )

    def needed(self) -> Any:
        """Tell which steps an output or a guard depends on, or which may fail."""
        wanted = bytearray(len(self.values))
        for output in self.returned.tolist():
            wanted[output] = True
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
        begins = [starts(length[kept]) for length in lengths]
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
    return np.concatenate([[0], np.cumsum(lengths)])


@define(eq=False)
class Reading:
    """What is known of a program while it is looked through, and what differs in its steps.

    Attributes
    ----------
    values : list of Value
    number_of : dict of Value to int
    operands, integers : array of int
        The numbers of values, and whole numbers.
    literals : list of float
        Numbers that are operands too, each once; counted from -1 down, as what comes last.
    """

    values: list[Value] = field(factory=list)
    number_of: dict[Value, int] = field(factory=dict)
    operands: "array[int]" = field(factory=lambda: array("q"))
    integers: "array[int]" = field(factory=lambda: array("q"))
    literals: list[Any] = field(factory=list)
    _kinds: dict[Any, int] = field(factory=lambda: defaultdict(itertools.count().__next__))
    _kind_of: list[int] = field(factory=list)
    _literal_of: dict[Any, int] = field(factory=dict)

    def add(self, value: Value) -> int:
        """Number a value; say what it has in common with others that calls cannot tell apart."""
        mark = value.kind, value.shape, value.dtype, value.strides, value.owner is not None
        kind = self._kinds[mark]
        self.number_of[value] = len(self.values)
        self.values.append(value)
        self._kind_of.append(kind)
        return kind

    def literal(self, number: float) -> int:
        """Number a number among the operands, one for all that are equal."""
        mark = type(number), repr(number)
        if mark not in self._literal_of:
            self.literals.append(number)
            self._literal_of[mark] = -len(self.literals)
        return self._literal_of[mark]

    def read(self, step: Step) -> tuple[Any, ...]:
        """Note what differs in a step, and give what is alike."""
        if isinstance(step, Guard):
            parts = [step.question, type(step.answer), repr(step.answer), step.line]
            self.take(step.value, parts)
            return tuple(parts)
        args, number_of, kind_of = step.args, self.number_of, self._kind_of
        parts = [step.function, step.several, len(args)]
        for arg in args:
            if type(arg) is Value:  # as most are
                number = number_of[arg]
                self.operands.append(number)
                parts.append(kind_of[number])
            elif may_vary(step, arg):
                self.operands.append(self.literal(arg))
                parts.append(type(in_numpy(arg)))
            else:
                self.take(arg, parts)
        if step.kwargs:
            self.take(dict(step.kwargs), parts)
        if step.errors:
            parts += step.errors.items()
        for out in step.outputs:
            parts.append(self.add(out))
        return tuple(parts)

    def take(self, tree: Any, parts: list[Any]) -> None:
        """Note what differs in an argument, and append what is alike."""
        leaves: list[Any] = []
        spell(tree, parts, leaves)
        for leaf in leaves:
            if type(leaf) is Value:
                number = self.number_of[leaf]
                self.operands.append(number)
                parts.append(self._kind_of[number])
            else:
                self.integers.append(leaf)

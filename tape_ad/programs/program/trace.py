"""Traces: the steps of a long capture, written down as what is alike in them and what differs.

A loop of Python makes the same calls again and again. Calls are alike that have one *token*:
function, options, shapes, dtypes and strides. One of each kind is kept, and of the others their
operands and whole numbers alone, in a tenth of the memory. Rolling of loops goes by those.
"""

import itertools
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from threading import RLock
from typing import Any, overload
from weakref import WeakValueDictionary

import numpy as np
from attrs import define, field

from tape_ad.base.trees import MAPPING, attributes_beside, structure_of
from tape_ad.programs.program import Call, Guard, Step, Value, rebuilt, root_of
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
class Reading:
    """What is known of steps while they are read one after the other, and what differs in them.

    Values that are computed are numbered from 0 on; what is given to steps without being computed
    (inputs, constants, and numbers among the operands) from -1 down.

    Attributes
    ----------
    operands, integers : array of int
        The numbers of values, and whole numbers.
    given : list of Value and float
        What is not computed, each once.
    kind_of : array of int
        What each value that is computed has in common with others that calls cannot tell apart.
    likes : list of Value
        The first of each of those kinds.
    views, owners : array of int
        The numbers of what shows memory of something else, and of that.
    numbers : dict of Value to int, optional
        Where the numbers of values are kept; in the values themselves, where there is none.
    """

    operands: "array[int]" = field(factory=lambda: array("i"), init=False)
    integers: "array[int]" = field(factory=lambda: array("q"), init=False)
    given: list[Any] = field(factory=list, init=False)
    kind_of: "array[int]" = field(factory=lambda: array("i"), init=False)
    likes: list[Value] = field(factory=list, init=False)
    views: "array[int]" = field(factory=lambda: array("i"), init=False)
    owners: "array[int]" = field(factory=lambda: array("i"), init=False)
    numbers: dict[Value, int] | None = None
    number_of: Callable[[Value], int | None] = field(init=False)
    _kinds: dict[Any, int] = field(factory=lambda: defaultdict(itertools.count().__next__))
    _kinds_given: list[int] = field(factory=list)
    _literal_of: dict[Any, int] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        known: Any = self.numbers
        self.number_of = attrgetter("number") if known is None else known.get

    def set_number(self, value: Value, number: int) -> None:
        """Number a value."""
        if self.numbers is None:
            value.number = number
        else:
            self.numbers[value] = number

    def kind(self, value: Value) -> int:
        """Number what a value has in common with others that calls cannot tell apart."""
        mark = value.kind, value.shape, value.dtype, value.strides, value.owner is not None
        kind = self._kinds[mark]
        if kind == len(self.likes):
            self.likes.append(value)
        return kind

    def give(self, value: Value) -> int:
        """Number a value that no step has computed."""
        self.given.append(value)
        self._kinds_given.append(self.kind(value))
        number = -len(self.given)
        self.set_number(value, number)
        return number

    def literal(self, number: float) -> int:
        """Number a number among the operands, one for all that are equal."""
        mark = type(number), repr(number)
        if mark not in self._literal_of:
            self.given.append(number)
            self._kinds_given.append(-1)
            self._literal_of[mark] = -len(self.given)
        return self._literal_of[mark]

    def operand(self, value: Value) -> int:
        """Note an operand, and give its kind."""
        number = self.number_of(value)
        if number is None:
            number = self.give(value)
        self.operands.append(number)
        return self.kind_of[number] if number >= 0 else self._kinds_given[~number]

    def compute(self, value: Value) -> int:
        """Number what a step gives, and give its kind."""
        kind, number = self.kind(value), len(self.kind_of)
        self.set_number(value, number)
        self.kind_of.append(kind)
        if value.owner is not None:
            owner = self.number_of(value.owner)
            self.views.append(number)
            self.owners.append(self.give(value.owner) if owner is None else owner)
        return kind

    def read(self, step: Step) -> tuple[Any, ...]:
        """Note what differs in a step, and give what is alike."""
        if isinstance(step, Guard):
            parts = [step.question, type(step.answer), repr(step.answer), step.line]
            parts.append(self.operand(step.value))
            return tuple(parts)
        args, operand = step.args, self.operand
        parts = [step.function, step.several, len(args)]
        for arg in args:
            if type(arg) is Value:  # as most are
                parts.append(operand(arg))
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
            parts.append(self.compute(out))
        return tuple(parts)

    def take(self, tree: Any, parts: list[Any]) -> None:
        """Note what differs in an argument, and append what is alike."""
        leaves: list[Any] = []
        spell(tree, parts, leaves)
        for leaf in leaves:
            if type(leaf) is Value:
                parts.append(self.operand(leaf))
            else:
                self.integers.append(leaf)

    @property
    def place(self) -> tuple[int, int, int]:
        """How many operands, whole numbers and results there are so far."""
        return len(self.operands), len(self.integers), len(self.kind_of)


CHUNK = 4096
"""How many steps are kept as they are until they are read."""
REPEATED = 4
"""How often a step occurs in one form or another, on average, for a trace to take less memory."""


@define(eq=False, repr=False)
class Trace(Sequence[Step]):
    """The steps of a capture, which are made anew where they are asked for.

    As long as anyone has a value, it is the one that stands in each of the steps.

    Attributes
    ----------
    reading : Reading
    kinds : list of Call and Guard
        The first step of each kind.
    lengths : list of (int, int, int)
        How many operands, whole numbers and results each of those has.
    tokens : array of int
        The kind of each step.
    guards : dict of int to Guard
        The guards, by their places among the steps.
    """

    reading: Reading = field(factory=Reading)
    kinds: list[Step] = field(factory=list, init=False)
    lengths: list[tuple[int, ...]] = field(factory=list, init=False)
    tokens: "array[int]" = field(factory=lambda: array("i"), init=False)
    guards: dict[int, Guard] = field(factory=dict, init=False)
    _chunk: int = field(factory=lambda: CHUNK)
    _irregular: bool = field(default=False, init=False)
    _recent: list[Step] = field(factory=list, init=False)
    _token_of: dict[Any, int] = field(factory=dict, init=False)
    _begins: list[tuple[int, ...]] = field(factory=list, init=False)
    _values: WeakValueDictionary[int, Value] = field(factory=WeakValueDictionary, init=False)
    _all: Sequence[Value] = field(default=(), init=False)
    _lock: Any = field(factory=RLock, init=False)

    @classmethod
    def of(cls, steps: Iterable[Step]) -> "Trace":
        """Read steps whose values have numbers of another capture, or of none."""
        numbers: dict[Value, int] = {}
        trace = cls(Reading(numbers))
        trace.take(steps)
        trace._all = [value for value, number in numbers.items() if number >= 0]
        return trace

    def append(self, step: Step) -> None:
        """Add a step."""
        self._recent.append(step)
        if len(self._recent) >= self._chunk and not self._irregular:
            self.take(self._recent)
            self._recent = []
            self._irregular = len(self.kinds) * REPEATED > len(self.tokens)

    def take(self, steps: Iterable[Step]) -> None:
        """Read steps."""
        reading, token_of = self.reading, self._token_of
        self._begins.append(reading.place)
        for step in steps:
            before = reading.place
            token = token_of.setdefault(reading.read(step), len(self.kinds))
            if token == len(self.kinds):
                self.kinds.append(step)
                pairs = zip(before, reading.place, strict=True)
                self.lengths.append(tuple([end - begin for begin, end in pairs]))
            if type(step) is Guard:
                self.guards[len(self.tokens)] = step
                self.keep(step.value)
            self.tokens.append(token)

    def finished(self, outputs: Iterable[Value]) -> Sequence[Step]:
        """Give the steps of a capture that gives these values; few of them as they are."""
        if not self.tokens:
            return tuple(self._recent)
        if not self._irregular:
            self.take(self._recent)
            self._recent = []
        for each in outputs:
            self.keep(each)
            self.keep(root_of(each))
        self._token_of = {}
        return tuple(self) if self._irregular else self

    def keep(self, value: Value) -> None:
        """Let a value be found by its number, which somebody has."""
        number = self.reading.number_of(value)
        if number is not None and number >= 0:
            self._values[number] = value

    # What the steps are

    def __len__(self) -> int:
        return len(self.tokens) + len(self._recent)

    def __iter__(self) -> Iterator[Step]:
        for begin in range(0, len(self.tokens), self._chunk):
            yield from self.at(np.arange(begin, min(begin + self._chunk, len(self.tokens))))
        yield from self._recent

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Step]: ...
    def __getitem__(self, place: int | slice) -> Step | Sequence[Step]:
        if isinstance(place, slice):
            return [*self.at(np.arange(len(self.tokens))[place])]
        return next(self.at(np.array([range(len(self.tokens))[place]])))

    def at(self, places: Any) -> Iterator[Step]:
        """Give the steps at some places, in their order."""
        if not len(places):
            return
        chunk = int(places[0]) // self._chunk
        first = chunk * self._chunk
        tokens = np.array(self.tokens[first : int(places[-1]) + 1])
        lengths = np.array(self.lengths)[tokens]
        ends = lengths.cumsum(axis=0) + self._begins[chunk]
        begins = (ends - lengths)[places - first].tolist()
        for place, begin in zip(places.tolist(), begins, strict=True):
            yield self.guards.get(place) or self.call(self.tokens[place], *begin)

    def call(self, token: int, operand: int, integer: int, result: int) -> Call:
        """Make a call of a kind, from where its operands, whole numbers and results begin."""
        like: Any = self.kinds[token]
        lengths = self.lengths[token]
        operands = map(self.value, self.reading.operands[operand : operand + lengths[0]])
        integers = iter(self.reading.integers[integer : integer + lengths[1]])

        def other(leaf: Any) -> Any:
            return next(operands) if type(leaf) is Value else next(integers)

        args = tuple(
            [
                next(operands)
                if type(arg) is Value or may_vary(like, arg)
                else respelled(arg, other)
                for arg in like.args
            ]
        )
        kwargs = like.kwargs and respelled(dict(like.kwargs), other)
        outputs = map(self.value, range(result, result + len(like.outputs)))
        call: Call = like.given(args, kwargs).giving(outputs)
        return call

    def value(self, number: int) -> Any:
        """Give what has a number, which may be a number among the operands."""
        reading = self.reading
        if number < 0:
            return reading.given[~number]
        if self._all:
            return self._all[number]
        with self._lock:
            found = self._values.get(number)
            if found is None:
                like, owner = reading.likes[reading.kind_of[number]], None
                if like.owner is not None:
                    owner = self.value(reading.owners[bisect_left(reading.views, number)])
                found = self._values[number] = like.fresh(owner)
                found.number = number
            return found


class Selected(Sequence[Step]):
    """Some of the steps of a trace.

    Parameters
    ----------
    trace : Trace
    places : array of int64
        Which, in their order.
    """

    def __init__(self, trace: Trace, places: Any) -> None:
        self._trace, self._places = trace, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Step]: ...
    def __getitem__(self, place: int | slice) -> Step | Sequence[Step]:
        if isinstance(place, slice):
            return [*self._trace.at(self._places[place])]
        return self._trace[int(self._places[place])]


def selected(steps: Sequence[Step], kept: Any) -> Sequence[Step]:
    """Give some of the steps of a program, those of a trace without making them."""
    if isinstance(steps, Trace):
        return Selected(steps, np.flatnonzero(kept))
    return tuple(itertools.compress(steps, kept))

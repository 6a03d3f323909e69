"""Traces: the steps of a long capture, written down as what is alike in them and what differs.

A loop of Python makes the same calls again and again. Calls are alike that have one *token*:
function, options, shapes, dtypes and strides. One of each kind is kept, and of the others their
operands and whole numbers alone, in a tenth of the memory. Rolling of loops goes by those.
"""

import functools
import itertools
import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from threading import RLock
from typing import Any, overload
from weakref import WeakValueDictionary

import numpy as np
from attrs import define, field

from tape_ad.base.errors import CaptureError
from tape_ad.base.trees import MAPPING, attributes_beside, structure_of
from tape_ad.programs.program import Call, Function, Guard, Step, Value, rebuilt, root_of
from tape_ad.programs.program.keys import VerySame, content_of, key_alone
from tape_ad.programs.program.loops import Moving

# The arguments of a call


TOLD_BY_EQUALITY = frozenset({str, bytes, bool, int, type(None), type(Ellipsis), range, Moving})
PLAIN = frozenset({dict, list, tuple})
NOTHING = type(None), None
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
    if kind is slice:
        parts.append(kind)
        below: Any = tree.start, tree.stop, tree.step
    elif kind is tuple:
        parts += (kind, len(tree))
        below = tree
    elif may_differ(tree):
        parts.append(kind)
        leaves.append(tree)
        return
    elif kind not in TOLD_BY_EQUALITY and (structure := structure_of(kind)) is not None:
        below = list(structure.values(tree))
        parts += (kind, len(below))
        if structure is MAPPING:
            parts += map(key_alone, tree)
        if not (kind in PLAIN or kind.__module__.startswith("tape_ad.")):
            parts.append(content_of(attributes_beside(tree)))
    else:
        parts.append(told_apart(tree))
        return
    for each in below:
        if each is None:  # as most are in slices
            parts.append(NOTHING)
        elif type(each) is int and -LARGEST < each < LARGEST:  # as most are in other keys
            parts.append(int)
            leaves.append(each)
        else:
            spell(each, parts, leaves)


def told_apart(leaf: Any) -> Any:
    """Give what is equal for leaves that are the same, and only for those."""
    kind = type(leaf)
    if kind in TOLD_BY_EQUALITY or isinstance(leaf, np.dtype):
        return kind, leaf
    if isinstance(leaf, NUMBERS):  # by their bytes: the zeros are equal, but not the same
        number = np.asarray(leaf)
        return kind, number.dtype, number.tobytes()
    return VerySame(leaf)


def may_differ(leaf: Any) -> bool:
    """Tell whether a leaf of an argument is a value or a whole number."""
    return type(leaf) is Value or (type(leaf) is int and abs(leaf) < LARGEST)


def respelled(tree: Any, other: Callable[[Any], Any]) -> Any:
    """Rebuild an argument with others for its values and whole numbers."""
    return rebuilt(lambda leaf: other(leaf) if may_differ(leaf) else leaf, tree)


POWERS = frozenset({np.power, np.float_power})
LARGEST_EXACT = 2**53


@functools.cache
def takes_doubles(ufunc: np.ufunc) -> bool:
    """Tell whether a ufunc is one of two numbers in double precision, and no power."""
    return "dd->d" in ufunc.types and ufunc not in POWERS


def may_vary(function: Any, outputs: Sequence[Value], arg: Any) -> bool:
    """Tell whether an element of an array can stand for a number among the arguments of a call.

    A number in double precision is not weak, as Python's are, but that changes no double precision.
    Powers are computed otherwise where the exponent is known.
    """
    return (
        type(arg) in (int, float, np.float64)
        and type(function) is np.ufunc
        and takes_doubles(function)
        and all(out.dtype is not None and out.dtype.char in "dD" for out in outputs)
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

    def show(self, view: Value, owner: Value) -> None:
        """Note whose memory the next value shows."""
        number = self.number_of(owner)
        self.owners.append(self.give(owner) if number is None else number)
        self.views.append(len(self.kind_of))

    def read_guard(self, guard: Guard) -> tuple[Any, ...]:
        """Note what differs in a guard, and give what is alike."""
        answer = guard.answer
        parts = guard.question, type(answer), repr(answer), guard.line
        return *parts, self.operand(guard.value)

    def read_call(
        self,
        function: Function,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        outputs: Sequence[Value],
        several: bool,
        errors: Mapping[str, Any] | None,
    ) -> tuple[Any, ...]:
        """Note what differs in a call, and give what is alike."""
        operands, numbers, kind_of = self.operands, self.numbers, self.kind_of
        parts = [function, several, len(args)]
        for arg in args:
            if type(arg) is Value:  # as most are; `operand`, written out
                number = arg.number if numbers is None else numbers.get(arg)
                if number is None:
                    number = self.give(arg)
                operands.append(number)
                parts.append(kind_of[number] if number >= 0 else self._kinds_given[~number])
            elif may_vary(function, outputs, arg):
                operands.append(self.literal(arg))
                parts.append(type(in_numpy(arg)))
            else:
                self.take(arg, parts)
        if kwargs:
            self.take(dict(kwargs), parts)
        if errors:
            parts += errors.items()
        for out in outputs:
            kind = self.kind(out)
            like = self.likes[kind]
            out.shape, out.strides = like.shape, like.strides  # which are one for all
            if numbers is None:
                out.number = len(kind_of)
            else:
                numbers[out] = len(kind_of)
            if out.owner is not None:
                self.show(out, out.owner)
            kind_of.append(kind)
            parts.append(kind)
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
    reads : bool
        Whether a step is read when it is added.
    whole : bool
        Whether the first steps, which are kept until there are many, have been read to the end.
    """

    reading: Reading = field(factory=Reading)
    kinds: list[Step] = field(factory=list, init=False)
    lengths: list[tuple[int, ...]] = field(factory=list, init=False)
    tokens: "array[int]" = field(factory=lambda: array("i"), init=False)
    guards: dict[int, Guard] = field(factory=dict, init=False)
    _chunk: int = field(factory=lambda: CHUNK)
    reads: bool = field(default=False, init=False)
    whole: bool = field(default=True, init=False)
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
        trace = cls(Reading(numbers), sys.maxsize)
        for step in steps:
            trace.read(step)
        trace._all = [value for value, number in numbers.items() if number >= 0]
        return trace

    def append(self, step: Step) -> None:
        """Add a step, and read it where it is one of many."""
        if self.reads:
            self.read(step)
            return
        self._recent.append(step)
        if len(self._recent) == self._chunk and not self.tokens:
            recent, self._recent, self.reads, self.whole = self._recent, [], True, False
            for each in recent:
                self.read(each)
            self.whole = True

    def read(self, step: Step) -> None:
        """Take what is alike of a step, and what differs."""
        if isinstance(step, Call):
            given = step.function, step.args, step.kwargs
            self.add(*given, step.outputs, several=step.several, errors=step.errors)
            return
        self.begin()
        self.guards[len(self.tokens)] = step
        begins = len(self.reading.operands), len(self.reading.integers)
        mark = self.reading.read_guard(step)
        self.keep(step.value)
        token = self._token_of.get(mark)
        self.tokens.append(self.new(mark, step, *begins) if token is None else token)

    def add(
        self,
        function: Function,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        outputs: tuple[Value, ...],
        *,
        several: bool = False,
        errors: Mapping[str, Any] | None = None,
    ) -> None:
        """Add what `Call` would be made of, where steps are read."""
        if not len(self.tokens) % self._chunk:
            self.begin()
        reading = self.reading
        begins = len(reading.operands), len(reading.integers)
        mark = reading.read_call(function, args, kwargs, outputs, several, errors)
        token = self._token_of.get(mark)
        if token is None:
            call = Call(function, tuple(args), kwargs, outputs, several, errors)
            token = self.new(mark, call, *begins)
        self.tokens.append(token)

    def new(self, mark: Any, step: Step, operands: int, integers: int) -> int:
        """Keep the first step of a kind, which began with so many operands and whole numbers."""
        reading, token = self.reading, len(self.kinds)
        self._token_of[mark] = token
        self.kinds.append(step)
        began = len(reading.operands) - operands, len(reading.integers) - integers
        self.lengths.append((*began, len(step.outputs)))
        return token

    def begin(self) -> None:
        """Note where a chunk begins; read no further ones where hardly any steps are alike."""
        if len(self.tokens) != len(self._begins) * self._chunk:
            return  # it is not at an end, or has been noted before an interrupt came
        reading = self.reading
        place = len(reading.operands), len(reading.integers), len(reading.kind_of)
        self._begins.append(place)
        self.reads = self.reads and len(self.kinds) * REPEATED <= len(self.tokens)

    def finished(self, outputs: Iterable[Value]) -> Sequence[Step]:
        """Give the steps of a capture that gives these values; few of them as they are.

        Raises
        ------
        CaptureError
            Calls have been read in part, as an interrupt came, which the function has caught.
        """
        if self.whole and not self.tokens:
            return tuple(self._recent)
        reading = self.reading
        there = len(reading.operands), len(reading.integers), len(reading.kind_of)
        if not self.whole or tuple(np.array(self.lengths)[self.tokens].sum(axis=0)) != there:
            raise CaptureError(
                "a call was interrupted while it was noted, and the function went on; call it again"
            )
        self._token_of = {}
        unread = [value for step in self._recent for value in (*step.operands, *step.outputs)]
        for each in (*outputs, *unread):
            self.keep(each)
            self.keep(root_of(each))
        return self if self.reads else tuple(self)

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
        """Give the steps at some places, in the order of these."""
        if not len(places):
            return
        chunk = int(places.min()) // self._chunk
        first = chunk * self._chunk
        tokens = np.array(self.tokens[first : int(places.max()) + 1])
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
                if type(arg) is Value or may_vary(like.function, like.outputs, arg)
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

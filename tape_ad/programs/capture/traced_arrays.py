"""Arrays that note what is done with them, in the program that is being captured."""

import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import boxes
from tape_ad.base.arrays.overridable import TRACERS
from tape_ad.base.trees import flatten, map_leaves, structure_of
from tape_ad.programs.capture.traced_scalars import TracedScalar, as_python
from tape_ad.programs.capture.tracers import (
    Tracer,
    cast,
    contents,
    defers_ufuncs,
    exact_question,
    item_of,
)
from tape_ad.programs.program.program import Value
from tape_ad.record.array_interface import Absent, ArrayInterface
from tape_ad.record.array_operators import BitsInPlace
from tape_ad.record.messages.callers import OPERATORS, caller, is_at

__all__ = [
    "TracedArray",
    "as_index",
    "holds_tracer",
    "is_complex_number",
    "is_tracer",
    "plain",
    "with_plain_keys",
]

Function = Callable[..., Any]


@boxes("capture")
@define(eq=False, repr=False, weakref_slot=True)
class TracedArray(Tracer, ArrayInterface, BitsInPlace):
    """An array of a function that is being captured.

    It is a box: assigning to it changes which value it stands for, and what it shows.

    Attributes
    ----------
    data, value, capture
        As `Tracer` has them.
    origin : TracedArray or None
        For a view, whose memory it shows.
    views : list of weakref
        For what owns its memory, the views of it.
    chosen_by : tuple of captured integers
        For a view, what says which part of the memory it shows.
    """

    data: Any
    value: Value
    capture: Any
    origin: Any = None
    views: list[Any] = field(factory=list, init=False)
    chosen_by: tuple[Any, ...] = field(default=(), init=False)

    @property  # type: ignore[misc]  # isinstance looks at it after the type
    def __class__(self) -> type:
        """The type of the array, for users' ``isinstance``; this library tells the two apart."""
        ours = str(sys._getframe(1).f_globals.get("__name__")).startswith("tape_ad.")
        return type(self) if ours else type(self.data)

    @property
    def index(self) -> int:  # type: ignore[override]  # which is worked out where it is asked for
        """The number of the step that made it, for a listing."""
        values = [*self.capture.inputs]
        for step in self.capture.steps:
            values += getattr(step, "outputs", ())
        return values.index(self.value) if self.value in values else -1

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next on each axis."""
        return tuple(self.data.strides)

    @property
    def flags(self) -> Any:
        """How the array lies in memory."""
        return self.data.flags

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        return self.data.__array_namespace__(api_version=api_version)

    def guard_window(self) -> None:
        """Rely on which part of the memory a view shows, as a window does that is noted."""
        for number in self.chosen_by:
            self.capture.ask(exact_question(number.data), number)

    def __repr__(self) -> str:
        answer: str = self.capture.ask(repr, self)
        return answer

    def __hash__(self) -> int:  # type: ignore[override]  # of NumPy's numbers there is one
        if isinstance(self.data, np.generic):
            self.capture.ask(exact_question(self.data), self)
        return hash(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def item(self, *args: SupportsIndex) -> Any:
        """Give an element, as a captured number."""
        return self.capture.call(item_of, (self, *args), {})

    def tolist(self) -> Any:
        """Give nested lists of captured numbers."""
        return [part.tolist() for part in self] if self.ndim else self.item()

    def tobytes(self, order: Any = "C") -> bytes:
        """Give the numbers of one that picks elements, which are guarded then; refuse others."""
        if self.data.dtype.kind not in "iub":
            raise uncaptured("tobytes")
        self.capture.ask(contents, self)
        return bytes(self.data.tobytes(order))

    def __pow__(self, other: Any) -> Any:
        return by_operator(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return by_operator(operator.pow, other, self)

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = "unsafe", *more: Any, **options: Any
    ) -> Any:
        """Cast; see `ndarray.astype`."""
        options |= zip(("subok", "copy"), more, strict=False)
        if order != "K":
            options["order"] = order
        if casting != "unsafe":
            options["casting"] = casting
        return self.capture.call(cast, (self, np.dtype(dtype)), options)

    def fill(self, value: Any) -> None:
        """Assign a number to all elements."""
        self[...] = value

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and isinstance(inputs[0], np.complexfloating) and not kwargs:
            of_numbers = len(inputs) == 2 and is_complex_number(inputs[1])
            if of_numbers and is_at(sys._getframe(1), *OPERATORS):
                return by_operator(as_python(ufunc), *inputs)
        return Tracer.__array_ufunc__(self, ufunc, method, *inputs, **kwargs)

    # From two parents; Tracer's is meant

    __bool__ = Tracer.__bool__
    __int__ = Tracer.__int__
    __float__ = Tracer.__float__
    __complex__ = Tracer.__complex__
    __format__ = Tracer.__format__
    __round__ = Tracer.__round__


def by_operator(function: Function, x: Any, y: Any) -> Any:
    """Note one of Python's operators on arrays, where NumPy's own has quicker ways than a ufunc."""
    for each in (x, y):
        if not isinstance(each, Tracer) and not defers_ufuncs(each.__class__):
            return NotImplemented
    tracer = x if isinstance(x, Tracer) else y
    return tracer.capture.call(function, (x, y), {})


def is_complex_number(x: Any) -> bool:
    """Tell whether Python's operators on a number round in another way than ufuncs."""
    return isinstance(x.data if is_tracer(x) else x, (np.complexfloating, complex))


TRACERS.update((TracedArray, TracedScalar))


def is_tracer(x: Any) -> bool:
    """Tell whether something is captured; `isinstance` would ask a number for its class."""
    kind = type(x)
    return kind is TracedArray or kind is TracedScalar


def as_index(entry: Any) -> Any:
    """Take the bound of a slice to an integer: the shape of the result depends on it."""
    return entry.__index__() if is_tracer(entry) else entry


def plain(leaf: Any) -> Any:
    """Give the array or number behind what was captured."""
    return leaf.data if is_tracer(leaf) else leaf


def with_plain_keys(tree: Any) -> Any:
    """Give a structure in whose dicts no key is captured; as keys, they are guarded."""
    structure = structure_of(tree.__class__)
    if structure is None:
        return tree
    values = [with_plain_keys(value) for value in structure.values(tree)]
    if isinstance(tree, Mapping) and any(map(holds_key, tree)):
        keys = [map_leaves(lambda leaf, path: plain(leaf), key) for key in tree]
        return dict(zip(keys, values, strict=True))
    return structure.rebuilt(tree, values)


def holds_key(key: Any) -> bool:
    """Tell whether a key of a mapping is captured, or has something captured in it."""
    return type(key) is not str and any(map(is_tracer, flatten(key)))


def of_scalar(name: str) -> property:
    """Make an attribute that NumPy's numbers have and arrays do not, and that tells their value."""

    def found(self: TracedArray) -> Any:
        attribute = getattr(self.data, name)
        self.capture.ask(exact_question(self.data), self)
        return attribute

    return property(found)


class Uncaptured:
    """An attribute of arrays that cannot be captured; asking for it says so."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, array: Any, owner: type) -> NoReturn:
        raise uncaptured(self.name)


def uncaptured(name: str) -> AttributeError:
    """Make the error for an attribute of arrays that cannot be captured."""
    write = INSTEAD.get(name, "pass what it gives as an argument")
    return AttributeError(
        f"a compiled function cannot use the ndarray attribute .{name} ({caller()}), which no "
        f"replay can follow; {write}"
    )


INSTEAD = {
    "flat": "write x.ravel() to read, and x[...] = value to write",
    "view": "write x.astype(dtype), or x[...]",
    "sort": "write x[...] = np.sort(x)",
    "partition": "write x[...] = np.partition(x, kth)",
    "resize": "write np.resize(x, shape)",
    "put": "write x[...] = value",
}

for _name, _found in vars(ArrayInterface).items():
    if isinstance(_found, Absent) and _name not in vars(TracedArray):
        setattr(TracedArray, _name, Uncaptured(_name))

for _name in {*dir(np.float64), *dir(np.int64)} - {*dir(np.ndarray)}:
    if not _name.startswith("__"):
        setattr(TracedArray, _name, of_scalar(_name))


def holds_tracer(leaf: Any) -> bool:
    """Tell whether a leaf is captured, or a slice up to what is."""
    if type(leaf) is slice:
        return any(map(is_tracer, (leaf.start, leaf.stop, leaf.step)))
    return is_tracer(leaf)

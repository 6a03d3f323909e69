"""Interpreters: whoever answers the calls of a kind of array, and which of them a call is for.

A record, a batch, a capture, and what answers for handles that depend on nothing: each has arrays
of its own, its boxes. A call goes to the interpreter of the highest level among the boxes in its
arguments. That one computes on what its boxes hold, one level down, so that every nesting of them
is right with no case of its own.
"""

import itertools
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.overridable import joined
from tape_ad.base.trees import flatten, map_leaves, structure_of

Function = Callable[..., Any]
Options = Mapping[str, Any]
K = TypeVar("K", bound=type)

NO_OPTIONS: Options = MappingProxyType({})

enter = itertools.count(1).__next__
"""Give the next level: whatever is entered later is further in, and so are its boxes."""


class Interpreter(Protocol):
    """Whoever answers the calls of a kind of array.

    Attributes
    ----------
    level : int
        When it was entered; 0 for what depends on nothing.
    """

    level: int

    def call(self, function: Function, args: tuple[Any, ...], kwargs: Options) -> Any:
        """Compute on what the boxes hold, and box the result.

        It gives NotImplemented where an array of another library is to have the say. Boxes of
        lower levels are its constants, or refused.
        """

    def lift(self, value: Any, /) -> Any:
        """Bring in a plain value, or a box of a lower level; raise where they may not meet."""


BOX, SEQUENCE, MAPPING, SLICE = range(4)

KINDS: dict[type, int] = {list: SEQUENCE, tuple: SEQUENCE, dict: MAPPING, slice: SLICE}
"""What has to be done with an argument of a type that is no other structure."""

PLAIN_KINDS: set[type] = {
    *(np.ndarray, np.float64, np.float32, np.dtype, type),
    *(int, float, complex, bool, str, type(None), type(...)),
}
"""The types of arguments with which nothing has to be done, as far as they have been met."""

MOST = 10_000_000
"""More arguments than that come only of something that contains itself."""

MOST_KINDS = 4096
"""Programs that make types without end are not to have all of them kept alive."""


def boxes(slot: str) -> Callable[[K], K]:
    """Say of a type of arrays that its calls are answered by what stands in one of its slots."""

    def registered(kind: K) -> K:
        kind.interpreter = getattr(kind, slot)  # type: ignore[attr-defined]  # the slot itself: no call
        KINDS[kind] = BOX
        return kind

    return registered


def is_box(value: Any) -> bool:
    """Tell whether an interpreter answers the calls of an array."""
    return KINDS.get(type(value)) == BOX


def looked_through(args: Any, kwargs: Options = NO_OPTIONS) -> tuple[Any, bool]:
    """Find out whose call it is: of the highest level among the boxes in the arguments.

    Parameters
    ----------
    args, kwargs
        Boxes may stand in lists, mappings, slices and attrs classes among them.

    Returns
    -------
    found : Interpreter or None
    constants : bool
        Whether there is a box of level 0.
    """
    found: Any = None
    level = -1
    constants = False
    leaves = [*args, *kwargs.values()] if kwargs else list(args)
    for leaf in leaves:  # which grows
        kind: Any = type(leaf)
        if kind in PLAIN_KINDS:
            continue
        how = KINDS.get(kind)
        if how == BOX:
            its = leaf.interpreter
            if its is not found:
                constants = constants or its.level == 0
                if its.level > level:
                    found, level = its, its.level
            continue
        if how == SEQUENCE:
            if PLAIN_KINDS.issuperset(map(type, leaf)):
                continue
            leaves += leaf
        elif how == SLICE:
            leaves += (leaf.start, leaf.stop, leaf.step)
        elif how == MAPPING:
            leaves += leaf.values()
        elif (structure := structure_of(kind)) is not None:
            leaves += structure.values(leaf)
        elif len(PLAIN_KINDS) < MOST_KINDS:
            PLAIN_KINDS.add(kind)
        if len(leaves) > MOST:
            raise RecursionError("an argument holds too much to be looked through, or itself")
    return found, constants


def call(
    function: Function,
    args: tuple[Any, ...],
    kwargs: Options = NO_OPTIONS,
    otherwise: Function | None = None,
) -> Any:
    """Make a call, by whoever answers it: what the protocols of every kind of box end in.

    Parameters
    ----------
    function : callable
    args, kwargs
        As the user called it.
    otherwise : callable, optional
        ``otherwise(function, args, kwargs)`` is for calls in which no box is found, though one
        was asked: it may stand in an iterator.

    Returns
    -------
    any
        NotImplemented where another library is to have the say.
    """
    found, constants = looked_through(args, kwargs)
    if found is None:
        return function(*args, **kwargs) if otherwise is None else otherwise(function, args, kwargs)
    if constants and found.level > 0:
        args = unwrapped(args)
        if kwargs:
            kwargs = {k: v if k == "out" else unwrapped(v) for k, v in kwargs.items()}
    if type(function) is np.ufunc:
        args = tuple(map(joined, args))  # a list of handles is an operand like an array
    return found.call(function, args, kwargs)


# What depends on nothing is its plain array to everybody else


def unwrapped(tree: Any) -> Any:
    """Give the plain arrays in the place of boxes of level 0, in a tree and in the slices in it.

    Where there are none, it is the very same tree.
    """
    return map_leaves(plain, tree) if any(map(holds_constant, flatten(tree))) else tree


def is_constant(leaf: Any) -> bool:
    """Tell whether a leaf is a box of level 0."""
    return KINDS.get(type(leaf)) == BOX and leaf.interpreter.level == 0


def holds_constant(leaf: Any) -> bool:
    """Tell whether a leaf is a box of level 0, or a slice with one in it."""
    if type(leaf) is slice:
        return any(map(is_constant, (leaf.start, leaf.stop, leaf.step)))
    return is_constant(leaf)


def plain(leaf: Any, path: str = "") -> Any:
    """Give the plain array of a box of level 0; anything else as it is."""
    if is_constant(leaf):
        return leaf.data
    if type(leaf) is slice and holds_constant(leaf):  # which may be written to afterwards
        ends = (leaf.start, leaf.stop, leaf.step)
        return slice(*[end if end is None else operator.index(end) for end in ends])
    return leaf


def with_plain_ends(key: Any) -> Any:
    """Give slices in a key plain numbers for their ends, where these are values of a batch."""
    if type(key) is tuple:
        return tuple(map(with_plain_ends, key))
    ends = (key.start, key.stop, key.step) if type(key) is slice else ()
    if not any(hasattr(end, "batch_here") for end in ends):
        return key
    return slice(*[end if end is None else operator.index(end) for end in ends])


@define(eq=False, repr=False)
class Batch:
    """One run of a function over a batch of arguments.

    What is of a lower level is the same for each of the batch, and stays as it is.

    Attributes
    ----------
    size : int
        How many there are.
    answer : callable
        ``answer(batch, function, args, kwargs)`` makes a call that holds arrays of the batch.
    loops : callable
        ``loops(name)`` is told what is done one after the other.
    spread : callable
        ``spread(batch, array)`` gives a plain array as one of the batch.
    level : int
        When it was entered, beside other interpreters.
    ended : bool
        Whether the function has returned.
    counted : array of int or None
        The places of those that what is computed is right for, where others have gone another way.
    others : list of array of int
        The places of those, for each other answer that they gave.
    again : list of array of int or None
        The places of those that have to be computed again instead, if there are any.
    question : str
        Which line has asked for what is another for some of them.
    asked : bool
        Whether a library has asked for values of one, and has got an error which may be caught.
    given : list
        The arguments.
    written : list of array
        The memory that was assigned to.
    parted : list of pairs of weak references to arrays and to what owns their memory
        Arrays that share memory when there is one, but not here, where they were made in a loop.
    picked : list
        Copies of parts that are at other places in each, which are views when there is one.
    """

    size: int
    answer: Callable[..., Any]
    loops: Callable[[str], None]
    spread: Callable[..., Any]
    level: int = field(factory=enter, init=False)
    ended: bool = field(default=False, init=False)
    counted: Any = field(default=None, init=False)
    others: list[Any] = field(factory=list, init=False)
    again: list[Any] | None = field(default=None, init=False)
    question: str = field(default="", init=False)
    asked: bool = field(default=False, init=False)
    given: list[Any] = field(factory=list, init=False)
    written: list[Any] = field(factory=list, init=False)
    parted: list[Any] = field(factory=list, init=False)
    picked: list[Any] = field(factory=list, init=False)

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call that holds arrays of the batch."""
        return self.answer(self, function, args, kwargs)

    def lift(self, array: Any) -> Any:
        """Give an array that is the same for each as one of the batch."""
        return self.spread(self, array)

"""What of a record decides about patterns, so that a pattern is taken anew where that changes."""

import functools
from collections.abc import Callable, Hashable, Iterable
from types import FunctionType
from typing import Any

import attrs
import numpy as np

from tape_ad.core.arena import Arena
from tape_ad.linear_maps import Index
from tape_ad.structure.blocks import maps_of, steps_of
from tape_ad.transforms.blocks import BlockPartial

__all__ = ["fingerprint"]


def fingerprint(arena: Arena) -> list[Hashable]:
    """List the functions, parents and shapes of a record's nodes, and what its maps pick by.

    That is all of a map but its numbers: axes, lengths, keys and integer arrays. Two records with
    equal lists have equal patterns.
    """
    nodes: list[Hashable] = [tuple(arena.parents), tuple(arena.starts), tuple(arena.shapes)]
    nodes += [name_of(function) for function in arena.functions]
    nodes += [structure(partial) for partial in arena.partials]
    return nodes


def name_of(function: Any) -> Hashable:
    """Name a function; the ufuncs of NumPy 2.0, and blocks of them, have the short name alone."""
    short = getattr(function, "__name__", function)
    name: Hashable = getattr(function, "__qualname__", short)
    return name


def structure(held: Any, picks: bool = False) -> Hashable:
    """Give what is not a number of a map, or of something that a map holds.

    Parameters
    ----------
    held : any
    picks : bool
        Whether an array of bools picks elements.
    """
    return reader(type(held))(held, picks)


Reader = Callable[[Any, bool], Hashable]

NUMBERS = (float, complex, np.generic)


def reader(kind: type) -> Reader:
    """Give what reads the structure of things of a kind."""
    found = READERS.get(kind)
    if found is None:
        found = READERS[kind] = reader_for(kind)
    return found


READERS: dict[type, Reader] = {}
"""Kept for good: there are few kinds, and looking at one takes longer than reading it."""


def reader_for(kind: type) -> Reader:
    """Find out how the structure of what is of a kind is read."""
    if hasattr(kind, "__array_function__"):
        return of_array
    if issubclass(kind, NUMBERS):
        return nothing
    if kind is BlockPartial:
        return of_block
    parts = next((own for base, own in PARTS.items() if issubclass(kind, base)), None)
    if parts is None and attrs.has(kind):
        parts = attributes([each.name for each in attrs.fields(kind)])
    if parts is None and hasattr(kind, "tocsr"):
        parts = of_matrix
    return plain if parts is None else whole(kind, parts)


def nothing(_held: Any, _picks: bool) -> Hashable:
    """Read nothing of what is a number."""
    return None


def of_array(held: Any, picks: bool) -> Hashable:
    """Read the numbers that pick elements, and no others."""
    if held.dtype.kind in "iu" or (picks and held.dtype.kind == "b"):
        return (held.shape, held.dtype.str, held.tobytes())  # a program that is captured notes it
    return None


def of_block(partial: BlockPartial, picks: bool) -> Hashable:
    """Read the records and maps that a block holds, once for all of its operands."""
    if partial.position != partial.use.last:
        return None
    steps, maps = steps_of(partial), maps_of(partial)
    if steps is not None:
        return tuple(tuple(fingerprint(step.traced.record)) for step in steps)
    if maps is None:
        return None
    known = [each if hasattr(each, "pattern") else type(each) for each in maps]
    return tuple(structure(each, picks) for each in known)


def plain(held: Any, _picks: bool) -> Hashable:
    """Read what is not looked into."""
    return held if isinstance(held, Hashable) else type(held).__name__


def whole(kind: type, parts: Callable[[Any], Iterable[Any]]) -> Reader:
    """Make what reads all parts of something."""

    def read(held: Any, picks: bool) -> Hashable:
        picks = picks or kind is Index
        return (kind, *[reader(type(part))(part, picks) for part in parts(held)])

    return read


def attributes(names: list[str]) -> Callable[[Any], Iterable[Any]]:
    """Make what gives the attributes of those names."""
    return lambda held: [getattr(held, name) for name in names]


def of_matrix(held: Any) -> Iterable[Any]:
    """List what a sparse matrix has, but its numbers."""
    entries = held.tocoo()
    return held.shape, entries.row, entries.col


PARTS: dict[Any, Callable[[Any], Iterable[Any]]] = {
    (tuple, list): lambda held: held,
    slice: lambda held: (held.start, held.stop, held.step),
    # another one each time that a maker runs
    FunctionType: lambda held: (
        held.__code__,
        *(cell.cell_contents for cell in held.__closure__ or ()),
    ),
    functools.partial: lambda held: (held.func, held.args, tuple(sorted(held.keywords.items()))),
}
"""What things are made of."""

"""What of a record decides about patterns, so that a pattern is taken anew where that changes."""

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from types import FunctionType
from typing import Any

import attrs
import numpy as np

from tape_ad.record.arena import Arena
from tape_ad.rules.maps import Deferred, Shape
from tape_ad.rules.maps.patterns import ALL, READS, pattern_of
from tape_ad.sparse_derivatives.blocks import maps_of, steps_of
from tape_ad.transforms.blocks import BlockPartial

__all__ = ["structure_key"]


def structure_key(arena: Arena) -> list[Hashable]:
    """List the functions, parents and shapes of a record's nodes, and what its patterns read.

    Of a map that is what stands in `READS`: axes, lengths, keys, the indices that elements are
    picked by. Where a map does not say what its pattern reads, the pattern itself is listed. Two
    records with equal lists have equal patterns.
    """
    nodes: list[Hashable] = [tuple(arena.parents), tuple(arena.starts), tuple(arena.shapes)]
    nodes += [name_of(function) for function in arena.functions]
    try:
        nodes += [structure(partial) for partial in arena.partials]
    except Unsaid:
        for node, shape in enumerate(arena.shapes):
            for edge in range(*arena.starts[node : node + 2]):
                parent = arena.shapes[arena.parents[edge]]
                nodes.append(structure_or_pattern(arena.partials[edge], parent, shape))
    return nodes


class Unsaid(Exception):  # noqa: N818 - it is no error, and never leaves this module
    """A map does not say what its pattern reads."""


def name_of(function: Any) -> Hashable:
    """Name a function; the ufuncs of NumPy 2.0, and blocks of them, have the short name alone."""
    short = getattr(function, "__name__", function)
    name: Hashable = getattr(function, "__qualname__", short)
    return name


def structure(partial: Any) -> Hashable:
    """Return all attributes of a partial that its sparsity pattern depends on.

    Raises
    ------
    Unsaid
        Where that is not known of a map, or of one that it is made of.
    """
    return None if is_elementwise(type(partial)) else read(partial)


def structure_or_pattern(partial: Any, parent: Shape, node: Shape) -> Hashable:
    """Give what a partial's pattern reads of it, or else the pattern."""
    try:
        return structure(partial)
    except Unsaid:
        maps = maps_of(partial) if type(partial) is BlockPartial else None
        pattern = pattern_of(partial if maps is None else maps[partial.position], parent, node)
        return read(pattern.rows), read(pattern.columns)


Reader = Callable[[Any], Hashable]


def read(held: Any) -> Hashable:
    """Read all that a map, or something in it, has, but real and complex numbers."""
    kind = type(held)
    reader = READERS.get(kind)
    if reader is None:
        reader = READERS[kind] = reader_for(kind)
    return reader(held)


READERS: dict[type, Reader] = {}
"""Kept for good: there are few kinds, and looking at one takes longer than reading it."""


def reader_for(kind: type) -> Reader:
    """Find out how what is of a kind is read."""
    if is_array(kind):
        return of_array
    if issubclass(kind, (float, complex, np.inexact)):
        return of_number
    if kind is BlockPartial:
        return of_block
    if kind is Deferred:
        return of_deferred
    if hasattr(kind, "push") and hasattr(kind, "pull"):
        return reader_for_map(kind)
    parts = next((own for base, own in PARTS.items() if issubclass(kind, base)), None)
    if parts is None and attrs.has(kind):
        parts = attributes([each.name for each in attrs.fields(kind)])
    if parts is None and hasattr(kind, "tocsr"):
        parts = of_matrix
    return plain if parts is None else whole(kind, parts)


def reader_for_map(kind: type) -> Reader:
    """Find out how a map's pattern, which may be that of a dense one, reads it."""
    pattern = getattr(kind, "pattern", None)
    names = () if pattern is None else READS.get(pattern)
    if names is None:
        return unsaid
    if ALL in names:
        names = tuple(each.name for each in attrs.fields(kind))
    return whole(kind, attributes(names))


def unsaid(_held: Any) -> Hashable:
    """Tell that a map does not say what its pattern reads."""
    raise Unsaid


def is_elementwise(kind: type) -> bool:
    """Tell whether partials of a kind are factors, whose pattern is no matter of what they hold.

    A number is one as well: what is a number in a plain call may be an array in a captured one.
    """
    return is_array(kind) or issubclass(kind, (int, float, complex, np.generic))


def is_array(kind: type) -> bool:
    """Tell whether things of a kind are arrays."""
    return hasattr(kind, "__array_function__")


def of_array(held: Any) -> Hashable:
    """Read the shape of an array, and the numbers that may pick elements."""
    if held.dtype.kind in "iub":
        return (held.shape, held.dtype.str, held.tobytes())  # a program that is captured notes it
    shape: Hashable = held.shape
    return shape


def of_number(held: Any) -> Hashable:
    """Tell that there is a number."""
    return ()


def of_deferred(deferred: Deferred) -> Hashable:
    """Read the map that is made, unless shapes decide about its pattern."""
    return Deferred if deferred.by_shapes is not None else read(deferred.made)


def of_block(partial: BlockPartial) -> Hashable:
    """Read the records and maps that a block holds, once for all of its operands."""
    if partial.position != partial.use.last:
        return None
    steps, maps = steps_of(partial), maps_of(partial)
    if steps is not None:
        return tuple(tuple(structure_key(step.traced.record)) for step in steps)
    return None if maps is None else tuple(map(structure, maps))


def plain(held: Any) -> Hashable:
    """Read what is not looked into; what cannot be compared is never equal to another."""
    return held if isinstance(held, Hashable) else object()


def whole(kind: type, parts: Callable[[Any], Iterable[Any]]) -> Reader:
    """Make what reads all parts of something."""

    def read_parts(held: Any) -> Hashable:
        return (kind, *[read(part) for part in parts(held)])

    return read_parts


def attributes(names: Iterable[str]) -> Callable[[Any], Iterable[Any]]:
    """Make what gives the attributes of those names, which may be attributes of attributes."""
    getters = [attrgetter(name) for name in names]
    return lambda held: [get(held) for get in getters]


def of_matrix(held: Any) -> Iterable[Any]:
    """List what a sparse matrix has, but its numbers."""
    entries = held.tocoo()
    return held.shape, entries.row, entries.col


PARTS: dict[Any, Callable[[Any], Iterable[Any]]] = {
    (tuple, list): lambda held: held,
    dict: lambda held: itertools.chain.from_iterable(held.items()),
    slice: lambda held: (held.start, held.stop, held.step),
    # another one each time that a maker runs
    FunctionType: lambda held: (
        held.__code__,
        *(cell.cell_contents for cell in held.__closure__ or ()),
    ),
    functools.partial: lambda held: (held.func, held.args, tuple(sorted(held.keywords.items()))),
}
"""What things are made of."""

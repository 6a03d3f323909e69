"""What a key selects: a part of an array, or elements that integers lead to."""

import operator
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.program.program import Value, values_in

__all__ = ["Picked", "around", "entries_of", "has_arrays", "picked"]


@frozen
class Picked:
    """Elements that integers lead to.

    Attributes
    ----------
    base : MemRef
        What they are picked from, of the shape of what is picked: with strides of 0 along the axes
        that the integers are for.
    arrays : list of MemRef
        The integers, each array as it is.
    indices : list of MemRef
        The same, of the shape of what is picked.
    geometry : list of int
        For each of them the length of their axis, and its stride.
    """

    base: MemRef
    arrays: list[MemRef]
    indices: list[MemRef]
    geometry: list[int]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is picked."""
        return self.base.shape


def entries_of(key: Any) -> tuple[Any, ...]:
    """List the entries of a key."""
    return key if type(key) is tuple else (key,)


def is_basic(entry: Any) -> bool:
    """Tell whether an entry of a key is one of basic indexing, without values in it."""
    if entry is None or entry is Ellipsis:
        return True
    if type(entry) is slice:
        return not values_in((entry,))
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)


def has_arrays(key: Any) -> bool:
    """Tell whether a key is more than basic indexing."""
    return not all(map(is_basic, entries_of(key)))


def integers(lowering: Lowering, entry: Any) -> MemRef:
    """Give the memory reference of an entry's integers, as int64."""
    if type(entry) is Value:
        ref = lowering.ref(entry)
    elif isinstance(entry, (list, np.ndarray)) and not values_in((entry,)):
        ref = lowering.constant(np.array(entry))
    else:
        raise NotLowerable(f"{type(entry).__name__} in a key")
    if ref.dtype.kind not in "iu":
        raise NotLowerable(f"{ref.dtype} in a key")
    if ref.dtype == np.int64:
        return ref
    wide = lowering.temporary(ref.shape, np.int64)
    nest = lowering.nest(ref.shape)
    nest.write(nest.read(ref), wide)
    return wide


def picked(lowering: Lowering, ref: MemRef, key: Any) -> Picked:
    """Find out what a key with arrays of integers selects.

    Parameters
    ----------
    lowering : Lowering
    ref : MemRef
        Of the array.
    key : any
    """
    entries = list(entries_of(key))
    axes = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if not any(entry is Ellipsis for entry in entries):
        entries.append(Ellipsis)
    where = next(k for k, entry in enumerate(entries) if entry is Ellipsis)
    missing = len(ref.shape) - axes
    if missing < 0:
        raise NotLowerable("a key for more axes")
    arrays = {k: integers(lowering, e) for k, e in enumerate(entries) if not is_basic(e)}
    basic = tuple([slice(None) if k in arrays else entry for k, entry in enumerate(entries)])
    part = ref.part(basic)
    advanced: list[int] = []  # the positions of what NumPy takes for arrays among the entries
    mine: list[int] = []  # the axes of `part` that integers are for
    axis = rest = 0
    before: int | None = None
    for k, entry in enumerate(entries):
        if k in arrays or isinstance(entry, (int, np.integer)):
            advanced.append(k)
            before = rest if before is None else before
        if k in arrays:
            mine.append(axis)
            axis += 1
        elif not isinstance(entry, (int, np.integer)):
            count = missing if k == where else 1
            axis, rest = axis + count, rest + count
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    found = np.broadcast_shapes(*(index.shape for index in arrays.values()))
    first = (before or 0) if together else 0
    others = [k for k in range(len(part.shape)) if k not in mine]
    geometry = [n for k in mine for n in (part.shape[k], part.strides[k])]
    lengths = [part.shape[k] for k in others]
    shape = (*lengths[:first], *found, *lengths[first:])
    strides = [part.strides[k] for k in others]
    base = part.along(shape, (*strides[:first], *(0 for _ in found), *strides[first:]))
    behind = len(others) - first
    given = list(arrays.values())
    indices = [spread_index(each.broadcast(found), first, behind, shape) for each in given]
    return Picked(base, given, indices, geometry)


def spread_index(ref: MemRef, first: int, behind: int, shape: tuple[int, ...]) -> MemRef:
    """Give the memory reference of integers for each element that they lead to."""
    return ref.along(shape, (*(0,) * first, *ref.strides, *(0,) * behind))


def around(ref: MemRef, key: Any) -> list[MemRef] | None:
    """Divide what a basic key leaves out of an array; None where that is not a few boxes.

    Parameters
    ----------
    ref : MemRef
    key : any
        A basic key.
    """
    entries = [entry for entry in entries_of(key) if entry is not None]
    if Ellipsis not in entries:
        entries.append(Ellipsis)
    at = entries.index(Ellipsis)
    missing = len(ref.shape) - len(entries) + 1
    entries[at : at + 1] = [slice(None)] * missing
    spans = [span_of(entry, length) for entry, length in zip(entries, ref.shape, strict=True)]
    if any(span is None for span in spans):
        return None
    boxes: list[MemRef] = []
    done: list[slice] = []
    for span, length in zip(spans, ref.shape, strict=True):
        assert span is not None  # noqa: S101 - for mypy
        for start, stop in ((0, span[0]), (span[1], length)):
            if start < stop:
                boxes.append(ref.part((*done, slice(start, stop))))
        done.append(slice(*span))
    return boxes


def span_of(entry: Any, length: int) -> tuple[int, int] | None:
    """Give the bounds of what an entry of a basic key selects of an axis, if it has no gaps."""
    if type(entry) is slice:
        start, stop, step = entry.indices(length)
        return (start, max(start, stop)) if step == 1 else None
    index = operator.index(entry)
    index += length if index < 0 else 0
    return index, index + 1

"""Copy elision: what is only copied into a part of a larger array is made there."""

import math
from collections.abc import Container, Iterator, Sequence
from typing import Any

from attrs import evolve

from tape_ad.programs.engines.native.fusion import FusedNest, Slot
from tape_ad.programs.engines.native.ir import (
    ExternalCall,
    LoopCall,
    LoopNest,
    MemRef,
    Reduction,
    RuntimeCheck,
    is_c_order,
)
from tape_ad.programs.engines.native.schedule.tiling import Tiles
from tape_ad.programs.engines.storage import size_of
from tape_ad.programs.program import Value

LEAST = 16 * 1024
"""From how many bytes on it matters whether an array is written twice."""


def without_copies(row: Sequence[Slot], others: Container[Value]) -> list[Slot]:
    """Leave out copies of whole arrays to where these may be made.

    Parameters
    ----------
    row : sequence of Slot
        A run of native work.
    others : container of Value
        What is read or written outside of the run, too.
    """
    slots: list[Any] = list(row)
    for number in range(len(slots)):
        for source, target in [*copied_by(slots[number])]:
            if source.root not in others and may_be_made_there(slots, number, source, target):
                slots[number] = without(slots[number], source, target)
                slots = [made_there(slot, source.root, target) for slot in slots]
    return [slot for slot in slots if not is_copy(slot) or slot.written_roots]


def is_copy(slot: Any) -> bool:
    """Tell whether a slot does nothing but store what it reads."""
    return isinstance(slot, FusedNest) and not slot.ops and not slot.reductions


def copied_by(slot: Any) -> Iterator[tuple[MemRef, MemRef]]:
    """List the large arrays that a slot copies as a whole, with where it puts their elements."""
    for arg, target in slot.writes if is_copy(slot) else ():
        if type(arg) is int:
            source = slot.reads[~arg]
            size = math.prod(source.shape) * source.dtype.itemsize
            whole = source.offset == 0 and size == size_of(source.root) >= LEAST
            in_order = is_c_order(source) and is_c_order(target)
            if whole and in_order and source.dtype == target.dtype:
                yield source, target


def may_be_made_there(slots: Sequence[Any], number: int, source: MemRef, target: MemRef) -> bool:
    """Tell whether an array is made for one copy alone, to where nothing else is until then."""
    users = [k for k, slot in enumerate(slots) if any(r.root is source.root for r in slot.refs)]
    if not users:  # another copy by the same slot was left out
        return False
    first = slots[users[0]]
    once = [ref.root for ref in slots[number].refs].count(source.root) == 1
    if users[-1] != number or not once or source.root in first.read_roots:
        return False
    begin, end = span_of(target)
    spans = [
        span_of(ref) if is_plain(slot, ref) else (begin, end)
        for slot in slots[users[0] : number + 1]
        for ref in slot.refs
        if ref.root is target.root
    ]
    return sum(low < end and begin < high for low, high in spans) == 1  # which is the copy


def is_plain(slot: Any, ref: MemRef) -> bool:
    """Tell whether each iteration of a slot has an element of a reference to itself."""
    steps = [stride for length, stride in zip(ref.shape, ref.strides, strict=True) if length > 1]
    return isinstance(slot, FusedNest) and 0 not in steps


def span_of(ref: MemRef) -> tuple[int, int]:
    """Say between which bytes of its memory the elements of a reference lie."""
    ways = [(n - 1) * stride for n, stride in zip(ref.shape, ref.strides, strict=True)]
    low = ref.offset + sum(way for way in ways if way < 0)
    return low, ref.offset + sum(way for way in ways if way > 0) + ref.dtype.itemsize


def without(slot: Any, source: MemRef, target: MemRef) -> FusedNest:
    """Leave out one of the copies that a slot makes."""
    rest = FusedNest(slot.shape)
    for arg, ref in slot.writes:
        given = slot.reads[~arg] if type(arg) is int else arg
        if (given, ref) != (source, target):
            rest.write(rest.read(given) if isinstance(given, MemRef) else given, ref)
    return rest


def made_there(slot: Any, root: Value, target: MemRef) -> Any:
    """Let a slot find an array in the memory that it has been copied to."""

    def ref_of(ref: MemRef) -> MemRef:
        if ref.root is not root:
            return ref
        offset = target.offset + ref.offset
        return MemRef(target.root, offset, ref.shape, ref.strides, ref.dtype)

    if not any(ref.root is root for ref in slot.refs):
        return slot
    if isinstance(slot, LoopCall):
        slot = evolve(slot, places={name: ref_of(ref) for name, ref in slot.places.items()})
        if isinstance(slot, Tiles) and root in slot.given:
            slot = evolve(slot, given=slot.given - {root} | {target.root})
        return slot
    if isinstance(slot, RuntimeCheck):
        return evolve(slot, ref=ref_of(slot.ref))
    reads = [ref_of(ref) for ref in slot.reads]
    if isinstance(slot, ExternalCall):
        return evolve(slot, reads=reads, writes=[ref_of(ref) for ref in slot.writes])
    assert isinstance(slot, LoopNest)  # noqa: S101 - for mypy
    writes = [(arg, ref_of(ref)) for arg, ref in slot.writes]
    reductions = [Reduction(each.ufunc, each.arg, ref_of(each.ref)) for each in slot.reductions]
    return evolve(slot, reads=reads, writes=writes, reductions=reductions)

"""Tiling across nests: what goes over one long axis is done for a tile of it after the other.

Nests of different shapes are no single nest, and what one hands over to the next would go through
memory. Where each element of an axis is computed of the same element alone, whatever the nest, all
nests do a few elements of the axis before the next few, and what they hand over stays in the cache;
what nobody else reads has room for one tile.
"""

import math
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.engines.native.codegen.loops import lanes_of
from tape_ad.programs.engines.native.fusion import FusedNest, Slot
from tape_ad.programs.engines.native.ir import (
    Argument,
    LoopCall,
    LoopNest,
    MemRef,
    Reduction,
    is_external,
    iteration_space,
    kept_as,
)
from tape_ad.programs.engines.native.schedule.loops import (
    LoopBody,
    LoopPart,
    moves_between,
    words_of,
)
from tape_ad.programs.engines.storage import size_of
from tape_ad.programs.program import Call, Guard, Value

LARGE = 2 * 1024 * 1024
"""From how many bytes on a group of nests is divided: fewer stay in the cache as they are."""

CACHED = 256 * 1024
"""About how many bytes the nests touch for one tile."""

LEAST = 16
"""How many elements of the axis a tile has at least."""

SHARES = 16
"""How many tiles there are at least for each of several threads: the last one is done alone."""


@frozen(eq=False)
class Tiles(LoopCall):
    """Nests that are done for one tile of an axis after the other.

    Attributes
    ----------
    given : frozenset of Value
        Whose memory is read as it was before.
    """

    given: frozenset[Value]
    in_any_order: ClassVar[bool] = True

    @property
    def read_roots(self) -> set[Value]:
        """The values whose memory is read."""
        return set(self.given)


def tiled(row: Sequence[Slot], needed: Iterable[Value], threads: int = 1) -> list[Slot]:
    """Divide groups of nests of a run into tiles, where that keeps what they touch in the cache.

    Parameters
    ----------
    row : sequence of Slot
        A run of native work.
    needed : iterable of Value
        What others need of what it writes, or have written before.
    threads : int
        How many may share the tiles.
    """
    nests = [slot for slot in row if isinstance(slot, FusedNest)]
    touched = {ref.root for nest in nests for ref in nest.refs}
    extent = longest_in_common(nests) if sum(map(size_of, touched)) >= LARGE else 0
    if extent < 2 * LEAST:
        return list(row)
    uses, others = uses_of(row), set(needed)
    made: list[Slot] = []
    for group in grouped(row, extent):
        tiles = group.in_tiles(uses, others, threads)
        if not tiles and group.later:  # what it would keep for them is too much
            smaller = grouped(group.slots, extent, ends=False)
            for each in smaller:
                made += each.in_tiles(uses, others, threads) or each.slots
        else:
            made += tiles or group.slots
    return made


def grouped(row: Iterable[Slot], extent: int, ends: bool = True) -> "list[Group]":
    """Divide a run into groups of nests that have an axis in common, and single slots.

    Parameters
    ----------
    row : iterable of Slot
    extent : int
        The length of the axis.
    ends : bool
        Whether nests may end in reductions over the axis, which are done behind the group.
    """
    groups: list[Group] = []
    for slot in row:
        if not (groups and groups[-1].take(slot)):
            groups.append(Group(extent, ends))
            groups[-1].begin(slot)
    return groups


def longest_in_common(nests: Iterable[FusedNest]) -> int:
    """Find the length of the axis that most of the work goes over; 0 where none is long."""
    work: dict[int, int] = {}
    for nest in nests:
        for length in set(nest.shape):
            work[length] = work.get(length, 0) + math.prod(nest.shape) * nest.operands
    return max((length for length in work if length >= 2 * LEAST), key=work.__getitem__, default=0)


def uses_of(row: Iterable[Slot]) -> Counter[Value]:
    """Count how many slots of a run read or write what."""
    uses: Counter[Value] = Counter()
    for slot in row:
        assert not isinstance(slot, (Call, Guard))  # noqa: S101 - a run is native work alone
        uses.update(set(slot.read_roots) | set(slot.written_roots))
    return uses


UNALIGNED = -1
"""Stands for an axis of memory where elements of the common axis do not keep to themselves."""


@define(eq=False)
class Group:
    """Nests in a row with an axis in common.

    Attributes
    ----------
    extent : int
        The length of the axis.
    ends : bool
        Whether nests may end in reductions over the axis.
    slots : list of Slot
        What is in it; where that is no such nest, it is alone.
    nests : list of (FusedNest, int)
        Each with the place of the axis in its shape, and without such reductions.
    later : list of FusedNest
        Those reductions, which are done behind all tiles.
    """

    extent: int
    ends: bool
    slots: list[Slot] = field(factory=list)
    nests: list[tuple[FusedNest, int]] = field(factory=list)
    later: list[FusedNest] = field(factory=list)
    _written: set[Value] = field(factory=set)
    _aligned: dict[Value, int] = field(factory=dict)

    def begin(self, slot: Slot) -> None:
        """Take the first slot in, whatever it is."""
        if not self.take(slot):
            self.slots.append(slot)

    def take(self, slot: Slot) -> bool:
        """Take a slot in if it is a nest with the axis, whose elements keep to themselves."""
        if not isinstance(slot, FusedNest) or len(self.nests) < len(self.slots):
            return False
        touched = slot.read_roots | slot.written_roots
        if any(not touched.isdisjoint(nest.written_roots) for nest in self.later):
            return False
        for axis, length in enumerate(slot.shape):
            if length != self.extent:
                continue
            nest, ends = without_ends(slot, axis) if self.ends else (slot, [])
            found = self._found(nest, axis)
            own = nest.written_roots
            if any(
                at == UNALIGNED and (root in own or root in self._written)
                for root, at in found.items()
            ):
                continue
            self._written |= own
            self._aligned |= found
            self.slots.append(slot)
            self.nests.append((nest, axis))
            self.later += ends
            return True
        return False

    def _found(self, nest: FusedNest, axis: int) -> dict[Value, int]:
        """Say of all memory that a nest touches, which axis of it is the common one."""
        aligned: dict[Value, int] = {}
        gathered = nest.gathered
        for ref in nest.refs:
            found = UNALIGNED if ref in gathered else axis_of(ref, axis)
            before = aligned.get(ref.root, self._aligned.get(ref.root, found))
            aligned[ref.root] = found if found == before else UNALIGNED
        return aligned

    def in_tiles(self, uses: Counter[Value], others: Container[Value], threads: int) -> list[Slot]:
        """Divide the nests, if they touch much memory; else give nothing.

        Parameters
        ----------
        uses : Counter of Value
            How many slots of the run read or write what.
        others : container of Value
            What is read or written outside of the run, too.
        threads : int
            How many may share the tiles.
        """
        total = sum(size_of(root) for root, axis in self._aligned.items() if axis != UNALIGNED)
        size = CACHED * self.extent // max(total, 1)
        if threads > 1:
            size = min(size, self.extent // (SHARES * threads))
        size = max(size // LEAST, 1) * LEAST
        count, rest = divmod(self.extent, size)
        if len(self.slots) < 2 or total < LARGE or count < 2:
            return []
        own, fresh = uses_of(self.slots), self._fresh()
        kept = {root for nest in self.later for root in nest.read_roots}
        mine = {v for v in fresh - kept if v not in others and uses[v] == own[v]}
        if sum(map(size_of, kept)) > sum(map(size_of, mine)) / 2:
            return []
        outside = [root for root in self._aligned if root not in mine]
        numbers = {root: number for number, root in enumerate(outside, start=2)}
        last = (count - 1) * size  # where there is a rest, the last tile has it too
        starts = [(0, size, count - (rest > 0)), *[(last, size + rest, 1)] * (rest > 0)]
        made = [self._part(mine, numbers, *each) for each in starts]
        parts = [part for part in made if part is not None]
        if len(parts) < len(made):
            return []
        places = {root: MemRef.whole(root) for root in outside}
        read = {root for nest, _ in self.nests for root in nest.read_roots}
        written = frozenset(self._written - mine)
        tiles = Tiles(LoopBody(parts, []), places, written, 0, frozenset(read - fresh))
        return [tiles, *self.later]

    def _part(
        self, mine: set[Value], numbers: dict[Value, int], start: int, size: int, count: int
    ) -> LoopPart | None:
        """Restrict the nests to so many tiles; None if a reduction would go in another order.

        What is `mine` gets memory for one tile.
        """
        own = {root: tile_of(root, self._aligned[root], size) for root in mine}
        first = [restricted(nest, axis, own, start, size) for nest, axis in self.nests]
        if not all(map(in_same_order, (nest for nest, _ in self.nests), first)):
            return None
        words = words_of(first, numbers)
        moves: list[tuple[int, int]] = []
        if count > 1:
            tiles = {tile: tile for tile in own.values()}
            pairs = zip(first, self.nests, strict=True)
            second = [restricted(nest, axis, tiles, size, size) for nest, (_, axis) in pairs]
            moves = moves_between(words, words_of(second, numbers), 1)
        return LoopPart([*first], {}, count, 1, len(words), moves, 0)

    def _fresh(self) -> set[Value]:
        """Find what is written before it is read."""
        read: set[Value] = set()
        fresh: set[Value] = set()
        for nest, _ in self.nests:
            read |= nest.read_roots - fresh
            fresh |= nest.written_roots - read
        return fresh


def without_ends(nest: FusedNest, axis: int) -> tuple[FusedNest, list[FusedNest]]:
    """Leave out reductions over an axis, and give a nest that does them of what is stored for it.

    Where that would not do them in the same order, the nest stays as it is.
    """
    over = [each for each in nest.reductions if not each.ref.strides[axis]]
    if not over or any(map(is_external, nest.ops)):
        return nest, []
    end = FusedNest(nest.shape)
    stored: dict[Argument, MemRef] = {}
    for each in over:
        if each.arg not in stored:
            stored[each.arg] = MemRef.new(nest.shape, nest.dtype_of(each.arg))
        end.reductions.append(evolve(each, arg=end.read(stored[each.arg])))
    rest = [each for each in nest.reductions if each.ref.strides[axis]]
    begin = evolve(nest, writes=[*nest.writes, *stored.items()], reductions=rest)
    as_before = order_of(nest, over) == order_of(end, over)
    if not as_before or order_of(nest, rest) != order_of(begin, rest):
        return nest, []
    return begin, [end]


def order_of(nest: FusedNest, reductions: Sequence[Reduction]) -> Any:
    """Say in which order a nest does reductions: how many lanes, and how it goes over its space."""
    refs, results = nest.refs, {each.ref for each in reductions}
    lanes = lanes_of([*(ref.dtype for ref in nest.reads), *(op.dtypes[-1] for op in nest.ops)])
    space = iteration_space(nest.shape, [ref.strides for ref in refs])
    ways = zip(refs, space.outer, space.steps, strict=True)
    return lanes, space.dims, space.length, [way for ref, *way in ways if ref in results]


def restricted(
    nest: FusedNest, axis: int, own: dict[Value, Value], start: int, size: int
) -> FusedNest:
    """Let a nest go over some elements of an axis; `own` memory has room for so many alone.

    What is in such memory already, stays there.
    """
    shape = (*nest.shape[:axis], size, *nest.shape[axis + 1 :])

    def part(ref: MemRef) -> MemRef:
        tile = own.get(ref.root)
        if tile is None:
            offset = ref.offset + start * ref.strides[axis]
            return MemRef(ref.root, offset, shape, ref.strides, ref.dtype)
        return ref if tile is ref.root else moved(ref, tile, shape)

    return evolve(
        nest,
        shape=shape,
        reads=list(map(part, nest.reads)),
        writes=[(arg, part(ref)) for arg, ref in nest.writes],
        reductions=[Reduction(each.ufunc, each.arg, part(each.ref)) for each in nest.reductions],
    )


def axes_by_stride(value: Value) -> list[int] | None:
    """Order the axes of a value that has its memory to itself without gaps; None if it has not."""
    axes = [axis for axis, length in enumerate(value.shape) if length > 1]
    axes.sort(key=lambda axis: -value.strides[axis])
    expected = kept_as(value).itemsize
    for axis in reversed(axes):
        if value.strides[axis] != expected:
            return None
        expected *= value.shape[axis]
    return axes


def places_in(ref: MemRef) -> tuple[dict[int, int], list[tuple[int, int]]] | None:
    """Say where elements lie in the axes of what owns the memory.

    Returns
    -------
    starts : dict of int to int
        The place of the first element on each axis of the owner.
    ways : list of (int, int)
        For each axis of the reference, on which axis of the owner it goes, and by how many at once;
        (-1, 0) where it stays.
    """
    root, axes = ref.root, axes_by_stride(ref.root)
    item = kept_as(root).itemsize
    if axes is None or ref.dtype.itemsize > item:
        return None
    rest, starts = ref.offset, {}
    for axis in axes:
        starts[axis], rest = divmod(rest, root.strides[axis])
    if not 0 <= rest < item or ref.offset < 0:
        return None
    ends, ways = dict(starts), []
    for length, stride in zip(ref.shape, ref.strides, strict=True):
        if length == 1 or stride == 0:
            ways.append((-1, 0))
            continue
        axis = next((k for k in axes if 0 < root.strides[k] <= stride), -1)
        if axis < 0 or stride % root.strides[axis]:
            return None
        step = stride // root.strides[axis]
        ends[axis] += (length - 1) * step
        ways.append((axis, step))
    if any(ends[axis] >= root.shape[axis] for axis in axes):
        return None
    return starts, ways


def axis_of(ref: MemRef, axis: int) -> int:
    """Find the axis of the owner that an axis of a nest is, and no other axis goes on."""
    found = places_in(ref)
    if found is None:
        return UNALIGNED
    starts, ways = found
    target, step = ways[axis]
    alone = [on for on, _ in ways].count(target) == 1
    whole = step == 1 and starts[target] == 0 and ref.root.shape[target] == ref.shape[axis]
    return target if alone and whole else UNALIGNED


def tile_of(root: Value, axis: int, size: int) -> Value:
    """Make memory like that of a value, with room for a tile of an axis."""
    shape = (*root.shape[:axis], size, *root.shape[axis + 1 :])
    dtype = kept_as(root)
    strides, way = [0] * len(shape), dtype.itemsize
    for each in reversed(axes_by_stride(root) or ()):
        strides[each] = way
        way *= shape[each]
    return Value(np.ndarray, shape, dtype, tuple(strides))


def moved(ref: MemRef, tile: Value, shape: tuple[int, ...]) -> MemRef:
    """Give the same elements of a tile, which lies in memory of its own."""
    found = places_in(ref)
    assert found is not None  # noqa: S101 - else it would not be aligned
    starts, ways = found
    offset = ref.offset % kept_as(ref.root).itemsize
    offset += sum(start * tile.strides[axis] for axis, start in starts.items())
    strides = tuple([step * tile.strides[axis] if step else 0 for axis, step in ways])
    return MemRef(tile, offset, shape, strides, ref.dtype)


def in_same_order(nest: LoopNest, tile: LoopNest) -> bool:
    """Tell whether reductions add up the same elements in the same order for a tile."""
    if not nest.reductions:
        return True
    inner = []
    for each in (nest, tile):
        space = iteration_space(each.shape, [ref.strides for ref in each.refs])
        inner.append([step == 0 for step in space.steps[-len(each.reductions) :]])
    reduced = [
        [n for n, way in zip(each.ref.shape, each.ref.strides, strict=True) if n > 1 and not way]
        for each in nest.reductions
    ]
    return inner[0] == inner[1] and all(len(lengths) < 2 for lengths in reduced)

"""Tiling across nests: what goes over one long axis is done for a tile of it after the other.

Nests of different shapes are no single nest, and what one hands over to the next would go through
memory. Where each element of an axis is computed of the same element alone, whatever the nest, all
nests do a few elements of the axis before the next few, and what they hand over stays in the cache;
what nobody else reads has room for one tile.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.engines.native.fusion import FusedNest, Slot
from tape_ad.programs.engines.native.ir import (
    LoopCall,
    LoopNest,
    MemRef,
    Reduction,
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


@frozen(eq=False)
class Tiles(LoopCall):
    """Nests that are done for one tile of an axis after the other.

    Attributes
    ----------
    given : frozenset of Value
        Whose memory is read as it was before.
    """

    given: frozenset[Value]

    @property
    def read_roots(self) -> set[Value]:
        """The values whose memory is read."""
        return set(self.given)


def tiled(row: Sequence[Slot], needed: Iterable[Value]) -> list[Slot]:
    """Divide groups of nests of a run into tiles, where that keeps what they touch in the cache.

    Parameters
    ----------
    row : sequence of Slot
        A run of native work.
    needed : iterable of Value
        What others need of what it writes, or have written before.
    """
    nests = [slot for slot in row if isinstance(slot, FusedNest)]
    touched = {ref.root for nest in nests for ref in nest.refs}
    extent = longest_in_common(nests) if sum(map(size_of, touched)) >= LARGE else 0
    if extent < 2 * LEAST:
        return list(row)
    made: list[Slot] = []
    group = Group(extent)
    groups: list[tuple[int, Group]] = []
    for slot in row:
        if not group.take(slot):
            groups.append((len(made) - len(group.nests), group))
            group = Group(extent)
            group.take(slot)
        made.append(slot)
    groups.append((len(made) - len(group.nests), group))
    uses = uses_of(row)
    for start, group in reversed(groups):
        own = uses_of(nest for nest, _ in group.nests)
        others = {root for root, count in own.items() if uses[root] > count}
        tiles = group.in_tiles(others.union(needed)) if len(group.nests) > 1 else None
        if tiles is not None:
            made[start : start + len(group.nests)] = [tiles]
    return made


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
    nests : list of (FusedNest, int)
        Each with the place of the axis in its shape.
    """

    extent: int
    nests: list[tuple[FusedNest, int]] = field(factory=list)
    _written: set[Value] = field(factory=set)
    _aligned: dict[Value, int] = field(factory=dict)

    def take(self, slot: Slot) -> bool:
        """Take a slot in if it is a nest with the axis, whose elements keep to themselves."""
        if not isinstance(slot, FusedNest):
            return False
        written = self._written | slot.written_roots
        for axis, length in enumerate(slot.shape):
            if length != self.extent:
                continue
            aligned = dict(self._aligned)
            gathered = slot.gathered
            for ref in slot.refs:
                found = UNALIGNED if ref in gathered else axis_of(ref, axis)
                if aligned.setdefault(ref.root, found) != found:
                    aligned[ref.root] = UNALIGNED
            if not any(aligned.get(root, 0) == UNALIGNED for root in written):
                self._written, self._aligned = written, aligned
                self.nests.append((slot, axis))
                return True
        return False

    def in_tiles(self, others: set[Value]) -> Tiles | None:
        """Divide the nests, if they touch much memory.

        Parameters
        ----------
        others : set of Value
            What others read or write, too.
        """
        total = sum(size_of(root) for root, axis in self._aligned.items() if axis != UNALIGNED)
        size = max(CACHED * self.extent // max(total, 1) // LEAST, 1) * LEAST
        count, rest = divmod(self.extent, size)
        if total < LARGE or count < 2:
            return None
        fresh = self._fresh()
        mine = fresh - others
        outside = [root for root in self._aligned if root not in mine]
        numbers = {root: number for number, root in enumerate(outside, start=2)}
        last = (count - 1) * size  # where there is a rest, the last tile has it too
        starts = [(0, size, count - (rest > 0)), *[(last, size + rest, 1)] * (rest > 0)]
        made = [self._part(mine, numbers, *each) for each in starts]
        parts = [part for part in made if part is not None]
        if len(parts) < len(made):
            return None
        places = {root: MemRef.whole(root) for root in outside}
        read = {root for nest, _ in self.nests for root in nest.read_roots}
        written = frozenset(self._written - mine)
        return Tiles(LoopBody(parts, []), places, written, 0, frozenset(read - fresh))

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

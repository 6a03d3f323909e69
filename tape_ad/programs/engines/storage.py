"""Storage: how long values are needed, and where in one piece of memory they lie meanwhile."""

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Any, Self

from attrs import define, field

from tape_ad.programs.program import Step, Value, root_of

verifier: Any = None
"""What looks at all memory that engines lay out, for tests: see tests/programs/verifier.py."""


@define(eq=False)
class LiveRanges:
    """The steps from the first to the last one that uses each memory, by what owns it.

    Whatever lets one value have the memory of another asks here: plans for the operand that a
    result is written over and for blocks of a workspace, native code for arrays that change in
    place, for its arena and for its buffers.

    Attributes
    ----------
    starts, ends : dict of Value to int
    kept : set of Value
        Owners of memory that is in use behind the last step, for the caller gets it.
    """

    starts: dict[Value, int] = field(factory=dict)
    ends: dict[Value, int] = field(factory=dict)
    kept: set[Value] = field(factory=set)

    @classmethod
    def of(cls, steps: Sequence[Step], outputs: Iterable[Value]) -> Self:
        """Look through steps for what their operands show."""
        ranges = cls(kept={root_of(value) for value in outputs})
        for number, step in enumerate(steps):
            for value in step.operands:
                ranges.use(value, number)
        return ranges

    def use(self, value: Value, number: int) -> None:
        """Note that a step uses the memory of a value; steps come in their order."""
        owner = root_of(value)
        self.starts.setdefault(owner, number)
        self.ends[owner] = number

    def is_over(self, value: Value, number: int) -> bool:
        """Tell whether nothing behind a step, which uses a value, uses the value's memory."""
        owner = root_of(value)
        return owner not in self.kept and self.ends.get(owner) == number


ALIGNED = 64
"""Blocks begin at multiples of so many bytes, as lines of the cache do."""

SMALL = 4096
"""Up to which size pieces are never put together or divided, for there may be very many."""


@define(eq=False)
class Block:
    """Memory for one value after the other.

    Attributes
    ----------
    size : int
        In bytes.
    start, end : int
        The first step that writes to it, and the last one that uses it.
    given : bool
        Whether it is an array of its own, new each time, as the caller gets it.
    offset : int
        Where it lies, if it is not given away.
    values : list of Value
    """

    size: int
    start: int
    end: int
    given: bool = False
    offset: int = -1
    values: list[Value] = field(factory=list)


@define(eq=False)
class Arena:
    """Memory from which blocks are taken and to which they are given back.

    Attributes
    ----------
    size : int
        The bytes that were needed at most.
    """

    size: int = 0
    _small: dict[int, list[int]] = field(factory=dict)
    _free: dict[int, list[int]] = field(factory=dict)

    def take(self, size: int) -> int:
        """Find a place: what was given back last, and is as large, is still in the cache."""
        same = (self._small if size <= SMALL else self._free).get(size)
        if same:
            return same.pop()
        if size > SMALL:
            self._join()
            for large in sorted(self._free):
                if large >= size:
                    start = self._free[large].pop()
                    if large > size:
                        self.give_back(start + size, large - size)
                    return start
        start = self._last(size) if size > SMALL else self.size
        self.size = start + size
        return start

    def give_back(self, start: int, size: int) -> None:
        """Free memory of the arena, for later values of that size."""
        (self._small if size <= SMALL else self._free).setdefault(size, []).append(start)

    def _join(self) -> None:
        """Make one of free neighbours."""
        pieces = sorted((start, size) for size, starts in self._free.items() for start in starts)
        self._free = {}
        joined: list[list[int]] = []
        for start, size in pieces:
            if joined and sum(joined[-1]) == start:
                joined[-1][1] += size
            else:
                joined.append([start, size])
        for start, size in joined:
            self.give_back(start, size)

    def _last(self, size: int) -> int:
        """Find where to begin beyond the end, or in the free piece before the end."""
        for free, starts in self._free.items():
            if self.size - free in starts:
                starts.remove(self.size - free)
                return self.size - free
        return self.size


def placed(blocks: Iterable[Block]) -> int:
    """Give each block a place, and the number of bytes that they need.

    Parameters
    ----------
    blocks : iterable of Block
        In the order in which they start.
    """
    arena = Arena()
    due: list[tuple[int, int, Block]] = []
    for number, block in enumerate(blocks):
        while due and due[0][0] < block.start:
            _, _, ended = heapq.heappop(due)
            arena.give_back(ended.offset, rounded(ended.size))
        block.offset = arena.take(rounded(block.size))
        heapq.heappush(due, (block.end, -number, block))
    return arena.size


def rounded(size: int) -> int:
    """Round up to what blocks begin at."""
    return -(-size // ALIGNED) * ALIGNED


def size_of(value: Value) -> int:
    """Count the bytes of a value's elements."""
    return 0 if value.dtype is None else math.prod(value.shape) * value.dtype.itemsize

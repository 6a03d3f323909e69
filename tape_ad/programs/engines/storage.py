"""Memory for a program's values: one block serves many, one after the other."""

import heapq
from collections.abc import Iterable

from attrs import define, field

from tape_ad.programs.program.program import Value

__all__ = ["ALIGNED", "Block", "placed"]

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
        """Let others have it."""
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

"""Strip mining: a nest with NumPy's inner loops in it becomes several loops over one strip.

What one loop hands over to a later one is in a buffer for as many elements as the block has, which
stays in the first-level cache.
"""

from collections.abc import Container
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.engines.native.ir import (
    Argument,
    Literal,
    LoopNest,
    MemRef,
    Op,
    Reduction,
    is_external,
)
from tape_ad.programs.engines.storage import Block, LiveRanges, placed
from tape_ad.programs.program import Value

CACHED = 24 * 1024
"""How many bytes buffers have, of the first-level cache."""

LEAST, MOST = 128, 2048
"""How many elements a block has."""


@define(eq=False)
class StripMined:
    """A nest divided into loops that are called one after the other for each strip.

    An operation comes as early as its operands allow: ours in the stage in which the last of them
    is there, a loop of NumPy's between that stage and the next.

    Attributes
    ----------
    nest : LoopNest
    own : container of MemRef
        Which of the memory references that are stored to, NumPy's loops may write themselves.
    parts : list of LoopNest
        Those that are called one after the other.
    """

    nest: LoopNest
    own: Container[MemRef] = ()
    parts: list[LoopNest] = field(factory=list)
    _stages: list[LoopNest] = field(factory=list)
    _loops: list[list[LoopNest]] = field(factory=list)
    _depth: list[int] = field(factory=list)
    _mine: dict[int, Argument] = field(factory=dict)
    _buffers: dict[Any, MemRef] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for op in self.nest.ops:
            deep = max(map(self._depth_of, op.args), default=0)
            self._depth.append(deep + is_external(op))
        used = used_in(self.nest)
        last = max((self._depth[number] for number in used), default=0)
        self._stages = [LoopNest(self.nest.shape) for _ in range(last + 1)]
        self._loops = [[] for _ in range(last + 1)]
        written = self._written_by_loops()
        for number, op in enumerate(self.nest.ops):
            if number in used:
                self._do(number, op)
        read = self.nest.read_roots
        for arg, ref in self.nest.writes:
            if ref in written and self._buffers.get(arg) is ref:
                continue
            at = last if ref.root in read else self._depth_of(arg)  # who reads it, reads first
            self._stages[at].writes.append((self._value(at, arg), ref))
        for each in self.nest.reductions:
            at = last if each.ref.root in read else self._depth_of(each.arg)
            value = self._value(at, each.arg)
            self._stages[at].reductions.append(Reduction(each.ufunc, value, each.ref))
        for loops, stage in zip(self._loops, self._stages, strict=True):
            self.parts += loops
            if stage.writes or stage.reductions:
                self.parts.append(stage)

    def _depth_of(self, arg: Argument) -> int:
        """Say in which stage an argument is there."""
        return 0 if isinstance(arg, Literal) or arg < 0 else self._depth[arg]

    def _written_by_loops(self) -> set[MemRef]:
        """Find where loops of NumPy's can write themselves, which then is their buffer."""
        found = set()
        read = self.nest.read_roots
        for arg, ref in self.nest.writes:
            if isinstance(arg, Literal) or arg < 0 or arg in self._buffers:
                continue
            if is_external(self.nest.ops[arg]) and ref in self.own and ref.root not in read:
                self._buffers[arg] = ref
                found.add(ref)
        return found

    def _do(self, number: int, op: Op) -> None:
        """Write an operation's code into its stage."""
        at = self._depth[number]
        if not is_external(op):
            stage = self._stages[at]
            args = tuple([self._value(at, arg) for arg in op.args])
            self._mine[number] = stage.again(Op(op.kind, args))
            return
        loop: Any = op.function
        part = LoopNest(self.nest.shape, callee=loop)
        part.reads = [self._ref(at - 1, arg) for arg in op.args]
        out = self._buffers.get(number)
        if out is None:
            out = self._buffers[number] = self._buffer(op.dtypes[-1])
        part.writes = [(-1, out)]
        self._loops[at].append(part)

    def _value(self, at: int, arg: Argument) -> Argument:
        """Give a value to a stage of ours."""
        if isinstance(arg, Literal):
            return arg
        if arg >= 0 and not is_external(self.nest.ops[arg]) and self._depth[arg] == at:
            return self._mine[arg]
        return self._stages[at].read(self._ref(at, arg))

    def _ref(self, at: int, arg: Argument) -> MemRef:
        """Say where a loop that comes behind a stage finds a value."""
        if not isinstance(arg, Literal) and arg < 0:
            return self.nest.reads[~arg]
        known = self._buffers.get(arg)
        if known is None:
            known = self._buffers[arg] = self._buffer(self.nest.dtype_of(arg))
            if isinstance(arg, Literal):
                self._stages[0].writes.append((arg, known))  # others may need it before
            else:
                self._stages[self._depth[arg]].writes.append((self._mine[arg], known))
        return known

    def _buffer(self, dtype: np.dtype[Any]) -> MemRef:
        """Make a buffer; how large it is, is found out later."""
        value = Value(np.ndarray, (1,), dtype, (dtype.itemsize,))
        strides = (0,) * len(self.nest.shape)
        return MemRef(value, 0, self.nest.shape, strides, dtype)

    @property
    def buffers(self) -> list[Value]:
        """What is neither read nor written by others, in the order of first use."""
        real = {ref.root for ref in self.nest.refs}
        roots = [ref.root for part in self.parts for ref in part.refs]
        return [root for root in dict.fromkeys(roots) if root not in real]

    def block(self) -> int:
        """Say how many elements a strip should have."""
        size = self.settled(1, aligned=False)[1]
        return int(min(max(2 ** (CACHED // max(size, 1)).bit_length() // 2, LEAST), MOST))

    def settled(self, length: int, aligned: bool = True) -> tuple[dict[Value, int], int]:
        """Give the buffers places for so many elements.

        Returns
        -------
        offsets : dict of Value to int
        size : int
            The bytes of all; where they are not aligned, of those that are needed at once.
        """
        live, sizes = LiveRanges(), dict.fromkeys(self.buffers, 0)
        for number, part in enumerate(self.parts):
            for ref in part.refs:
                if ref.root in sizes:
                    live.use(ref.root, number)
                    sizes[ref.root] = ref.dtype.itemsize * length
        spans = {
            root: Block(size, live.starts[root], live.ends[root]) for root, size in sizes.items()
        }
        if not aligned:
            counts = range(len(self.parts))
            needed = [sum(b.size for b in spans.values() if b.start <= k <= b.end) for k in counts]
            return {}, max(needed, default=0)
        size = placed(sorted(spans.values(), key=lambda block: block.start))
        return {root: block.offset for root, block in spans.items()}, size


def used_in(nest: LoopNest) -> set[int]:
    """Find the operations that something comes of."""
    used: set[int] = set()
    todo: list[Argument] = [arg for arg, _ in nest.writes]
    todo += [each.arg for each in nest.reductions]
    while todo:
        arg = todo.pop()
        if not isinstance(arg, Literal) and arg >= 0 and arg not in used:
            used.add(arg)
            todo += nest.ops[arg].args
    return used

"""Loop bodies with their operands: strides along the inner loop and the outer ones."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from attrs import evolve

from tape_ad.programs.engines.native.codegen.loads_stores import ANY, SAME, UNIT
from tape_ad.programs.engines.native.codegen.loops import Loop
from tape_ad.programs.engines.native.codegen.reduction_epilogue import Epilogue
from tape_ad.programs.engines.native.ir.iteration_space import IterationSpace
from tape_ad.programs.engines.native.ir.loop_nests import LLVMFunction, LoopNest, Reduction
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.program.program import Value

__all__ = ["Body", "Operand", "loop_of", "operands_of", "parts_of", "reads_its_writes"]


class Operand(NamedTuple):
    """What a loop reads or writes, with its strides along the loops around.

    Attributes
    ----------
    ref : MemRef
    step : int
        Along the inner loop.
    outer : tuple of int
        Along the outer ones.
    side : int or None
        How far it is from one block of the inner loop to the next, if not block times step.
    """

    ref: MemRef
    step: int
    outer: tuple[int, ...]
    side: int | None = None

    @classmethod
    def buffer(cls, ref: MemRef, space: IterationSpace) -> "Operand":
        """Give what holds one block, the same at each iteration."""
        return cls(ref, ref.dtype.itemsize, (0,) * len(space.dims), 0)

    @classmethod
    def partial(cls, ref: MemRef, space: IterationSpace) -> "Operand":
        """Give the results of blocks: one at each iteration."""
        return cls(ref, 0, ref.strides[:-1], ref.strides[-1])

    @property
    def side_by_side(self) -> bool:
        """Whether elements are next to one another."""
        return self.step == self.ref.dtype.itemsize

    @property
    def access(self) -> str:
        """Say how it lies along the inner loop."""
        if self.side_by_side:
            return UNIT
        return ANY if self.step else SAME


class Body(NamedTuple):
    """A loop with its operands.

    Attributes
    ----------
    loop : Loop, LLVMFunction or int
        One of ours, or the address of one that is there.
    data : int
    name : str
        Of a loop that is not ours.
    operands : list of Operand
    """

    loop: Loop | LLVMFunction | int
    data: int
    name: str
    operands: list[Operand]

    def in_blocks(self, block: int) -> "Body":
        """Add an outer loop over blocks of the inner one."""
        operands = []
        for ref, step, outer, side in self.operands:
            way = step * block if side is None else side
            operands.append(Operand(ref, step, (*outer, way)))
        return Body(self.loop, self.data, self.name, operands)

    def ordered(self, order: Sequence[int]) -> "Body":
        """Put the outer loops in another order."""
        operands = [
            each._replace(outer=tuple([each.outer[k] for k in order])) for each in self.operands
        ]
        return Body(self.loop, self.data, self.name, operands)

    def behind(self, count: int) -> "Body":
        """Begin after so many elements of the inner loop."""
        operands = []
        for each in self.operands:
            ref, way = each.ref, each.step * count if each.side is None else each.side
            operands.append(each._replace(ref=evolve(ref, offset=ref.offset + way)))
        return Body(self.loop, self.data, self.name, operands)


def reads_its_writes(nest: LoopNest) -> bool:
    """Tell whether elements are written that others are computed of, which goes in order."""
    reads, roots = set(nest.reads), nest.read_roots
    return any(ref.root in roots and ref not in reads for _, ref in nest.writes)


def operands_of(nest: LoopNest, space: IterationSpace) -> list[Operand]:
    """Give what a nest reads and writes, and how it is gone over."""
    ways = zip(nest.refs, space.steps, space.outer, strict=True)
    return [Operand(ref, step, outer) for ref, step, outer in ways]


def loop_of(nest: LoopNest, operands: Sequence[Operand], epilogues: tuple[Epilogue, ...]) -> Loop:
    """Say what a loop of ours does."""
    accesses = [(each.ref.dtype, each.access) for each in operands]
    count = len(nest.reads)
    writes = zip(nest.writes, accesses[count:], strict=False)
    return Loop(
        tuple(accesses[:count]),
        tuple(nest.ops),
        tuple((arg, *access) for (arg, _), access in writes),
        epilogues,
        single=not nest.shape,
    )


def parts_of(
    each: Reduction, space: IterationSpace, outer: tuple[int, ...], block: int
) -> LoopNest:
    """Bring together the results of blocks, for each of which there is a place."""
    blocks = -(-space.length // block)
    dtype = each.ref.dtype
    shape = (*space.dims, blocks)
    strides = tuple(dtype.itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape)))
    value = Value(np.ndarray, shape, dtype, strides)
    after = LoopNest(shape)
    target = MemRef(each.ref.root, each.ref.offset, shape, (*outer, 0), dtype)
    arg = after.read(MemRef(value, 0, shape, strides, dtype))
    after.reductions.append(Reduction(each.ufunc, arg, target))
    return after

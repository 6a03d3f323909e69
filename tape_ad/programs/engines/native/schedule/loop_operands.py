"""What is done at each turn of a nest: loops, with where their operands are at that turn."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from attrs import evolve

from tape_ad.programs.engines.native.codegen.loads_stores import ANY, SAME, UNIT
from tape_ad.programs.engines.native.codegen.loops import Loop
from tape_ad.programs.engines.native.codegen.reduction_epilogue import Ending
from tape_ad.programs.engines.native.ir.loop_nests import Nest, Reduction, Written
from tape_ad.programs.engines.native.ir.memory_map import Place
from tape_ad.programs.engines.native.ir.nests import Layout
from tape_ad.programs.program.program import Value

__all__ = ["Body", "Operand", "is_moving", "loop_of", "operands_of", "parts_of"]


class Operand(NamedTuple):
    """What a loop reads or writes, and how the turns go over it.

    Attributes
    ----------
    place : Place
    step : int
        Along the inner loop.
    outer : tuple of int
        Along the outer ones.
    side : int or None
        How far it is from one block of the inner loop to the next, if not block times step.
    """

    place: Place
    step: int
    outer: tuple[int, ...]
    side: int | None = None

    @classmethod
    def buffer(cls, place: Place, layout: Layout) -> "Operand":
        """Give what holds one block, the same at each turn."""
        return cls(place, place.dtype.itemsize, (0,) * len(layout.dims), 0)

    @classmethod
    def partial(cls, place: Place, layout: Layout) -> "Operand":
        """Give the results of blocks: one at each turn."""
        return cls(place, 0, place.strides[:-1], place.strides[-1])

    @property
    def side_by_side(self) -> bool:
        """Whether elements are next to one another."""
        return self.step == self.place.dtype.itemsize

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
    loop : Loop, Written or int
        One of ours, or the address of one that is there.
    data : int
    operands : list of Operand
    """

    loop: Loop | Written | int
    data: int
    operands: list[Operand]

    def in_blocks(self, block: int) -> "Body":
        """Add an outer loop over blocks of the inner one."""
        operands = []
        for place, step, outer, side in self.operands:
            way = step * block if side is None else side
            operands.append(Operand(place, step, (*outer, way)))
        return Body(self.loop, self.data, operands)

    def ordered(self, order: Sequence[int]) -> "Body":
        """Put the outer loops in another order."""
        operands = [
            each._replace(outer=tuple([each.outer[k] for k in order])) for each in self.operands
        ]
        return Body(self.loop, self.data, operands)

    def behind(self, count: int) -> "Body":
        """Begin after so many elements of the inner loop."""
        operands = []
        for each in self.operands:
            place, way = each.place, each.step * count if each.side is None else each.side
            operands.append(each._replace(place=evolve(place, offset=place.offset + way)))
        return Body(self.loop, self.data, operands)


def is_moving(nest: Nest) -> bool:
    """Tell whether elements are written that others are computed of, which goes in order."""
    reads, roots = set(nest.reads), nest.read_roots
    return any(place.root in roots and place not in reads for _, place in nest.writes)


def operands_of(nest: Nest, layout: Layout) -> list[Operand]:
    """Give what a nest reads and writes, and how it is gone over."""
    ways = zip(nest.places, layout.steps, layout.outer, strict=True)
    return [Operand(place, step, outer) for place, step, outer in ways]


def loop_of(nest: Nest, operands: Sequence[Operand], endings: tuple[Ending, ...]) -> Loop:
    """Say what a loop of ours does."""
    accesses = [(each.place.dtype, each.access) for each in operands]
    count = len(nest.reads)
    writes = zip(nest.writes, accesses[count:], strict=False)
    return Loop(
        tuple(accesses[:count]),
        tuple(nest.ops),
        tuple((arg, *access) for (arg, _), access in writes),
        endings,
        single=not nest.shape,
    )


def parts_of(each: Reduction, layout: Layout, outer: tuple[int, ...], block: int) -> Nest:
    """Bring together the results of blocks, for each of which there is a place."""
    blocks = -(-layout.length // block)
    dtype = each.place.dtype
    shape = (*layout.dims, blocks)
    strides = tuple(dtype.itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape)))
    value = Value(np.ndarray, shape, dtype, strides)
    after = Nest(shape)
    target = Place(each.place.root, each.place.offset, shape, (*outer, 0), dtype)
    arg = after.read(Place(value, 0, shape, strides, dtype))
    after.reductions.append(Reduction(each.ufunc, arg, target))
    return after

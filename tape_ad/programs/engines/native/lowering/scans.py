"""Scans, which NumPy's loops take one element after the other."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.iteration_space import iteration_space
from tape_ad.programs.engines.native.ir.loop_nests import ExternalCall, LoopNest
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.engines.native.lowering.products import converted, moved, with_axis
from tape_ad.programs.engines.native.lowering.reductions import axes_of
from tape_ad.programs.engines.native.runtime.inner_loops import inner_loop

__all__ = ["LOWERINGS"]

MANY = 256
"""Up to how many calls of a loop are written for one scan."""


def scan(ufunc: np.ufunc, *names: str, axis: int | None) -> Callable[[Lowering], None]:
    """Make what lowers a scan by a ufunc; `axis` is meant where none is named."""

    def lower(lowering: Lowering) -> None:
        found = lowering.options(*names)
        if found.get("out") is not None:
            raise NotLowerable("a place for the result")
        ref, out = lowering.source(found[names[0]]), lowering.out
        along = found.get("axis", axis)
        if along is None:
            if len(ref.shape) != 1:
                raise NotLowerable("a scan of what is not in a row")
            along = 0
        if not ref.shape:
            raise NotLowerable("a scan of a number")
        scanned(lowering, ufunc, ref, axes_of(along, len(ref.shape))[0], out)

    return lower


def scanned(lowering: Lowering, ufunc: np.ufunc, ref: MemRef, axis: int, out: MemRef) -> None:
    """Put the first elements in their place, and let NumPy's loop go on from there.

    It goes along the axis, or across it, where elements beside each other are closer in memory.
    """
    loop = inner_loop(ufunc, (out.dtype,) * 3)
    if loop is None:
        raise NotLowerable("a scan of such a dtype")
    source = converted(lowering, ref, out.dtype)
    begin = lowering.nest((*ref.shape[:axis], *ref.shape[axis + 1 :]))
    begin.write(begin.read(at(source, axis, 0)), at(out, axis, 0))
    steps = ref.shape[axis] - 1
    if not steps:
        return
    parts = [at(out, axis, 0), at(source, axis, 1), at(out, axis, 1)]
    ways = [each.strides[axis] for each in (out, source, out)]
    space = iteration_space(parts[0].shape, [each.strides for each in parts])
    beside = max(map(abs, space.steps)) < max(map(abs, ways))
    across = beside and out.dtype.kind != "c"  # of whose products loops round some in another way
    if across and steps * math.prod(space.dims) <= MANY:
        iterations = [(way, *each) for way, each in zip(ways, space.outer, strict=True)]
        for key in np.ndindex(steps, *space.dims):
            before, more, after = (
                moved(part, key, iteration)
                for part, iteration in zip(parts, iterations, strict=True)
            )
            sizes = (space.length,), tuple(space.steps)
            lowering.work.append(ExternalCall(loop, [before, more], [after], *sizes, space.length))
        return
    first = 0 if across else len(out.shape) - 1  # where the axis of the scan is gone over
    moves = [with_axis(part, first, steps, way) for part, way in zip(parts, ways, strict=True)]
    nest = LoopNest(moves[0].shape, moves[:2], callee=loop, ordered=True)
    nest.writes = [(-1, moves[2])]
    lowering.work.append(nest)


def at(ref: MemRef, axis: int, i: int) -> MemRef:
    """Give the memory reference of one step along an axis."""
    shape, strides = list(ref.shape), list(ref.strides)
    del shape[axis]
    offset = ref.offset + i * strides.pop(axis)
    return MemRef(ref.root, offset, tuple(shape), tuple(strides), ref.dtype)


SCANNING = (
    np.add,
    np.subtract,
    np.multiply,
    np.divide,
    np.maximum,
    np.minimum,
    np.fmax,
    np.fmin,
    np.logaddexp,
    np.logaddexp2,
    np.logical_and,
    np.logical_or,
)
METHOD = ("array", "axis", "dtype", "out")
FUNCTION = ("a", "axis", "dtype", "out")

LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **{ufunc.accumulate: scan(ufunc, *METHOD, axis=0) for ufunc in SCANNING},
    np.cumsum: scan(np.add, *FUNCTION, axis=None),
    np.cumprod: scan(np.multiply, *FUNCTION, axis=None),
}

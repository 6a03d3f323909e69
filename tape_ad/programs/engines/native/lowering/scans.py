"""Scans, which NumPy's loops take one element after the other, and searches for an extreme."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.loop_nests import Direct, Nest
from tape_ad.programs.engines.native.ir.memory_map import Place
from tape_ad.programs.engines.native.ir.nests import laid_out
from tape_ad.programs.engines.native.lowering.lowering import Lowering, Refusal
from tape_ad.programs.engines.native.lowering.products import converted, moved, with_axis
from tape_ad.programs.engines.native.lowering.reductions import axes_of, divided, ended
from tape_ad.programs.engines.native.lowering.stages import Stages, shaped
from tape_ad.programs.engines.native.runtime.inner_loops import inner_loop
from tape_ad.programs.program.program import Value

__all__ = ["LOWERINGS"]

MANY = 256
"""Up to how many calls of a loop are written for one scan."""


def scan(ufunc: np.ufunc, *names: str, axis: int | None) -> Callable[[Lowering], None]:
    """Make what lowers a scan by a ufunc; `axis` is meant where none is named."""

    def lower(lowering: Lowering) -> None:
        found = lowering.options(*names)
        if found.get("out") is not None:
            raise Refusal("a place for the result")
        place, out = lowering.source(found[names[0]]), lowering.out
        along = found.get("axis", axis)
        if along is None:
            if len(place.shape) != 1:
                raise Refusal("a scan of what is not in a row")
            along = 0
        if not place.shape:
            raise Refusal("a scan of a number")
        scanned(lowering, ufunc, place, axes_of(along, len(place.shape))[0], out)

    return lower


def scanned(lowering: Lowering, ufunc: np.ufunc, place: Place, axis: int, out: Place) -> None:
    """Put the first elements in their place, and let NumPy's loop go on from there.

    It goes along the axis, or across it, where elements beside each other are closer in memory.
    """
    loop = inner_loop(ufunc, (out.dtype,) * 3)
    if loop is None:
        raise Refusal("a scan of such a dtype")
    source = converted(lowering, place, out.dtype)
    begin = lowering.nest((*place.shape[:axis], *place.shape[axis + 1 :]))
    begin.write(begin.read(at(source, axis, 0)), at(out, axis, 0))
    steps = place.shape[axis] - 1
    if not steps:
        return
    parts = [at(out, axis, 0), at(source, axis, 1), at(out, axis, 1)]
    ways = [each.strides[axis] for each in (out, source, out)]
    layout = laid_out(parts[0].shape, [each.strides for each in parts])
    beside = max(map(abs, layout.steps)) < max(map(abs, ways))
    across = beside and out.dtype.kind != "c"  # of whose products loops round some in another way
    if across and steps * math.prod(layout.dims) <= MANY:
        turns = [(way, *each) for way, each in zip(ways, layout.outer, strict=True)]
        for key in np.ndindex(steps, *layout.dims):
            before, more, after = (
                moved(part, key, turn) for part, turn in zip(parts, turns, strict=True)
            )
            sizes = (layout.length,), tuple(layout.steps)
            lowering.work.append(
                Direct((loop.address, loop.data), [before, more], [after], *sizes, layout.length)
            )
        return
    first = 0 if across else len(out.shape) - 1  # where the axis of the scan is gone over
    moves = [with_axis(part, first, steps, way) for part, way in zip(parts, ways, strict=True)]
    nest = Nest(moves[0].shape, moves[:2], loop=(loop.address, loop.data), ordered=True)
    nest.writes = [(-1, moves[2])]
    lowering.work.append(nest)


def at(place: Place, axis: int, i: int) -> Place:
    """Give the place of one step along an axis."""
    shape, strides = list(place.shape), list(place.strides)
    del shape[axis]
    offset = place.offset + i * strides.pop(axis)
    return Place(place.root, offset, tuple(shape), tuple(strides), place.dtype)


def search(ufunc: np.ufunc) -> Callable[[Lowering], None]:
    """Make what lowers the search for the first of the largest or smallest elements, or a nan."""

    def lower(lowering: Lowering) -> None:
        stages, found = Stages(lowering), lowering.options("a", "axis", "out", "keepdims")
        place, out, axis = lowering.source(found["a"]), lowering.out, found.get("axis")
        if found.get("out") is not None or place.dtype.kind == "c" or not place.shape:
            raise Refusal("such operands")
        axes = axes_of(axis, len(place.shape))
        extreme = stages.reduce(ufunc, place, axes)
        shape = tuple(n if k in axes else 1 for k, n in enumerate(place.shape))
        count = math.prod(shape)
        numbers = lowering.constant(np.arange(count).reshape(shape))
        there = stages.do(np.equal, place, extreme)
        if place.dtype.kind == "f":
            there = stages.do(np.logical_or, there, stages.do(np.isnan, place))
        where = stages.choose(there, numbers, count)
        nest = lowering.nest(place.shape)
        ended(nest, np.minimum, nest.read(where), axes, out)

    return lower


def varied(lowering: Lowering) -> None:
    """Do `numpy.var` and `numpy.std`, of real elements."""
    stages, call = Stages(lowering), lowering.call
    found = lowering.options("a", "axis", "dtype", "out", "ddof", "keepdims")
    place, out = lowering.source(found["a"]), lowering.out
    if found.get("out") is not None or found.get("dtype") is not None or place.dtype.kind == "c":
        raise Refusal("it has options")
    ddof = found.get("ddof", 0)
    if type(ddof) is Value:
        raise Refusal("it has options")
    place = stages.cast(place, out.dtype)
    axes = axes_of(found.get("axis"), len(place.shape))
    count = math.prod(place.shape[axis] for axis in axes)
    total = stages.reduce(np.add, place, axes)
    mean = lowering.temporary(total.shape, total.dtype)
    divided(lowering, total, count, mean)
    centred = stages.do(np.subtract, place, mean)
    squares = stages.reduce(np.add, stages.do(np.multiply, centred, centred), axes)
    kept = shaped(squares, out.shape)
    if call.function is np.var:
        divided(lowering, kept, max(count - ddof, 0), out)
        return
    variance = lowering.temporary(out.shape, out.dtype)
    divided(lowering, kept, max(count - ddof, 0), variance)
    stages.do(np.sqrt, variance, out=out)


def normed(lowering: Lowering) -> None:
    """Do `numpy.linalg.norm` of real elements, as a root of a sum of squares."""
    stages, found = Stages(lowering), lowering.options("x", "ord", "axis", "keepdims")
    place, out, axis = lowering.source(found["x"]), lowering.out, found.get("axis")
    euclidean = found.get("ord") is None or (found["ord"] == 2 and isinstance(axis, int))
    if not euclidean or place.dtype.kind != "f":
        raise Refusal("another norm")
    squares = stages.do(np.multiply, place, place)
    total = stages.reduce(np.add, squares, axes_of(axis, len(place.shape)))
    stages.do(np.sqrt, shaped(total, out.shape), out=out)


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
    np.argmax: search(np.maximum),
    np.argmin: search(np.minimum),
    np.var: varied,
    np.std: varied,
    np.linalg.norm: normed,
}

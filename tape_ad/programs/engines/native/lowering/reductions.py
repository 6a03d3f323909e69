"""Reductions: elements brought together along axes, as the end of a nest."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.loop_nests import Argument, Direct, Literal, Nest, Reduction
from tape_ad.programs.engines.native.ir.memory_map import Place
from tape_ad.programs.engines.native.ir.nests import laid_out
from tape_ad.programs.engines.native.lowering.lowering import Lowering, Refusal
from tape_ad.programs.engines.native.runtime.inner_loops import inner_loop
from tape_ad.programs.program.program import Value

__all__ = ["LOWERINGS", "axes_of", "brought_together", "divided", "spread"]

FEW = 64
"""Up to how many results NumPy's loop is called for each of them."""

BOOL, DOUBLE = np.dtype(bool), np.dtype(np.float64)
TRUTH = frozenset({np.logical_or, np.logical_and})


def by(ufunc: np.ufunc, *names: str, over_all: bool = True) -> Callable[[Lowering], None]:
    """Make what lowers a reduction by a ufunc, whose arguments are named in their order."""

    def lower(lowering: Lowering) -> None:
        place, axes = operand_of(lowering, names, None if over_all else 0)
        out = lowering.out
        dtype = BOOL if ufunc in TRUTH else out.dtype
        brought_together(lowering, ufunc, place, axes, out, dtype)

    return lower


def operand_of(
    lowering: Lowering, names: Sequence[str], axis: int | None
) -> tuple[Place, tuple[int, ...]]:
    """Give what is reduced, and the axes; `axis` is meant where none is named."""
    found = lowering.options(*names)
    if found.get("out") is not None:
        raise Refusal("a place for the result")
    place = lowering.source(found[names[0]])
    return place, axes_of(found.get("axis", axis), len(place.shape))


def brought_together(
    lowering: Lowering,
    ufunc: np.ufunc,
    place: Place,
    axes: Sequence[int],
    out: Place,
    dtype: np.dtype[Any],
) -> None:
    """Reduce what is at a place, computing with elements of a dtype."""
    if dtype.kind == "c" and ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
        raise Refusal("complex numbers have their own order")
    if ufunc is np.multiply and dtype.kind in "fc":
        in_order(lowering, ufunc, place, axes, out, dtype)
        return
    nest = lowering.nest(place.shape)
    arg = nest.cast(nest.read(place), dtype)
    if dtype == out.dtype:
        ended(nest, ufunc, arg, axes, out)
        return
    total = lowering.temporary(out.shape, dtype)
    ended(nest, ufunc, arg, axes, total)
    after = lowering.nest(out.shape)
    after.write(after.read(total), out)


def ended(nest: Nest, ufunc: np.ufunc, arg: Argument, axes: Sequence[int], out: Place) -> None:
    """End a nest in a reduction."""
    nest.reductions.append(Reduction(ufunc, arg, spread(out, nest.shape, axes)))


def in_order(
    lowering: Lowering,
    ufunc: np.ufunc,
    place: Place,
    axes: Sequence[int],
    out: Place,
    dtype: np.dtype[Any],
) -> None:
    """Reduce by NumPy's loop, one element after the other: in another order it might overflow."""
    loop = inner_loop(ufunc, (dtype, dtype, dtype))
    if loop is None or place.dtype != dtype or out.dtype != dtype:
        raise Refusal("such a reduction")
    if any(stride % dtype.alignment for stride in place.strides):
        raise Refusal("a reduction of elements that are not aligned")
    target = spread(out, place.shape, axes)
    along = laid_out([place.shape[axis] for axis in axes], [[place.strides[axis] for axis in axes]])
    kept = [axis for axis in range(len(place.shape)) if axis not in axes]
    count = math.prod(place.shape[axis] for axis in kept)
    if along.dims or count > FEW:
        raise Refusal("a reduction of many elements one after the other")
    begin = lowering.nest(out.shape)
    begin.write(Literal.of(ufunc.identity, dtype), out)
    for key in np.ndindex(*(place.shape[axis] for axis in kept)):
        source, result = place, target
        for axis, i in zip(kept, key, strict=True):
            source, result = at(source, axis, i), at(result, axis, i)
        lowering.work.append(
            Direct(
                (loop.address, loop.data),
                [result, source],
                [result],
                (along.length,),
                (0, along.steps[0], 0),
                cost=along.length,
            )
        )


def at(place: Place, axis: int, i: int) -> Place:
    """Move a place along an axis, which it keeps."""
    offset = place.offset + i * place.strides[axis]
    return Place(place.root, offset, place.shape, place.strides, place.dtype)


def averaged(lowering: Lowering) -> None:
    """Add up, and divide in the way of `numpy.mean`: by a double."""
    place, axes = operand_of(lowering, ("a", "axis", "dtype", "out", "keepdims"), None)
    out = lowering.out
    if out.dtype.kind not in "fc":
        raise Refusal("a mean of such a dtype")
    total = lowering.temporary(out.shape, out.dtype)
    brought_together(lowering, np.add, place, axes, total, out.dtype)
    divided(lowering, total, math.prod(place.shape[axis] for axis in axes), out)


def divided(lowering: Lowering, total: Place, count: int, out: Place) -> None:
    """Divide sums by the number of their elements."""
    nest = lowering.nest(out.shape)
    wide = np.dtype(np.complex128) if out.dtype.kind == "c" else DOUBLE
    arg = nest.cast(nest.read(total), wide)
    nest.write(nest.op(np.divide, (wide, wide, wide), arg, Literal.of(count, wide)), out)


def spanned(lowering: Lowering) -> None:
    """Subtract the smallest elements from the largest ones."""
    place, axes = operand_of(lowering, ("a", "axis", "out", "keepdims"), None)
    out = lowering.out
    ends = [lowering.temporary(out.shape, out.dtype) for _ in range(2)]
    for ufunc, end in zip((np.maximum, np.minimum), ends, strict=True):
        brought_together(lowering, ufunc, place, axes, end, out.dtype)
    nest = lowering.nest(out.shape)
    nest.write(nest.op(np.subtract, [out.dtype] * 3, *map(nest.read, ends)), out)


def counted(lowering: Lowering) -> None:
    """Count what is not zero."""
    place, axes = operand_of(lowering, ("a", "axis", "keepdims"), None)
    out = lowering.out
    nest = lowering.nest(place.shape)
    arg = nest.cast(nest.cast(nest.read(place), BOOL), out.dtype)
    ended(nest, np.add, arg, axes, out)


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Name the axes, counted from the first."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if type(axis) is tuple else (axis,)
    if any(type(each) is Value for each in given):
        raise Refusal("an axis that is computed")
    return tuple(operator.index(each) % max(ndim, 1) for each in given)[: max(ndim, 0)]


def spread(target: Place, shape: tuple[int, ...], axes: Sequence[int]) -> Place:
    """Give the place of a result for each element that goes into it."""
    strides = list(target.strides)
    kept = len(target.strides) == len(shape)
    for axis in sorted(axes):
        if kept:
            strides[axis] = 0
        else:
            strides.insert(axis, 0)
    return Place(target.root, target.offset, shape, tuple(strides), target.dtype)


METHOD = ("array", "axis", "dtype", "out", "keepdims")
TOTAL = ("a", "axis", "dtype", "out", "keepdims")
EXTREME = ("a", "axis", "out", "keepdims")

UFUNCS = (
    np.add,
    np.multiply,
    np.maximum,
    np.minimum,
    np.fmax,
    np.fmin,
    np.logical_or,
    np.logical_and,
)

LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **{ufunc.reduce: by(ufunc, *METHOD, over_all=False) for ufunc in UFUNCS},
    np.sum: by(np.add, *TOTAL),
    np.prod: by(np.multiply, *TOTAL),
    np.max: by(np.maximum, *EXTREME),
    np.min: by(np.minimum, *EXTREME),
    np.any: by(np.logical_or, *EXTREME),
    np.all: by(np.logical_and, *EXTREME),
    np.mean: averaged,
    np.ptp: spanned,
    np.count_nonzero: counted,
}

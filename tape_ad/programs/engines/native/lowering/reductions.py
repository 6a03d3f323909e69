"""Reductions, which bring elements together as the end of a nest, and scans, step by step."""

import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.gathers import NOW, stepping
from tape_ad.programs.engines.native.codegen.ir_builder import BOOL, FLOAT64
from tape_ad.programs.engines.native.codegen.loops import EXTREMES, identity_of
from tape_ad.programs.engines.native.ir import (
    Callee,
    ExternalCall,
    Literal,
    MemRef,
    iteration_space,
)
from tape_ad.programs.engines.native.lowering.calls import (
    Lowering,
    NotLowerable,
    converted,
    copy,
    fill,
    moved,
    with_axis,
)
from tape_ad.programs.engines.native.runtime.compiling import inner_loop
from tape_ad.programs.program import Value
from tape_ad.rules.numpy.scans import pulled_through, recurrence

FEW = 64
"""Up to how many results NumPy's loop is called for each of them."""

TRUTH = frozenset({np.logical_or, np.logical_and})


def by(ufunc: np.ufunc, *names: str, over_all: bool = True) -> Callable[[Lowering], None]:
    """Make what lowers a reduction by a ufunc, whose arguments are named in their order."""

    def lower(lowering: Lowering) -> None:
        found = lowering.options(*names, "initial", "where")
        initial, where = found.get("initial"), found.get("where", True)
        ref, axes = operand_of(lowering, found, names[0], None if over_all else 0)
        out = lowering.out
        dtype = BOOL if ufunc in TRUTH else out.dtype
        total = out if initial is None else lowering.temporary(out.shape, dtype)
        brought_together(lowering, ufunc, ref, axes, total, dtype, where)
        if initial is not None:
            nest = lowering.nest(out.shape)
            first = lowering.operand(nest, initial, dtype)
            nest.write(nest.op(ufunc, [dtype] * 3, first, nest.read(total)), out)

    return lower


def where_true(
    lowering: Lowering, ufunc: np.ufunc, ref: MemRef, where: Any, dtype: np.dtype[Any]
) -> MemRef:
    """Put what changes nothing in place of the elements that a mask leaves out."""
    mask, there = lowering.source(where), lowering.temporary(ref.shape, dtype)
    neutral = Literal.of(identity_of(ufunc, dtype), dtype)
    lowering.apply(np.where, (BOOL, dtype, dtype, dtype), (mask, ref, neutral), there)
    return there


def check_order(ufunc: np.ufunc, dtype: np.dtype[Any]) -> None:
    """Refuse extrema of complex numbers, which have an order of their own."""
    if dtype.kind == "c" and ufunc in EXTREMES:
        raise NotLowerable("complex numbers have their own order")


def operand_of(
    lowering: Lowering, found: Mapping[str, Any], name: str, axis: int | None = None
) -> tuple[MemRef, tuple[int, ...]]:
    """Give what is reduced, and the axes; `axis` is meant where none is named."""
    if found.get("out") is not None:
        raise NotLowerable("a place for the result")
    ref = lowering.source(found[name])
    return ref, axes_of(found.get("axis", axis), len(ref.shape))


def brought_together(
    lowering: Lowering,
    ufunc: np.ufunc,
    ref: MemRef,
    axes: Sequence[int],
    out: MemRef,
    dtype: np.dtype[Any],
    where: Any = True,
) -> None:
    """Reduce what a memory reference shows, computing with elements of a dtype."""
    check_order(ufunc, dtype)
    if where is not True:
        ref = where_true(lowering, ufunc, ref, where, dtype)
    if ufunc is np.multiply and dtype.kind in "fc":
        in_order(lowering, ufunc, ref, axes, out, dtype)
        return
    nest = lowering.nest(ref.shape)
    arg = nest.cast(nest.read(ref), dtype)
    total = out if dtype == out.dtype else lowering.temporary(out.shape, dtype)
    nest.reduce(ufunc, arg, axes, total)
    copy(lowering, total, out)


def in_order(
    lowering: Lowering,
    ufunc: np.ufunc,
    ref: MemRef,
    axes: Sequence[int],
    out: MemRef,
    dtype: np.dtype[Any],
) -> None:
    """Reduce by NumPy's loop, one element after the other: in another order it might overflow."""
    loop = inner_loop(ufunc, (dtype, dtype, dtype))
    if loop is None or ref.dtype != dtype or out.dtype != dtype:
        raise NotLowerable("such a reduction")
    if any(stride % dtype.alignment for stride in ref.strides):
        raise NotLowerable("a reduction of elements that are not aligned")
    target = out.spread(ref.shape, axes)
    along = iteration_space(
        [ref.shape[axis] for axis in axes], [[ref.strides[axis] for axis in axes]]
    )
    kept = [axis for axis in range(len(ref.shape)) if axis not in axes]
    count = math.prod(ref.shape[axis] for axis in kept)
    if along.dims or count > FEW:
        raise NotLowerable("a reduction of many elements one after the other")
    fill(lowering, ufunc.identity, out)
    for key in np.ndindex(*(ref.shape[axis] for axis in kept)):
        source, result = (
            moved(each, key, [each.strides[axis] for axis in kept]) for each in (ref, target)
        )
        steps = (0, along.steps[0], 0)
        lowering.work.append(
            ExternalCall(loop, [result, source], [result], (along.length,), steps, along.length)
        )


def averaged(lowering: Lowering) -> None:
    """Add up, and divide in the way of `numpy.mean`: by a double."""
    ref, axes = operand_of(lowering, lowering.options(*TOTAL), "a")
    out = lowering.out
    if out.dtype.kind not in "fc":
        raise NotLowerable("a mean of such a dtype")
    total = lowering.temporary(out.shape, out.dtype)
    brought_together(lowering, np.add, ref, axes, total, out.dtype)
    wide = np.dtype(np.complex128) if out.dtype.kind == "c" else FLOAT64
    count = Literal.of(math.prod(ref.shape[axis] for axis in axes), wide)
    lowering.apply(np.divide, (wide, wide, wide), (total, count), out)


def counted(lowering: Lowering) -> None:
    """Count what is not zero."""
    ref, axes = operand_of(lowering, lowering.options("a", "axis", "keepdims"), "a")
    nest, out = lowering.nest(ref.shape), lowering.out
    arg = nest.cast(nest.cast(nest.read(ref), BOOL), out.dtype)
    nest.reduce(np.add, arg, axes, out)


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Name the axes, counted from the first."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if type(axis) is tuple else (axis,)
    if any(type(each) is Value for each in given):
        raise NotLowerable("an axis that is computed")
    return tuple(operator.index(each) % max(ndim, 1) for each in given)[: max(ndim, 0)]


METHOD = ("array", "axis", "dtype", "out", "keepdims")
TOTAL = ("a", "axis", "dtype", "out", "keepdims")
EXTREME = ("a", "axis", "out", "keepdims")

UFUNCS = (np.add, np.multiply, *EXTREMES, *TRUTH)


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
    """Put the first elements in their place, and let a loop go on from there.

    It goes along the axis, or across it, where elements beside each other are closer in memory.
    """
    loop = inner_loop(ufunc, (out.dtype,) * 3)
    if loop is None:
        raise NotLowerable("a scan of such a dtype")
    source = converted(lowering, ref, out.dtype)
    copy(lowering, step_at(source, axis, 0), step_at(out, axis, 0))
    steps = ref.shape[axis] - 1
    if not steps:
        return
    parts = [step_at(out, axis, 0), step_at(source, axis, 1), step_at(out, axis, 1)]
    ways = [each.strides[axis] for each in (out, source, out)]
    space = iteration_space(parts[0].shape, [each.strides for each in parts])
    beside = space.length > 1 and max(map(abs, space.steps)) < max(map(abs, ways))
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
    if not across and ufunc.__name__ in NOW and out.dtype.char in "fd":
        loop = Callee(stepping(ufunc.__name__, out.dtype), 0, ufunc.__name__)
    first = 0 if across else len(out.shape) - 1  # where the axis of the scan is gone over
    moves = [with_axis(part, first, steps, way) for part, way in zip(parts, ways, strict=True)]
    lowering.loop(loop, moves[0].shape, moves[:2], moves[2:], ordered=True)


def recurrent(lowering: Lowering) -> None:
    """Lower a linear recurrence, step by step."""
    found = lowering.options("a", "b", "axis")
    factors, terms = lowering.source(found["a"]), lowering.source(found["b"])
    solved(lowering, factors, terms, found["axis"], lowering.out)


def solved(lowering: Lowering, factors: MemRef, terms: MemRef, axis: Any, out: MemRef) -> None:
    """Solve a linear recurrence, each of whose elements is a product and a sum."""
    if type(axis) is not int or out.dtype.char not in "fd":
        raise NotLowerable("of such a dtype")
    axis, steps = axis + len(out.shape), out.shape[axis] - 1
    factors, terms = (converted(lowering, each, out.dtype) for each in (factors, terms))
    terms = terms.broadcast(out.shape)
    copy(lowering, step_at(terms, axis, 0), step_at(out, axis, 0))
    if not steps:
        return
    factors = factors.broadcast((*out.shape[:axis], steps, *out.shape[axis + 1 :]))
    refs, last = (out, factors, terms, out), len(out.shape) - 1
    parts = zip(refs, (0, 0, 1, 1), strict=True)
    ways = [with_axis(step_at(ref, axis, i), last, steps, ref.strides[axis]) for ref, i in parts]
    callee = Callee(stepping("recurrence", out.dtype), 0, "recurrence")
    lowering.loop(callee, ways[0].shape, ways[:3], ways[3:], ordered=True)


def through_product(lowering: Lowering) -> None:
    """Lower the pull through a running product: the recurrence backwards, which divides by nothing.

    What one factor gets is the product of those before it, and of what comes from it on.
    """
    ct, product = lowering.arguments("ct", "product")
    y, x, out = lowering.source(product.y), lowering.source(product.x), lowering.out

    def steps(ref: MemRef, which: slice) -> MemRef:
        return step_at(ref, product.axis + len(ref.shape), which)

    back, first, later = slice(None, None, -1), slice(1), slice(1, None)
    there = lowering.temporary(out.shape, out.dtype)
    terms, found = steps(lowering.source(ct), back), steps(there, back)
    solved(lowering, steps(steps(x, later), back), terms, product.axis, found)
    copy(lowering, steps(there, first), steps(out, first))
    factors = (steps(y, slice(-1)), steps(there, later))
    lowering.apply(np.multiply, (out.dtype,) * 3, factors, steps(out, later))


def step_at(ref: MemRef, axis: int, i: int | slice) -> MemRef:
    """Give the memory reference of one step along an axis, or of several."""
    return ref.part((slice(None),) * axis + (i,))


SCANNING = (*UFUNCS, np.subtract, np.divide, np.logaddexp, np.logaddexp2)
SCAN = ("array", "axis", "dtype", "out")
FUNCTION = ("a", "axis", "dtype", "out")

LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **{ufunc.reduce: by(ufunc, *METHOD, over_all=False) for ufunc in UFUNCS},
    np.sum: by(np.add, *TOTAL),
    np.prod: by(np.multiply, *TOTAL),
    np.max: by(np.maximum, *EXTREME),
    np.min: by(np.minimum, *EXTREME),
    np.any: by(np.logical_or, *EXTREME),
    np.all: by(np.logical_and, *EXTREME),
    np.mean: averaged,
    np.count_nonzero: counted,
    **{ufunc.accumulate: scan(ufunc, *SCAN, axis=0) for ufunc in SCANNING},
    recurrence: recurrent,
    inspect.unwrap(recurrence): recurrent,
    inspect.unwrap(pulled_through): through_product,
    np.cumsum: scan(np.add, *FUNCTION, axis=None),
    np.cumprod: scan(np.multiply, *FUNCTION, axis=None),
}

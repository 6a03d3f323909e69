"""Calls that pick elements by keys, and add them there."""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.gathers import (
    ADD,
    GATHER,
    MIXED,
    PUT,
    gathering,
    marking,
)
from tape_ad.programs.engines.native.ir.loop_nests import Callee, LoopNest, RuntimeCheck
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.copying import assignable, copy, fill
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.engines.native.lowering.picking import Picked, around, has_arrays, picked
from tape_ad.programs.program.program import Value
from tape_ad.rules.maps.indexing import Index, added_at, pushed_plainly, scatter

__all__ = ["LOWERINGS", "flattened", "gathered", "led", "same_boxes"]

BOOL = np.dtype(bool)


# Where integers lead to


def flag(lowering: Lowering) -> MemRef:
    """Give a byte that is 0."""
    byte = lowering.temporary((), np.uint8)
    fill(lowering, 0, byte)
    return byte


def led(lowering: Lowering, what: str, at: Picked, source: MemRef, target: MemRef) -> None:
    """Gather, put or add elements where integers lead to, and see that none is out of bounds."""
    shape, status, none = at.shape, flag(lowering), (0,) * len(at.shape)
    geometry = lowering.constant(np.array(at.geometry, np.int64))
    reads = [geometry.along(shape, none), *at.indices]
    if what == MIXED:
        reads.append(repeated(lowering, at, geometry).along(shape, none))
    loop = gathering(what, target.dtype, len(at.indices))
    nest = LoopNest(shape, [*reads, source], callee=Callee(loop, 0, what), ordered=what != GATHER)
    nest.writes = [(-1, target), (-1, status.along(shape, none))]
    lowering.work += [nest, RuntimeCheck(status, 0)]


def repeated(lowering: Lowering, at: Picked, geometry: MemRef) -> MemRef:
    """Give a byte that tells whether the one array of integers names a place twice."""
    (array,) = at.arrays
    marks, twice = lowering.temporary((at.geometry[0],), np.uint8), flag(lowering)
    fill(lowering, 0, marks)
    none = (0,) * len(array.shape)
    nest = LoopNest(array.shape, [geometry.along(array.shape, none), array], ordered=True)
    nest.callee = Callee(marking(), 0, "find duplicates")
    nest.writes = [(-1, marks.along(array.shape, none)), (-1, twice.along(array.shape, none))]
    lowering.work.append(nest)
    return twice


def gathered(lowering: Lowering, ref: MemRef, key: Any, out: MemRef) -> None:
    """Store what a key selects."""
    if not has_arrays(key):
        copy(lowering, ref.part(key), out)
        return
    at = picked(lowering, ref, key)
    if at.shape != out.shape or at.base.dtype != out.dtype:
        raise NotLowerable("a key that picks another shape")
    led(lowering, GATHER, at, at.base, out)


# Calls


def as_getitem(lowering: Lowering) -> None:
    """``array[key]``, where that is no view."""
    source, key = lowering.call.args
    gathered(lowering, lowering.ref(source), key, lowering.out)


def as_take(lowering: Lowering) -> None:
    """Lower `numpy.take`."""
    given = lowering.options("a", "indices", "axis", "out", "mode")
    if given.get("out") is not None or given.get("mode", "raise") != "raise":
        raise NotLowerable("such a mode")
    ref, axis, indices = lowering.ref(given["a"]), given.get("axis"), given["indices"]
    if axis is None or not ref.shape:
        ref, axis = flattened(lowering, ref), 0
    axis = operator.index(axis) % len(ref.shape)
    if type(indices) is not Value:
        indices = np.asarray(indices)
    gathered(lowering, ref, (slice(None),) * axis + (indices,), lowering.out)


def as_take_along_axis(lowering: Lowering) -> None:
    """Lower `numpy.take_along_axis`."""
    given = lowering.options("arr", "indices", "axis")
    ref, axis, out = lowering.ref(given["arr"]), given.get("axis", -1), lowering.out
    if axis is None or type(given["indices"]) is not Value:
        raise NotLowerable("such an axis")
    axis = operator.index(axis) % len(ref.shape)
    integers = picked(lowering, ref, (slice(None),) * axis + (given["indices"],)).arrays[0]
    strides = list(
        ref.broadcast(
            tuple(n if k != axis else ref.shape[axis] for k, n in enumerate(out.shape))
        ).strides
    )
    strides[axis] = 0
    at = Picked(
        ref.along(out.shape, tuple(strides)),
        [integers],
        [integers.broadcast(out.shape)],
        [ref.shape[axis], ref.strides[axis]],
    )
    led(lowering, GATHER, at, at.base, out)


def flattened(lowering: Lowering, ref: MemRef) -> MemRef:
    """Give the elements of an array along one axis, by a copy if that is no view."""
    whole = MemRef.new(ref.shape, ref.dtype)
    if ref.strides != whole.strides:
        copy(lowering, ref, whole)
        ref = whole
    return ref.along((math.prod(ref.shape),), (ref.dtype.itemsize,))


def stacked(ref: MemRef, index: Index) -> tuple[tuple[Any, ...], MemRef]:
    """Give a map's key for a stack of operands, and what it selects with its axes as NumPy's."""
    stack = len(ref.shape) - len(index.node)
    if stack and index.front:
        to, at = range(index.front), range(stack, stack + index.front)
        ref = ref.seen(lambda array: np.moveaxis(array, at, to))
    return (slice(None),) * stack + index.key, ref


def as_pushed(lowering: Lowering) -> None:
    """``Index.push``."""
    t, index = lowering.call.args
    key, out = stacked(lowering.out, index)
    gathered(lowering, lowering.ref(t), key, out)


def as_scatter(lowering: Lowering) -> None:
    """Lower `scatter`: zeros, and what is put or added there."""
    given = lowering.options("ct", "index")
    index, out = given["index"], lowering.out
    key, ct = stacked(lowering.ref(given["ct"]), index)
    if ct.dtype != out.dtype:
        raise NotLowerable("another dtype")
    if not has_arrays(key):
        boxes = around(out, key)
        for box in [out] if boxes is None else boxes:
            fill(lowering, 0, box, apart=boxes is not None)
        copy(lowering, ct, out.part(key), apart=boxes is not None)
        return
    at = picked(lowering, out, key)
    fill(lowering, 0, out)
    what = PUT if not index.repeats else MIXED if may_be_put(key, at) else ADD
    led(lowering, what, at, ct.broadcast(at.shape), at.base)


def may_be_put(key: Any, at: Picked) -> bool:
    """Tell whether what `names_each_once` says of a key depends on the integers."""
    arrays = [e for e in key if isinstance(e, np.ndarray) or getattr(e, "kind", 0) is np.ndarray]
    if len(arrays) != 1 or len(at.arrays) != 1:
        return False
    return math.prod(at.arrays[0].shape) <= at.geometry[0]


def as_added_at(lowering: Lowering) -> None:
    """Lower `added_at`: a copy, to which elements are added."""
    given = lowering.options("total", "ct", "linear")
    total, index, out = lowering.ref(given["total"]), given["linear"], lowering.out
    if not isinstance(index, Index) or total.dtype != out.dtype or total.shape != out.shape:
        raise NotLowerable(f"such a map: {type(index).__name__}")
    ct = given["ct"]
    key, ref = stacked(assignable(lowering, ct, out.dtype), index)
    if not has_arrays(key):
        boxes = around(out, key)
        new = boxes is not None and out.root is not total.root
        for box, before in [(out, total)] if boxes is None else same_boxes(boxes, out, total, key):
            copy(lowering, before, box, apart=new)
        part = out.part(key)
        nest = lowering.nest(part.shape)
        nest.apart = new
        one = nest.read(total.part(key))
        two = nest.read(ref.broadcast(part.shape))
        nest.write(nest.op(np.add, (out.dtype,) * 3, one, two), part)
        return
    at = picked(lowering, out, key)
    copy(lowering, total, out)
    led(lowering, ADD, at, ref.broadcast(at.shape), at.base)


def same_boxes(
    boxes: list[MemRef], out: MemRef, other: MemRef, key: Any
) -> list[tuple[MemRef, MemRef]]:
    """Pair boxes of one array with those of another one."""
    return list(zip(boxes, around(other, key) or (), strict=True))


LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    operator.getitem: as_getitem,
    np.take: as_take,
    np.take_along_axis: as_take_along_axis,
    pushed_plainly: as_pushed,
    scatter: as_scatter,
    added_at: as_added_at,
}

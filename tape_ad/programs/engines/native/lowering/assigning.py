"""Assignments by keys, and what their derivatives ask about them."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.gathers import PUT, collecting
from tape_ad.programs.engines.native.ir.loop_nests import Callee, Literal, LoopNest, RuntimeCheck
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.copying import assignable, copy, fill
from tape_ad.programs.engines.native.lowering.indexing import gathered, led, same_boxes
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.engines.native.lowering.picking import around, entries_of, has_arrays, picked
from tape_ad.programs.program.program import Value
from tape_ad.rules.numpy import updates

__all__ = ["LOWERINGS"]

BOOL = np.dtype(bool)


def as_updated(lowering: Lowering) -> None:
    """Lower `updated`: a copy, to which something is assigned."""
    given = lowering.options("a", "value", "key", "window")
    base, out, window = lowering.ref(given["a"]), lowering.out, given.get("window")
    if base.dtype != out.dtype or base.shape != out.shape:
        raise NotLowerable("a base of another layout")
    key, target = given["key"], out
    if window is not None:
        target = out.seen(window.on)
        if any(n > 1 and not way for n, way in zip(target.shape, target.strides, strict=True)):
            raise NotLowerable("a view that shows elements many times")
    if is_mask(key):
        if window is not None:
            copy(lowering, base, out)
        before = base if window is None else target
        assigned_by_mask(lowering, lowering.ref(key), given["value"], before, target)
        return
    value = assignable(lowering, given["value"], target.dtype)
    if has_arrays(key):
        at = picked(lowering, target, key)
        copy(lowering, base, out)
        led(lowering, PUT, at, fitted(value, at.shape), at.base)
        return
    boxes = around(out, key) if window is None else None
    new = boxes is not None and out.root is not base.root
    for box, before in [(out, base)] if boxes is None else same_boxes(boxes, out, base, key):
        copy(lowering, before, box, apart=new)
    part = target.part(key)
    copy(lowering, fitted(value, part.shape), part, apart=new)


def fitted(value: MemRef, shape: tuple[int, ...]) -> MemRef:
    """Broadcast what is assigned, whose first axes of one element do not matter."""
    extra = len(value.shape) - len(shape)
    if extra > 0:
        value = value.along(value.shape[extra:], value.strides[extra:])
    return value.broadcast(shape)


def is_mask(key: Any) -> bool:
    """Tell whether a key is one array of bools."""
    entries = [entry for entry in entries_of(key) if entry is not Ellipsis]
    one = entries[0] if len(entries) == 1 else None
    return type(one) is Value and type(key) is Value and one.dtype == BOOL


def assigned_by_mask(
    lowering: Lowering, mask: MemRef, value: Any, before: MemRef, target: MemRef
) -> None:
    """Choose between a value, the same for all elements of the mask, and what was there."""
    deep = len(mask.shape)
    if mask.shape != target.shape[:deep]:
        raise NotLowerable("a mask of another shape")
    rest = len(target.shape) - deep
    given = assignable(lowering, value, target.dtype)
    if len(given.shape) > rest:
        if len(given.shape) > rest + 1 or given.shape[0] != 1:
            raise NotLowerable("as many values as a mask has of truths")
        given = given.along(given.shape[1:], given.strides[1:])
    nest = lowering.nest(target.shape)
    where = nest.read(mask.along(target.shape, mask.strides + (0,) * rest))
    dtype = target.dtype
    one, other = nest.read(given.broadcast(target.shape)), nest.read(before)
    nest.write(nest.op(np.where, (BOOL, dtype, dtype, dtype), where, one, other), target)


def as_outside(lowering: Lowering) -> None:
    """Lower `outside`: ones, and zeros where a key selects."""
    _, key = lowering.call.args
    out = lowering.out
    if is_mask(key):
        mask = lowering.ref(key)
        deep = len(mask.shape)
        if mask.shape != out.shape[:deep]:
            raise NotLowerable("a mask of another shape")
        nest = lowering.nest(out.shape)
        where = nest.read(mask.along(out.shape, mask.strides + (0,) * (len(out.shape) - deep)))
        nest.write(nest.op(np.logical_not, (BOOL, BOOL), where), out)
        return
    fill(lowering, True, out)
    assigned_false(lowering, out, key)


def assigned_false(lowering: Lowering, target: MemRef, key: Any) -> None:
    """Mark what a key without a mask selects."""
    if not has_arrays(key):
        fill(lowering, False, target.part(key))
        return
    at = picked(lowering, target, key)
    no = assignable(lowering, False, BOOL)
    led(lowering, PUT, at, no.broadcast(at.shape), at.base)


def as_outside_window(lowering: Lowering) -> None:
    """Lower `outside_window`: ones, and zeros where a key selects from a view."""
    window, key = lowering.call.args
    if is_mask(key) or len(lowering.call.outputs) != 1:
        raise NotLowerable("such a key of a view")
    (out,) = lowering.outs
    marks = lowering.temporary(window.array.shape, BOOL)
    target = in_marks(marks, window)
    fill(lowering, True, marks)
    assigned_false(lowering, target, key)
    copy(lowering, marks, out)


def as_picked(lowering: Lowering) -> None:
    """Lower `picked`: an array of the shape that a key selects."""
    shape, key = lowering.call.args
    no = assignable(lowering, False, BOOL).broadcast(tuple(shape))
    gathered(lowering, no, key, lowering.out)


def as_landed(lowering: Lowering) -> None:
    """Lower `landed`: which elements of a value are there after an assignment, and where.

    How many those are depends on the integers; NumPy takes over where there are not as many as
    when the program was captured.
    """
    window, key = lowering.call.args
    numbers, positions = lowering.outs
    if is_mask(key) or not has_arrays(key):
        raise NotLowerable("a key without integers")
    marks = lowering.temporary(window.array.shape, np.int64)
    target = in_marks(marks, window)
    fill(lowering, -1, marks)
    at = picked(lowering, target, key)
    order = np.arange(math.prod(at.shape)).reshape(at.shape)
    led(lowering, PUT, at, lowering.constant(order), at.base)
    state = lowering.temporary((2,), np.int64)
    fill(lowering, 0, state)
    shape, count = (math.prod(marks.shape),), math.prod(numbers.shape)
    most = lowering.constant(np.array(count))
    flat = marks.along(shape, (marks.dtype.itemsize,))
    nest = LoopNest(
        shape,
        [most.along(shape, (0,)), flat],
        callee=Callee(collecting(), 0, "collect marks"),
        ordered=True,
    )
    nest.writes = [(-1, each.along(shape, (0,))) for each in (numbers, positions, state)]
    lowering.work.append(nest)
    other = lowering.temporary((), BOOL)
    look = lowering.nest(())
    found = look.read(state.along((), ()))
    expected = Literal.of(count, state.dtype)
    look.write(look.op(np.not_equal, (state.dtype, state.dtype, BOOL), found, expected), other)
    lowering.work.append(RuntimeCheck(other, 0))


def in_marks(marks: MemRef, window: Any) -> MemRef:
    """Show a view of an array in as many integers."""
    array, view, size = window.array, window.view, window.array.dtype.itemsize
    plain = MemRef.new(array.shape, array.dtype).strides == array.strides
    if not plain or view.dtype != array.dtype or any(each % size for each in view.strides):
        raise NotLowerable("such a view")
    wide = marks.dtype.itemsize
    strides = tuple(stride // size * wide for stride in view.strides)
    return MemRef(marks.root, view.offset // size * wide, view.shape, strides, marks.dtype)


LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    updates.updated: as_updated,
    inspect.unwrap(updates.outside): as_outside,
    inspect.unwrap(updates.outside_window): as_outside_window,
    inspect.unwrap(updates.picked): as_picked,
    inspect.unwrap(updates.landed): as_landed,
}

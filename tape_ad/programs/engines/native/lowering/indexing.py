"""Parts and elements that keys select: reading them, adding to them and assigning to them."""

import inspect
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.engines.native import ir
from tape_ad.programs.engines.native.codegen.compositions import is_index
from tape_ad.programs.engines.native.codegen.elementwise import Bound
from tape_ad.programs.engines.native.codegen.gathers import (
    ADD,
    MIXED,
    PUT,
    collecting,
    marking,
    masking,
    scattering,
)
from tape_ad.programs.engines.native.codegen.ir_builder import BOOL, INT64
from tape_ad.programs.engines.native.codegen.loops import picks_well
from tape_ad.programs.engines.native.ir import Callee, ExternalCall, Literal, MemRef, RuntimeCheck
from tape_ad.programs.engines.native.lowering.calls import (
    Lowering,
    NotLowerable,
    assignable,
    converted,
    copy,
    fill,
)
from tape_ad.programs.program import Value, values_in
from tape_ad.rules.maps.indexing import Index, added_at, picked_elements, scatter
from tape_ad.rules.numpy import updates


@frozen
class Picked:
    """Elements that integers lead to.

    Attributes
    ----------
    base : MemRef
        What they are picked from, of the shape of what is picked: with strides of 0 along the axes
        that the integers are for.
    arrays : list of MemRef
        The integers, each array as it is.
    indices : list of MemRef
        The same, of the shape of what is picked.
    geometry : list of int
        For each of them the length of their axis, and its stride.
    """

    base: MemRef
    arrays: list[MemRef]
    indices: list[MemRef]
    geometry: list[int]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is picked."""
        return self.base.shape


def entries_of(key: Any) -> tuple[Any, ...]:
    """List the entries of a key."""
    return key if type(key) is tuple else (key,)


def is_basic(entry: Any) -> bool:
    """Tell whether an entry of a key is one of basic indexing, without values in it."""
    if entry is None or entry is Ellipsis:
        return True
    if type(entry) is slice:
        return not values_in((entry,))
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)


def has_arrays(key: Any) -> bool:
    """Tell whether a key is more than basic indexing."""
    return not all(map(is_basic, entries_of(key)))


def integers(lowering: Lowering, entry: Any) -> MemRef:
    """Give the memory reference of an entry's integers, as int64."""
    if type(entry) is Value:
        ref = lowering.ref(entry)
    elif isinstance(entry, (list, np.ndarray)) and not values_in((entry,)):
        ref = lowering.constant(np.array(entry))
    else:
        raise NotLowerable(f"{type(entry).__name__} in a key")
    if ref.dtype.kind not in "iu":
        raise NotLowerable(f"{ref.dtype} in a key")
    if ref.dtype == np.int64:
        return ref
    wide = lowering.temporary(ref.shape, np.int64)
    copy(lowering, ref, wide)
    return wide


def picked(lowering: Lowering, ref: MemRef, key: Any) -> Picked:
    """Find out what a key with arrays of integers selects.

    Parameters
    ----------
    lowering : Lowering
    ref : MemRef
        Of the array.
    key : any
    """
    entries = list(entries_of(key))
    axes = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if not any(entry is Ellipsis for entry in entries):
        entries.append(Ellipsis)
    where = next(k for k, entry in enumerate(entries) if entry is Ellipsis)
    missing = len(ref.shape) - axes
    if missing < 0:
        raise NotLowerable("a key for more axes")
    arrays = {k: integers(lowering, e) for k, e in enumerate(entries) if not is_basic(e)}
    basic = tuple([slice(None) if k in arrays else entry for k, entry in enumerate(entries)])
    part = ref.part(basic)
    advanced: list[int] = []  # the positions of what NumPy takes for arrays among the entries
    mine: list[int] = []  # the axes of `part` that integers are for
    axis = rest = 0
    before: int | None = None
    for k, entry in enumerate(entries):
        if k in arrays or isinstance(entry, (int, np.integer)):
            advanced.append(k)
            before = rest if before is None else before
        if k in arrays:
            mine.append(axis)
            axis += 1
        elif not isinstance(entry, (int, np.integer)):
            count = missing if k == where else 1
            axis, rest = axis + count, rest + count
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    found = np.broadcast_shapes(*(index.shape for index in arrays.values()))
    first = (before or 0) if together else 0
    others = [k for k in range(len(part.shape)) if k not in mine]
    geometry = [n for k in mine for n in (part.shape[k], part.strides[k])]
    lengths = [part.shape[k] for k in others]
    shape = (*lengths[:first], *found, *lengths[first:])
    strides = [part.strides[k] for k in others]
    base = part.along(shape, (*strides[:first], *(0 for _ in found), *strides[first:]))
    behind = len(others) - first
    given = list(arrays.values())
    indices = [spread_index(each.broadcast(found), first, behind, shape) for each in given]
    return Picked(base, given, indices, geometry)


def spread_index(ref: MemRef, first: int, behind: int, shape: tuple[int, ...]) -> MemRef:
    """Give the memory reference of integers for each element that they lead to."""
    return ref.along(shape, (*(0,) * first, *ref.strides, *(0,) * behind))


def around(ref: MemRef, key: Any) -> list[MemRef] | None:
    """Divide what a basic key leaves out of an array; None where that is not a few boxes.

    Parameters
    ----------
    ref : MemRef
    key : any
        A basic key.
    """
    entries = [entry for entry in entries_of(key) if entry is not None]
    if Ellipsis not in entries:
        entries.append(Ellipsis)
    at = entries.index(Ellipsis)
    missing = len(ref.shape) - len(entries) + 1
    entries[at : at + 1] = [slice(None)] * missing
    spans = [span_of(entry, length) for entry, length in zip(entries, ref.shape, strict=True)]
    if None in spans:
        return None
    inside = tuple([slice(*span) for span in spans if span is not None])
    return [ref.part(each) for each in outside(inside, ref.shape)]


def outside(key: tuple[slice, ...], shape: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """Divide what is outside of a box into boxes.

    Examples
    --------
    >>> list(outside((slice(1, 3), slice(0, 2)), (3, 2)))
    [(slice(0, 1, None), slice(0, 2, None))]
    """
    whole = [slice(0, length) for length in shape]
    for axis, (each, length) in enumerate(zip(key, shape, strict=True)):
        for begin, end in ((0, each.start), (each.stop, length)):
            if begin < end:
                yield (*key[:axis], slice(begin, end), *whole[axis + 1 :])


def span_of(entry: Any, length: int) -> tuple[int, int] | None:
    """Give the bounds of what an entry of a basic key selects of an axis, if it has no gaps."""
    if type(entry) is slice:
        start, stop, step = entry.indices(length)
        return (start, max(start, stop)) if step == 1 else None
    index = operator.index(entry)
    index += length if index < 0 else 0
    return index, index + 1


# Where integers lead to


def flag(lowering: Lowering) -> MemRef:
    """Give a byte that is 0."""
    byte = lowering.temporary((), np.uint8)
    fill(lowering, 0, byte)
    return byte


def gather(lowering: Lowering, at: Picked, target: MemRef) -> None:
    """Read elements where integers lead to, and see that none of those is out of bounds."""
    axes = [*zip(at.geometry[::2], at.geometry[1::2], strict=True)]
    nest = lowering.nest(target.shape)
    function: Any = Bound(ir.gather, tuple(axes))
    kinds = [at.base.dtype, *[INT64] * len(at.indices), target.dtype]
    nest.write(nest.op(function, kinds, *map(nest.read, [at.base, *at.indices])), target)
    for ref, (length, _) in zip(at.arrays, axes, strict=True):
        require_within(lowering, ref, length)


def require_within(lowering: Lowering, ref: MemRef, length: int) -> None:
    """Leave indices to NumPy of which one is out of bounds, unless that is known."""
    if not has_been_seen(lowering, ref, length):
        lowering.require_all(Bound(is_index, (length,)), ref)


def has_been_seen(lowering: Lowering, ref: MemRef, number: int) -> bool:
    """Tell whether indices or a mask have been checked before, and are as they were; note it."""
    changing, known = lowering.memory_map.changing, lowering.memory_map.bounds
    if (ref, number) in known:
        return True
    if changing is not None and ref.root not in changing:
        known[ref, number] = True
    return False


ROW = 512
"""Up to how many bytes that one index leads to are put or added at once."""


def led(
    lowering: Lowering,
    what: str,
    at: Picked,
    source: MemRef,
    target: MemRef,
    *,
    from_end: bool = True,
) -> None:
    """Put or add elements where integers lead to, and see that none is out of bounds."""
    lengths = lowering.constant(np.array(at.geometry[::2], np.int64))
    refs = [*at.indices, source, target]
    columns, size = at.shape[-1:], target.dtype.itemsize
    steps = [ref.strides[-1:] for ref in refs]
    if steps == [(0,)] * len(at.indices) + [(size,)] * 2 and columns[0] * size <= ROW:
        refs = [ref.along(ref.shape[:-1], ref.strides[:-1]) for ref in refs]
    else:
        columns = (1,)
    shape, status = refs[0].shape, flag(lowering)
    none = (0,) * len(shape)
    *reads, source, target = lengths.along(shape, none), *refs
    if what == MIXED:
        reads.append(repeated(lowering, at, lengths).along(shape, none))
    loop = scattering(what, target.dtype, tuple(at.geometry[1::2]), *columns, from_end=from_end)
    writes = [target, status.along(shape, none)]
    lowering.loop(Callee(loop, 0, what), shape, [*reads, source], writes, ordered=True)
    lowering.work.append(RuntimeCheck(status, 0))
    for ref, length in zip(at.arrays, at.geometry[::2], strict=True):
        has_been_seen(lowering, ref, length)


def repeated(lowering: Lowering, at: Picked, length: MemRef) -> MemRef:
    """Give a byte that tells whether the one array of integers names a place twice."""
    (array,) = at.arrays
    marks, twice = lowering.temporary((at.geometry[0],), np.uint8), flag(lowering)
    fill(lowering, 0, marks)
    lengths, *writes = (
        each.along(array.shape, (0,) * len(array.shape)) for each in (length, marks, twice)
    )
    callee = Callee(marking(), 0, "find duplicates")
    lowering.loop(callee, array.shape, [lengths, array], writes, ordered=True)
    return twice


def store_selected(lowering: Lowering, ref: MemRef, key: Any, out: MemRef) -> None:
    """Store what a key selects."""
    if not has_arrays(key):
        copy(lowering, ref.part(key), out)
        return
    mask = chosen_by(lowering, key, ref.shape)
    if mask is not None and ref.dtype == out.dtype:
        masked(lowering, mask, ref, out, out.shape[0])
        return
    at = picked(lowering, ref, key)
    if at.shape != out.shape or at.base.dtype != out.dtype:
        raise NotLowerable("a key that picks another shape")
    gather(lowering, at, out)


# Masks that choose as many elements as when the program was captured


def chosen_by(lowering: Lowering, key: Any, shape: tuple[int, ...]) -> MemRef | None:
    """Give the mask that is all of a key, for each element of an array; None of other keys."""
    entries = [entry for entry in entries_of(key) if entry is not Ellipsis]
    if len(entries) != 1 or getattr(entries[0], "dtype", None) != BOOL:
        return None
    (entry,) = entries
    mask = lowering.ref(entry) if type(entry) is Value else lowering.constant(np.array(entry))
    return mask if mask.shape == shape and shape else None


def masked(lowering: Lowering, mask: MemRef, source: MemRef, target: MemRef, count: int) -> None:
    """Collect what a mask chooses, or spread it if there are fewer elements than the mask has."""
    spreads = source.shape == (count,) and target.shape == mask.shape
    total = lowering.temporary((), np.int64)
    loop = masking(target.dtype, spreads=spreads, registers=picks_well(target.dtype))
    callee = Callee(loop, 0, "spread" if spreads else "collect")
    refs = [flattened(lowering, mask), flattened(lowering, source)]
    size = math.prod(mask.shape)
    there = MemRef.new(target.shape, target.dtype)
    aside = there.strides != target.strides
    call = ExternalCall(
        callee, refs, [there if aside else target, total], (size, count), (0,) * 4, 2 * size
    )
    lowering.work.append(call)
    if aside:
        copy(lowering, there, target)
    if not has_been_seen(lowering, mask, count):
        lowering.require_all(np.equal, total, Literal.of(count, total.dtype))


def spread_out(lowering: Lowering, mask: MemRef, values: MemRef, dtype: np.dtype[Any]) -> MemRef:
    """Give one value for each element of a mask, in order where it chooses, else 0."""
    if len(values.shape) != 1 or values.dtype != dtype:
        raise NotLowerable("such values for what a mask chooses")
    there = lowering.temporary(mask.shape, dtype)
    masked(lowering, mask, values, there, values.shape[0])
    return there


# Calls


def as_getitem(lowering: Lowering) -> None:
    """``array[key]``, where that is no view."""
    source, key = lowering.call.args
    store_selected(lowering, lowering.ref(source), key, lowering.out)


def as_bincount(lowering: Lowering) -> None:
    """Lower `numpy.bincount`, for as many bins as when it was captured, and no number below 0."""
    given = lowering.options("x", "weights", "minlength")
    out, index = lowering.out, integers(lowering, given["x"])
    count, least, weights = out.shape[0], given.get("minlength", 0), given.get("weights")
    if len(index.shape) != 1 or type(least) is not int:
        raise NotLowerable("such a count")
    size, none = index.shape, (0,)
    if least < count:  # there are as many as the largest number asks for
        nest, kinds = lowering.nest(size), (index.dtype, index.dtype, BOOL)
        last = Literal.of(count - 1, index.dtype)
        lowering.require(nest, nest.op(np.equal, kinds, nest.read(index), last), np.logical_or)
    if weights is None:
        added = lowering.constant(np.ones((), out.dtype))
    else:
        added = assignable(lowering, weights, out.dtype)
    fill(lowering, 0, out)
    at = Picked(out.along(size, none), [index], [index], [count, *out.strides])
    led(lowering, ADD, at, added.broadcast(size), at.base, from_end=False)


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
    store_selected(lowering, ref, (slice(None),) * axis + (indices,), lowering.out)


def as_take_along_axis(lowering: Lowering) -> None:
    """Lower `numpy.take_along_axis`."""
    given = lowering.options("arr", "indices", "axis")
    ref, axis, out = lowering.ref(given["arr"]), given.get("axis", -1), lowering.out
    if axis is None or type(given["indices"]) is not Value:
        raise NotLowerable("such an axis")
    axis = operator.index(axis) % len(ref.shape)
    integers = picked(lowering, ref, (slice(None),) * axis + (given["indices"],)).arrays[0]
    whole = ref.broadcast((*out.shape[:axis], ref.shape[axis], *out.shape[axis + 1 :]))
    base = whole.spread(out.shape, (axis,))
    geometry = [ref.shape[axis], ref.strides[axis]]
    at = Picked(base, [integers], [integers.broadcast(out.shape)], geometry)
    gather(lowering, at, out)


CHECKED = 1024
"""Up to how many numbers are seen to be in order; or as many as are looked for, if more."""


def as_searchsorted(lowering: Lowering) -> None:
    """Lower `numpy.searchsorted`, and leave to NumPy a list that is not in order, or has nan."""
    given = lowering.options("a", "v", "side", "sorter")
    a, v = (lowering.array(given[name]) for name in ("a", "v"))
    dtype, side, out = np.promote_types(a.dtype, v.dtype), given.get("side", "left"), lowering.out
    if given.get("sorter") is not None or side not in ("left", "right") or dtype.kind not in "iuf":
        raise NotLowerable("it has options, or such dtypes")
    known, changing = lowering.memory_map.searches, lowering.memory_map.changing
    if (a, v, side) in known:
        copy(lowering, known[a, v, side], out)
        return
    (count,) = a.shape
    if count > max(CHECKED, math.prod(out.shape)):
        raise NotLowerable("a longer list than there are numbers to look for")
    if changing is not None and changing.isdisjoint((a.root, v.root, out.root)):
        known[a, v, side] = out
    a = converted(lowering, a, dtype)
    pair = [a.part(slice(count - 1)), a.part(slice(1, None))] if count > 1 else [a, a]
    lowering.require_all(np.less_equal, *pair)
    nest = lowering.nest(out.shape)
    key = nest.cast(nest.read(v.broadcast(out.shape)), dtype)
    base = nest.read(a.along(out.shape, (0,) * len(out.shape)))
    function: Any = Bound(ir.search, (count, *a.strides, side))
    nest.write(nest.op(function, (dtype, dtype, INT64), base, key), out)


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
    """Lower `picked_elements`, which picks by an index behind a stack."""
    t, index = lowering.arguments("t", "index")
    key, out = stacked(lowering.out, index)
    store_selected(lowering, lowering.ref(t), key, out)


def as_scatter(lowering: Lowering) -> None:
    """Lower `scatter`: zeros, and what is put or added there."""
    given, index = lowering.arguments("ct", "index")
    out = lowering.out
    key, ct = stacked(lowering.ref(given), index)
    if ct.dtype != out.dtype:
        raise NotLowerable("another dtype")
    if not has_arrays(key):
        boxes = around(out, key)
        for box in [out] if boxes is None else boxes:
            fill(lowering, 0, box, apart=boxes is not None)
        copy(lowering, ct, out.part(key), apart=boxes is not None)
        return
    mask = chosen_by(lowering, key, out.shape)
    if mask is not None and len(ct.shape) == 1:
        masked(lowering, mask, ct, out, ct.shape[0])
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
        new = copied_around(lowering, total, out, key)
        terms = total.part(key), ref
        lowering.apply(np.add, [out.dtype] * 3, terms, out.part(key), apart=new)
        return
    mask = chosen_by(lowering, key, out.shape)
    if mask is not None:
        added, dtype = spread_out(lowering, mask, ref, out.dtype), out.dtype
        nest = lowering.nest(out.shape)
        one = nest.read(total)
        both = nest.op(np.add, [dtype] * 3, one, nest.read(added))
        nest.write(nest.op(np.where, (BOOL, *[dtype] * 3), nest.read(mask), both, one), out)
        return
    at = picked(lowering, out, key)
    copy(lowering, total, out)
    led(lowering, ADD, at, ref.broadcast(at.shape), at.base)


def copied_around(lowering: Lowering, base: MemRef, out: MemRef, key: Any) -> bool:
    """Copy what a basic key leaves out, or everything; tell whether what it selects is new."""
    boxes, before = around(out, key), around(base, key)
    new = boxes is not None and out.root is not base.root
    for one, other in zip(before or [base], boxes or [out], strict=True) if boxes != [] else ():
        copy(lowering, one, other, apart=new)
    return new


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
    if window is None and is_mask(key):
        assigned_by_mask(lowering, lowering.ref(key), given["value"], base, out)
        return
    new = window is None and not has_arrays(key) and copied_around(lowering, base, out, key)
    if window is not None or has_arrays(key):
        copy(lowering, base, out)
    assign(lowering, given["value"], target, key, apart=new)


def assign(
    lowering: Lowering, value: Any, target: MemRef, key: Any, *, apart: bool = False
) -> None:
    """Put a value where a key selects."""
    if is_mask(key):
        assigned_by_mask(lowering, lowering.ref(key), value, target, target)
        return
    given = assignable(lowering, value, target.dtype)
    if has_arrays(key):
        at = picked(lowering, target, key)
        led(lowering, PUT, at, fitted(given, at.shape), at.base)
        return
    part = target.part(key)
    copy(lowering, fitted(given, part.shape), part, apart=apart)


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
        if not rest and given.shape != (1,):
            given = spread_out(lowering, mask, given, target.dtype)
        elif len(given.shape) > rest + 1 or given.shape[0] != 1:
            raise NotLowerable("as many values as a mask has of truths")
        else:
            given = given.along(given.shape[1:], given.strides[1:])
    where = mask.along(target.shape, mask.strides + (0,) * rest)
    lowering.apply(np.where, (BOOL, *[target.dtype] * 3), (where, given, before), target)


def as_outside(lowering: Lowering) -> None:
    """Lower `outside`: ones, and zeros where a key selects."""
    _, key = lowering.arguments("shape", "key")
    fill(lowering, True, lowering.out)
    assign(lowering, False, lowering.out, key)


def as_outside_window(lowering: Lowering) -> None:
    """Lower `outside_window`: ones, and zeros where a key selects from a view."""
    window, key = lowering.arguments("window", "key")
    marks = lowering.temporary(window.array.shape, BOOL)
    target = in_marks(marks, window)
    fill(lowering, True, marks)
    assign(lowering, False, target, key)
    copy(lowering, marks, lowering.out)


def as_picked(lowering: Lowering) -> None:
    """Lower `picked`: an array of the shape that a key selects."""
    shape, key = lowering.arguments("shape", "key")
    no = assignable(lowering, False, BOOL).broadcast(tuple(shape))
    store_selected(lowering, no, key, lowering.out)


def as_landed(lowering: Lowering) -> None:
    """Lower `landed`: which elements of a value are there after an assignment, and where.

    How many those are depends on the integers; NumPy takes over where there are not as many as
    when the program was captured.
    """
    window, key = lowering.arguments("window", "key")
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
    callee = Callee(collecting(), 0, "collect marks")
    writes = [each.along(shape, (0,)) for each in (numbers, positions, state)]
    lowering.loop(callee, shape, [most.along(shape, (0,)), flat], writes, ordered=True)
    lowering.require_all(np.equal, state.along((), ()), Literal.of(count, state.dtype))


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
    operator.getitem: as_getitem,
    np.searchsorted: as_searchsorted,
    np.take: as_take,
    np.bincount: as_bincount,
    np.take_along_axis: as_take_along_axis,
    picked_elements: as_pushed,
    scatter: as_scatter,
    added_at: as_added_at,
    updates.updated: as_updated,
    inspect.unwrap(updates.outside): as_outside,
    inspect.unwrap(updates.outside_window): as_outside_window,
    inspect.unwrap(updates.picked): as_picked,
    inspect.unwrap(updates.landed): as_landed,
}

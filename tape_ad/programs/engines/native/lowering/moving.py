"""Calls that move elements, and compute nothing."""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.capture.tracers import cast
from tape_ad.programs.engines.native.ir import MemRef, is_c_order
from tape_ad.programs.engines.native.lowering.calls import (
    Lowering,
    NotLowerable,
    assignable,
    copy,
    fill,
)
from tape_ad.programs.engines.native.lowering.indexing import Picked, fitted, gather
from tape_ad.programs.program import Value, values_in
from tape_ad.rules.maps.reductions import filled_with

APART = 2**44
"""How far the addresses of two operands are apart; 0 stands for no element of any."""

BOXES = 64
"""How many boxes there are at most."""


@frozen
class Box:
    """A box of a result whose elements come from memory with constant strides.

    Attributes
    ----------
    start, shape : tuple of int
        Where they are in the result.
    first : int
        The address of the first one.
    strides : tuple of int
        How far those are apart, along each axis.
    """

    start: tuple[int, ...]
    shape: tuple[int, ...]
    first: int
    strides: tuple[int, ...]

    @property
    def key(self) -> tuple[slice, ...]:
        """The key that selects them."""
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.shape, strict=True))


def addresses(ref: MemRef, number: int) -> Any:
    """Give the address of each element of an operand, whose number is counted from 0."""
    total: Any = np.full(ref.shape, (2 * number + 1) * APART)
    for axis, (length, stride) in enumerate(zip(ref.shape, ref.strides, strict=True)):
        behind = (1,) * (len(ref.shape) - axis - 1)
        total += (np.arange(length) * stride).reshape(length, *behind)
    return total


def boxes_in(moved: Any) -> list[Box] | None:
    """Divide a result, which holds addresses, into boxes; None where there are too many."""
    found: list[Box] = []
    for box in divided(moved, (0,) * moved.ndim):
        found.append(box)
        if len(found) > BOXES:
            return None
    return found


def divided(array: Any, start: tuple[int, ...]) -> Iterator[Box]:
    """Take the largest box at the beginning, and divide what is left."""
    if array.size == 0:
        return
    box = first_of(array, start)
    yield box
    inside: list[slice] = []
    for axis, length in enumerate(box.shape):
        rest = array[(*inside, slice(length, None))]
        begin = (*start[:axis], start[axis] + length, *start[axis + 1 :])
        yield from divided(rest, begin)
        inside.append(slice(0, length))


def first_of(array: Any, start: tuple[int, ...]) -> Box:
    """Find a box at the beginning, axis by axis from the last one on."""
    ndim = array.ndim
    shape, strides = [1] * ndim, [0] * ndim
    origin = int(array[(0,) * ndim])
    for axis in reversed(range(ndim)):
        if array.shape[axis] == 1:
            continue
        slab = array[(*(0,) * axis, slice(None), *(slice(0, n) for n in shape[axis + 1 :]))]
        step = int(slab[(1, *(0,) * (slab.ndim - 1))]) - origin
        if abs(step) >= APART // 2:
            continue
        wanted = np.arange(len(slab)).reshape(-1, *(1,) * (slab.ndim - 1)) * step + slab[:1]
        fits = (slab == wanted).reshape(len(slab), -1).all(1)
        shape[axis] = len(slab) if fits.all() else int(np.argmin(fits))
        strides[axis] = step if shape[axis] > 1 else 0
    return Box(start, tuple(shape), origin, tuple(strides))


MOST = 2**20
"""How many elements of a result are looked for at most."""


def copied(lowering: Lowering) -> None:
    """Copy elements to new memory, where they are repeated along axes that they do not have."""
    source, out = lowering.call.args[0], lowering.out
    if type(source) in (tuple, list):
        side_by_side(lowering, source, 0, stacks=True)
        return
    if type(source) is Value and source.dtype is not None:
        complex_to_real(source.dtype, out.dtype)
    nest = lowering.nest(out.shape)
    nest.write(lowering.operand(nest, source, out.dtype), out)


def complex_to_real(given: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    """Leave to NumPy what it warns of."""
    if given.kind == "c" and wanted.kind not in "cb":
        raise NotLowerable("imaginary parts are thrown away")


def filled(number: Any) -> Callable[[Lowering], None]:
    """Make what fills a result with a number."""

    def lower(lowering: Lowering) -> None:
        fill(lowering, number, lowering.out)

    return lower


def as_full(lowering: Lowering) -> None:
    """Lower `numpy.full` and `numpy.full_like`."""
    out = lowering.out
    number = (*lowering.call.args, lowering.call.kwargs.get("fill_value"))[1]
    copy(lowering, fitted(assignable(lowering, number, out.dtype), out.shape), out)


def joined(lowering: Lowering) -> None:
    """Lower `numpy.concatenate` and `numpy.stack`."""
    call, out = lowering.call, lowering.out
    arrays, axis = call.args[0], (*call.args[1:], call.kwargs.get("axis", 0))[0]
    if type(arrays) not in (tuple, list) or call.kwargs.get("out") is not None or axis is None:
        by_addresses(lowering)
        return
    axis = operator.index(axis) % len(out.shape)
    side_by_side(lowering, arrays, axis, stacks=call.function is np.stack)


def side_by_side(lowering: Lowering, arrays: Sequence[Any], axis: int, *, stacks: bool) -> None:
    """Copy arrays to parts of the result along an axis, which they have unless it `stacks` them."""
    before = 0
    for each in arrays:
        source = operand(lowering, each)
        length = 1 if stacks else source.shape[axis]
        entry = before if stacks else slice(before, before + length)
        part = lowering.out.part((slice(None),) * axis + (entry,))
        copy(lowering, source, part, apart=True)
        before += length


def operand(lowering: Lowering, arg: Any) -> MemRef:
    """Give the memory reference of an array, or of a number among arrays."""
    ref = lowering.array(arg)
    if type(arg) is Value:
        complex_to_real(ref.dtype, lowering.out.dtype)
    return ref


def repeated(lowering: Lowering) -> None:
    """Lower `numpy.repeat` by one count."""
    given = lowering.options("a", "repeats", "axis")
    count, axis = given["repeats"], given.get("axis")
    ref, out = lowering.ref(given["a"]), lowering.out
    if type(count) is not int or not ref.shape or (axis is None and len(ref.shape) != 1):
        by_addresses(lowering)
        return
    axis = operator.index(axis or 0) % len(ref.shape)
    shape, size = ref.shape, out.strides[axis]
    here, behind = ref.strides[: axis + 1], ref.strides[axis + 1 :]
    wide = (*shape[: axis + 1], count, *shape[axis + 1 :])
    target = (*out.strides[:axis], size * count, size, *out.strides[axis + 1 :])
    copy(lowering, ref.along(wide, (*here, 0, *behind)), out.along(wide, target))


def diagonal(lowering: Lowering) -> None:
    """Lower `numpy.diag` and `numpy.diagflat` of one axis: zeros, and the diagonal."""
    given = lowering.options("v", "k")
    ref, out, k = lowering.ref(given["v"]), lowering.out, given.get("k", 0)
    if len(ref.shape) != 1:
        by_addresses(lowering)
        return
    fill(lowering, 0, out)
    copy(lowering, ref, out.seen(lambda array: array.diagonal(k)))


def by_addresses(lowering: Lowering, number: Any = 0, **options: Any) -> None:
    """Have NumPy move the addresses of the elements, to see where they go.

    Parameters
    ----------
    lowering : Lowering
    number : number
        What is where no element goes.
    **options
        What the call is called with in place of its own options.
    """
    call, out = lowering.call, lowering.out
    given = {**call.kwargs, **options}
    for each in ("dtype", "casting"):  # of the elements, not of where they are
        given.pop(each, None)
    arrays = MOVED.get(call.function, (0,))
    rest = [arg for number, arg in enumerate(call.args) if number not in arrays]
    if values_in((tuple(rest), given)) or math.prod(out.shape) > MOST:
        raise NotLowerable("a result that is large, or depends on numbers")
    sources: list[MemRef] = []

    def moving(arg: Any) -> Any:
        if type(arg) in (tuple, list):
            return type(arg)([moving(each) for each in arg])
        ref = operand(lowering, arg)
        sources.append(ref)
        return addresses(ref, len(sources) - 1)

    args = [moving(arg) if k in arrays else arg for k, arg in enumerate(call.args)]
    moved = call.function(*args, **given)
    if np.shape(moved) != out.shape or np.asarray(moved).dtype != np.int64:
        raise NotLowerable("a result that is computed")
    boxes = boxes_in(np.asarray(moved))
    if boxes is None:
        picked_one_by_one(lowering, np.asarray(moved), sources)
        return
    for box in boxes:
        target = out.part(box.key)
        if box.first == 0:
            fill(lowering, number, target, apart=True)
            continue
        which = (box.first - APART // 2) // (2 * APART)
        behind = box.first - (2 * which + 1) * APART
        copy(lowering, sources[which].along(box.shape, box.strides, behind), target, apart=True)


MOVED: Mapping[Any, tuple[int, ...]] = {np.append: (0, 1), np.insert: (0, 2)}
"""Which arguments are arrays, where it is not the first one."""


def picked_one_by_one(lowering: Lowering, moved: Any, sources: list[MemRef]) -> None:
    """Gather elements of one array that come from anywhere."""
    if len(sources) != 1 or np.any(moved == 0):
        raise NotLowerable("too many pieces")
    (source,), out = sources, lowering.out
    lowest = int(moved.min())
    ways = lowering.constant(np.ascontiguousarray(moved - lowest))
    base = source.along(out.shape, (0,) * len(out.shape), lowest - APART)
    if source.dtype != out.dtype:
        raise NotLowerable("too many pieces of another dtype")
    at = Picked(base, [ways], [ways], [int(moved.max()) - lowest + 1, 1])
    gather(lowering, at, out)


def padded(lowering: Lowering) -> None:
    """Lower `numpy.pad`, where that computes nothing."""
    kwargs = lowering.call.kwargs
    mode = (*lowering.call.args[2:], kwargs.get("mode", "constant"))[0]
    if mode == "constant":
        number = kwargs.get("constant_values", 0)
        if type(number) not in (int, float, bool) or len(lowering.call.args) > 3:
            raise NotLowerable("numbers that differ from side to side")
        assignable(lowering, number, lowering.out.dtype)
        options = {"constant_values": 0} if number else {}
        by_addresses(lowering, number, **options)
    elif mode in MODES and kwargs.get("reflect_type", "even") == "even":
        by_addresses(lowering)
    else:
        raise NotLowerable(f"padding by {mode}")


def reshaped(lowering: Lowering) -> None:
    """Lower `numpy.reshape` and `numpy.ravel`, where they copy."""
    call, out = lowering.call, lowering.out
    ref = operand(lowering, call.args[0])
    positional = call.args[1 if call.function is np.ravel else 2 :]
    order = (*positional, call.kwargs.get("order"))[0]
    if order not in (None, "C", "F") and not is_c_order(ref):
        raise NotLowerable("an order that depends on how elements lie in memory")
    if order == "F" or not is_c_order(out):
        by_addresses(lowering)
        return
    copy(lowering, ref, out.along(ref.shape, MemRef.new(ref.shape, out.dtype).strides))


MODES = frozenset({"edge", "wrap", "reflect", "symmetric"})

LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    np.copy: copied,
    np.asarray: copied,
    np.ascontiguousarray: copied,
    np.asfortranarray: copied,
    np.atleast_1d: copied,
    cast: copied,
    **({np.astype: copied} if hasattr(np, "astype") else {}),
    filled_with: copied,
    np.zeros_like: filled(0),
    np.empty_like: filled(0),
    np.ones_like: filled(1),
    np.full_like: as_full,
    np.full: as_full,
    np.concatenate: joined,
    np.stack: joined,
    np.repeat: repeated,
    np.diag: diagonal,
    np.diagflat: diagonal,
    np.pad: padded,
    np.reshape: reshaped,
    np.ravel: reshaped,
    **dict.fromkeys((np.vstack, np.hstack, np.dstack, np.column_stack, np.block), by_addresses),
    **dict.fromkeys((np.append, np.insert, np.delete, np.resize, np.roll, np.tile), by_addresses),
    **dict.fromkeys((np.flip, np.fliplr, np.flipud, np.rot90), by_addresses),
    **dict.fromkeys((np.fft.fftshift, np.fft.ifftshift), by_addresses),
}

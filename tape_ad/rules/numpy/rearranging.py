"""Functions that rearrange elements: they turn arrays around, repeat them or take them apart."""

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from attrs import define
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view

from tape_ad.base.arrays.overridable import shaped_by_values
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Call,
    Derivation,
    Entry,
    along,
    arguments_of,
    as_array,
    as_constant,
    axes_of,
    rule,
)
from tape_ad.rules.maps import (
    SAME,
    Adjoint,
    Array,
    Chain,
    Index,
    LinearMap,
    Reshape,
    Shape,
    Stretch,
    Transpose,
)
from tape_ad.rules.maps.patterns import permutation
from tape_ad.rules.numpy.bodies import is_place_or_slice, own
from tape_ad.rules.numpy.shaping import memory_order
from tape_ad.rules.plain_maps import Gather, PlainMap


@define(eq=False, repr=False)
class Flip:
    """The opposite order along some axes, which are negative; the map is its own adjoint."""

    rearranges: ClassVar[bool] = True
    pattern = permutation
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        return np.flip(t, self.axes)

    def pull(self, ct: Array) -> Array:
        return np.flip(ct, self.axes)


@define(eq=False, repr=False)
class Roll:
    """A cyclic shift along some axes, which are negative."""

    pattern = permutation
    shifts: tuple[int, ...]
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        return roll(t, self.shifts, self.axes)

    def pull(self, ct: Array) -> Array:
        return roll(ct, tuple(-shift for shift in self.shifts), self.axes)


def roll(array: Array, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """Call `numpy.roll`; or do what it does along one axis, in half the time."""
    if len(axes) != 1 or type(array) is not np.ndarray or not array.size:
        return np.roll(array, shifts, axes)
    (axis,) = axes
    start = -shifts[0] % array.shape[axis]
    parts = array[along(axis, slice(start, None))], array[along(axis, slice(start))]
    return np.concatenate(parts, axis)


@define(eq=False, repr=False)
class Windows(PlainMap):
    """All windows of some size along one axis, a negative one; they get an axis at the end."""

    pattern = permutation
    size: int
    axis: int

    def forward(self, t: Array) -> Array:
        return sliding_window_view(t, self.size, self.axis)

    def backward(self, ct: Array) -> Array:
        # Element k of window j is element j + k of the parent: go through the fewer of both
        fewer, more = sorted((self.axis - 1, -1), key=lambda axis: ct.shape[axis])
        lines = np.moveaxis(ct, (fewer, more), (0, self.axis))
        count, n = len(lines), lines.shape[self.axis]
        shape = list(lines.shape[1:])
        shape[self.axis] = count + n - 1
        total = np.zeros(shape, ct.dtype)
        for k, line in enumerate(lines):
            total[along(self.axis, slice(k, k + n))] += line
        return total


def windows_signature(
    x: Array, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Call:
    """Sort the arguments of `numpy.lib.stride_tricks.sliding_window_view`."""
    if writeable:
        raise UnsupportedArgumentError(
            "sliding_window_view of a handle is not written to; leave writeable=True out"
        )
    return (x,), {"window_shape": window_shape, "axis": axis}


def windowed(out: Array, x: Array, window_shape: Any, axis: Any) -> LinearMap:
    """Make the partial of sliding windows, which are taken along one axis after another."""
    sizes = np.atleast_1d(window_shape).tolist()
    axes = axes_of(x.ndim, axis, repeated=True)
    return Chain(
        tuple(Windows(size, at - i) for i, (size, at) in enumerate(zip(sizes, axes, strict=True)))
    )


def flipped(out: Array, m: Array, axis: int | tuple[int, ...] | None) -> LinearMap:
    """Make the partial of a flip."""
    return Flip(axes_of(m.ndim, axis))


def rotated(out: Array, m: Array, k: int, axes: Sequence[int]) -> LinearMap:
    """Make the partial of quarter turns: flips, with the two axes swapped for an odd number."""
    first, second = axes_of(m.ndim, tuple(axes))
    order = list(range(-m.ndim, 0))
    order[first], order[second] = second, first
    swap = Transpose(tuple(order))
    turns: tuple[LinearMap, ...] = (
        SAME,
        Chain((Flip((second,)), swap)),
        Flip((first, second)),
        Chain((swap, Flip((second,)))),
    )
    return turns[k % 4]


def rolled(out: Array, a: Array, shift: Any, axis: Any) -> LinearMap:
    """Make the partial of a roll; without an axis it is one of the flattened array."""
    if type(shift) is int and type(axis) is int:
        return Roll((shift,), axes_of(a.ndim, axis))
    number = -1 if axis is None else np.asarray(axis)
    shifts, axes = (x.ravel().tolist() for x in np.broadcast_arrays(shift, number))
    if axis is not None:
        return Roll(tuple(map(int, shifts)), axes_of(a.ndim, tuple(axes), repeated=True))
    flat = (a.size,)
    roll = Roll(tuple(map(int, shifts)), tuple(axes))
    if a.shape == flat:
        return roll
    return Chain((Reshape(a.shape, flat), roll, Reshape(flat, a.shape)))


FLIPPING: dict[Any, Entry] = {
    np.flip: rule(
        flipped, signature=arguments_of(np.flip, "m", "axis"), facts=facts.along(none="all")
    ),
    **own(np.flipud, np.fliplr),
    np.rot90: rule(
        rotated, signature=arguments_of(np.rot90, "m", "k axes"), facts=facts.along("axes")
    ),
    np.roll: rule(rolled, signature=arguments_of(np.roll, "a", "shift axis")),
    sliding_window_view: rule(
        windowed, signature=windows_signature, facts=facts.along(none="all").also(view=True)
    ),
}


@define(eq=False, repr=False)
class Repeat(PlainMap):
    """The same number of repetitions, not 0, of all elements of the last axis.

    A product with a vector sums them much faster than a reduction does.
    """

    pattern = permutation
    times: int

    def forward(self, t: Array) -> Array:
        return np.repeat(t, self.times, axis=-1)

    def backward(self, ct: Array) -> Array:
        length = ct.shape[-1] // self.times
        apart = ct.reshape((*ct.shape[:-1], length, self.times))
        return np.matmul(apart, np.ones(self.times, ct.dtype))


def repeated(out: Array, a: Array, repeats: Any, axis: Any) -> LinearMap:
    """Make the partial of `repeat`: one number for all elements stretches a new axis."""
    flat = axis is None or a.ndim == 0
    shape = (a.size,) if flat else a.shape
    number = 0 if flat else axes_of(a.ndim, axis)[0] + a.ndim
    counts = as_array(repeats)
    along: LinearMap
    if counts.size != 1:
        index = copied(shape[number], counts)
        along = Gather(number - len(shape), index, shape[number])
    elif number == len(shape) - 1 and counts.item():
        along = Repeat(operator.index(counts.item()))
    else:
        before, after, times = (
            shape[: number + 1],
            shape[number + 1 :],
            operator.index(counts.item()),
        )
        return stretched(a.shape, (*before, 1, *after), (*before, times, *after), out.shape)
    return along if a.shape == shape else Chain((Reshape(a.shape, shape), along))


@shaped_by_values
def copied(length: int, counts: Array) -> Array:
    """Number the elements that a repetition gives by what they are copies of."""
    return np.repeat(np.arange(length), counts)


def stretched(parent: Shape, apart: Shape, repeats: Shape, node: Shape) -> LinearMap:
    """Make the map that reshapes, broadcasts the axes of length one, and reshapes again."""
    return Chain((Reshape(parent, apart), Stretch(apart, repeats), Reshape(repeats, node)))


def tiled(out: Array, a: Array, reps: Any) -> LinearMap:
    """Make the partial of `tile`: each axis is repeated as a whole."""
    counts = np.atleast_1d(reps).tolist()
    counts = [1] * (a.ndim - len(counts)) + counts
    lengths = (1,) * (len(counts) - a.ndim) + a.shape
    pairs = list(zip(counts, lengths, strict=True))
    apart = [n for count, length in pairs for n in ((length,) if count == 1 else (1, length))]
    repeats = [n for count, length in pairs for n in ((length,) if count == 1 else (count, length))]
    return stretched(a.shape, tuple(apart), tuple(repeats), out.shape)


def resized(out: Array, a: Array, new_shape: Any) -> LinearMap:
    """Make the partial of `resize`: the flattened array, repeated and cut to the new size."""
    copies = -(-out.size // a.size) if a.size else 0
    total = copies * a.size
    maps: list[LinearMap] = [stretched(a.shape, (1, a.size), (copies, a.size), (total,))]
    if total > out.size:
        maps.append(Index((slice(0, out.size),), (total,), (out.size,)))
    elif total < out.size:  # there was nothing to repeat
        maps.append(Adjoint(Index((slice(0, total),), (out.size,), (total,))))
    return Chain((*maps, Reshape((out.size,), out.shape)))


REPEATING: dict[Any, Entry] = {
    np.repeat: rule(
        repeated,
        signature=arguments_of(np.repeat, "a", "repeats axis"),
        facts=facts.along().also(shape_by_values=True, may_raise=True),
    ),
    np.tile: rule(tiled, signature=arguments_of(np.tile, "A", "reps")),
    np.resize: rule(
        resized, signature=arguments_of(np.resize, "a", "new_shape"), facts=facts.moves("a")
    ),
}


Sections = int | Sequence[int]


# Taking apart


def array_split(ary: Array, indices_or_sections: Sections, axis: int = 0) -> list[Array]:
    """Split into parts, of which the first are longer by one if need be."""
    ary = as_array(ary)
    length = ary.shape[axis]
    if np.ndim(indices_or_sections):
        bounds = [0, *np.asarray(indices_or_sections).tolist(), length]
    else:
        sections = int(np.asarray(indices_or_sections))
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        size, longer = divmod(length, sections)
        bounds = [i * size + min(i, longer) for i in range(sections + 1)]
    axis = axis % ary.ndim - ary.ndim
    return [ary[along(axis, slice(*ends))] for ends in pairwise(bounds)]


# Putting in and taking out


def delete(arr: Array, obj: Any, axis: int | None) -> Array:
    """Take what is left without some places; see `numpy.delete`."""
    arr = as_array(arr)
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, normalize_axis_index(axis, arr.ndim))
    places = constant(obj)
    kept = np.delete(np.arange(arr.shape[axis]), places)
    if is_place_or_slice(places):
        return in_order_of(arr, np.take(arr, kept, axis))
    return arr[(*(slice(None),) * axis, kept)]  # which lies in memory as NumPy's result does


def insert(arr: Array, values: Array, obj: Any, axis: int | None) -> Array:
    """Put values between others, where NumPy puts the numbers of their places.

    Beside a number as `obj`, NumPy takes their first axis for the one to insert along, and beside
    one place it inserts as many as there are.
    """
    arr, values = as_array(arr), as_array(values)
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, normalize_axis_index(axis, arr.ndim))
    length, obj = arr.shape[axis], constant(obj)
    shape = (1,) * (arr.ndim - values.ndim) + values.shape[-arr.ndim :]
    values = values if values.shape == shape else np.reshape(values, shape)
    values = np.moveaxis(values, 0, axis) if getattr(obj, "ndim", 1) == 0 else values
    count = np.insert(np.arange(length), obj, 0).size - length
    count = values.shape[axis] if count == 1 else count
    order = np.insert(np.arange(length), obj, np.arange(length, length + count))
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    values = np.astype(np.broadcast_to(values, shape), arr.dtype)
    return in_order_of(arr, np.take(np.concatenate((arr, values), axis), order, axis))


def in_order_of(arr: Array, new: Array) -> Array:
    """Lay out a new array as NumPy does beside another: in Fortran's order if that is in it."""
    return np.copy(new, order="F") if memory_order(arr) == "F" else new


def constant(places: Any) -> Any:
    """Take places that are constants, the same for all of a batch."""
    if hasattr(places, "batch_here"):
        raise UnsupportedArgumentError("the places differ from one of a batch to another")
    none = isinstance(places, (list, tuple)) and not places  # which is no array of floats here
    return places if none or isinstance(places, slice) else as_constant(places)


def trim_zeros(filt: Array, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """Cut off what is zero at the ends of axes, of several too, which NumPy has from 2.2 on."""
    filt, trim = as_array(filt), trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if filt.ndim == 0 and axis is None:
        return filt
    key = [slice(None)] * filt.ndim
    found = np.nonzero(np.not_equal(filt, 0)) if filt.ndim else ()
    for number in range(filt.ndim) if axis is None else normalize_axis_tuple(axis, filt.ndim):
        along = found[number]
        if not along.size:
            key[number] = slice(0, 0)
            continue
        start = int(along.min()) if "f" in trim else None
        stop = int(along.max()) + 1 if "b" in trim else None
        key[number] = slice(start, stop)
    return filt[(*key, ...)]


SPLITTING: dict[Any, Entry] = {
    np.array_split: Derivation(array_split),
    **own(np.split, np.hsplit, np.vsplit, np.dsplit),
    np.trim_zeros: Derivation(trim_zeros, facts=facts.SHAPED_BY_VALUES),
    np.delete: Derivation(
        delete,
        arguments_of(np.delete, "arr", "obj axis"),
        facts.along().also(shape_by_values=True),
    ),
    np.insert: Derivation(
        insert,
        arguments_of(np.insert, "arr values", "obj axis"),
        facts.SHAPED_BY_VALUES.also(
            may_raise="indexed",
            body=lambda arr, obj, values, axis=None: insert(arr, values, obj, axis),
        ),
    ),
}
if hasattr(np, "unstack"):  # since NumPy 2.1
    SPLITTING |= own(np.unstack)

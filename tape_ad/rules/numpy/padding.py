"""Padding, which adds margins to an array, one axis after another."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import as_in_key, batch_in, whole
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Entry, along, as_array, rule
from tape_ad.rules.maps import SAME, Adjoint, Array, Chain, Index, LinearMap, Shape
from tape_ad.rules.maps.patterns import ALL, Pattern, joined, reads, separable
from tape_ad.rules.numpy import bodies
from tape_ad.rules.plain_maps import PlainMap, summed_by_index

Widths = list[tuple[int, int]]

VALUES = {"constant": "constant_values", "linear_ramp": "end_values"}
"""The modes that pad with given values, and the name that they have there."""


@define(eq=False, repr=False)
class Margins(PlainMap):
    """The margins of one axis: each of their elements is a mixture of elements of the parent.

    Element j is ``inner[j] * parent[index[j]] + first[j] * sum(head * parent[:h]) + last[j] *
    sum(tail * parent[-k:])`` along the axis, where what is None is left out.

    Parameters
    ----------
    axis : int
        Negative.
    before, after : int
        The widths of the two margins. The arrays of one number for each element of a margin have
        the length ``before + after``.
    length : int
        That of the parent along the axis.
    index, inner : array, optional
        `inner` is 1 when left out.
    first, last : array, optional
    head, tail : array
        Weights that broadcast to the first and the last elements of the parent.
    """

    axis: int
    before: int
    after: int
    length: int
    index: Array = None
    inner: Array = None
    first: Array = None
    last: Array = None
    head: Array = None
    tail: Array = None

    def weighted(self, t: Array, weights: Array) -> Array:
        """Multiply by one number for each element of the margins, without promoting."""
        along_axis = weights.reshape((-1,) + (1,) * (-self.axis - 1))
        return t * along_axis.astype(t.real.dtype)

    def ends(self) -> list[tuple[Array, Array, tuple[Any, ...]]]:
        """List the two ends that margins are made of, with their weights and where they are."""
        both = []
        if self.first is not None:
            stop = self.head.shape[self.axis]
            both.append((self.first, self.head, along(self.axis, slice(0, stop))))
        if self.last is not None:
            start = self.length - self.tail.shape[self.axis]
            both.append((self.last, self.tail, along(self.axis, slice(start, self.length))))
        return both

    @reads(ALL)
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        return separable(parent, node, {self.axis: self.along_axis()})

    def along_axis(self) -> Pattern:
        """Tell which indices along the axis depend on which."""
        inside = np.arange(self.length)
        own = [Pattern(inside + self.before, inside)]
        margins = np.arange(self.before + self.after)
        margins[self.before :] += self.length
        if self.index is not None:
            own.append(Pattern(margins, self.index))
        for _, _, key in self.ends():
            used = inside[key[1]]
            own.append(Pattern(np.repeat(margins, len(used)), np.tile(used, len(margins))))
        return joined(own)

    def forward(self, t: Array) -> Array:
        shape = list(t.shape)
        shape[self.axis] = self.before + self.after
        margins = np.zeros(shape, t.dtype)
        if batch_in((self.head, self.tail)) is not None:
            margins = as_in_key(margins, (self.head, self.tail)).copy()
        if self.index is not None:
            inside = np.take(t, self.index, axis=self.axis)
            margins += inside if self.inner is None else self.weighted(inside, self.inner)
        for weights, parts, key in self.ends():
            chunk = t[key] * parts.astype(t.real.dtype)
            margins += self.weighted(np.add.reduce(chunk, axis=self.axis, keepdims=True), weights)
        left = margins[along(self.axis, slice(0, self.before))]
        right = margins[along(self.axis, slice(self.before, None))]
        return np.concatenate([left, t, right], axis=self.axis)

    def backward(self, ct: Array) -> Array:
        stop = self.before + self.length
        ct = as_in_key(ct, (self.head, self.tail))
        total = ct[along(self.axis, slice(self.before, stop))].copy()
        left = ct[along(self.axis, slice(0, self.before))]
        right = ct[along(self.axis, slice(stop, None))]
        margins = np.concatenate([left, right], axis=self.axis)
        if self.index is not None:
            inside = margins if self.inner is None else self.weighted(margins, self.inner)
            places, sums = summed_by_index(inside, self.index, self.axis)
            total[along(self.axis, places)] += sums
        for weights, parts, key in self.ends():
            mixed = self.weighted(margins, weights)
            sums = np.add.reduce(mixed, axis=self.axis, keepdims=True)
            total[key] += sums * parts.astype(ct.real.dtype)
        return total


def padded_1d(values: Array, width: tuple[int, int], mode: str, **options: Any) -> Array:
    """Pad a sequence and give its margins alone, the right one behind the left one."""
    padded = np.pad(values, width, mode, **options)  # type: ignore[call-overload]  # any mode
    return np.concatenate([padded[: width[0]], padded[width[0] + len(values) :]])


def picking(axis: int, length: int, width: tuple[int, int], mode: str) -> Margins:
    """Make the margins that repeat elements of the parent."""
    return Margins(axis, *width, length, index=padded_1d(np.arange(length), width, mode))


def odd(axis: int, length: int, width: tuple[int, int], mode: str) -> Margins:
    """Make the margins that are twice an edge less the reflection, several times if need be.

    Whatever comes of that is a mixture of one element, of the first and of the last.
    """
    index = padded_1d(np.arange(length), width, mode)
    edges = np.zeros((2, length))
    edges[0, 0] = edges[1, -1] = 1
    options: dict[str, Any] = {"mode": mode, "reflect_type": "odd"}
    first, last = (padded_1d(edge, width, **options) for edge in edges)
    if length == 1:
        last = np.zeros_like(last)
    inside = (index > 0) & (index < length - 1)
    inner = np.where(inside, 1 - first - last, 0)
    return ended(axis, length, width, first, last, index=index, inner=inner)


def ramp(axis: int, length: int, width: tuple[int, int]) -> Margins:
    """Make the margins that go straight to 0, or to given values, from the edges."""
    before, after = width
    first = np.concatenate([np.arange(before) / max(before, 1), np.zeros(after)])
    last = np.concatenate([np.zeros(before), np.arange(after)[::-1] / max(after, 1)])
    return ended(axis, length, width, first, last)


def ended(
    axis: int,
    length: int,
    width: tuple[int, int],
    first: Array,
    last: Array,
    head: Array = None,
    tail: Array = None,
    **others: Array,
) -> Margins:
    """Make margins of the first and the last element, or of mixtures at the two ends."""
    one = np.ones((1,) * -axis)
    head, tail = (one if weights is None else weights for weights in (head, tail))
    return Margins(axis, *width, length, first=first, last=last, head=head, tail=tail, **others)


# Statistics


def shares(chunk: Array, axis: int, mode: str) -> Array:
    """Tell how much of a mean, median or extremum each element is.

    Where several elements tie for an extremum they share alike.
    """
    size = chunk.shape[axis]
    if mode == "mean":
        return np.full((size,) + (1,) * (-axis - 1), 1 / max(size, 1))
    if mode == "median":
        middle = sorted({(size - 1) // 2, size // 2})
        order = np.argpartition(chunk, middle, axis=axis) if size else None
        return shares_of_median(chunk.shape, middle, order, axis)
    extremum = np.max if mode == "maximum" else np.min
    chosen = np.equal(chunk, extremum(chunk, axis=axis, keepdims=True))
    return chosen / np.maximum(np.add.reduce(chosen, axis=axis, keepdims=True), 1)


@whole
def shares_of_median(shape: Shape, middle: list[int], order: Any, axis: int) -> Array:
    """Share a median among what stands in the middle of an order."""
    weights = np.zeros(shape)
    if order is not None:
        weights = as_in_key(weights, (order,)).copy()
        places = np.take(order, middle, axis=axis)
        np.put_along_axis(weights, places, 1 / len(middle), axis=axis)
    return weights


def statistics(
    out: Array, shape: Shape, widths: Widths, number: int, lengths: Array, mode: str
) -> Margins:
    """Make the margins that repeat a statistic of the elements next to them."""
    axis, length, (before, after) = number - len(shape), shape[number], widths[number]
    inner = inner_key(shape, widths)
    sizes = [length if n is None else min(int(n), length) for n in lengths[number]]
    starts = (before, before + length - sizes[1])
    chunks = [
        out[(..., slice(start, start + n), *inner[number + 1 :])]
        for start, n in zip(starts, sizes, strict=True)
    ]
    head = shares(chunks[0], axis, mode)
    tail = head if min(sizes) == length else shares(chunks[1], axis, mode)
    first = np.repeat((1.0, 0.0), (before, after))
    return ended(axis, length, (before, after), first, 1 - first, head, tail)


# The rule


def pad_signature(array: Array, pad_width: Any, mode: Any = "constant", **options: Any) -> Call:
    """Sort the arguments of `numpy.pad`; values that are no constants are joined to it first."""
    if callable(mode):
        raise UnsupportedArgumentError(
            "np.pad: a function as mode= is given plain arrays to write to, which would drop the "
            "gradient; pad by one of the named modes, or np.concatenate the margins"
        )
    name = VALUES.get(mode, "")
    values = options.get(name)
    if hasattr(values, "shape") and not isinstance(values, (np.ndarray, np.generic)):
        del options[name]
        array = with_values(array, widths_of(array.ndim, pad_width), mode, values)
        pad_width, mode = 0, "constant"
    return (array,), {"pad_width": pad_width, "mode": mode, **options}


def pad(array: Array, pad_width: Any, mode: str, **options: Any) -> Array:
    """Call `numpy.pad`, or pad with zeros in less time."""
    number = options.get(VALUES["constant"], 0)
    plain = type(array) is np.ndarray and type(number) is int and number == 0
    if mode == "constant" and plain and options.keys() <= {VALUES["constant"]}:
        widths = plain_widths(array.ndim, pad_width)
        if widths is not None:
            return in_zeros(array, widths)
    return np.pad(array, pad_width, mode, **options)  # type: ignore[call-overload]  # any mode


def with_values(array: Array, widths: Widths, mode: str, values: Array) -> Array:
    """Pad with values that are no constants, or with what goes straight to them from the edges."""
    ends = np.broadcast_to(values.astype(array.dtype), (array.ndim, 2))
    for axis, width in enumerate(widths, -array.ndim):
        margins = [
            margin(array, axis, side, width[side], mode, ends[axis, side]) for side in (0, 1)
        ]
        if any(width):
            array = np.concatenate([margins[0], array, margins[1]], axis)
    return array


def margin(array: Array, axis: int, side: int, length: int, mode: str, end: Array) -> Array:
    """Make the margin before an axis, or that behind it, of what it ends in."""
    if mode == "constant":
        shape = list(array.shape)
        shape[axis] = length
        return np.broadcast_to(end, shape)
    edge, options = array[along(axis, -side)], {"endpoint": False, "dtype": array.dtype}
    ramp = np.linspace(end, edge, length, axis=axis, **options)
    return np.flip(ramp, axis) if side else ramp


def in_zeros(array: np.ndarray[Any, Any], widths: Widths) -> Array:
    """Pad with zeros, in a third of the time that `numpy.pad` takes for a small array."""
    shape = [b + n + a for (b, a), n in zip(widths, array.shape, strict=True)]
    out = np.zeros(shape, array.dtype, order="F" if array.flags.fnc else "C")
    out[inner_key(array.shape, widths)] = array
    return out


def inner_key(shape: Shape, widths: Widths) -> tuple[slice, ...]:
    """Make the key of the array itself in what it is padded to."""
    return tuple(slice(b, b + n) for (b, _), n in zip(widths, shape, strict=True))


def plain_widths(ndim: int, pad_width: Any) -> Widths | None:
    """Give the two widths of each axis, where they are simply one number, or all written out."""
    if type(pad_width) is int:
        return [(pad_width, pad_width)] * ndim if ndim and pad_width >= 0 else None
    if type(pad_width) in (tuple, list) and len(pad_width) == ndim > 0:
        kinds = (int, int)
        plain = (
            type(pair) is tuple and tuple(map(type, pair)) == kinds and min(pair) >= 0
            for pair in pad_width
        )
        return list(pad_width) if all(plain) else None
    return None


def widths_of(ndim: int, pad_width: Any) -> Widths:
    """Write NumPy's `pad_width` argument as the two widths of each axis."""
    plain = plain_widths(ndim, pad_width)
    if plain is not None:
        return plain
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            widths[axis] = width if isinstance(width, tuple) else (width, width)
        return widths
    pairs: Widths = [(b, a) for b, a in np.broadcast_to(pad_width, (ndim, 2)).tolist()]
    return pairs


def margins_of(
    out: Array, shape: Shape, widths: Widths, mode: str, options: dict[str, Any]
) -> list[Margins]:
    """Make the margins of each axis that gets any, in the order in which NumPy adds them."""
    ndim, margins = len(shape), []
    for number, width in enumerate(widths):
        axis, length = number - ndim, shape[number]
        if not any(width):
            continue
        if mode == "linear_ramp":
            margins.append(ramp(axis, length, width))
        elif options.get("reflect_type") == "odd":
            margins.append(odd(axis, length, width, mode))
        elif mode in ("edge", "wrap", "reflect", "symmetric"):
            margins.append(picking(axis, length, width, mode))
        else:
            stat_length: Any = options.get("stat_length")
            lengths = np.broadcast_to(stat_length, (ndim, 2))
            margins.append(statistics(out, shape, widths, number, lengths, mode))
    return margins


def of_array(out: Array, array: Array, pad_width: Any, mode: str, **options: Any) -> LinearMap:
    """Make the partial with respect to the array."""
    widths = widths_of(array.ndim, pad_width)
    if mode in ("constant", "empty"):
        return Adjoint(Index(inner_key(array.shape, widths), out.shape, array.shape))
    margins = margins_of(out, array.shape, widths, mode, options)
    return Chain(tuple(margins)) if margins else SAME


def ramped(array: Array, pad_width: Any, mode: str, *, end_values: Any) -> Array:
    """Pad with what goes straight to given values."""
    if array.dtype.kind not in "fc":
        raise bodies.NO_BODY  # which is rounded
    return with_values(array, widths_of(array.ndim, pad_width), mode, as_array(end_values))


def moved(given: Mapping[str, Any]) -> facts.Facts:
    """Say what is known of a call: in a few modes, elements are moved."""
    mode, options = given["mode"], given.get("kwargs", {})
    if mode == "linear_ramp" and "end_values" in options:
        return facts.composed(ramped)
    if mode == "constant":
        return facts.moves("array", VALUES[mode])
    moves = mode in ("edge", "wrap") or (
        mode in ("reflect", "symmetric") and options.get("reflect_type", "even") == "even"
    )
    return facts.moves("array") if moves else facts.UNKNOWN


PADDING: dict[Any, Entry] = {
    np.pad: rule(of_array, signature=pad_signature, compute=pad, facts=facts.depending(moved)),
}

"""Padding, which adds margins to an array, one axis after another."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import as_in_key, batch_in, whole
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Entry, along, as_array, rule
from tape_ad.rules.maps import SAME, Adjoint, Array, Chain, Index, LinearMap, Shape, Stretch
from tape_ad.rules.maps.patterns import ALL, Pattern, dense, joined, reads, separable
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
    """Sort the arguments of `numpy.pad`; the values to pad with are its second operand."""
    if callable(mode):
        raise UnsupportedArgumentError(
            "np.pad: a function as mode= is given plain arrays to write to, which would drop the "
            "gradient; pad by one of the named modes, or np.concatenate the margins"
        )
    values = options.pop(VALUES[mode], 0) if mode in VALUES else 0
    return (array, values), {"pad_width": pad_width, "mode": mode, **options}


def pad(array: Array, values: Array, pad_width: Any, mode: str, **options: Any) -> Array:
    """Pad, with values that may be a handle of an enclosing record."""
    if mode == "constant" and type(values) is int and type(array) is np.ndarray and not options:
        widths = plain_widths(array.ndim, pad_width)
        if widths is not None and values == 0:
            return in_zeros(array, widths)
    if mode not in VALUES:
        return np.pad(array, pad_width, mode, **options)  # type: ignore[call-overload]  # any mode
    if not hasattr(values, "shape") or isinstance(values, (np.ndarray, np.generic)):
        options[VALUES[mode]] = values
        return np.pad(array, pad_width, mode, **options)  # type: ignore[call-overload]  # any mode
    out = np.pad(array, pad_width, mode, **options)  # type: ignore[call-overload]  # any mode
    partial = of_values(out, array, values, pad_width, mode)
    return out + partial.push(values.astype(array.dtype))


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
        if mode == "constant":
            margins.append(Margins(axis, *width, length))
        elif mode == "linear_ramp":
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


def of_array(
    out: Array, array: Array, values: Array, pad_width: Any, mode: str, **options: Any
) -> LinearMap:
    """Make the partial with respect to the array."""
    widths = widths_of(array.ndim, pad_width)
    if mode in ("constant", "empty"):
        return Adjoint(Index(inner_key(array.shape, widths), out.shape, array.shape))
    margins = margins_of(out, array.shape, widths, mode, options)
    return Chain(tuple(margins)) if margins else SAME


def of_values(
    out: Array, array: Array, values: Array, pad_width: Any, mode: str, **options: Any
) -> LinearMap:
    """Make the partial with respect to the values that the margins are made of, or end in."""
    ndim = array.ndim
    widths = widths_of(ndim, pad_width)
    margins = margins_of(out, array.shape, widths, mode, options)
    return Chain((Stretch(np.shape(values), (ndim, 2)), Ends(array.shape, tuple(margins))))


@define(eq=False, repr=False)
class Ends:
    """What two values for each axis add to a padded array, through all margins made after it.

    Parameters
    ----------
    shape : tuple of int
        Of the array before it is padded.
    margins : tuple of Margins
        Whatever is missing to 1 in the weight of an edge is the weight of the value.
    """

    pattern = dense
    shape: Shape
    margins: tuple[Margins, ...]

    def parts(self, each: Margins) -> list[tuple[Array, int, tuple[Any, ...]]]:
        """List the weights of the two values of an axis, and where they go."""
        ends = ((each.first, 0, slice(0, each.before)), (each.last, 1, slice(each.before, None)))
        return [
            (
                np.ones(each.before + each.after)[part] if edge is None else 1 - edge[part],
                side,
                (len(self.shape) + each.axis, side),
            )
            for edge, side, part in ends
        ]

    def push(self, t: Array) -> Array:
        stack = t.shape[:-2]
        x = np.zeros(stack + self.shape, t.dtype)
        for each in self.margins:
            pieces = [np.zeros(x.shape, t.dtype)]
            for weights, side, place in self.parts(each):
                shape = list(x.shape)
                shape[each.axis] = len(weights)
                value = t[(..., *place)].reshape(stack + (1,) * len(self.shape))
                piece = np.broadcast_to(each.weighted(value, weights), shape)
                pieces.insert(len(pieces) * side, piece)
            x = each.push(x) + np.concatenate(pieces, axis=each.axis)
        return x

    def pull(self, ct: Array) -> Array:
        axes = tuple(range(-len(self.shape), 0))
        none = np.zeros(ct.shape[: ct.ndim - len(self.shape)], ct.dtype)
        sums = [[none, none] for _ in self.shape]
        for each in reversed(self.margins):
            stop = each.before + each.length
            sides = (slice(0, each.before), slice(stop, None))
            for weights, side, (number, _) in self.parts(each):
                margin = ct[along(each.axis, sides[side])]
                sums[number][side] = np.add.reduce(each.weighted(margin, weights), axis=axes)
            ct = each.pull(ct)
        return np.stack([np.stack(pair, axis=-1) for pair in sums], axis=-2)


def ramped(array: Array, pad_width: Any, mode: str, *, end_values: Any) -> Array:
    """Pad with what goes straight to given values: with what goes to 0, and what they add."""
    if array.dtype.kind not in "fc":
        raise bodies.NO_BODY  # which is rounded
    out, values = np.pad(array, pad_width, mode="linear_ramp"), as_array(end_values)
    return out + of_values(out, array, values, pad_width, mode).push(values.astype(array.dtype))


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
    np.pad: rule(
        of_array, of_values, signature=pad_signature, compute=pad, facts=facts.depending(moved)
    ),
}

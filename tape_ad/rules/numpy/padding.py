"""Padding, which adds margins to an array, one axis after another."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Derivation, Entry, along, as_array, rule
from tape_ad.rules.maps import SAME, Adjoint, Array, Chain, Index, LinearMap, Shape
from tape_ad.rules.maps.patterns import permutation
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.rearranging import in_order_of
from tape_ad.rules.plain_maps import PlainMap, summed_by_index

padding: Callable[..., Array] = np.pad
"""NumPy's type for it knows no mode that is not written out."""

Widths = list[tuple[int, int]]

VALUES = {"constant": "constant_values", "linear_ramp": "end_values"}
"""The modes that pad with given values, and the name that they have there."""

COPYING = frozenset({"edge", "wrap", "reflect", "symmetric"})
"""The modes that repeat elements."""

STATISTICS: dict[str, Any] = {
    "maximum": np.max,
    "mean": np.mean,
    "median": np.median,
    "minimum": np.min,
}
"""The modes that repeat a statistic of the elements next to a margin."""


@define(eq=False, repr=False)
class Margins(PlainMap):
    """An array between margins along one axis, which repeat elements of it.

    Parameters
    ----------
    axis : int
        Negative.
    before, length : int
        The width of the first margin, and the length of the parent along the axis.
    index : array of integers
        Where the elements of the first margin come from, and of the last one behind them.
    """

    pattern = permutation
    axis: int
    before: int
    length: int
    index: Array

    def forward(self, t: Array) -> Array:
        margins = np.take(t, self.index, axis=self.axis)
        left = margins[along(self.axis, slice(self.before))]
        right = margins[along(self.axis, slice(self.before, None))]
        return np.concatenate([left, t, right], axis=self.axis)

    def backward(self, ct: Array) -> Array:
        stop = self.before + self.length
        total = ct[along(self.axis, slice(self.before, stop))].copy()
        left = ct[along(self.axis, slice(self.before))]
        right = ct[along(self.axis, slice(stop, None))]
        margins = np.concatenate([left, right], axis=self.axis)
        places, sums = summed_by_index(margins, self.index, self.axis)
        total[along(self.axis, places)] += sums
        return total


def padded(array: Array, pad_width: Any, mode: Any = "constant", **options: Any) -> Array:
    """Pad as one call where elements and constants are put in place, else by `with_margins`."""
    if callable(mode):
        raise UnsupportedArgumentError(
            "np.pad: a function as mode= is given plain arrays to write to, which would drop the "
            "gradient; pad by one of the named modes, or np.concatenate the margins"
        )
    array, values = as_array(array), options.get("constant_values")
    if mode in ("constant", "empty") and not differs(values):
        return pad(array, pad_width, mode, **options)
    if mode in COPYING and options.get("reflect_type", "even") != "odd":
        return pad(array, pad_width, mode, **options)
    return with_margins(array, pad_width, mode, **options)


def differs(values: Any) -> bool:
    """Tell whether values are no constants: handles, or others for each of a batch."""
    return hasattr(values, "shape") and not isinstance(values, (np.ndarray, np.generic))


@overridable
def pad(array: Array, pad_width: Any, mode: str, **options: Any) -> Array:
    """Pad by constants and by elements that are repeated, as one call."""
    return padded_plainly(array, pad_width, mode, **options)


def padded_plainly(array: Array, pad_width: Any, mode: str, **options: Any) -> Array:
    """Call `numpy.pad`, or pad with zeros in less time."""
    number = options.get(VALUES["constant"], 0)
    plain = type(array) is np.ndarray and type(number) is int and number == 0
    if mode == "constant" and plain and options.keys() <= {VALUES["constant"]}:
        widths = plain_widths(array.ndim, pad_width)
        if widths is not None:
            return in_zeros(array, widths)
    return padding(array, pad_width, mode, **options)


def with_margins(array: Array, pad_width: Any, mode: str, **options: Any) -> Array:
    """Join margins to one axis after another."""
    values = as_array(options.pop(VALUES.get(mode, ""), 0))
    padding(np.ones((1,) * array.ndim), pad_width, mode, **options)  # which says what is wrong
    ends = np.broadcast_to(values.astype(array.dtype), (array.ndim, 2))
    stat_length: Any = options.get("stat_length")
    lengths = np.broadcast_to(stat_length, (array.ndim, 2))
    whole = array
    for axis, width in enumerate(widths_of(array.ndim, pad_width), -array.ndim):
        if not any(width):
            continue
        if not array.shape[axis] and mode != "constant":
            raise ValueError(
                f"can't extend empty axis {axis + array.ndim} using modes other than 'constant' or "
                "'empty'"
            )
        if mode in COPYING and array.shape[axis] > 1:
            whole = reflected(whole, axis, width, edge=mode == "symmetric")
            continue
        given = zip((0, 1), width, ends[axis], lengths[axis], strict=True)
        first, last = (margin(whole, axis, mode, *side) for side in given)
        whole = np.concatenate((first, whole, last), axis)
    return in_order_of(array, whole)


def margin(
    array: Array, axis: int, mode: str, side: int, width: int, end: Array, length: int | None
) -> Array:
    """Make the margin before an axis, which is side 0, or that behind it.

    Parameters
    ----------
    array : array
    axis : int
        Negative.
    mode : str
    side, width : int
    end : array
        The value that the margin ends in, of modes that have one.
    length : int or None
        Of how many elements a statistic is; None for all.
    """
    shape = list(array.shape)
    n, shape[axis] = shape[axis], width
    if mode == "linear_ramp":
        options = {"endpoint": False, "dtype": array.dtype}
        ramp = np.linspace(end, array[along(axis, -side)], width, axis=axis, **options)
        return np.flip(ramp, axis) if side else ramp
    if mode == "constant":
        return np.broadcast_to(end, shape)
    statistic, count = STATISTICS.get(mode), 1
    if statistic is not None:
        count = n if length is None else min(int(length), n)
    part = array[along(axis, slice(n - count, n) if side else slice(count))]
    repeated = part if statistic is None else statistic(part, axis=axis, keepdims=True)
    return np.broadcast_to(repeated, shape)


def reflected(array: Array, axis: int, width: tuple[int, int], *, edge: bool) -> Array:
    """Pad an axis by twice its ends less what is next to them, several times if need be.

    Parameters
    ----------
    array : array
    axis : int
        Negative.
    width : tuple of int
    edge : bool
        Whether the ends themselves are next to them.
    """
    first = 0 if edge else 1
    period = array.shape[axis] - first
    before, after = width
    while before or after:
        n = array.shape[axis]
        longest = (n - first) // period * period  # as parts of what was given are not turned round
        left, right = min(before, longest), min(after, longest)
        next_left = array[along(axis, slice(first, first + left))]
        next_right = array[along(axis, slice(n - first - right, n - first))]
        margins = (
            2 * array[along(axis, slice(1))] - np.flip(next_left, axis),
            2 * array[along(axis, slice(n - 1, n))] - np.flip(next_right, axis),
        )
        array = np.concatenate((margins[0], array, margins[1]), axis)
        before, after = before - left, after - right
    return array


def in_zeros(array: np.ndarray[Any, Any], widths: Widths) -> Array:
    """Pad with zeros, in a third of the time that `numpy.pad` takes for a small array."""
    shape = [b + n + a for (b, a), n in zip(widths, array.shape, strict=True)]
    out = np.zeros(shape, array.dtype, order="F" if array.flags.fnc else "C")
    out[inner_key(array.shape, widths)] = array
    return out


def inner_key(shape: Shape, widths: Widths) -> tuple[slice, ...]:
    """Make the key of the array itself in what it is padded to."""
    return tuple(map(inside, widths, shape))


def inside(width: tuple[int, int], length: int) -> slice:
    """Tell where an axis lies between its margins."""
    return slice(width[0], width[0] + length)


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


def pad_signature(array: Array, pad_width: Any, mode: str, **options: Any) -> Call:
    """Sort the arguments of `pad`."""
    return (array,), {"pad_width": pad_width, "mode": mode, **options}


def of_array(out: Array, array: Array, pad_width: Any, mode: str, **options: Any) -> LinearMap:
    """Make the partial of `pad`: each axis is picked from, or is put into zeros."""
    widths, shape = widths_of(array.ndim, pad_width), array.shape
    if mode not in COPYING:
        return Adjoint(Index(inner_key(shape, widths), out.shape, shape))
    maps = [
        Margins(axis, width[0], n, np.delete(padding(np.arange(n), width, mode), inside(width, n)))
        for axis, (n, width) in enumerate(zip(shape, widths, strict=True), -array.ndim)
        if any(width)
    ]
    return Chain(tuple(maps)) if maps else SAME


def rounded_nowhere(array: Array, pad_width: Any, mode: str, **options: Any) -> Array:
    """Pad by `with_margins` what is no array of integers, to which NumPy rounds margins."""
    if array.dtype.kind not in "fc":
        raise bodies.NO_BODY
    return with_margins(array, pad_width, mode, **options)


def moved(given: Mapping[str, Any]) -> facts.Facts:
    """Say what is known of a call: in a few modes, elements are moved."""
    mode, options = given["mode"], given.get("kwargs", {})
    if mode == "constant":
        return facts.moves("array", VALUES[mode])
    copies = mode in COPYING and options.get("reflect_type", "even") == "even"
    return facts.moves("array") if copies else facts.composed(rounded_nowhere)


PADDING: dict[Any, Entry] = {
    np.pad: Derivation(padded, facts=facts.depending(moved)),
    pad: rule(of_array, signature=pad_signature, compute=padded_plainly),
}

"""Functions that turn an array around, or around a corner, or slide windows along its axes."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define
from numpy.lib.stride_tricks import sliding_window_view

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Entry, along, axes_of, rule
from tape_ad.rules.maps import SAME, Array, Chain, LinearMap, Reshape, Transpose
from tape_ad.rules.maps.patterns import permutation
from tape_ad.rules.plain_maps import PlainMap
from tape_ad.rules.signatures import arguments_of

__all__ = ["FLIPPING"]


@define(eq=False, repr=False)
class Flip:
    """The opposite order along some axes, which are negative; the map is its own adjoint."""

    broadcasts: ClassVar[bool] = False
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

    broadcasts: ClassVar[bool] = False
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
    np.flipud: rule(lambda out, m: Flip((-m.ndim,)), signature=arguments_of(np.flipud, "m", "")),
    np.fliplr: rule(lambda out, m: Flip((1 - m.ndim,)), signature=arguments_of(np.fliplr, "m", "")),
    np.rot90: rule(rotated, signature=arguments_of(np.rot90, "m", "k axes")),
    np.roll: rule(rolled, signature=arguments_of(np.roll, "a", "shift axis")),
    sliding_window_view: rule(windowed, signature=windows_signature),
}

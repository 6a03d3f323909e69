"""Affine boxes: where a data movement takes each element from, found by moving addresses."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.engines.native.ir.memory_map import MemRef

__all__ = ["APART", "Box", "addresses", "boxes_in"]

APART = 2**44
"""How far the addresses of two operands are apart; 0 stands for no element of any."""

MOST = 64
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
        if len(found) > MOST:
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

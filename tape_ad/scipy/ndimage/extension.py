"""Arrays extended beyond their edges, and elements picked from them."""

import math

import numpy as np
from attrs import define

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, Shape, along, batch_in
from tape_ad.extend.maps import Chain, Index, LinearMap, Mask, PlainMap, Reshape, summed_by_index
from tape_ad.extend.patterns import permutation

MODES = (*("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant"),)
"""How an array goes on beyond its edges, by the numbers that SciPy's compiled code has."""

OUTSIDE = -1
"""The index of what stands for the constant that an array is extended by."""


def folded(places: Array, length: int, mode: str) -> Array:
    """Bring indices beyond the edges of an axis to where SciPy's modes find their values.

    Parameters
    ----------
    places : array of int
    length : int
        Not 0.
    mode : str

    Returns
    -------
    array of int
        `OUTSIDE` where the mode has a constant.

    Examples
    --------
    >>> folded(np.arange(-2, 5), 3, "mirror")
    array([2, 1, 0, 1, 2, 1, 0])
    """
    if mode in ("reflect", "grid-mirror"):
        places = places % (2 * length)
        return np.minimum(places, 2 * length - 1 - places)
    if mode == "mirror":
        period = max(2 * length - 2, 1)
        places = places % period
        return np.minimum(places, period - places) if length > 1 else places
    if mode == "nearest":
        return places.clip(0, length - 1)
    if mode in ("wrap", "grid-wrap"):
        return places % length
    if mode in ("constant", "grid-constant"):
        return np.where((places >= 0) & (places < length), places, OUTSIDE)
    raise UnsupportedArgumentError(f"ndimage has no boundary mode {mode!r}")


@define(eq=False, repr=False)
class Extension(PlainMap):
    """The last axes of an array, extended: elements picked along each, zeros beyond.

    Parameters
    ----------
    indices : tuple of array of int
        For each of the last axes, where its elements are from, or `OUTSIDE`.
    shape : tuple of int
        The last axes of the parent.
    """

    pattern = permutation
    indices: tuple[Array, ...]
    shape: Shape

    def _changed(self) -> list[tuple[int, Array, int]]:
        rank = len(self.shape)
        every = zip(range(-rank, 0), self.indices, self.shape, strict=True)
        return [each for each in every if not np.array_equal(each[1], np.arange(each[2]))]

    def forward(self, t: Array) -> Array:
        """Pick."""
        for axis, index, _ in self._changed():
            t = np.take(t, index.clip(0), axis=axis)
            if (index == OUTSIDE).any():
                t[along(axis, index == OUTSIDE)] = 0
        return t

    def backward(self, ct: Array) -> Array:
        """Add up what was picked from the same place."""
        for axis, index, length in self._changed():
            inside = np.flatnonzero(index != OUTSIDE)
            shape = list(ct.shape)
            shape[axis] = length
            total = np.zeros(shape, ct.dtype)
            if ct.size and inside.size:
                chosen = ct if inside.size == index.size else np.take(ct, inside, axis=axis)
                places, sums = summed_by_index(chosen, index[inside], axis)
                total[along(axis, places)] = sums
            ct = total
        return ct


def extension(shape: Shape, margins: list[tuple[int, int]], modes: list[str]) -> Extension:
    """Make the extension of an array by two margins for each axis."""
    indices = tuple(
        folded(np.arange(-before, length + after), length, mode)
        for length, (before, after), mode in zip(shape, margins, modes, strict=True)
    )
    return Extension(indices, shape)


@define(eq=False, repr=False)
class Picking(PlainMap):
    """Elements of a flattened array, some of them picked several times, in no order; or zeros.

    Parameters
    ----------
    index : array of int
        Of the node's shape; `OUTSIDE` for what is 0.
    shape : tuple of int
        The parent's.
    """

    pattern = permutation
    index: Array
    shape: Shape

    def forward(self, t: Array) -> Array:
        """Pick."""
        flat = t.reshape((*t.shape[: t.ndim - len(self.shape)], -1))
        picked = np.take(flat, self.index.clip(0), axis=-1)
        outside = self.index == OUTSIDE
        return np.where(outside, 0, picked) if outside.any() else picked

    def backward(self, ct: Array) -> Array:
        """Add up; `numpy.bincount` does so without sorting."""
        if ct.dtype.kind == "c":
            return self.backward(ct.real) + 1j * self.backward(ct.imag)
        stack, index = ct.shape[: ct.ndim - self.index.ndim], self.index.reshape(-1) - OUTSIDE
        total = np.zeros((math.prod(stack), math.prod(self.shape)))
        for out, row in zip(total, ct.reshape((-1, index.size)), strict=True):
            out[:] = np.bincount(index, row, out.size + 1)[1:]
        return total.reshape(stack + self.shape)


def picking(index: Array, shape: Shape) -> LinearMap:
    """Make the map that picks from a flattened array; what is picked may be another in a batch."""
    if batch_in((index,)) is None:
        return Picking(index, shape)
    flat, node = (math.prod(shape),), index.shape
    picked = Index((index.clip(0),), flat, node, repeats=True)
    return Chain((Reshape(shape, flat), picked, Mask(index != OUTSIDE)))

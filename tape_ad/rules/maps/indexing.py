"""Picking elements, and adding elements into zeros."""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import as_in_key, batch_in, is_traced, overridable, whole
from tape_ad.rules.maps.base import Array, Shape
from tape_ad.rules.maps.memory import names_each_once, places, writeable_copy
from tape_ad.rules.maps.patterns import permutation

FEW = 1000
"""How many elements are added in the plain way, for what is faster for many is not for few."""


@define(eq=False, repr=False)
class Index:
    """``parent[key]``, for a key of any NumPy kind.

    Parameters
    ----------
    key : tuple
        Slices, integers, None, integer arrays and boolean arrays, one entry for each axis of the
        parent, and an ellipsis only where it stands for none (`rules.indexing` expands keys to
        this form).
    parent, node : tuple of int
        The shapes on both sides.
    repeats : bool
        Whether `key` may name an element more than once.
    front : int
        How many axes NumPy puts first because advanced indices stand apart (``x[0, :, [1, 2]]``);
        0 where they stay in place.
    by_truth : bool
        Whether a mask is in the key, so that what it leaves out is not meant to matter.
    """

    fresh: ClassVar[bool] = True
    kept: ClassVar[None] = None
    rearranges: ClassVar[bool] = True
    pattern = permutation
    key: tuple[Any, ...]
    parent: Shape
    node: Shape
    repeats: bool = False
    front: int = 0
    by_truth: bool = False

    @property
    def hides(self) -> bool:
        return self.by_truth

    def push(self, t: Array) -> Array:
        if (batch := batch_in(self.key)) is not None and is_below_batches(t):
            t = batch.spread(batch, t)
        pick = picked_elements_as_one if type(t) is np.ndarray else picked_elements
        return pick(t, self)

    def pull(self, ct: Array) -> Array:
        if (batch := batch_in(self.key)) is not None and is_below_batches(ct):
            ct = batch.spread(batch, ct)
        return scatter_as_one(ct, self)

    def pull_into(self, ct: Array) -> Array:
        """Pull as ever: zeros elsewhere need memory of their own."""
        return scatter(ct, self)

    def add_into(self, total: Array, ct: Array) -> None:
        """Add what `pull` gives to a plain array, without making it."""
        if ct.size == 0:  # NumPy picks anything of an array without elements
            return
        stack = ct.ndim - len(self.node)
        key = (slice(None),) * stack + self.key if stack else self.key
        if stack and self.front:
            ct = np.moveaxis(ct, range(stack, stack + self.front), range(self.front))
        if self.repeats:
            add_repeated(total, key, ct, self.front > 0)
        else:
            total[key] += ct


def is_below_batches(array: Any) -> bool:
    """Tell whether an array is plain, or captured, and so is none of a batch's."""
    return isinstance(array, (np.ndarray, np.generic)) or is_traced(array)


def picked_elements(t: Array, index: Index) -> Array:
    """Pick the elements of an index, behind a stack."""
    stack = t.ndim - len(index.parent)
    if 0 in index.node:  # np.take gives that where indexing finds nothing to pick
        return np.zeros(t.shape[:stack] + index.node, t.dtype)
    if stack == 0:
        return t[index.key]
    if (axis := one_axis(index.key)) is not None:
        return np.take(t, index.key[axis], axis=stack + axis)  # whose memory is in order
    found = t[(slice(None),) * stack + index.key]
    if index.front == 0:
        return found
    return np.moveaxis(found, range(index.front), range(stack, stack + index.front))


def one_axis(key: tuple[Any, ...]) -> int | None:
    """Say along which axis a key picks by an array of integers, if it takes the others whole."""
    axes = [axis for axis, k in enumerate(key) if not takes_whole(k)]
    if len(axes) != 1 or getattr(getattr(key[axes[0]], "dtype", None), "kind", "") != "i":
        return None
    return axes[0]


def takes_whole(k: Any) -> bool:
    """Tell whether an entry of a key takes an axis as it is."""
    return type(k) is slice and k.start is None and k.stop is None and k.step is None


picked_elements_as_one = whole(picked_elements)


@overridable
def scatter(ct: Array, index: Index) -> Array:
    """Add the elements of `ct` into zeros of the shape that `index` picks from.

    Parameters
    ----------
    ct : array, shape stack + index.node
    index : Index

    Returns
    -------
    array, shape stack + index.parent
    """
    if batch_in(index.key) is not None:
        return scatter(as_in_key(ct, index.key), index)
    stack = ct.ndim - len(index.node)
    zeros = np.zeros(ct.shape[:stack] + index.parent, ct.dtype)
    key = (slice(None),) * stack + index.key
    if stack and index.front:
        ct = np.moveaxis(ct, range(stack, stack + index.front), range(index.front))
    if ct.size == 0:  # NumPy picks anything of an array without elements
        return zeros
    if not index.repeats or names_each_once(key, zeros.shape):
        zeros[key] = ct
        return zeros
    add_repeated(zeros, key, ct, index.front > 0)
    return zeros


scatter_as_one = whole(scatter)


@overridable
def added_at(total: Array, ct: Array, linear: Any) -> Array:
    """Add what a map pulls to a copy of a cotangent.

    A sweep of plain arrays adds it to the cotangent itself, by the map's ``add_into``, and so gets
    the same numbers: elsewhere, even -0.0 stays as it is.

    Parameters
    ----------
    total : array, shape stack + (the parent's shape)
    ct : array, shape stack + (the node's shape)
    linear : LinearMap
        It has ``add_into``, as `Index` does.

    Returns
    -------
    array, shape and dtype of `total`
    """
    if type(total) is not np.ndarray or batch_in(linear.key) is not None:
        return total + linear.pull(ct)
    result = writeable_copy(total)
    linear.add_into(result, ct)
    return result


def add_repeated(total: Array, key: tuple[Any, ...], ct: Array, front: bool) -> None:
    """Add to the elements of a plain array that a key names, to some of them more than once."""
    plain = ct.size < FEW or total.ndim == 1 or not total.flags.c_contiguous
    if plain or any(is_truth(entry) for entry in key):
        np.add.at(total, key, ct)
    else:
        where = places(key, total.shape, front)
        np.add.at(total.reshape(-1), where.reshape(-1), ct.reshape(-1))


def is_truth(entry: Any) -> bool:
    """Tell whether an entry of a key is a mask without axes, which adds one to the result."""
    return isinstance(entry, np.ndarray) and entry.ndim == 0 and entry.dtype == bool

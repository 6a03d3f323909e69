"""Sorting and partitioning, and where elements come in sorted order.

A sorted array is the array itself, rearranged, and so is its derivative. Where elements tie, any
order of them is a sorted one: here it is the order in which they stand, that of
``argsort(kind="stable")``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Derivation, Entry, axis_of, constants, refuse, rule
from tape_ad.rules.maps import Array, LinearMap
from tape_ad.rules.numpy.elementwise import is_complex
from tape_ad.rules.numpy.selecting import picked_along_axis

__all__ = ["SORTING"]

sorting: Callable[..., Array] = np.sort
argsort: Callable[..., Array] = np.argsort
"""NumPy's types for them do not know every release's options."""

LARGE = 1000
"""How many elements an array has to have for `sorted_stably` to try the unstable algorithm."""


def sort_signature(
    a: Array,
    axis: int | None = -1,
    kind: Any = None,
    order: None = None,
    *,
    stable: bool | None = None,
    **descending: Any,
) -> Call:
    """Sort the arguments of `numpy.sort`; without an axis it sorts the flattened array."""
    refuse("sort", order=order)
    if kind is not None or stable is not None or descending:
        # NumPy says what is wrong with them; since 2.5 it sorts in descending order too
        sorting(np.zeros(0), kind=kind, stable=stable, **descending)
    a, axis = line_of(a, axis)
    return (a,), {"axis": axis, **descending}


def line_of(a: Array, axis: Any) -> tuple[Array, int]:
    """Tell what is sorted along which axis: all the elements in C order where none is given."""
    return (np.ravel(a), -1) if axis is None else (a, axis_of(a.ndim, axis))


def sort(a: Array, axis: int, **descending: Any) -> tuple[Array, Array]:
    """Sort stably, whichever algorithm was asked for, and keep the order."""
    if descending:
        order = argsort(a, axis, stable=True, **descending)
        out = picked(a, order, axis)
    elif type(a) is np.ndarray:
        out, order = sorted_stably(a, axis)
    else:
        order = stable_order(a, axis)
        out = picked(a, order, axis)
    if isinstance(a, np.ndarray) and not a.flags.c_contiguous:  # NumPy sorts a copy in its order
        out, found = np.empty_like(a), out
        out[...] = found
    return out, order


def picked(a: Array, order: Array, axis: int) -> Array:
    """Bring the elements into an order."""
    return a[order] if a.ndim == 1 else np.take_along_axis(a, order, axis)


@overridable
def stable_order(a: Array, axis: int) -> Array:
    """Sort stably, as ``argsort(kind="stable")`` does, faster where there are no ties.

    Parameters
    ----------
    a : array, any shape
    axis : int

    Returns
    -------
    array of integers, shape of `a`
    """
    return sorted_stably(a, axis)[1]


def sorted_stably(a: Array, axis: int) -> tuple[Array, Array]:
    """Sort an array, and give the order that ``argsort(kind="stable")`` gives."""
    if a.size >= LARGE and a.ndim and a.shape[axis] > 1:
        order = np.argsort(a, axis)
        out = picked(a, order, axis)
        lines = np.moveaxis(out, axis, -1)
        ties = np.equal(lines[..., 1:], lines[..., :-1]).any() or np.isnan(lines[..., -2]).any()
        if not ties:
            return out, order
    order = np.argsort(a, axis, kind="stable")
    return picked(a, order, axis), order


def partition_signature(
    a: Array, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Call:
    """Sort the arguments of `numpy.partition`."""
    refuse("partition", order=order)
    a, axis = line_of(a, axis)
    return (a,), {"kth": kth, "axis": axis, "kind": kind}


def partition(a: Array, axis: int, **options: Any) -> tuple[Array, Array]:
    """Partition, and keep the order."""
    order = np.argpartition(a, axis=axis, **options)
    return picked(a, order, axis), order


def rearranged(order: Array, a: Array, axis: int, **options: Any) -> LinearMap:
    """Make the partial of a function that gives the elements in another order."""
    return picked_along_axis(order, a, order, axis, repeats=False)


def sort_complex(a: Array) -> Array:
    """Sort complex numbers, as `numpy.sort_complex` does."""
    a = np.sort(a)
    return a if is_complex(a) else a.astype(np.result_type(a.dtype, np.complex128))


SORTING: dict[Any, Entry] = {
    np.sort: rule(
        rearranged, signature=sort_signature, compute=sort, saves=True, facts=facts.along()
    ),
    np.partition: rule(
        rearranged,
        signature=partition_signature,
        compute=partition,
        saves=True,
        facts=facts.along(),
    ),
    np.sort_complex: Derivation(sort_complex),
    # Where elements are, as plain data
    **constants(np.argsort, np.argpartition, stable_order, facts=facts.along()),
    **constants(np.lexsort, np.searchsorted, np.digitize),
}

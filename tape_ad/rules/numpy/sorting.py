"""Sorting and partitioning, and picking elements by index or by condition.

A sorted array is the array itself, rearranged, and so is its derivative. Where elements tie, any
order of them is a sorted one: here it is the order in which they stand, that of
``argsort(kind="stable")``.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import anywhere, overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Call,
    Derivation,
    Entry,
    Refused,
    add_facts,
    arguments_of,
    as_array,
    axes_of,
    axis_of,
    constants,
    refuse,
    rule,
    writing,
)
from tape_ad.rules.maps import SHIELD, Array, Chain, Index, LinearMap, Reshape
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.bodies import own
from tape_ad.rules.numpy.elementwise import is_complex
from tape_ad.rules.numpy.indexing import index_map, unaliased

NUMBERS = frozenset({int, float, complex})
"""The types of numbers whose dtypes are weak."""


def whole(ndim: int) -> tuple[slice, ...]:
    """Make the part of a key that leaves so many axes alone."""
    return (slice(None),) * ndim


def picking(
    a: Array, out: Array, axis: Any, indices: Any, *, repeats: bool | None = None
) -> LinearMap:
    """Make the map that picks `indices` along one axis, or from the flattened array."""
    flat = axis is None or a.ndim == 0
    shape = (a.size,) if flat else a.shape
    number = 0 if flat else axes_of(a.ndim, axis)[0] + a.ndim
    key = (*whole(number), indices, *whole(len(shape) - number - 1))
    picked = index_map(key, shape, out.shape)
    if repeats is not None:
        picked.repeats = repeats
    return picked if a.shape == shape else Chain((Reshape(a.shape, shape), picked))


def taken(out: Array, a: Array, indices: Any, axis: int | None, mode: str) -> LinearMap:
    """Make the partial of `take`, with every index brought into its range."""
    length = a.size if axis is None else a.shape[axis] if a.ndim else 1
    indices = as_array(indices).astype(np.intp)
    if mode == "wrap":
        indices = indices % max(length, 1)
    elif mode == "clip":
        indices = np.clip(indices, 0, max(length - 1, 0))
    return picking(a, out, axis, indices)


def taken_along_axis(out: Array, arr: Array, indices: Any, axis: int | None) -> LinearMap:
    """Make the partial of `take_along_axis`."""
    if axis is None:
        return picking(arr, out, None, indices)
    return picked_along_axis(out, arr, as_array(indices), axis, repeats=True)


def picked_along_axis(
    out: Array, arr: Array, indices: Array, axis: int, *, repeats: bool
) -> LinearMap:
    """Make the map that picks along one axis by indices that differ along the other axes."""
    ndim = arr.ndim
    key = [np.arange(n).reshape((n,) + (1,) * (ndim - 1 - i)) for i, n in enumerate(arr.shape)]
    key[axis] = unaliased(indices)
    return Index(tuple(key), arr.shape, out.shape, repeats=repeats and indices.size > 1)


def compressed(out: Array, condition: Array, a: Array, axis: int | None) -> LinearMap | None:
    """Make the partial of `compress`, and of `extract` with its condition flattened."""
    if a.size == 0:  # where NumPy does not look at the condition
        return None
    return Chain((SHIELD, picking(a, out, axis, np.flatnonzero(condition), repeats=False)))


def choose(a: Any, choices: Sequence[Any], out: None = None, mode: str = "raise") -> Array:
    """Choose by numbers; see `numpy.choose`."""
    refuse("choose", out=out)
    a, count = as_array(a), len(choices)
    given = [x if type(x) in NUMBERS else as_array(x) for x in choices]
    zeros: Any = [x if type(x) in NUMBERS else np.zeros((), x.dtype) for x in given]
    chosen = np.choose(np.zeros((), a.dtype), zeros, mode=mode)  # type: ignore[call-overload]  # which looks at dtypes and options
    if mode == "wrap":
        a = a % count
    elif mode == "clip":
        a = np.clip(a, 0, count - 1)
    elif anywhere((a < 0) | (a >= count)):
        raise ValueError("invalid entry in choice array")
    for i, choice in enumerate(given):
        chosen = np.where(np.equal(a, i), choice, chosen)
    return chosen


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Choose by the first condition that holds; see `numpy.select`."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    conditions = list(map(as_array, condlist))
    for i, condition in enumerate(conditions):
        if condition.dtype != bool:
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
    given = [x if type(x) in NUMBERS else as_array(x) for x in (*choicelist, default)]
    dtype = np.result_type(*[getattr(x, "dtype", x) for x in given])
    *choices, chosen = (dtype.type(x) if type(x) in NUMBERS else x for x in given)
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        chosen = np.where(condition, choice, chosen)
    return chosen


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Array, *args: Any, **options: Any
) -> Array:
    """Stack what a function gives for each line of an array along one axis."""
    arr = as_array(arr)
    axis = axis_of(arr.ndim, axis) + arr.ndim
    lines = np.moveaxis(arr, axis, -1)
    places = list(np.ndindex(lines.shape[:-1]))
    if not places:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [as_array(func1d(lines[place], *args, **options)) for place in places]
    added = results[0].ndim
    together = np.stack(results).reshape(lines.shape[:-1] + results[0].shape)
    return np.moveaxis(together, range(-added, 0), range(axis, axis + added))


def is_listed(thing: Any, kinds: Any) -> bool:
    """Stand in for `isinstance` in NumPy's `piecewise`: masks of a batch are conditions too."""
    of_conditions = type(kinds) is tuple
    return isinstance(thing, kinds) or (of_conditions and getattr(thing, "ndim", 0) > 0)


def put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Assign by indices along one axis; see `numpy.put_along_axis`."""
    if axis is None or np.ndim(indices) != arr.ndim:
        raise UnsupportedArgumentError("this is for indices with the axes of what is assigned to")
    key: list[Any] = list(np.ogrid[tuple(map(slice, arr.shape))])
    key[axis] = unaliased(indices)
    arr[tuple(key)] = values


SELECTING: dict[Any, Entry] = {
    np.take: rule(taken, signature=arguments_of(np.take, "a", "indices axis mode")),
    np.take_along_axis: rule(
        taken_along_axis, signature=arguments_of(np.take_along_axis, "arr", "indices axis")
    ),
    np.compress: rule(
        None,
        compressed,
        signature=arguments_of(np.compress, "condition a", "axis"),
        facts=facts.SHAPED_BY_VALUES.also(body=bodies.compressed),
    ),
    np.extract: rule(
        None,
        lambda out, condition, arr: compressed(out, condition, arr, None),
        signature=arguments_of(np.extract, "condition arr", ""),
        facts=facts.SHAPED_BY_VALUES.also(body=bodies.extracted),
    ),
    np.choose: Derivation(choose, facts=facts.composed(choose)),
    np.select: Derivation(select, facts=facts.composed(select)),
    np.apply_along_axis: Derivation(apply_along_axis),
    **own(np.apply_over_axes),
    **own(np.piecewise, isinstance=is_listed),
    # Where elements are, as plain data
    **constants(np.nonzero, facts=facts.SHAPED_BY_VALUES),
    **constants(np.flatnonzero, facts=facts.SHAPED_BY_VALUES.also(body=bodies.flat_nonzero)),
    **constants(np.argwhere, facts=facts.SHAPED_BY_VALUES.also(body=bodies.rows_of_nonzero)),
    **constants(
        *(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from),
        facts=facts.Facts(about_shapes=True),
    ),
    **constants(np.nanargmax, np.nanargmin, facts=facts.along()),
    # Writing
    np.put: writing("make t = t.copy() and assign to t[np.unravel_index(ind, t.shape)]"),
    np.place: writing("make t = t.copy() and assign to t[mask]"),
    np.putmask: writing("write np.where(mask, values, t)"),
    np.put_along_axis: writing(
        "make t = t.copy() and assign to t[key], with key = list(np.ogrid[tuple(map(slice, "
        "t.shape))]), key[axis] = indices, and a tuple made of it",
        put_along_axis,
    ),
    np.copyto: writing(
        "write np.broadcast_to(src, shape) for an array full of it (as np.full and np.full_like of "
        "a handle come here), np.where(mask, src, t), or fill an array made by rec.constant(array)",
    ),
    np.ix_: Refused("it makes indices, which are integers or masks; pass plain ones"),
}

add_facts(SELECTING, (np.take, np.take_along_axis, np.choose), may_raise="indexed")


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
    return laid_out_like(a, out), order


def laid_out_like(a: Array, out: Array) -> Array:
    """Let elements lie in memory as those of the array, of which NumPy sorts a copy."""
    if isinstance(a, np.ndarray) and not a.flags.c_contiguous:
        out, found = np.empty_like(a), out
        out[...] = found
    return out


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
    return laid_out_like(a, picked(a, order, axis)), order


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
    **constants(np.lexsort, facts=facts.composed(bodies.lexsorted)),
    **constants(np.searchsorted),
    **constants(np.digitize, facts=facts.cores("(),(k)!->()").also(may_raise=True)),
}

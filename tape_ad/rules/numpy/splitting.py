"""Functions that take an array apart, or put something into it or out of it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, as_array, rule
from tape_ad.rules.maps import Adjoint, Array, Chain, Index, LinearMap, Reshape, Stretch, Transpose
from tape_ad.rules.signatures import arguments_of

__all__ = ["SPLITTING"]

Sections = int | Sequence[int]


def at(axis: int, ndim: int, entry: Any) -> tuple[Any, ...]:
    """Make the key that is `entry` on one axis and whole on all others."""
    key: list[Any] = [slice(None)] * ndim
    key[axis] = entry
    return tuple(key)


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
    return [ary[at(axis, ary.ndim, slice(*ends))] for ends in pairwise(bounds)]


def split(ary: Array, indices_or_sections: Sections, axis: int = 0) -> list[Array]:
    """Split into equal parts, or at given places."""
    ary = as_array(ary)
    if not np.ndim(indices_or_sections) and ary.shape[axis] % int(np.asarray(indices_or_sections)):
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: Array, indices_or_sections: Sections) -> list[Array]:
    """Split along the second axis, or along the first where there is no other."""
    ary = with_axes("hsplit", ary, 1)
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Array, indices_or_sections: Sections) -> list[Array]:
    """Split along the first axis of at least two."""
    return split(with_axes("vsplit", ary, 2), indices_or_sections, 0)


def dsplit(ary: Array, indices_or_sections: Sections) -> list[Array]:
    """Split along the third axis."""
    return split(with_axes("dsplit", ary, 3), indices_or_sections, 2)


def with_axes(name: str, ary: Any, ndim: int) -> Array:
    """Refuse what has too few axes."""
    ary = as_array(ary)
    if ary.ndim < ndim:
        raise ValueError(f"np.{name} takes arrays of {ndim} or more axes, got {ary.ndim}")
    return ary


def unstack(x: Array, /, *, axis: Any = 0) -> tuple[Array, ...]:
    """Take the parts at each place of an axis, without the axis."""
    x = with_axes("unstack", x, 1)
    (number,) = normalize_axis_tuple(axis, x.ndim)
    return tuple(x[at(number, x.ndim, i)] for i in range(x.shape[number]))


def trim_zeros(filt: Array, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """Cut off what is zero at the ends of axes."""
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


# Putting in and taking out


def flattened(shape: tuple[int, ...], axis: int | None) -> tuple[tuple[LinearMap, ...], Any, int]:
    """Tell the shape and the axis to work on, the flat ones without an axis, and how to get there.

    Returns
    -------
    tuple
        The maps to that shape, the shape, and the axis, which is not negative.
    """
    if axis is not None:
        return (), shape, axis % len(shape)
    flat = (int(np.prod(shape, dtype=int)),)
    return (() if shape == flat else (Reshape(shape, flat),)), flat, 0


def deleted(out: Array, arr: Array, obj: Any, axis: int | None) -> LinearMap:
    """Make the partial of `delete`, which picks what is left."""
    maps, shape, axis = flattened(arr.shape, axis)
    kept = np.delete(np.arange(shape[axis]), obj)
    return Chain((*maps, Index(at(axis, len(shape), kept), shape, out.shape)))


def origins(length: int, count: int, obj: Any) -> tuple[Array, Array]:
    """Tell where in the result of `insert` the old elements are, and where the new ones are."""
    marks = np.insert(np.arange(length), obj, -1 - np.arange(count))
    order = np.argsort(marks)
    return order[count:], order[:count][::-1]


def opened(out: Array, arr: Array, values: Array, obj: Any, axis: int | None) -> LinearMap:
    """Make the partial of `insert` with respect to the array."""
    maps, shape, axis = flattened(np.shape(arr), axis)
    old, _ = origins(shape[axis], out.shape[axis] - shape[axis], obj)
    return Chain((*maps, Adjoint(Index(at(axis, out.ndim, old), out.shape, shape))))


def inserted(out: Array, arr: Array, values: Array, obj: Any, axis: int | None) -> LinearMap:
    """Make the partial of `insert` with respect to the values.

    Beside a number as `obj`, NumPy takes their first axis for the one to insert along.
    """
    _, shape, axis = flattened(np.shape(arr), axis)
    count = out.shape[axis] - shape[axis]
    _, new = origins(shape[axis], count, obj)
    given = np.shape(values)
    maps: list[LinearMap] = []
    if not isinstance(obj, slice) and np.ndim(obj) == 0:
        lifted = (1,) * (out.ndim - len(given)) + given
        order = [*range(1, len(lifted))]
        order.insert(axis, 0)
        maps = [Reshape(given, lifted), Transpose(tuple(i - len(lifted) for i in order))]
        given = tuple(lifted[i] for i in order)
    node = (*shape[:axis], count, *shape[axis + 1 :])
    if len(given) > len(node):  # by axes of length one, as NumPy allows on assignment
        maps.append(Reshape(given, given[len(given) - len(node) :]))
        given = given[len(given) - len(node) :]
    maps.append(Stretch(given, node))
    return Chain((*maps, Adjoint(Index(at(axis, out.ndim, new), out.shape, node))))


SPLITTING: dict[Any, Entry] = {
    np.array_split: Derivation(array_split),
    np.split: Derivation(split),
    np.hsplit: Derivation(hsplit),
    np.vsplit: Derivation(vsplit),
    np.dsplit: Derivation(dsplit),
    np.trim_zeros: Derivation(trim_zeros, facts=facts.SHAPED_BY_VALUES),
    np.delete: rule(
        deleted,
        signature=arguments_of(np.delete, "arr", "obj axis"),
        facts=facts.along().also(shape_by_values=True),
    ),
    np.insert: rule(
        opened,
        inserted,
        signature=arguments_of(np.insert, "arr values", "obj axis"),
        compute=lambda arr, values, obj, axis: np.insert(arr, obj, values, axis),
        facts=facts.SHAPED_BY_VALUES,
    ),
}
if hasattr(np, "unstack"):  # since NumPy 2.1
    SPLITTING[np.unstack] = Derivation(unstack)

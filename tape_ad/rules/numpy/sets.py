"""Arrays as sets: their distinct elements, and what two of them share.

Each value is an element of an operand, and the gradient goes there: of equal elements to the one
that stands first, and to the first operand where it is in both. Where elements stand, and how
often, is plain data.
"""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, as_array, constants
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy import bodies

Integers = np.ndarray[Any, np.dtype[np.intp]]


@overridable
def occurrences(
    a: Array, axis: int | None = None, **options: Any
) -> tuple[Integers, Integers, Integers]:
    """Find where the distinct elements first stand, and give NumPy's inverse and counts too."""
    _, index, inverse, counts = np.unique(a, True, True, True, axis, **options)
    return index, inverse, counts


def distinct(a: Array, axis: int | None = None, equal_nan: bool = True) -> tuple[Array, ...]:
    """Do what `occurrences` does, by what sorting brings together."""
    if axis is not None:
        raise bodies.NO_BODY
    flat = np.ravel(a)
    order = np.argsort(flat, kind="stable")
    rows = flat[order]
    changes = np.not_equal(rows[1:], rows[:-1])
    if equal_nan:
        changes = changes & ~(np.isnan(rows[1:]) & np.isnan(rows[:-1]))
    begins = np.concatenate([np.ones(min(flat.size, 1), bool), changes])
    starts = np.flatnonzero(begins)
    inverse = np.take(np.cumsum(begins) - 1, np.argsort(order, kind="stable"))
    counts = np.diff(starts, append=flat.size)
    return order[starts], np.reshape(inverse, np.shape(a)), counts


@overridable
def places_of_values(a: Array) -> Integers:
    """Find where the elements of `numpy.unique_values` first stand; they come in any order."""
    index, _, _ = occurrences(a, equal_nan=False)
    places = np.empty_like(index)
    places[np.argsort(np.unique_values(a), kind="stable")] = index
    return places


@overridable
def places_of_common(ar1: Array, ar2: Array, assume_unique: bool) -> tuple[Integers, Integers]:
    """Find where the elements that are in both arrays first stand in each."""
    _, first, second = np.intersect1d(ar1, ar2, assume_unique, True)
    return first, second


def common(ar1: Array, ar2: Array, assume_unique: bool) -> tuple[Array, Array]:
    """Do what `places_of_common` does, by what sorting brings together."""
    arrays = [np.ravel(ar1), np.ravel(ar2)]
    firsts = [np.arange(a.size) if assume_unique else occurrences(a)[0] for a in arrays]
    together = np.concatenate([np.take(a, i) for a, i in zip(arrays, firsts, strict=True)])
    order = np.argsort(together, kind="stable")
    rows = np.take(together, order)
    places = np.flatnonzero(np.equal(rows[1:], rows[:-1]))
    second = np.take(order, places + 1) - firsts[0].size
    return np.take(firsts[0], np.take(order, places)), np.take(firsts[1], second)


def unique(
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    **options: Any,
) -> Any:
    """Take the distinct elements, and whatever else is asked for."""
    ar = as_array(ar)
    index, inverse, counts = occurrences(ar, axis, **options)
    values = np.take(ar, index, axis)
    asked = [(return_index, index), (return_inverse, inverse), (return_counts, counts)]
    wanted = [part for wish, part in asked if wish]
    return (values, *wanted) if wanted else values


def unique_values(x: Array, /) -> Array:
    """Take the distinct elements, in the order in which NumPy gives them."""
    return np.take(x, places_of_values(x))


def intersect1d(
    ar1: Array, ar2: Array, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Take the elements of the first array that are in the second one too."""
    ar1, ar2 = as_array(ar1), as_array(ar2)
    first, second = places_of_common(ar1, ar2, assume_unique)
    values, dtype = np.take(ar1, first), np.result_type(ar1, ar2)
    values = values if values.dtype == dtype else values.astype(dtype)
    return (values, first, second) if return_indices else values


def setdiff1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> Array:
    """Take the elements of the first array that are not in the second one."""
    ar1 = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return ar1[np.isin(ar1, ar2, invert=True)]


def setxor1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> Array:
    """Take the elements that are in one of the two arrays only."""
    if not assume_unique:
        ar1, ar2 = np.unique(ar1), np.unique(ar2)
    together = np.sort(np.concatenate((ar1, ar2), axis=None))
    if together.size == 0:
        return together
    changes = np.concatenate(([True], together[1:] != together[:-1], [True]))
    return together[changes[1:] & changes[:-1]]


SETS: dict[Any, Entry] = {
    np.unique: Derivation(unique, facts=facts.SHAPED_BY_VALUES),
    np.unique_values: Derivation(unique_values, facts=facts.SHAPED_BY_VALUES),
    **bodies.own(
        *(np.unique_all, np.unique_counts, np.unique_inverse, np.union1d),
        facts=facts.SHAPED_BY_VALUES,
    ),
    np.intersect1d: Derivation(intersect1d, facts=facts.SHAPED_BY_VALUES),
    np.setdiff1d: Derivation(setdiff1d, facts=facts.SHAPED_BY_VALUES),
    np.setxor1d: Derivation(setxor1d, facts=facts.SHAPED_BY_VALUES),
    **constants(np.isin, facts=facts.composed(bodies.within)),
    **constants(occurrences, facts=facts.SHAPED_BY_VALUES.also(body=distinct)),
    **constants(places_of_values, facts=facts.SHAPED_BY_VALUES),
    **constants(places_of_common, facts=facts.SHAPED_BY_VALUES.also(body=common)),
}

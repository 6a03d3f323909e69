"""Indexing of every NumPy kind: basic, advanced, and mixtures of both."""

import operator
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import ACTIVE, is_traced
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, rule
from tape_ad.rules.maps import SAME, Adjoint, Array, Index, added_at, scatter

PLAIN = frozenset({int, slice})
WITHOUT_ARRAYS = PLAIN | {type(None), type(Ellipsis)}
WHOLE = slice(None)


def plain_key(key: Any) -> tuple[Any, ...] | None:
    """Give a key of nothing but integers and slices, as most are, as a tuple; None for others."""
    if type(key) in PLAIN:
        return (key,)
    return key if type(key) is tuple and PLAIN.issuperset(map(type, key)) else None


def filled_key(key: Any, ndim: int) -> tuple[Any, ...] | None:
    """Write a key without arrays as `full_key` does; None for others.

    NumPy is to look at the key as well: it may have two ellipses, or too many entries.
    """
    entries = key if type(key) is tuple else (key,)
    if not WITHOUT_ARRAYS.issuperset(map(type, entries)):
        return None
    missing = ndim + entries.count(None) - len(entries)
    if Ellipsis in entries:
        dots = entries.index(Ellipsis)
        return (*entries[:dots], *(WHOLE,) * (missing + 1), *entries[dots + 1 :])
    return entries + (WHOLE,) * missing if missing else entries


def in_short(key: Any, ndim: int) -> tuple[Any, ...] | None:
    """Write a key with an ellipsis or NumPy's integers as slices and Python's integers.

    An element is a number by the one, and an array of no axes by the other.
    """
    plain = plain_key(key)
    if plain is not None or key is ...:
        return plain
    entries = key if type(key) is tuple else (key,)
    filled = filled_key(tuple([int(k) if isinstance(k, np.integer) else k for k in entries]), ndim)
    return plain_key(filled) if filled is not None and len(filled) == ndim else None


def index_map(key: Any, parent: tuple[int, ...], node: tuple[int, ...]) -> Index:
    """Make the map from an array of shape `parent` to ``array[key]``, of shape `node`."""
    plain = filled_key(key, len(parent))
    if plain is not None:
        return Index(plain, parent, node)
    if type(key) is np.ndarray and key.ndim and key.size and ACTIVE.get().capture is None:
        by_truth = key.dtype == bool  # the commonest of keys with arrays
        rest = (WHOLE,) * (len(parent) - (key.ndim if by_truth else 1))
        repeats = not by_truth and key.size > 1
        return Index((key.copy(), *rest), parent, node, repeats=repeats, by_truth=by_truth)
    full = full_key(key, len(parent))
    arrays = [k for k in full if is_array(k) and (k.ndim or k.dtype == bool)]
    return Index(
        key=full,
        parent=parent,
        node=node,
        repeats=any(k.dtype != bool and k.size > 1 for k in arrays),
        front=front_axes(full, arrays) if arrays else 0,
        by_truth=any(k.dtype == bool for k in arrays),
    )


def full_key(key: Any, ndim: int) -> tuple[Any, ...]:
    """Write a key as a tuple with one entry for each axis of the array.

    An ellipsis that stands for no axis stays, for it sets the entries beside it apart.

    Examples
    --------
    >>> full_key((..., 0), 3)
    (slice(None, None, None), slice(None, None, None), 0)
    """
    entries = [unaliased(as_entry(k)) for k in (key if isinstance(key, tuple) else (key,))]
    used = sum(k.ndim if is_mask(k) else k is not None and k is not Ellipsis for k in entries)
    rest: list[Any] = [slice(None)] * (ndim - used)
    dots = next((i for i, k in enumerate(entries) if k is Ellipsis), None)
    if dots is None:
        return (*entries, *rest)
    return (*entries[:dots], *(rest or [Ellipsis]), *entries[dots + 1 :])


def as_entry(k: Any) -> Any:
    """Take lists to arrays, and integers and masks of every kind to one kind each."""
    if k is None or k is Ellipsis or (isinstance(k, (slice, int)) and not isinstance(k, bool)):
        return k
    array = k if is_traced(k) or hasattr(k, "batch_here") else np.asarray(k)
    if array.ndim == 0 and array.dtype != bool:
        return operator.index(array) if isinstance(array, np.ndarray) else array
    return array.astype(np.intp) if array.size == 0 and array.dtype != bool else array


def unaliased(k: Any) -> Any:
    """Copy an array that a map keeps, as its owner may write to it before the sweep.

    In a capture a plain one stays, to be known as a constant of the function, which is watched.
    """
    if is_traced(k) and is_array(k):
        return k.snapshot()
    return k.copy() if isinstance(k, np.ndarray) and ACTIVE.get().capture is None else k


def is_mask(k: Any) -> bool:
    """Tell whether an entry of a key is a boolean mask."""
    return is_array(k) and bool(k.dtype == bool)


def is_array(k: Any) -> bool:
    """Tell whether an entry of a key is an array, plain or one that notes calls."""
    return isinstance(k, np.ndarray) or (
        hasattr(k, "ndim") and (is_traced(k) or hasattr(k, "batch_here"))
    )


def front_axes(key: tuple[Any, ...], arrays: list[np.ndarray[Any, Any]]) -> int:
    """Count the axes that NumPy puts first, as it does when advanced entries stand apart.

    Beside an array an integer is an advanced entry too.
    """
    places = [i for i, k in enumerate(key) if is_array(k) or isinstance(k, int)]
    if places[-1] - places[0] == len(places) - 1:
        return 0
    return max(1 if is_mask(k) else k.ndim for k in arrays)


def item(a: Array, key: Any) -> Array:
    """Give ``a[key]``; of a plain array too where an array that notes calls is in the key."""
    capture = ACTIVE.get().capture
    if capture is not None and type(a) is np.ndarray:
        noted = capture.whole(operator.getitem, (a, key), {})
        if noted is not NotImplemented:
            return noted
    return a[key]  # here, where what asks for ties looks


INDEXING: dict[Any, Entry] = {
    operator.getitem: rule(
        lambda out, a, key: index_map(key, a.shape, out.shape),
        signature=lambda a, key: ((a,), {"key": key}),
        compute=item,
        facts=facts.Facts(view=True, may_raise="indexed"),
    ),
    added_at: rule(
        lambda out, total, ct, linear: SAME,
        lambda out, total, ct, linear: Adjoint(linear),
        signature=arguments_of(added_at, "total ct"),
    ),
    scatter: rule(
        lambda out, ct, index: Adjoint(index),
        signature=arguments_of(scatter, "ct"),
    ),
}

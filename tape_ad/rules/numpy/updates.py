"""Assignment to part of an array, as a function: what ``x[key] = value`` records on handles."""

from typing import Any

import numpy as np

from tape_ad.linear_maps import Adjoint, Array, Chain, LinearMap, Mask, Stretch
from tape_ad.overrides import overridable
from tape_ad.rules.base import Call, Entry, rule
from tape_ad.rules.numpy.indexing import index_map

__all__ = ["UPDATES", "updated"]


@overridable
def updated(a: Array, value: Array, key: Any) -> Array:
    """Give a copy of `a` in which the elements at `key` are `value`.

    Parameters
    ----------
    a : array, any shape
    value : array, a shape that broadcasts to that of ``a[key]``
    key : any
        An index of any NumPy kind.

    Returns
    -------
    array, shape and dtype of `a`
    """
    result = np.array(a)
    result[key] = value
    return result


def left_alone(out: Array, a: Array, value: Array, key: Any) -> LinearMap:
    """Make the partial with respect to `a`: what is written over has none."""
    mask = np.ones(a.shape, bool)
    mask[key] = False
    return Mask(mask)


def written(out: Array, a: Array, value: Array, key: Any) -> LinearMap:
    """Make the partial with respect to `value`, which lands at `key`.

    Where the key names an element more than once, NumPy keeps the last value.
    """
    places = np.arange(out.size).reshape(out.shape)[key]
    index = index_map(key, out.shape, np.shape(places))
    stretch = Stretch(np.shape(value), index.node)
    if not index.repeats:
        return Chain((stretch, Adjoint(index)))
    order = np.arange(places.size).reshape(places.shape)
    last = np.zeros(out.size, int)
    np.maximum.at(last, places, order)
    return Chain((stretch, Mask(last[places] == order), Adjoint(index)))


def update_signature(a: Array, value: Array, key: Any) -> Call:
    """Sort the arguments of `updated`."""
    return (a, value), {"key": key}


UPDATES: dict[Any, Entry] = {updated: rule(left_alone, written, signature=update_signature)}

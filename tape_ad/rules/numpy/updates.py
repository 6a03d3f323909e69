"""Assignment as functions of arrays: what is recorded when a handle or a view of it is written to.

``x[key] = value`` makes a new array of the one that owns the memory (`updated`), and new views of
that (`viewed`).
"""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import (
    as_in_key,
    batch_in,
    overridable,
    shaped_by_values,
    whole,
)
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Entry, rule
from tape_ad.rules.maps import (
    Adjoint,
    Array,
    Chain,
    ImaginaryPart,
    Index,
    LinearMap,
    Mask,
    RealPart,
    Reshape,
    Stretch,
    clone,
    writeable_copy,
)
from tape_ad.rules.maps.memory import Marks, Window
from tape_ad.rules.maps.patterns import elementwise, permutation
from tape_ad.rules.numpy.indexing import WHOLE, in_short, index_map, plain_key

Plain = np.ndarray[Any, Any]

HALVES = RealPart(), ImaginaryPart()
"""What shows the first and what the second half of complex elements."""


PLACE = np.dtype(np.intp).itemsize
"""The bytes that the number of a place takes."""


@overridable
def updated(a: Array, value: Array, key: Any, window: Window | None = None) -> Array:
    """Give a copy of `a` in which the elements at `key` are `value`.

    Parameters
    ----------
    a : array, any shape
    value : array, a shape that broadcasts to that of ``a[key]``
    key : any
        An index of any NumPy kind.
    window : Window, optional
        Shows a view of `a`, to which `key` belongs then.

    Returns
    -------
    array, shape, dtype and order of `a`
    """
    copied = writeable_copy if window is None else clone  # a window is on the layout as it is
    result = np.array(a) if isinstance(a, np.generic) else copied(a)
    target = result if window is None else window.on(result)
    target[key] = value
    return result


@overridable
def viewed(a: Array, window: Window, way: LinearMap | None = None) -> Array:
    """View an array that `updated` gave through a window.

    Parameters
    ----------
    a : array
    window : Window
    way : LinearMap, optional
        The map that gives the same, if one is known.

    Returns
    -------
    array, shape and dtype of the window
    """
    return window.on(a)


@define(eq=False, repr=False)
class MaskParts:
    """Selection of real and of imaginary parts, each by a mask of its own."""

    broadcasts: ClassVar[bool] = True
    hides: ClassVar[bool] = True
    pattern = elementwise
    real: Plain
    imaginary: Plain

    def push(self, t: Array) -> Array:
        return np.where(self.real, t.real, 0) + 1j * np.where(self.imaginary, t.imag, 0)

    def pull(self, ct: Array) -> Array:
        return self.push(ct)


@define(eq=False, repr=False)
class Without:
    """All but ``array[key]``, of which 0 is left.

    Parameters
    ----------
    key : tuple of int and slice
        An entry for each axis.
    """

    broadcasts: ClassVar[bool] = False
    fresh: ClassVar[bool] = True
    hides: ClassVar[bool] = True
    pattern = permutation
    key: tuple[Any, ...]

    def push(self, t: Array) -> Array:
        key = (WHOLE,) * (t.ndim - len(self.key)) + self.key
        if type(t) is np.ndarray:
            return cleared(t.copy(), key)
        return updated(t, 0, key)

    def pull(self, ct: Array) -> Array:
        return self.push(ct)

    def pull_into(self, ct: Array) -> Array:
        """Pull in the memory of `ct`, a plain array that nobody needs any more."""
        return cleared(ct, (WHOLE,) * (ct.ndim - len(self.key)) + self.key)


@define(eq=False, repr=False)
class WithoutPlaces:
    """All but the elements at some places, of which 0 is left.

    Parameters
    ----------
    places : array of int
        Their numbers in the raveled array.
    shape : tuple of int
    """

    broadcasts: ClassVar[bool] = False
    fresh: ClassVar[bool] = True
    hides: ClassVar[bool] = True
    pattern = permutation
    places: Plain
    shape: tuple[int, ...]

    def push(self, t: Array) -> Array:
        flat = np.reshape(t, (*t.shape[: t.ndim - len(self.shape)], math.prod(self.shape)))
        key = ..., self.places
        left = cleared(flat.copy(), key) if type(flat) is np.ndarray else updated(flat, 0, key)
        return np.reshape(left, t.shape)

    def pull(self, ct: Array) -> Array:
        return self.push(ct)


def cleared(array: Plain, key: tuple[Any, ...]) -> Plain:
    """Set a part of an array to 0."""
    array[key] = 0
    return array


@define(eq=False, repr=False)
class Placed:
    """Zeros with the parent at ``[key]``.

    Parameters
    ----------
    index : Index
        What picks the parent out of the node.
    """

    broadcasts: ClassVar[bool] = False
    fresh: ClassVar[bool] = True
    pattern = permutation
    index: Index

    def push(self, t: Array) -> Array:
        return self.index.pull(t)

    def pull(self, ct: Array) -> Array:
        return self.index.push(ct).copy()  # so that `Without` may clear the part in what is left


def left_alone(out: Array, value: Array, a: Array, key: Any, window: Window | None) -> Any:
    """Make the partial with respect to `a`: what is written over has none."""
    if window is None:
        if key is ...:
            return None
        plain = in_short(key, a.ndim)
        if plain is not None:
            return Without(plain + (WHOLE,) * (a.ndim - len(plain)))
        return all_but(outside(a.shape, key))
    kept = outside_window(window, key)
    return all_but(kept[0]) if len(kept) == 1 else MaskParts(*kept)


def all_but(kept: Array) -> LinearMap:
    """Select by a mask, of which no more is kept than the places of few elements left out.

    Else an array that is filled one by one would keep as many masks as it has elements.
    """
    if type(kept) is np.ndarray and (kept.size - np.count_nonzero(kept)) * PLACE < kept.nbytes:
        return WithoutPlaces(np.flatnonzero(~kept), kept.shape)
    return Mask(kept)


@whole
def outside(shape: tuple[int, ...], key: Any) -> Plain:
    """Mark the elements of an array that are not at ``[key]``."""
    mask = np.ones(shape, bool)
    entries = key if type(key) is tuple else (key,)
    if batch_in(entries) is not None:
        kept: Plain = updated(as_in_key(mask, entries), False, key)
        return kept
    mask[key] = False
    return mask


@whole
def outside_window(window: Window, key: Any) -> tuple[Plain, ...]:
    """Mark the elements of an array that are not in a view of it at ``[key]``.

    Of a real or imaginary part it marks the halves of the elements, each in an array.
    """
    entries = key if type(key) is tuple else (key,)
    if batch_in(entries) is not None and window.half is None:
        places = Marks.of_elements(window).seen(window.view)
        if np.unique(places).size == places.size:
            kept = as_in_key(np.ones(math.prod(window.array.shape), bool), entries)
            left = updated(kept, outside(window.view.shape, key), places)
            return (np.reshape(left, window.array.shape),)
    return tuple([marks < 0 for marks in Marks.of_assignment(window, key).halves()])


def written(out: Array, value: Array, a: Array, key: Any, window: Window | None) -> LinearMap:
    """Make the partial with respect to `value`, which lands at `key`.

    Where the key names an element more than once, NumPy keeps the last value.
    """
    mask = key[0] if type(key) is tuple and len(key) == 1 else key
    if hasattr(mask, "batch_here") and mask.dtype == bool and np.shape(value) == ():
        maps = to_mask(mask, out.shape, window)
        if maps:
            return Chain(maps)
    if window is None:
        index = index_map(key, out.shape, shape_at(out.shape, key))
        if np.shape(value) == index.node and plain_key(key) is not None:
            return Placed(index)
        if not index.repeats:
            return Chain((Stretch(np.shape(value), index.node), Adjoint(index)))
        window = Window.of(out_like := np.zeros(out.shape, bool), out_like)
    maps, half = landing(window, key, np.shape(value)), window.half
    if half is None:
        return Chain(maps)
    maps = (*maps, Adjoint(HALVES[half]))
    return Chain((RealPart(), *maps) if np.iscomplexobj(value) else maps)


def to_mask(mask: Array, shape: tuple[int, ...], window: Window | None) -> tuple[LinearMap, ...]:
    """Make the maps that bring one number to where a mask is, which is another for each of a batch.

    There are none for real and imaginary parts, and for a view that shows an element twice.
    """
    seen = shape if window is None else window.view.shape
    chosen = Mask(np.copy(mask)[(..., *(None,) * (len(seen) - mask.ndim))])
    if window is None:
        return Stretch((), seen), chosen
    places, own = Marks.of_elements(window).seen(window.view), window.array.shape
    if window.half is not None or np.unique(places).size < places.size:
        return ()
    size = math.prod(own)
    back = Adjoint(Index((places,), (size,), places.shape)), Reshape((size,), own)
    return Stretch((), seen), chosen, *back


def shape_at(shape: tuple[int, ...], key: Any) -> tuple[int, ...]:
    """Find the shape of ``array[key]``."""
    return np.shape(picked(shape, key))


@shaped_by_values
def picked(shape: tuple[int, ...], key: Any) -> Plain:
    """Give an array of the shape of ``array[key]``."""
    return np.asarray(np.broadcast_to(False, shape)[key])  # which takes no memory before


def landing(window: Window, key: Any, value: tuple[int, ...]) -> tuple[LinearMap, ...]:
    """Make the maps that bring a value's elements to where an assignment puts them."""
    shape, own = shape_at(window.view.shape, key), window.array.shape
    numbers, places = landed(window, key)
    count, size, node = math.prod(shape), math.prod(own), places.shape
    return (
        Stretch(value, shape),
        Reshape(shape, (count,)),
        Index((numbers,), (count,), node),
        Adjoint(Index((places,), (size,), node)),
        Reshape((size,), own),
    )


@shaped_by_values
def landed(window: Window, key: Any) -> tuple[Plain, Plain]:
    """Find which elements of a value are there after an assignment, and where."""
    flat = Marks.of_assignment(window, key).halves()[window.half or 0].reshape(-1)
    places = np.flatnonzero(flat >= 0)
    return flat[places], places


def seen_through(out: Array, a: Array, window: Window, way: LinearMap | None) -> LinearMap:
    """Make the partial of a view: the way that NumPy took, or element by element."""
    if way is not None:
        return way
    places = Marks.of_elements(window).seen(window.view)
    size = math.prod(window.array.shape)
    maps = (
        Reshape(window.array.shape, (size,)),
        Index((places,), (size,), places.shape, repeats=True),
    )
    return Chain(maps if window.half is None else (*maps, HALVES[window.half]))


def update_signature(a: Array, value: Array, key: Any, window: Window | None = None) -> Call:
    """Sort the arguments of `updated`.

    The value comes first: a sweep pulls to the last operand in the memory of the cotangent.
    """
    return (value, a), {"key": key, "window": window}


def view_signature(a: Array, window: Window, way: LinearMap | None = None) -> Call:
    """Sort the arguments of `viewed`."""
    return (a,), {"window": window, "way": way}


UPDATES: dict[Any, Entry] = {
    updated: rule(
        written,
        left_alone,
        signature=update_signature,
        compute=lambda value, a, key, window: updated(a, value, key, window),
        facts=facts.Facts(may_raise="indexed"),
    ),
    viewed: rule(seen_through, signature=view_signature, facts=facts.Facts(view=True)),
}

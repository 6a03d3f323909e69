"""Which handles stand for the same memory, as NumPy's arrays and their views do."""

from sys import getrefcount
from threading import get_ident
from typing import Any
from weakref import ref

import numpy as np
from attrs import define

from tape_ad.record.arena import Arena
from tape_ad.record.locks import wait_until_assigned
from tape_ad.rules.maps import Chain, Index, LinearMap, Stretch, rearranges

__all__ = ["Handle", "has_alone", "link", "linked", "live_views", "way_to"]

Handle = Any
"""A Tensor, whose methods end here."""


def link(view: Handle, source: Handle) -> None:
    """Note that a handle is a view of another, and so of whatever that is a view of."""
    record: Arena = view.record
    base = record.bases.get(source.index, source.index)
    record.bases[view.index] = base
    if record.functions[base] is not None:  # a leaf is never assigned to
        view.view_base = source if base == source.index else source.view_base
        record.views.setdefault(base, []).append(ref(view))


def linked(view: Handle, source: Handle, data: Any) -> bool:
    """Note a view of that array, unless the source stands for another one by now."""
    record, mine = view.record, (get_ident(),)
    while (outer := record.assigning) is not None and outer != mine:
        wait_until_assigned(record)
    try:
        record.assigning = mine
        same = source.data is data
        if same:
            link(view, source)
        return same
    finally:
        record.assigning = outer


def live_views(base: Handle) -> list[Handle]:
    """List the handles of the views of an array that are alive."""
    record: Arena = base.record
    noted = record.views.get(base.index)
    if not noted:
        return []
    found = [reference() for reference in noted]
    return [view for view in found if view is not None and is_view_of(view, base)]


def is_view_of(view: Handle, base: Handle) -> bool:
    """Tell whether what was noted as a view is one still."""
    return view.record is base.record and view.record.bases.get(view.index) == base.index


def way_to(view: Handle) -> LinearMap | None:
    """Give the map that makes a view of its base, if turning, picking and reshaping made it."""
    record: Arena = view.record
    node, base = view.index, record.bases[view.index]
    first, last = record.starts[node : node + 2]
    if first + 1 == last and record.parents[first] == base:
        partial = record.partials[first]
        if type(partial) is Index:  # as most are
            return partial
    maps: list[LinearMap] = []
    while node != base:
        edges = list(record.edges(node))
        if len(edges) != 1 or not rearranges(edges[0][1]):
            return None
        parent, linear = edges[0]
        shapes = record.shapes[parent], record.shapes[node]
        if linear.broadcasts and shapes[0] != shapes[1]:  # the sweep sees to that between nodes
            linear = Stretch(*shapes)
        maps.insert(0, linear)
        node = parent
    return maps[0] if len(maps) == 1 else Chain(tuple(maps))


def has_alone(base: Handle, views: list[Handle]) -> bool:
    """Tell whether nobody but a handle and those of its views has the memory of its array.

    Whoever else could see what is written there, a partial, a user who has taken ``.data``, or the
    one whose array it was, holds a reference to that array or to a view of it.
    """
    if (
        base.record.observer is not None and base.record.observer.sees_arrays
    ) or not base.data.flags.owndata:
        return False
    if references(base) != ALONE + len(views):
        return False
    for view in views:  # noqa: SIM110 - a generator would take as long as all of the rest
        if references(view) != ALONE or view.data.base is not base.data:
            return False
    return True


def references(handle: Any) -> int:
    """Count the references to a handle's array."""
    return getrefcount(handle.data)


@define(eq=False)
class Holder:
    """Something else that has an array in a slot, as a handle does."""

    data: Any


ALONE = references(Holder(np.empty(0)))
"""The references to an array that only one handle has."""

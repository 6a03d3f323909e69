"""A reverse sweep an edge at a time, which tells what was left out from other zeros."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.record.arena import Arena
from tape_ad.record.traits import traits_of
from tape_ad.record.unbroadcasting import unbroadcast
from tape_ad.rules.maps import Array, Mask, pull_chosen
from tape_ad.rules.maps.patterns import elementwise

__all__ = ["Look", "careful_sweep"]

Plain = np.ndarray[Any, Any]
Look = Callable[[int, int, int, Array, Array], None]
"""``look(node, edge, parent, ct, pulled)``: what came to a node, and what goes to its parent."""


def careful_sweep(
    arena: Arena,
    root: int,
    seed: Array,
    more: Mapping[int, Array],
    chosen: bool,
    look: Look | None = None,
) -> dict[int, Array]:
    """Do what `tape_ad.record.sweeps.reverse_sweep` does, so that what was left out stays 0.

    Somebody may look at each cotangent on the way.
    """
    stack = seed.ndim - len(arena.shapes[root])
    cotangents = dict(more) | {root: seed}
    masked = set(cotangents) if chosen else set()
    seen: dict[int, Any] = {}
    kept: dict[int, Array] = {}
    for node in range(root, -1, -1):
        ct = cotangents.pop(node, None)
        if ct is None:
            continue
        if arena.is_held(node):
            kept[node] = ct
        for edge in range(*arena.starts[node : node + 2]):
            parent, linear = arena.parents[edge], arena.map_at(node, edge)
            kind: Any = linear
            pulled = pull_chosen(kind, ct) if node in masked else linear.pull(ct)
            pulled = unbroadcast(pulled, arena.shapes[parent], arena.dtypes[parent], stack)
            if look is not None:
                look(node, edge, parent, ct, pulled)
            found = seen_further_back(linear, seen.get(node), arena.shapes[parent])
            if found is not None and type(pulled) is not np.ndarray and not found.all():
                pulled = np.where(found, pulled, 0)  # with all its derivatives
            total = cotangents.get(parent)
            cotangents[parent] = pulled if total is None else total + pulled
            seen[parent] = found if total is None else either(seen.get(parent), found)
            if node in masked or (traits_of(type(linear)).may_hide and kind.hides):
                masked.add(parent)
    return kept


def seen_further_back(linear: Any, seen: Plain | None, shape: tuple[int, ...]) -> Plain | None:
    """Tell which elements of a parent anything comes to from those of a node that were chosen.

    It is known for elementwise maps, whatever they multiply by; None says that all may be.
    """
    if type(linear) is Mask and isinstance(linear.mask, (np.ndarray, np.generic)):
        seen = np.asarray(linear.mask if seen is None else seen & linear.mask)
    if seen is None or getattr(type(linear), "pattern", None) is not elementwise:
        return None
    found: Plain = unbroadcast(seen.astype(float), shape, np.dtype(float), 0) != 0
    return found


def either(one: Plain | None, two: Plain | None) -> Plain | None:
    """Tell which elements anything comes to by one of two ways."""
    return None if one is None or two is None else one | two

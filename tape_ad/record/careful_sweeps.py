"""A reverse sweep an edge at a time, which tells what was left out from other zeros."""

from collections.abc import Callable, Mapping
from typing import Any

from tape_ad.record.arena import Arena
from tape_ad.record.traits import traits_of
from tape_ad.record.unbroadcasting import unbroadcast
from tape_ad.rules.maps import Array, pull_chosen

__all__ = ["Look", "careful_sweep"]

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
            total = cotangents.get(parent)
            cotangents[parent] = pulled if total is None else total + pulled
            if node in masked or (traits_of(type(linear)).may_hide and kind.hides):
                masked.add(parent)
    return kept

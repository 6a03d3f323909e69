"""The two sweeps: loops over the indices of an arena, with maps and arrays and nothing else."""

from collections.abc import Collection, Iterable, Mapping
from sys import getrefcount
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import BATCHES, TRACERS, as_one_call, batch_in, certainly
from tape_ad.record.arena import Arena, unheld_count
from tape_ad.record.careful_sweeps import careful_sweep
from tape_ad.record.pushing import push_along
from tape_ad.record.traits import KNOWN, NUMBERS, OPEN, traits_of
from tape_ad.record.unbroadcasting import LARGE, unbroadcast
from tape_ad.record.watching import require_unchanged
from tape_ad.rules.maps import (
    Array,
    Products,
    Scale,
    add_reduce,
    added_at,
)

__all__ = ["forward_sweep", "reverse_sweep"]

ndarray = np.ndarray
NO_MORE: Mapping[int, Array] = MappingProxyType({})


@np.errstate(all="ignore")  # a pole is inf or nan, and NumPy has warned of the value
def reverse_sweep(
    arena: Arena,
    root: int,
    seed: Array,
    *,
    release: bool = False,
    more: Mapping[int, Array] = NO_MORE,
    chosen: bool = False,
    reached: list[int] | None = None,
) -> dict[int, Array]:
    """Pull a seed back from one node to everything that it depends on.

    Where the maps on the way have left something out, as `numpy.where` does, and a gradient is nan
    or inf, it may come from what was left out. Only then is the sweep repeated in a slower way,
    which tells such zeros from others.

    Parameters
    ----------
    arena : Arena
    root : int
        The node to start from.
    seed : array, shape stack + (the root's shape)
        The cotangent of the root. Leading axes are a stack of seeds, swept at once.
    release : bool
        Give up the partials of each node as soon as they are used; at the end of the sweep where
        it may have to be repeated.
    more : mapping of int to array, shape stack + (the node's shape)
        Cotangents of further nodes to start from, all of them older than the root.
    chosen : bool
        Whether the zeros of the cotangents given are of what was not chosen.
    reached : list of int, optional
        To be filled with the nodes that the sweep comes to. An arena's observer gives it, which
        makes the sweep otherwise.

    Returns
    -------
    dict of int to array, shape stack + (the node's shape)
        The cotangents of those nodes that a handle is alive for; a node that nothing swept from
        depends on is absent.

    Raises
    ------
    ReleasedError
        When the sweep meets a node whose partials are released.
    MutatedInputError
        When an array was written to that a leaf was made of.
    """
    for _, array, noted in arena.inputs:
        if array.tobytes() != noted and reached is None:
            require_unchanged(arena, [root, *more])
            break
    if arena.observer is not None and reached is None:
        arena.observer.check()
        kept: dict[int, Array] = arena.observer.sweep(
            arena, root, seed, release=release, more=more, chosen=chosen
        )
        return kept
    at_once = release and not chosen and not may_hide(arena.partials)
    if reached is None and release and not at_once:
        reached = []
    kept, hidden = swept(arena, root, seed, more, at_once, reached)
    if (hidden or chosen) and not are_finite(list(kept.values())):
        kept = careful_sweep(arena, root, seed, more, chosen)
    for node in (reached or ()) if release else ():
        for edge in range(*arena.starts[node : node + 2]):
            arena.partials[edge] = None
    return kept


def may_hide(partials: list[Any]) -> bool:
    """Tell whether some partials are of kinds that leave elements out."""
    doubtful = set(map(type, partials)) - OPEN
    return bool(doubtful) and any(traits_of(kind).may_hide for kind in doubtful)


def are_finite(arrays: list[Array]) -> bool:
    """Do what `all_finite` does for plain arrays, handles, and arrays that note calls."""
    if TRACERS and (noted := as_one_call(all_finite, arrays)) is not NotImplemented:
        return bool(noted)
    return all_finite(arrays)


def all_finite(arrays: Iterable[Array]) -> bool:
    """Tell whether arrays hold neither nan nor inf, by sums of squares, which BLAS has soonest.

    A sum that is too large for its dtype counts as inf: the answer may be False for finite arrays.
    """
    return all(
        certainly(
            np.isfinite(np.vdot(each, each) if in_blas(each) else add_reduce(each, axis=None))
        )
        for each in arrays
    )


def in_blas(array: Array) -> bool:
    """Tell whether BLAS has functions for a plain array of real numbers."""
    return type(array) is ndarray and array.dtype.char in "fd"


def swept(  # noqa: PLR0912, PLR0915 - one loop, as a call for each edge would cost a tenth
    arena: Arena,
    root: int,
    seed: Array,
    more: Mapping[int, Array],
    release: bool,
    reached: list[int] | None,
) -> tuple[dict[int, Array], bool]:
    """Do what `reverse_sweep` does, with every 0 taken for a number.

    The nodes that it comes to are added to `reached`, if that is given.

    Returns
    -------
    tuple of dict and bool
        The cotangents, and whether a map has left something out on the way.
    """
    parents, starts = arena.parents, arena.starts
    partials: list[Any] = arena.partials  # some kinds of them have more to them than LinearMap says
    shapes, dtypes, marks = arena.shapes, arena.dtypes, arena.marks
    unheld = unheld_count()
    stack = seed.ndim - len(shapes[root])
    cotangents: list[Array] = [None] * (root + 1)
    cotangents[root] = seed
    if more:
        for node, ct in more.items():
            cotangents[node] = ct
    owned = bytearray(root + 1)  # 1 where a cotangent is an array that nobody else has
    kept: dict[int, Array] = {}
    hidden = False
    waiting: dict[int, Products] = {}  # contributions to add to a cotangent before it is used
    begin = starts[root + 1]
    for node in range(root, -1, -1):
        begin, end = starts[node], begin
        ct = cotangents.pop()
        if ct is None:
            continue
        if waiting and node in waiting:
            ct = waiting.pop(node).added_to(ct)
            owned[node] = True
        mine = owned[node]  # whether its memory may be used again
        if getrefcount(marks[node]) > unheld:  # a handle is alive
            kept[node] = ct
            mine = False
        if reached is not None:
            reached.append(node)
        own_shape = shapes[node]
        edge = begin
        while edge < end:  # faster than a range, for one edge or two
            parent, partial = parents[edge], partials[edge]
            edge += 1
            kind = type(partial)
            total = cotangents[parent]
            shape, dtype = shapes[parent], dtypes[parent]
            given = own_shape
            if kind in NUMBERS:
                contribution = ct * partial
                fresh = True
            elif kind is ndarray:
                fresh = True
                if mine and edge == end and ct.size > LARGE and type(ct) is ndarray:
                    contribution = Scale(partial).pull_into(ct)
                else:
                    contribution = ct * partial.conjugate()
            elif (traits := KNOWN.get(kind) or traits_of(kind)).identity:
                contribution = ct
                mine = fresh = False  # its memory is handed on
            else:
                if traits.may_hide and starts[parent] < starts[parent + 1] and partial.hides:
                    hidden = True  # from what is further back; behind a leaf there is nothing
                if traits.adds_into and owned[parent]:
                    if both_plain(total, ct) and not (BATCHES and batch_in(partial.key)):
                        partial.add_into(total, ct)
                    else:
                        cotangents[parent] = added_at(total, ct, partial)
                    continue
                if traits.has_factors and total is not None and ct.dtype is dtype and not stack:
                    factors = partial.pull_factors(ct)
                    if factors is not None:
                        waiting.setdefault(parent, Products()).add(*factors)
                        mine = False
                        continue
                fresh = traits.fresh
                if not traits.is_map:
                    contribution = arena.map_at(node, edge - 1).pull(ct)
                elif traits.uniform and shape != own_shape:
                    contribution = partial.pull(unbroadcast(ct, shape, dtype, stack))
                elif (
                    traits.pulls_into
                    and mine
                    and edge == end
                    and ct.size > LARGE
                    and type(ct) is ndarray
                ):
                    contribution = partial.pull_into(ct)
                else:
                    contribution = partial.pull(ct)
                mine = mine and fresh  # another map may have handed its memory on
                given = contribution.shape
            if stack or given != shape or contribution.dtype is not dtype:
                pulled, contribution = contribution, unbroadcast(contribution, shape, dtype, stack)
                fresh = fresh and contribution is pulled
            if total is None:
                owned[parent] = fresh
            elif type(total) is not type(contribution) or type(total) is not ndarray:
                contribution = total + contribution
                owned[parent] = True
            elif owned[parent]:
                total += contribution
                contribution = total
            elif fresh:
                contribution += total
                owned[parent] = True
            else:
                contribution = total + contribution
                owned[parent] = True
            cotangents[parent] = contribution
        while release and edge > begin:
            edge -= 1
            partials[edge] = None
    return kept, hidden


def both_plain(total: Array, ct: Array) -> bool:
    """Tell whether a cotangent can be added to a part of another in place."""
    return type(total) is ndarray and isinstance(ct, (np.ndarray, np.generic))


def forward_sweep(
    arena: Arena, tangents: dict[int, Array], last: int, *, keep: Collection[int] | None = None
) -> dict[int, Array]:
    """Push tangents from some nodes forward to everything up to `last` that depends on them.

    Parameters
    ----------
    arena : Arena
    tangents : dict of int to array, shape stack + (the node's shape)
        The tangents to start from, all with the same stack.
    last : int
        The last node of interest.
    keep : collection of int, optional
        The nodes whose tangents are asked for. Any other is given up with its last use; all of
        them are kept when this is left out.

    Returns
    -------
    dict of int to array, shape stack + (the node's shape)
        The tangent of every node reached; an absent one is zero.

    Raises
    ------
    ReleasedError
        When the sweep meets a node whose partials are released.
    MutatedInputError
        As for `reverse_sweep`.
    """
    reached = dict(tangents)
    if not reached:
        return reached
    require_unchanged(arena, range(last + 1) if keep is None else keep)
    if arena.observer is not None:
        arena.observer.check()
    first = min(reached)
    stack = reached[first].ndim - len(arena.shapes[first])
    parents, starts, partials = arena.parents, arena.starts, arena.partials
    last_use: dict[int, int] = {}  # the edge that a tangent is pushed along last
    if keep is not None:
        every = range(starts[first], starts[last + 1])
        last_use = {parents[edge]: edge for edge in every if parents[edge] not in keep}
    for node in range(first, last + 1):
        begin, end = starts[node], starts[node + 1]
        edges = [edge for edge in range(begin, end) if parents[edge] in reached]
        if not edges:
            continue
        if traits_of(type(partials[edges[0]])).pushes_together:
            push_together(arena, node, edges, reached, stack)
            for edge in edges:
                if last_use.get(parents[edge]) == edge:
                    del reached[parents[edge]]
            continue
        total = [reached.pop(node)] if node in reached else []
        for edge in edges:
            parent = parents[edge]
            t = [reached.pop(parent) if last_use.get(parent) == edge else reached[parent]]
            push_along(arena, node, edge, t, total, stack)
        reached[node] = total.pop()
    return reached


def push_together(
    arena: Arena, node: int, edges: list[int], reached: dict[int, Array], stack: int
) -> None:
    """Push the tangents of a node's parents by maps that do it at once."""
    pairs = [(arena.map_at(node, edge), reached[arena.parents[edge]]) for edge in edges]
    kind: Any = type(pairs[0][0])
    pushed = unbroadcast(kind.push_together(pairs), arena.shapes[node], arena.dtypes[node], stack)
    if arena.observer is not None:
        arena.observer.pushed(arena, node, pushed)
    total = reached.get(node)
    reached[node] = pushed if total is None else total + pushed

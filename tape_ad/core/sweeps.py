"""The two sweeps: loops over the indices of an arena, with maps and arrays and nothing else."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from sys import getrefcount
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.core.arena import Arena, unheld_count
from tape_ad.core.traits import KNOWN, NUMBERS, OPEN, traits_of
from tape_ad.linear_maps import (
    Array,
    LinearMap,
    Products,
    Scale,
    add_reduce,
    added_at,
    pull_chosen,
)
from tape_ad.overrides import NOTING, as_one_call

__all__ = ["conform", "forward_sweep", "reverse_sweep"]

LARGE = 10_000
"""A cotangent of more elements than this is written over when nobody needs it any more.

A new array of fewer comes from memory that is at hand, and to find out whether the old one may go
takes longer than to make it. `summed` lets BLAS add up larger ones, for the same reason: making the
ones to multiply with is not worth it for fewer."""

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

    Returns
    -------
    dict of int to array, shape stack + (the node's shape)
        The cotangents of those nodes that a handle is alive for; a node that nothing swept from
        depends on is absent.

    Raises
    ------
    ReleasedError
        When the sweep meets a node whose partials are released.
    """
    at_once = release and not chosen and not may_hide(arena.partials)
    reached: list[int] | None = [] if release and not at_once else None
    kept, hidden = swept(arena, root, seed, more, at_once, reached)
    if (hidden or chosen) and not are_finite(list(kept.values())):
        kept = swept_with_care(arena, root, seed, more, chosen)
    for node in reached or ():
        for edge in range(*arena.starts[node : node + 2]):
            arena.partials[edge] = None
    return kept


def may_hide(partials: list[Any]) -> bool:
    """Tell whether some partials are of kinds that leave elements out."""
    doubtful = set(map(type, partials)) - OPEN
    return bool(doubtful) and any(traits_of(kind).may_hide for kind in doubtful)


def are_finite(arrays: list[Array]) -> bool:
    """Do what `all_finite` does for plain arrays, handles, and arrays that note calls."""
    if NOTING and (noted := as_one_call(all_finite, arrays)) is not NotImplemented:
        return bool(noted)
    return all_finite(arrays)


def all_finite(arrays: Iterable[Array]) -> bool:
    """Tell whether arrays hold neither nan nor inf, by sums of squares, which BLAS has soonest.

    A sum that is too large for its dtype counts as inf: the answer may be False for finite arrays.
    """
    return all(
        np.isfinite(np.vdot(each, each) if in_blas(each) else add_reduce(each, axis=None))
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
                    if both_plain(total, ct):
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
                    contribution = partial.pull(conform(ct, shape, dtype, stack))
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
                pulled, contribution = contribution, conform(contribution, shape, dtype, stack)
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


def swept_with_care(
    arena: Arena, root: int, seed: Array, more: Mapping[int, Array], chosen: bool
) -> dict[int, Array]:
    """Do what `reverse_sweep` does, so that what was left out stays 0 whatever it meets."""
    stack = seed.ndim - len(arena.shapes[root])
    cotangents = dict(more) | {root: seed}
    masked = set(cotangents) if chosen else set()  # nodes whose zeros may be of what was left out
    kept: dict[int, Array] = {}
    for node in range(root, -1, -1):
        ct = cotangents.pop(node, None)
        if ct is None:
            continue
        if arena.is_held(node):
            kept[node] = ct
        for parent, partial in arena.edges(node):
            linear: Any = partial
            pulled = pull_chosen(linear, ct) if node in masked else linear.pull(ct)
            pulled = conform(pulled, arena.shapes[parent], arena.dtypes[parent], stack)
            total = cotangents.get(parent)
            cotangents[parent] = pulled if total is None else total + pulled
            if node in masked or (traits_of(type(linear)).may_hide and linear.hides):
                masked.add(parent)
    return kept


def both_plain(total: Array, ct: Array) -> bool:
    """Tell whether a cotangent can be added to a part of another in place."""
    return type(total) is ndarray and isinstance(ct, (np.ndarray, np.generic))


def forward_sweep(
    arena: Arena, tangents: dict[int, Array], last: int, *, keep: Container[int] | None = None
) -> dict[int, Array]:
    """Push tangents from some nodes forward to everything up to `last` that depends on them.

    Parameters
    ----------
    arena : Arena
    tangents : dict of int to array, shape stack + (the node's shape)
        The tangents to start from, all with the same stack.
    last : int
        The last node of interest.
    keep : container of int, optional
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
    """
    reached = dict(tangents)
    if not reached:
        return reached
    first = min(reached)
    stack = reached[first].ndim - len(arena.shapes[first])
    last_use: dict[int, int] = {}
    if keep is not None:
        nodes = range(first, last + 1)
        last_use = {parent: node for node in nodes for parent, _ in arena.edges(node)}
    for node in range(first, last + 1):
        shape, dtype = arena.shapes[node], arena.dtypes[node]
        edges = [(parent, linear) for parent, linear in arena.edges(node) if parent in reached]
        for pushed in contributions(arena, node, edges, reached, stack):
            contribution = conform(pushed, shape, dtype, stack)
            total = reached.get(node)
            reached[node] = contribution if total is None else total + contribution
        if keep is not None:
            for parent, _ in arena.edges(node):
                if last_use[parent] == node and parent not in keep:
                    reached.pop(parent, None)
    return reached


def contributions(
    arena: Arena,
    node: int,
    edges: list[tuple[int, LinearMap]],
    reached: Mapping[int, Array],
    stack: int,
) -> Iterator[Array]:
    """Push the tangents of a node's parents."""
    kind: Any = type(edges[0][1]) if edges else None
    if kind is not None and traits_of(kind).pushes_together:
        yield kind.push_together([(linear, reached[parent]) for parent, linear in edges])
        return
    for parent, linear in edges:
        t = reached[parent]
        missing = len(arena.shapes[node]) - len(arena.shapes[parent])
        if stack and missing > 0 and linear.broadcasts:
            t = t.reshape(t.shape[:stack] + (1,) * missing + t.shape[stack:])
        yield linear.push(t)


def conform(array: Array, shape: tuple[int, ...], dtype: np.dtype[Any], stack: int) -> Array:
    """Bring a contribution into the space it belongs to.

    Axes that broadcasting added or stretched are summed, axes that are still to be stretched are
    broadcast, the real part is taken where the space is real, and the dtype is cast.

    Parameters
    ----------
    array : array
        Behind its first `stack` axes, a shape that broadcasts with `shape`.
    shape, dtype
        The space.
    stack : int
        The number of leading axes that are not part of the space.

    Returns
    -------
    array, shape (the stack) + shape
    """
    target = array.shape[:stack] + shape
    added = array.ndim - len(target)
    if added > 0:
        array = summed(array, stack, stack + added)
    if array.shape != target:
        pairs = zip(range(-1, -len(shape) - 1, -1), array.shape[::-1], shape[::-1], strict=False)
        stretched = [array.ndim + axis for axis, have, want in pairs if want == 1 and have != 1]
        if len(stretched) == 1:
            array = summed(array, stretched[0], stretched[0] + 1, keepdims=True)
        elif stretched:
            array = add_reduce(array, axis=tuple(stretched), keepdims=True)
        if array.shape != target:
            array = np.broadcast_to(array, target)
    if array.dtype is not dtype and array.dtype != dtype:
        if array.dtype.kind == "c" and dtype.kind != "c":
            array = array.real
        array = array.astype(dtype)
    return array


def summed(array: Array, first: int, last: int, *, keepdims: bool = False) -> Array:
    """Sum over the axes from `first` to before `last`.

    A large array is multiplied with ones, which takes BLAS a fraction of the time that NumPy's sum
    over all but the last axis takes. In single precision, where its other order of summation shows,
    it stays NumPy's sum.
    """
    shape = array.shape
    columns = 1 if array.size < LARGE or not by_blas(array) else math.prod(shape[last:])
    if columns == 1:
        axes = first if last == first + 1 else tuple(range(first, last))
        return add_reduce(array, axis=axes, keepdims=keepdims)
    if type(array) in NOTING:
        total = as_one_call(times_ones, array, first, last, columns)
    else:
        total = times_ones(array, first, last, columns)
    kept = shape[:first] + (1,) * (last - first) * keepdims + shape[last:]
    return total.reshape(kept)


def times_ones(array: Array, first: int, last: int, columns: int) -> Array:
    """Sum a plain array over some axes, behind which `columns` elements lie, by a product."""
    rows = math.prod(array.shape[first:last])
    real = array.real.dtype  # a complex one would turn inf into nan
    by_rows = array.reshape((-1, rows, columns)).view(real)
    return np.matmul(np.ones((1, rows), real), by_rows).view(array.dtype)


def by_blas(array: Array) -> bool:
    """Tell whether BLAS multiplies an array as it stands."""
    kind = type(array)
    plain = kind is ndarray or kind in NOTING
    return plain and array.flags.c_contiguous and array.dtype.char in "dD"

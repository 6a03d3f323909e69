"""The two sweeps: loops over the indices of an arena, with maps and arrays and nothing else."""

from collections.abc import Callable, Collection, Iterable, Mapping
from math import isfinite
from sys import getrefcount
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.overridable import TRACERS, batch_in, certainly, whole
from tape_ad.record.arena import Arena, unheld_count
from tape_ad.record.spaces import LARGE, unbroadcast
from tape_ad.record.watching import require_unchanged
from tape_ad.rules.maps import (
    Array,
    Mask,
    Negate,
    Products,
    Scale,
    add_reduce,
    added_at,
    broadcasts,
    pull_chosen,
)
from tape_ad.rules.maps.patterns import elementwise

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
    functions, shapes, dtypes = arena.functions, arena.shapes, arena.dtypes
    for nodes, few, noted, array in arena.noted if reached is None else ():
        if few.tobytes() != noted or (
            functions[node := nodes[0]] is None
            and (array.shape != shapes[node] or array.dtype is not dtypes[node])
        ):
            require_unchanged(arena, [root, *more])
            break
    if arena.observer is not None and reached is None:
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
    if reached and release:
        arena.release(reached)
    elif at_once:
        arena.forget_released()
    return kept


def may_hide(partials: list[Any]) -> bool:
    """Tell whether some partials are of kinds that leave elements out."""
    doubtful = set(map(type, partials)) - OPEN
    return bool(doubtful) and any(traits_of(kind).may_hide for kind in doubtful)


def are_finite(arrays: list[Array]) -> bool:
    """Tell whether all elements are finite, of plain arrays, handles and tracers."""
    return bool(all_finite_as_one(arrays))


def all_finite(arrays: Iterable[Array]) -> bool:
    """Tell whether arrays hold neither nan nor inf, by sums of squares, which BLAS has soonest.

    A sum that is too large for its dtype counts as inf: the answer may be False for finite arrays.
    """
    total = 0.0
    for each in arrays:
        if in_blas(each):
            total += float(np.vdot(each, each))
        elif not certainly(np.isfinite(add_reduce(each, axis=None))):
            return False
    return isfinite(total)


all_finite_as_one = whole(all_finite)


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
    """Sweep back as `reverse_sweep` does, with every 0 taken for a number.

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
            if kind is ndarray:
                fresh = True
                if mine and edge == end and ct.size > LARGE and type(ct) is ndarray:
                    contribution = Scale(partial).pull_into(ct)
                else:
                    contribution = ct * partial.conjugate()
            elif kind in NUMBERS:
                contribution = ct * partial
                fresh = True
            elif (traits := KNOWN.get(kind) or traits_of(kind)).identity:
                contribution = ct
                mine = fresh = False  # its memory is handed on
            else:
                if traits.may_hide and starts[parent] < starts[parent + 1] and partial.hides:
                    hidden = True  # from what is further back; behind a leaf there is nothing
                if traits.adds_into and owned[parent]:
                    if both_plain(total, ct) and batch_in(partial.key) is None:
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
                if partial is None:
                    contribution = arena.map_at(node, edge - 1).pull(ct)
                elif not traits.is_map:
                    contribution = ct * partial.conjugate()
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
            elif (owned[parent] or fresh) and total.strides == contribution.strides:
                # Else it would lie in memory as a sum that is captured does not, of whose matrix
                # products the last digits are others
                if owned[parent]:
                    total += contribution
                    contribution = total
                else:
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
    arena: Arena,
    tangents: dict[int, Array],
    last: int,
    *,
    keep: Collection[int] | None = None,
    among: Collection[int] | None = None,
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
    among : collection of int, optional
        The nodes that are pushed to; all that depend on the first ones when this is left out.

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
    first = min(reached)
    stack = reached[first].ndim - len(arena.shapes[first])
    parents, starts, partials = arena.parents, arena.starts, arena.partials
    last_use: dict[int, int] = {}  # the edge that a tangent is pushed along last
    if keep is not None:
        every = range(starts[first], starts[last + 1])
        last_use = {parents[edge]: edge for edge in every if parents[edge] not in keep}
    for node in range(first, last + 1) if among is None else sorted(among):
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


NUMBERS = frozenset({float, int, np.float64, np.float32})
"""The partials that are real numbers; those of other kinds take a longer way to the same."""


@frozen
class Traits:
    """The optional members of a map that `tape_ad.LinearMap` lists.

    Attributes
    ----------
    is_map : bool
        False for an array that stands for a map, and for a partial that was released.
    identity, fresh, uniform : bool
        As the map's members say.
    may_hide, adds_into, pulls_into, has_factors, pushes_together : bool
        Whether it has `hides`, `add_into`, `pull_into`, `pull_factors` and `push_together`.
    """

    is_map: bool
    identity: bool
    fresh: bool
    uniform: bool
    may_hide: bool
    adds_into: bool
    pulls_into: bool
    has_factors: bool
    pushes_together: bool


def traits_of(kind: type) -> Traits:
    """Give the traits of a kind of partial."""
    found = KNOWN.get(kind)
    if found is None:
        found = KNOWN[kind] = Traits(
            is_map=hasattr(kind, "pull"),
            identity=getattr(kind, "identity", None) is True,  # and no field of that name
            fresh=getattr(kind, "fresh", None) is True or kind in TRACERS,  # as plain arrays are
            uniform=getattr(kind, "uniform", None) is True,
            may_hide=isinstance(hides := getattr(kind, "hides", None), property) or hides is True,
            adds_into=callable(getattr(kind, "add_into", None)),
            pulls_into=callable(getattr(kind, "pull_into", None)),
            has_factors=callable(getattr(kind, "pull_factors", None)),
            pushes_together=callable(getattr(kind, "push_together", None)),
        )
        if not found.may_hide:
            OPEN.add(kind)
    return found


KNOWN: dict[type, Traits] = {}
"""Kept for good: there are few kinds of maps."""

OPEN: set[type] = set()
"""Those of them that leave nothing out."""


def push_along(
    arena: Arena, node: int, edge: int, held: list[Array], total: list[Array], stack: int
) -> None:
    """Push a tangent along an edge, and add it to what its node has.

    Parameters
    ----------
    arena : Arena
    node, edge : int
    held : list of array
        The tangent of the edge's parent, alone. Where the list has the only reference to it, it may
        be written over.
    total : list of array
        The node's tangent so far, or nothing; it is replaced.
    stack : int
        The number of leading axes that are not part of the node's shape.
    """
    partial = arena.partials[edge]
    kind = type(partial)
    shape, dtype, observer = arena.shapes[node], arena.dtypes[node], arena.observer
    same = held[0].shape[stack:] == shape and held[0].dtype == dtype
    if same and kind is Negate and total and observer is None:
        combine(np.subtract, total, held)
        return
    if same and (kind is ndarray or kind in NUMBERS):
        multiply(held, partial)
    else:
        missing = len(shape) - len(arena.shapes[arena.parents[edge]])
        linear = arena.map_at(node, edge)
        if stack and missing > 0 and broadcasts(linear):
            own = held[0].shape
            held[0] = held[0].reshape(own[:stack] + (1,) * missing + own[stack:])
        held[0] = linear.push(held[0])
    if held[0].shape[stack:] != shape or held[0].dtype is not dtype:
        held[0] = unbroadcast(held[0], shape, dtype, stack)
    if observer is not None:
        observer.pushed(arena, node, held[0])
        total[:] = [total[0] + held[0]] if total else held
    elif total:
        combine(np.add, total, held)
    else:
        total.append(held.pop())


def multiply(held: list[Array], factor: Array) -> None:
    """Multiply a tangent, of its node's shape, with the array that stands for a map."""
    if may_be_written(held) and is_within(factor, held[0]):
        np.multiply(held[0], factor, out=held[0])
    else:
        held[0] = held[0] * factor


def is_within(factor: Array, t: Array) -> bool:
    """Tell whether a product with an array or a number has the shape and dtype of a tangent."""
    own = np.shape(factor)
    fits: bool = t.shape[t.ndim - len(own) :] == own and np.result_type(t, factor) == t.dtype
    return fits


def combine(ufunc: np.ufunc, total: list[Array], held: list[Array]) -> None:
    """Put the sum or difference of two tangents of one node into `total`."""
    if type(total[0]) is type(held[0]) is ndarray and total[0].dtype == held[0].dtype:
        for own in (total, held):
            if may_be_written(own) and own[0].shape == total[0].shape:
                total[0] = ufunc(total[0], held[0], out=own[0])
                return
    total[0] = total[0] + held[0] if ufunc is np.add else total[0] - held[0]


def may_be_written(held: list[Array]) -> bool:
    """Tell whether a list has the only reference to a large plain array with memory of its own."""
    return (
        type(held[0]) is ndarray
        and held[0].size > LARGE
        and held[0].base is None
        and held[0].flags.writeable
        and getrefcount(held[0]) <= unheld_count()
    )


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
    """Sweep backward edge by edge, so that what was not chosen contributes exactly 0.

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


def seen_further_back(linear: Any, seen: Any, shape: tuple[int, ...]) -> Any:
    """Tell which elements of a parent anything comes to from those of a node that were chosen.

    It is known for elementwise maps, whatever they multiply by; None says that all may be.
    """
    if type(linear) is Mask and isinstance(linear.mask, (np.ndarray, np.generic)):
        seen = np.asarray(linear.mask if seen is None else seen & linear.mask)
    if seen is None or getattr(type(linear), "pattern", None) is not elementwise:
        return None
    found: np.ndarray[Any, Any] = unbroadcast(seen.astype(float), shape, np.dtype(float), 0) != 0
    return found


def either(one: Any, two: Any) -> Any:
    """Tell which elements anything comes to by one of two routes; None stands for all of them."""
    return None if one is None or two is None else one | two

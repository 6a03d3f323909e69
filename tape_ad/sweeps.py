"""The two sweeps: loops over the indices of an arena, with maps and arrays and nothing else."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.arena import RELEASED, Arena, released
from tape_ad.linear_maps import Array, Chain, Divide, LinearMap, Mask, Scale

__all__ = ["conform", "forward_sweep", "reverse_sweep"]

NO_MORE: Mapping[int, Array] = MappingProxyType({})


def reverse_sweep(
    arena: Arena,
    root: int,
    seed: Array,
    *,
    release: bool = False,
    more: Mapping[int, Array] = NO_MORE,
) -> dict[int, Array]:
    """Pull a seed back from one node to everything that it depends on.

    Parameters
    ----------
    arena : Arena
    root : int
        The node to start from.
    seed : array, shape stack + (the root's shape)
        The cotangent of the root. Leading axes are a stack of seeds, swept at once.
    release : bool
        Give up the partials of each node as soon as they are used.
    more : mapping of int to array, shape stack + (the node's shape)
        Cotangents of further nodes to start from, all of them older than the root.

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
    all_parents, all_partials = arena.parents, arena.partials
    shapes, dtypes, handles = arena.shapes, arena.dtypes, arena.handles
    stack = seed.ndim - len(shapes[root])
    cotangents: list[Array] = [None] * (root + 1)
    cotangents[root] = seed
    for node, ct in more.items():
        cotangents[node] = ct
    owned = bytearray(root + 1)  # 1 where the sum is the sweep's own array, so `+=` is safe
    kept: dict[int, Array] = {}
    masked = False  # whether some cotangents are 0 because a branch was not taken
    for node in range(root, -1, -1):
        ct = cotangents[node]
        if ct is None:
            continue
        partials = all_partials[node]
        if partials is RELEASED:
            raise released(arena, node)
        for parent, partial in zip(all_parents[node], partials):  # noqa: B905 - strict= is slow
            contribution = pull_masked(partial, ct) if masked else partial.pull(ct)
            if type(partial) is Mask:
                masked = True
            if (
                stack
                or contribution.shape != shapes[parent]
                or contribution.dtype is not dtypes[parent]
            ):
                contribution = conform(contribution, shapes[parent], dtypes[parent], stack)
            total = cotangents[parent]
            if total is None:
                cotangents[parent] = contribution
            elif owned[parent] and type(total) is type(contribution):
                total += contribution
                cotangents[parent] = total
            else:
                cotangents[parent] = total + contribution
                owned[parent] = 1
        if handles[node]() is not None:
            kept[node] = ct
        cotangents[node] = None
        if release and partials:
            arena.partials[node] = RELEASED
    return kept


def pull_masked(partial: LinearMap, ct: Array) -> Array:
    """Pull a cotangent whose zeros count for nothing, even where the partial is nan or inf.

    So the branch that `numpy.where` did not take contributes exactly 0, as in
    ``np.where(x > 0, np.sqrt(x), 0)`` at a negative x.
    """
    if type(partial) is Chain:
        for each in reversed(partial.maps):
            ct = pull_masked(each, ct)
        return ct
    if type(partial) is not Scale and type(partial) is not Divide:
        return partial.pull(ct)
    with np.errstate(invalid="ignore", divide="ignore"):
        contribution = partial.pull(ct)
    if np.isfinite(contribution).all():
        return contribution
    return np.where(np.equal(ct, 0), 0, contribution)


def forward_sweep(arena: Arena, tangents: dict[int, Array], last: int) -> dict[int, Array]:
    """Push tangents from some nodes forward to everything up to `last` that depends on them.

    Parameters
    ----------
    arena : Arena
    tangents : dict of int to array, shape stack + (the node's shape)
        The tangents to start from, all with the same stack.
    last : int
        The last node of interest.

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
    for node in range(first, last + 1):
        parents, partials = arena.parents[node], arena.partials[node]
        if reached.keys().isdisjoint(parents):
            continue
        if partials is RELEASED:
            raise released(arena, node)
        shape, dtype = arena.shapes[node], arena.dtypes[node]
        for parent, partial in zip(parents, partials, strict=True):
            t = reached.get(parent)
            if t is None:
                continue
            missing = len(shape) - len(arena.shapes[parent])
            if stack and missing > 0 and partial.broadcasts:
                t = t.reshape(t.shape[:stack] + (1,) * missing + t.shape[stack:])
            contribution = conform(partial.push(t), shape, dtype, stack)
            total = reached.get(node)
            reached[node] = contribution if total is None else total + contribution
    return reached


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
    if array.shape != target:
        added = array.ndim - len(target)
        if added > 0:
            array = np.add.reduce(array, axis=tuple(range(stack, stack + added)))
        stretched = tuple(
            axis
            for axis, have, want in zip(
                range(-1, -len(shape) - 1, -1),
                array.shape[::-1],
                shape[::-1],
                strict=False,
            )
            if want == 1 and have != 1
        )
        if stretched:
            array = np.add.reduce(array, axis=stretched, keepdims=True)
        if array.shape != target:
            array = np.broadcast_to(array, target)
    if array.dtype != dtype:
        if array.dtype.kind == "c" and dtype.kind != "c":
            array = array.real
        array = array.astype(dtype)
    return array

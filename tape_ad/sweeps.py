"""The two sweeps: loops over the indices of an arena, with maps and arrays and nothing else."""

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.arena import Arena
from tape_ad.linear_maps import Array, Chain, Divide, LinearMap, Mask, Scale

__all__ = ["conform", "forward_sweep", "reverse_sweep"]

MASKING = frozenset({Chain, Mask})
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
    all_edges, spaces, handles = arena.edges, arena.spaces, arena.handles
    stack = seed.ndim - len(spaces[root][0])
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
        for parent, partial in all_edges[node]:
            contribution = pull_masked(partial, ct) if masked else partial.pull(ct)
            if type(partial) in MASKING and hides(partial):
                masked = True
            shape, dtype = spaces[parent]
            if stack or contribution.shape != shape or contribution.dtype is not dtype:
                contribution = conform(contribution, shape, dtype, stack)
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
        if release:
            arena.release(node)
    return kept


def hides(partial: LinearMap) -> bool:
    """Tell whether a map leaves some elements out, by a mask of its own or inside it."""
    if isinstance(partial, Chain):
        return any(map(hides, partial.maps))
    return isinstance(partial, Mask)


def pull_masked(partial: LinearMap, ct: Array) -> Array:
    """Pull a cotangent whose zeros count for nothing, even where the partial is nan or inf.

    So the branch that `numpy.where` did not take contributes exactly 0, as in
    ``np.where(x > 0, np.sqrt(x), 0)`` at a negative x.
    """
    if isinstance(partial, Chain):
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
    stack = reached[first].ndim - len(arena.spaces[first][0])
    last_use: dict[int, int] = {}
    if keep is not None:
        nodes = range(first, last + 1)
        last_use = {parent: node for node in nodes for parent, _ in arena.edges[node]}
    for node in range(first, last + 1):
        shape, dtype = arena.spaces[node]
        for parent, partial in arena.edges[node]:
            t = reached.get(parent)
            if t is None:
                continue
            missing = len(shape) - len(arena.spaces[parent][0])
            if stack and missing > 0 and partial.broadcasts:
                t = t.reshape(t.shape[:stack] + (1,) * missing + t.shape[stack:])
            contribution = conform(partial.push(t), shape, dtype, stack)
            total = reached.get(node)
            reached[node] = contribution if total is None else total + contribution
        if keep is not None:
            for parent, _ in arena.edges[node]:
                if last_use[parent] == node and parent not in keep:
                    reached.pop(parent, None)
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

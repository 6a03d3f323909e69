"""A sweep over patterns: which elements of an output depend on which of the inputs."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

from tape_ad.base.trees import flatten
from tape_ad.record.arena import Arena
from tape_ad.rules.maps.patterns import Pattern, pattern_of
from tape_ad.sparse_derivatives.blocks import Step, maps_of, steps_of
from tape_ad.sparse_derivatives.flat_functions import FlatFunction
from tape_ad.sparse_derivatives.matrices import matrix_of
from tape_ad.transforms.blocks import BlockPartial, has_derivative

__all__ = ["dependencies", "swept_patterns"]

Sparse = Any
"""A `scipy.sparse.csr_array` of bools: a row for each element, a column for each of the inputs."""


def dependencies(flat: FlatFunction) -> Sparse:
    """Find which elements of a traced function's output depend on which of its inputs.

    Parameters
    ----------
    flat : FlatFunction

    Returns
    -------
    csr_array of bool, shape (flat.rows, flat.columns)
    """
    record, columns = flat.traced.record, flat.columns
    starts: dict[int, Sparse] = {}
    for leaf, part in flat.inputs:
        numbers = np.arange(leaf.size)
        starts[leaf.index] = matrix_of(Pattern(numbers, numbers + part.start), (leaf.size, columns))
    ends = [leaf.index for leaf, _ in flat.outputs if flat.traced.depends(leaf)]
    found = swept_patterns(record, starts, ends, columns)
    blocks = [
        found[leaf.index]
        if flat.traced.depends(leaf) and leaf.index in found
        else csr_array((part.stop - part.start, columns), dtype=bool)
        for leaf, part in flat.outputs
    ]
    whole = csr_array(vstack(blocks, "csr", bool) if blocks else (0, columns), dtype=bool)
    whole.sum_duplicates()
    whole.sort_indices()
    return whole


def swept_patterns(
    arena: Arena, starts: dict[int, Sparse], ends: list[int], columns: int
) -> dict[int, Sparse]:
    """Push patterns forward, from some nodes to others.

    Parameters
    ----------
    arena : Arena
    starts : dict of int to csr_array
        What the elements of some nodes depend on.
    ends : list of int
        The nodes that are asked for.
    columns : int

    Returns
    -------
    dict of int to csr_array
        An absent one depends on nothing.
    """
    reached = dict(starts)
    last = max(ends, default=-1)
    last_use = dict.fromkeys(ends, last + 1)
    for node in range(last + 1):
        for edge in range(*arena.starts[node : node + 2]):
            last_use[arena.parents[edge]] = max(node, last_use.get(arena.parents[edge], 0))
    dying: dict[int, list[int]] = {}
    for parent, node in last_use.items():
        dying.setdefault(node, []).append(parent)
    for node in range(min(starts, default=0), last + 1):
        total: Sparse = reached.get(node)
        for edge in range(*arena.starts[node : node + 2]):
            parent = arena.parents[edge]
            own = reached.get(parent)
            if own is None:
                continue
            linear = arena.map_at(node, edge)
            pushed = carried(linear, own, arena.shapes[parent], arena.shapes[node])
            if total is None:
                total = pushed
            elif total is not pushed:
                total = total + pushed
        if total is not None:
            reached[node] = total
        for parent in dying.get(node, ()):
            reached.pop(parent, None)
    return reached


def carried(linear: Any, own: Sparse, parent: Any, node: Any) -> Sparse:
    """Push what a parent depends on through a map."""
    if type(linear) is BlockPartial:
        steps, maps = steps_of(linear), maps_of(linear)
        if steps is not None:
            return through(linear, steps) @ own
        linear = linear if maps is None else maps[linear.position]
        if linear is None:
            return csr_array((math.prod(node), own.shape[1]), dtype=bool)
    pattern = pattern_of(linear, parent, node)
    if pattern.one_each:
        same = len(pattern.columns) == own.shape[0]
        if same and np.array_equal(pattern.columns, pattern.rows):
            return own
        return own[pattern.columns]
    return matrix_of(pattern, (math.prod(node), own.shape[0])) @ own


def through(partial: BlockPartial, steps: Iterable[Step]) -> Sparse:
    """Find what the elements of a block's node depend on of one operand's.

    Parameters
    ----------
    partial : BlockPartial
    steps : iterable of Step

    Returns
    -------
    csr_array of bool, shape (the node's size, the operand's size)
    """
    use = partial.use
    columns, own = use.values[partial.position].size, use.slots[partial.position]
    known = {own: csr_array(eye_array(columns, dtype=bool))}
    results: list[Sparse | None] = []
    for step in steps:
        inputs = zip(step.slots, step.traced.inputs, strict=True)
        starts = {leaf.index: known[slot] for slot, leaf in inputs if slot in known}
        leaves = flatten(step.traced.output)
        ends = [leaf.index for leaf in leaves if step.traced.depends(leaf)]
        found = swept_patterns(step.traced.record, starts, ends, columns)
        results = [found.get(leaf.index) if step.traced.depends(leaf) else None for leaf in leaves]
        kept = {slot: each for slot, each in known.items() if slot >= len(leaves)}
        known = kept | {slot: each for slot, each in enumerate(results) if each is not None}
    spaces = zip(results, flatten(use.output), strict=True)
    blocks = [
        csr_array((space.size, columns), dtype=bool) if result is None else result
        for result, space in spaces
        if has_derivative(space)
    ]
    return csr_array(vstack(blocks, "csr", bool) if blocks else (0, columns), dtype=bool)

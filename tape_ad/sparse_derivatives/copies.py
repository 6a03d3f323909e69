"""What a function has of its inputs before it computes: elements of them, moved or repeated.

A residual that picks its own elements out of a long array, ``x[i]``, shares the array with all
others, and shares nothing once they are picked. Cotangents that are pulled to what has been picked,
and not further, need as few seeds as one residual has numbers; which column each element is of is
known without a sweep.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.record.arena import Arena
from tape_ad.rules.maps import Array
from tape_ad.rules.maps.patterns import pattern_of, permutation


@frozen(eq=False)
class Copies:
    """The nodes of a record that are moved from leaves, or leaves, and are computed with.

    Attributes
    ----------
    record : Arena
    arena : Arena
        Its nodes, in which these are leaves.
    nodes : list of int
    moves : dict of int to int
        For each node that is moved from another, the one edge that it has.
    held : list
        Marks of nodes, so that a sweep keeps what it finds for them.
    """

    record: Arena
    arena: Arena
    nodes: list[int]
    moves: dict[int, int]
    held: list[object]

    @classmethod
    def of(cls, record: Arena, leaves: Iterable[int], ends: Collection[int]) -> "Copies":
        """Find what is moved from leaves, and is an end or computed with."""
        moves: dict[int, int] = {}
        moved = set(leaves)
        for node in range(len(record.shapes)):
            edges = range(*record.starts[node : node + 2])
            if len(edges) == 1 and record.parents[edges[0]] in moved and is_move(record, edges[0]):
                moved.add(node)
                moves[node] = edges[0]
        arena = record.cut_at(moved)
        nodes = sorted(moved.intersection(arena.parents) | moved.intersection(ends))
        return cls(record, arena, nodes, moves, [record.marks[node] for node in nodes])

    def sources(self, columns: Mapping[int, Array]) -> dict[int, Array]:
        """Tell for each element of each node which column it is a copy of; -1 for a constant.

        Parameters
        ----------
        columns : mapping of int to array of int
            Those of the leaves' elements.
        """
        record, known = self.record, dict(columns)
        for node, edge in self.moves.items():
            parent, shape = record.parents[edge], record.shapes[node]
            pattern = pattern_of(record.map_at(node, edge), record.shapes[parent], shape)
            known[node] = np.full(math.prod(shape), -1)
            known[node][pattern.rows] = known[parent][pattern.columns]
        return {node: known[node] for node in self.nodes}


def is_move(record: Arena, edge: int) -> bool:
    """Tell whether a partial picks elements, each as it is."""
    kind: Any = type(record.partials[edge])
    return getattr(kind, "pattern", None) is permutation


def side_by_side(sources: Mapping[int, Array]) -> dict[int, slice]:
    """Give each node a place of its own for its elements."""
    stops = np.cumsum([each.size for each in sources.values()], dtype=int).tolist()
    return dict(zip(sources, map(slice, [0, *stops], stops), strict=False))


def shared(sources: Mapping[int, Array]) -> dict[int, slice]:
    """Give nodes that are copies of the same elements one place together."""
    first: dict[bytes, int] = {}
    same = {node: first.setdefault(each.tobytes(), node) for node, each in sources.items()}
    places = side_by_side({node: sources[node] for node in first.values()})
    return {node: places[other] for node, other in same.items()}

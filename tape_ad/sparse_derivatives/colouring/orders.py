"""Orders to colour in: which vertex is next decides how many colours a greedy colouring takes."""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tape_ad.rules.maps import Array

__all__ = ["by_incidence", "column_orders", "vertex_orders"]

Sparse = Any

WORTHWHILE = 500_000
"""How many pairs of neighbours there may be for an order that goes through them all, which takes a
third of a second then."""


def column_orders(columns: Sparse) -> Iterator[Array]:
    """Yield some orders of the columns of a pattern, the ones worth trying.

    Parameters
    ----------
    columns : csc_array of bool, shape (m, n)

    Yields
    ------
    array of int, shape (n,)
        As they stand; those with most entries in their rows first, which bounds from above how
        many columns a column meets; and, if there are not too many, by incidence.
    """
    yield np.arange(columns.shape[1])
    entries_of_row = np.bincount(columns.indices, minlength=columns.shape[0])
    met = np.add.reduceat(np.append(entries_of_row[columns.indices], 0), columns.indptr[:-1]) * (
        np.diff(columns.indptr) > 0
    )
    yield np.argsort(-met, kind="stable")
    if entries_of_row.astype(float) @ entries_of_row <= WORTHWHILE:
        by_row = columns.tocsr()
        starts, places = by_row.indptr.tolist(), by_row.indices.tolist()
        rows = [places[i:j] for i, j in itertools.pairwise(starts)]
        starts, places = columns.indptr.tolist(), columns.indices.tolist()
        yield by_incidence(
            [
                [other for row in places[i:j] for other in rows[row]]
                for i, j in itertools.pairwise(starts)
            ]
        )


def vertex_orders(neighbours: Sequence[Sequence[int]]) -> Iterator[Array]:
    """Yield orders of the vertices of a graph: as they stand, by degree, and by incidence."""
    yield np.arange(len(neighbours))
    degrees = np.array([len(each) for each in neighbours], int)
    yield np.argsort(-degrees, kind="stable")
    if degrees.sum() <= WORTHWHILE:
        yield by_incidence(neighbours)


def by_incidence(neighbours: Sequence[Sequence[int]]) -> Array:
    """Order vertices such that the next is always one with most neighbours among those before.

    Coleman & Moré, "Estimation of sparse Jacobian matrices and graph coloring problems", SIAM
    Journal on Numerical Analysis 20 (1983), section 4. It gives a bipartite graph two colours.

    Parameters
    ----------
    neighbours : sequence of sequence of int
        Of each vertex. One that is there twice counts twice.

    Returns
    -------
    array of int, shape (n,)

    Examples
    --------
    >>> by_incidence([[1], [0, 2], [1, 3], [2]])
    array([1, 2, 0, 3])
    """
    incidence = [0] * len(neighbours)
    waiting = [(0, -len(others), vertex) for vertex, others in enumerate(neighbours)]
    heapq.heapify(waiting)
    order: list[int] = []
    placed = [False] * len(neighbours)
    while waiting:
        before, _, vertex = heapq.heappop(waiting)
        if placed[vertex] or -before != incidence[vertex]:
            continue  # it has come nearer since
        placed[vertex] = True
        order.append(vertex)
        for other in neighbours[vertex]:
            if not placed[other]:
                incidence[other] += 1
        for other in set(neighbours[vertex]):
            if not placed[other]:
                heapq.heappush(waiting, (-incidence[other], -len(neighbours[other]), other))
    return np.array(order, int)

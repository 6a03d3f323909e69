"""Colours for sparse matrices: what has one colour is computed by one sweep and told apart after.

A pattern is a boolean `scipy.sparse.csr_array`. Gebremedhin, Manne & Pothen, "What color is your
Jacobian? Graph coloring for computing derivatives", SIAM Review 47 (2005), is the survey that the
names are from.
"""

import copy
import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen
from scipy.sparse import coo_array, csr_array

from tape_ad.rules.maps import Array
from tape_ad.rules.maps.patterns import Pattern

Sparse = Any


def matrix_of(pattern: Pattern, shape: tuple[int, int]) -> Sparse:
    """Make the boolean matrix of a pattern."""
    ones = np.ones(len(pattern.rows), bool)
    return csr_array(coo_array((ones, (pattern.rows, pattern.columns)), shape))


def symmetric(pattern: Sparse) -> Sparse:
    """Add to a square pattern what its transpose has."""
    both = csr_array(pattern + pattern.T)
    both.sort_indices()
    return both


def filled(pattern: Sparse, entries: Array) -> Sparse:
    """Fill a pattern with entries; nothing of it is shared with the result."""
    result = copy.copy(pattern)  # with what is known of its order, and needs no look
    result.indices, result.indptr = pattern.indices.copy(), pattern.indptr.copy()
    result.data = entries
    return result


def rows_of_entries(pattern: Sparse) -> Array:
    """Give the row of each entry of a `csr_array`."""
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))


def same_pattern(one: Sparse, other: Sparse) -> bool:
    """Tell whether two `csr_array` have the same entries, in the same order."""
    return one is other or (
        one.shape == other.shape
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
    )


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


def column_colors(pattern: Sparse) -> Array:
    """Give columns colours, such that those of one colour have no row in common.

    Curtis, Powell & Reid, "On the estimation of sparse Jacobian matrices", IMA Journal of Applied
    Mathematics 13 (1974).

    Parameters
    ----------
    pattern : sparse array of bool, shape (m, n)

    Returns
    -------
    array of int, shape (n,)
        From 0 on, and -1 for columns without entries. Of the orders that are tried, it is the one
        with the fewest colours; there cannot be fewer than the longest row has entries.

    Examples
    --------
    >>> from scipy.sparse import diags_array
    >>> column_colors(diags_array([1.0, 1, 1], offsets=[-1, 0, 1], shape=(6, 6)))
    array([0, 1, 2, 0, 1, 2])
    """
    columns = pattern.tocsc()
    least = int(np.bincount(columns.indices, minlength=1).max())
    return fewest((greedy(columns, order) for order in column_orders(columns)), least)


def fewest(found: Iterator[Array], least: int = 0) -> Array:
    """Give the colours of which there are fewest; no more are looked at that have the least."""
    best = next(found)
    while best.max(initial=-1) >= least and (other := next(found, None)) is not None:
        best = min(best, other, key=lambda colors: colors.max(initial=-1))
    return best


def row_colors(pattern: Sparse) -> Array:
    """Give rows colours, such that those of one colour have no column in common.

    Parameters
    ----------
    pattern : sparse array of bool, shape (m, n)

    Returns
    -------
    array of int, shape (m,)
    """
    return column_colors(pattern.T)


def greedy(columns: Sparse, order: Array) -> Array:
    """Give each column in turn the first colour that no other one has in any of its rows.

    Each row's colours are the bits of an integer, so that a row with many entries costs no more
    than what it has.
    """
    starts, places = columns.indptr.tolist(), columns.indices.tolist()
    taken_in = [0] * columns.shape[0]
    colors = [-1] * columns.shape[1]
    for column in order.tolist():
        rows = places[starts[column] : starts[column + 1]]
        if not rows:
            continue
        taken = 0
        for row in rows:
            taken |= taken_in[row]
        free = ~taken & (taken + 1)
        colors[column] = free.bit_length() - 1
        for row in rows:
            taken_in[row] |= free
    return np.array(colors, int)


@frozen(eq=False)
class Split:
    """A matrix in two parts, each with colours of its own.

    Attributes
    ----------
    row_colors : array of int, shape (m,)
        Of the rows that are pulled; -1 for others.
    column_colors : array of int, shape (n,)
        Of the columns that are pushed; -1 for others.
    pulled : array of bool, shape (entries,)
        Which of the pattern's entries are computed by pulling; the others are pushed.
    """

    row_colors: Array
    column_colors: Array
    pulled: Array

    @property
    def count(self) -> int:
        """The number of all colours."""
        return int(self.row_colors.max(initial=-1) + self.column_colors.max(initial=-1) + 2)


def split_colors(pattern: Sparse) -> Split:
    """Choose what is pulled and what is pushed, such that there are few colours in all.

    Either the rows with the most entries are pulled and all else is pushed, or the columns with the
    most entries are pushed and all else is pulled: a matrix with a full row and a full column
    besides its diagonal takes three colours, and as many as it has rows with one side alone.
    Coleman & Verma, "The efficient computation of sparse Jacobian matrices using automatic
    differentiation", SIAM Journal on Scientific Computing 19 (1998), split in a finer way.

    Parameters
    ----------
    pattern : csr_array of bool, shape (m, n)

    Returns
    -------
    Split

    Examples
    --------
    >>> arrow = np.eye(5, dtype=bool)
    >>> arrow[0] = arrow[:, 0] = True
    >>> from scipy.sparse import csr_array
    >>> split_colors(csr_array(arrow)).count
    3
    """
    rows = rows_of_entries(pattern)
    chosen, own, others = by_longest(pattern)
    by_rows = Split(own, others, chosen[rows])
    chosen, own, others = by_longest(pattern.T.tocsr())
    by_columns = Split(others, own, ~chosen[pattern.indices])
    return min(by_rows, by_columns, key=lambda split: split.count)


def least_split(pattern: Sparse) -> int:
    """Tell how many colours `split_colors` needs at least."""
    return min(map(least_by_longest, (pattern, pattern.T.tocsr())))


def least_by_longest(pattern: Sparse) -> int:
    """Tell how many colours it takes at least to treat the longest rows apart."""
    return int(min(needed_with_longest(pattern)[1]))


def needed_with_longest(pattern: Sparse) -> tuple[Array, Array]:
    """Order rows by length, and tell how many colours it takes with the first 0, 1, ... apart."""
    counts = np.diff(pattern.indptr)
    order = np.argsort(-counts, kind="stable")
    longest = np.append(counts[order], 0)  # of the rows from here on
    return order, needed_by_first(pattern[order]) + longest


def by_longest(pattern: Sparse) -> tuple[Array, Array, Array]:
    """Choose some of the rows with the most entries, and colour them, and the columns of the rest.

    Returns
    -------
    tuple of array
        Whether a row is chosen; the colours of those, and of the columns; -1 for what has none.
    """
    order, needed = needed_with_longest(pattern)
    taken = int(np.argmin(needed))
    chosen = np.zeros(len(order), bool)
    chosen[order[:taken]] = True
    rows, columns = np.full(pattern.shape[0], -1), np.full(pattern.shape[1], -1)
    if taken:
        rows[chosen] = row_colors(pattern[chosen])
    rest = pattern[~chosen]
    used = np.unique(rest.indices)
    if len(used):
        columns[used] = column_colors(rest[:, used])
    return chosen, rows, columns


def needed_by_first(ranked: Sparse) -> Array:
    """Tell at least how many colours the first 0, 1, 2, ... rows need: what one column meets."""
    rows = rows_of_entries(ranked)
    by_column = np.lexsort((rows, ranked.indices))
    columns, rows = ranked.indices[by_column], rows[by_column]
    starts = np.searchsorted(columns, columns)
    met = np.arange(len(columns)) - starts + 1
    needed = np.zeros(ranked.shape[0] + 1, int)
    np.maximum.at(needed, rows + 1, met)
    return np.maximum.accumulate(needed)


def star_colors(pattern: Sparse) -> Array:
    """Give the vertices of a graph colours, such that no path of four vertices has only two.

    Then of two vertices with an entry between them, one is the only neighbour of its colour that
    the other has, so the entry is found in a product of the matrix with that colour. Vertices are
    coloured in several orders, in the way of algorithm 4.1 of Gebremedhin, Tarafdar,
    Manne & Pothen, "New acyclic and star coloring algorithms with application to computing
    Hessians", SIAM Journal on Scientific Computing 29 (2007).

    Parameters
    ----------
    pattern : csr_array of bool, shape (n, n)
        Symmetric; the diagonal counts for nothing.

    Returns
    -------
    array of int, shape (n,)

    Examples
    --------
    >>> from scipy.sparse import diags_array
    >>> star_colors(diags_array([1.0, 1, 1], offsets=[-1, 0, 1], shape=(6, 6)))
    array([0, 1, 0, 2, 0, 1])
    """
    neighbours = neighbours_of(pattern)
    return fewest(colored(neighbours, order.tolist()) for order in vertex_orders(neighbours))


def neighbours_of(pattern: Sparse) -> list[list[int]]:
    """List the neighbours of each vertex, without itself."""
    rows = pattern.tocsr()
    starts, places = rows.indptr.tolist(), rows.indices.tolist()
    return [
        [place for place in places[starts[i] : starts[i + 1]] if place != i]
        for i in range(rows.shape[0])
    ]


def colored(neighbours: list[list[int]], order: list[int]) -> Array:
    """Colour the vertices in an order; see `star_colors`."""
    coloring = Coloring(neighbours)
    for vertex in order:
        coloring.color(vertex)
    return np.array(coloring.colors, int)


@define(eq=False)
class Coloring:
    """A star colouring on its way: its two-coloured components, each a star with a hub.

    Attributes
    ----------
    neighbours : list of list of int
    colors : list of int
        -1 for a vertex that has none yet.
    treated : list of int
        For a vertex, which one's neighbour it was last looked at as.
    star : dict of (int, int) to int
        Which star an edge is in; the smaller vertex comes first.
    hub : list of int
        Of each star; -1 while it has one edge.
    first : dict of int to (int, int)
        Of a colour: the vertex coloured last that has a neighbour of it, and that neighbour.
    """

    neighbours: list[list[int]]
    colors: list[int] = field(init=False)
    treated: list[int] = field(init=False)
    star: dict[tuple[int, int], int] = field(factory=dict, init=False)
    hub: list[int] = field(factory=list, init=False)
    first: dict[int, tuple[int, int]] = field(factory=dict, init=False)

    @colors.default
    @treated.default
    def _none(self) -> list[int]:
        return [-1] * len(self.neighbours)

    def star_of(self, one: int, other: int) -> int:
        """Give the star that an edge is in."""
        return self.star[(one, other) if one < other else (other, one)]

    def color(self, v: int) -> None:
        """Give a vertex the first colour that closes no path of four vertices with two colours."""
        colors, first = self.colors, self.first
        forbidden: set[int] = set()
        colored = [w for w in self.neighbours[v] if colors[w] >= 0]
        for w in colored:
            forbidden.add(colors[w])
            p, q = first.get(colors[w], (-1, -1))
            if p == v:
                if self.treated[q] != v:
                    self.treat(v, q, forbidden)
                self.treat(v, w, forbidden)
                continue
            first[colors[w]] = (v, w)
            for x in self.neighbours[w]:
                if x != v and colors[x] >= 0 and self.hub[self.star_of(w, x)] == x:
                    forbidden.add(colors[x])
        color = 0
        while color in forbidden:
            color += 1
        colors[v] = color
        for w in colored:
            self.join(v, w)

    def treat(self, v: int, w: int, forbidden: set[int]) -> None:
        """Forbid the colours next to a neighbour that is not the only one of its colour."""
        forbidden.update(self.colors[x] for x in self.neighbours[w] if self.colors[x] >= 0)
        self.treated[w] = v

    def join(self, v: int, w: int) -> None:
        """Put the edge between a vertex just coloured and a neighbour into a star."""
        colors = self.colors
        edge = (v, w) if v < w else (w, v)
        for x in self.neighbours[w]:
            if x != v and colors[x] == colors[v]:
                star = self.star_of(w, x)
                self.hub[star] = w
                self.star[edge] = star
                return
        p, q = self.first[colors[w]]
        if p == v and q != w:
            star = self.star_of(v, q)
            self.hub[star] = v
        else:
            star = len(self.hub)
            self.hub.append(-1)
        self.star[edge] = star

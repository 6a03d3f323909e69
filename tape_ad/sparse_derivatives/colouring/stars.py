"""Star colours for symmetric matrices, from which each entry is read off one of its two sides."""

from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.rules.maps import Array
from tape_ad.sparse_derivatives.colouring.orders import vertex_orders

__all__ = ["star_colors"]

Sparse = Any


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
    best: Array = None
    for order in vertex_orders(neighbours):
        found = colored(neighbours, order.tolist())
        if best is None or found.max(initial=-1) < best.max(initial=-1):
            best = found
    return best


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

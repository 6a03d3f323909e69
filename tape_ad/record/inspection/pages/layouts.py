"""A layered drawing of a graph: where each box goes, and the ways between them.

The steps are those of Sugiyama, Tagawa & Toda, "Methods for visual understanding of hierarchical
system structures" (1981): each box gets a rank below all that it depends on, an edge over several
ranks gets a point in each, the order within ranks is improved by barycentres as long as edges cross
less, and boxes move sideways towards what they are joined with.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

from attrs import define, frozen

__all__ = ["Frame", "Layout", "layered"]

ACROSS, DOWN, MARGIN = 18.0, 34.0, 12.0
"""The free space between boxes of a rank, between ranks, and around all of it, in pixels."""

ROUNDS = 12
"""How often the ranks are gone through, down and up in turn."""

Point = tuple[float, float]


@frozen
class Frame:
    """A box around several: x and y of its corner at the top left, width, height, and a title."""

    x: float
    y: float
    width: float
    height: float
    title: str


@frozen
class Layout:
    """Where everything goes, in pixels from the top left.

    Attributes
    ----------
    width, height : float
    centres : list of (float, float)
        The centre of each box.
    ways : list of lists of (float, float)
        For each edge the points of Bézier curves of third degree: the start, and three for each.
    frames : list of Frame
    """

    width: float
    height: float
    centres: list[Point]
    ways: list[list[Point]]
    frames: list[Frame]


def layered(sizes: Sequence[Point], edges: Sequence[tuple[int, int]]) -> Layout:
    """Lay a graph out from top to bottom.

    Parameters
    ----------
    sizes : sequence of (float, float)
        The width and height of each box.
    edges : sequence of (int, int)
        From which box to which, each to one with a greater number.

    Returns
    -------
    Layout

    Examples
    --------
    >>> layered([(40, 20), (40, 20)], [(0, 1)]).centres
    [(32.0, 22.0), (32.0, 76.0)]
    """
    ranks = ranks_of(len(sizes), edges)
    web = woven(sizes, edges, ranks)
    untangle(web)
    straighten(web)
    return drawn(web, sizes, edges, ranks)


def ranks_of(size: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Give each box a rank below all it depends on; a leaf stands just above its first user."""
    rank, below = [0] * size, [size] * size
    for one, other in sorted(edges, key=lambda edge: edge[1]):
        rank[other] = max(rank[other], rank[one] + 1)
    starts = set(range(size)) - {other for _, other in edges}
    for one, other in edges:
        below[one] = min(below[one], rank[other])
    return [below[i] - 1 if i in starts and below[i] < size else rank[i] for i in range(size)]


@define(eq=False)
class Web:
    """Boxes, and the points at which long edges pass a rank, all called knots here.

    Attributes
    ----------
    rows : list of lists of int
        The knots of each rank, from left to right.
    up, down : list of lists of int
        For each knot, those it is joined with in the rank above and below.
    widths : list of float
    chains : list of lists of int
        For each edge, the knots that it goes through.
    x : list of float
        The centre of each knot.
    """

    rows: list[list[int]]
    up: list[list[int]]
    down: list[list[int]]
    widths: list[float]
    chains: list[list[int]]
    x: list[float]


def woven(sizes: Sequence[Point], edges: Sequence[tuple[int, int]], ranks: Sequence[int]) -> Web:
    """Put a knot wherever an edge passes a rank."""
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    widths = [width for width, _ in sizes]
    chains = []
    for i, rank in enumerate(ranks):
        rows[rank].append(i)
    for one, other in edges:
        chain = [one]
        for rank in range(ranks[one] + 1, ranks[other]):
            rows[rank].append(len(widths))
            chain.append(len(widths))
            widths.append(2.0)
        chains.append([*chain, other])
    up: list[list[int]] = [[] for _ in widths]
    down: list[list[int]] = [[] for _ in widths]
    for chain in chains:
        for above, under in pairwise(chain):
            up[under].append(above)
            down[above].append(under)
    return Web(rows, up, down, widths, chains, [0.0] * len(widths))


def untangle(web: Web) -> None:
    """Order each rank so that few edges cross."""
    best, least = [list(row) for row in web.rows], crossings(web)
    for turn in range(ROUNDS):
        rows, joined = (web.rows[::-1], web.down) if turn % 2 else (web.rows, web.up)
        for above, row in pairwise(rows):
            at = {knot: place for place, knot in enumerate(above)}
            own = {knot: place for place, knot in enumerate(row)}
            row.sort(key=lambda knot: mean([at[k] for k in joined[knot]], own[knot]))
        found = crossings(web)
        if found < least:
            best, least = [list(row) for row in web.rows], found
        if not least:
            break
    web.rows = best


def crossings(web: Web) -> int:
    """Count the pairs of edges that cross between neighbouring ranks."""
    total = 0
    for row, under in pairwise(web.rows):
        at = {knot: place for place, knot in enumerate(under)}
        ends: list[int] = []
        for knot in row:
            places = sorted(at[k] for k in web.down[knot])
            total += sum(len(ends) - bisect_right(ends, place) for place in places)
            for place in places:
                insort(ends, place)
    return total


def straighten(web: Web) -> None:
    """Move knots sideways to the middle of what they are joined with, as far as there is room."""
    for row in web.rows:
        spread(web, row, [0.0] * len(row))
    for turn in range(ROUNDS):
        rows, joined = (web.rows[::-1], web.down) if turn % 2 else (web.rows, web.up)
        for row in rows:
            wished = [mean([web.x[k] for k in joined[knot]], web.x[knot]) for knot in row]
            spread(web, row, wished)
    left = min((web.x[k] - web.widths[k] / 2 for row in web.rows for k in row), default=0.0)
    web.x = [x - left + MARGIN for x in web.x]


def spread(web: Web, row: list[int], wished: list[float]) -> None:
    """Place a row as near to its wishes as can be, by least squares, with the order and room kept.

    Less the room to the left of it, each place has to be no less than the one before: that is
    isotonic regression, which pooling adjacent violators solves.
    """
    offsets = [0.0]
    for one, two in pairwise(row):
        offsets.append(offsets[-1] + (web.widths[one] + web.widths[two]) / 2 + ACROSS)
    pools: list[tuple[float, int]] = []  # the sum of each pool's wishes, and how many they are
    for wish, offset in zip(wished, offsets, strict=True):
        pools.append((wish - offset, 1))
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            (total, many), (more, others) = pools.pop(-2), pools.pop()
            pools.append((total + more, many + others))
    places = [total / many for total, many in pools for _ in range(many)]
    for knot, place, offset in zip(row, places, offsets, strict=True):
        web.x[knot] = place + offset


def drawn(
    web: Web, sizes: Sequence[Point], edges: Sequence[tuple[int, int]], ranks: Sequence[int]
) -> Layout:
    """Add heights, and the curves of the edges."""
    tallest = [0.0] * len(web.rows)
    for i, (_, height) in enumerate(sizes):
        tallest[ranks[i]] = max(tallest[ranks[i]], height)
    tops, top = [], MARGIN
    for height in tallest:
        tops.append(top)
        top += height + DOWN
    middle = [top + height / 2 for top, height in zip(tops, tallest, strict=True)]
    centres = [(web.x[i], middle[ranks[i]]) for i in range(len(sizes))]
    ways = []
    for (one, _), chain in zip(edges, web.chains, strict=True):
        x, y = web.x[one], centres[one][1] + sizes[one][1] / 2
        way = [(x, y)]
        for step, knot in enumerate(chain[1:], ranks[one] + 1):
            last = step == ranks[one] + len(chain) - 1
            top = centres[knot][1] - sizes[knot][1] / 2 if last else tops[step]
            way += curve(way[-1], (web.x[knot], top))
            if not last:  # straight through the rank
                way += curve(way[-1], (web.x[knot], tops[step] + tallest[step]))
        ways.append(way)
    right = max((web.x[k] + web.widths[k] / 2 for row in web.rows for k in row), default=0.0)
    height = tops[-1] + tallest[-1] if tops else MARGIN
    return Layout(right + MARGIN, height + MARGIN, centres, ways, [])


def curve(start: Point, end: Point) -> list[Point]:
    """Go from one point to another, leaving and arriving upright."""
    middle = (start[1] + end[1]) / 2
    return [(start[0], middle), (end[0], middle), end]


def mean(values: Sequence[float], default: float) -> float:
    """Compute the mean of some numbers."""
    return sum(values) / len(values) if values else default

"""The graph of a record: as DOT, laid out, and as SVG."""

import pathlib
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, frozen

from tape_ad.record.inspection.pages.figures import Markup, count, tag
from tape_ad.record.inspection.pages.lines import Group, Line, Path

# A layered drawing of a graph: where each box goes, and the ways between them

ACROSS, DOWN, MARGIN = 18.0, 34.0, 12.0
"""The free space between boxes of a rank, between ranks, and around all of it, in pixels."""

ROUNDS = 12
"""How often the ranks are gone through, down and up in turn."""

Point = tuple[float, float]


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
    """

    width: float
    height: float
    centres: list[Point]
    ways: list[list[Point]]


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
    for number in range(ROUNDS):
        rows, joined = (web.rows[::-1], web.down) if number % 2 else (web.rows, web.up)
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
    for number in range(ROUNDS):
        rows, joined = (web.rows[::-1], web.down) if number % 2 else (web.rows, web.up)
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
    return Layout(right + MARGIN, height + MARGIN, centres, ways)


def curve(start: Point, end: Point) -> list[Point]:
    """Draw a curve from one point to another that leaves and arrives upright."""
    middle = (start[1] + end[1]) / 2
    return [(start[0], middle), (end[0], middle), end]


def mean(values: Sequence[float], default: float) -> float:
    """Compute the mean of some numbers."""
    return sum(values) / len(values) if values else default


# The graph of a record: as DOT, laid out, and as SVG

LONGEST = 30
"""How many characters of a line are shown in a box."""

CHARACTER, LINE_HEIGHT, PADDING = 7.25, 17.0, 9.0
"""The size of letters, and of what is around them, in pixels."""


@frozen
class Box:
    """What stands for a node.

    Attributes
    ----------
    index : int
    kind : str
        ``parameter`` for a leaf with a name, ``leaf``, ``constant``, ``node``, or ``layer`` for
        all that a layer computes at once.
    title, below : str
        The two lines in it.
    full : str
        All that is said of it, for those who point at it.
    """

    index: int
    kind: str
    title: str
    below: str
    full: str

    @property
    def size(self) -> Point:
        """The width and height, in pixels."""
        letters = max(len(self.title), len(self.below) * 0.9, 4)
        return letters * CHARACTER + 2 * PADDING, 2 * LINE_HEIGHT + PADDING


def boxes_of(lines: Sequence[Line]) -> list[Box]:
    """Say what stands in the boxes of some nodes."""
    return [
        Box(
            line.index,
            kind_of(line),
            shortened(line.name or operation(line)),
            shortened(line.space),
            printable(f"%{line.index}: {line.space} = {line.call}"),
        )
        for line in lines
    ]


def kind_of(line: Line) -> str:
    """Tell parameters from other leaves, and constants from what is computed."""
    if line.name:
        return "parameter"
    return line.title if line.title in {"leaf", "constant"} else "node"


def operation(line: Line) -> str:
    """Write a call without the nodes it was made on, which edges show: ``power 2``."""
    words = line.call.replace(", ", " ").split()  # within a shape stand commas without a space
    return " ".join([line.title, *(w for w in words[1:] if w[:1] != "%")])


def shortened(text: str) -> str:
    """Leave out the middle of what is too long, and what no letter stands for."""
    text = printable(text)
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[: half - 1]}…{text[-half:]}"


def printable(text: str) -> str:
    """Put a mark in place of what XML has no letter for."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def edges_of(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """List the edges, each once even where a node was computed twice from one parent."""
    pairs = [(parent, line.index) for line in lines for parent in line.parents]
    return list(dict.fromkeys(pairs))


def folded(
    lines: Sequence[Line], layers: Sequence[Path], most: int
) -> tuple[list[Box], list[tuple[int, int]]]:
    """Make one box of all that a layer computes at once, so that a graph has few of them.

    Parameters
    ----------
    lines : sequence of Line
    layers : sequence of tuples of str
        The layer of each node.
    most : int
        How many boxes there may be; the layers within layers are shown as far as that goes, and
        all nodes where there are no layers.

    Returns
    -------
    list of Box, list of (int, int)
        The boxes, and the edges between them by their numbers.
    """
    for depth in range(max(map(len, layers), default=0), 0, -1):
        found = runs_of(lines, [path[:depth] for path in layers])
        if 1 < len(found) <= most:
            break
    else:
        return boxes_of(lines), edges_of(lines)
    inside = {index: number for number, (_, nodes) in enumerate(found) for index in nodes}
    boxes = []
    for path, nodes in found:
        (box,) = boxes_of([lines[nodes[0]]])
        if len(nodes) > 1:
            title = printable("/".join(path))
            box = Box(nodes[0], "layer", shortened(title), count(len(nodes), "node"), title)
        boxes.append(box)
    pairs = ((inside[one], inside[other]) for one, other in edges_of(lines))
    return boxes, list(dict.fromkeys((one, other) for one, other in pairs if one != other))


def runs_of(lines: Sequence[Line], paths: Sequence[Path]) -> list[tuple[Path, list[int]]]:
    """Join the nodes of one layer that follow each other, with the leaves that they begin with."""
    users = {parent: line.index for line in reversed(lines) for parent in line.parents}
    alone, runs = list[tuple[Path, list[int]]](), list[tuple[Path, list[int]]]()
    place: dict[int, list[int]] = {}
    for line in lines:
        path = paths[line.index]
        if not line.is_leaf:
            if not (runs and path and runs[-1][0] == path):
                runs.append((path, []))
            runs[-1][1].append(line.index)
            place[line.index] = runs[-1][1]
    for line in lines:
        user = users.get(line.index)
        if line.is_leaf and user in place and paths[line.index] == paths[user] != ():
            place[user].append(line.index)
        elif line.is_leaf:
            alone.append((paths[line.index], [line.index]))
    return [*alone, *runs]


def as_dot(boxes: Sequence[Box], edges: Sequence[tuple[int, int]], layers: Group) -> str:
    r"""Write a graph in the language of Graphviz, each layer a cluster.

    Examples
    --------
    >>> print(as_dot([Box(0, "leaf", "leaf", "float64[3]", "")], [], Group((), [0])))
    digraph record {
      node [shape=box, style=rounded, fontname="monospace", fontsize=10];
      n0 [label="leaf\nfloat64[3]", width=0.867, height=0.448];
    }
    """
    head = 'node [shape=box, style=rounded, fontname="monospace", fontsize=10];'
    inner = [head, *clusters(layers, boxes, "c"), *(f"n{one} -> n{two};" for one, two in edges)]
    return "\n".join(["digraph record {", *(f"  {line}" for line in inner), "}"])


def clusters(group: Group, boxes: Sequence[Box], number: str) -> Iterator[str]:
    """Write the nodes of a layer, and of the layers within it."""
    for place, each in enumerate(group.members):
        if isinstance(each, Group):
            inner = clusters(each, boxes, f"{number}_{place}")
            yield f"subgraph cluster_{number}_{place} {{"
            yield f"  label={quoted('/'.join(each.path))};"
            yield from (f"  {line}" for line in inner)
            yield "}"
        else:
            box = boxes[each]
            width, height = (f"{length / 96:.3f}" for length in box.size)
            bold = ', style="rounded,bold"' if box.kind == "parameter" else ""
            label = quoted(f"{box.title}\n{box.below}")
            yield f"n{each} [label={label}{bold}, width={width}, height={height}];"


def quoted(text: str) -> str:
    """Write text as DOT does."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def as_svg(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> Markup:
    """Draw a graph. Each box is a link to ``#n`` and its index.

    Returns
    -------
    Markup
        An ``svg`` element with its own style, for a light and for a dark surrounding.
    """
    layout = layered([box.size for box in boxes], edges)
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    ways = [tag("path", class_="way", d=path_of(way)) for way in layout.ways]
    drawn = [boxed(box, at) for box, at in zip(boxes, layout.centres, strict=True)]
    return tag(
        "svg",
        tag("title", f"Graph of {len(boxes)} nodes"),
        Markup(
            f"<style>{pathlib.Path(__file__).with_name('graph.css').read_text('utf-8')}</style>"
        ),
        Markup(
            '<defs><marker id="ta-head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 .8 8 4 0 7.2z"/></marker></defs>'
        ),
        *ways,
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        class_="ta-graph",
        role="img",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
    )


def path_of(way: Sequence[Point]) -> str:
    """Write Bézier curves as SVG does."""
    (x, y), *rest = way
    return f"M{x:.1f} {y:.1f}C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in rest)


def boxed(box: Box, centre: Point) -> Markup:
    """Draw a box with its two lines."""
    (x, y), (width, height) = centre, box.size
    left, top = f"{x - width / 2:.1f}", f"{y - height / 2:.1f}"
    return tag(
        "a",
        tag("title", box.full),
        tag("rect", x=left, y=top, width=f"{width:.1f}", height=f"{height:.1f}", rx=6),
        tag("text", box.title, class_="title", x=f"{x:.1f}", y=f"{y - 4:.1f}"),
        tag("text", box.below, class_="below", x=f"{x:.1f}", y=f"{y + 13:.1f}"),
        class_=box.kind,
        href=f"#n{box.index}",
    )

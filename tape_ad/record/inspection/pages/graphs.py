"""The graph of a record: as DOT, laid out, and as SVG."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from tape_ad.record.inspection.pages.layouts import MARGIN, Frame, Layout, Point, layered
from tape_ad.record.inspection.pages.lines import Group, Line
from tape_ad.record.inspection.pages.markup import Markup, tag

__all__ = ["Box", "as_dot", "as_svg", "boxes_of", "edges_of", "laid_out"]

LONGEST = 30
"""How many characters of a line are shown in a box."""

CHARACTER, LINE_HEIGHT, PADDING = 7.25, 17.0, 9.0
"""The size of letters, and of what is around them, in pixels."""

PIXELS = 96 / 72
"""How many there are in a point, which is what Graphviz counts in."""

SECONDS = 8.0
"""How long Graphviz may take before the graph is laid out without it."""


@frozen
class Box:
    """What stands for a node.

    Attributes
    ----------
    index : int
    kind : str
        ``parameter`` for a leaf with a name, ``leaf``, ``constant``, or ``node``.
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
    return line.function if line.function in {"leaf", "constant"} else "node"


def operation(line: Line) -> str:
    """Write a call without the nodes it was made on, which edges show: ``power 2``."""
    words = line.call.replace(", ", " ").split()  # within a shape stand commas without a space
    return " ".join([line.function, *(w for w in words[1:] if w[:1] != "%")])


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


def laid_out(boxes: Sequence[Box], edges: Sequence[tuple[int, int]], layers: Group) -> Layout:
    """Lay a graph out with Graphviz where it is installed, and else with `layered`."""
    sizes = [box.size for box in boxes]
    program = shutil.which("dot")
    if program is not None and boxes:
        try:
            return by_graphviz(program, as_dot(boxes, edges, layers), len(boxes), edges)
        except (OSError, subprocess.SubprocessError, ValueError, KeyError):
            pass  # an installation that is not whole is as good as none
    return layered(sizes, edges)


def by_graphviz(program: str, text: str, size: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Ask Graphviz where things go."""
    fixed = ["-Nfixedsize=true", "-Earrowhead=none", "-Granksep=0.35", "-Gnodesep=0.2"]
    done = subprocess.run(  # noqa: S603 - the program that the user has installed, and our own text
        [program, "-Tjson", *fixed],
        input=text.encode(),
        capture_output=True,
        check=True,
        timeout=SECONDS,
    )
    found = json.loads(done.stdout)
    _, _, width, height = numbers(found["bb"])

    def point(x: float, y: float) -> Point:
        return x * PIXELS + MARGIN, (height - y) * PIXELS + MARGIN

    places = {each["name"]: each for each in found["objects"]}
    centres = [point(*numbers(places[f"n{i}"]["pos"])) for i in range(size)]
    names = {each["_gvid"]: each["name"] for each in found["objects"]}
    ways = {
        (names[each["tail"]], names[each["head"]]): [
            point(*numbers(pair)) for pair in each["pos"].split()
        ]
        for each in found.get("edges", ())
    }
    frames = []
    for name, each in places.items():
        if name.startswith("cluster_"):
            left, bottom, right, top = numbers(each["bb"])
            x, y = point(left, top)
            frames.append(
                Frame(x, y, (right - left) * PIXELS, (top - bottom) * PIXELS, each["label"])
            )
    return Layout(
        width * PIXELS + 2 * MARGIN,
        height * PIXELS + 2 * MARGIN,
        centres,
        [ways[f"n{one}", f"n{two}"] for one, two in edges],
        frames,
    )


def numbers(text: str) -> list[float]:
    """Read numbers that are separated by commas."""
    return [float(each) for each in text.split(",")]


def as_svg(boxes: Sequence[Box], edges: Sequence[tuple[int, int]], layers: Group) -> Markup:
    """Draw a graph. Each box is a link to ``#n`` and its index.

    Returns
    -------
    Markup
        An ``svg`` element with its own style, for a light and for a dark surrounding.
    """
    layout = laid_out(boxes, edges, layers)
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    frames = [framed(each) for each in layout.frames]
    ways = [tag("path", class_="way", d=path_of(way)) for way in layout.ways]
    drawn = [boxed(box, at) for box, at in zip(boxes, layout.centres, strict=True)]
    return tag(
        "svg",
        tag("title", f"Graph of {len(boxes)} nodes"),
        Markup(f"<style>{Path(__file__).with_name('graph.css').read_text('utf-8')}</style>"),
        Markup(
            '<defs><marker id="ta-head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 .8 8 4 0 7.2z"/></marker></defs>'
        ),
        *frames,
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


def framed(frame: Frame) -> Markup:
    """Draw the frame around a layer."""
    x, y = f"{frame.x:.1f}", f"{frame.y:.1f}"
    return tag(
        "g",
        tag("rect", x=x, y=y, width=f"{frame.width:.1f}", height=f"{frame.height:.1f}", rx=8),
        tag("text", frame.title, x=f"{frame.x + 8:.1f}", y=f"{frame.y + 15:.1f}"),
        class_="frame",
    )


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

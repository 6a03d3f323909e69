"""The page that shows a record: one file of HTML with its program, graph, and table of nodes."""

import math
import re
import tempfile
import webbrowser
from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from pathlib import Path

from attrs import define, field

from tape_ad.base.naming import file_title
from tape_ad.record.inspection.pages.figures import (
    Markup,
    Range,
    bytes_as_text,
    count,
    document,
    fragment,
    number,
    tag,
)
from tape_ad.record.inspection.pages.graphs import (
    Box,
    as_dot,
    as_svg,
    boxes_of,
    edges_of,
    folded,
)
from tape_ad.record.inspection.pages.lines import Group, Line, Look, bytes_held, grouped

UNKNOWN = "A record holds no values: they are known where a handle is alive"
NONE = "No gradient is kept: no handle was alive in the sweep, or the result does not depend on it"


def node_table(look: Look, layers: Group, shown: int) -> Markup:
    """Write the table with what searches it.

    Parameters
    ----------
    look : Look
    layers : Group
        All of its nodes.
    shown : int
        Of how many nodes there is a row, at most: half of them the first, half the last.

    Returns
    -------
    Markup
    """
    size = len(look.lines)
    left_out = range(shown // 2, size - shown // 2) if size > shown else range(0)
    table = Table(look, left_out)
    return fragment(
        toolbar(size),
        table.note,
        tag(
            "div",
            tag(
                "table",
                tag("caption", "The nodes of the record", class_="unseen"),
                tag("thead", tag("tr", *table.heads)),
                tag("tbody", *table.rows(layers, 0, 0)),
                id="table",
            ),
            class_="scroll",
        ),
        tag("p", "No node has all of these words.", id="none", class_="note", hidden=True),
    )


def toolbar(size: int) -> Markup:
    """Write what the table is searched and folded with."""
    return tag(
        "div",
        tag("label", "Search", for_="search", class_="unseen"),
        tag(
            "input",
            id="search",
            type="search",
            placeholder="Search: a function, name, shape, line …  ( / )",
            autocomplete="off",
            spellcheck="false",
        ),
        tag("output", count(size, "node"), id="found", for_="search", role="status"),
        tag("button", "Fold all", type="button", id="fold"),
        tag("button", "Unfold all", type="button", id="unfold"),
        class_="toolbar",
        role="search",
    )


@define(eq=False)
class Table:
    """The rows as they are written.

    Attributes
    ----------
    look : Look
    left_out : range
        The nodes that get no row.
    graded, traced : bool
        Whether there are gradients, and sources, to be shown.
    groups : int
        How many layers were written.
    """

    look: Look
    left_out: range
    groups: int = 0
    graded: bool = field(init=False)
    traced: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.graded = self.look.root is not None
        self.traced = any(line.source is not None for line in self.look.lines)

    @property
    def note(self) -> Markup:
        """Describe which nodes the table leaves out."""
        if not self.left_out:
            return fragment()
        first, last = self.left_out[0], self.left_out[-1]
        text = (
            f"The nodes %{first} to %{last} ({len(self.left_out):,} of "
            f"{len(self.look.lines):,}) are left out here; what is counted counts them too. "
            f"rec[{first}] shows one of them, and a loop over rec all."
        )
        return tag("p", text, class_="note", id="left-out")

    @property
    def heads(self) -> list[Markup]:
        """The heads of the columns."""
        ranges = [("values", UNKNOWN), ("gradient", NONE)][: 1 + self.graded]
        return [
            tag("th", "node", scope="col"),
            tag("th", "call", scope="col"),
            tag("th", "dtype", scope="col"),
            tag("th", "shape", scope="col"),
            tag("th", "held", scope="col", class_="number"),
            *(
                tag("th", name, scope="col", colspan=2, class_="number", title=why)
                for name, why in ranges
            ),
            *([tag("th", "line", scope="col")] if self.traced else []),
        ]

    def rows(self, group: Group, number_: int, depth: int) -> Iterator[Markup]:
        """Write the rows of a layer, and of the layers within it."""
        for each in group.members:
            if isinstance(each, int):
                if each not in self.left_out:
                    yield self.row(self.look.lines[each], group, number_, depth)
            else:
                self.groups += 1
                own = self.groups
                yield self.group_row(each, group, number_, own, depth)
                yield from self.rows(each, own, depth + 1)

    def group_row(self, group: Group, around: Group, outer: int, own: int, depth: int) -> Markup:
        """Write the row that folds and unfolds a layer."""
        nodes = group.nodes
        lines = [self.look.lines[node] for node in nodes]
        parameters = sum(bool(line.name) for line in lines)
        inside = [count(len(lines) - parameters, "node")]
        if parameters:
            inside.insert(0, count(parameters, "parameter"))
        title = "/".join(group.path[len(around.path) :])
        button = tag(
            "button",
            tag("span", title, class_="layer"),
            type="button",
            aria_expanded="true",
            title="/".join(group.path),
        )
        rest = 2 + 2 * self.graded + self.traced
        return tag(
            "tr",
            tag(
                "th",
                button,
                tag("span", ", ".join(inside), class_="count"),
                colspan=4,
                scope="rowgroup",
            ),
            tag("td", bytes_as_text(bytes_held(lines)), class_="number held"),
            tag("td", colspan=rest),
            class_="group",
            data_in=outer,
            data_group=own,
            style=f"--depth:{depth}",
        )

    def row(self, line: Line, group: Group, number_: int, depth: int) -> Markup:
        """Write the row of a node."""
        cells = [
            tag("th", f"%{line.index}", scope="row", class_="index"),
            tag("td", self.call(line, group), class_="call"),
            tag("td", str(line.dtype), class_="dtype"),
            tag("td", f"({shape_inside(line.shape)})", class_="shape"),
            tag("td", bytes_as_text(line.nbytes) if line.nbytes else "", class_="number held"),
            range_cells(line.values, "values", UNKNOWN),
        ]
        if self.graded:
            cells.append(range_cells(line.gradient, "gradient", NONE))
        if self.traced:
            cells.append(source_cell(line))
        kind = "parameter" if line.name else ("leaf" if line.is_leaf else None)
        style = f"--depth:{depth}"
        return tag(
            "tr",
            *cells,
            id=f"n{line.index}",
            class_=kind,
            data_in=number_,
            style=style,
            tabindex=-1,
        )

    def call(self, line: Line, group: Group) -> Markup:
        """Write a call, with a link for every node it was made on."""
        if line.name:
            own = line.name[len("/".join(group.path)) :].lstrip("/.")
            return tag("b", own or line.name, title=line.name)
        name, _, rest = line.call.partition(" ")
        return fragment(tag("b", name), " " if rest else "", *self.linked(rest))

    def linked(self, text: str) -> Iterator[str]:
        """Make links of ``%4`` and its like."""
        for piece in re.split(r"(%\d+)", text):
            if not re.fullmatch(r"%\d+", piece):
                yield piece
                continue
            index = int(piece[1:])
            name = self.look.lines[index].name if index < len(self.look.lines) else ""
            short = re.split(r"[/.]", name)[-1]
            label = [tag("i", short)] if short else []
            yield tag("a", piece, *label, href=f"#n{index}", title=name or None)


def shape_inside(shape: tuple[int, ...]) -> str:
    """Write lengths as NumPy's ``shape`` shows them, without the brackets."""
    return f"{shape[0]}," if len(shape) == 1 else ", ".join(map(str, shape))


def range_cells(found: Range | None, what: str, why: str) -> Markup:
    """Write a range in two columns, or why it is not known."""
    if found is None:
        return tag("td", "\N{EN DASH}", colspan=2, class_="number unknown", title=why or None)
    doubts: list[str] = [tag("em", found.doubts)] if found.doubts else []
    if math.isnan(found.low):
        return tag("td", *(doubts or ["empty"]), colspan=2, class_="number", data_what=what)
    modulus = "modulus" if found.modulus else None
    if found.low == found.high:
        shown = tag("span", number(found.low))
        return tag(
            "td", *doubts, shown, colspan=2, class_="number alone", data_what=what, title=modulus
        )
    return fragment(
        tag("td", number(found.low), class_="number low", data_what=what, title=modulus),
        tag("td", number(found.high), *doubts, class_="number high", title=modulus),
    )


def source_cell(line: Line) -> Markup:
    """Write where a node was made."""
    if line.source is None:
        return tag("td", "", class_="source")
    file, number, function = line.source
    place = tag("span", f"{file_title(file)}:{number}", title=f"{file}:{number} in {function}")
    return tag(
        "td", tag("div", place, " ", tag("code", line.text, title=line.text)), class_="source"
    )


DRAWN = 300
"""Of how many nodes a graph is drawn on the page; a larger one is no picture any more."""

WHOLE = 60
"""Of how many boxes a graph is shown in its whole height; a larger one is moved in a field."""

SHOWN = 2000
"""How many nodes are shown one by one: half of them from the beginning, half from the end."""

FUNCTIONS = 12
"""How many functions are counted one by one."""

SUFFIXES = {".html": "html", ".htm": "html", ".svg": "svg", ".dot": "dot", ".gv": "dot"}

HEIGHT = "min(78vh, 46rem)"
"""How much of a notebook a page takes."""


@define(eq=False, repr=False, slots=False)
class Page:
    """A page that shows a record as it was when `ComputationRecord.show` was called.

    In a notebook it shows itself. It holds no array and no handle.

    Attributes
    ----------
    look : Look
        What is shown: `lines` has a line for each node.
    """

    look: Look

    @cached_property
    def html(self) -> str:
        """The page, which needs no other file and no network."""
        look = self.look
        program = (Path(__file__).parent / "record.js").read_text("utf-8")
        facts = [tag("div", tag("dt", what), tag("dd", how_many)) for how_many, what in look.facts]
        return document(
            look.title,
            tag("header", tag("h1", look.title), tag("dl", *facts, class_="facts")),
            tag("main", self._functions(), self._graph(), self._nodes()),
            program=program,
        )

    @cached_property
    def svg(self) -> str:
        """The graph as a picture; of a record of more than 300 nodes, folded by layer."""
        return as_svg(*self._drawn)

    @cached_property
    def dot(self) -> str:
        """The graph in the language of Graphviz, each layer a cluster."""
        boxes = boxes_of(self.look.lines)
        return as_dot(boxes, edges_of(self.look.lines), self._layers)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path-like
            Its suffix says what: ``.html`` is the page, ``.svg`` and ``.dot`` the graph alone.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        ValueError
            For another suffix.
        """
        target = Path(path)
        kind = SUFFIXES.get(target.suffix.lower())
        if kind is None:
            raise ValueError(
                f"a page is saved as one of {', '.join(SUFFIXES)}, got {target.suffix!r} in "
                f"{str(path)!r}"
            )
        target.write_text(getattr(self, kind), "utf-8")
        return target

    def open(self) -> Path:
        """Show the page in the browser, from a file in the folder for temporary ones.

        Returns
        -------
        pathlib.Path
            That file.
        """
        with tempfile.NamedTemporaryFile(prefix="record-", suffix=".html", delete=False) as file:
            target = self.save(file.name)
        webbrowser.open(target.as_uri())
        return target

    def __repr__(self) -> str:
        nodes = count(len(self.look.lines), "node")
        return f"<Page of {nodes}: .open(), .save('record.html'), .html, .svg, .dot>"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own, so that styles do not leak."""
        style = f"width:100%;height:{HEIGHT};border:1px solid #8884;border-radius:8px"
        return tag("iframe", srcdoc=self.html, style=style, title=self.look.title)

    @cached_property
    def _drawn(self) -> tuple[list[Box], list[tuple[int, int]]]:
        lines = self.look.lines
        if len(lines) > DRAWN:
            return folded(lines, self.look.layers, DRAWN)
        return boxes_of(lines), edges_of(lines)

    @cached_property
    def _layers(self) -> Group:
        lines = self.look.lines
        return grouped(self.look.layers, [line.is_leaf for line in lines])

    def _functions(self) -> Markup:
        functions = self.look.functions
        rows = [
            tag("tr", tag("th", name, scope="row"), number_cells(calls, nbytes))
            for name, calls, nbytes in functions[:FUNCTIONS]
        ]
        rest = functions[FUNCTIONS:]
        if rest:
            calls, nbytes = sum(each[1] for each in rest), sum(each[2] for each in rest)
            name = count(len(rest), "more function")
            rows.append(tag("tr", tag("th", name, scope="row"), number_cells(calls, nbytes)))
        heads = [tag("th", name, scope="col") for name in ("function", "nodes", "held")]
        table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
        return section("functions", "Functions", tag("div", table, class_="scroll"), is_open=False)

    def _graph(self) -> Markup:
        size, boxes = len(self.look.lines), len(self._drawn[0])
        if not size:
            return fragment()
        if boxes > DRAWN:
            note = (
                f"A graph of more than {DRAWN} nodes that are of no layers is not drawn here: "
                "rec.show().save('graph.svg') draws it all the same, and rec.show().dot is the "
                "text for Graphviz."
            )
            return section("graph", "Graph", tag("p", note, class_="note"), is_open=False)
        kind = "scroll" if boxes <= WHOLE else "scroll long"
        drawing = tag("div", Markup(self.svg), class_=kind, tabindex=0)
        title = "Graph" if boxes == size else f"Graph, {size:,} nodes folded by layer"
        return section("graph", title, drawing, is_open=True)

    def _nodes(self) -> Markup:
        return tag(
            "section",
            tag("h2", "Nodes"),
            node_table(self.look, self._layers, SHOWN),
            id="nodes",
        )


def number_cells(calls: int, nbytes: int) -> Markup:
    """Write how often a function was called, and what its partials hold."""
    return fragment(tag("td", f"{calls:,}"), tag("td", bytes_as_text(nbytes)))


def section(name: str, title: str, content: Markup, *, is_open: bool) -> Markup:
    """Write a part of the page that can be folded."""
    return tag("details", tag("summary", tag("h2", title)), content, id=name, open=is_open)

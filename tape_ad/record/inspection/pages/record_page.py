"""The page that shows a record: one file of HTML with its style, its program and its graph."""

import tempfile
import webbrowser
from functools import cached_property
from os import PathLike
from pathlib import Path

from attrs import define

from tape_ad.record.inspection.pages.figures import Markup, bytes_as_text, count, fragment, tag
from tape_ad.record.inspection.pages.graphs import as_dot, as_svg, boxes_of, edges_of
from tape_ad.record.inspection.pages.lines import Group, Look, grouped
from tape_ad.record.inspection.pages.node_table import node_table

__all__ = ["Page"]

DRAWN = 300
"""Of how many nodes a graph is drawn on the page; a larger one is no picture any more."""

SHOWN = 2000
"""How many nodes are shown one by one: half of them from the beginning, half from the end."""

FUNCTIONS = 12
"""How many functions are counted one by one."""

SUFFIXES = {".html": "html", ".htm": "html", ".svg": "svg", ".dot": "dot", ".gv": "dot"}

HEIGHT = "min(78vh, 46rem)"
"""How much of a notebook a page takes."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What the browser is told: to fetch nothing at all."""


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
        here = Path(__file__).parent
        style = (here / "page.css").read_text("utf-8")
        program = (here / "record.js").read_text("utf-8")
        facts = [tag("div", tag("dt", what), tag("dd", how_many)) for how_many, what in look.facts]
        body = fragment(
            tag("header", tag("h1", look.title), tag("dl", *facts, class_="facts")),
            tag("main", self._functions(), self._graph(), self._nodes()),
            Markup(f"<script>{program}</script>"),
        )
        head = fragment(
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
            tag("title", look.title),
            Markup(f"<style>{style}</style>"),
        )
        return "<!doctype html>\n" + tag("html", tag("head", head), tag("body", body), lang="en")

    @cached_property
    def svg(self) -> str:
        """The graph as a picture, of a record of any size; Graphviz lays it out if installed."""
        boxes = boxes_of(self.look.lines)
        return as_svg(boxes, edges_of(self.look.lines), self._layers)

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
        size = len(self.look.lines)
        if not size:
            return fragment()
        if size > DRAWN:
            note = (
                f"A graph of more than {DRAWN} nodes is not drawn here: rec.show().save("
                "'graph.svg') draws it all the same, and rec.show().dot is the text for Graphviz."
            )
            return section("graph", "Graph", tag("p", note, class_="note"), is_open=False)
        drawing = tag("div", Markup(self.svg), class_="scroll", tabindex=0)
        return section("graph", "Graph", drawing, is_open=True)

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

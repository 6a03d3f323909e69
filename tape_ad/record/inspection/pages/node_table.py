"""The table of nodes, folded by layers."""

import math
import re
from collections.abc import Iterator

from attrs import define, field

from tape_ad.record.inspection.pages.figures import (
    Markup,
    Range,
    bytes_as_text,
    count,
    fragment,
    number,
    tag,
)
from tape_ad.record.inspection.pages.lines import Group, Line, Look, Source, bytes_held

__all__ = ["node_table"]


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
            tag("td", line.dtype, class_="dtype"),
            tag("td", f"({shape_inside(line.shape)})", class_="shape"),
            tag("td", bytes_as_text(line.nbytes) if line.nbytes else "", class_="number held"),
            range_cells(line.values, "values", UNKNOWN),
        ]
        if self.graded:
            cells.append(range_cells(line.gradient, "gradient", NONE))
        if self.traced:
            cells.append(source_cell(line.source))
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


def source_cell(source: Source | None) -> Markup:
    """Write where a node was made."""
    if source is None:
        return tag("td", "", class_="source")
    place = tag("span", f"{source}", title=f"{source.file}:{source.line} in {source.function}")
    line = tag("div", place, " ", tag("code", source.text, title=source.text))
    return tag("td", line, class_="source")

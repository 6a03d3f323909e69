"""Where time and memory went, as text and as HTML."""

import io
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from tape_ad.record.inspection.pages.figures import bytes_as_text
from tape_ad.record.inspection.pages.flame import Stacks, flame_graph
from tape_ad.record.inspection.pages.markup import Markup, fragment, table, tag

__all__ = ["Spent", "as_table", "page", "table_text"]

HEADS = ("calls", "forward", "sweep", "share", "results", "held")
SHOWN = 20
"""How many rows a table on a terminal or in a notebook has."""

ON_PAGE = 500
"""How many rows each table on a page has."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@frozen
class Spent:
    """Time and memory of a node, a function or a line.

    Attributes
    ----------
    name : str
        What it was spent on.
    calls : int
        How many nodes were made.
    forward : float
        Seconds in computing values and making partials.
    sweep : float
        Seconds in sweeping back.
    bytes : int
        Of the results.
    held : int
        Of the arrays that partials hold; one that several hold counts for each.
    """

    name: str
    calls: int
    forward: float
    sweep: float
    bytes: int
    held: int

    @property
    def seconds(self) -> float:
        """Both times together."""
        return self.forward + self.sweep


def cells(row: Spent, whole: float) -> list[str]:
    """Write a row."""
    return [
        row.name,
        f"{row.calls:,}",
        f"{row.forward * 1e3:.3f} ms",
        f"{row.sweep * 1e3:.3f} ms",
        f"{row.seconds / whole:.1%}" if whole else "",
        bytes_as_text(row.bytes),
        bytes_as_text(row.held),
    ]


def table_text(title: str, rows: Sequence[Spent], *, most: int = SHOWN) -> str:
    """Write a table for a terminal: by rich where it is installed, else in plain text."""
    whole = sum(row.seconds for row in rows)
    written = [cells(row, whole) for row in rows[:most]]
    rest = f"and {len(rows) - most:,} more" if len(rows) > most else ""
    heads = [title, *HEADS]
    try:
        from rich.console import Console  # noqa: PLC0415 - an optional extra
        from rich.table import Table  # noqa: PLC0415 - the same
        from rich.text import Text  # noqa: PLC0415 - the same
    except ImportError:
        widths = [max(map(len, column)) for column in zip(heads, *written, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in (heads, *written)
        ]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], rest]).rstrip()
    made = Table(caption=rest or None, caption_justify="left")
    for i, head in enumerate(heads):
        made.add_column(head, justify="right" if i else "left", no_wrap=True)
    for line in written:
        made.add_row(*map(Text, line))  # brackets in a name are no markup
    text = io.StringIO()
    Console(file=text, width=max(160, 90 + max((len(row.name) for row in rows), default=0))).print(
        made
    )
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def as_table(title: str, rows: Sequence[Spent], *, most: int = SHOWN) -> Markup:
    """Write a table for a notebook or a page."""
    whole = sum(row.seconds for row in rows)
    written = [cells(row, whole) for row in rows[:most]]
    if len(rows) > most:
        written.append([f"and {len(rows) - most:,} more", *[""] * len(HEADS)])
    return table([title, *HEADS], written, right=range(1, len(HEADS) + 1))


def page(
    title: str, facts: str, tables: Sequence[tuple[str, Sequence[Spent]]], stacks: Stacks
) -> str:
    """Write a page with the tables and a flame graph, which needs no other file and no network."""
    style = (Path(__file__).parent / "page.css").read_text("utf-8")
    picture = flame_graph(stacks)
    body = [
        tag("header", tag("h1", title), tag("p", facts, class_="note")),
        tag("section", tag("h2", "by call stack"), tag("div", picture, class_="scroll")),
    ]
    for name, rows in tables:
        shown = tag("div", as_table(name, rows, most=ON_PAGE), class_="scroll")
        body.append(tag("section", tag("h2", f"by {name}"), shown))
    head = fragment(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    whole = tag("html", tag("head", head), tag("body", *body), lang="en")
    return f"<!doctype html>\n{whole}"

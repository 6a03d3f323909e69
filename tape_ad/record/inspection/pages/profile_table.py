"""Where time and memory went, as text and as HTML."""

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import define, field, frozen

from tape_ad.record.inspection.pages.figures import Markup, bytes_as_text, fragment, table, tag

__all__ = ["Spent", "as_table", "collapsed", "flame_graph", "page", "table_text"]

WIDTH = 1200
ROW = 18
LETTER = 6.6
"""The width of a letter of a monospaced font of 11 px."""

THINNEST = 0.4
"""A frame that is thinner than so many pixels is left out."""

Stacks = Mapping[tuple[str, ...], float]
"""Seconds by the frames that they were spent in, the outermost first."""


@define
class Frame:
    """A frame with all time that was spent in it and above it."""

    seconds: float = 0.0
    above: dict[str, "Frame"] = field(factory=dict)


def collapsed(stacks: Stacks) -> str:
    """Write stacks as other tools for flame graphs read them: frames, and microseconds.

    Examples
    --------
    >>> print(collapsed({("main (a.py:3)", "exp"): 2e-6}))
    main (a.py:3);exp 2
    """
    lines = (
        f"{';'.join(frame.replace(';', ',') for frame in stack)} {round(seconds * 1e6)}"
        for stack, seconds in stacks.items()
    )
    return "\n".join(sorted(line for line in lines if not line.endswith(" 0")))


def flame_graph(stacks: Stacks) -> Markup:
    """Draw stacks: the outermost frame at the bottom, each as wide as its share of the time.

    Parameters
    ----------
    stacks : mapping of tuple of str to float

    Returns
    -------
    Markup
        SVG, which needs no style sheet. A frame's whole name and time show when it is pointed at.
    """
    root = Frame()
    for stack, seconds in stacks.items():
        root.seconds += seconds
        frame = root
        for name in stack:
            frame = frame.above.setdefault(name, Frame())
            frame.seconds += seconds
    boxes: list[tuple[int, float, str, Frame]] = []
    waiting = [(0, 0.0, "all", root)]
    scale = WIDTH / root.seconds if root.seconds else 0.0
    while waiting:  # no recursion, as stacks may be deep
        depth, left, name, frame = waiting.pop()
        if frame.seconds * scale < THINNEST:
            continue
        boxes.append((depth, left, name, frame))
        for name_above, above in frame.above.items():
            waiting.append((depth + 1, left, name_above, above))
            left += above.seconds * scale
    height = (max((depth for depth, *_ in boxes), default=0) + 1) * ROW
    drawn = [
        box_of(name, frame, left, height - (depth + 1) * ROW, scale, root.seconds)
        for depth, left, name, frame in boxes
    ]
    return tag(
        "svg",
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width="100%",
        role="img",
        aria_label="time by source line",
        font_family="ui-monospace, monospace",
        font_size=11,
    )


def box_of(name: str, frame: Frame, left: float, top: int, scale: float, whole: float) -> Markup:
    """Draw one frame of a flame graph as a rectangle with its name."""
    width = frame.seconds * scale
    fits = int((width - 6) / LETTER)
    shown = name if len(name) <= fits else name[: fits - 1] + "…" if fits > 3 else ""
    told = f"{name}: {frame.seconds * 1e3:.3f} ms, {frame.seconds / whole:.1%}"
    hue, light = zlib.crc32(name.encode()) % 45 + 10, 62 + zlib.crc32(name.encode()) // 45 % 12
    return tag(
        "g",
        tag("title", told),
        tag(
            "rect",
            x=f"{left:.2f}",
            y=top,
            width=f"{max(width - 0.5, 0.2):.2f}",
            height=ROW - 1,
            rx=2,
            fill=f"hsl({hue} 80% {light}%)",
        ),
        tag("text", shown, x=f"{left + 3:.2f}", y=top + 13, fill="#222") if shown else Markup(""),
    )


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

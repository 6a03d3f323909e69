"""Where time and memory go: by node, by function and by line of the user's; as text and as HTML."""

import math
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Self

from attrs import define, evolve, field, frozen

from tape_ad.base.naming import file_title, function_name, line_name
from tape_ad.record.arena import CONSTANT, Arena, held_arrays, held_bytes
from tape_ad.record.inspection.observing import NO_WISHES, Asking, Observer, Wishes, wishes_here
from tape_ad.record.inspection.pages.figures import (
    Markup,
    aligned,
    bytes_as_text,
    document,
    shape_as_text,
    table,
    tag,
)
from tape_ad.record.messages.callers import user_lines
from tape_ad.record.tensor import Tensor
from tape_ad.rules import load_lazy_tables

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
        style="min-width:70rem",  # on a phone it is moved sideways
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
RIGHT = range(1, len(HEADS) + 1)
SHOWN = 20
"""How many rows a table on a terminal or in a notebook has."""

ON_PAGE = 500
"""How many rows each table on a page has."""


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
        """The seconds of the call and of its pulls together."""
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
    """Write a table for a terminal."""
    whole = sum(row.seconds for row in rows)
    written = [cells(row, whole) for row in rows[:most]]
    rest = f"and {len(rows) - most:,} more" if len(rows) > most else ""
    lines = aligned([[title, *HEADS], *written], RIGHT)
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], rest]).rstrip()


def as_table(title: str, rows: Sequence[Spent], *, most: int = SHOWN) -> Markup:
    """Write a table for a notebook or a page."""
    whole = sum(row.seconds for row in rows)
    written = [cells(row, whole) for row in rows[:most]]
    if len(rows) > most:
        written.append([f"and {len(rows) - most:,} more", *[""] * len(HEADS)])
    return table([title, *HEADS], written, right=RIGHT)


def page(
    title: str, facts: str, tables: Sequence[tuple[str, Sequence[Spent]]], stacks: Stacks
) -> str:
    """Write a page with the tables and a flame graph, which needs no other file and no network."""
    picture = flame_graph(stacks)
    body = [
        tag("header", tag("h1", title), tag("p", facts, class_="note")),
        tag("section", tag("h2", "by call stack"), tag("div", picture, class_="scroll")),
    ]
    for name, rows in tables:
        shown = tag("div", as_table(name, rows, most=ON_PAGE), class_="scroll")
        body.append(tag("section", tag("h2", f"by {name}"), shown))
    return document(title, *body)


ENTRANCES = ("call", "answer", "one", "two", "item", "assign", "change")
"""Where a call with handles comes in, by the names that `answer_with` has for them."""

END = "end of the sweep"
Lines = tuple[tuple[str, int, str], ...]


@define(eq=False)
class Entry:
    """What is known of a node, or of one in the same place of further records."""

    index: int
    function: str
    shape: str
    lines: Lines
    calls: int = 0
    forward: float = 0.0
    sweep: float = 0.0
    bytes: int = 0
    held: int = 0

    @property
    def title(self) -> str:
        """The node as a record prints it, without its operands; or what is no node."""
        return self.function if self.index < 0 else f"%{self.index} {self.function} {self.shape}"


class Clock(list[int]):
    """The nodes that a sweep comes to, each with the time."""

    def __init__(self, profile: "profile") -> None:
        super().__init__()
        self.profile = profile
        self.stamps: list[tuple[float, float]] = []

    def append(self, node: int) -> None:
        """Note a node, and what has been counted so far."""
        super().append(node)
        self.stamps.append((perf_counter(), self.profile.counted))


class profile(Asking):  # noqa: N801 - a context manager, called as a function
    """Take the times of records that are made inside: by node, by function and by line.

    A node's *forward* time is that of computing its value and making its partials, from when the
    call with handles comes in to when the node is there; its *sweep* time is that of pulling its
    cotangent to its parents, and adding up. What runs within, such as the sweep of a checkpointed
    part, has entries of its own and is not counted twice. The rest of the time is `elsewhere`:
    Python code of yours between the calls, what it does with plain arrays, and imports. Nodes in
    the same place of one record after the other are one entry, and so are calls of a compiled
    function in one line, replays that make no nodes among them.

    Profiling itself takes some tens of microseconds a node, which are in `overhead` and in no other
    time, and a tenth of a microsecond for each node of a sweep, which is in its time.

    Attributes
    ----------
    wall, counted, overhead : float
        Seconds inside the context, on nodes and compiled functions, and for profiling itself.
    elsewhere : float
        What is left of them.

    Examples
    --------
    >>> import numpy as np, tape_ad as ta
    >>> with ta.profile() as p:
    ...     slope = ta.grad(lambda x: np.sum(np.exp(x) * 2))(np.ones(1000))
    >>> {"exp", "multiply", "sum"} <= {row.name for row in p.by_function}
    True
    >>> p.by_function[0].seconds > 0
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[Any, Entry] = {}
        self._record: Any = None
        self._since = self._stopped = self._entered = 0.0
        self._counted_before = 0.0
        self.wall = self.counted = self.overhead = 0.0

    @classmethod
    def of(cls, record: Arena) -> Self:
        """Look at one record: what its nodes hold now, and times of what runs in the context."""
        made = cls()
        made._record = record
        if record.observer is None:
            record.observer = Observer(NO_WISHES)
        for node, function in enumerate(record.functions):
            source = record.sources.get(node)
            entry = made._entry(record, node, function, (source,) if source else ())
            record.observer.entries[id(made), node] = entry
        return made

    def asked(self, before: Wishes) -> Wishes:
        """Add this to what was asked for outside."""
        return evolve(before, profiles=(*before.profiles, self))

    def __enter__(self) -> Self:
        super().__enter__()
        load_lazy_tables()  # or the first call of a function takes as long as loading them
        listen(1)
        if self._record is not None:
            observer = self._record.observer
            observer.wishes = evolve(observer.wishes, profiles=(*observer.wishes.profiles, self))
        self._entered = perf_counter()
        self.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall += perf_counter() - self._entered
        listen(-1)
        if self._record is not None:
            observer = self._record.observer
            others = tuple(each for each in observer.wishes.profiles if each is not self)
            observer.wishes = evolve(observer.wishes, profiles=others)
        super().__exit__(*error)

    @property
    def takes_all(self) -> bool:
        """Whether it is of all records that are made inside, and not of a single one."""
        return self._record is None

    # What an observer and the entrances tell

    def begin(self) -> None:
        """Hear that a call comes in, or that a node is done with."""
        self._since, self._counted_before = perf_counter(), self.counted

    def stop(self) -> None:
        """Hear that a node is there."""
        self._stopped = perf_counter()

    def start(self) -> None:
        """Restart the clock, so that the time of the profiler itself is not counted."""
        self.begin()
        self.overhead += self._since - self._stopped

    def noted(self, observer: Observer, handle: Any, function: Any, lines: list[Any]) -> None:
        """Count a node that was recorded, and the time since the last one."""
        entry = self._entry(handle.record, handle.index, function, tuple(lines))
        observer.entries[id(self), handle.index] = entry
        if function is not None and function is not CONSTANT:
            within = self.counted - self._counted_before
            seconds = max(self._stopped - self._since - within, 0.0)
            entry.forward += seconds
            self.counted += seconds

    @contextmanager
    def calling(self, name: str) -> Iterator[None]:
        """Count a call of a compiled function, less what is counted within it."""
        asked = perf_counter()
        lines = tuple(user_lines())
        entry = self._entries.setdefault((-1, name, lines), Entry(-1, name, "", lines))
        self.begin()
        self.overhead += self._since - asked
        began, counted, overhead = self._since, self.counted, self.overhead
        try:
            yield
        finally:
            within = self.counted - counted + self.overhead - overhead
            seconds = max(perf_counter() - began - within, 0.0)
            entry.calls += 1
            entry.forward += seconds
            self.counted += seconds
            self.begin()

    def clock(self) -> Clock:
        """Give what a sweep is to fill with the nodes that it comes to."""
        return Clock(self)

    def swept(self, observer: Observer, reached: Clock) -> None:
        """Count the nodes of a sweep."""
        ends = [*reached.stamps[1:], (perf_counter(), reached.profile.counted)]
        for node, begin, end in zip(reached, reached.stamps, ends, strict=True):
            entry = observer.entries.get((id(self), node))
            if entry is not None:
                if end is ends[-1] and entry.function == "leaf":  # where nothing is pulled
                    entry = self._end(entry.lines[-1:])
                seconds = max(end[0] - begin[0] - (end[1] - begin[1]), 0.0)
                entry.sweep += seconds
                self.counted += seconds
        self.begin()

    def _end(self, lines: Lines) -> Entry:
        """Give the entry for what a sweep does behind its last node: a look for nan, freeing."""
        key = (-1, END, lines)
        return self._entries.setdefault(key, Entry(-1, END, "", lines))

    def _entry(self, record: Arena, node: int, function: Any, lines: Lines) -> Entry:
        name = function_name(function)
        shape, dtype = record.shapes[node], record.dtypes[node]
        entry = self._entries.get(key := (node, name, shape, dtype, lines))
        if entry is None:
            space = f"{dtype}{shape_as_text(shape)}"
            entry = self._entries[key] = Entry(node, name, space, lines)
        entry.calls += 1
        entry.bytes += math.prod(shape) * dtype.itemsize
        first, last = record.starts[node : node + 2]
        entry.held += held_bytes(held_arrays(record.partials[first:last]))
        return entry

    # What there is to see

    @property
    def elsewhere(self) -> float:
        """Seconds inside the context that were spent on nothing that is counted."""
        return max(self.wall - self.counted - self.overhead, 0.0)

    @property
    def by_node(self) -> list[Spent]:
        """Rows by node, those that took longest first."""
        return ranked(
            row_of(f"{each.title}{at(each.lines)}", [each]) for each in self._entries.values()
        )

    @property
    def by_function(self) -> list[Spent]:
        """The rows of the profile by NumPy function."""
        return self._by(lambda entry: entry.function)

    @property
    def by_line(self) -> list[Spent]:
        """Rows by line of yours."""
        return self._by(lambda entry: line_name(entry.lines[0]) if entry.lines else "?")

    @property
    def stacks(self) -> dict[tuple[str, ...], float]:
        """Seconds by call stack: your lines, the outermost first, and the function of the node."""
        totals: dict[tuple[str, ...], float] = defaultdict(float)
        for entry in self._entries.values():
            lines = tuple(f"{name} ({file_title(file)}:{n})" for file, n, name in entry.lines[::-1])
            totals[*lines, entry.function] += entry.forward
            backward = END if entry.index < 0 else f"{entry.function}, backward"
            totals[*lines, backward] += entry.sweep
        return {stack: seconds for stack, seconds in totals.items() if seconds}

    @property
    def collapsed(self) -> str:
        """The stacks as text that other tools for flame graphs read, in microseconds."""
        return collapsed(self.stacks)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a page of HTML, with a flame graph by source line; or stacks, to a ``.txt``.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        pathlib.Path
        """
        target = Path(path)
        target.write_text(self.collapsed if target.suffix == ".txt" else self._page(), "utf-8")
        return target

    def __str__(self) -> str:
        parts = [table_text(name, rows) for name, rows in self._tables()]
        return "\n\n".join([self._facts(), *parts])

    def __repr__(self) -> str:
        return f"<profile of {len(self._entries)} nodes: {self._facts()}>"

    def _repr_html_(self) -> str:
        return "".join(as_table(name, rows) for name, rows in self._tables())

    def _page(self) -> str:
        return page("Where time goes", self._facts(), self._tables(), self.stacks)

    def _facts(self) -> str:
        if not self.wall:
            return "no time was taken; enter it as a context"
        return (
            f"{self.wall * 1e3:.1f} ms in all, {self.counted * 1e3:.1f} ms of them on nodes and "
            f"compiled functions, {self.overhead * 1e3:.1f} ms for profiling itself, "
            f"{self.elsewhere * 1e3:.1f} ms elsewhere: your own Python, plain arrays, imports"
        )

    def _tables(self) -> list[tuple[str, list[Spent]]]:
        return [("function", self.by_function), ("line", self.by_line), ("node", self.by_node)]

    def _by(self, name_of: Callable[[Entry], str]) -> list[Spent]:
        together: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._entries.values():
            together[name_of(entry)].append(entry)
        return ranked(row_of(name, entries) for name, entries in together.items())


def row_of(name: str, entries: Iterable[Entry]) -> Spent:
    """Add entries up to a row of the table of a profile."""
    columns = ("calls", "forward", "sweep", "bytes", "held")
    return Spent(name, **{each: sum(getattr(e, each) for e in entries) for each in columns})


def ranked(rows: Iterable[Spent]) -> list[Spent]:
    """Put rows that took longest first, and of those without times the largest."""
    return sorted(rows, key=lambda row: (row.seconds, row.held + row.bytes), reverse=True)


def at(lines: Lines) -> str:
    """Write the innermost line of a node."""
    return f"  {line_name(lines[0])}" if lines else ""


LISTENING: list[dict[str, Any]] = []


def listen(change: int) -> None:
    """Stand in the entrances of calls with handles while anybody profiles, and leave them then."""
    if change > 0:
        entrances = {name: getattr(Tensor, f"_{name}") for name in ENTRANCES}
        LISTENING.append(entrances)
        if len(LISTENING) == 1:
            Tensor.answer_with(**{name: timed(each) for name, each in entrances.items()})
        return
    entrances = LISTENING[0]
    LISTENING.pop()
    if not LISTENING:
        Tensor.answer_with(**entrances)


def timed(entrance: Callable[..., Any]) -> Callable[..., Any]:
    """Tell the profiles of this thread when a call comes in."""

    def entered(*args: Any, **kwargs: Any) -> Any:
        for each in wishes_here().profiles:
            each.begin()
        return entrance(*args, **kwargs)

    return entered

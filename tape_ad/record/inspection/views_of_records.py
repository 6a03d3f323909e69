"""What there is to see of a record, collected for its `pages`, which know no record."""

import linecache
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict, define

from tape_ad.base.errors import RecordMismatchError
from tape_ad.base.naming import function_name
from tape_ad.record.arena import Arena, held_arrays, held_bytes
from tape_ad.record.call_metadata import key_of, name_of, written
from tape_ad.record.gradients import Gradients, handles_alive
from tape_ad.record.inspection.pages.figures import (
    Markup,
    Range,
    bytes_as_text,
    count,
    shape_as_text,
    table,
    tag,
)
from tape_ad.record.inspection.pages.lines import Line, Look, Node
from tape_ad.record.primals import primal

if TYPE_CHECKING:
    from tape_ad.record.inspection.pages.record_page import Page


PRINTED = 100
"""Of how many nodes a record is printed whole; of a longer one, the ends are."""

ENDS = 40
"""How many nodes are printed at either end of one that is not."""

MOST = 4
"""How many functions are counted of those that are left out."""

ROWS = 20
"""How many nodes a notebook shows of a record, half of them at either end."""


def node_of(arena: Arena, index: int) -> Node:
    """Describe one node of a record."""
    edges = list(arena.edges(index))
    function, parents = arena.functions[index], tuple([parent for parent, _ in edges])
    mark = arena.marks[index]
    call = mark if type(mark) is not object else key_of(partial for _, partial in edges)
    return Node(
        index=index,
        function=getattr(function, "tape_ad_public", function),
        parents=parents,
        shape=arena.shapes[index],
        dtype=arena.dtypes[index],
        nbytes=held_bytes(held_arrays([partial for _, partial in edges])),
        call=written(function, parents, call),
        name=name_of(mark) if type(mark) is str else "",
        source=arena.sources.get(index),
    )


@define(eq=False, repr=False)
class Shown(Arena):
    """An arena that can be looked at."""

    def show(
        self, path: str | os.PathLike[str] | None = None, *, gradients: Gradients | None = None
    ) -> "Page":
        """Make a page of all that is known of the record: to search, to fold, with its graph.

        Values are known where a handle is alive, as a record holds none. Nodes are folded by the
        layers that the names of their parameters tell of, see
        `tape_ad.record.inspection.pages.lines`. Of a record
        of more than 2,000 nodes, the page lists the first thousand and the last.

        Parameters
        ----------
        path : str or path-like, optional
            Where to save it as well: ``.html`` is the page, ``.svg`` and ``.dot`` the graph alone.
        gradients : Gradients, optional
            What `Tensor.grad` gave for a handle of this record, for their ranges.

        Returns
        -------
        Page
            It shows itself in a notebook, and ``.open()`` shows it in the browser; its `html`,
            `svg` and `dot` are texts, and `save` writes one to a file.

        Raises
        ------
        RecordMismatchError
            When the gradients are of another record.
        ValueError
            When the path has another suffix.

        Examples
        --------
        >>> import tape_ad as ta
        >>> rec = ta.ComputationRecord()
        >>> p = rec.bind({"w": np.ones((3, 2))})
        >>> loss = np.mean(np.tanh(np.ones((4, 3)) @ p["w"]))
        >>> rec.show(gradients=loss.grad())
        <Page of 4 nodes: .open(), .save('record.html'), .html, .svg, .dot>
        """
        from tape_ad.record.inspection.pages.record_page import Page  # noqa: PLC0415 - few ask for a page

        page = Page(look_at(self, gradients))
        if path is not None:
            page.save(path)
        return page

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_table(self)


def look_at(record: Any, gradients: Gradients | None = None) -> Look:
    """Collect what is known of each node of a record.

    A record holds no values: they are known of handles that are alive, which Python's garbage
    collector lists.

    Parameters
    ----------
    record : ComputationRecord
    gradients : Gradients, optional
        Of a sweep on this record.

    Returns
    -------
    Look
    """
    if gradients is not None and not isinstance(gradients, Gradients):
        raise TypeError(
            f"gradients= takes what loss.grad() returned, got {type(gradients).__name__}"
        )
    if gradients is not None and gradients._arena() is not record:
        raise RecordMismatchError(
            "these gradients are of another record than the one to be shown; pass what grad() of a "
            "handle of this record returned"
        )
    values = {handle.index: handle.data for handle in handles_alive() if handle.record is record}
    cotangents = {} if gradients is None else gradients._cotangents
    lines = [
        Line(
            **asdict(node, recurse=False),
            held=node.index in values,
            values=range_of(values.get(node.index)),
            gradient=range_of(cotangents.get(node.index)),
            text=linecache.getline(*node.source[:2]).strip() if node.source else "",
            arrays=arrays_of(record, node.index),
        )
        for node in record
    ]
    root = None if gradients is None else gradients._root
    return Look(tuple(lines), record.nbytes, record.within is not None, root)


def arrays_of(record: Arena, node: int) -> tuple[tuple[int, int], ...]:
    """Tell which arrays a node's partials hold, by number, and the bytes of each."""
    begin, end = record.starts[node : node + 2]
    held = held_arrays(record.partials[begin:end])
    return tuple({id(array): array.nbytes for array in held}.items())


def range_of(array: Any) -> Range | None:
    """Look through an array of NumPy's; others may be far away, or not computed yet."""
    plain = primal(array)
    known = isinstance(plain, (np.ndarray, np.generic))
    return Range.of(np.asarray(plain)) if known else None


def as_text(record: Any) -> str:
    """Write a record as a program, a line a node; of a long one, the beginning and the end."""
    size = len(record)
    if size <= PRINTED:
        return "\n".join(map(str, record))
    between = Counter(map(function_name, record.functions[ENDS : size - ENDS]))
    most = ", ".join(f"{many:,} {name}" for name, many in between.most_common(MOST))
    more = ", ..." if len(between) > MOST else ""
    leaves = count(record.functions.count(None), "leaf", "leaves")
    lines = [
        *(str(record[node]) for node in range(ENDS)),
        f"... {count(size - 2 * ENDS, 'node')}: {most}{more}",
        *(str(record[node]) for node in range(size - ENDS, size)),
        f"({count(size, 'node')}, {leaves}. rec.show() is a page of them, rec[{ENDS}] is one, and "
        "a loop over rec goes through all.)",
    ]
    return "\n".join(lines)


def as_table(record: Any) -> Markup:
    """Write a record as a short table, for a notebook."""
    size = len(record)
    places = list(range(size))
    if size > ROWS:
        places = [*places[: ROWS // 2], *places[-(ROWS // 2) :]]
    rows: list[list[str]] = []
    for node in map(record.__getitem__, places):
        if size > ROWS and node.index == size - ROWS // 2:
            rows.append(["...", f"{size - ROWS:,} more", "", ""])
        space = f"{node.dtype}{shape_as_text(node.shape)}"
        held = bytes_as_text(node.nbytes) if node.nbytes else ""
        rows.append([f"%{node.index}", node.call, space, held])
    above = tag("span", repr(record)[1:-1], " \N{MIDDLE DOT} rec.show() shows it whole")
    return table(["node", "call", "is", "held"], rows, right=[3], caption=above)

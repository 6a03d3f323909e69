"""What is shown of a record: its nodes, as plain data."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.naming import function_name, line_name
from tape_ad.record.inspection.pages.figures import Range, bytes_as_text, count, shape_as_text


@frozen
class Node:
    """A look at one node of a record.

    Attributes
    ----------
    index : int
    function : callable or None
        The NumPy function that made it; None for a leaf.
    call : str
        The call as it can be read, ``sum %5, axis=0``: operands that are no handles are numbers,
        or the dtype and shape of an array.
    parents : tuple of int
        The nodes it was computed from.
    shape : tuple of int
    dtype : numpy.dtype
    nbytes : int
        The bytes of the arrays that its partials hold; an array that several nodes hold is
        counted for each.
    name : str
        Where a leaf stands in the structure that was bound, ``layers/0/w``; else empty.
    source : tuple of str, int and str, or None
        The file, line and function that it was made in, with ``trace_source=True``.
    """

    index: int
    function: Any
    call: str
    parents: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int
    name: str = ""
    source: tuple[str, int, str] | None = None

    def __str__(self) -> str:
        made = f"  # {line_name(self.source)}" if self.source else ""
        return f"%{self.index}: {self.dtype}{shape_as_text(self.shape)} = {self.call}{made}"


@frozen
class Line(Node):
    """A node, and what else is shown of it.

    Attributes
    ----------
    held : bool
        Whether its handle is alive.
    values, gradient : Range or None
        None where they are not known.
    text : str
        The line that it was made in; empty where it cannot be read.
    arrays : tuple of (int, int)
        What its partials hold: for each array a number that tells it from others, and its bytes.
    """

    held: bool = False
    values: Range | None = None
    gradient: Range | None = None
    text: str = ""
    arrays: tuple[tuple[int, int], ...] = ()

    @property
    def title(self) -> str:
        """The name of the function; ``leaf`` for a leaf."""
        return function_name(self.function)

    @property
    def space(self) -> str:
        """The dtype and shape, as a record prints them."""
        return f"{self.dtype}{shape_as_text(self.shape)}"

    @property
    def beside_data(self) -> bool:
        """Whether a plain array stood beside the nodes that it was computed from."""
        return re.search(r"\w\[[\d,]*\]", self.call) is not None

    @property
    def is_leaf(self) -> bool:
        """Whether nothing was called to make it."""
        return not self.parents


def bytes_held(lines: Iterable[Line]) -> int:
    """Add up what some nodes hold, an array that several of them hold once."""
    return sum(dict(array for line in lines for array in line.arrays).values())


@frozen
class Look:
    """A look at a record.

    Attributes
    ----------
    lines : tuple of Line
        The nodes in the order of their making; line number i is of node i.
    nbytes : int
        The bytes that all partials hold, each array counted once.
    nested : bool
        Whether the record is within another.
    root : int or None
        The node that the gradients are of, if any were given.
    """

    lines: tuple[Line, ...]
    nbytes: int
    nested: bool = False
    root: int | None = None

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What is to be said of all of it: a number each, and what it counts."""
        leaves = sum(line.title == "leaf" for line in self.lines)
        held = sum(line.held for line in self.lines)
        shown = [
            (f"{len(self.lines):,}", "node" if len(self.lines) == 1 else "nodes"),
            (f"{leaves:,}", "leaf" if leaves == 1 else "leaves"),
            (bytes_as_text(self.nbytes), "held by partials"),
            (f"{held:,}", "handle alive" if held == 1 else "handles alive"),
        ]
        if self.root is not None:
            known = sum(line.gradient is not None for line in self.lines)
            shown.append((f"{known:,}", f"gradients of %{self.root}"))
        return shown

    @property
    def layers(self) -> list[tuple[str, ...]]:
        """The layer of each node."""
        names = {line.index: line.name for line in self.lines if line.name}
        beside = {line.index for line in self.lines if line.beside_data}
        return layers_of([line.parents for line in self.lines], names, beside)

    @property
    def functions(self) -> list[tuple[str, int, int]]:
        """What was called: each name, how often, and the bytes that its partials hold."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.title, []).append(line)
        counted = [(name, len(lines), bytes_held(lines)) for name, lines in found.items()]
        return sorted(counted, key=lambda each: (each[2], each[1]), reverse=True)

    @property
    def title(self) -> str:
        """One line about all of it."""
        within = ", within another" if self.nested else ""
        return f"A record of {count(len(self.lines), 'node')}{within}"


Path = tuple[str, ...]


@frozen
class Place:
    """Where a node belongs: a layer, and how sure that is, by the number of the rule above."""

    layer: Path
    rule: int


def layers_of(
    parents: Sequence[Sequence[int]],
    names: Mapping[int, str],
    beside_data: Container[int] = (),
) -> list[Path]:
    """Tell the layer of each node.

    Parameters
    ----------
    parents : sequence of sequences of int
        The nodes that each node was computed from, all of them earlier ones.
    names : mapping of int to str
        The names of those leaves that have one.
    beside_data : container of int
        The nodes that were computed with a plain array as well.

    Returns
    -------
    list of tuples of str
        The layer's path; empty for what belongs to none.

    Examples
    --------
    >>> layers_of([(), (), (0, 1), (2,)], {0: "encoder.0.weight"})
    [('encoder', '0'), (), ('encoder', '0'), ('encoder', '0')]
    """
    places: list[Place | None] = []
    for node, above in enumerate(parents):
        if node in names:
            places.append(Place(split(names[node])[:-1], 1))
            continue
        known = [place for parent in above if (place := places[parent]) is not None]
        surest = min((place.rule for place in known), default=4)
        said = [place.layer for place in known if place.rule == surest]
        pure = len(known) == len(above) and all(place.rule < 3 for place in known)
        rule = 2 if pure and node not in beside_data else 3
        places.append(Place(common(said), rule) if said else None)
    return [() if place is None else place.layer for place in places]


def split(name: str) -> Path:
    """Take a name apart, at slashes and at dots."""
    return tuple(re.split(r"[/.]", name))


def common(paths: Sequence[Path]) -> Path:
    """Return the longest common beginning of several paths."""
    first, last = min(paths), max(paths)
    for at, (one, two) in enumerate(zip(first, last, strict=False)):
        if one != two:
            return first[:at]
    return min(first, last, key=len)


@define(eq=False)
class Group:
    """A layer with what is in it.

    Attributes
    ----------
    path : tuple of str
    members : list of int or Group
        Nodes, and layers within it, each of those where its first computation stands.
    """

    path: Path
    members: "list[int | Group]" = field(factory=list)

    @property
    def nodes(self) -> list[int]:
        """All nodes in it and in the layers within it."""
        found: list[int] = []
        for each in self.members:
            found += each.nodes if isinstance(each, Group) else [each]
        return found


def grouped(layers: Sequence[Path], leaves: Sequence[bool]) -> Group:
    """Gather nodes by their layers, in the order of what is computed.

    Parameters
    ----------
    layers : sequence of tuples of str
        The layer of each node.
    leaves : sequence of bool
        Which nodes are leaves: a layer stands where its first other node does.

    Returns
    -------
    Group
        The one around everything.

    Examples
    --------
    >>> grouped([("a",), ("b",), ("b",), ("a",)], [True, True, False, False]).members
    [Group(path=('b',), members=[1, 2]), Group(path=('a',), members=[0, 3])]
    """
    groups: dict[Path, Group] = {(): Group(())}
    first: dict[Path, int] = {}
    for node, path in enumerate(layers):
        rank = node + len(layers) * leaves[node]
        for depth in range(len(path) + 1):
            at = path[:depth]
            first[at] = min(first.get(at, rank), rank)
            if at not in groups:
                groups[at] = Group(at)
                groups[at[:-1]].members.append(groups[at])
        groups[path].members.append(node)
    for group in groups.values():
        group.members.sort(key=lambda each: first[each.path] if isinstance(each, Group) else each)
    return groups[()]

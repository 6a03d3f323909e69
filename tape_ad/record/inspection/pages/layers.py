"""Which layer a node belongs to, told by the names of the parameters that it is computed with.

A parameter belongs to the layer that its name stands in: ``encoder/0/weight`` and
``encoder.0.weight`` to ``encoder/0``. What is computed

1. with a parameter, belongs to the layer of that: the product of an input and a weight;
2. with something that was made of parameters alone, such as a transposed weight, likewise;
3. from other things that depend on parameters, to the innermost layer that all of those belong to:
   an activation stays in the layer before it, and a sum of two branches leaves both;
4. from data alone, to no layer.

Where several parameters say so, it is the innermost layer that all of them stand in.
"""

import re
from collections.abc import Container, Mapping, Sequence

from attrs import define, field, frozen

__all__ = ["Group", "grouped", "layers_of"]

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
    """Give what several paths begin with."""
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

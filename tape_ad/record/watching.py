"""Finding out that somebody wrote to an array that a sweep still relies on."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.errors import MutatedInputError
from tape_ad.base.naming import function_name, line_name
from tape_ad.record.arena import Arena
from tape_ad.record.call_metadata import name_of

Plain = np.ndarray[Any, Any]

WHOLE = 8192
"""The bytes of an array that is compared as a whole, which is quicker than to pick elements."""


def few_of(array: Plain) -> "Plain | Few":
    """Give what is compared of a large array: a few elements, among them the first and the last.

    There are two rows of places at equal distances, the one from the beginning on and the other up
    to the end.
    """
    turned = array if array.flags.c_contiguous else array.T
    if not turned.flags.c_contiguous:
        return Few(array)
    last, item = array.size - 1, array.itemsize
    step = last // 16 * item
    return np.ndarray((2, 17), array.dtype, turned, 0, (last * item - 16 * step, step))


@define(eq=False)
class Few:
    """A few elements of an array whose elements do not lie side by side."""

    array: Plain

    def tobytes(self) -> bytes:
        """Give the elements as they are now."""
        last = self.array.size - 1
        return self.array.flat[np.arange(33) * last // 32].tobytes()


@define(eq=False)
class Hashed:
    """All elements of an array, and what they stand for, as one number."""

    array: Plain

    def tobytes(self) -> bytes:
        """Give the number for the elements as they are now."""
        known = hash((self.array.tobytes(), self.array.shape, self.array.dtype))
        return known.to_bytes(8, "little", signed=True)


def elements_of(array: Plain) -> Any:
    """Give what is compared of an array: a few elements, or all of a small one."""
    return array if array.nbytes <= WHOLE else few_of(array)


def few_bytes(array: Plain) -> bytes:
    """Give a few elements of an array, or all of a small one, to be compared later."""
    found: bytes = elements_of(array).tobytes()
    return found


def require_unchanged(arena: Arena, ends: Iterable[int]) -> None:
    """Compare the elements that were noted of arrays with what is there now, before a sweep.

    Parameters
    ----------
    arena : Arena
    ends : iterable of int
        The nodes that are swept from, or to: what none of them depends on may have changed.

    Raises
    ------
    MutatedInputError
        It names the first leaf that has changed, or the first node that was computed with an array
        that has.
    """
    functions, shapes, dtypes = arena.functions, arena.shapes, arena.dtypes
    changed = [
        (nodes, elements, array)
        for nodes, elements, noted, array in arena.noted
        if elements.tobytes() != noted
        or (
            functions[node := nodes[0]] is None
            and (array.shape, array.dtype) != (shapes[node], dtypes[node])
        )
    ]
    needed = sources_of(arena, [*ends]) if changed else ()
    for nodes, elements, array in changed:
        met = [node for node in nodes if node in needed]
        uses = [node for node in met if functions[node] is not None]
        if met:
            leaf = "" if met[0] in uses else f", of {leaf_name(arena, met[0])},"
            used = "used it" if type(elements) is Hashed else "was computed with it"
            since = f"{node_name(arena, uses[0])} {used}" if uses else "the leaf was made"
            raise MutatedInputError(
                f"an array of shape {array.shape}{leaf} was written to after {since}, so the "
                "derivative would be of something else; take the gradient before the update in "
                "place, or give the record a copy, array.copy()"
            )


def sources_of(arena: Arena, waiting: list[int], start: int = 0) -> set[int]:
    """Find the nodes that some nodes depend on, themselves among them.

    What nodes before `start` depend on is not looked for.
    """
    found: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            if node >= start:
                waiting += arena.parents[arena.starts[node] : arena.starts[node + 1]]
    return found


def node_name(arena: Arena, node: int) -> str:
    """Name a node and the line that it was made in, for an error."""
    name = f"node %{node} ({function_name(arena.functions[node])})"
    source = arena.sources.get(node)
    return f"{name}, made at {line_name(source)}" if source else name


def leaf_name(arena: Arena, leaf: int) -> str:
    """Name a leaf, its space and the line that it was made in, for an error."""
    mark, source = arena.marks[leaf], arena.sources.get(leaf)
    name = f" {name_of(mark)}" if type(mark) is str else ""
    axes = ",".join(map(str, arena.shapes[leaf]))
    made = f", made at {line_name(source)}" if source else ""
    return f"the leaf{name} (%{leaf}: {arena.dtypes[leaf]}[{axes}]){made}"

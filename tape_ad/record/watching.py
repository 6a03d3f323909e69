"""Finding out that somebody wrote to an array that a sweep still relies on."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import define, field

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


def few_bytes(array: Plain) -> bytes:
    """Give a few elements of an array, or all of a small one, to be compared later."""
    return (array if array.nbytes <= WHOLE else few_of(array)).tobytes()


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
        node
        for nodes, few, noted, array in arena.noted
        for node in nodes
        if few.tobytes() != noted
        or (functions[node] is None and (array.shape, array.dtype) != (shapes[node], dtypes[node]))
    ]
    needed = sources_of(arena, [*ends]) if changed else ()
    for node in changed:
        if node not in needed:
            continue
        if functions[node] is None:
            raise MutatedInputError(
                f"the array of {leaf_name(arena, node)} was written to after the leaf was made, so "
                "the derivative would be of something else; take the gradient before the update in "
                "place, or make the leaf of a copy, array.copy()"
            )
        raise MutatedInputError(
            f"an array was written to after {node_name(arena, node)} was computed with it, so "
            "the derivative would be of something else; take the gradient before the update in "
            "place, or compute with a copy, array.copy()"
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
    made = f", made at {line_name(source)}," if source else ""
    return f"the leaf{name} (%{leaf}: {arena.dtypes[leaf]}[{axes}]){made}"


@define(eq=False)
class Watch:
    """Fingerprints of arrays, taken when a leaf was made of them or an operation used them.

    The arrays are kept alive, and each is hashed once when it is first seen and once in every
    check: this is for finding a bug, not for daily use.
    """

    _seen: dict[int, tuple[Plain, int]] = field(factory=dict, init=False)
    _leaves: dict[int, str] = field(factory=dict, init=False)
    _uses: dict[int, str] = field(factory=dict, init=False)

    def see_leaf(self, data: Any, name: str) -> None:
        """Take the fingerprint of what a leaf was made of, if that is a plain array."""
        if isinstance(data, np.ndarray):
            self._leaves.setdefault(id(data), name)
            self._see(data)

    def see(self, values: Any, use: str) -> None:
        """Take the fingerprints of the plain arrays in nested tuples, which `use` has used."""
        for value in values:
            if isinstance(value, (tuple, list)):
                self.see(value, use)
            elif isinstance(value, np.ndarray):
                self._uses.setdefault(id(value), use)
                self._see(value)

    def _see(self, array: Plain) -> None:
        if id(array) not in self._seen:
            self._seen[id(array)] = (array, fingerprint(array))

    def check(self) -> None:
        """Compare every array with its fingerprint.

        Raises
        ------
        MutatedInputError
            It names the first array that has changed by its leaf and by where it was used.
        """
        for key, (array, before) in self._seen.items():
            if fingerprint(array) != before:
                leaf, use = self._leaves.get(key), self._uses.get(key)
                raise MutatedInputError(
                    f"an array of shape {array.shape}{f', of {leaf},' if leaf else ''} was written "
                    f"to after {f'{use} used it' if use else 'the leaf was made'}, so the gradient "
                    "would belong to another value; sweep before you update in place, or hand a "
                    "copy to the record"
                )


def fingerprint(array: Plain) -> int:
    """Hash the bytes of an array, and what they stand for, to 64 bits."""
    return hash((array.tobytes(), array.shape, array.dtype))

"""Where a nan or an inf came up first: what an error says of it."""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import is_later
from tape_ad.base.errors import ConversionError, NonFiniteError
from tape_ad.base.naming import function_name, line_name
from tape_ad.record.arena import Arena, held_arrays
from tape_ad.record.call_metadata import written
from tape_ad.record.inspection.pages.figures import Range
from tape_ad.rules.maps import Array

__all__ = ["Finding", "is_finite"]

LONGEST = 12
"""Of a longer way, so many nodes are written: half of them from each end."""


def is_finite(array: Any, infs: bool) -> bool:
    """Tell whether an array holds no nan, and no inf where that counts.

    Raises
    ------
    ConversionError
        When it is not computed yet.
    """
    if is_later(array):
        raise ConversionError(
            "nan and inf are looked for as values come, and a Dask array has none before it is "
            "computed; compute it first, with fewer rows of it where it is large"
        )
    with np.errstate(all="ignore"):
        return bool(np.all(np.isfinite(array)) if infs else not np.any(np.isnan(array)))


@define(eq=False)
class Finding:
    """A node at which something is not finite.

    Attributes
    ----------
    arena : Arena
    node : int
    """

    arena: Arena
    node: int

    def of_value(self, value: Array, used: Iterable[tuple[str, Any]]) -> NonFiniteError:
        """Describe a node whose value is not finite."""
        function = self.arena.functions[self.node]
        if function is None:
            name = self.arena.names.get(self.node, "")
            what = f"the leaf {name} (%{self.node})" if name else f"the leaf %{self.node}"
            return self.error([f"{what} holds {which(value)}{self.made()}: {Range.of(value)}"])
        lines = [f"{function_name(function)} gives {which(value)}, forward, at {self.where()}"]
        lines.append(f"  it gives {described(value)}")
        lines += [f"  of {name}, {described(operand)}" for name, operand in used]
        return self.error([*lines, *self.way_from_leaf()])

    def of_seed(self, seed: Array) -> NonFiniteError:
        """Say that a sweep was begun with what is not finite."""
        return self.error([f"the seed of the sweep holds {which(seed)}: {described(seed)}"])

    def of_cotangent(
        self, pulled: Array, parent: int, ct: Array, edge: int, came_from: Mapping[int, int]
    ) -> NonFiniteError:
        """Say that what a node hands back is not finite."""
        arena = self.arena
        function = function_name(arena.functions[self.node])
        lines = [
            f"the derivative of {function} gives {which(pulled)}, backward, at {self.where()}",
            f"  the cotangent of %{parent} from there is {described(pulled)}",
            f"  the one that came to %{self.node} is {described(ct)}",
        ]
        held = list(held_arrays(arena.partials[edge]))
        if isinstance(arena.partials[edge], (float, int, complex, np.generic)):
            held = [np.asarray(arena.partials[edge])]
        lines += [f"  the partial holds {described(array)}" for array in held]
        way = [self.node]
        while way[-1] in came_from:
            way.append(came_from[way[-1]])
        back = ["  the cotangent's way:", *self.listed(way[::-1])] if len(way) > 1 else []
        return self.error([*lines, *back, *self.way_from_leaf()])

    def of_tangent(self, t: Array) -> NonFiniteError:
        """Describe a node whose tangent is not finite."""
        function = function_name(self.arena.functions[self.node])
        first = f"the tangent of {function} is {which(t)}, in a forward sweep, at {self.where()}"
        return self.error([first, f"  it is {described(t)}", *self.way_from_leaf()])

    def where(self) -> str:
        """Name the node and the user's line."""
        return f"node %{self.node}{self.made()}"

    def made(self) -> str:
        """Name the line of the user's code that made a node."""
        source = self.arena.sources.get(self.node)
        return f", made at {line_name(source)}" if source else ""

    def way_from_leaf(self) -> list[str]:
        """List the nodes from a leaf to this one: the nearest leaf that has a name, if any has."""
        arena = self.arena
        names = arena.names
        toward: dict[int, int] = {self.node: self.node}
        waiting, best = deque([self.node]), None
        while waiting:
            node = waiting.popleft()
            if arena.functions[node] is None and (best is None or node in names):
                best = node
                if node in names:
                    break
            first, last = arena.starts[node : node + 2]
            for parent in arena.parents[first:last]:
                if parent not in toward:
                    toward[parent] = node
                    waiting.append(parent)
        if best is None or best == self.node:
            return []
        way = [best]
        while way[-1] != self.node:
            way.append(toward[way[-1]])
        return ["  the way there:", *self.listed(way)]

    def listed(self, way: list[int]) -> list[str]:
        """Write nodes, a line each."""
        half = LONGEST // 2
        left_out = len(way) - LONGEST
        lines = [self.line(node) for node in (way if left_out <= 0 else way[:half] + way[-half:])]
        if left_out > 0:
            lines.insert(half, f"    ... {left_out} more nodes ...")
        return lines

    def line(self, node: int) -> str:
        """Write a node as a record prints it, without its shape."""
        arena = self.arena
        first, last = arena.starts[node : node + 2]
        mark = arena.marks[node]
        call = None if type(mark) is object else mark
        source = arena.sources.get(node)
        text = written(arena.functions[node], arena.parents[first:last], call)
        return f"    %{node}: {text}" + (f"  # {line_name(source)}" if source else "")

    def error(self, lines: list[str]) -> NonFiniteError:
        """Make the error that names the first node that is not finite."""
        error = NonFiniteError("\n".join(lines))
        error.node, error.source = self.node, self.arena.sources.get(self.node)
        return error


def which(array: Any) -> str:
    """Say what is in an array that should not be."""
    array = np.asarray(array)
    nan, inf = bool(np.isnan(array).any()), bool(np.isinf(array).any())
    return "nan and inf" if nan and inf else "nan" if nan else "inf"


def described(array: Any) -> str:
    """Say the dtype and shape of an array, and what its elements lie between."""
    array = np.asarray(array)
    return f"{array.dtype}[{','.join(map(str, array.shape))}]: {Range.of(array)}"

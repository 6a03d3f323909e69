"""The memory of a replay, written as Python: arrays that are made once and used by many replays."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines.numpy.arguments import Names
from tape_ad.programs.engines.out_support import is_c
from tape_ad.programs.engines.plans import ALIGNED
from tape_ad.programs.program.program import Value

__all__ = ["Workspace"]


class Workspace:
    """Arrays in one piece of memory, and views of them.

    A replay takes a workspace that is idle, or makes one; so replays in several threads, or within
    one another, have each their own. One that ends in an error leaves its to the collector.

    Parameters
    ----------
    names : Names
    size : int
        The bytes of all.
    readable : bool
        Whether people are to read it. If not, the arrays are made of a table, which Python has
        sooner than as many lines.
    """

    def __init__(self, names: Names, size: int, readable: bool) -> None:
        self.names, self.size, self.readable = names, size, readable
        self._made: dict[str, str] = {}
        self._table: list[tuple[Any, ...]] = []
        self._arrays: dict[Any, str] = {}
        self._known: set[str] = set()

    def array(self, value: Value, offset: int) -> str:
        """Name an array at a place."""
        dtype = np.dtype(value.dtype)
        key = offset, value.shape, value.strides, dtype.num, dtype.byteorder
        name = self._arrays.get(key)
        if name is None and self.readable:
            where = f"memory, {offset}" + ("" if is_c(value) else f", {value.strides}")
            words = f"{value.shape}, {self.names.dtype(dtype)}, {where}"
            name = self._arrays[key] = self.view(f"{self.names.function(np.ndarray)}({words})")
        elif name is None:
            self._table.append((value.shape, dtype, offset, value.strides))
            name = self._arrays[key] = self.names.new(f"a{len(self._table)}")
            self._known.add(name)
        return name

    def view(self, expression: str) -> str:
        """Name an array that is made of others here."""
        name = self._made.get(expression)
        if name is None:
            name = self._made[expression] = self.names.new(f"b{len(self._made) + 1}")
            self._known.add(name)
        return name

    def has(self, name: str) -> bool:
        """Tell whether an array of that name is here."""
        return name in self._known

    @property
    def all(self) -> list[str]:
        """The names of the arrays."""
        arrays = self._arrays.values() if self._table else ()
        return [*arrays, *self._made.values()]

    def lines(self) -> Iterator[str]:
        """Write what makes a workspace."""
        if not self._known:
            return
        empty = self.names.function(np.empty)
        yield "def workspace():"
        yield f"    memory = {empty}({self.size + ALIGNED}, 'u1')"
        yield f"    memory = memory[-memory.__array_interface__['data'][0] % {ALIGNED} :]"
        if self._table:
            arrays = self.names.object(functools.partial(arrays_in, self._table), "arrays")
            yield f"    [{', '.join(self._arrays.values())}] = {arrays}(memory)"
        yield from (f"    {name} = {expression}" for expression, name in self._made.items())
        yield f"    return [{', '.join(self.all)}]"
        yield ""
        yield "idle = []"
        yield ""

    def taken(self) -> Iterator[str]:
        """Write what a replay begins with."""
        if not self._known:
            return
        yield "try:"
        yield "    work = idle.pop()"
        yield "except IndexError:"
        yield "    work = workspace()"
        yield f"[{', '.join(self.all)}] = work"

    def returned(self) -> Iterator[str]:
        """Write what a replay ends with."""
        if self._known:
            yield "idle.append(work)"


def arrays_in(table: Sequence[tuple[Any, ...]], memory: Any) -> list[Any]:
    """Make arrays in a piece of memory, each of a shape, a dtype, an offset and strides."""
    return [
        np.ndarray(shape, dtype, memory, offset, strides) for shape, dtype, offset, strides in table
    ]

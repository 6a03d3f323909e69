"""The memory of a replay, written as Python: arrays that are made once and used by many replays."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tape_ad.programs.filling import is_c
from tape_ad.programs.program import Value
from tape_ad.programs.storage import ALIGNED
from tape_ad.programs.text.names import Names

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
    """

    def __init__(self, names: Names, size: int) -> None:
        self.names, self.size = names, size
        self._made: dict[str, str] = {}
        self._arrays: dict[Any, str] = {}
        self._known: set[str] = set()

    def array(self, value: Value, offset: int) -> str:
        """Name an array at a place."""
        dtype = np.dtype(value.dtype)
        key = offset, value.shape, value.strides, dtype.num, dtype.byteorder
        name = self._arrays.get(key)
        if name is None:
            where = f"memory, {offset}" + ("" if is_c(value) else f", {value.strides}")
            words = f"{value.shape}, {self.names.dtype(dtype)}, {where}"
            name = self._arrays[key] = self.view(f"{self.names.function(np.ndarray)}({words})")
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

    def lines(self) -> Iterator[str]:
        """Write what makes a workspace."""
        if not self._made:
            return
        empty = self.names.function(np.empty)
        yield "def workspace():"
        yield f"    memory = {empty}({self.size + ALIGNED}, 'u1')"
        yield f"    memory = memory[-memory.__array_interface__['data'][0] % {ALIGNED} :]"
        yield from (f"    {name} = {expression}" for expression, name in self._made.items())
        yield f"    return [{', '.join(self._made.values())}]"
        yield ""
        yield "idle = []"
        yield ""

    def taken(self) -> Iterator[str]:
        """Write what a replay begins with."""
        if not self._made:
            return
        yield "try:"
        yield "    work = idle.pop()"
        yield "except IndexError:"
        yield "    work = workspace()"
        yield f"[{', '.join(self._made.values())}] = work"

    def returned(self) -> Iterator[str]:
        """Write what a replay ends with."""
        if self._made:
            yield "idle.append(work)"

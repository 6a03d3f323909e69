"""A look at a node of a record."""

import gc
from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.naming import line_name
from tape_ad.record.arena import Arena, held_arrays
from tape_ad.record.array_interface import ArrayInterface
from tape_ad.record.call_metadata import key_of, name_of, written


@frozen
class Node:
    """A look at one node of a record.

    Attributes
    ----------
    index : int
    function : callable or None
        The NumPy function that made it; None for a leaf.
    parents : tuple of int
        The nodes it was computed from.
    shape : tuple of int
    dtype : numpy.dtype
    nbytes : int
        The bytes of the arrays that its partials hold; an array that several nodes hold is
        counted for each.
    call : str
        The call as it can be read, ``sum %5, axis=0``: operands that are no handles are numbers,
        or the dtype and shape of an array.
    name : str
        Where a leaf stands in the structure that was bound, ``layers/0/w``; else empty.
    source : tuple of str, int and str, or None
        The file, line and function that it was made in, with ``trace_source=True``.
    """

    index: int
    function: Any
    parents: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int
    call: str = ""
    name: str = ""
    source: tuple[str, int, str] | None = None

    def __str__(self) -> str:
        shape = ",".join(map(str, self.shape))
        made = f"  # {line_name(self.source)}" if self.source else ""
        return f"%{self.index}: {self.dtype}[{shape}] = {self.call}{made}"


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


def held_bytes(arrays: Iterable[np.ndarray[Any, Any]]) -> int:
    """Add up the bytes of distinct arrays."""
    return sum({id(array): array.nbytes for array in arrays}.values())


def handles_alive() -> list[Any]:
    """List the handles of all records that anybody holds, in the order of their nodes.

    A record has no references to its handles, so all objects are gone through that Python's
    garbage collector knows. That takes a second where there are ten millions, and nothing at all
    while computing. The snapshots that inner records keep are no handles of a user's.
    """
    found = [
        each for each in gc.get_objects() if issubclass(type(each), ArrayInterface) and is_own(each)
    ]
    return sorted(found, key=lambda handle: handle.index)


def is_own(handle: Any) -> bool:
    """Tell a handle from a snapshot of one, from one whose node was taken back, and a constant."""
    record = getattr(handle, "record", None)  # arrays of a batch have none
    if record is None or not 0 <= handle.index < len(record.marks):
        return False
    return record.marks[handle.index] is handle.mark

"""What a function of the user's has added to a record, as a graph of its own.

A function that closes over handles adds nodes to their record. Those of one call, with the nodes
that they come from as leaves, say how its result depends on what it closes over, without anybody
knowing what that is beforehand.
"""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from tape_ad.base.arrays.overridable import array_of
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.record.arena import Arena
from tape_ad.record.handles import any_handle, plain, records_of, up_to
from tape_ad.record.primals import PLAIN_TYPES
from tape_ad.record.sweeps import reverse_sweep
from tape_ad.record.tensor import Tensor
from tape_ad.record.watching import sources_of
from tape_ad.rules.maps import Array

Function = Callable[..., Any]


class HandleMet(Exception):  # noqa: N818 - nothing is wrong
    """A function that was taken for plain has given a handle."""


def alert(function: Function) -> Function:
    """Let a function tell when it gives a handle, at hardly any cost where it gives none.

    Raises
    ------
    HandleMet
        By what is returned.
    """

    def told(*args: Any) -> Any:
        value = function(*args)
        if type(value) not in PLAIN_TYPES and any_handle(value):
            raise HandleMet
        return value

    return told


def excerpt(record: Arena, start: int, root: int) -> tuple[Arena, list[int]]:
    """Copy the nodes that a node was computed by, from one index on.

    Returns
    -------
    tuple of Arena and list of int
        The copy, in which the first nodes are leaves and the root is the last one, and which nodes
        before `start` the leaves stand for.
    """
    order = sorted(sources_of(record, [root], start))
    places = {node: i for i, node in enumerate(order)}
    copy = Arena()
    copy.functions = [record.functions[node] for node in order]
    copy.shapes = [record.shapes[node] for node in order]
    copy.dtypes = [record.dtypes[node] for node in order]
    copy.marks = [record.marks[node] for node in order]
    for node in order:
        if node >= start:
            first, last = record.starts[node : node + 2]
            copy.parents += [places[parent] for parent in record.parents[first:last]]
            copy.partials += record.partials[first:last]
        copy.starts.append(len(copy.parents))
    return copy, [node for node in order if node < start]


def pulled_back(record: Arena, start: int, root: int, seed: Array) -> dict[int, Array]:
    """Pull a cotangent of a node back to the nodes before an index, and no further."""
    copy, leaves = excerpt(record, start, root)
    held = copy.marks[: len(leaves)]  # a sweep keeps what somebody holds
    kept = reverse_sweep(copy, len(copy.shapes) - 1, seed)
    return {
        node: kept[i] for i, (node, _) in enumerate(zip(leaves, held, strict=True)) if i in kept
    }


@define(eq=False)
class Watched:
    """A function of a plain number, and what its results have been found to depend on.

    Attributes
    ----------
    function : callable
        ``function(x)`` gives numbers, of plain arrays or of handles of any records.
    name : str
        Who calls it, for errors.
    form : callable
        What brings its results into the form of an array.
    records : list of ComputationRecord
        Those that there were handles of.
    sources : dict of int to set of int
        By the id of each of them, the nodes that results were computed from.
    """

    function: Function
    name: str
    form: Function = array_of
    records: list[Any] = field(factory=list, init=False)
    sources: dict[int, set[int]] = field(factory=dict, init=False)

    def evaluated(self, x: Any) -> tuple[Any, dict[int, int]]:
        """Call the function, and tell how long each record was before."""
        starts = {id(record): len(record) for record in self.records}
        return self._known(x, self.function(x), starts)

    def _known(self, x: Any, value: Any, starts: dict[int, int]) -> tuple[Any, dict[int, int]]:
        """Bring the function's result into form, and find where its records begin."""
        value = self.form(value)
        unknown = [record for record in records_of(value) if id(record) not in starts]
        if not unknown:
            return value, starts
        for record in unknown:  # call it again, to know where it begins
            self.records.append(record)
            self.sources[id(record)] = set()
        return self.evaluated(x)

    def __call__(self, x: Any, *ignored: Any) -> Any:
        """Give the plain value, and note what it depends on."""
        starts = {id(record): len(record) for record in self.records}
        value = self.function(x)
        if type(value) in PLAIN_TYPES:  # as most are that nobody differentiates
            return value
        value, starts = self._known(x, value, starts)
        for record in records_of(value):
            at, known = up_to(record, value), self.sources[id(record)]
            _, leaves = excerpt(record, starts[id(record)], at.index)
            known.update(leaves)
        return plain(value)

    def sources_in(self, record: Any) -> list[int]:
        """List the nodes of a record that results were computed from."""
        return sorted(self.sources.get(id(record), ()))

    def cotangents(self, record: Any, x: Any, nodes: list[int], seed: Array) -> list[Any]:
        """Pull from the function's value at a point back to nodes of a record; None for zero.

        Raises
        ------
        UnsupportedArgumentError
            When the value comes from other nodes too, such as those of an earlier call.
        """
        value, starts = self.evaluated(x)
        at = up_to(record, value)
        if type(at) is not Tensor or at.record is not record:
            return [None] * len(nodes)
        found = pulled_back(record, starts[id(record)], at.index, seed)
        if not found.keys() <= set(nodes):
            raise UnsupportedArgumentError(
                f"{self.name}: the function depends on a handle at some points only, or keeps "
                "handles from one call to the next, as one with a cache does; compute them anew "
                "in each call, or all of them before the first one"
            )
        return [found.get(node) for node in nodes]

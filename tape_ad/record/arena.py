"""The arena: a graph as parallel lists, a node an integer."""

from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from sys import getrefcount
from threading import get_ident
from time import monotonic, sleep
from typing import Any, ClassVar

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import enter
from tape_ad.base.errors import RecordMismatchError, ReleasedError
from tape_ad.base.naming import function_name
from tape_ad.record.call_metadata import name_of
from tape_ad.rules.maps import Array, LinearMap, Partial, as_map

CONSTANT = "constant"
"""What stands in place of a function for a node that nothing is differentiated with respect to."""


Noted = tuple[list[int], Any, bytes, Array]
"""The nodes that an array was noted for, where a few elements of it are read, what they were, and
the array itself. A leaf is alone."""


@define(eq=False, repr=False, weakref_slot=True)
class Arena:
    """Nodes by index, in the order of their making, which is a topological order.

    Attributes
    ----------
    functions : list
        The function that made each node; None for a leaf.
    parents : list of int
        For each edge, the node that it comes from: what was computed with. All edges stand in one
        list, those of a node beside each other; a node may have two from one parent.
    partials : list of LinearMap, array or None
        For each edge, the local partial with respect to that parent; an array stands for the
        elementwise product with it, and None for one that is released.
    starts : list of int
        For each node, where its edges begin, and at the end the number of all edges. Flat lists,
        because Python's garbage collector looks again and again into tuples of a growing graph.
    shapes, dtypes : list
        The space that a node's tangent and cotangent live in.
    marks : list of object
        For each node, an object that its handle has as well: while that lives, there is a reference
        more to it than `unheld_count` says. Weak references would say the same, but Python's
        garbage collector looks into them again and again, and not into these. Where something
        stood beside the handles of a call (numbers, options), the mark says what, as an object is
        made for it anyway, and that of a bound leaf says where it stands; see
        `tape_ad.record.call_metadata`.
    sources : dict of int to tuple of str, int and str
        The file, line and function of the user's that a node was made in, if they were asked for.
    noted : list of Noted
        What leaves were made of, and what else nodes were computed with and their partials hold,
        once for all nodes that have met the same; see `tape_ad.record.watching`.
    latest : dict of int to Noted
        The last of the latter for each array, by its identity.
    within : Arena or None
        The arena that this one is nested in.
    observer : Observer or None
        What sees each node and each sweep, if anybody asked for it:
        `tape_ad.record.inspection.observing`.
    level : int
        When it was made, beside other interpreters; see `tape_ad.base.arrays.interpreter`.
    by_transform : bool
        Whether a transform made it, for the function that it runs.
    ended : bool
        Whether that function has returned, so that its handles should not be met any more.
    appending : object
        What a thread is appending now, or None; see `tape_ad.record.arena`.
    assigning : tuple of int or None
        The thread that points handles of one memory at other nodes now, or adds one to them, in a
        tuple of its own for each time.
    ambient : Capture or None
        The capture that the arena was made in, to which plain arrays belong that its handles meet.
    namespaced : bool
        Whether a handle was asked for its array namespace, so that what has no derivative is a
        handle too.
    gradients : int
        How many gradients handles of it were asked for.
    halfway : int
        How many nodes it had at some of them; see `tape_ad.record.tensor.warn_of_growth`.
    """

    functions: list[Any] = field(factory=list, init=False)
    parents: list[int] = field(factory=list, init=False)
    partials: list[Partial | None] = field(factory=list, init=False)
    starts: list[int] = field(factory=[0].copy, init=False)
    shapes: list[tuple[int, ...]] = field(factory=list, init=False)
    dtypes: list[np.dtype[Any]] = field(factory=list, init=False)
    marks: list[object] = field(factory=list, init=False)
    sources: dict[int, tuple[str, int, str]] = field(factory=dict, init=False)
    noted: list[Noted] = field(factory=list, init=False)
    latest: dict[int, Noted] = field(factory=dict, init=False)
    within: "Arena | None" = field(default=None, kw_only=True)
    observer: Any = field(default=None, init=False)
    appending: Any = field(default=None, init=False)
    assigning: tuple[int] | None = field(default=None, init=False)
    level: int = field(factory=enter, init=False)
    by_transform: bool = field(default=False, init=False)
    ended: bool = field(default=False, init=False)
    ambient: Any = field(default=None, init=False)
    namespaced: bool = field(default=False, init=False)
    gradients: int = field(default=0, init=False)
    halfway: int = field(init=False)

    def is_held(self, node: int) -> bool:
        """Tell whether the handle of a node is alive."""
        return getrefcount(self.marks[node]) > unheld_count()

    def edges(self, node: int) -> Iterator[tuple[int, LinearMap]]:
        """Go through the parents of a node, each with the partial with respect to it."""
        for edge in range(*self.starts[node : node + 2]):
            yield self.parents[edge], self.map_at(node, edge)

    def map_at(self, node: int, edge: int) -> LinearMap:
        """Give the partial of one of a node's edges as a map."""
        partial = self.partials[edge]
        return Released(node, self.functions[node]) if partial is None else as_map(partial)

    def release(self, nodes: Iterable[int]) -> None:
        """Give up the partials of some nodes."""
        for node in nodes:
            for edge in range(*self.starts[node : node + 2]):
                self.partials[edge] = None
        self.forget_released()

    def forget_released(self) -> None:
        """Let go of the arrays beside handles that partials held which are given up."""
        functions, starts, partials = self.functions, self.starts, self.partials
        self.keep_for(
            lambda node: (
                functions[node] is None
                or starts[node] == starts[node + 1]
                or partials[starts[node]] is not None
            )
        )

    def cut_at(self, nodes: Container[int]) -> "Arena":
        """Give an arena of the same nodes for sweeps, in which some are leaves."""
        cut = Arena(within=self.within)
        for name in ("functions", "shapes", "dtypes", "marks", "sources", "observer"):
            setattr(cut, name, getattr(self, name))
        for node in range(len(self.shapes)):
            if node not in nodes:
                edges = slice(*self.starts[node : node + 2])
                cut.parents += self.parents[edges]
                cut.partials += self.partials[edges]
            cut.starts.append(len(cut.parents))
        return cut

    def keep_for(self, still: Callable[[int], bool]) -> None:
        """Keep what is noted for some nodes, and nothing else."""
        for nodes, *_ in self.noted:
            nodes[:] = filter(still, nodes)
        self.noted = [each for each in self.noted if each[0]]
        self.latest = {key: each for key, each in self.latest.items() if each[0]}

    def truncate(self, length: int) -> None:
        """Forget the nodes from `length` on, as if they had never been appended."""
        edges = self.starts[length]
        del self.parents[edges:], self.partials[edges:], self.starts[length + 1 :]
        del self.functions[length:], self.shapes[length:], self.dtypes[length:]
        del self.marks[length:]
        for node in [node for node in self.sources if node >= length]:
            self.sources.pop(node)
        self.keep_for(lambda node: node < length)

    @property
    def calls(self) -> dict[int, Any]:
        """What stood beside the handles in a node's call, by node, where anything did."""
        marked = enumerate(self.marks)
        return {node: mark for node, mark in marked if type(mark) not in (object, str)}

    @property
    def names(self) -> dict[int, str]:
        """The names of leaves, by node: where each stands in what was bound, as ``layers/0/w``."""
        marked = enumerate(self.marks)
        return {node: name_of(mark) for node, mark in marked if type(mark) is str}

    def is_within(self, other: "Arena") -> bool:
        """Tell whether handles of another arena may be constants of this one.

        That one has to be older, and still in use. Arenas of transforms nest by time, in each other
        and in all else; two that were made by hand do so where one was made within the other.
        """
        if other.level >= self.level or other.ended:
            return False
        if other.by_transform:
            return True
        at: Arena | None = self
        while at is not None and at is not other:
            if at.by_transform and other.level < at.level:
                return True
            at = at.within
        return at is not None


def innermost(one: Arena, two: Arena) -> Arena | None:
    """Find which of two arenas has the handles of both; None when they may not meet."""
    outer, inner = (one, two) if one.level < two.level else (two, one)
    return inner if inner is outer or inner.is_within(outer) else None


def held_arrays(held: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the plain arrays that a map, or anything inside it, keeps alive.

    A view is given as the array that owns its memory.
    """
    for array in arrays_in(held):
        yield array if not isinstance(array.base, np.ndarray) else array.base


def arrays_in(held: Any) -> list[np.ndarray[Any, Any]]:
    """List the plain arrays in a map, or in anything inside it, as they are there.

    What several maps share is looked into once. Of arrays of batches and of captures it is what
    they show; handles of other records have it to themselves.
    """
    found: list[np.ndarray[Any, Any]] = []
    seen: set[int] = set()
    waiting = [held]
    for value in waiting:  # which grows
        kind: Any = type(value)
        if isinstance(value, np.ndarray):
            found.append(value)
        elif kind is tuple or kind is list:
            waiting += value
        elif hasattr(kind, "__array_function__"):
            if isinstance(shown := shown_by(value), np.ndarray):
                found.append(shown)
        elif (names := fields_of(kind)) and id(value) not in seen:
            seen.add(id(value))
            waiting += [getattr(value, name) for name in names]
    return found


WITHOUT_ARRAYS = int, bool, float, str, tuple[int, ...]
"""What fields are declared as that no array is in."""


@lru_cache(1024)
def fields_of(kind: type) -> tuple[str, ...]:
    """Name the fields of a kind of map, or of what is in one, in which an array may be."""
    fields = getattr(kind, "__attrs_attrs__", ())
    return tuple(field.name for field in fields if field.type not in WITHOUT_ARRAYS)


def shown_by(value: Any) -> Any:
    """Give the plain array that an array of a batch or of a capture shows; others as they are."""
    while hasattr(value, "batch_here") or hasattr(value, "capture"):
        value = value.stack if hasattr(value, "batch_here") else value.data
    return value


def held_bytes(arrays: Iterable[np.ndarray[Any, Any]]) -> int:
    """Add up the bytes of distinct arrays."""
    return sum({id(array): array.nbytes for array in arrays}.values())


def unheld_count() -> int:
    """Count the references to a mark in a list, as an arena has them, that no handle has.

    The mark is a fresh one, as another thread could be looking at one that is shared.
    """
    marks = [object()]
    return getrefcount(marks[0])


def require_counts() -> None:
    """Refuse an interpreter that does not count references, by which a sweep knows who is alive.

    Raises
    ------
    ImportError
    """
    marks = [object()]
    held = marks[0]
    if getrefcount(marks[0]) != unheld_count() + 1 or held is not marks[0]:
        raise ImportError("tape_ad needs a Python that counts references, as CPython does")


require_counts()


@define(eq=False, repr=False)
class Released:
    """What a partial is once a sweep with ``release=True`` has used it.

    Attributes
    ----------
    node : int
    function : callable
        What made the node.
    """

    broadcasts: ClassVar[bool] = True
    node: int
    function: Any

    def push(self, t: Array) -> Array:
        """Refuse a push through a partial that was released."""
        return self.pull(t)

    def pull(self, ct: Array) -> Array:
        """Refuse a pull through a partial that was released.

        Raises
        ------
        ReleasedError
        """
        raise ReleasedError(
            f"the partials of node %{self.node} ({function_name(self.function)}) were freed by an "
            "earlier grad(release=True); sweep first without release=True if you need the record "
            "again"
        )


# What keeps threads apart that use one record

PATIENCE = 5.0
"""Seconds that appending one node may take; an assignment may take twelve times as long."""


def wait_until_free(arena: Arena) -> None:
    """Wait until no other thread appends to an arena any more.

    Parameters
    ----------
    arena : Arena

    Raises
    ------
    RecordMismatchError
        When it takes longer than `PATIENCE`: this thread itself is appending further out, as a
        signal handler or a destructor that runs in the middle of it finds.
    """
    end = monotonic() + PATIENCE
    while arena.appending is not None:
        if monotonic() > end:
            raise RecordMismatchError(
                "a record was used while it was appending a node, by a signal handler or a "
                "destructor that runs in between; let these use records of their own"
            )
        sleep(0)


def wait_until_assigned(arena: Arena) -> None:
    """Wait until no other thread assigns to handles of an arena any more.

    Threads that write to parts of their own of one array do so one after the other. What this
    thread itself is doing further out is not waited for.

    Parameters
    ----------
    arena : Arena

    Raises
    ------
    RecordMismatchError
        When one assignment takes a minute.
    """
    thread, owner, end = get_ident(), arena.assigning, monotonic() + 12 * PATIENCE
    while (now := arena.assigning) is not None and now[0] != thread:
        if now is not owner:
            owner, end = now, monotonic() + 12 * PATIENCE
        elif monotonic() > end:
            raise RecordMismatchError(
                "an assignment to a handle has waited for a minute for that of another thread; "
                "let each thread use a record of its own"
            )
        sleep(0)

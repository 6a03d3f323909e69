"""The arena: a graph as parallel lists, a node an integer."""

import weakref
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from attrs import define, field

from tape_ad.linear_maps import LinearMap
from tape_ad.watching import Watch

__all__ = ["CONSTANT", "RELEASED", "Arena", "called", "function_name", "held_arrays"]

CONSTANT = "constant"
"""What stands in place of a function for a node that nothing is differentiated with respect to."""

RELEASED: Any = None
"""What stands in place of a node's partials once a sweep with ``release=True`` has used them."""


@define(eq=False, repr=False, weakref_slot=True)
class Arena:
    """Nodes by index, in the order of their making, which is a topological order.

    Attributes
    ----------
    functions : list
        The function that made each node; None for a leaf.
    parents : list of tuple of int
        The nodes that each was computed from; an index may stand there twice.
    partials : list of tuple of LinearMap
        For each parent, the local partial with respect to it.
    shapes, dtypes : list
        The space that a node's cotangent lives in.
    handles : list of weakref
        For each node, a weak reference to its handle.
    bases, views : dict
        Which nodes are views of which in NumPy's memory, so that writing to one would show in
        the other: from a view to its base, and from a base to its views.
    within : Arena or None
        The arena that this one is nested in.
    watch : Watch or None
        Fingerprints of the arrays that operations have used, if anybody asked for them.
    """

    functions: list[Any] = field(factory=list, init=False)
    parents: list[tuple[int, ...]] = field(factory=list, init=False)
    partials: list[tuple[LinearMap, ...]] = field(factory=list, init=False)
    shapes: list[tuple[int, ...]] = field(factory=list, init=False)
    dtypes: list[np.dtype[Any]] = field(factory=list, init=False)
    handles: list["weakref.ref[Any]"] = field(factory=list, init=False)
    bases: dict[int, int] = field(factory=dict, init=False)
    views: dict[int, list[int]] = field(factory=dict, init=False)
    within: "Arena | None" = field(default=None, kw_only=True)
    watch: Watch | None = field(default=None, init=False)

    def add_view(self, view: int, parent: int) -> None:
        """Note that a node is a view of its parent, and so of whatever that is a view of."""
        base = self.bases.get(parent, parent)
        self.bases[view] = base
        self.views.setdefault(base, []).append(view)

    def live_view(self, base: int) -> int | None:
        """Find a view of a node that a handle is alive for."""
        alive = [view for view in self.views.get(base, ()) if self.handles[view]() is not None]
        return alive[0] if alive else None

    def is_within(self, other: "Arena") -> bool:
        """Tell whether `other` encloses this arena, directly or at several removes."""
        enclosing = self.within
        while enclosing is not None and enclosing is not other:
            enclosing = enclosing.within
        return enclosing is not None


def function_name(function: Any) -> str:
    """Name a node's function as a user would: ``matmul``, ``add.reduce``; a leaf is ``leaf``.

    Examples
    --------
    >>> function_name(np.add.reduce)
    'add.reduce'
    """
    if function is None:
        return "leaf"
    name = str(getattr(function, "__name__", function))
    owner = getattr(function, "__self__", None)
    return f"{owner.__name__}.{name}" if isinstance(owner, np.ufunc) else name


def called(function: Any) -> str:
    """Name a function for an error, with the module that a user would write before it.

    Examples
    --------
    >>> called(np.linalg.inv), called(np.add.reduce), called(len)
    ('np.linalg.inv', 'np.add.reduce', 'len')
    """
    name = function_name(function)
    if name.partition(".")[0] in vars(np):
        return f"np.{name}"
    module = str(getattr(function, "__module__", None))
    return f"np{module[5:]}.{name}" if module.startswith("numpy") else name


def held_arrays(held: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the plain arrays that a map, or anything inside it, keeps alive.

    A view is given as the array that owns its memory.
    """
    if isinstance(held, np.ndarray):
        yield held if not isinstance(held.base, np.ndarray) else held.base
    elif isinstance(held, (tuple, list)):
        for item in held:
            yield from held_arrays(item)
    elif attrs.has(type(held)) and not hasattr(type(held), "__array_function__"):
        for field in attrs.fields(type(held)):
            yield from held_arrays(getattr(held, field.name))

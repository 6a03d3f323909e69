"""Assigning to parts of a handle, though nothing is written to."""

from collections.abc import Callable
from typing import Any, Self
from weakref import ref

import numpy as np

from tape_ad.core.arena import Arena, function_name
from tape_ad.errors import InPlaceError
from tape_ad.rules.numpy.updates import updated

__all__ = ["ArrayAssignment"]


class ArrayAssignment:
    """An ndarray's ``x[key] = value``, in terms of one dispatch.

    A subclass gives the handle's `record`, `index` and `data`, and `_call`, which computes and
    records a NumPy function.
    """

    __slots__ = ()

    record: Any
    index: int
    data: Any
    _call: Callable[..., Any]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Record ``np.copy(self)`` with ``self[key] = value`` and let this handle stand for it.

        Nothing is written to: the old node stays as it is for whatever was computed from it, and
        the handle is pointed at a new node. Handles of views of it, which NumPy would change
        along with it, are pointed at the same views of the new node.

        Raises
        ------
        InPlaceError
            On a leaf, and on a view, as NumPy would have changed another array too.
        """
        record: Arena = self.record
        if record.functions[self.index] is None:
            raise InPlaceError(
                "a leaf stands for the array that it was made from, so it is not assigned to; "
                "write t = t.copy() first and assign to that"
            )
        if self.index in record.bases:
            raise InPlaceError(
                f"node %{self.index} ({function_name(record.functions[self.index])}) is a view: in "
                "NumPy, assigning would change another array as well; write t = t.copy() first "
                "and assign to that"
            )
        views = [(view, record.way_to(index)) for index, view in record.live_views(self.index)]
        self._become(self._call(updated, (self, value), {"key": key}))
        for view, way in views:
            source: Any = self
            for shape, partial in way:
                source = partial.push(source)
                if source.shape != shape:
                    source = np.broadcast_to(source, shape)
            view._become(self[...] if source is self else source)
            self.record.add_view(view.index, self.index)  # also where replaying it made a copy

    def _become(self, other: Self) -> None:
        """Stand for another node, whose own handle is given up."""
        handle: Any = self
        handle.record.handles[handle.index] = ref(other)  # which dies soon
        handle.record, handle.index, handle.data = other.record, other.index, other.data
        handle.record.handles[handle.index] = ref(handle)

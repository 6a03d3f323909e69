"""Which handles are alive: nothing else holds them than the user's own names."""

import gc
from typing import Any

from tape_ad.record.array_interface import ArrayInterface

__all__ = ["handles_alive"]


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
    marks = getattr(getattr(handle, "record", None), "marks", ())
    return 0 <= handle.index < len(marks) and marks[handle.index] is handle.mark

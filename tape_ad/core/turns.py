"""Taking turns on a record that several threads append to.

Python passes from one thread to another between any two calls, and a node is appended to several
lists, one call each. So who appends says so on the record first. Nothing but a look and a store
stands between seeing that a record is free and taking it, and CPython changes threads at neither.
"""

import sys
from collections.abc import Set
from threading import get_ident
from time import monotonic, sleep
from types import CodeType, FrameType

from tape_ad.core.arena import Arena
from tape_ad.errors import RecordMismatchError

__all__ = ["wait_for_turn"]

LEFT_BEHIND = 0.001
"""Seconds of the same turn without anybody in it, until it counts as one that was interrupted."""


def wait_for_turn(arena: Arena, appending: Set[CodeType]) -> None:
    """Wait until no other thread appends to an arena any more.

    Parameters
    ----------
    arena : Arena
    appending : set of code
        Of the functions that append or take back, which call this one.

    Raises
    ------
    RecordMismatchError
        When this thread itself is appending further out, as a signal handler or a destructor that
        runs in the middle of it could find.
    """
    turn, since = arena.turn, monotonic()
    while arena.turn is not None:
        holders = holders_of(arena, appending)
        if get_ident() in holders:
            raise RecordMismatchError(
                "a record was used while it was appending a node, by a signal handler or a "
                "destructor that runs in between; let these use records of their own"
            )
        if arena.turn is not turn:
            turn, since = arena.turn, monotonic()
        elif not holders and monotonic() - since > LEFT_BEHIND and arena.turn is turn:
            arena.turn = None
        sleep(0)


def holders_of(arena: Arena, appending: Set[CodeType]) -> set[int]:
    """List the threads that are appending to an arena, without those that wait for it."""
    found = set()
    for thread, top in sys._current_frames().items():
        inner: FrameType | None = None
        frame: FrameType | None = top
        while frame is not None:
            waits = inner is not None and inner.f_code is wait_for_turn.__code__
            if frame.f_code in appending and not waits and frame.f_locals["self"] is arena:
                found.add(thread)
            inner, frame = frame, frame.f_back
    return found

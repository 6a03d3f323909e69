"""Taking turns on a record that several threads append to.

Python passes from one thread to another between any two calls, and a node is appended to several
lists, one call each. So who appends says so on the record first. Nothing but a look and a store
stands between seeing that a record is free and taking it, and CPython changes threads at neither.
"""

import inspect
import sys
from _thread import _count
from collections.abc import Set
from threading import get_ident
from time import monotonic, sleep
from types import CodeType, FrameType
from typing import Any

from tape_ad.base.errors import RecordMismatchError
from tape_ad.record.arena import Arena

__all__ = ["Turn", "wait_for_turn"]

LEFT_BEHIND = 0.001
"""Seconds of the same turn without anybody in it, until it counts as one that was interrupted."""

PAUSING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""The flags of code that goes on later: while it pauses, its frame knows no caller."""


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
        frame: Any = top
        while type(frame) is FrameType:
            waits = inner is not None and inner.f_code is wait_for_turn.__code__
            if frame.f_code in appending and not waits and frame.f_locals["self"] is arena:
                found.add(thread)
            inner, frame = frame, frame.f_back
        if frame is not None or was_left(inner):
            found.add(thread)
    return found


def was_left(bottom: FrameType | None) -> bool:
    """Tell whether a way through the frames of another thread ended where that has gone on.

    Threads go on while their frames are looked at. A generator that has given its next value by
    then does not say any more who had asked for it, so there may be anybody further out. Nor need
    what Python 3.11 gives for the frame around one that has just ended be a frame.
    """
    return bottom is not None and bool(bottom.f_code.co_flags & PAUSING)


class Turn:
    """A lock for a few functions of ours, which is nobody's again when one of them was interrupted.

    An interrupt may come between any two instructions, so a lock might be left locked. Who waits
    for this one looks whether its owner is in one of the functions still.

    Attributes
    ----------
    owner : tuple of int or None
        The thread that has it; another tuple each time.
    holding : set of code
        Of the functions. They say ``mine = turn.take()``, and ``if mine: turn.owner = None`` in the
        end; what they call may take it as well, and is told that it is not theirs.
    """

    __slots__ = ("holding", "owner")

    def __init__(self) -> None:
        self.owner: tuple[int] | None = None
        self.holding: set[CodeType] = set()

    def take(self) -> bool:
        """Wait for it; tell whether it was not this thread's before.

        Where there is no thread besides the main one, nothing is taken.
        """
        if _count() == 0:
            return False
        left, mine = self.owner, (get_ident(),)
        if left == mine:
            if self.is_holding(sys._getframe(1).f_back):
                return False
            if self.owner is left:  # it was interrupted, and nobody has taken it since
                self.owner = mine
                return True
        while self.owner is not None:
            self.wait()
        self.owner = mine
        return True

    def wait(self) -> None:
        """Wait until another one has it, or nobody."""
        owner, since = self.owner, monotonic()
        while owner is not None and self.owner is owner:
            sleep(0)
            if monotonic() - since > LEFT_BEHIND and not self.is_used_by(owner[0]):
                if self.owner is owner:
                    self.owner = None
                since = monotonic()

    def is_used_by(self, thread: int) -> bool:
        """Tell whether a thread is in one of the functions."""
        return self.is_holding(sys._current_frames().get(thread))

    def is_holding(self, frame: FrameType | None) -> bool:
        """Tell whether a frame is of one of the functions, or was or may be called from there."""
        inner: FrameType | None = None
        outer: Any = frame
        while type(outer) is FrameType and outer.f_code not in self.holding:
            inner, outer = outer, outer.f_back
        return outer is not None or was_left(inner)

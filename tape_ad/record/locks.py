"""What keeps threads apart that use one record.

Python passes from one thread to another between any two calls, and a node is appended to several
lists, one call each. So who appends says so on the record first. Nothing but a look and a store
stands between seeing that a record is free and taking it, and CPython changes threads at neither.
"""

from threading import RLock
from time import monotonic, sleep

from tape_ad.base.errors import RecordMismatchError
from tape_ad.record.arena import Arena

__all__ = ["ASSIGNING", "PATIENCE", "wait_until_free"]

PATIENCE = 5.0
"""Seconds after which what another thread was doing counts as interrupted."""

ASSIGNING = RLock()
"""Held while handles of one memory are pointed at other nodes, and while one is added to them:
threads that write to parts of their own of one array do so one after the other here. Where there is
no thread besides the main one, nobody takes it. A thread that was interrupted right after taking it
may have kept it, so nobody waits for it longer than `PATIENCE`."""


def wait_until_free(arena: Arena) -> None:
    """Wait until no other thread appends to an arena any more.

    Parameters
    ----------
    arena : Arena

    Raises
    ------
    RecordMismatchError
        When it takes longer than `PATIENCE`: this thread itself is appending further out, as a
        signal handler or a destructor that runs in the middle of it finds, or was interrupted.
    """
    end = monotonic() + PATIENCE
    while arena.appending is not None:
        if monotonic() > end:
            raise RecordMismatchError(
                "a record was used while it was appending a node, by a signal handler or a "
                "destructor that runs in between; let these use records of their own"
            )
        sleep(0)

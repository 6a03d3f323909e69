"""What keeps threads apart that use one record.

Python passes from one thread to another between any two calls, and a node is appended to several
lists, one call each; handles of one memory are pointed at other nodes one after the other. So who
does that says so on the record first. Nothing but a look and a store stands between seeing that a
record is free and taking it, and CPython changes threads at neither; nor does it look for signals
there, so an interrupt leaves nothing taken.
"""

from threading import get_ident
from time import monotonic, sleep

from tape_ad.base.errors import RecordMismatchError
from tape_ad.record.arena import Arena

__all__ = ["PATIENCE", "wait_until_assigned", "wait_until_free"]

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

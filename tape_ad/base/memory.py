"""Memory that is given back and asked for again, and Python's collector of garbage."""

import ctypes
import gc
import os
from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

LOCK = RLock()  # which a destructor may come to while its own thread has it
UNDECIDED = [True]
"""Empty from the first record on, or from the first call of `keep_freed_memory`."""

PAUSES: list[object] = []
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""The numbers that glibc's malloc.h has for them."""

THRESHOLD_OF_DASK = "65536"
"""Of its setting distributed.nanny.pre-spawn-environ. Dask starts workers with it, by which all
that is freed goes back to the system at once. It also fixes the other threshold at 128 kB, and
neither rises any more. Whoever has set others in the environment keeps them."""

RAN = [True]
"""Whether the collector ran before the first of the pauses."""

MANY, MOST = 50_000, 4_000_000
"""From how many on new objects are put with the old ones, and how many until all are collected."""
UNSEEN = [0]
"""How many have been put there since then."""


def keep_freed_memory(keep: bool = True) -> None:
    """Let the process keep the memory of freed arrays for the next ones, or give it back.

    The GNU C library takes a block above its threshold from the operating system, and gives the
    free end of the heap back above another; the system then has to clear every page anew, which
    takes longer than most arithmetic on it: about a tenth of the time of a step on arrays of 4 MB.
    Both thresholds rise with the largest block, of up to 32 MB, that a program has ever freed: so
    one is freed here, which is never touched. From then on up to about 60 MB that are free stay
    with the process. Other C libraries take no notice.

    Importing tape_ad changes nothing. The first `ComputationRecord` of a process calls this, unless
    it was called before or ``TAPE_AD_KEEP_FREED_MEMORY=0`` stands in the environment.

    Parameters
    ----------
    keep : bool
        With False, nothing is kept: before the first record, the process stays as it is; after it,
        the thresholds are set to where they began, and what is free is given back.

    Notes
    -----
    The thresholds are described in mallopt(3), under M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
    """
    changed = not UNDECIDED
    UNDECIDED.clear()
    if keep:
        np.empty(31 * 2**20, np.uint8)
        if os.environ.get("MALLOC_TRIM_THRESHOLD_") == THRESHOLD_OF_DASK:
            set_thresholds(2**25, 2**26)
    elif changed:
        set_thresholds(2**17, 2**17)


def decide_on_freed_memory() -> None:
    """Keep freed memory from the first record on, unless the environment says otherwise."""
    if os.environ.get("TAPE_AD_KEEP_FREED_MEMORY") == "0":
        UNDECIDED.clear()
    else:
        keep_freed_memory()


def set_thresholds(mapped: int, trimmed: int) -> None:
    """Fix both of malloc's thresholds, in bytes; below 1 MB, give back what is free."""
    try:
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, mapped)
        library.mallopt(M_TRIM_THRESHOLD, trimmed)
        if trimmed < 2**20:
            library.malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library
        return


def pause_collection(asking: object) -> None:
    """Keep the garbage collector away while thousands of objects are made, none of them garbage.

    It would look at all of them again and again. It runs again, if it did before, when everyone who
    asked has called `resume_collection`; there is one collector for all threads.
    """
    with LOCK:
        if not PAUSES:
            RAN[0] = gc.isenabled()
        PAUSES.append(asking)
        gc.disable()


def resume_collection(asking: object) -> None:
    """Take back what was asked for by `pause_collection`; once more does no harm."""
    with LOCK:
        others = [other for other in PAUSES if other is not asking]
        if RAN[0] and PAUSES and not others:
            put_with_old()
            gc.enable()
        PAUSES[:] = others


def put_with_old() -> None:
    """Put what was made in a long pause with what is old, which the collector looks at last.

    It would go through all of a new program at once, and find that none of it is garbage: a sixth
    of the time that it takes to capture the program.
    """
    made = gc.get_count()[0]
    if made < MANY or gc.get_freeze_count():  # the user's, which stays apart
        return
    try:
        gc.freeze()  # puts all with what is for good,
    finally:
        gc.unfreeze()  # and that with what is old
    UNSEEN[0] += made
    if UNSEEN[0] > MOST:
        UNSEEN[0] = 0
        gc.collect()


def uncollected(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a function with the garbage collector paused."""
    asking = object()
    try:
        try:
            pause_collection(asking)
            return function(*args, **kwargs)
        finally:
            resume_collection(asking)
    finally:
        resume_collection(asking)  # where an interrupt came before the line above

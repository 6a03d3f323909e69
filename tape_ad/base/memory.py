"""Memory that is given back and asked for again, and Python's collector of garbage."""

import ctypes
import functools
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import numpy as np

__all__ = [
    "keep_freed_memory",
    "keep_freed_memory_of_dask",
    "pause_collection",
    "resume_collection",
    "uncollected",
]

TURN = RLock()  # which a destructor may come to in the middle of a turn of its own thread
PAUSES: list[object] = []
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""The numbers that glibc's malloc.h has for them."""

THRESHOLD_OF_DASK = "65536"
"""Of its setting distributed.nanny.pre-spawn-environ."""

RAN = [True]
"""Whether the collector ran before the first of the pauses."""


def keep_freed_memory() -> None:
    """Teach the C library that large blocks come and go, so that it keeps what is freed.

    The GNU C library takes a block above its threshold from the operating system, and gives the
    free end of the heap back above another; the system then has to clear every page anew, which
    takes longer than most arithmetic on it. Both thresholds rise with the largest block, of up to
    32 MB, that a program has ever freed: so one is freed here, which is never touched. From then
    on up to twice as much stays with the process. Other C libraries take no notice.

    Notes
    -----
    The thresholds are described in mallopt(3), under M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
    """
    np.empty(31 * 2**20, np.uint8)


@functools.cache
def keep_freed_memory_of_dask() -> None:
    """Do what `keep_freed_memory` does in a worker process of Dask's, once.

    Dask starts them with a threshold in the environment, by which all that is freed goes back to
    the system at once; that fixes the other threshold at 128 kB, so that each array above it is
    memory to be cleared anew. Here they are set as they would have risen. Whoever has set others
    in the environment keeps them.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != THRESHOLD_OF_DASK:
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(M_MMAP_THRESHOLD, 2**25)
    mallopt(M_TRIM_THRESHOLD, 2**26)


def pause_collection(asking: object) -> None:
    """Keep the garbage collector away while thousands of objects are made, none of them garbage.

    It would look at all of them again and again. It runs again, if it did before, when everyone who
    asked has called `resume_collection`; there is one collector for all threads.
    """
    with TURN:
        if not PAUSES:
            RAN[0] = gc.isenabled()
        PAUSES.append(asking)
        gc.disable()


def resume_collection(asking: object) -> None:
    """Take back what was asked for by `pause_collection`; once more does no harm."""
    with TURN:
        others = [other for other in PAUSES if other is not asking]
        if RAN[0] and PAUSES and not others:
            gc.enable()
        PAUSES[:] = others


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector inside."""
    asking = object()
    try:
        pause_collection(asking)
        yield
    finally:
        resume_collection(asking)

"""Memory that is given back and asked for again, and Python's collector of garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

__all__ = ["keep_freed_memory", "uncollected"]


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


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector away while thousands of objects are made, none of them garbage.

    It would look at all of them again and again.
    """
    collecting = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if collecting:
            gc.enable()

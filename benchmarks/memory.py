"""How much memory a call takes, as the operating system sees it."""

import ctypes
import gc
import sys
from pathlib import Path

from benchmarks.libraries.plain import Program

__all__ = ["resident_peak"]

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident_peak(program: Program) -> int | None:
    """Give by how much a call raises the process's resident memory at its peak; Linux alone.

    It counts all that a library keeps, its graph too, and what its allocator wastes. It is coarse:
    of use for hundreds of megabytes.
    """
    if sys.platform != "linux":
        return None
    program()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # or the call would run in what the first one left behind
    CLEAR.write_text("5")  # lets the peak start anew
    before = kilobytes("VmRSS")
    outcome = program()
    after = kilobytes("VmHWM")
    del outcome
    return (after - before) * 1024


def kilobytes(field: str) -> int:
    """Read a field of the process's status."""
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))

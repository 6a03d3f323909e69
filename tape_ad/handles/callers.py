"""Where in the user's code a handle was met."""

import sys
from types import FrameType

__all__ = ["caller"]


def caller() -> str:
    """Name the line that called into NumPy or into this library, for an error.

    Returns
    -------
    str
        As ``line 3 of model.py``.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and is_library(frame):
        frame = frame.f_back
    return f"line {frame.f_lineno} of {frame.f_code.co_filename.rpartition('/')[2]}"


def is_library(frame: FrameType) -> bool:
    """Tell whether a frame is of code that users do not look into: ours, Python's, installed."""
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    known = package == "tape_ad" or (package in sys.stdlib_module_names and package != "__main__")
    return known or "site-packages" in frame.f_code.co_filename

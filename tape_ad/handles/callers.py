"""Where in the user's code a handle was met."""

import sys
from types import FrameType
from typing import Any

__all__ = ["caller", "is_library", "is_library_module", "is_library_name"]


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
    name = str(frame.f_globals.get("__name__"))
    return is_library_name(name) or "site-packages" in frame.f_code.co_filename


def is_library_module(thing: Any) -> bool:
    """Tell whether a module, or that of a function or class, is one that users do not look into."""
    name = str(getattr(thing, "__module__", None) or getattr(thing, "__name__", ""))
    file = getattr(sys.modules.get(name), "__file__", None)
    return is_library_name(name) or "site-packages" in str(file)


def is_library_name(name: str) -> bool:
    """Tell whether a module of this name is ours or Python's."""
    package = name.partition(".")[0]
    return package == "tape_ad" or (package in sys.stdlib_module_names and package != "__main__")

"""Where in the user's code a handle was met."""

import sys

__all__ = ["caller"]

OURS = frozenset({"tape_ad", "numpy", "scipy"})


def caller() -> str:
    """Name the line that called into NumPy or into this library, for an error.

    Returns
    -------
    str
        As ``line 3 of model.py``.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return f"line {frame.f_lineno} of {frame.f_code.co_filename.rpartition('/')[2]}"


def is_ours(module: object) -> bool:
    """Tell whether a module is one that users do not look into."""
    package = str(module).partition(".")[0]
    return package in OURS or (package in sys.stdlib_module_names and package != "__main__")

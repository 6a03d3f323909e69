"""Where in the user's code a handle was met."""

import ast
import functools
import inspect
import sys
import textwrap
from types import CodeType, FrameType
from typing import Any

from tape_ad.base.naming import file_title

__all__ = [
    "DISPATCHING",
    "caller",
    "file_title",
    "hands_calls_on",
    "is_copied",
    "is_library",
    "is_library_module",
    "is_library_name",
    "is_read",
    "statements_at",
    "user_lines",
]


SWEEPING = frozenset(
    f"tape_ad.record.{name}"
    for name in (
        *("arena", "call_metadata", "locks", "spaces", "sweeps"),
        *("unbroadcasting", "watching"),
    )
)
"""Modules of the record that compute by themselves, with no call of a user's behind it."""


DISPATCHING = (
    "tape_ad.record.",
    "tape_ad.base.arrays.interpreter",
    "tape_ad.base.arrays.batches",
)
"""The modules of ours that a call passes on its way from NumPy to the node that it becomes."""


def hands_calls_on(module: str) -> bool:
    """Tell whether a module stands between whoever makes a call and the node that it becomes."""
    return module.startswith(DISPATCHING) and module not in SWEEPING


def caller(frame: FrameType | None = None) -> str:
    """Name the line that called into NumPy or into this library, for an error.

    Parameters
    ----------
    frame : frame, optional
        Where to begin; the caller's when left out.

    Returns
    -------
    str
        As ``line 3 of model.py``, or in a notebook ``line 3 of cell In[5]``.
    """
    frame = frame or sys._getframe(1)
    while frame.f_back is not None and is_library(frame):
        frame = frame.f_back
    return f"line {frame.f_lineno} of {file_title(frame.f_code.co_filename)}"


def user_lines() -> list[tuple[str, int, str]]:
    """List the lines of the user's code that are being run, the innermost first.

    They are those outside of this library, Python's own and what is installed. Where all code is
    installed, what is neither NumPy nor this library counts, and at last the outermost line.

    Returns
    -------
    list of tuple of str, int and str
        File, line and function; at least one.
    """
    lines: list[tuple[str, int, str]] = []
    installed: list[tuple[str, int, str]] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        kind = kind_of(str(frame.f_globals.get("__name__")), code.co_filename)
        last = (code.co_filename, frame.f_lineno, code.co_name)
        if kind == "user":
            lines.append(last)
        elif kind == "installed":
            installed.append(last)
        frame = frame.f_back
    return lines or installed[:1] or [last]


@functools.lru_cache(4096)
def kind_of(name: str, file: str) -> str:
    """Tell whose code that of a module in a file is: ``user``, ``installed`` or ``library``."""
    if is_library_name(name) or name.partition(".")[0] in ("numpy", "scipy"):
        return "library"
    return "installed" if "site-packages" in file or file.startswith("<frozen") else "user"


def is_copied(frame: FrameType) -> bool:
    """Tell whether a frame is of a copy that `tape_ad.differentiable` has made of a function."""
    return type(frame.f_globals) is not dict


TOLD = frozenset(
    {"print", "warn", "debug", "info", "warning", "error", "exception", "critical", "log", "write"}
)
"""The names of what is called with a text that is there to be read."""


def is_read(frame: FrameType) -> bool:
    """Tell whether a frame is at a statement that raises, prints or logs something."""
    statements, _ = statements_at(frame.f_code, frame.f_lineno)
    if not statements or frame.f_code.co_name == "<lambda>":
        return False
    match statements[-1]:
        case ast.Raise():
            return True
        case ast.Expr(ast.Call(ast.Name(name) | ast.Attribute(attr=name))):
            return name in TOLD
    return False


@functools.lru_cache(1024)
def statements_at(code: CodeType, line: int) -> tuple[list[ast.stmt], int]:
    """Find the statements of a function's source that a line is in, the innermost last.

    Returns
    -------
    list of ast.stmt
        None where the source is not there or, as that of a lambda, not whole.
    int
        The line, as counted in them.
    """
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError):
        return [], 0
    at = line - max(first, 1) + 1
    nodes = (each for each in ast.walk(tree) if isinstance(each, ast.stmt))
    return [each for each in nodes if each.lineno <= at <= (each.end_lineno or at)], at


def is_library(frame: FrameType) -> bool:
    """Tell whether a frame is of code that users do not look into: ours, Python's, installed."""
    name, file = str(frame.f_globals.get("__name__")), frame.f_code.co_filename
    if file == "<string>":  # what a library has made of text: scipy.optimize.broyden1
        file = str(getattr(sys.modules.get(name), "__file__", None))
    return is_library_name(name) or "site-packages" in file


def is_library_module(thing: Any) -> bool:
    """Tell whether a module, or that of a function or class, is one that users do not look into."""
    name = str(getattr(thing, "__module__", None) or getattr(thing, "__name__", ""))
    file = getattr(sys.modules.get(name), "__file__", None)
    return is_library_name(name) or "site-packages" in str(file)


def is_library_name(name: str) -> bool:
    """Tell whether a module of this name is ours or Python's."""
    package = name.partition(".")[0]
    return package == "tape_ad" or (package in sys.stdlib_module_names and package != "__main__")

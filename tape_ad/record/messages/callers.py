"""Who has called a handle: which line of the user's, of what library, at what instruction."""

import ast
import dis
import functools
import inspect
import linecache
import sys
import textwrap
import types
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from tape_ad.base.naming import file_title

__all__ = [
    "DISPATCHING",
    "OPERATORS",
    "caller",
    "file_title",
    "hands_calls_on",
    "is_at",
    "is_copied",
    "is_library",
    "is_library_module",
    "is_library_name",
    "is_read",
    "method_called",
    "statements_at",
    "user_lines",
    "variables_bound",
]


# Where in the user's code a handle was met

SWEEPING = frozenset(
    f"tape_ad.record.{name}" for name in ("arena", "call_metadata", "spaces", "sweeps", "watching")
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


# What a line of Python is doing: an operator, an index, an assignment, a call

SIGNS = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
OPERATORS = tuple(f"x {sign} x" for sign in SIGNS)
"""Lines that are at one of Python's operators of two numbers."""

METHODS = (
    *(f"__{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")),
    *(f"__{name}__" for name in ("matmul", "and", "or", "xor", "lshift", "rshift")),
    *("__imod__", "__getitem__", "__setitem__"),
)

BINDING = """
def function():
    variable = 0
    def inner():
        nonlocal variable
        variable = 0
        del variable
    def outer():
        global variable
        variable = 0
        del variable
"""


def is_at(frame: FrameType, *examples: str) -> bool:
    """Tell whether a frame is at an instruction that one of some lines comes to.

    Parameters
    ----------
    frame : frame
    *examples : str
        Lines that use ``x``: ``"x % x"``.

    Examples
    --------
    >>> class Asked:
    ...     def __mod__(self, other):
    ...         frame = sys._getframe(1)
    ...         return is_at(frame, "x % x"), is_at(frame, "x[x]"), is_at(frame, "x + x")
    >>> Asked() % 2
    (True, False, False)
    >>> Asked().__mod__(2)
    (False, False, False)
    """
    return instruction(frame) in instructions(examples)


def method_called(frame: FrameType) -> str:
    """Name the method that a frame is calling; an empty text where there is none, or no source."""
    places = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, start, stop = places
    if first is None or last is None or start is None or stop is None:
        return ""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]
    pieces = [line.encode() for line in lines]  # columns are counted in bytes
    if len(pieces) != last - first + 1:
        return ""
    pieces[-1] = pieces[-1][:stop]
    pieces[0] = pieces[0][start:]
    try:
        call = ast.parse(b"".join(pieces).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    match call:
        case ast.Call(ast.Attribute(attr=name)):
            return name
    return ""


def instruction(frame: FrameType) -> tuple[int, int]:
    """Give the operation that a frame is at, and its argument."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at], code[at + 1]


@functools.cache
def instructions(examples: tuple[str, ...]) -> frozenset[tuple[int, int]]:
    """List the instructions at which lines come to the object that they use."""
    met = []

    def note(*_: Any) -> None:
        met.append(instruction(sys._getframe(1)))

    used = type("Used", (), dict.fromkeys(METHODS, note))()
    for line in examples:
        exec(line, {"x": used})  # noqa: S102 - lines that this library has written
    return frozenset(met)


def variables_bound(code: types.CodeType) -> set[str]:
    """List the variables outside that a function's code binds itself, as a counter does.

    Examples
    --------
    >>> def count():
    ...     global calls
    ...     calls = start
    >>> variables_bound(count.__code__)
    {'calls'}
    """
    own = {each.argval for each in dis.get_instructions(code) if each.opcode in binding()}
    return own.union(*map(variables_bound, codes_in(code)))


@functools.cache
def binding() -> frozenset[int]:
    """List the operations that bind a variable outside of a function, or take it away."""
    (function,) = codes_in(compile(BINDING, "<example>", "exec"))
    return frozenset(
        each.opcode
        for code in codes_in(function)
        for each in dis.get_instructions(code)
        if each.argval == "variable"
    )


def codes_in(code: types.CodeType) -> list[types.CodeType]:
    """List the code of the functions inside another."""
    return [each for each in code.co_consts if isinstance(each, types.CodeType)]

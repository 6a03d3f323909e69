"""Who has called a handle: which line of the user's, of what library, at what instruction."""

import ast
import dis
import functools
import inspect
import linecache
import sys
import tokenize
from collections.abc import Iterable
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from tape_ad.base.naming import OPERATORS, file_title

# Where in the user's code a handle was met

SWEEPING = frozenset(
    f"tape_ad.record.{name}" for name in ("arena", "call_metadata", "spaces", "sweeps", "watching")
)
"""Modules of the record that compute by themselves, with no call of a user's behind it."""


DISPATCHING = (
    "tape_ad.record.",
    "tape_ad.base.arrays.interpreter",
    "tape_ad.batching.arrays",
    "tape_ad.programs.capture.tracers",
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
    frame = user_frame(frame or sys._getframe(1))
    return f"line {frame.f_lineno} of {file_title(frame.f_code.co_filename)}"


def user_frame(frame: FrameType | None = None) -> FrameType:
    """Find the frame that called into NumPy or into this library, or the outermost of all."""
    frame = frame or sys._getframe(1)
    while frame.f_back is not None and is_library(frame):
        frame = frame.f_back
    return frame


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
    """Tell whether a frame is at a statement that raises, prints or logs something, or is a log."""
    if frame.f_globals.get("__name__") == "logging":  # which puts texts together itself
        return True
    match statements_at(frame.f_code, frame.f_lineno):
        case [*_, ast.Raise()]:
            return True
        case [*_, ast.Expr(ast.Call(ast.Name(name) | ast.Attribute(attr=name)))]:
            return name in TOLD
    return False


# What the source of a function says


@functools.lru_cache(1024)
def statements_at(code: CodeType, line: int) -> list[ast.stmt]:
    """Find the statements of a function's source that a line is in, the innermost last.

    There are none where the source is not there, and in a lambda.
    """
    nodes = ast.walk(tree) if (tree := tree_of(code)) is not None else ()
    found = (each for each in nodes if isinstance(each, ast.stmt))
    return [each for each in found if each.lineno <= line <= (each.end_lineno or line)]


@functools.lru_cache(1024)
def tree_of(code: CodeType) -> ast.AST | None:
    """Parse the source of a function, or of what a lambda gives; None where it is not there.

    Lines and columns are those of the file.
    """
    if code.co_name == "<lambda>":
        places = [place for place in code.co_positions() if None not in place]
        wide = [place for place in places if place[::2] != place[1::2]]
        first, start = min((place[::2] for place in wide), default=(None, None))
        last, stop = max((place[1::2] for place in wide), default=(None, None))
        return expression_at(code, (first, last, start, stop))
    try:
        lines, first = inspect.getsourcelines(code)
        nested = lines[0][:1].isspace()  # a block around it leaves lines and columns as they are
        tree = ast.parse("".join(["if True:\n", *lines] if nested else lines))
    except (OSError, SyntaxError, TypeError, tokenize.TokenError):
        return None
    ast.increment_lineno(tree, max(first, 1) - 1 - nested)
    if code.co_name.startswith("<"):  # a module, or the statement that a generator stands in
        return tree
    named = (each for each in ast.walk(tree) if getattr(each, "name", None) == code.co_name)
    return next(named, None)


Place = tuple[int | None, int | None, int | None, int | None]
"""Where a part of the source begins and ends: two lines, and two columns in bytes."""


def place_of(code: CodeType, at: int) -> Place:
    """Find the part of the source that an instruction of a function belongs to."""
    return next(islice(code.co_positions(), at // 2, None), (None,) * 4)


def expression_at(code: CodeType, place: Place) -> ast.expr | None:
    """Parse an expression in the file of a function; None where it is not there."""
    first, last, start, stop = place
    if first is None or last is None or start is None or stop is None:
        return None
    lines = linecache.getlines(code.co_filename)[first - 1 : last]
    pieces = [line.encode() for line in lines]
    if len(pieces) != last - first + 1:
        return None
    pieces[-1] = pieces[-1][:stop]
    pieces[0] = b" " * start + pieces[0][start:]
    try:
        tree = ast.parse(b"(\n%b\n)" % b"".join(pieces), mode="eval")
    except (SyntaxError, ValueError):
        return None
    ast.increment_lineno(tree, first - 2)
    return tree.body


def words_in(nodes: Iterable[ast.AST]) -> set[str]:
    """List the names, attributes and texts in parts of a source."""
    words = set()
    for node in nodes:
        for each in ast.walk(node):
            match each:
                case ast.Name(word) | ast.Attribute(attr=word) | ast.Constant(str(word)):
                    words.add(word)
    return words


def is_library(frame: FrameType) -> bool:
    """Tell whether a frame is of code that users do not look into: ours, Python's, installed."""
    name, file = str(frame.f_globals.get("__name__")), frame.f_code.co_filename
    if file == "<string>":  # what a library has made of text: scipy.optimize.broyden1
        file = str(getattr(sys.modules.get(name), "__file__", None))
    return is_library_place(name, file)


def is_library_module(thing: Any) -> bool:
    """Tell whether a module, or that of a function or class, is one that users do not look into."""
    name = str(getattr(thing, "__module__", None) or getattr(thing, "__name__", ""))
    return is_library_place(name, getattr(sys.modules.get(name), "__file__", None))


@functools.lru_cache(maxsize=4096)
def is_library_place(name: str, file: str | None) -> bool:
    """Tell whether users do not look into a module of this name and this file."""
    return is_library_name(name) or "site-packages" in str(file)


def is_library_name(name: str) -> bool:
    """Tell whether a module of this name is ours or Python's."""
    package = name.partition(".")[0]
    return package == "tape_ad" or (package in sys.stdlib_module_names and package != "__main__")


# What a line of Python is doing: an operator, an index, an assignment, a call

OPERATOR_LINES = tuple(f"x {sign} x" for _, sign in OPERATORS.values())
"""Lines that are at one of Python's operators of two numbers."""

METHODS = (
    *(f"__{name}__" for name, _ in OPERATORS.values()),
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
    match expression_at(frame.f_code, place_of(frame.f_code, frame.f_lasti)):
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


def variables_bound(code: CodeType, *, within: bool = True) -> set[str]:
    """List the variables outside that a function's code binds itself, as a counter does.

    Parameters
    ----------
    code : code
    within : bool
        Whether those count that functions in it bind.

    Examples
    --------
    >>> def count():
    ...     global calls
    ...     calls = start
    >>> variables_bound(count.__code__)
    {'calls'}
    """
    own = named_at(code, binding())
    return own.union(*map(variables_bound, codes_in(code))) if within else own


def variables_read(code: CodeType) -> set[str]:
    """List the variables of its module that a function's code reads, and functions in it."""
    return named_at(code, reading()).union(*map(variables_read, codes_in(code)))


def named_at(code: CodeType, operations: frozenset[int]) -> set[str]:
    """List what the instructions of some code name that are among some operations."""
    return {each.argval for each in dis.get_instructions(code) if each.opcode in operations}


@functools.cache
def binding() -> frozenset[int]:
    """List the operations that bind a variable outside of a function, or take it away."""
    (function,) = codes_in(compile(BINDING, "<example>", "exec"))
    return at_variable(codes_in(function))


@functools.cache
def reading() -> frozenset[int]:
    """List the operations that read a variable of the module."""
    module = compile("variable\nlambda: variable", "<example>", "exec")
    return at_variable([module, *codes_in(module)])


def at_variable(codes: Iterable[CodeType]) -> frozenset[int]:
    """List the operations by which examples make use of what they call ``variable``."""
    steps = (each for code in codes for each in dis.get_instructions(code))
    return frozenset(each.opcode for each in steps if each.argval == "variable")


def codes_in(code: CodeType) -> list[CodeType]:
    """List the code of the functions inside another."""
    return [each for each in code.co_consts if isinstance(each, CodeType)]

"""What a line of Python is doing: an operator, an index, an assignment, a call.

C code asks for an array or a number in the same way whatever for. What tells is the instruction
that the frame is at. Instructions have other names and numbers in each release of Python, so they
are those at which this very interpreter comes to an object that is used in an example.
"""

import dis
import functools
import sys
import types
from types import FrameType
from typing import Any

__all__ = ["OPERATORS", "is_at", "method_called", "variables_bound"]

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


def method_called(frame: FrameType) -> str:
    """Name the method that a frame is calling: the last attribute of what is called.

    Examples
    --------
    >>> class Asked:
    ...     def method(self):
    ...         return method_called(sys._getframe(1))
    >>> Asked().method()
    'method'
    """
    names: list[tuple[Any, str]] = []
    at: Any = None
    for each in dis.get_instructions(frame.f_code):
        where: Any = each.positions
        if each.offset == frame.f_lasti:
            at = where
            break
        if each.opname in ("LOAD_METHOD", "LOAD_ATTR"):
            names.append((where, str(each.argval)))
    start = (at.lineno, at.col_offset)
    found = [pair for pair in names if (pair[0].lineno, pair[0].col_offset) == start]
    return found[-1][1] if found else ""

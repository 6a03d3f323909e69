"""Which function a line calls, where it is written in C and so has no frame to be found by."""

import ast
import inspect
import linecache
import types
from collections.abc import Callable, Mapping
from itertools import islice
from types import FrameType
from typing import Any

from tape_ad.record.messages.callers import is_library_module

__all__ = ["function_called", "method_called"]

ABSENT = object()


def function_called(frame: FrameType) -> Callable[..., Any] | None:
    """Find the function that a frame is calling, by the words of its line.

    Parameters
    ----------
    frame : frame

    Returns
    -------
    callable or None
        None where the source is not there, or the function is no name: ``functions[0](t)``.

    Examples
    --------
    >>> nowhere = compile("function_called(inspect.currentframe())", "<nowhere>", "eval")
    >>> eval(nowhere) is None
    True
    """
    try:
        call = ast.parse(words_of(frame), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(call, ast.Call):
        return None
    found = value_of(call.func, frame)
    return found if callable(found) else None


def method_called(frame: FrameType) -> str:
    """Name the method that a frame is calling; an empty text where it calls none."""
    try:
        call = ast.parse(words_of(frame), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return call.func.attr if named else ""  # type: ignore[attr-defined]  # which is asked for above


def words_of(frame: FrameType) -> str:
    """Give the source of the expression that a frame is at."""
    places = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, start, stop = places
    if first is None or last is None or start is None or stop is None:
        return ""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]
    if len(lines) != last - first + 1:
        return ""
    pieces = [line.encode() for line in lines]  # columns are counted in bytes
    pieces[-1] = pieces[-1][:stop]
    pieces[0] = pieces[0][start:]
    return b"".join(pieces).decode(errors="replace").strip()


def value_of(words: ast.expr, frame: FrameType) -> Any:
    """Look up a name, or an attribute of a module, a class, or an object of another library."""
    if isinstance(words, ast.Name):
        spaces: tuple[Mapping[str, Any], ...] = (frame.f_locals, frame.f_globals)
        return next((space[words.id] for space in spaces if words.id in space), ABSENT)
    if isinstance(words, ast.Attribute):
        owner = value_of(words.value, frame)
        if isinstance(owner, (types.ModuleType, type)) or is_library_module(type(owner)):
            return getattr(owner, words.attr, ABSENT)
        return ABSENT
    if isinstance(words, ast.Call):  # of a class or a maker: cKDTree(points).query(t)
        return made_by(value_of(words.func, frame))
    return ABSENT


def made_by(maker: Any) -> Any:
    """Give the class whose methods what was made has, where the maker is one."""
    return maker if inspect.isclass(maker) else ABSENT

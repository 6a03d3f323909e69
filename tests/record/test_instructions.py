"""What a line is doing is told in each release of Python, for code that has run often too."""

import linecache
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import tape_ad
from tape_ad.record.messages.callers import OPERATOR_LINES, is_at, tree_of, variables_bound

Function = Callable[[Any], Any]


class Asked:
    """Notes the frame in which it is asked for anything."""

    def __init__(self, *examples: str) -> None:
        self.examples = examples
        self.answers: set[bool] = set()

    def note(self, *_: Any) -> Any:
        frame: FrameType = sys._getframe(1)
        self.answers.add(is_at(frame, *self.examples))
        return self

    __add__ = __sub__ = __mul__ = __truediv__ = __matmul__ = __mod__ = __rmod__ = note
    __imod__ = __getitem__ = __setitem__ = note

    def __float__(self) -> float:
        self.note_of_c(sys._getframe(1))
        return 2.0

    def __len__(self) -> int:
        self.note_of_c(sys._getframe(1))
        return 2

    def note_of_c(self, frame: FrameType) -> None:
        self.answers.add(is_at(frame, *self.examples))


def remainder_in_place(x: Any) -> None:
    x %= 3


def assign(x: Any) -> None:
    x[0] = 1


def assign_several(x: Any) -> None:
    x[0], x[1] = 1, 2


def assign_slice(x: Any) -> None:
    x[1:2] = 1


AT: dict[str, tuple[tuple[str, ...], Function]] = {
    "+": (OPERATOR_LINES, lambda x: x + 1),
    "/": (OPERATOR_LINES, lambda x: x / 1),
    "@": (OPERATOR_LINES, lambda x: x @ x),
    "%": (("x % x", "x %= x"), lambda x: x % 3),
    "a text %": (("x % x", "x %= x"), lambda x: f"{1}%.3f" % x),
    "texts %": (("x % x", "x %= x"), lambda x: "%.3f %.3f" % (x, x)),  # noqa: UP031 - what is tested
    "%=": (("x % x", "x %= x"), remainder_in_place),
    "an index": (("x[x]",), lambda x: x[0]),
    "assignment": (("x[x] = x",), assign),
    "two assignments": (("x[x] = x",), assign_several),
    "assignment to a slice": (("x[x] = x", "x[:] = x"), assign_slice),
}

BESIDE: dict[str, tuple[tuple[str, ...], Function]] = {
    "an index, no operator": (OPERATOR_LINES, lambda x: x[0]),
    "another operator": (("x % x", "x %= x"), lambda x: x + 1),
    "a call of Python's": (OPERATOR_LINES, float),
    "a method": (OPERATOR_LINES, lambda x: x.__add__(1)),
    "a call in C": (("x % x", "x[x]", "x[x] = x", "x[:] = x"), len),
    "a call in C with a star": (("x % x", "x[x]", "x[x] = x", "x[:] = x"), lambda x: float(*[x])),
    "an index for a remainder": (("x % x", "x %= x"), lambda x: x[0]),
    "an operator for an index": (("x[x]",), lambda x: x % 3),
    "an index for an assignment": (("x[x] = x", "x[:] = x"), lambda x: x[0]),
}


@pytest.mark.parametrize("name", AT)
def test_lines_are_told_by_what_they_do(name: str) -> None:
    examples, line = AT[name]
    asked = Asked(*examples)
    for _ in range(100):  # by then the interpreter has made the instructions special
        line(asked)
    assert asked.answers == {True}


@pytest.mark.parametrize("name", BESIDE)
def test_lines_that_do_something_else_are_told_apart(name: str) -> None:
    examples, line = BESIDE[name]
    asked = Asked(*examples)
    for _ in range(100):
        line(asked)
    assert asked.answers == {False}


def test_code_that_has_no_source_is_told_too() -> None:
    asked = Asked("x % x")
    eval("'%.1f' % x", {"x": asked})  # noqa: S307 - the line is above
    assert asked.answers == {True}


def counting(start: int) -> Callable[[], None]:
    total = start

    def count() -> None:
        nonlocal total
        global calls, gone  # noqa: PLW0603 - what is tested
        total += start
        calls = other
        del gone

    return count


calls, gone, other = 0, 1, 2


def test_variables_that_a_function_binds_are_found_at_any_depth() -> None:
    assert variables_bound(counting.__code__) == {"total", "calls", "gone"}


def test_no_module_names_an_instruction() -> None:
    for file in Path(tape_ad.__file__).parent.rglob("*.py"):
        assert not {"opname", "opmap"} & set(re.findall(r"\w+", file.read_text(encoding="utf-8")))


def test_the_source_of_a_function_has_the_places_of_its_file() -> None:
    pair = (lambda: 0, lambda x: [x,
                                  x + 1])  # fmt: skip
    lines = linecache.getlines(__file__)
    for function in (pair[1], counting, counting(0), Asked.__init__):
        tree: Any = tree_of(function.__code__)
        assert tree.lineno == function.__code__.co_firstlineno
        assert lines[tree.lineno - 1][tree.col_offset :].startswith(("[x,", "def "))
    assert tree_of(eval("lambda: 0").__code__) is None  # noqa: S307 - the line is here

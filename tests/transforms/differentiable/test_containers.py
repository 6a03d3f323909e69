"""Containers of a module that copies read and write in loops."""

import collections
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta


class Point:
    def __init__(self, value: Any) -> None:
        self.value = value

    def squared(self) -> Any:
        return self.value**2 if isinstance(self.value, float) else math.nan


def squared(x: Any) -> Any:
    return math.pow(x, 2)


LOSSES: list[Any] = []
PAIRS: list[Any] = []
ROWS: list[Any] = []
POINTS: list[Any] = []
TABLE: dict[Any, Any] = {}
FUNCTIONS: dict[Any, Any] = {"first": squared, "nested": [squared]}
GROUPS: dict[Any, set[Any]] = collections.defaultdict(set)
ALL = (LOSSES, PAIRS, ROWS, POINTS, TABLE, GROUPS)


def losses(x: Any, count: int) -> Any:
    for _ in range(count):
        x = x * 0.99
        LOSSES.append(x)
    return LOSSES[-1] + len(LOSSES)


def pairs(x: Any, count: int) -> Any:
    for i in range(count):
        x = x * 0.99
        PAIRS.append((i, x))
    return PAIRS[-1][1]


def rows(x: Any, count: int) -> Any:
    for _ in range(count):
        x = x * 0.99
        ROWS.append([x])
    return ROWS[-1][0] * 2


def points(x: Any, count: int) -> Any:
    for _ in range(count):
        x = x * 0.99
        POINTS.append(Point(x))
    return POINTS[-1].squared()


def table(x: Any, count: int) -> Any:
    for i in range(count):
        TABLE[i] = x * i
    return TABLE[count - 1]


def functions(x: Any, count: int) -> Any:
    for i in range(count):
        FUNCTIONS[i] = squared
        x = x + 0.001 * FUNCTIONS[i](x)
    return x


def groups(x: Any, count: int) -> Any:
    for i in range(count):
        GROUPS[i].add(i)
    return x * len(GROUPS)


def calls_of(function: Any, *args: Any) -> int:
    """Count the calls of Python's functions, and of those in C, that a call makes."""
    calls = 0

    def note(frame: Any, event: str, given: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return calls


@pytest.fixture(autouse=True)
def empty() -> Any:
    yield
    for each in ALL:
        each.clear()


@pytest.mark.parametrize("function", [losses, pairs, rows, points, table, functions, groups])
def test_a_container_of_a_module_is_written_to_in_linear_time(function: Any) -> None:
    slope = ta.grad(ta.differentiable(function))
    slope(0.5, 1200)  # so that what is read once, the function's source, has been read
    empty_again(function)
    few = calls_of(slope, 0.5, 400)
    empty_again(function)
    many = calls_of(slope, 0.5, 1200)
    assert many < 4 * few


def empty_again(function: Any) -> None:
    for each in ALL:
        each.clear()
    for key in [*FUNCTIONS]:
        if isinstance(key, int):
            del FUNCTIONS[key]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (losses, 0.99**3),
        (pairs, 0.99**3),
        (rows, 2 * 0.99**3),
        (points, 0.99**6),
        (table, 2.0),
        (groups, 3.0),
    ],
)
def test_what_is_written_is_there_in_and_after_the_call(
    function: Callable[..., Any], expected: float
) -> None:
    assert np.isclose(ta.grad(ta.differentiable(function))(0.5, 3), expected)
    assert all(isinstance(each, Point) for each in POINTS)


def seen_late(x: Any) -> Any:
    before = FUNCTIONS["first"](x)
    sys.modules[__name__].FUNCTIONS["late"] = lambda x: math.pow(x, 3)
    return before + FUNCTIONS["late"](x) + FUNCTIONS["nested"][0](x)


def test_an_entry_of_another_kind_is_seen_at_once() -> None:
    assert np.isclose(ta.grad(ta.differentiable(seen_late))(0.5), 2 * 0.5 + 3 * 0.25 + 2 * 0.5)
    assert math.isclose(FUNCTIONS.pop("late")(2.0), 8.0)
    assert FUNCTIONS["first"] is squared

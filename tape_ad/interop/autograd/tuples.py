"""Tuples with some of their values replaced."""

from collections.abc import Iterable
from typing import Any

__all__ = ["subval", "subvals"]


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Give a tuple like `x` with other values at some positions."""
    values = list(x)
    for i, value in ivs:
        values[i] = value
    return tuple(values)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """Give a tuple like `x` with another value at one position."""
    return subvals(x, [(i, v)])

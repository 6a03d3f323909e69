"""Loops as other people write them, which look up the names of their module again and again."""

import math
from typing import Any

RATE = 2.0
state = 0.0


def rated(x: Any) -> Any:
    return x * RATE


def summed(xs: Any, times: int = 1, /, *more: Any, start: Any = 0.0, **options: Any) -> Any:
    """Add up what a loop gives."""
    total = start
    for _ in range(times):
        for x in (*xs, *more):
            total = total + math.sin(x) * RATE + rated(x)
    return total + len(options)


def count_on(xs: Any) -> Any:
    global state  # noqa: PLW0603 - as some code does
    for x in xs:
        state = state + 1
        with_state(x)
    return with_state(xs[0])


def with_state(x: Any) -> Any:
    for _ in range(3):
        found = x * state + rated(x) - rated(x)
    return found


def by_own_module(xs: Any) -> Any:
    total = 0.0
    for i, x in enumerate(xs):
        total = total + rated(x)
        set_rate(float(i))
    return total


def set_rate(rate: float) -> None:
    from tests.transforms.differentiable import foreign_loops as own  # noqa: PLC0415 - as some do

    own.RATE = rate


def failing(xs: Any) -> Any:
    for x in xs:
        if rated(x) > 0:
            raise ValueError("no such x")
    return xs


def in_turn(xs: Any) -> Any:
    for x in xs:
        yield x * RATE

"""Loops as other people write them, which look up the names of their module again and again."""

import math
from typing import Any

import numpy as np

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


def squares(xs: Any) -> Any:
    return np.sum([float(x) ** 2 for x in xs])


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


def branching(xs: Any) -> Any:
    for _ in range(10):
        if xs[0] == 1.0:
            return xs[1] * RATE
    return xs[1] + np.asarray(xs).flat[0]


def failing(xs: Any) -> Any:
    for x in xs:
        if rated(x) > 0:
            raise ValueError("no such x")
    return xs


def in_turn(xs: Any) -> Any:
    for x in xs:
        yield x * RATE

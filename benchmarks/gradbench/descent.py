"""The search that `particle` and `saddle` are defined by; its steps decide the digits of both."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tape_ad as ta

ENOUGH = 1e-5

Slope = Callable[[Callable[[Any], Any]], Callable[[Any], Any]]


def reverse(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make the gradient of a function of a vector, by one sweep back."""
    return ta.grad(f)


def forward(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make the gradient of a function of a vector, by one sweep of all tangents forward."""

    def slope(x: Any) -> Any:
        return ta.jvp(f, (x,), (np.eye(len(x)),))[1]

    return slope


SLOPES: dict[str, Slope] = {"f": forward, "r": reverse}


def length(x: Any) -> Any:
    return np.sqrt(np.sum(x * x))


def argmin(f: Callable[[Any], Any], start: Any, slope: Slope) -> Any:
    """Go down a slope by steps that double after ten good ones, and halve after a bad one."""
    gradient = slope(f)
    x, value, g = start, f(start), gradient(start)
    rate, good = ENOUGH, 0
    while not length(g) <= ENOUGH:
        if good == 10:
            rate, good = 2 * rate, 0
            continue
        after = x - rate * g
        if length(x - after) <= ENOUGH:
            break
        value_after = f(after)
        if value_after < value:
            x, value, g, good = after, value_after, gradient(after), good + 1
        else:
            rate, good = rate / 2, 0
    return x


def argmax(f: Callable[[Any], Any], start: Any, slope: Slope) -> Any:
    """Go up in the same way."""
    return argmin(lambda x: -f(x), start, slope)

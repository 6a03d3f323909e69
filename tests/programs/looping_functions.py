"""Functions with loops, made at random: what a compiler that finds loops has to get right."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

__all__ = ["RandomLoops", "arguments"]

UNARY: tuple[Callable[[Any], Any], ...] = (
    *(np.sin, np.tanh, np.cos, lambda x: x * 0.5, lambda x: -x, lambda x: 1 / (2 + x * x)),
    *(lambda x: np.exp(-x * x), lambda x: x[::-1] * 0.9, lambda x: np.concatenate([x[1:], x[:1]])),
)
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    *(lambda x, y: x + y * 0.3, lambda x, y: x * y - y, np.maximum, lambda x, y: x * np.sum(y)),
    *(lambda x, y: np.where(x > y, x, 0.5 * y), lambda x, y: (x - y) / (1 + y * y)),
)

TABLE = np.random.default_rng(0).normal(size=(64, 3))
TABLES: tuple[Any, ...] = (
    *(TABLE, TABLE[::-1], np.asfortranarray(TABLE), TABLE.astype(np.float32), TABLE[:, 0]),
    *(np.arange(192).reshape(64, 3) % 5, [*map(np.copy, TABLE)], TABLE[:1].repeat(64, axis=0)),
    *(np.lib.stride_tricks.sliding_window_view(TABLE[:, 1], 3), TABLE[:, 0].tolist()),
)
"""Rows that are no arguments."""


@frozen
class RandomLoops:
    """A function of ``(xs, w, a)``, of shapes (n, 3), (3, 3) and (3,), and a sum that it returns.

    Attributes
    ----------
    seed : int
        It does the same each time that it is called.
    steps : int
        How many iterations its loops have, more or less.
    """

    seed: int
    steps: int

    def __call__(self, xs: Any, w: Any, a: Any) -> Any:
        """Run some loops, one after the other."""
        rng = np.random.default_rng(self.seed)
        state = [a, np.cos(a), xs[0] * 0.5]
        kept: list[Any] = []
        total: Any = 0.0
        for _ in range(int(rng.integers(1, 4))):
            kind = str(
                rng.choice(["plain", "branches", "nested", "exits", "filled", "backwards", "asks"])
            )
            count = int(rng.integers(self.steps // 2, self.steps))
            body, inner = body_of(rng), body_of(rng)
            period = int(rng.integers(2, 4))
            leaves = int(rng.integers(count // 2, count))
            row = np.zeros_like(xs[:, 0])
            for k in range(count):
                if kind == "exits" and k == leaves:
                    break
                if kind == "nested":
                    for j in range(3):
                        inner(state, xs, w, j + 1)
                other = kind == "branches" and k % period == 0
                (inner if other else body)(state, xs, w, count - k if kind == "backwards" else k)
                if kind == "asks" and np.sum(state[0]) > 0.2:
                    state[1] = state[1] * 0.5
                if kind == "filled":
                    row[k] = np.sum(state[0]) * 0.1 + row[k - 1] * 0.5
                total = total + np.sum(state[k % 2 and 1])
                kept.append(state[0])
            total = total + np.sum(row * row)
        order = kept[::-1] if rng.random() < 0.5 else kept
        for k, each in enumerate(order[: self.steps // 2]):
            total = total + np.sum(each * xs[k])
        return total + np.sum(np.stack(kept[-3:]) * xs[:3])


def body_of(rng: Any) -> Callable[[list[Any], Any, Any, int], None]:
    """Make what an iteration does."""
    choices = [
        (
            int(rng.integers(len(UNARY))),
            int(rng.integers(len(BINARY))),
            *rng.integers(3, size=3),
        )
        for _ in range(int(rng.integers(2, 5)))
    ]
    product, shift = rng.random() < 0.4, int(rng.integers(0, 3))
    swaps, window = rng.random() < 0.3, rng.random() < 0.3
    ages, table = rng.random() < 0.3, TABLES[rng.integers(len(TABLES))]
    reads, made = rng.random() < 0.5, rng.random() < 0.3

    def do(state: list[Any], xs: Any, w: Any, k: int) -> None:
        for unary, binary, one, two, to in choices:
            state[to] = np.tanh(BINARY[binary](UNARY[unary](state[one]), state[two]))
        place = (k + shift) % len(xs) if shift == 2 else k
        state[0] = state[0] + xs[place % len(xs)] * 0.1
        if window:
            state[1] = state[1] + np.sum(xs[k % len(xs) : k % len(xs) + 3]) * 0.01
        if product:
            state[2] = np.tanh(state[2] @ w)
        if ages:
            state[1] = state[1] * (1 - 0.5 ** (k + 1)) / (k + 1) + np.cos(0.1 * k)
        if reads:
            state[2] = state[2] + np.sin(table[k]) * 0.1 if made else state[2] * 0.9 + table[k]
        if swaps:
            state[0], state[1] = state[1], state[0]

    return do


def arguments(steps: int, seed: int) -> tuple[Any, Any, Any]:
    """Make arguments for it."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(steps + 3, 3)), rng.normal(size=(3, 3)) * 0.4, rng.normal(size=3)

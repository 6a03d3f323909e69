"""Large tangents are written over where nobody else has them, and nowhere else."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.spaces import LARGE
from tape_ad.record.sweeps import forward_sweep

Array = Any
FEW = 10
MANY = LARGE + FEW
HELD: Array = np.linspace(-1, 1, MANY)


@ta.custom_rule(pull=lambda ct, out, x: ct * HELD, push=lambda t, out, x: HELD)
def with_a_tangent_of_its_own(x: Array) -> Array:
    return x * HELD


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "a chain": lambda x: 3.0 * np.sin(2.0 * x + 1) - 1,
    "a parent twice": lambda x: (2 * x) * (2 * x),
    "a sum of one with itself": lambda x: (y := np.sin(x)) + y,
    "a difference of one with itself": lambda x: (y := np.sin(x)) - y,
    "one that is used again": lambda x: (y := np.exp(x)) - y * y + (y - x) * y,
    "one that is used behind its copies": lambda x: (y := 2 * x) * 1 + (-y) + +y + np.abs(y),
    "a view that is used again": lambda x: (y := 2 * x)[::-1][::-1] * 3 + y.reshape(1, -1)[0],
    "a view of a view that lives longer": lambda x: (y := np.sin(x)).reshape(-1, 1)[:, 0] - 2 * y,
    "copies": lambda x: np.stack([x, -x, 2 * x])[1] + np.concatenate([2 * x, -x])[: x.size],
    "broadcast": lambda x: (np.ones((2, 1)) * x - x)[0] + x * np.float64(3),
    "single precision between": lambda x: x.astype(np.float32) * np.float64(3) - x,
    "complex between": lambda x: ((1j * x) * (2 - 1j) - x * 1j).imag - x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_elements_have_the_tangents_that_few_have(name: str) -> None:
    f = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    x, t = rng.uniform(1, 2, (2, MANY))
    before = t.copy()
    value, tangent = ta.jvp(f, (x,), (t,))
    expected = ta.jvp(f, (x[:FEW],), (t[:FEW],))
    np.testing.assert_array_equal(value[:FEW], expected[0])
    np.testing.assert_allclose(tangent[:FEW], expected[1], rtol=1e-15)
    np.testing.assert_array_equal(t, before)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sweep_that_keeps_all_and_one_that_keeps_the_end_agree(name: str) -> None:
    record = ta.ComputationRecord()
    x = record.tensor(np.linspace(1, 2, MANY))
    y = FUNCTIONS[name](x)
    start = {x.index: np.stack([HELD, 2 - HELD])}
    every = forward_sweep(record, start, y.index)
    copies = {node: t.copy() for node, t in every.items()}
    again = forward_sweep(record, start, y.index, keep={y.index})
    np.testing.assert_array_equal(every[y.index], again[y.index])
    for node, t in every.items():
        np.testing.assert_array_equal(t, copies[node])
    np.testing.assert_array_equal(start[x.index], [HELD, 2 - HELD])


def test_what_a_rule_gives_and_keeps_is_left_alone() -> None:
    before = HELD.copy()
    x = np.ones(MANY)
    for _ in range(2):
        _, tangent = ta.jvp(lambda x: 5.0 * with_a_tangent_of_its_own(x) - 3 * x, (x,), (x,))
        np.testing.assert_allclose(tangent, 5 * before - 3, rtol=1e-15)
    np.testing.assert_array_equal(HELD, before)


def test_partials_are_left_alone() -> None:
    record = ta.ComputationRecord()
    x: Any = record.tensor(np.linspace(1, 2, MANY))
    y = np.sin(x) * x - np.exp(x)
    start = {x.index: np.ones(MANY)}
    first = forward_sweep(record, start, y.index, keep={y.index})[y.index].copy()
    np.testing.assert_array_equal(
        forward_sweep(record, start, y.index, keep={y.index})[y.index], first
    )

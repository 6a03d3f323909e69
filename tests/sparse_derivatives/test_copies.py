"""Functions that move elements about before, and after, they compute with them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tape_ad as ta
from tests.sampling import some

Array = Any


def with_a_constant(v: Array) -> Array:
    out = np.copy(v)
    out[0] = 2.0
    return out


MOVES: list[Callable[[Array], Array]] = [
    lambda v: v[1:],
    lambda v: v[:0],
    lambda v: v[::-2],
    lambda v: v[np.array([0, 1, 1, 0, -1]) % len(v)],
    lambda v: v[np.arange(len(v)) % 3 != 1],
    lambda v: np.roll(v, 2),
    np.flip,
    lambda v: v[None].T[:, 0],
    lambda v: sliding_window_view(v, min(2, len(v)))[:, 0],
    with_a_constant,
]
STEPS: list[Callable[[Array, Array], Array]] = [
    lambda a, b: a * b,
    lambda a, b: np.sin(a) + b,
    lambda a, b: a - b,
    lambda a, b: np.cumsum(a) * b,
    lambda a, b: np.concatenate([2.5 * a, b]),
]


def drawn(seed: int) -> Callable[[Array], Array]:
    """Combine moved elements in some steps, each with those of one argument."""
    rng = np.random.default_rng(seed)
    steps = [
        (STEPS[rng.integers(len(STEPS))], rng.integers(len(MOVES), size=rng.integers(3)))
        for _ in range(4)
    ]
    last = MOVES[rng.integers(len(MOVES))]

    def function(x: Array) -> Array:
        total = x
        for step, moves in steps:
            moved = x
            for move in moves:
                moved = MOVES[move](moved) if len(moved) else moved
            length = min(len(total), len(moved))
            total = step(total[:length], moved[:length])
        return last(total) if len(total) else total

    return function


@pytest.mark.parametrize("seed", some(range(60), 4))
def test_a_drawn_functions_sparse_jacobian_is_the_dense_one(seed: int) -> None:
    function, rng = drawn(seed), np.random.default_rng(seed)
    jacobians = [ta.sparse_jacobian(function, mode=mode) for mode in ("auto", "reverse", "both")]
    for x in rng.uniform(-1, 1, (2, 7)):
        dense = ta.jacobian(function)(x)
        for jacobian in jacobians:
            np.testing.assert_allclose(jacobian(x).toarray(), dense, rtol=1e-12, atol=1e-12)
    assert (jacobians[1].pattern != ta.sparsity(function)(x)).nnz == 0


@pytest.mark.parametrize("seed", some(range(60), 4))
def test_a_drawn_functions_sparse_hessian_is_the_dense_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def total(x: Array) -> Array:
        return np.sum(drawn(seed)(x) ** 2)

    monkeypatch.setattr("tape_ad.sparse_derivatives.jacobians.WORTH", 100)  # to copies, always
    x = np.random.default_rng(seed).uniform(-1, 1, 7)
    found = ta.sparse_hessian(total)(x).toarray()
    np.testing.assert_allclose(found, ta.hessian(total)(x), rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_compiled_it_is_the_same_to_the_bit(seed: int) -> None:
    jacobian = ta.sparse_jacobian(drawn(seed), mode="reverse")
    fast = ta.compile(jacobian, engine="numpy")
    for x in np.random.default_rng(seed).uniform(-1, 1, (4, 7)):
        np.testing.assert_array_equal(fast(x).data, jacobian(x).data)

"""A weight that many products share: contributions wait as factors, and nothing else changes."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.maps import Products, matrix_products
from tape_ad.rules.nn.affine import linear, two_linear

N, STEPS = 32, 80

Cell = Callable[[Any, Any], Any]

CELLS: dict[str, tuple[Cell, tuple[int, ...]]] = {
    "rows of a batch": (lambda w, h: np.tanh(h @ w), (2, N)),
    "a row": (lambda w, h: np.tanh(h @ w), (N,)),
    "a column": (lambda w, h: np.tanh(w @ h), (N,)),
    "columns of a batch": (lambda w, h: np.tanh(w @ h), (N, 2)),
    "a stack of batches": (lambda w, h: np.tanh(h @ w), (2, 1, N)),
    "a layer": (lambda w, h: np.tanh(linear(h, w, np.ones(N, h.dtype))), (2, N)),
    "two weights": (lambda w, h: np.tanh(two_linear(h, w, h, w.T, w[0])), (N,)),
    "a product of another kind": (lambda w, h: np.tanh(h @ w) + h @ w[:, :1], (2, N)),
    "a weight on both sides": (lambda w, h: np.tanh(w @ (h @ w).mT).mT, (2, N)),
}

TOLERANCES = {"f4": 2e-5, "f8": 1e-12, "c16": 1e-12}


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if dtype == "c16" else values).astype(dtype)


def gradients(cell: Cell, w: Any, h: Any, **options: Any) -> list[Any]:
    """Differentiate with respect to a leaf, to the weight made of it, and to the first state."""
    rec = ta.ComputationRecord()
    leaf, start = rec.tensor(w), rec.tensor(h)
    weight = leaf * 0.2
    state = start
    for _ in range(STEPS):
        state = cell(weight, state)
    grads = np.sum((state * np.conj(state)).real).grad(**options)
    return [grads.wrt(handle) for handle in (leaf, weight, start)]


def never(a: Any, b: Any, size: int) -> bool:
    """Let no factors wait."""
    return False


@pytest.mark.usefixtures("memory_used_again")
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", CELLS)
def test_products_that_wait_give_what_each_at_once_gives(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, shape = CELLS[name]
    w, h = drawn((N, N), dtype, 0), drawn(shape, dtype, 1)
    waited: list[int] = []
    add = Products.add

    def counted(self: Products, a: Any, b: Any) -> None:
        add(self, a, b)
        waited.append(self.waiting)

    monkeypatch.setattr(Products, "add", counted)
    found = gradients(cell, w, h)
    assert len(waited) >= STEPS - 1
    assert waited.count(0) >= 1  # some were summed on the way
    released = gradients(cell, w, h, release=True)
    monkeypatch.setattr(matrix_products, "small_and_plain", never)
    expected = gradients(cell, w, h)
    for each, again, at_once in zip(found, released, expected, strict=True):
        assert each.dtype == at_once.dtype
        np.testing.assert_array_equal(again, each)
        scale = np.abs(at_once).max()
        np.testing.assert_allclose(each, at_once, rtol=0, atol=TOLERANCES[dtype] * scale)


@pytest.mark.parametrize("weight", ["f4", "f8"])
@pytest.mark.parametrize("state", ["f4", "f8", "c16"])
def test_factors_of_another_dtype_than_the_weight_do_not_wait(weight: str, state: str) -> None:
    w, h = drawn((N, N), weight, 0), drawn((2, N), state, 1)
    rec = ta.ComputationRecord()
    leaf = rec.tensor(w)
    out = h @ leaf + (h @ leaf) * 2 + (h @ leaf) * 3
    gradient = np.sum(out.real).grad().wrt(leaf)
    expected = (6 * np.conj(h).T @ np.ones((2, N), h.dtype)).real
    assert gradient.dtype == w.dtype
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_a_stack_of_seeds_goes_through_shared_weights() -> None:
    w, h = drawn((N, N), "f8", 0), drawn((N,), "f8", 1)
    rec = ta.ComputationRecord()
    leaf = rec.tensor(w)
    out = np.tanh(np.tanh(h @ leaf) @ leaf)
    seeds = np.eye(N)
    stacked = out.grad(seeds).wrt(leaf)
    for seed, each in zip(seeds, stacked, strict=True):
        np.testing.assert_allclose(each, out.grad(seed).wrt(leaf), rtol=1e-12)


def test_second_derivatives_go_through_shared_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    w, h, v = drawn((N, N), "f8", 0) / 5, drawn((N,), "f8", 1), drawn((N, N), "f8", 2)

    def loss(w: Any) -> Any:
        state = h
        for _ in range(5):
            state = np.tanh(state @ w)
        return np.sum(state * state)

    found = ta.hvp(loss, w, v)
    monkeypatch.setattr(matrix_products, "small_and_plain", never)
    np.testing.assert_allclose(found, ta.hvp(loss, w, v), rtol=1e-10)


def test_what_waits_is_bounded_by_the_size_of_the_sum() -> None:
    n, steps = 200, 5_000
    h = drawn((n,), "f8", 1)
    rec = ta.ComputationRecord()
    leaf = rec.tensor(drawn((n, n), "f8", 0))
    row = rec.tensor(h)
    total = np.sum(row * (h @ leaf))
    for _ in range(steps):
        total = total + np.sum(row * (h @ leaf))
    tracemalloc.start()
    total.grad(release=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    waiting = 2 * matrix_products.FULL * n * n * 8  # the factors, and once more as two matrices
    sums = 4 * n * n * 8
    sweep = 100 * steps  # what it notes about each step
    assert peak < waiting + sums + sweep < steps * n * 8


def test_what_waits_keeps_no_larger_array_in_memory() -> None:
    n, large, steps = 100, 100_000, 30
    rec = ta.ComputationRecord()
    leaf = rec.tensor(drawn((n, n), "f8", 0) / n)
    row = rec.tensor(drawn((n,), "f8", 1))
    total: Any = 0.0
    for _ in range(steps):
        total = total + np.sum(np.concatenate([row @ leaf, np.zeros(large)]) * 2.0)
    tracemalloc.start()
    total.grad(release=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * large * 8


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_handles_that_cannot_wait_leave_nothing_on_their_record(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def length() -> int:
        outer = ta.ComputationRecord()
        inner = ta.ComputationRecord(within=outer)
        weight = inner.tensor(outer.tensor(drawn((N, N), dtype, 0)))
        state: Any = drawn((N, 2), dtype, 1)
        for _ in range(4):
            state = np.tanh(weight @ state)
        np.sum(state.real).grad()
        return len(outer)

    found = length()
    monkeypatch.setattr(matrix_products, "small_and_plain", never)
    assert found == length()

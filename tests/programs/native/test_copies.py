"""Copies that are left out, since what they copy can be made where they put it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.native_engine import listings
from tape_ad.programs.engines.native.schedule import copies, tiling
from tests.programs.native.running import agree, agree_to_the_bit, leaves

X = np.random.default_rng(0).normal(size=(20, 30))


def loops(function: Callable[..., Any], *args: Any) -> int:
    """Count the loops that native code goes through."""
    fast = ta.compile(function, engine="native")
    fast(*args)
    listing = dict(listings(fast.programs[0]))["scheduling"]
    return listing.count("call ")


@pytest.fixture(autouse=True)
def _small_arrays_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "LEAST", 64)


def joined(x: Any) -> Any:
    return np.concatenate([(x + 1).ravel(), np.sum(x * x, axis=0), (x * 2).ravel()])


def nested(x: Any) -> Any:
    inner = np.concatenate([np.abs(x).ravel(), (x * x).ravel()])
    return np.concatenate([inner.reshape(40, 30), x @ np.ones((30, 30))])


def scattered(x: Any) -> Any:
    bins = np.arange(600) % 7
    return np.concatenate([(x - 1).ravel(), np.bincount(bins, (x * 3).ravel(), minlength=7)])


@pytest.mark.parametrize(("function", "count"), [(joined, 2), (nested, 2), (scattered, 5)])
def test_parts_are_made_where_they_end(function: Callable[..., Any], count: int) -> None:
    agree_to_the_bit(function, X)
    assert loops(function, X) == count


def normalised(x: Any) -> Any:
    y = np.ravel(x.T)
    rows = y.reshape(30, 20)
    centred = rows - np.mean(rows, axis=1, keepdims=True)
    return np.concatenate([y, (centred * np.sum(centred * rows, axis=1, keepdims=True)).ravel()])


def test_tiles_find_what_has_been_made_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiling, "LARGE", 0)
    monkeypatch.setattr(tiling, "LEAST", 2)
    monkeypatch.setattr(tiling, "CACHED", 1000)
    agree(normalised, X, scale=100)
    assert loops(normalised, X) == 6


def seen_again(x: Any) -> Any:
    y = x + 1
    return np.concatenate([y.ravel(), y[0] * 2]), np.sum(np.sort(y, axis=0) * y)


def returned(x: Any) -> Any:
    y = x + 1
    return np.concatenate([y.ravel(), y.ravel()]), y


def twice(x: Any) -> Any:
    y = np.cumsum(x, axis=1)
    return np.concatenate([y.ravel(), y.ravel()])


def read_between(x: Any) -> Any:
    z = np.zeros(1200)
    z[:600] = (x + 1).ravel()
    y = z[:600].reshape(20, 30) * x
    z[:600] = y.ravel()
    z[600:] = z[5:605] * 2
    return z


def gathered_between(x: Any) -> Any:
    z = np.zeros(1200)
    z[::2] = x.ravel()
    y = z[np.arange(600).reshape(20, 30) * 2] + x
    z[:600] = y.ravel()
    return z


@pytest.mark.parametrize("function", [seen_again, returned, twice, read_between, gathered_between])
def test_what_others_see_stays_where_it_is(function: Callable[..., Any]) -> None:
    fast = ta.compile(ta.differentiable(function), engine="native")
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=X.shape)
        for found, expected in zip(leaves(fast(x)), leaves(function(x)), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_gradient_within_a_program_is_joined_with_others_in_one_run_of_native_code() -> None:
    def slopes(x: Any) -> Any:
        (by_x,) = ta.vjp(lambda v: np.sin(v) * v, x)[1](np.ones(x.shape))[:1]
        return np.concatenate([by_x[np.newaxis], x[np.newaxis] * 2])

    fast = ta.compile(slopes, engine="native")
    for _ in range(3):
        found = fast(X)
    np.testing.assert_allclose(found[0], np.cos(X) * X + np.sin(X), rtol=1e-12)
    assert dict(listings(fast.programs[0]))["scheduling"].count("bytecode") == 1

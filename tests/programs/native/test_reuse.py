"""Arrays that are written over in native code: what was read before stays as it was."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.fusion import reuse_memory
from tape_ad.programs.engines.native.lowering import lower
from tests.programs.bits import all_same
from tests.programs.native.layouts import numbers

Function = Callable[..., Any]
SIZE = 6


def drawn(seed: int) -> Function:
    """Make a function of two arrays and integers that changes arrays in a random order."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, len(CHANGES), 25)
    picks = rng.integers(0, SIZE - 1, (25, 4))

    def function(x: Any, y: Any, i: Any) -> Any:
        arrays = [x * 2, y + 1, x + y]
        seen: list[Any] = []
        for step, (a, b, k, m) in zip(steps, picks.tolist(), strict=True):
            CHANGES[step](arrays, a % 3, b % 3, k, m, i, seen)
        return arrays, seen

    return function


def assign(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    arrays[a][k] = arrays[b][m] * 0.5


def assign_part(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    arrays[a][k:] = arrays[b][: SIZE - k]


def add_part(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    arrays[a][:k] += arrays[b][SIZE - k :]


def put(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    arrays[a][i] = arrays[b][: len(i)]


def mask(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    arrays[a][arrays[b] > 1.0] = 0.25


def look(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    seen.append(arrays[a] * arrays[b])


def look_at_part(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    seen.append(arrays[a][k] + arrays[b][m])


def view(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    part = arrays[a][::-1]
    part[k] = arrays[b][m]
    seen.append(part * 1.5)


def copy(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    arrays[a] = arrays[b].copy()


def by_numpy(arrays: Any, a: int, b: int, k: int, m: int, i: Any, seen: Any) -> None:
    seen.append(np.sort(arrays[a]))


CHANGES: list[Function] = [
    assign,
    assign_part,
    add_part,
    put,
    mask,
    look,
    look_at_part,
    view,
    copy,
    by_numpy,
]


@pytest.mark.parametrize("seed", range(40))
def test_random_changes(seed: int) -> None:
    function = drawn(seed)
    fast, plain = (ta.compile(function, engine=engine) for engine in ("native", "numpy"))
    for point in range(4):
        args = numbers((SIZE,), "f8", seed + point), numbers((SIZE,), "f8", point), np.array([0, 3])
        all_same(fast(*args), plain(*args))


def test_an_array_that_changes_again_and_again_is_not_copied() -> None:
    def function(x: Any) -> Any:
        z = x * 2
        for k in range(5):
            z[k] = z[k + 1] * 0.5
        return z

    x = numbers((SIZE,), "f8")
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        all_same(fast(x), function(x))
    assert len(set(reuse_memory(lower(fast.programs[0])).renamed.values())) == 1


def test_an_array_that_numpy_has_seen_is_copied() -> None:
    def function(x: Any) -> Any:
        z = x * 2
        order = np.sort(z)
        z[0] = 7.0
        return z, order

    x = numbers((SIZE,), "f8")
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        all_same(fast(x), function(x))
    assert reuse_memory(lower(fast.programs[0])).renamed == {}


def test_parts_of_one_array_may_be_written_before_and_behind_what_numpy_does() -> None:
    def function(x: Any, i: Any) -> Any:
        first, second = x * 2, x[i] * 3
        third = np.sort(first)
        stacked = np.stack([first, third, second, np.sort(third + second)])
        part = np.zeros_like(x)
        part[1:] = third[1:]
        return stacked, part

    x, places = numbers((SIZE,), "f8"), np.array([1, 0, 5, 2, 2, -1])
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        all_same(fast(x, places), function(x, places))
    report = fast.explain()
    assert "in 3 runs of native code" in str(report)

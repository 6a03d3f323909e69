"""Groups of nests that are done for one tile of an axis after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.native_engine import passes
from tape_ad.programs.engines.native.schedule import tiling
from tests.programs.native.running import leaves, same_bits

Array = Any
RNG = np.random.default_rng(5)
N = 125
"""An odd number of rows, so that the last tile is a longer one."""


@pytest.fixture(name="tiles")
def _tiles(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Make tiles of about so many rows of small programs."""

    def choose(bytes_of_a_tile: int) -> None:
        monkeypatch.setattr(tiling, "LARGE", 0)
        monkeypatch.setattr(tiling, "LEAST", 31)
        monkeypatch.setattr(tiling, "CACHED", bytes_of_a_tile)

    return choose


def normalised(x: Array) -> Array:
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + 1e-3)


def turned(x: Array) -> Array:
    axis = x[:, :3] / np.sqrt(np.sum(x[:, :3] * x[:, :3], axis=1, keepdims=True))
    return np.cross(axis, x[:, 2:5]) * np.sin(x[:, 5:6]) + axis


def in_place(x: Array) -> Array:
    y = np.exp(x)
    y[:, 1:3] *= np.sum(x, axis=1, keepdims=True)
    y += x[:, ::-1]
    return y * y[:, :1]


def across(x: Array) -> Array:
    """Mix the rows between what keeps to rows."""
    y = normalised(x)
    return np.tanh(y - np.max(y, axis=0)) * np.sum(y, axis=1, keepdims=True)


def backwards(x: Array) -> Array:
    y = x * np.sum(x, axis=1, keepdims=True)
    return y[::-1] * np.sum(y, axis=1, keepdims=True)


def shifted(x: Array) -> Array:
    y = x * np.sum(x, axis=1, keepdims=True)
    return np.sum(y, axis=1)[1:] - np.sum(y * y, axis=1)[:-1]


def square(x: Array) -> Array:
    y = x[:, :, None] * x[:, None, :]
    return np.sum(y * np.sum(y, axis=1, keepdims=True), axis=2) + x


def chained(x: Array) -> Array:
    y = x
    for _ in range(24):
        y = np.sin(y) * x + 0.5
    return y


FUNCTIONS = (normalised, turned, in_place, across, backwards, shifted, square, chained)


def slopes(function: Callable[[Array], Array]) -> Callable[[Array], Any]:
    return ta.value_and_grad(lambda x: np.sum(function(x) ** 2))


def columns(function: Callable[[Array], Array]) -> Callable[[Array], Any]:
    """Push a stack of tangents, which lies in front of the rows."""

    def pushed(x: Array) -> Any:
        tangents = np.cos(np.arange(5.0 * x.size)).reshape((5, *x.shape))
        return ta.batched(lambda t: ta.jvp(function, (x,), (t,))[1])(tangents)

    return pushed


@pytest.mark.parametrize("derivative", [slopes, columns])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_tiles_give_the_bits_of_whole_arrays(
    function: Any, derivative: Any, tiles: Callable[[int], None]
) -> None:
    points = [RNG.normal(size=(N, 6)) + 0.2 for _ in range(3)]
    whole = ta.compile(derivative(function), engine="native")
    expected = [leaves(whole(x)) for x in points][-1]
    for size, threads in ((1, 1), (30_000, 1), (1, 3)):
        tiles(size)
        tiled = ta.compile(derivative(function), engine="native", threads=threads)
        found = [leaves(tiled(x)) for x in points][-1]
        assert all(map(same_bits, found, expected))


def loops_in(function: Any) -> int:
    """Count the loops over tiles in a program."""
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        fast(RNG.normal(size=(N, 6)))
    *_, (_, schedule) = passes(fast.programs[0])
    return str(schedule).count(" times, ")


@pytest.mark.parametrize("function", [normalised, turned, in_place, square])
def test_what_keeps_to_its_row_is_done_in_tiles(
    function: Any, tiles: Callable[[int], None]
) -> None:
    assert loops_in(function) == 0
    tiles(2000)
    assert loops_in(function) > 0


def test_sums_over_rows_are_done_behind_all_tiles(tiles: Callable[[int], None]) -> None:
    """What comes behind a sum, and does not read it, reads what the tile before has computed."""
    tiles(2000)
    assert loops_in(slopes(chained)) == 2  # one for the last tile, which is longer
    whole = ta.compile(slopes(chained), engine="native")
    for _ in range(2):
        whole(RNG.normal(size=(N, 6)))
    assert 0 < (whole.programs[0].nbytes or 0) < 20 * N * 6 * 8


def test_several_threads_share_tiles_and_have_room_for_one_each() -> None:
    points = [RNG.normal(size=200_003) for _ in range(2)]
    alone, among = (ta.compile(slopes(chained), engine="native", threads=n) for n in (1, 4))
    for _ in range(10):
        for x in points:
            assert all(map(same_bits, leaves(among(x)), leaves(alone(x))))
    assert 0 < (among.programs[0].nbytes or 0) < 3 * 8 * 200_003


@pytest.mark.parametrize("function", [lambda x: (x * 2)[::-1] * x, lambda x: np.sum(x * x, axis=0)])
def test_what_meets_other_rows_is_not(function: Any, tiles: Callable[[int], None]) -> None:
    tiles(2000)
    assert loops_in(function) == 0

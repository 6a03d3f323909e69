"""Searching in sorted lists, and interpolating, in native code and by NumPy: the same bits."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native import lowering
from tests.programs.native.layouts import LAYOUTS
from tests.programs.native.running import agree, agree_to_the_bit, natively, same_bits

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0]


def keys(a: Any, dtype: str) -> Any:
    """Give numbers beside those of a list, on them, and special ones where a dtype has those."""
    drawn = np.concatenate((np.linspace(-4, 24, 41), a))
    more = SPECIAL if dtype.startswith("f") else []
    return np.concatenate((drawn, more)).astype(dtype)


def both_sides(a: Any, v: Any) -> Any:
    return [np.searchsorted(a, v, side=side) for side in ("left", "right")]


@pytest.mark.parametrize(
    ("length", "dtypes"),
    [
        *[(length, "f8 f8") for length in (1, 2, 3, 8, 200)],
        *[(31, dtypes) for dtypes in ("f4 f4", "i8 i8", "f4 i4", "u1 i2", "i4 f8")],
    ],
)
def test_places_in_a_sorted_list(length: int, dtypes: str) -> None:
    given, searched = dtypes.split()
    a = np.sort(np.random.default_rng(length).integers(0, 20, length)).astype(given)
    agree_to_the_bit(both_sides, a, keys(a, searched))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lists_and_numbers_that_lie_anyhow(layout: str) -> None:
    rng = np.random.default_rng(1)
    v, a = LAYOUTS[layout](rng.normal(size=(5, 7))), np.sort(rng.normal(size=9))
    agree_to_the_bit(np.searchsorted, a[::-1].copy()[::-1], v)
    agree_to_the_bit(np.searchsorted, np.repeat(a, 2)[::2], v)
    agree_to_the_bit(lambda a, v: np.searchsorted(a, v[0, 0]) + np.searchsorted(a, 0.5), a, v)


@pytest.mark.parametrize("a", [[3.0, 1.0, 2.0, 0.5], [0.0, 1.0, np.nan], [np.nan]])
def test_a_list_out_of_order_or_with_nan_is_left_to_numpy(a: list[float]) -> None:
    fast: Any = ta.compile(np.searchsorted, engine="native")
    v = np.array([0.7, np.nan, 1.5, -1.0, 2.5, 1.5, 0.1])
    for each in (np.arange(len(a)) * 1.0, np.array(a)) * 2:
        for _ in range(2):
            assert same_bits(fast(each, v), np.searchsorted(each, v))


def test_a_list_that_is_long_beside_what_is_looked_for_is_not_seen_to_be_in_order() -> None:
    fast = ta.compile(lambda a, v: np.searchsorted(a, v) + 1, engine="native")
    for _ in range(3):
        assert fast(np.arange(5000.0), np.array([17.5])) == 19
    assert "longer list" in str(fast.programs[0].lowered)


def test_numbers_that_change_after_a_search_are_searched_for_anew() -> None:
    def function(a: Any, v: Any) -> Any:
        w = v * 1.0
        before = np.searchsorted(a, w)
        w[0] = 2.5
        return before + 10 * np.searchsorted(a, w)

    agree_to_the_bit(function, np.arange(4.0), np.array([0.5, 1.5]))


def test_what_is_found_on_the_way_to_numpy_is_forgotten(monkeypatch: Any) -> None:
    def body(a: Any) -> Any:
        found = np.searchsorted(a[:10], a[:5]) + np.searchsorted(a, a[:5])  # too long a list
        return np.sum(found) * 1.0

    monkeypatch.setattr(lowering, "BODIES", {np.ptp: body})
    fast = ta.compile(lambda a: (np.ptp(a), np.searchsorted(a[:10], a[:5])), engine="native")
    for start in (0.0, 1.0, 2.0):
        a = np.arange(2000.0) + start
        extent, places = fast(a)
        assert extent == 1999
        assert places.tolist() == [0, 1, 2, 3, 4]
    assert len(left(fast)) == 1


KNOTS = {
    "even": np.linspace(-3, 3, 30),
    "one": np.array([1.0]),
    "two": np.array([-1.0, 2.0]),
    "coinciding": np.array([-2.0, -1.0, -1.0, 0.0, 0.0, 0.0, 2.0]),
}
OPTIONS: list[dict[str, Any]] = [{}, {"left": 7.0}, {"right": -7.0}, {"period": 4.0}]


@pytest.mark.parametrize("values", ["finite", "with infinities", "all infinite", "with nan"])
@pytest.mark.parametrize("knots", KNOTS)
def test_interpolation_has_the_bits_of_numpy(knots: str, values: str) -> None:
    xp = KNOTS[knots]
    fp = np.random.default_rng(2).normal(size=len(xp))
    if values == "with infinities":
        fp[:: max(len(fp) // 3, 1)] = np.inf
        fp[-1] = -np.inf
    elif values == "all infinite":
        fp[:] = np.inf
    elif values == "with nan":
        fp[len(fp) // 2] = np.nan
    x = np.concatenate((np.linspace(-4, 4, 37), xp, SPECIAL))
    for options in OPTIONS[: 4 if values == "finite" else 1]:

        def function(x: Any, xp: Any, fp: Any, options: Any = options) -> Any:
            return np.interp(x, xp, fp, **options)

        with np.errstate(invalid="ignore"):
            if "period" in options:  # whose knots NumPy sorts
                fast = ta.compile(function, engine="native")
                for _ in range(3):
                    found = fast(x, xp, fp)
                assert same_bits(found, function(x, xp, fp))
            else:
                agree_to_the_bit(function, x, xp, fp)


def test_gradients_of_interpolation_run_natively() -> None:
    rng = np.random.default_rng(3)
    pulled = ta.grad(lambda x, xp, fp: np.sum(np.interp(x, xp, fp) ** 2), argnums=(0, 2))
    fast = ta.compile(pulled, engine="native")
    point = rng.normal(size=500) * 2, KNOTS["even"], rng.normal(size=30)
    for _ in range(3):
        found = fast(*point)
    for mine, other in zip(found, pulled(*point), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-13)
    assert "searchsorted" not in [line.split()[3] for line in left(fast)]


def left(fast: Any) -> list[str]:
    """List what NumPy does."""
    lines = str(fast.programs[0].lowered).split("\n")
    return [line for line in lines if line.startswith("NumPy: ")]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", [(9, 4), (5, 5), (3, 8), (6, 1), (40, 2)])
def test_convolutions_with_what_is_not_finite(lengths: tuple[int, int], mode: Any) -> None:
    rng = np.random.default_rng(4)
    a, v = (rng.normal(size=length) for length in lengths)
    agree(lambda a, v: np.convolve(a, v, mode), a, v, scale=10.0)
    v[-1] = np.inf
    found, expected = natively(lambda a, v: np.convolve(a, v, mode), a, v)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12)

"""Scans, searches and variances in native code, beside NumPy's."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.numpy.scans import recurrence
from tests.programs.native.running import agree, agree_to_the_bit
from tests.programs.native.test_products import DTYPES, numbers

SHAPES = [(3, 4, 5), (1, 40, 2), (30, 1, 3), (2, 600, 3)]
FLOATS = ("f8", "f4")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore")
def test_scans_give_numpys_bits(shape: Any, axis: int) -> None:
    arrays = [numbers(shape, dtype) / 5 for dtype in FLOATS]
    arrays = [x.astype(dtype) for x, dtype in zip(arrays, FLOATS, strict=True)]
    arrays += [numbers(shape, "i4"), numbers(shape, "?")]

    def scanned(*arrays: Any) -> Any:
        x, y, n, b = arrays
        return (
            [np.cumsum(each[::-1], axis=axis) for each in arrays],
            [np.cumprod(each, axis=axis) for each in (x, y, n)],
            [np.maximum.accumulate(each, axis=axis) for each in (x, y, n, b)],
            [np.minimum.accumulate(each, axis=axis) for each in (x, y, n)],
            np.subtract.accumulate(x, axis),
            np.logaddexp.accumulate(y, axis),
            np.add.accumulate(n, axis, dtype="f8"),
        )

    agree_to_the_bit(scanned, *arrays)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", SHAPES)
def test_scans_of_complex_numbers(shape: Any, axis: int) -> None:
    z = numbers(shape, "c16") / 10
    z = z / np.abs(z)
    agree(lambda z: np.cumsum(z[::-1], axis), z, scale=max(shape))
    agree(lambda z: np.cumprod(z, axis), z, scale=max(shape))


def test_a_scan_of_all_elements() -> None:
    agree_to_the_bit(lambda x: (np.cumsum(x), np.cumprod(x[:1])), numbers(1000, "f8"))


REAL = [dtype for dtype in DTYPES if dtype[0] != "c"]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 4, 1), (2, 3, 300)])
def test_places_of_extremes(shape: Any, axis: Any, keepdims: bool) -> None:
    def found(*arrays: Any) -> Any:
        return [
            (np.argmax(x, axis=axis, keepdims=keepdims), np.argmin(x, axis, keepdims=keepdims))
            for x in arrays
        ]

    agree_to_the_bit(found, *(numbers(shape, dtype) for dtype in REAL))


def test_places_of_extremes_among_nan_and_ties() -> None:
    nan, inf = np.nan, np.inf
    rows = np.array(
        [
            [1.0, nan, 3.0, nan],
            [nan, 0.0, 1.0, 2.0],
            [inf, 1.0, inf, -inf],
            [-inf, -inf, -inf, -inf],
            [0.0, -0.0, 0.0, -0.0],
            [-0.0, 0.0, 2.0, 2.0],
        ]
    )
    agree_to_the_bit(lambda x: (np.argmax(x, axis=1), np.argmin(x, axis=1)), rows)
    agree_to_the_bit(lambda x: (np.argmax(x), np.argmin(x[2:])), rows)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, (1, 2), -1])
def test_variances(axis: Any, ddof: int, keepdims: bool) -> None:
    options = {"axis": axis, "ddof": ddof, "keepdims": keepdims}

    def varied(*arrays: Any) -> Any:
        return [(np.var(x, **options), np.std(x, **options)) for x in arrays]

    for dtype in ("f8", "f4", "i4"):
        agree(varied, numbers((3, 4, 50), dtype), units=32)


def test_an_index_that_is_found_may_be_used() -> None:
    fast = ta.compile(lambda x: x[np.arange(3), np.argmax(x, axis=1)], engine="native")
    for seed in range(4):
        x = numbers((3, 5), "f8", seed)
        assert np.array_equal(fast(x), x.max(axis=1))


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": (0, 2)}, {"axis": -1, "ord": 2}])
def test_norms(options: Any) -> None:
    for dtype in ("f8", "f4"):
        x = numbers((3, 4, 50), dtype)
        agree(lambda x: np.linalg.norm(x, **options), x, units=16)
        agree(lambda x: np.linalg.norm(x, keepdims=True, **options), x, units=16)


def test_a_long_scan_across_and_along() -> None:
    x = numbers((700, 5), "f4")
    agree_to_the_bit(lambda x: [np.cumsum(x, axis) for axis in (0, 1)], x)
    agree_to_the_bit(lambda x: [np.cumsum(x.T, axis) for axis in (0, 1)], x)
    agree_to_the_bit(lambda x: np.maximum.accumulate(x[::-1, ::2]), x)
    agree_to_the_bit(lambda x: np.cumprod(x, 0), (x * 10).astype("i4"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scans_of_a_field_of_packed_records(axis: int, dtype: Any) -> None:
    x = np.zeros((5, 4, 6), [("flag", "u1"), ("value", dtype)])["value"]
    x[...] = np.random.default_rng(0).standard_normal(x.shape)
    fast = ta.compile(
        lambda x: (np.maximum.accumulate(x, axis), np.minimum.accumulate(x, axis)), engine="native"
    )
    for _ in range(3):
        found = fast(x)
    np.testing.assert_array_equal(found[0], np.maximum.accumulate(x, axis))
    np.testing.assert_array_equal(found[1], np.minimum.accumulate(x, axis))


@pytest.mark.parametrize("axis", [-1, -2, -3])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_recurrences(dtype: str, axis: int) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(-1, 2, (4, 5, 6)).astype(dtype)
    terms = rng.integers(-9, 9, (4, 5, 6)).astype(dtype)
    fewer = np.moveaxis(np.moveaxis(factors, axis, 0)[:-1], 0, axis)
    agree_to_the_bit(lambda a, b: recurrence(a, b, axis), fewer, terms)
    agree_to_the_bit(lambda a, b: recurrence(a[..., ::-1, :], b[..., ::-1, :], axis), fewer, terms)
    if axis > -3:
        agree_to_the_bit(lambda a, b: recurrence(a[0], b, axis), fewer, terms)
        agree_to_the_bit(lambda a, b: recurrence(a, b[0], axis), fewer, terms)


def test_slopes_of_running_extrema_are_native() -> None:
    x = np.random.default_rng(0).normal(size=50)
    slope = ta.grad(lambda x: np.sum(np.maximum.accumulate(x) ** 2))
    fast = ta.compile(slope, engine="native")
    for _ in range(3):
        found = fast(x)
    assert "recurrence" not in fast.explain()
    assert np.allclose(found, slope(x), rtol=1e-14)


@pytest.mark.parametrize("shape", [(1,), (2,), (300,), (5, 2), (2, 5), (3, 4, 2)])
def test_slopes_of_running_products_are_native_and_divide_by_nothing(shape: Any) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2, shape)
    for axis in range(len(shape)):
        slope = ta.grad(lambda x, axis=axis: np.sum(np.sin(np.cumprod(x, axis=axis))))
        fast = ta.compile(slope, engine="native")
        for zeros in (0, 0, 0, 1, 2):
            x.flat[:zeros] = 0
            np.testing.assert_allclose(fast(x), slope(x), rtol=1e-12, atol=1e-12)
        assert "pulled_through" not in fast.explain()
    both = ta.batched(ta.grad(lambda x: np.sum(np.cumprod(x, axis=-1) ** 2)))
    fast = ta.compile(both, engine="native")
    for _ in range(3):
        np.testing.assert_allclose(fast(x[None] + 1), both(x[None] + 1), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_a_scan_of_neighbours_of_one_another_and_of_elements_far_apart(dtype: str) -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, (300, 3)).astype(dtype)
    for each in (x[:, 0], x[::-1, 1], x[:2, 0], x[:2], x[::-7], x[:, ::2]):
        agree_to_the_bit(lambda x: [np.cumsum(x, axis=-1), np.cumprod(x, axis=-1)], each)
        agree_to_the_bit(lambda x: [np.cumsum(x, axis=0), np.cumprod(x, axis=0)], each)

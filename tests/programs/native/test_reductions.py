"""Reductions in native code, beside NumPy's."""

import itertools
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.programs.native.hosts import narrowed
from tests.programs.native.running import agree, agree_to_the_bit
from tests.programs.native.test_products import DTYPES, numbers
from tests.sampling import some

AXES = [None, 0, 1, -1, (0, 2), (1, -1), (0, 1, 2), ()]
SHAPES = [(3, 4, 5), (1, 4, 1), (2, 1, 300), (40, 3, 2)]
REAL = [dtype for dtype in DTYPES if dtype[0] != "c"]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_and_means(shape: Any, keepdims: bool) -> None:
    ways: list[dict[str, Any]] = [{"axis": axis, "keepdims": keepdims} for axis in AXES]

    def of(*arrays: Any) -> Any:
        return [
            (np.sum(x, **way), np.add.reduce(x, **way), np.mean(x, **way))
            for x in arrays
            for way in ways
        ]

    arrays = [numbers(shape, dtype) for dtype in DTYPES]
    scale = max(np.sum(np.abs(x).astype("f8")) for x in arrays)
    agree(of, *arrays, scale=scale)


@pytest.mark.parametrize(
    ("function", "shape"),
    some(itertools.product([np.max, np.min, np.any, np.all, np.ptp], SHAPES), 3),
)
def test_reductions_without_rounding(function: Any, shape: Any) -> None:
    def of(*arrays: Any) -> Any:
        return [
            (function(x, axis=axis), function(x[..., ::-1, ::2], axis=axis, keepdims=True))
            for x in arrays
            for axis in AXES
        ]

    dtypes = DTYPES if function in (np.any, np.all) else REAL[: 5 if function is np.ptp else 6]
    agree_to_the_bit(of, *(numbers(shape, dtype) for dtype in dtypes))


@pytest.mark.parametrize("axis", AXES)
def test_counts(axis: Any) -> None:
    arrays = [numbers((3, 4, 5), dtype) * (np.arange(5) % 2).astype(dtype) for dtype in DTYPES]
    agree_to_the_bit(lambda *arrays: [np.count_nonzero(x, axis=axis) for x in arrays], *arrays)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.filterwarnings("ignore")
def test_products_are_taken_in_numpys_order(axis: Any) -> None:
    x = np.array([[1e300, 1e-300] * 20, [1e-300, 1e300] * 20, [3.0, 0.5] * 20])
    agree_to_the_bit(lambda x: np.prod(x, axis=axis), x)
    agree_to_the_bit(lambda x: np.prod(x, axis=axis), np.arange(12).reshape(3, 4))


@pytest.mark.filterwarnings("ignore")
def test_extremes_keep_nan() -> None:
    x = np.array([[1.0, np.nan, 3.0], [-np.inf, 2.0, np.inf]])
    functions = (np.max, np.min, np.ptp, np.fmax.reduce, np.fmin.reduce)
    agree_to_the_bit(lambda x: [function(x, axis=1) for function in functions], x)


@pytest.mark.parametrize("bits", [512, 256, 128])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_extremes_of_long_rows_find_any_place(dtype: str, bits: int) -> None:
    functions = (np.max, np.min, np.fmax.reduce, np.fmin.reduce)

    def four(*arrays: Any) -> Any:
        return [function(x) for function in functions for x in arrays]

    for length in (31, 95, 300):
        x = numbers((length,), dtype)
        arrays = [x]
        for place in (0, length // 2, length - 1):
            arrays += [np.where(np.arange(length) == place, y, x) for y in (np.nan, 99, -99)]
        with narrowed(bits):
            agree_to_the_bit(four, *(each.astype(dtype) for each in arrays))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 3, 500])
@pytest.mark.parametrize("function", [np.fmax.reduce, np.fmin.reduce])
def test_extremes_of_nothing_but_nan(function: Any, columns: int, dtype: str) -> None:
    x = np.full((3, columns), np.nan, dtype)
    x[1, -1] = 2.0
    agree_to_the_bit(lambda x: [function(x, axis=axis) for axis in (0, 1)], x)


def test_sums_in_another_dtype() -> None:
    x = numbers((30, 40), "f4")
    agree(lambda x: np.sum(x, axis=0, dtype="f8"), x, scale=np.sum(np.abs(x), axis=0, dtype="f8"))
    agree(lambda x: np.add.reduce(x, 1, "f8"), x, scale=np.sum(np.abs(x), axis=1, dtype="f8"))


def test_a_view_for_numpy_does_not_come_within_a_product() -> None:
    def of(x: Any) -> Any:
        ordered = np.take_along_axis(x, np.argsort(x), -1)
        part = x[2:]
        return np.prod(np.sign(x)), np.histogram(part, bins=4, range=(-4, 4))[0], ordered

    x = np.array([-1.0, 2.0, -2.0, -4.0])
    fast = ta.compile(of, engine="native")
    for _ in range(3):
        found = fast(x)
    assert found[0] == -1.0


def test_extremes_of_complex_numbers_where_a_mask_says_are_left_to_numpy() -> None:
    def largest(x: Any) -> Any:
        return np.max(x, where=np.real(x) > 1, initial=0)

    fast, x = ta.compile(largest, engine="native"), np.arange(4) + 1j
    for _ in range(3):
        assert fast(x) == largest(x)
    assert "complex numbers have their own order" in fast.explain()

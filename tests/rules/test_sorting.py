"""Ties, nan and order in sorting, partitioning and sets."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.rules.numpy.sorting import LARGE, stable_order
from tests.shorthand import handle

TIES = np.array([[2.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 3.0]])


def gradient(result: Any, handle: Any, weights: Any) -> Any:
    return np.sum(result * weights).grad().wrt(handle)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("kind", [None, "quicksort", "heapsort", "stable"])
def test_ties_are_sorted_in_the_order_in_which_they_stand(axis: Any, kind: Any) -> None:
    x = handle(TIES)
    result = np.sort(x, axis=axis, kind=kind)
    weights = np.arange(1.0, result.size + 1).reshape(result.shape)
    order = np.argsort(TIES, axis=axis, kind="stable")
    expected = np.zeros_like(TIES)
    if axis is None:
        expected.reshape(-1)[order] = weights
    else:
        np.put_along_axis(expected, order, weights, axis)
    np.testing.assert_array_equal(result.data, np.sort(TIES, axis=axis))
    np.testing.assert_array_equal(gradient(result, x, weights), expected)


@pytest.mark.parametrize("distinct", [5, 10**9])
def test_long_lines_are_sorted_in_the_same_order(distinct: int) -> None:
    data = np.random.default_rng(0).integers(0, distinct, (2 * LARGE, 2)) / 7
    data[::50, 1] = np.nan
    np.testing.assert_array_equal(stable_order(data, 0), np.argsort(data, 0, kind="stable"))


def test_nan_is_sorted_to_the_end() -> None:
    x = handle([3.0, np.nan, 1.0])
    result: Any = np.sort(x)
    np.testing.assert_array_equal(result.data, [1.0, 3.0, np.nan])
    np.testing.assert_array_equal(result.grad(np.array([1.0, 2.0, 3.0])).wrt(x), [2.0, 3.0, 1.0])


def test_the_arguments_of_sort_are_checked() -> None:
    with pytest.raises(UnsupportedArgumentError, match="order="):
        np.sort(handle([1.0]), order="field")
    bogus: Any = "bogus"
    with pytest.raises(ValueError, match="kind must be one of"):
        np.sort(handle([1.0]), kind=bogus)
    with pytest.raises(UnsupportedArgumentError, match="order="):
        np.partition(handle([1.0]), 0, order="field")


@pytest.mark.parametrize("axis", [0, 1, None])
def test_a_partition_is_a_rearrangement(axis: Any) -> None:
    x = handle(np.random.default_rng(0).permutation(63.0 * np.arange(63)).reshape(7, 9))
    result = np.partition(x, 4, axis=axis)
    np.testing.assert_array_equal(
        np.take(result.data, 4, axis=axis),
        np.take(np.partition(x.data, 4, axis=axis), 4, axis=axis),
    )
    np.testing.assert_array_equal(np.sort(result.data, axis), np.sort(x.data, axis))
    weights = np.arange(result.size, dtype=float).reshape(result.shape)
    expected = weights.ravel()[np.argsort(result.data, None)]
    np.testing.assert_array_equal(
        gradient(result, x, weights).ravel()[np.argsort(x.data, None)], expected
    )


def test_searching_gives_plain_places() -> None:
    x = handle([0.5, 1.0, 2.5])
    for found in (
        np.searchsorted([0.0, 1.0, 2.0], x, side="right"),
        np.digitize(x, [0.0, 1.0, 2.0]),
    ):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, [1, 2, 3])
    np.testing.assert_array_equal(np.searchsorted(x, x), [0, 1, 2])


def test_of_equal_elements_the_first_is_the_distinct_one() -> None:
    x = handle(TIES)
    values, index, inverse, counts = np.unique(x, True, True, True)
    for part, expected in zip(
        (values.data, index, inverse, counts), np.unique(TIES, True, True, True), strict=True
    ):
        np.testing.assert_array_equal(part, expected, strict=True)
    by_hand = [[3.0, 2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 4.0]]
    np.testing.assert_array_equal(gradient(values, x, [1.0, 2.0, 3.0, 4.0]), by_hand)


def test_distinct_rows_and_columns() -> None:
    data = np.array([[1.0, 2.0, 1.0], [1.0, 2.0, 1.0], [0.0, 5.0, 0.0]])
    for axis, expected in ((0, [[2, 2, 2], [0, 0, 0], [1, 1, 1]]), (1, [[1, 2, 0]] * 3)):
        x = handle(data)
        values = np.unique(x, axis=axis)
        weights = np.moveaxis(np.ones(values.shape), axis, -1) * [1, 2]
        np.testing.assert_array_equal(values.data, np.unique(data, axis=axis))
        np.testing.assert_array_equal(gradient(values, x, np.moveaxis(weights, -1, axis)), expected)


@pytest.mark.parametrize("equal_nan", [True, False])
def test_nan_as_an_element(equal_nan: bool) -> None:
    data = np.array([np.nan, 1.0, np.nan, 1.0])
    values = np.unique(handle(data), equal_nan=equal_nan)
    np.testing.assert_array_equal(values.data, np.unique(data, equal_nan=equal_nan))


@pytest.mark.parametrize("dtype", [float, complex])
def test_values_come_in_numpys_order(dtype: Any) -> None:
    data = np.random.default_rng(0).integers(0, 9, 30).astype(dtype) / 3
    x = handle(data)
    values: Any = np.unique_values(x)
    np.testing.assert_array_equal(values.data, np.unique_values(data))
    weights = np.arange(1.0, values.size + 1)
    first = [int(np.flatnonzero(data == value)[0]) for value in values.data]
    expected = np.zeros(30)
    expected[first] = weights
    np.testing.assert_array_equal(values.grad(weights.astype(dtype)).wrt(x), expected)


def test_named_results_keep_their_names() -> None:
    x = handle([2.0, 1.0, 2.0])
    for function in (np.unique_all, np.unique_counts, np.unique_inverse):
        result, expected = function(x), function(x.data)
        assert type(result) is type(expected)
        for part, other in zip(result, expected, strict=True):
            np.testing.assert_array_equal(getattr(part, "data", part), other)
        assert isinstance(result.values, ta.Tensor)


def test_sets_of_two_arrays() -> None:
    record = ta.ComputationRecord()
    one, two = record.tensor([3.0, 1.0, 3.0, 2.0]), record.tensor([2.0, 5.0, 3.0])
    functions: list[Any] = [np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d]
    expected = [
        ([3.0, 1.0, 0.0, 2.0], [0.0, 4.0, 0.0]),
        ([2.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
        ([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([0.0, 1.0, 0.0, 0.0], [0.0, 2.0, 0.0]),
    ]
    for function, (of_one, of_two) in zip(functions, expected, strict=True):
        result = function(one, two)
        np.testing.assert_array_equal(result.data, function(one.data, two.data))
        grads = np.sum(result * np.arange(1.0, result.size + 1)).grad()
        np.testing.assert_array_equal(grads.wrt(one), of_one)
        np.testing.assert_array_equal(grads.wrt(two), of_two)


def test_the_common_elements_of_two_dtypes() -> None:
    x = handle(np.array([2.0, 1.0], np.float32))
    both: Any = np.intersect1d(x, [1.0, 4.0], return_indices=True)
    values, first, second = both
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values.data, [1.0])
    np.testing.assert_array_equal((first, second), [[1], [0]])
    assert values.grad(np.ones(1)).wrt(x).dtype == np.float32

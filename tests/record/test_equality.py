"""Equality with what is no array of numbers, which gives flags of one shape in whatever way."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

Array = Any

X = np.array([1.0, 2.0, 3.0])
ROWS = np.stack([X, X + 1])


class Readings:
    """Numbers of another library, which can be made an array of."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array([1.0, 5.0, 3.0])


class Labels(Readings):
    """Numbers that take part in ufuncs and wrap results, as those of pandas do."""

    def __array_wrap__(self, array: Array, *args: Any) -> Array:
        return array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [np.asarray(each) if each is self else each for each in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __eq__(self, other: object) -> Any:
        return np.asarray(self) == other if isinstance(other, np.ndarray) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as arrays have none


OTHERS = (
    *(None, "a", ["a", "b", "c"], np.array(["a", "b", "c"]), np.str_("a")),
    *(np.datetime64("2020-01-01"), np.array(["2020-01-01"] * 3, "M8[D]"), {1.0}, object()),
    *(Fraction(1), Decimal(2), range(1, 4), [1.0, None, 3.0], Readings(), Labels()),
)


def handled(function: Callable[..., Any]) -> Array:
    x = ta.ComputationRecord().tensor(X)
    return [function(x), function(x * 1 + 1)]


def replayed(function: Callable[..., Any]) -> Array:
    compiled = ta.compile(function, engine="numpy")
    return [compiled(x) for x in ROWS]


@pytest.mark.parametrize(
    "way",
    [handled, replayed, lambda f: ta.batched(f)(ROWS)],
    ids=["handles", "compiled", "batched"],
)
@pytest.mark.parametrize("other", OTHERS, ids=lambda other: type(other).__name__)
def test_equality_with_what_is_no_array_of_numbers(other: Any, way: Any) -> None:
    functions: tuple[Callable[..., Any], ...] = (lambda x: x == other, lambda x: x != other)
    for function in functions:
        found, expected = way(function), [function(x) for x in ROWS]
        for each, plain in zip(found, expected, strict=True):
            assert np.shape(each) == np.shape(plain)
            np.testing.assert_array_equal(each, plain)


@pytest.mark.parametrize("other", [None, "a", ["a", "b", "c"], Fraction(1), Fraction(9), [1, 5, 3]])
def test_what_is_in_an_array(other: Any) -> None:
    assert (other in ta.ComputationRecord().tensor(X)) is (other in X)
    assert ta.compile(lambda x: other in x, engine="numpy")(X) is (other in X)


@pytest.mark.parametrize(
    "listed",
    [
        lambda x: [x[0], 2.0, x[1]],
        lambda x: (x[0], 2.0, x[1]),
        lambda x: [x, [1.0, x[2], 3.0]],
    ],
)
@pytest.mark.parametrize("way", [handled, replayed], ids=["handles", "compiled"])
def test_lists_with_handles_are_compared_as_arrays(listed: Any, way: Any) -> None:
    functions: tuple[Callable[..., Any], ...] = (
        lambda x: x == listed(x),
        lambda x: x != listed(x),
    )
    for function in functions:
        np.testing.assert_array_equal(way(function), [function(x) for x in ROWS])

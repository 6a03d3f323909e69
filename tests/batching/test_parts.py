"""The size of a batch, and parts of it that are computed one after the other."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ShapeError
from tests.batching.cases import FUNCTIONS, Array, X, filled, same


def test_what_has_no_axis_is_computed_for_as_many_as_are_told() -> None:
    axes = {"sum": 0, "x": -1}
    found = ta.batched(lambda x: {"sum": np.sum(x), "x": x}, None, axes, axis_size=2)(X)
    np.testing.assert_array_equal(found["sum"], [np.sum(X)] * 2)
    np.testing.assert_array_equal(found["x"], np.stack([X, X], -1))


def test_a_size_that_is_not_that_of_the_arguments_is_an_error() -> None:
    with pytest.raises(ShapeError, match="axis_size is 4, and x has 5 along axis 0"):
        ta.batched(lambda x: x, axis_size=4)(X)
    with pytest.raises(ValueError, match="axis_size= tells the size"):
        ta.batched(lambda x: x, None)(X)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parts_of_a_batch_give_what_all_of_it_does(name: str) -> None:
    same(ta.batched(FUNCTIONS[name], batch_size=2)(X), [FUNCTIONS[name](x) for x in X])


@pytest.mark.parametrize("batch_size", [1, 2, 5, 7])
def test_parts_of_a_batch_are_differentiated(batch_size: int) -> None:
    one = ta.grad(lambda x: np.sum(filled(x) ** 2))
    parts = ta.batched(filled, batch_size=batch_size)

    same(ta.grad(lambda x: np.sum(parts(x) ** 2))(X), [one(x) for x in X])


def test_parts_are_joined_along_the_axes_of_the_results() -> None:
    def f(x: Array, y: Array, scale: float) -> dict[str, Any]:
        return {"rows": [x * scale, y], "sum": np.sum(x), "same": scale, "name": "f"}

    axes = {"rows": [1, -1], "sum": 0, "same": None, "name": None}
    found = ta.batched(f, (1, 0, None), axes, batch_size=2)(X, X.T, 2.0)
    expected = ta.batched(f, (1, 0, None), axes)(X, X.T, 2.0)
    assert found["name"] == "f"
    assert found["same"] == 2.0
    np.testing.assert_allclose(found["sum"], expected["sum"], rtol=1e-15)
    for one, other in zip(found["rows"], expected["rows"], strict=True):
        np.testing.assert_array_equal(one, other)


def test_parts_take_memory_for_so_many() -> None:
    def f(x: Array) -> Array:
        return np.sum(np.exp(x * np.ones((100, 100))))

    x = np.linspace(0.0, 1.0, 256)
    peaks = []
    for batch_size in (None, 8):
        tracemalloc.start()
        ta.batched(f, batch_size=batch_size)(x)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] / 10


@pytest.mark.parametrize("sizes", [{"batch_size": 0}, {"batch_size": -1}, {"axis_size": -1}])
def test_a_size_has_to_be_positive(sizes: Any) -> None:
    with pytest.raises(ValueError, match="has to be positive"):
        ta.batched(np.sin, **sizes)

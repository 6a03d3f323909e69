"""Copies that fill arrays which they have made, where arrays are captured or batched."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta


@ta.differentiable
def halves(x: Any) -> Any:
    """Fill an array that is not cleared, in two parts, and read it."""
    out = np.empty(len(x))
    part = out[: len(x) // 2]
    part[:] = np.exp(x[: len(x) // 2])
    out[len(x) // 2 :] = x[len(x) // 2 :] ** 2
    return out, out.sum()


X = np.array([0.3, -0.2, 1.1, 0.7])


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_the_values_of_a_compiled_one_are_those_of_the_original(engine: Any) -> None:
    compiled = ta.compile(halves, engine=engine)
    for scale in (1.0, 1.5, 0.5, 2.0):
        for found, expected in zip(compiled(scale * X), halves(scale * X), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_a_batch_is_filled_at_once() -> None:
    points = np.stack([X, 2 * X, -X])
    found, sums = ta.batched(halves)(points)  # without a loop, which would be a warning
    np.testing.assert_array_equal(found, [halves(x)[0] for x in points])
    np.testing.assert_allclose(sums, [halves(x)[1] for x in points], rtol=1e-15)


def test_gradients_of_compiled_and_batched_ones() -> None:
    def loss(x: Any) -> Any:
        filled, total = halves(x)
        return np.sum(filled**2) * total

    compiled = ta.compile(ta.grad(loss))
    for scale in (1.0, 1.5, 0.5, 2.0):
        np.testing.assert_allclose(compiled(scale * X), ta.grad(loss)(scale * X), rtol=1e-13)
    points = np.stack([X, 2 * X])
    expected = [ta.grad(loss)(x) for x in points]
    np.testing.assert_allclose(ta.batched(ta.grad(loss))(points), expected, rtol=1e-13)


@ta.differentiable
def floored(x: Any) -> Any:
    """Make an array of a number, and write to it."""
    total = np.asarray(np.sum(x**2))
    total[total < 1] = 1
    return total


def test_an_array_of_a_number_of_each_is_written_to() -> None:
    points = np.stack([X, 2 * X, 0.1 * X])
    np.testing.assert_allclose(ta.batched(floored)(points), [floored(x) for x in points])
    slopes = ta.batched(ta.grad(floored))(points)
    np.testing.assert_allclose(slopes, [2 * X, 4 * X, 0 * X])


def test_a_number_within_an_object_is_captured() -> None:
    class Result:
        def __init__(self, total: Any) -> None:
            self.total = total

    @ta.differentiable
    def told(x: Any) -> Any:
        out = np.zeros(2)
        out[:] = x[:2]
        return Result(out.sum())

    compiled = ta.compile(lambda x: told(x).total)
    for x in X, 2 * X, 3 * X:
        assert told(x).total == compiled(x) == x[:2].sum()
    assert len(compiled.programs) == 1


@ta.differentiable
def sorted_in_place(x: Any) -> Any:
    """Sort an array, and write through its flat view."""
    y = np.array(x)
    y.sort()
    table = np.zeros((2, 2))
    table.flat[:3] = y[:3]
    table.put([3], y[3] ** 2)
    return np.sum(table * np.arange(4.0).reshape(2, 2)) + sum(each**2 for each in y.flat)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_arrays_that_are_captured_are_sorted_and_have_a_flat_view(engine: Any) -> None:
    compiled = ta.compile(sorted_in_place, engine=engine)
    slopes = ta.compile(ta.grad(sorted_in_place), engine=engine)
    for x in (X, 2 * X, -X):
        np.testing.assert_allclose(compiled(x), sorted_in_place(x), rtol=1e-14)
        np.testing.assert_allclose(slopes(x), ta.grad(sorted_in_place)(x), rtol=1e-14)

"""Clipping, choosing and comparing: at bounds, at ties, and with what is no number."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tape_ad as ta
from tests.shorthand import gradients_of, handle

Array = Any
Function = Callable[..., Any]

INF, NAN = np.inf, np.nan
POINTS = [-INF, -1.0, -0.0, 0.0, 0.5, INF, NAN]
TRIPLES = np.array(list(itertools.product(POINTS, repeat=3))).T


def in_two_steps(x: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(x, low), high)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@np.errstate(invalid="ignore")  # of the sum; the slopes are what is looked at
def test_clip_differentiates_as_maximum_and_minimum_do(dtype: Any) -> None:
    operands = TRIPLES.astype(dtype)
    clipped, stepped = gradients_of(np.clip, *operands), gradients_of(in_two_steps, *operands)
    assert_array_equal(clipped, stepped, strict=True)


@pytest.mark.parametrize(("low", "high"), [*itertools.product(POINTS, repeat=2)])
@np.errstate(invalid="ignore")  # of the sum; the slopes are what is looked at
def test_clip_by_numbers_differentiates_as_maximum_and_minimum_do(low: float, high: float) -> None:
    x = np.array(POINTS)
    (clipped,) = gradients_of(lambda x: np.clip(x, low, high), x)
    (stepped,) = gradients_of(lambda x: in_two_steps(x, low, high), x)
    assert_array_equal(clipped, stepped)


def test_bounds_that_meet_leave_a_quarter_to_what_is_on_both() -> None:
    x, low, high = gradients_of(np.clip, np.array([0.5, 1.0, 2.0]), 1.0, 1.0)
    assert_array_equal(x, [0, 0.25, 0])
    assert (low, high) == (0.5 + 0.25 + 0, 0.5 + 0.5 + 1)


@pytest.mark.parametrize("bounds", [(1j, 2 + 1j), (0j, 0j), (1.0, 0.0)])
def test_clip_of_complex_numbers_takes_their_order(bounds: tuple[complex, complex]) -> None:
    z = np.array([0j, 1j, 2 + 1j, 1 + 5j, 3 - 1j])
    (clipped,) = gradients_of(lambda z: np.clip(z, *bounds), z)
    (stepped,) = gradients_of(lambda z: in_two_steps(z, *bounds), z)
    assert_array_equal(clipped, stepped, strict=True)


@pytest.mark.parametrize("bad", [INF, NAN])
def test_what_is_clipped_hides_a_cotangent_that_is_no_number(bad: float) -> None:
    x = handle(np.array([-3.0, 0.5, 1.0]))
    found = np.clip(x, -1, 1).grad(seed=np.array([bad, 1.0, 1.0])).wrt(x)
    assert_array_equal(found, [0, 1, 0.5])


@np.errstate(divide="ignore")
def test_what_is_clipped_hides_what_is_singular_behind_it() -> None:
    x = np.array([0.0, 1.0, 3.0])
    assert_array_equal(ta.grad(lambda x: np.sum(np.clip(np.log(x), 0.0, 5.0)))(x), [0, 0.5, 1 / 3])
    curved = ta.hessian(lambda x: np.sum(np.clip(np.log(x), 0.0, 5.0)))(x)
    assert_array_equal(np.diagonal(curved), [0, -0.5, -1 / 9])


def test_a_clip_of_both_bounds_is_one_node_with_numpys_value() -> None:
    x = handle(np.array([-0.0, 0.0, -2.0, NAN]))
    clipped = np.clip(x, 0.0, 1.0)
    assert len(x.record) == 2
    assert_array_equal(clipped.data, np.clip(x.data, 0.0, 1.0))
    assert_array_equal(np.signbit(clipped.data), np.signbit(np.clip(x.data, 0.0, 1.0)))


@pytest.mark.parametrize(
    "condition",
    [
        [True, False, True, True],
        np.array([2, 0, -1, 1], np.int8),
        np.array([0.5, -0.0, NAN, INF]),
        np.array([1j, 0j, 1.0, NAN]),
    ],
)
@np.errstate(invalid="ignore")  # of the sum; the slopes are what is looked at
def test_whatever_is_not_zero_is_true_of_a_condition(condition: Any) -> None:
    x, y = gradients_of(lambda x, y: np.where(condition, x, y), np.ones(4), np.ones(4))
    assert_array_equal(x, [1, 0, 1, 1])
    assert_array_equal(y, [0, 1, 0, 0])


def test_a_condition_may_change_after_the_call() -> None:
    x, condition = handle(np.ones(3)), np.array([True, False, True])
    chosen: Any = np.where(condition, x, 0.0)
    condition[:] = False
    assert_array_equal(chosen.grad(seed=np.ones(3)).wrt(x), [1, 0, 1])


@pytest.mark.parametrize("extremum", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("beside", [np.int8(2), 2, np.array([2, 2, 2], np.uint64), np.float32(2)])
def test_a_number_of_another_kind_ties_as_well(extremum: Function, beside: Any) -> None:
    (found,) = gradients_of(lambda x: extremum(x, beside), np.array([1.0, 2.0, 3.0]))
    assert found[1] == 0.5
    assert set(found[[0, 2]]) == {0, 1}


def test_a_tie_is_of_the_numbers_that_numpy_compares() -> None:
    x = np.array([0.1, 0.25], np.float32)
    (weak,) = gradients_of(lambda x: np.maximum(x, 0.1), x)
    (strong,) = gradients_of(lambda x: np.maximum(x, np.float64(0.1)), x)
    assert_array_equal(weak, np.array([0.5, 1], np.float32), strict=True)
    assert_array_equal(strong, np.array([1, 1], np.float32), strict=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("bad", [INF, NAN])
@np.errstate(invalid="ignore")  # of 0 times inf, in the value
def test_a_mask_in_the_memory_of_a_large_cotangent_hides_as_well(dtype: Any, bad: float) -> None:
    x = np.tile(np.array([-1.0, 0.0, 2.0], dtype), 10_000)
    weights = np.tile(np.array([bad, 3.0, 5.0], dtype), 10_000)
    record = ta.ComputationRecord()
    leaf = record.tensor(x)
    total: Any = np.maximum(leaf * 1, 0.0) * weights
    found = total.grad(seed=np.ones_like(x)).wrt(leaf)
    assert_array_equal(found, np.tile(np.array([0, 1.5, 5], dtype), 10_000), strict=True)
    assert_array_equal(weights[:3], np.array([bad, 3.0, 5.0], dtype))


@pytest.mark.parametrize("stack", [(), (2,)])
def test_a_mask_that_broadcasts_works_in_the_memory_of_a_large_cotangent(
    stack: tuple[int, ...],
) -> None:
    leaf = handle(np.ones((30, 1000)))
    rows = np.arange(30)[:, None] % 2 == 0
    total: Any = np.where(rows, leaf * 2, leaf) * 3.0
    found = total.grad(seed=np.ones((*stack, 30, 1000))).wrt(leaf)
    assert_array_equal(found, np.broadcast_to(np.where(rows, 6.0, 3.0), (*stack, 30, 1000)))


def test_pieces_are_chosen_by_their_own_values_in_batches() -> None:
    def bent(x: Any) -> Any:
        return np.sum(np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, np.sin]))

    points = np.array([[-1.0, 0.5, 2.0], [0.3, -0.2, -3.0]])
    wanted = np.where(points < 0, 2 * points, np.cos(points))
    np.testing.assert_allclose([ta.grad(bent)(x) for x in points], wanted)
    with pytest.warns(ta.errors.BatchWarning, match="one of the batch after the other"):
        np.testing.assert_allclose(ta.batched(ta.grad(bent))(points), wanted)


def test_no_places_are_taken_out_or_put_in() -> None:
    x = np.arange(4.0)
    for function in (lambda h: np.delete(h, []), lambda h: np.insert(h, [], 5.0)):
        np.testing.assert_array_equal(ta.grad(lambda h, f=function: np.sum(f(h) * x))(x), x)

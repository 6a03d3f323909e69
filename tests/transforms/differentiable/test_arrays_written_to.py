"""Arrays that code writes to after handles were computed with them."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.transforms.differentiable import foreign_code as foreign

Array = Any


def by_key(x: Any, mask: Array) -> Any:
    mask = mask > 0
    found = x[mask]
    mask[...] = ~mask
    return found


def by_assignment(x: Any, mask: Array) -> Any:
    mask = mask > 0
    found = np.zeros(3)
    found[mask] = x[mask]
    mask[...] = ~mask
    return found


def by_choice(x: Any, mask: Array) -> Any:
    mask = mask > 0
    found = np.where(mask, x, 0.0)
    mask[...] = ~mask
    return found


@pytest.mark.parametrize("function", [by_key, by_assignment, by_choice])
def test_a_mask_that_is_written_to_later(function: Any) -> None:
    copy = ta.differentiable(function)
    mask = np.array([1.0, -1.0, 1.0])
    found = ta.grad(lambda x: np.sum(copy(x, mask) ** 2))(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [2.0, 0.0, 6.0])


def test_a_plain_array_that_finds_the_places_of_a_handle() -> None:
    edges = np.array([0.5, 1.5, 2.5])
    copy = ta.differentiable(lambda x: x * edges.searchsorted(x))
    found = ta.grad(lambda x: np.sum(copy(x)))(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [1.0, 2.0, 3.0])


def test_what_a_call_leaves_behind_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "SHELF", {})
    monkeypatch.setattr(foreign, "NOTES", [])
    monkeypatch.setattr(foreign, "SEEN", set())
    monkeypatch.setattr(foreign, "latest", None)
    point = np.array([1.0, 2.0, 3.0])

    found = ta.grad(ta.differentiable(foreign.leaving_behind))(point)

    np.testing.assert_array_equal(found, [9.0, 1.0, 1.0])
    zeros, (ones,) = foreign.SHELF[3]
    left = [zeros, ones, foreign.NOTES[0], foreign.HOLDER.weights, foreign.latest]
    assert list(map(type, left)) == [np.ndarray] * 5
    assert [*foreign.SHELF] == [3]
    assert not foreign.SEEN
    assert foreign.leaving_behind(point) == 6.0 + 6.0 + 1.0
    foreign.SHELF.clear()


def test_what_a_method_leaves_in_the_users_own_object_is_plain() -> None:
    holder = foreign.Holder()

    assert ta.grad(ta.differentiable(holder.keep))(1.0) == 6.0
    assert type(holder.weights) is np.ndarray
    assert type(holder.result) is ta.Tensor  # which has the gradient


def test_what_does_not_depend_on_a_handle_is_plain_in_results() -> None:
    @ta.differentiable
    def results(x: Any) -> Any:
        return {"slope": x * 2, "weights": np.ones(3), "more": [np.zeros(2), (np.arange(2.0),)]}

    found = results(ta.ComputationRecord().tensor(1.0))

    assert type(found["slope"]) is ta.Tensor
    zeros, (numbers,) = found["more"]
    assert list(map(type, (found["weights"], zeros, numbers))) == [np.ndarray] * 3


def in_order(low: Any, high: Any) -> Any:
    low, high = np.broadcast_arrays(low, high.copy())
    swapped = high < low
    low[swapped], high[swapped] = high[swapped], low[swapped]
    return 2 * low + high


def test_a_copy_that_is_broadcast_beside_a_handle_is_written_to() -> None:
    low, high = np.array([0.0, 1.5]), np.array([1.0, 0.5])
    found = ta.jacobian(lambda x: ta.differentiable(in_order)(x * 1, high))(low)
    np.testing.assert_array_equal(found, np.diag([2.0, 1.0]))

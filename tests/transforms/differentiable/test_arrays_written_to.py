"""Arrays that code writes to after handles were computed with them."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta

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

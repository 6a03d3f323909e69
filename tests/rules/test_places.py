"""Whether a key names a place twice, on which it depends how elements are added up."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.maps.memory import names_each_once

WHOLE = slice(None)

ONCE: list[tuple[tuple[Any, ...], tuple[int, ...]]] = [
    ((np.array([2, 0, 1]),), (3,)),
    ((np.array([-1, 0]),), (3,)),
    ((WHOLE, np.array([[2, 0], [1, 3]])), (2, 4)),
    ((0, None, np.array([2, 0])), (2, 4)),
    ((Ellipsis, np.array([1])), (3,)),
    ((np.array([], int),), (3,)),
]
NOT_KNOWN: list[tuple[tuple[Any, ...], tuple[int, ...]]] = [
    ((np.array([2, 0, 2]),), (3,)),
    ((np.array([2, -1]),), (3,)),
    ((np.array([0, 0, 0, 0]),), (3,)),
    ((WHOLE, None, np.array([[3, 0], [1, 3]])), (2, 4)),
    ((np.array([0, 1]), np.array([0, 1])), (2, 2)),
    ((np.array([True, False]),), (2,)),
]


@pytest.mark.parametrize(("key", "shape"), ONCE, ids=str)
def test_each_place_once(key: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    assert names_each_once(key, shape)


@pytest.mark.parametrize(("key", "shape"), NOT_KNOWN, ids=str)
def test_some_twice_or_not_known(key: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    assert not names_each_once(key, shape)


@pytest.mark.parametrize("rows", [[3, 1, 0, 2], [-1, 1], [3, -1, 1], [0] * 9], ids=str)
@pytest.mark.parametrize("stack", [(), (5,)], ids=["one", "stack"])
def test_rows_are_added_up(rows: list[int], stack: tuple[int, ...]) -> None:
    x, ct = np.ones((4, 300)), np.random.default_rng(0).normal(size=(*stack, len(rows), 300))
    pulled = ta.vjp(lambda x: x[np.array(rows)], x)[1](ct)[0]
    expected = np.zeros((*stack, 4, 300))
    for i, row in enumerate(rows):
        expected[..., row, :] += ct[..., i, :]
    np.testing.assert_allclose(pulled, expected, rtol=1e-14, atol=1e-14)

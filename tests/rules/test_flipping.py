"""Cyclic shifts: by any number of places, and none."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta


@pytest.mark.parametrize("shift", [0, 1, 2, 3, 4, 7, -1, -3, -8])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (0, 3)], ids=str)
@pytest.mark.parametrize("stack", [(), (2,)], ids=["one", "stack"])
def test_a_roll_is_rolled_back(
    shift: int, axis: int, shape: tuple[int, ...], stack: tuple[int, ...]
) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    ct = np.random.default_rng(2).normal(size=stack + shape)
    inside = axis if axis < 0 else axis + len(stack)
    out, pull = ta.vjp(lambda x: np.roll(x, shift, axis), x)
    np.testing.assert_array_equal(out, np.roll(x, shift, axis))
    np.testing.assert_array_equal(pull(ct)[0], np.roll(ct, -shift, inside))
    pushed: Any = ta.jvp(lambda x: np.roll(x, shift, axis), (x,), (ct,))[1]
    np.testing.assert_array_equal(pushed, np.roll(ct, shift, inside))

"""Windows on arrays that lie in memory in different ways, and own it or not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tape_ad.rules.maps import clone
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import viewed

Array = Any

CUBE = np.arange(60.0).reshape(3, 4, 5)
PICKED = np.array([2, 0, 1])

ARRAYS: dict[str, Callable[[], Array]] = {
    "contiguous": CUBE.copy,
    "gathered": lambda: CUBE[:, PICKED],
    "of a gathered one": lambda: np.sin(CUBE[:, PICKED]),  # which owns what is not contiguous
    "swapped": lambda: np.swapaxes(CUBE, 0, 1) * 1.0,
    "reversed": lambda: CUBE[::-1, :, ::-2],
    "complex": lambda: np.swapaxes(CUBE, 0, 1) * 1j,
    "cloned": lambda: clone(np.swapaxes(CUBE, 1, 2)[::-1]),
    "empty": lambda: np.swapaxes(CUBE[:0], 0, 2) * 1.0,
}
VIEWS: dict[str, Callable[[Array], Array]] = {
    "row": lambda a: a[:, 0],
    "reversed": lambda a: a[::-1],
    "transpose": lambda a: a.T,
    "real part": lambda a: a.real,
    "diagonal": lambda a: np.diagonal(a, axis1=0, axis2=2),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("array", ARRAYS)
def test_a_window_shows_the_same_part_of_any_array_of_that_layout(array: str, view: str) -> None:
    one, other = ARRAYS[array](), ARRAYS[array]()
    seen = viewed(other, Window.of(one, VIEWS[view](one)))
    np.testing.assert_array_equal(seen, VIEWS[view](other))
    assert np.shares_memory(seen, other) or not other.size

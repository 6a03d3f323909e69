"""Arrays that others have made are looked at before native code reads them."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.runtime.compiling import fits, layouts_of
from tape_ad.programs.program import Value

TABLE = np.arange(6.0).reshape(2, 3)
LAYOUTS = layouts_of([Value.like(TABLE), Value.like(np.zeros(()))])
NUMBER = np.zeros(())


def test_arrays_that_lie_as_expected_fit() -> None:
    assert fits()(LAYOUTS, TABLE, NUMBER) == 0
    assert fits()(LAYOUTS, np.ones((2, 3)), NUMBER) == 0
    assert fits()(LAYOUTS, np.ones((2, 3)).view(type("Sub", (np.ndarray,), {})), NUMBER) == 0


UNALIGNED = np.zeros(49, np.uint8)[1:].view(np.float64).reshape(2, 3)
OTHERS: dict[str, Any] = {
    "another length": np.ones((2, 4)),
    "other strides": np.ones((3, 2)).T,
    "turned": TABLE[::-1],
    "fewer axes": np.ones(6),
    "another dtype": TABLE.astype(np.int64),
    "another byte order": TABLE.astype(">f8"),
    "not aligned": UNALIGNED,
    "a number": 1.0,
    "one of NumPy's": np.float64(1.0),
    "none": None,
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_arrays_that_lie_otherwise_do_not_fit(other: Any) -> None:
    assert fits()(LAYOUTS, other, NUMBER) == -1
    assert fits()(layouts_of([Value.like(NUMBER), Value.like(TABLE)]), NUMBER, other) == -1


def test_a_constant_that_gets_another_shape_in_place_is_not_read_beyond_its_end() -> None:
    table = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    compiled = ta.compile(lambda x: np.exp(x) * table, engine="native")
    row = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        given = compiled(row)
    np.testing.assert_allclose(given, np.exp(row) * table, rtol=1e-15)
    table.resize((1, 3), refcheck=False)
    np.testing.assert_allclose(compiled(row), np.exp(row) * table, rtol=1e-15)

"""Numbers as people read them."""

from typing import Any

import numpy as np
import pytest

from tape_ad.record.inspection.pages.figures import Range, bytes_as_text, number


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (999_600, "1 MB"),
        (123_456_789, "123 MB"),
        (5e15, "5e+03 TB"),
    ],
)
def test_bytes(size: float, text: str) -> None:
    assert bytes_as_text(size) == text


def test_a_negative_zero_is_a_zero() -> None:
    assert number(-0.0) == "0"


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([3.0, -1.0]), "-1 to 3"),
        (np.array(2.0, np.float16), "2"),
        (np.float32(2.5), "2.5"),
        (np.zeros((0, 3)), "empty"),
        (np.array([np.nan, np.nan]), "2 of 2 are nan"),
        (np.array([np.nan, np.inf, -np.inf, 1.0]), "1, 1 of 4 is nan, 2 of 4 are inf"),
        (np.array([1e308, 1.5e308]), "1e+308 to 1.5e+308"),
        (np.array([3 + 4j, 0]), "modulus 0 to 5"),
        (np.array([complex(np.nan, 1), 1j]), "modulus 1, 1 of 2 is nan"),
        (np.array([1, 2**40]), "1 to 1.1e+12"),
    ],
)
def test_ranges(array: Any, text: str) -> None:
    assert str(Range.of(array)) == text

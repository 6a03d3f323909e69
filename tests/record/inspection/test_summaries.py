"""What is in a store, as a table."""

import re
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.parameters import summary


class Elsewhere:
    """An array whose values are not at hand."""

    shape, dtype, size = (2, 3), np.dtype(float), 6

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("it was read")


def test_a_name_is_escaped() -> None:
    html = summary({"<script>alert(1)</script>": np.ones(3), "größe": np.zeros(1)})._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "größe" in html


def test_html_has_the_cells_of_the_text() -> None:
    table = summary({"a": np.array([1.0, np.nan]), "b": np.zeros((0, 2), np.float32)})
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table._repr_html_())
    assert cells == [
        *("a", "(2,)", "float64", "2", "1, 1 of 2 is nan"),
        *("b", "(0, 2)", "float32", "0", ""),
        *("all", "", "", "2", ""),
    ]
    assert [cell for cell in str(table).split() if cell in cells] == [
        *("a", "(2,)", "float64", "2", "2"),  # of 2
        *("b", "float32", "0"),
        *("all", "2"),
    ]


@pytest.mark.parametrize(
    ("leaf", "values"),
    [
        (2, "2"),
        (1 + 0j, "modulus 1"),
        (np.array([True, False]), "0 to 1"),
        (Elsewhere(), ""),
        (np.array(["a", "b"]), ""),
    ],
)
def test_leaves_of_any_kind(leaf: Any, values: str) -> None:
    assert summary([leaf]).rows[0][-1] == values


def test_a_bound_store_is_described_by_its_values() -> None:
    store = {"layers": [np.ones(2), np.zeros((2, 2))]}
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    assert summary(outer.bind(store)) == summary(store)
    assert summary(inner.bind(outer.bind(store))) == summary(store)


def test_an_empty_store() -> None:
    words = [word for word in str(summary({})).split() if "─" not in word]
    assert words == ["name", "shape", "dtype", "count", "values", "all", "0"]

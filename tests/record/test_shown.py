"""How handles, records, gradients and compiled functions show in a notebook, and with rich."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.shorthand import handle


def test_a_handle_shows_its_node_its_range_and_its_values() -> None:
    rec = ta.ComputationRecord()
    t: Any = np.sin(rec.tensor(np.zeros((2, 3))))
    html = t._repr_html_()
    assert "<code>%1: float64[2,3] = sin %0</code>&ensp;0</div>" in html
    assert "[[0. 0. 0.]\n [0. 0. 0.]]</pre>" in html


def test_a_number_stands_behind_its_node() -> None:
    assert handle([1.0, 2.0]).sum()._repr_html_() == (
        "<div><code>%1: float64[] = sum %0</code>&ensp;3.</div>"
    )


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_many_elements_are_abbreviated(dtype: Any) -> None:
    html = ta.ComputationRecord().tensor(np.ones(100_000, dtype))._repr_html_()
    assert "..." in html
    assert len(html) < 400


def test_what_is_not_finite_is_counted() -> None:
    assert "1, 1 of 3 is nan, 1 of 3 is inf" in handle([np.nan, 1.0, np.inf])._repr_html_()
    assert "empty" in handle(np.zeros((0, 2)))._repr_html_()


def test_a_leaf_that_holds_a_handle_shows_its_repr() -> None:
    inner = ta.ComputationRecord(within=(x := handle([1.0])).record)
    assert "= leaf, Tensor(%0, float64[1], [1.])</code>" in inner.tensor(x)._repr_html_()


def test_a_compiled_function_folds_what_it_explains() -> None:
    f = ta.compile(lambda x: x * 2)
    f(np.ones(2))
    html = f._repr_html_()
    assert "<summary" in html
    assert "&lt;compiled &lt;lambda&gt;: 1 program&gt;</code></summary>" in html
    assert "for x: float64[2]" in html
    assert "<lambda>" not in html


def test_rich_shows_reprs_and_not_fields() -> None:
    pretty_repr = pytest.importorskip("rich.pretty").pretty_repr
    t = handle([1.0, 2.0])
    loss = np.sum(t)
    assert pretty_repr(t) == "<tape_ad.Tensor %0, float64[2], [1. 2.]>"
    assert "node %1: 2 handles reached\n" in pretty_repr([loss.grad()])
    assert pretty_repr(t.record).startswith("<ComputationRecord 2 nodes")
    assert pretty_repr(ta.compile(np.sin)) == "<Compiled np.sin: 0 programs>"

"""A look at a record and at gradients: what is shown, of what, and what is left out."""

import gc
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import RecordMismatchError
from tape_ad.record.inspection.views_of_records import look_at


def chain(size: int) -> Any:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(2))
    for _ in range(size - 1):
        x = np.sin(x)
    return rec


def layers(rec: Any) -> list[str]:
    return ["/".join(path) for path in look_at(rec).layers]


# Records


def test_values_are_known_of_handles_that_are_alive() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([1.0, np.nan, 3.0])
    y = np.exp(np.sin(x))
    lines = look_at(rec).lines
    assert [line.held for line in lines] == [True, False, True]
    assert str(lines[0].values) == "1 to 3, 1 of 3 is nan"
    assert lines[1].values is None
    assert y.shape == (3,)


def test_names_options_and_gradients_are_shown() -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"layer": {"w": np.array([[1.0, 2.0]])}})
    loss = np.sum(np.sum(p["layer"]["w"] ** 2, axis=0))
    lines = look_at(rec, loss.grad()).lines
    assert lines[0].name == "layer/w"
    assert lines[1].call == "power %0, 2"
    assert lines[2].call == "sum %1, axis=0"
    assert str(lines[0].gradient) == "2 to 4"
    assert lines[1].gradient is None
    assert look_at(rec, loss.grad()).root == 3


def test_gradients_of_another_record_are_refused() -> None:
    rec: Any = ta.ComputationRecord()
    other: Any = ta.ComputationRecord().tensor(1.0)
    with pytest.raises(RecordMismatchError, match="gradients are of another record"):
        rec.show(gradients=other.grad())
    with pytest.raises(TypeError, match=r"gradients= takes what loss\.grad\(\) returned, got dict"):
        rec.show(gradients={})


def test_a_look_holds_nothing() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))
    loss = np.sum(x * x)
    page = rec.show(gradients=loss.grad())
    before = page.html
    del x
    assert [line.held for line in look_at(rec).lines] == [False, False, True]
    assert rec.show().html != before == page.html
    assert loss.shape == ()


def test_a_handle_that_was_assigned_to_is_shown_where_it_is_now() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3)) * 1.0
    x[0] = 5.0
    held = [line.index for line in look_at(rec).lines if line.held]
    assert held == [x.index]
    assert str(look_at(rec).lines[x.index].values) == "1 to 5"


def test_handles_of_an_enclosing_record_are_looked_through() -> None:
    outer: Any = ta.ComputationRecord()
    inner: Any = ta.ComputationRecord(within=outer)
    x = outer.tensor([1.0, 2.0])
    y = inner.tensor(x)
    z = np.sum(y * y)
    look = look_at(inner, z.grad())
    assert look.nested
    assert str(look.lines[0].values) == "1 to 2"
    assert str(look.lines[0].gradient) == "2 to 4"


def test_a_constant_that_belongs_to_no_record_is_passed_over() -> None:
    asked = ta.ComputationRecord().tensor([1.0, -2.0])
    constant = asked.__array_namespace__().zeros(3)
    rec: Any = ta.ComputationRecord()
    y = 2 * rec.tensor(2.0)
    assert [line.held for line in look_at(rec).lines] == [False, True]
    assert [handle.index for handle in y.grad()] == [1]
    assert constant.index < 0


def test_a_page_is_saved_where_it_is_told(tmp_path: Path) -> None:
    rec = chain(3)
    rec.show(tmp_path / "record.html")
    rec.show(str(tmp_path / "record.svg"))
    assert (tmp_path / "record.html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "record.svg").read_text("utf-8").startswith("<svg")


def test_released_partials_are_no_hindrance() -> None:
    rec: Any = ta.ComputationRecord()
    np.sum(np.exp(rec.tensor(np.ones(3)))).grad(release=True)
    assert [line.nbytes for line in look_at(rec).lines] == [0, 0, 0]


def test_an_array_that_many_nodes_hold_is_counted_once() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(100))
    data = np.full(100, 2.0)
    for _ in range(5):
        np.sum(x * data)
    look = look_at(rec)
    held = {name: nbytes for name, _, nbytes in look.functions}
    assert held["multiply"] == rec[1].nbytes == 800


def test_a_record_is_shown_inside_a_transform_and_while_compiling() -> None:
    seen: list[str] = []

    def loss(x: Any) -> Any:
        y = np.sum(x * x)
        if hasattr(y, "record"):
            seen.append(repr(y.record.show()))
        return y

    assert ta.grad(loss)(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert ta.compile(ta.grad(loss))(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert seen[0].startswith("<Page of 3 nodes")
    assert len(seen) > 1


def test_complex_and_single_precision() -> None:
    rec: Any = ta.ComputationRecord()
    z = rec.tensor(np.array([3 + 4j], np.complex64))
    x = rec.tensor(np.float32(0.5))
    lines = look_at(rec, np.real(np.sum(z * x)).grad()).lines
    assert str(lines[0].values) == "modulus 5"
    assert lines[0].dtype == "complex64"
    assert str(lines[1].gradient) == "3"


# Layers


def test_layers_of_nn_are_told_by_names() -> None:
    model = ta.nn.Sequential(
        ta.nn.Linear("in.0", 4, 4),
        ta.nn.relu,
        ta.nn.Residual(ta.nn.Sequential(ta.nn.Linear("mid.0", 4, 4), np.tanh)),
        ta.nn.Linear("out", 4, 2),
    )
    rec: Any = ta.ComputationRecord()
    params = rec.bind(ta.nn.init(model, np.random.default_rng(0)))
    np.sum(model(params, np.ones((3, 4))))
    functions = [line.title for line in look_at(rec).lines]
    found = list(zip(functions, layers(rec), strict=True))[6:]
    assert found == [
        ("linear", "in/0"),
        ("relu", "in/0"),
        ("linear", "mid/0"),
        ("tanh", "mid/0"),
        ("add", ""),
        ("linear", "out"),
        ("sum", "out"),
    ]


def test_attention_is_one_layer_with_its_projection_inside() -> None:
    layer = ta.nn.MultiHeadAttention("attention", 8, num_heads=2)
    rec: Any = ta.ComputationRecord()
    params = rec.bind(ta.nn.init(layer, np.random.default_rng(0)))
    np.sum(layer(params, np.ones((2, 5, 8))))
    found = layers(rec)
    assert set(found) == {"attention", "attention/out_proj"}
    assert found[-1] == "attention/out_proj"
    assert found.index("attention/out_proj", 4) > 6


def test_a_dict_of_dicts_has_layers() -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"a": {"w": np.eye(2), "b": np.ones(2)}, "b": {"w": np.eye(2)}})
    np.tanh(np.ones(2) @ p["a"]["w"] + p["a"]["b"]) @ p["b"]["w"]
    assert layers(rec) == ["a", "a", "b", "a", "a", "a", "b"]


# As text


def test_a_long_record_is_printed_by_its_ends() -> None:
    lines = str(chain(1000)).splitlines()
    assert lines[39] == "%39: float64[2] = sin %38"
    assert lines[40] == "... 920 nodes: 920 sin"
    assert lines[41] == "%960: float64[2] = sin %959"
    assert "1,000 nodes, 1 leaf" in lines[-1]
    assert "rec.show()" in lines[-1]
    assert len(lines) == 82


def test_a_record_of_a_hundred_nodes_is_printed_whole() -> None:
    assert len(str(chain(100)).splitlines()) == 100
    assert len(str(chain(101)).splitlines()) == 82


def test_a_notebook_gets_a_short_table() -> None:
    html = chain(1000)._repr_html_()
    assert html.count("<tr") == 22
    assert "980 more" in html
    assert chain(20)._repr_html_().count("<tr") == 21
    assert ta.ComputationRecord()._repr_html_().count("<tr") == 1


def test_names_in_a_notebook_are_escaped() -> None:
    rec: Any = ta.ComputationRecord()
    rec.bind({"<script>": 1.0})
    assert "<script>" not in rec._repr_html_()
    assert "<script>" not in re.sub(r"<script>\"use", "", rec.show().html)


# Gradients


def test_gradients_are_gone_through_by_handles_that_are_alive() -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"w": np.ones(2), "unused": 1.0})
    y = p["w"] * 2
    loss = np.sum(y)
    grads = loss.grad()
    assert [handle.index for handle in grads] == [p["w"].index, y.index, loss.index]
    assert all(handle in grads for handle in grads)
    assert len(grads) == 3
    del y
    gc.collect()
    assert len(grads) == 2
    del p, loss, rec
    assert list(grads) == []
    assert grads


def test_handles_of_other_records_and_later_ones_are_left_out() -> None:
    rec: Any = ta.ComputationRecord()
    inner: Any = ta.ComputationRecord(within=rec)
    x = rec.tensor(1.0)
    y = inner.tensor(x)  # it has a snapshot of x
    grads = (x * 2).grad()
    z = x * 3
    assert [handle is x for handle in grads] == [True]
    assert (y.data.index, z.index) == (0, 2)


def test_a_handle_that_was_assigned_to_is_found_by_its_earlier_node() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(2)) * 1.0
    grads = np.sum(x).grad()
    x[0] = 2.0
    assert [handle is x for handle in grads] == [True]


def test_a_repr_has_ranges_by_name_and_is_short() -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind([np.full(2, float(i)) for i in range(50)])
    loss = sum(np.sum(each**2) for each in p)
    lines = repr(loss.grad()).splitlines()
    assert lines[0] == "<Gradients of node %199: 51 handles reached"
    assert lines[2].split() == ["%1", "leaf", "1", "float64[2]", "2"]
    assert lines[11] == "  ... 31 more"
    assert len(lines) == 22


def test_a_repr_of_stacked_and_of_outer_gradients() -> None:
    outer: Any = ta.ComputationRecord()
    inner: Any = ta.ComputationRecord(within=outer)
    x = inner.tensor(outer.tensor([1.0, 2.0]))
    stacked = (x * x).grad(seed=np.array([[1.0, 0.0], [0.0, np.inf]]))
    assert "float64[2,2]" in repr(stacked)
    assert "0 to 2, 1 of 4 is inf" in repr(stacked)

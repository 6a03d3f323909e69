"""What a record says of the calls that its nodes come from."""

import gc
import weakref
from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.call_metadata import name_of


@attrs.frozen
class Layer:
    weight: Any


def last(function: Any, *shapes: tuple[int, ...]) -> str:
    """Write the last node of a function of leaves of ones."""
    rec: Any = ta.ComputationRecord()
    function(*[rec.tensor(np.ones(shape)) for shape in shapes])
    call: str = rec[-1].call
    return call


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x**2, "power %0, 2"),
        (lambda x: 2 - x, "subtract 2, %0"),
        (lambda x: np.float32(0.5) * x, "multiply 0.5, %0"),
        (lambda x: x * np.ones((3, 2, 3)), "multiply %0, float64[3,2,3]"),
        (lambda x: np.ones((4, 2)) @ x, "matmul float64[4,2], %0"),
        (lambda x: np.sum(x, axis=0), "sum %0, axis=0"),
        (lambda x: np.sum(x, 0), "sum %0, axis=0"),
        (lambda x: x.mean(keepdims=True), "mean %0, keepdims=True"),
        (lambda x: x.sum(axis=(0, 1), keepdims=True), "sum %0, axis=(0, 1), keepdims=True"),
        (lambda x: np.sum(x, where=np.ones((2, 3), bool)), "sum %0, where=bool[2,3]"),
        (lambda x: x.astype(np.float32), "astype %0, float32, casting='unsafe', order='K'"),
        (lambda x: np.add.reduce(x, axis=1), "add.reduce %0, axis=1"),
        (lambda x: x.reshape(3, 2), "reshape %0, (3, 2)"),
        (lambda x: x[1:, 0], "getitem %0, (1:, 0)"),
        (lambda x: x[::-1], "getitem %0, (::-1, :)"),
        (lambda x: x[..., np.array([0, 1])], "getitem %0, (..., int64[2])"),
        (np.tanh, "tanh %0"),
        (ta.nn.relu, "relu %0"),
        (lambda x: np.where(x.data > 0, x, x.data), "where bool[2,3], %0, float64[2,3]"),
    ],
)
def test_a_call_of_one_handle(function: Any, expected: str) -> None:
    assert last(function, (2, 3)) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: y - x, "subtract %1, %0"),
        (lambda x, y: np.stack([y, x, y], axis=1), "stack [%1, %0, %1], axis=1"),
        (
            lambda x, y: np.concatenate([y, np.ones((1, 3)), x]),
            "concatenate [%1, float64[1,3], %0]",
        ),
        (lambda x, y: np.where(np.ones((2, 3), bool), y, x), "where bool[2,3], %1, %0"),
    ],
)
def test_a_call_of_two_handles(function: Any, expected: str) -> None:
    assert last(function, (2, 3), (2, 3)) == expected


def test_operands_given_by_name_stand_where_they_were_written() -> None:
    def function(x: Any, y: Any) -> Any:
        return np.linalg.solve(b=y, a=x + np.eye(2))

    assert last(function, (2, 2), (2,)) == "solve b=%1, a=%2"


def test_many_operands_are_cut_short() -> None:
    call = last(lambda *xs: np.stack(xs), *[(2,)] * 60)
    assert call.startswith("stack (%0, %1, ")
    assert call.endswith("%39, ...)")


def test_a_handle_of_an_outer_record_is_an_array_like_others() -> None:
    outer: Any = ta.ComputationRecord()
    rec: Any = ta.ComputationRecord(within=outer)
    x, y = rec.tensor(np.ones(3)), outer.tensor(np.ones(3, np.float32))
    x * y
    np.stack([x, y])
    assert [node.call for node in rec] == [
        "leaf",
        "multiply %0, float32[3]",
        "stack [%0, float32[3]]",
    ]


def test_what_was_bound_has_its_name() -> None:
    rec: Any = ta.ComputationRecord()
    rec.tensor(0.0)
    rec.bind(
        {"layers": [Layer(np.ones(2)), {"a.b": 1.0}], "größe": None, 'it\'s "<b>"': 2.0, 3: 4.0}
    )
    assert rec.names == {1: "layers/0/weight", 2: "layers/1/a.b", 3: 'it\'s "<b>"', 4: "3"}
    assert [node.name for node in rec] == ["", *rec.names.values()]
    assert rec[1].call == "leaf layers/0/weight"


def test_a_path_that_cannot_be_read_is_its_own_name() -> None:
    assert name_of("[<Kind.ONE: 1>]['w']") == "<Kind.ONE: 1>/w"
    assert name_of("[(']', 0)]") == "[(']', 0)]"
    assert name_of("") == ""


def test_no_array_is_kept_alive() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))
    constant, mask = np.ones(3), np.ones(3, bool)
    x + constant  # whose partials need neither
    np.sum(x, where=mask)
    np.concatenate([x, constant])
    refs = [weakref.ref(constant)]
    del constant
    gc.collect()
    assert [ref() for ref in refs] == [None]


def test_a_lone_node_is_let_go_as_before() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))
    held = x * 2
    loss = np.sum(held * 3, axis=0)  # the product is held by nobody
    grads = loss.grad()
    assert sorted(grads._cotangents) == [0, 1, 3]


def test_an_assignment_leaves_to_each_node_its_own_call() -> None:
    rec: Any = ta.ComputationRecord()
    y = rec.tensor(np.ones(3)) * 2
    y += 1
    y *= 4
    y[1:] = 5
    y = y * 6
    assert [node.call for node in rec] == [
        "leaf",
        "multiply %0, 2",
        "add %1, 1",
        "multiply %2, 4",
        "updated %3, 1:",
        "multiply %4, 6",
    ]


def test_a_bind_that_fails_leaves_no_names() -> None:
    rec: Any = ta.ComputationRecord()
    with pytest.raises(ta.errors.DtypeError):
        rec.bind({"a": 1.0, "b": np.array(["text"])})
    assert rec.names == {}
    assert rec.calls == {}

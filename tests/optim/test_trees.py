"""Parameters in trees of any kind: lists, nested dicts, classes, one array."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.errors import StoreMismatchError
from tape_ad.optim import LBFGS, SGD, Adam, Optimizer

Maker = Callable[..., Optimizer]


@attrs.frozen
class Line:
    slope: Any
    offset: Any


def arrays() -> list[Any]:
    return [np.array([1.0, -2.0]), np.array([[3.0]]), np.array(0.5)]


TREES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "list": lambda a, b, c: [a, b, c],
    "dict of its own class": lambda a, b, c: OrderedDict(hidden=[a, b], out=c),
    "nested": lambda a, b, c: {"hidden": {"weight": a}, "out": (b, [c])},
    "class": lambda a, b, c: {"line": Line(a, b), "rest": c},
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_every_optimizer_steps_as_with_a_store(maker: Maker, tree: Callable[..., Any]) -> None:
    flat = dict(zip("abc", arrays(), strict=True))
    params = tree(*arrays())
    held = flatten(params)
    ours, plain = maker(), maker()
    for number in (1.0, -0.5, 2.0):
        gradients = [number * array**2 for array in flat.values()]
        ours.step(params, tree(*gradients))
        plain.step(flat, dict(zip("abc", gradients, strict=True)))
    assert list(map(id, flatten(params))) == list(map(id, held))
    for array, expected in zip(held, flat.values(), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_one_array_is_a_tree() -> None:
    x = np.array([1.0, -2.0])
    optimizer = Adam(lr=0.1)
    optimizer.step(x, np.array([4.0, -4.0]))
    np.testing.assert_allclose(x, [0.9, -1.9], rtol=1e-7)
    optimizer.step(x, np.array([4.0, -4.0]))
    assert list(optimizer.state) == ["exp_avg.", "exp_avg_sq.", "step"]


def test_the_state_has_the_names_with_dots() -> None:
    optimizer = SGD(lr=0.1, momentum=0.9)
    params = {"hidden": [{"weight": np.ones(2)}], "line": Line(np.ones(1), np.ones(1))}
    optimizer.step(params, params)
    assert list(optimizer.state) == [
        *("momentum_buffer.hidden.0.weight", "momentum_buffer.line.slope"),
        "momentum_buffer.line.offset",
    ]


def test_gradients_of_a_transform_and_of_a_record_fit() -> None:
    params: Any = {"line": Line(np.array(2.0), np.array(1.0)), "rest": [np.ones(2)]}

    def loss(p: Any) -> Any:
        return p["line"].slope ** 2 + p["line"].offset * 3.0 + np.sum(p["rest"][0])

    bound = ta.ComputationRecord().bind(params)
    SGD(lr=0.5).step(params, loss(bound).grad().wrt(bound))
    SGD(lr=0.5).step(params, ta.grad(loss)(params))
    np.testing.assert_array_equal(params["line"].slope, 0.0)
    np.testing.assert_array_equal(params["line"].offset, -2.0)
    np.testing.assert_array_equal(params["rest"][0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("gradients", "words"),
    [
        ({"a": [np.ones(2)]}, r"missing \['a\.1'\]"),
        ({"a": [np.ones(2), np.ones(2)]}, r"'a\.1' has shape \(2,\), but the parameter has \(3,\)"),
        ({"a": [np.ones(2), np.ones(3)], "b": np.ones(1)}, r"unknown \['b'\]"),
    ],
)
def test_gradients_of_another_tree_change_nothing(gradients: Any, words: str) -> None:
    params = {"a": [np.ones(2), np.ones(3)]}
    with pytest.raises(StoreMismatchError, match=words):
        SGD(lr=0.5).step(params, gradients)
    assert all(np.all(array == 1.0) for array in flatten(params))


def test_names_that_are_alike_are_refused() -> None:
    params = {"a.b": np.ones(1), "a": {"b": np.ones(1)}}
    with pytest.raises(ValueError, match=r"two leaves are named 'a\.b'"):
        SGD(lr=0.5).step(params, params)


def test_a_number_in_a_tree_cannot_be_updated() -> None:
    with pytest.raises(StoreMismatchError, match=r"the parameter '1' is a float"):
        SGD(lr=0.5).step([np.ones(1), 2.0], [np.ones(1), 1.0])


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_lbfgs_gives_the_loss_the_tree(tree: Callable[..., Any]) -> None:
    pytest.importorskip("scipy", reason="SciPy is an extra")
    params = tree(*arrays())
    goal = map_leaves(lambda leaf, path: leaf + 1.0, params)

    def loss(p: Any) -> Any:
        assert type(p) is type(params)
        return sum(np.sum((a - b) ** 2) for a, b in zip(flatten(p), flatten(goal), strict=True))

    assert LBFGS(max_iter=100).minimize(params, loss).converged
    for array, expected in zip(flatten(params), flatten(goal), strict=True):
        np.testing.assert_allclose(array, expected, rtol=1e-6)

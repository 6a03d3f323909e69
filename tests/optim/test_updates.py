"""`update`: a step as a pure function, compiled, batched and differentiated."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.errors import StoreMismatchError
from tape_ad.optim import SGD, Adam, Optimizer
from tape_ad.testing import check_grads

Maker = Callable[..., Optimizer]

X = np.array([[0.5, -1.0], [2.0, 0.3], [-0.7, 1.1]])


def store(dtype: Any = np.float64) -> dict[str, Any]:
    weight = np.array([[0.4, -0.2, 1.0], [0.1, 0.9, -0.6]])
    return {"w": weight.astype(dtype), "b": np.array([0.1, 0.2, -0.3]).astype(dtype)}


def loss(p: Any, x: Any = X) -> Any:
    return np.mean(np.abs(np.tanh(x @ p["w"] + p["b"]) - 0.3) ** 2)


def assert_same(one: Any, two: Any, rtol: float = 0.0, atol: float = 0.0) -> None:
    for a, b in zip(flatten(one), flatten(two), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_it_gives_what_a_step_does_and_changes_nothing(maker: Maker, dtype: type[Any]) -> None:
    stepped, params = store(dtype), store(dtype)
    optimizer, pure = maker(), maker()
    state: dict[str, Any] = {}
    for _ in range(5):
        gradients = ta.grad(loss)(params)
        before = map_leaves(lambda leaf, _: leaf.copy(), (params, gradients, state))
        optimizer.step(stepped, ta.grad(loss)(stepped))
        after, state_after = pure.update(params, gradients, state)
        assert_same((params, gradients, state), before)
        params, state = after, state_after
        assert_same(params, stepped)
    assert pure.state == {}
    assert all(type(each) is np.ndarray for each in state.values())
    assert state.keys() == optimizer.state.keys()
    assert_same([state[key] for key in sorted(state)], [optimizer.state[k] for k in sorted(state)])
    # and each goes on from where the other is
    pure.state = {key: np.array(value) for key, value in state.items()}
    pure.step(params, gradients)
    assert_same(params, optimizer.update(stepped, gradients, optimizer.state)[0])


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_compiled_training_step_replays_though_the_rate_changes(
    maker: Maker, engine: str
) -> None:
    optimizer: Any = maker()
    plain: Any = maker()
    params, state, stepped = store(), dict[str, Any](), store()

    def step(params: Any, state: Any, lr: Any) -> Any:
        return optimizer.update(params, ta.grad(loss)(params), state, lr=lr)

    compiled = ta.compile(step, engine=engine)
    for i in range(8):
        plain.lr = 0.1 / (1 + i)
        params, state = compiled(params, state, plain.lr)
        plain.step(stepped, ta.grad(loss)(stepped))
        assert_same(params, stepped, rtol=1e-12, atol=1e-14)
    assert len(compiled.programs) <= 2  # one for the empty state, one for the rest


def test_it_is_differentiated_by_what_training_began_with_and_by_the_rate(maker: Maker) -> None:
    def trained(start: Any, rate: Any, x: Any) -> Any:
        params, state = {"w": start, "b": store()["b"]}, dict[str, Any]()
        for _ in range(3):
            gradients = ta.grad(loss)(params, x)
            params, state = maker().update(params, gradients, state, lr=rate)
        return loss(params)

    check_grads(trained, (store()["w"], np.array(0.05), X))


def test_an_ensemble_is_trained_in_a_batch(maker: Maker) -> None:
    members = np.stack([store()["w"] * k for k in (1.0, -0.5, 2.0)])

    def train(weight: Any) -> Any:
        params, state = {"w": weight, "b": store()["b"]}, dict[str, Any]()
        for _ in range(3):
            params, state = maker().update(params, ta.grad(loss)(params), state)
        return params["w"]

    together = ta.batched(train)(members)
    assert_same(together, np.stack([train(each) for each in members]), rtol=1e-12)


def test_trees_are_given_back_as_they_came() -> None:
    params = {"hidden": (np.ones(2), [np.ones(())]), "out": np.ones(3)}
    new, state = Adam(lr=0.5).update(params, params, {})
    assert new["hidden"][1][0] == pytest.approx(0.5)
    assert state.keys() >= {"exp_avg.hidden.0", "exp_avg_sq.hidden.1.0", "exp_avg.out", "step"}


P, G = {"w": np.ones(2)}, {"w": np.ones(2)}
MOVING = SGD(momentum=0.5)
MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "names": (lambda: SGD().update(P, {"v": np.ones(2)}, {}), "missing ..w.., unknown ..v.."),
    "shape": (lambda: SGD().update(P, {"w": np.ones(3)}, {}), r"gradient of 'w' has shape \(3,\)"),
    "state's shape": (
        lambda: MOVING.update(P, G, {"momentum_buffer.w": np.ones(1)}),
        r"momentum_buffer of 'w' has shape \(1,\), but the parameter has \(2,\)",
    ),
    "another's state": (lambda: SGD().update(P, G, {"exp_avg.w": np.ones(2)}), "fits nothing in"),
    "a count that is none": (
        lambda: Adam().update(P, G, {"step": np.array(1.5)}),
        "has to be a number of steps",
    ),
    "half a state": (
        lambda: MOVING.update({"a": P["w"], **P}, {"a": P["w"], **P}, {"momentum_buffer.w": P}),
        "has no 'momentum_buffer.a'",
    ),
}


@pytest.mark.parametrize(("call", "words"), MISTAKES.values(), ids=MISTAKES)
def test_what_does_not_fit_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(StoreMismatchError, match=words):
        call()

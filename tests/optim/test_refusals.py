"""What optimizers refuse, and that a refused step changes nothing at all."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import InPlaceError, StoreMismatchError
from tape_ad.optim import LBFGS, SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop

Array = np.ndarray[Any, Any]
Maker = Callable[..., Optimizer]


def read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


REFUSED: list[tuple[str, Any, Any, type[Exception], str]] = [
    (
        "missing and unknown names",
        {"b": np.ones(2), "w": np.ones(2)},
        {"b": np.ones(2), "c": np.ones(1), "a": np.ones(1)},
        StoreMismatchError,
        "the gradients' names differ from the store's: missing ['w'], unknown ['a', 'c']; pass the "
        "gradients of exactly the parameters that are to be updated",
    ),
    (
        "another shape",
        {"b": np.ones(2), "w": np.ones((2, 3))},
        {"b": np.ones(2), "w": np.ones((3, 2))},
        StoreMismatchError,
        "the gradient of 'w' has shape (3, 2), but the parameter has (2, 3)",
    ),
    (
        "a shape that would broadcast",
        {"b": np.ones(2), "w": np.ones((2, 3))},
        {"b": np.ones(2), "w": np.ones(3)},
        StoreMismatchError,
        "the gradient of 'w' has shape (3,), but the parameter has (2, 3)",
    ),
    (
        "a complex gradient of a real parameter",
        {"b": np.ones(2), "w": np.ones(3)},
        {"b": np.ones(2), "w": np.ones(3, complex)},
        StoreMismatchError,
        "the gradient of 'w' has dtype complex128, which does not fit the parameter's float64",
    ),
    (
        "a gradient of strings",
        {"b": np.ones(2), "w": np.ones(1)},
        {"b": np.ones(2), "w": np.array(["1"])},
        StoreMismatchError,
        "the gradient of 'w' has dtype <U1, which does not fit the parameter's float64",
    ),
    (
        "an integer parameter",
        {"b": np.ones(2), "w": np.ones(2, np.int64)},
        {"b": np.ones(2), "w": np.ones(2)},
        StoreMismatchError,
        "the parameter 'w' is an array of dtype int64 and shape (2,), which cannot be updated in "
        "place; keep writable arrays of a floating or complex dtype in the store",
    ),
    (
        "a read-only parameter",
        {"b": np.ones(2), "w": read_only(np.ones(2))},
        {"b": np.ones(2), "w": np.ones(2)},
        StoreMismatchError,
        "the parameter 'w' is a read-only array of dtype float64 and shape (2,), which cannot be "
        "updated in place; keep writable arrays of a floating or complex dtype in the store",
    ),
    (
        "a number",
        {"b": np.ones(2), "w": 2.0},
        {"b": np.ones(2), "w": np.array(1.0)},
        StoreMismatchError,
        "the parameter 'w' is a float, which cannot be updated in place; keep NumPy arrays in the "
        "store, np.array(2.0) for a single number",
    ),
    (
        "a set in the store",
        {"b": np.ones(2), "w": {1.0}},
        {"b": np.ones(2), "w": np.ones(1)},
        StoreMismatchError,
        "the parameter 'w' is a set, which cannot be updated in place; keep NumPy arrays in the "
        "store, np.array(2.0) for a single number",
    ),
    (
        "a handle in the store",
        {"b": np.ones(2), "w": ta.ComputationRecord().tensor(np.ones(2))},
        {"b": np.ones(2), "w": np.ones(2)},
        InPlaceError,
        "'w' is a handle, and handles are never written to; pass the plain store that rec.bind was "
        "given, and .data of gradients that belong to an enclosing record",
    ),
    (
        "a handle as the gradient",
        {"b": np.ones(2), "w": np.ones(2)},
        {"b": np.ones(2), "w": ta.ComputationRecord().tensor(np.ones(2))},
        InPlaceError,
        "'w' is a handle, and handles are never written to; pass the plain store that rec.bind was "
        "given, and .data of gradients that belong to an enclosing record",
    ),
]


@pytest.mark.parametrize(
    ("params", "gradients", "kind", "message"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_a_refused_step_changes_nothing(
    params: Any, gradients: Any, kind: type[Exception], message: str, maker: Maker
) -> None:
    before = {name: copy.deepcopy(value) for name, value in params.items()}
    optimizer = maker()
    with pytest.raises(kind) as raised:
        optimizer.step(params, gradients)
    assert str(raised.value) == message
    assert optimizer.state == {}
    assert params.keys() == before.keys()
    np.testing.assert_array_equal(params["b"], before["b"])


@pytest.mark.parametrize(
    ("velocity", "described"),
    [
        (np.zeros(3), "an array of dtype float64 and shape (3,)"),
        (np.zeros(2, np.float32), "an array of dtype float32 and shape (2,)"),
        (read_only(np.zeros(2)), "a read-only array of dtype float64 and shape (2,)"),
    ],
)
def test_the_state_of_another_store_is_refused(velocity: Array, described: str) -> None:
    params = {"b": np.ones(1), "w": np.ones(2)}
    state = {"momentum_buffer.b": np.zeros(1), "momentum_buffer.w": velocity}
    optimizer = SGD(lr=0.1, momentum=0.9, state=state)
    with pytest.raises(StoreMismatchError) as raised:
        optimizer.step(params, {"b": np.ones(1), "w": np.ones(2)})
    assert str(raised.value) == (
        f"the state 'momentum_buffer.w' is {described}, but the parameter 'w' is an array of dtype "
        "float64 and shape (2,); use one optimizer for one store, and restore its state together "
        "with its store"
    )
    assert optimizer.state["momentum_buffer.b"] == 0
    np.testing.assert_array_equal(params["b"], [1.0])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            {"exp_avg.w": np.zeros(2), "exp_avg_sq.w": np.zeros(2), "step": np.array(1)},
            "the state of Adam has no 'exp_avg.b', but it has 'exp_avg.w'; use one optimizer for "
            "one store, and restore its state together with its store",
        ),
        (
            {"momentum_buffer.w": np.zeros(2)},
            "the state of Adam has an entry 'momentum_buffer.w' that fits nothing in this store; "
            "use one optimizer for one store, and restore its state together with its store",
        ),
        (
            {"step": np.array(0.5)},
            "the state of Adam has array(0.5) as its 'step', which has to be a number of steps; "
            "restore the state that was saved",
        ),
    ],
)
def test_the_state_of_another_run_is_refused(state: dict[str, Array], message: str) -> None:
    params = {"b": np.ones(1), "w": np.ones(2)}
    optimizer = Adam(state=dict(state))
    with pytest.raises(StoreMismatchError) as raised:
        optimizer.step(params, {"b": np.ones(1), "w": np.ones(2)})
    assert str(raised.value) == message
    assert optimizer.state.keys() == state.keys()
    np.testing.assert_array_equal(params["w"], [1.0, 1.0])


def test_one_array_under_two_names_is_refused(maker: Maker) -> None:
    shared = np.ones(2)
    params = {"out": np.zeros(2), "decoder": shared, "encoder": shared}
    gradients = {name: np.ones(2) for name in params}
    message = r"^the parameters 'decoder' and 'encoder' are one array; keep it under one name"
    with pytest.raises(StoreMismatchError, match=message):
        maker().step(params, gradients)
    with pytest.raises(StoreMismatchError, match=message):
        LBFGS().minimize(params, lambda p: np.sum(p["encoder"] ** 2 + p["decoder"]))
    np.testing.assert_array_equal(shared, [1.0, 1.0])


def test_gradients_have_to_be_asked_for() -> None:
    params = {"w": np.ones(2)}
    p = ta.ComputationRecord().bind(params)
    with pytest.raises(TypeError) as raised:
        SGD(lr=0.1).step(params, np.sum(p["w"]).grad())
    assert str(raised.value) == (
        "gradients must be a mapping from names to arrays, such as grads.wrt(p), got Gradients"
    )


@pytest.mark.parametrize("lr", [-0.1, np.nan, np.inf])
@pytest.mark.parametrize("kind", [SGD, Adam, AdamW, RMSprop, Adagrad])
def test_the_rate_must_be_a_number_that_descends(kind: type[Any], lr: float) -> None:
    message = f"^{kind.__name__}: lr must be a finite number, 0 or above, got {float(lr)}$"
    with pytest.raises(ValueError, match=message):
        kind(lr=lr)


@pytest.mark.parametrize("momentum", [1, -0.1, np.nan])
@pytest.mark.parametrize("kind", [SGD, RMSprop])
def test_momentum_must_lie_below_one(kind: type[Any], momentum: float) -> None:
    message = rf"^{kind.__name__}: momentum must lie in \[0, 1\), got {float(momentum)}$"
    with pytest.raises(ValueError, match=message):
        kind(lr=0.1, momentum=momentum)


@pytest.mark.parametrize("betas", [(1, 0.9), (0.9, -0.1), (np.nan, 0.9)])
def test_betas_must_lie_below_one(betas: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"^AdamW: betas must lie in \[0, 1\), got \("):
        AdamW(betas=betas)


@pytest.mark.parametrize("settings", [{}, {"momentum": 0.9, "dampening": 0.1}])
def test_nesterov_needs_a_momentum_and_no_dampening(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^SGD: nesterov=True needs a momentum above 0 and no"):
        SGD(nesterov=True, **settings)


def test_a_rate_that_is_set_later_is_checked_too() -> None:
    optimizer = SGD(lr=0.1)
    with pytest.raises(ValueError, match=r"^SGD: lr must be a finite number, 0 or above"):
        optimizer.lr = -1.0
    assert optimizer.lr == 0.1

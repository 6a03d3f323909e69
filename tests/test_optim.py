"""Optimizers: their formulas, what they keep, and that a refused step changes nothing at all."""

import copy
import tracemalloc
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import InPlaceError, StoreMismatchError
from tape_ad.optim import SGD

Array = np.ndarray[Any, Any]


def test_plain_descent() -> None:
    params = {"w": np.array([1.0, 2.0]), "b": np.array(3.0)}
    arrays = dict(params)
    optimizer = SGD(lr=0.5)
    optimizer.step(params, {"b": np.array(-2.0), "w": np.array([4.0, 0.0])})
    np.testing.assert_array_equal(params["w"], [-1.0, 2.0])
    np.testing.assert_array_equal(params["b"], 4.0)
    assert all(params[name] is arrays[name] for name in arrays)
    assert optimizer.state == {}


def test_momentum_is_pytorchs() -> None:
    params = {"w": np.array([1.0])}
    optimizer = SGD(lr=0.1, momentum=0.5)
    seen = []
    for gradient in (1.0, 1.0, 0.0):
        optimizer.step(params, {"w": np.array([gradient])})
        seen.append((optimizer.state["w"].item(), params["w"].item()))
    np.testing.assert_allclose(seen, [(1.0, 0.9), (1.5, 0.75), (0.75, 0.675)], rtol=1e-15)


def test_the_rate_may_change_between_steps_and_leaves_the_velocity_alone() -> None:
    params = {"w": np.array([1.0])}
    optimizer = SGD(lr=0.5, momentum=0.5)
    optimizer.step(params, {"w": np.array([1.0])})
    optimizer.lr = 0.25
    optimizer.step(params, {"w": np.array([0.0])})
    assert params["w"].item() == 1 - 0.5 - 0.25 * 0.5


def test_a_step_of_what_a_record_gives() -> None:
    params = {"w": np.array([[1.0], [2.0]])}
    p = ta.ComputationRecord().bind(params)
    loss = np.sum((np.array([[1.0, 1.0]]) @ p["w"] - 1) ** 2)
    SGD(lr=0.125).step(params, loss.grad().wrt(p))
    np.testing.assert_array_equal(params["w"], [[0.5], [1.5]])


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("gradient_dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_the_dtype_of_the_parameter_stays(
    dtype: type[Any], gradient_dtype: type[Any], momentum: float
) -> None:
    params = {"w": np.ones(3, dtype)}
    optimizer = SGD(lr=np.float64(0.25), momentum=momentum)
    optimizer.step(params, {"w": np.ones(3, gradient_dtype)})
    assert params["w"].dtype == dtype
    np.testing.assert_array_equal(params["w"], [0.75, 0.75, 0.75])
    assert all(v.dtype == dtype for v in optimizer.state.values())


def test_complex_parameters_descend() -> None:
    params = {"z": np.array([3.0 + 4.0j])}
    optimizer = SGD(lr=0.25, momentum=0.5)
    for _ in range(40):
        z = ta.ComputationRecord().tensor(params["z"])
        loss = np.sum(np.abs(z - (1 - 2j)) ** 2)
        optimizer.step(params, {"z": loss.grad().wrt(z)})
    np.testing.assert_allclose(params["z"], [1 - 2j], rtol=1e-5)


def test_views_and_fortran_order_are_updated_in_place() -> None:
    whole = np.zeros((4, 6))
    params = {"view": whole[::2, ::3], "fortran": np.asfortranarray(np.zeros((2, 3)))}
    gradients = {"view": np.ones((2, 2)), "fortran": np.arange(6.0).reshape(2, 3)}
    SGD(lr=1.0, momentum=0.5).step(params, gradients)
    assert whole.sum() == -4
    np.testing.assert_array_equal(params["fortran"], -gradients["fortran"])


def test_empty_stores_and_empty_parameters() -> None:
    SGD(lr=1.0, momentum=0.5).step({}, {})
    params = {"w": np.zeros((0, 3))}
    SGD(lr=1.0, momentum=0.5).step(params, {"w": np.zeros((0, 3))})
    assert params["w"].shape == (0, 3)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_gradients_that_are_not_finite_are_applied_without_a_warning(momentum: float) -> None:
    params: dict[str, Array] = {
        "w": np.array([1.0, np.inf, 1e308]),
        "f": np.ones(1, np.float32),
    }
    gradients = {"w": np.array([np.nan, np.inf, -1e308]), "f": np.array([1e300])}
    optimizer = SGD(lr=1e3, momentum=momentum)
    with np.errstate(all="raise"):
        optimizer.step(params, gradients)
    np.testing.assert_array_equal(params["w"], [np.nan, np.nan, np.inf])
    np.testing.assert_array_equal(params["f"], np.array([-np.inf], np.float32))


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_no_temporary_is_larger_than_a_parameter(momentum: float) -> None:
    params = {name: np.zeros(100_000, np.float32) for name in "abc"}
    gradients = {name: np.ones(100_000) for name in "abc"}  # float64, to be cast on the way
    optimizer = SGD(lr=0.1, momentum=momentum)
    optimizer.step(params, gradients)
    tracemalloc.start()
    optimizer.step(params, gradients)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * params["a"].nbytes


def test_state_goes_on_after_saving_and_loading() -> None:
    rng = np.random.default_rng(0)
    start = {"w": rng.normal(size=3)}
    gradients = [{"w": rng.normal(size=3)} for _ in range(4)]
    straight, halved = copy.deepcopy(start), copy.deepcopy(start)
    optimizer = SGD(lr=0.1, momentum=0.9)
    for gradient in gradients:
        optimizer.step(straight, gradient)

    first = SGD(lr=0.1, momentum=0.9)
    first.step(halved, gradients[0])
    first.step(halved, gradients[1])
    second = SGD(lr=0.1, momentum=0.9, state=copy.deepcopy(first.state))
    second.step(halved, gradients[2])
    second.step(halved, gradients[3])
    np.testing.assert_array_equal(halved["w"], straight["w"])


# What is refused


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
        "a nested store",
        {"b": np.ones(2), "w": {"x": np.ones(2)}},
        {"b": np.ones(2), "w": {"x": np.ones(2)}},
        StoreMismatchError,
        "the parameter 'w' is a dict, which cannot be updated in place; keep NumPy arrays in the "
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


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize(
    ("params", "gradients", "kind", "message"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_a_refused_step_changes_nothing(
    params: Any, gradients: Any, kind: type[Exception], message: str, momentum: float
) -> None:
    before = {name: copy.deepcopy(value) for name, value in params.items()}
    optimizer = SGD(lr=0.1, momentum=momentum)
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
    optimizer = SGD(lr=0.1, momentum=0.9, state={"w": velocity})
    with pytest.raises(StoreMismatchError) as raised:
        optimizer.step(params, {"b": np.ones(1), "w": np.ones(2)})
    assert str(raised.value) == (
        f"the velocity of 'w' is {described}, but the parameter is an array of dtype float64 and "
        "shape (2,); use one optimizer for one store, and restore its state with the store it was "
        "saved beside"
    )
    assert list(optimizer.state) == ["w"]
    np.testing.assert_array_equal(params["b"], [1.0])


def test_gradients_have_to_be_asked_for() -> None:
    params = {"w": np.ones(2)}
    p = ta.ComputationRecord().bind(params)
    with pytest.raises(TypeError) as raised:
        SGD(lr=0.1).step(params, np.sum(p["w"]).grad())
    assert str(raised.value) == (
        "gradients must be a mapping from names to arrays, such as grads.wrt(p), got Gradients"
    )


@pytest.mark.parametrize("lr", [0, -0.1, np.nan, np.inf])
def test_the_rate_must_be_positive(lr: float) -> None:
    with pytest.raises(ValueError, match=f"^SGD: lr must be a positive number, got {float(lr)}$"):
        SGD(lr=lr)


@pytest.mark.parametrize("momentum", [1, -0.1, np.nan])
def test_momentum_must_lie_below_one(momentum: float) -> None:
    message = rf"^SGD: momentum must lie in \[0, 1\), got {float(momentum)}$"
    with pytest.raises(ValueError, match=message):
        SGD(lr=0.1, momentum=momentum)


def test_a_rate_that_is_set_later_is_checked_too() -> None:
    optimizer = SGD(lr=0.1)
    with pytest.raises(ValueError, match=r"^SGD: lr must be a positive number"):
        optimizer.lr = -1.0
    assert optimizer.lr == 0.1

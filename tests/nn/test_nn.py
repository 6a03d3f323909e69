"""Layers: where their parameters come from, what they compute, what they say when refused."""

from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import MissingParameterError, ShapeError, StoreMismatchError
from tape_ad.nn import Linear

Array = np.ndarray[Any, Any]


def test_linear_holds_configuration_and_no_data() -> None:
    layer = Linear("hidden", 3, 2, dtype=np.float32)
    assert layer.shapes == {"hidden.weight": (3, 2), "hidden.bias": (2,)}
    assert Linear("hidden", 3, 2, bias=False).shapes == {"hidden.weight": (3, 2)}
    assert layer == Linear("hidden", 3, 2, True, np.dtype("float32"))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        layer.name = "other"  # type: ignore[misc]  # that it is refused is the point


def test_linear_computes_with_a_plain_store_and_with_a_bound_one() -> None:
    rng = np.random.default_rng(7)
    layer = Linear("l", 3, 2)
    params: dict[str, Array] = {}
    layer.init(params, rng)
    x = rng.normal(size=(4, 5, 3))
    expected = x @ params["l.weight"] + params["l.bias"]
    plain = layer(params, x)
    assert type(plain) is np.ndarray
    np.testing.assert_array_equal(plain, expected)

    p = ta.ComputationRecord().bind(params)
    out = layer(p, x)
    np.testing.assert_array_equal(out.data, expected)
    grads = np.sum(out).grad().wrt(p)
    np.testing.assert_allclose(
        grads["l.weight"], np.repeat(x.sum(axis=(0, 1))[:, None], 2, axis=1), rtol=1e-13
    )
    np.testing.assert_array_equal(grads["l.bias"], [20.0, 20.0])


def test_linear_takes_a_single_sample_a_list_and_a_handle() -> None:
    layer = Linear("l", 2, 1)
    params = {"l.weight": np.array([[2.0], [3.0]]), "l.bias": np.array([1.0])}
    np.testing.assert_array_equal(layer(params, np.array([1.0, 1.0])), [6.0])
    np.testing.assert_array_equal(layer(params, [[1.0, 1.0]]), [[6.0]])
    x = ta.ComputationRecord().tensor(np.ones((1, 2)))
    np.testing.assert_array_equal(np.sum(layer(params, x)).grad().wrt(x), [[2.0, 3.0]])


def test_linear_without_bias_is_one_product() -> None:
    rec = ta.ComputationRecord()
    p = rec.bind({"l.weight": np.eye(3)})
    out = Linear("l", 3, 3, bias=False)(p, np.ones((1, 3)))
    assert [node.function for node in rec] == [None, np.matmul]
    np.testing.assert_array_equal(out.data, np.ones((1, 3)))


def test_init_draws_uniformly_within_one_over_the_root_of_the_fan_in() -> None:
    params: dict[str, Array] = {}
    Linear("l", 16, 500, dtype=np.float32).init(params, np.random.default_rng(8))
    assert [a.dtype for a in params.values()] == [np.float32, np.float32]
    assert [a.shape for a in params.values()] == [(16, 500), (500,)]
    for array in params.values():
        assert 0.24 < np.abs(array).max() <= 0.25
        assert abs(array.mean()) < 0.03
        assert abs(array.std() - 0.25 / np.sqrt(3)) < 0.01


def test_init_is_the_generators_alone() -> None:
    one: dict[str, Array] = {}
    two: dict[str, Array] = {}
    Linear("l", 3, 2).init(one, np.random.default_rng(9))
    Linear("l", 3, 2).init(two, np.random.default_rng(9))
    np.testing.assert_equal(one, two)


def test_two_layers_of_one_name_are_refused() -> None:
    params: dict[str, Array] = {}
    Linear("l", 3, 2).init(params, np.random.default_rng(0))
    before = dict(params)
    with pytest.raises(StoreMismatchError) as raised:
        Linear("l", 3, 4).init(params, np.random.default_rng(0))
    assert str(raised.value) == (
        "the store has a parameter 'l.weight' already; give the layer a name that no other layer "
        "has, or write layer.init(store, rng, keep=True) to keep what is there"
    )
    assert params == before


def test_init_changes_nothing_when_only_the_bias_is_there() -> None:
    params = {"l.bias": np.zeros(2)}
    with pytest.raises(StoreMismatchError, match=r"^the store has a parameter 'l\.bias' already;"):
        Linear("l", 3, 2).init(params, np.random.default_rng(0))
    assert list(params) == ["l.bias"]


def test_init_keeps_what_is_there_and_makes_the_rest() -> None:
    weight = np.ones((3, 2))
    params = {"l.weight": weight, "other": np.zeros(1)}
    Linear("l", 3, 2).init(params, np.random.default_rng(0), keep=True)
    assert params["l.weight"] is weight
    assert list(params) == ["l.weight", "other", "l.bias"]
    assert params["l.bias"].shape == (2,)


def test_init_keeps_nothing_of_another_shape() -> None:
    params = {"l.bias": np.zeros(3)}
    with pytest.raises(StoreMismatchError) as raised:
        Linear("l", 3, 2).init(params, np.random.default_rng(0), keep=True)
    assert str(raised.value) == (
        "the parameter 'l.bias' has shape (3,) in the store, but its layer says (2,); make the "
        "layer with the lengths that the store was made with"
    )
    assert list(params) == ["l.bias"]


def test_init_refuses_a_bound_store() -> None:
    p = ta.ComputationRecord().bind({"other": np.zeros(1)})
    with pytest.raises(StoreMismatchError) as raised:
        Linear("l", 3, 2).init(p, np.random.default_rng(0))
    assert str(raised.value) == (
        "the layer 'l' cannot initialise a bound store, for its handles belong to a record; write "
        "layer.init(params, rng) on the plain store, before rec.bind"
    )
    assert list(p) == ["other"]


def test_a_call_with_a_generator_initialises_a_plain_store_once() -> None:
    layer, params = Linear("l", 3, 2), dict[str, Array]()
    rng = np.random.default_rng(10)
    first = layer(params, np.ones((1, 3)), rng=rng)
    assert list(params) == ["l.weight", "l.bias"]
    np.testing.assert_array_equal(layer(params, np.ones((1, 3)), rng=rng), first)


def test_a_call_with_a_generator_refuses_half_a_layer() -> None:
    params = {"l.bias": np.zeros(2)}
    with pytest.raises(StoreMismatchError, match=r"^the store has a parameter 'l\.bias' already;"):
        Linear("l", 3, 2)(params, np.ones((1, 3)), rng=np.random.default_rng(0))
    with pytest.raises(MissingParameterError, match=r"'l\.bias' of shape \(2,\)"):
        Linear("l", 3, 2)({"l.weight": np.ones((3, 2))}, np.ones(3), rng=np.random.default_rng(0))
    assert list(params) == ["l.bias"]


def test_a_call_that_fails_initialises_nothing() -> None:
    params: dict[str, Array] = {}
    with pytest.raises(ShapeError):
        Linear("l", 3, 2)(params, np.ones((1, 4)), rng=np.random.default_rng(0))
    assert not params


@pytest.mark.parametrize("rng", [None, np.random.default_rng(0)])
def test_a_bound_store_is_never_initialised(rng: np.random.Generator | None) -> None:
    p = ta.ComputationRecord().bind({"other": np.zeros(1)})
    with pytest.raises(MissingParameterError) as raised:
        Linear("hidden", 3, 2)(p, np.ones((1, 3)), rng=rng)
    assert str(raised.value) == (
        "the layer 'hidden' needs the parameter 'hidden.weight' of shape (3, 2), which is not in "
        "the store; write layer.init(params, rng) on the plain store, before rec.bind(params)"
    )
    assert list(p) == ["other"]


def test_a_missing_bias_is_named_too() -> None:
    with pytest.raises(MissingParameterError, match=r"needs the parameter 'l\.bias' of shape"):
        Linear("l", 3, 2)({"l.weight": np.ones((3, 2))}, np.ones((1, 3)))


def test_a_parameter_of_another_shape_is_refused() -> None:
    params = {"l.weight": np.ones((2, 3)), "l.bias": np.ones(2)}
    with pytest.raises(StoreMismatchError, match=r"^the parameter 'l\.weight' has shape \(2, 3\)"):
        Linear("l", 3, 2)(params, np.ones((1, 3)))
    with pytest.raises(StoreMismatchError, match=r"^the parameter 'l\.weight' has shape \(2, 3\)"):
        Linear("l", 3, 2)(ta.ComputationRecord().bind(params), np.ones((1, 3)))


@pytest.mark.parametrize("x", [np.ones((5, 4)), np.ones(()), 1.0, np.ones((3, 0))])
def test_a_wrong_number_of_features_is_refused(x: Any) -> None:
    params = {"l.weight": np.ones((3, 2)), "l.bias": np.ones(2)}
    with pytest.raises(ShapeError) as raised:
        Linear("l", 3, 2)(params, x)
    assert str(raised.value) == (
        f"the layer 'l' takes an input of shape (..., 3), got one of shape {np.shape(x)}"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", 3, 2), "Linear: the name must be a string that is not empty, got ''"),
        (("l", 0, 2), "Linear: in_features must be at least 1, got 0"),
        (("l", 3, -1), "Linear: out_features must be at least 1, got -1"),
        (("l", 3, 2, True, int), "Linear: the dtype must be a real floating one, got int64"),
        (
            ("l", 3, 2, True, complex),
            "Linear: the dtype must be a real floating one, got complex128",
        ),
    ],
)
def test_linear_refuses_what_makes_no_layer(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the whole message is compared
        Linear(*arguments)
    assert str(raised.value) == message

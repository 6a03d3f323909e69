"""The store: what fills it, what takes it apart, and what is said when it does not fit."""

from typing import Any

import numpy as np
import pytest
from attrs import frozen

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import MissingParameterError, StoreMismatchError

Array = np.ndarray[Any, Any]


@frozen
class Block(nn.Layer):
    """A layer with layers in all kinds of places."""

    first: nn.Linear
    others: tuple[nn.Linear, ...]
    named: dict[str, nn.Layer]
    count: int = 0

    def __call__(self, store: Any, x: Any, *, rng: Any = None, training: bool = False) -> Any:
        for layer in (self.first, *self.others, *self.named.values()):
            x = layer(store, x, rng=rng, training=training)
        return x


def block() -> Block:
    return Block(
        nn.Linear("encoder.0", 3, 4),
        (nn.Linear("encoder.1", 4, 4, bias=False),),
        {"norm": nn.BatchNorm1d("norm", 4), "nested": nn.Sequential(nn.Linear("out.0", 4, 1))},
    )


NAMES = [
    *("encoder.0.weight", "encoder.0.bias", "encoder.1.weight", "norm.weight", "norm.bias"),
    *("norm.running_mean", "norm.running_var", "norm.num_batches_tracked"),
    *("out.0.weight", "out.0.bias"),
]


def test_parameters_are_found_wherever_layers_are_in_order() -> None:
    assert list(block().parameters) == NAMES
    assert list(block().shapes) == NAMES
    assert block().own_parameters == {}


def test_init_makes_a_store_of_arrays_that_own_their_memory() -> None:
    store = nn.init(block(), np.random.default_rng(0))
    assert list(store) == NAMES
    for name, array in store.items():
        assert isinstance(array, np.ndarray)
        assert array.flags.writeable
        assert array.flags.c_contiguous
        assert array.shape == block().shapes[name]
    assert store["norm.num_batches_tracked"].dtype == np.int64


def test_init_fills_a_store_and_is_the_generators_alone() -> None:
    filled: dict[str, Any] = {"step": np.zeros(1)}
    assert nn.init(block(), np.random.default_rng(0), filled) is filled
    assert list(filled) == ["step", *NAMES]
    other = nn.init(block(), np.random.default_rng(0))
    np.testing.assert_equal({name: filled[name] for name in NAMES}, other)


def test_init_takes_lists_and_dicts_of_layers() -> None:
    layers = {"a": [nn.Linear("a", 1, 1)], "b": (nn.relu, nn.Linear("b", 1, 1, bias=False))}
    assert list(nn.init(layers, np.random.default_rng(0))) == ["a.weight", "a.bias", "b.weight"]


def test_a_layer_that_is_there_twice_is_one() -> None:
    shared = nn.Linear("shared", 2, 2)
    model = nn.Sequential(shared, nn.tanh, shared)
    store = nn.init(model, np.random.default_rng(0))
    assert list(store) == ["shared.weight", "shared.bias"]
    p = ta.ComputationRecord().bind(store)
    grads = np.sum(model(p, np.ones((1, 2)))).grad().wrt(p)
    hidden = np.tanh(np.ones((1, 2)) @ store["shared.weight"] + store["shared.bias"])
    slope = (1 - hidden**2) * store["shared.weight"].sum(axis=1)
    np.testing.assert_allclose(grads["shared.bias"], 1 + slope[0], rtol=1e-14)


def test_two_layers_of_one_name_are_refused() -> None:
    model = nn.Sequential(nn.Linear("l", 2, 2), nn.Linear("l", 2, 2))
    store: dict[str, Any] = {}
    with pytest.raises(StoreMismatchError) as raised:
        nn.init(model, np.random.default_rng(0), store)
    assert str(raised.value) == (
        "two layers have a parameter 'l.weight'; give each a name of its own, or use one layer "
        "twice if they are to share it"
    )
    assert store == {}


def test_layers_without_a_name_are_called_by_their_kind() -> None:
    p = ta.ComputationRecord().bind({"other": np.zeros(1)})
    with pytest.raises(StoreMismatchError, match=r"^the layer 'Block' cannot initialise a bound"):
        block().init(p, np.random.default_rng(0))


def test_a_call_with_a_generator_draws_what_a_plain_store_lacks() -> None:
    store: dict[str, Any] = {}
    x = np.ones((2, 3))
    first = block()(store, x, rng=np.random.default_rng(1))
    assert sorted(store) == sorted(NAMES)
    np.testing.assert_array_equal(block()(store, x, rng=np.random.default_rng(2)), first)


def test_partition_shares_the_stores_arrays() -> None:
    store = nn.init(block(), np.random.default_rng(0))
    params, statistics = nn.partition(block(), store)
    assert list(params) == [name for name in NAMES if "running" not in name and "num" not in name]
    assert [*statistics] == ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert all(store[name] is array for name, array in (params | statistics).items())


def test_training_with_statistics_beside_bound_parameters() -> None:
    model = block()
    store = nn.init(model, np.random.default_rng(0))
    params, statistics = nn.partition(model, store)
    x = np.random.default_rng(1).normal(size=(8, 3))
    sgd = ta.optim.SGD(lr=0.1)
    losses = []
    for _ in range(50):
        p = ta.ComputationRecord().bind(params)
        loss = nn.mse_loss(model(p | statistics, x, training=True), x[:, :1])
        sgd.step(params, loss.grad().wrt(p))
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    assert store["norm.num_batches_tracked"] == 50
    assert nn.mse_loss(model(store, x), x[:, :1]) < 0.2 * losses[0]


def test_partition_and_summary_name_what_is_missing() -> None:
    with pytest.raises(MissingParameterError) as raised:
        nn.partition(nn.Linear("l", 3, 2), {})
    assert str(raised.value) == (
        "the parameter 'l.weight' of shape (3, 2) is not in the store; write nn.init(layer, rng) "
        "for a new one, or nn.init(layer, rng, store) to fill it"
    )
    with pytest.raises(StoreMismatchError, match=r"^the parameter 'l\.weight' has shape \(2, 3\)"):
        nn.summary(nn.Linear("l", 3, 2), {"l.weight": np.ones((2, 3))})


def test_running_statistics_that_are_missing() -> None:
    norm = nn.BatchNorm1d("norm", 3)
    params, _ = nn.partition(norm, nn.init(norm, np.random.default_rng(0)))
    remedy = r"'norm\.running_mean' .*; write params \| statistics, the two parts"
    for use in (nn.summary, lambda layer, store: layer(store, np.ones((2, 3)))):
        with pytest.raises(MissingParameterError, match=remedy):
            use(norm, params)


def test_summary_is_a_table() -> None:
    layers = [nn.Linear("l", 30, 50, dtype=np.float32), nn.BatchNorm1d("norm", 50, affine=False)]
    store = nn.init(layers, np.random.default_rng(0))
    store["l.bias"][:] = 0
    store["l.weight"][:] = np.linspace(-1, 2, 1500).reshape(30, 50)
    table = nn.summary(layers, store)
    rows = [line.split() for line in str(table).splitlines() if "─" not in line]
    assert rows == [
        ["name", "shape", "dtype", "count", "values"],
        ["l.weight", "(30,", "50)", "float32", "1,500", "-1", "to", "2"],
        ["l.bias", "(50,)", "float32", "50", "0"],
        ["norm.running_mean", "(50,)", "float64", "50", "0"],
        ["norm.running_var", "(50,)", "float64", "50", "1"],
        ["norm.num_batches_tracked", "()", "int64", "1", "0"],
        ["trained", "1,550"],
    ]
    assert repr(nn.summary(layers, ta.ComputationRecord().bind(store))).startswith("name")


def test_a_base_layer_computes_nothing() -> None:
    with pytest.raises(NotImplementedError):
        nn.Layer()({}, np.zeros(1))

"""Layers: what they do beside PyTorch's numbers, and what they say when refused."""

from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import DtypeError, InPlaceError, MissingParameterError, ShapeError
from tape_ad.rules.nn.images import convolve_images

Array = np.ndarray[Any, Any]

RNG = np.random.default_rng


def stored(layer: Any) -> Any:
    return nn.init(layer, RNG(0))


EVERY_LAYER: list[tuple[Any, tuple[int, ...]]] = [
    (nn.Linear("l", 4, 3), (2, 4)),
    (nn.Conv1d("l", 2, 3, 2), (5, 2, 4)),
    (nn.Conv2d("l", 2, 3, 2, padding=1), (5, 2, 4, 3)),
    (nn.MaxPool1d(2), (2, 4)),
    (nn.MaxPool2d(2), (2, 4, 4)),
    (nn.AvgPool1d(2), (2, 4)),
    (nn.AvgPool2d(2), (2, 4, 4)),
    (nn.LayerNorm("l", 4), (2, 4)),
    (nn.BatchNorm1d("l", 4), (3, 4)),
    (nn.BatchNorm2d("l", 4), (3, 4, 2, 2)),
    (nn.Dropout(), (2, 4)),
    (nn.Flatten(), (2, 4, 2)),
    (nn.RNNCell("l", 4, 3), (2, 4)),
    (nn.LSTMCell("l", 4, 3), (2, 4)),
    (nn.GRUCell("l", 4, 3), (2, 4)),
    (nn.MultiHeadAttention("l", 4, 2), (2, 3, 4)),
    (nn.Sequential(nn.Linear("l", 4, 4), nn.relu), (2, 4)),
    (nn.Residual(nn.Linear("l", 4, 4)), (2, 4)),
]

every_layer = pytest.mark.parametrize(
    ("layer", "shape"), EVERY_LAYER, ids=lambda x: type(x).__name__
)


@every_layer
def test_a_layer_is_plain_numpy_on_plain_arrays(layer: Any, shape: tuple[int, ...]) -> None:
    x = RNG(1).normal(size=shape)
    store = stored(layer)
    outs = layer(store, x)
    p = ta.ComputationRecord().bind(nn.partition(layer, store)[0])
    recorded = layer(store | p, x)
    for out, handle in zip(np.atleast_2d(outs), np.atleast_2d(values(recorded)), strict=True):
        assert type(out) is np.ndarray
        np.testing.assert_array_equal(out, handle)


def values(recorded: Any) -> Any:
    if isinstance(recorded, tuple):
        return [values(each) for each in recorded]
    return recorded.data if isinstance(recorded, ta.Tensor) else recorded


@every_layer
def test_a_layer_is_configuration(layer: Any, shape: tuple[int, ...]) -> None:
    assert isinstance(hash(layer), int)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        layer.name = "other"


@every_layer
def test_a_layer_writes_to_no_array(layer: Any, shape: tuple[int, ...]) -> None:
    x = RNG(1).normal(size=shape)
    store = stored(layer)
    params, _ = nn.partition(layer, store)
    before = {name: value.tobytes() for name, value in (params | {"x": x}).items()}
    record = ta.ComputationRecord()
    p = record.bind(params)
    out = layer(store | p, record.tensor(x), rng=RNG(2), training=True)
    total = sum(map(np.sum, out)) if isinstance(out, tuple) else np.sum(out)
    total.grad().wrt(p)
    assert {name: value.tobytes() for name, value in (params | {"x": x}).items()} == before


# Embedding and dropout


def test_embedding_gradient_adds_up_rows_and_leaves_the_others_zero() -> None:
    p = ta.ComputationRecord().bind({"e.weight": np.ones((1000, 2))})
    out = nn.Embedding("e", 1000, 2)(p, [7, 3, 7])
    gradient = np.sum(out * np.array([[1.0], [10.0], [100.0]])).grad().wrt(p)["e.weight"]
    assert np.flatnonzero(gradient[:, 0]).tolist() == [3, 7]
    np.testing.assert_array_equal(gradient[[3, 7]], [[10, 10], [101, 101]])


def test_embedding_draws_zeros_for_padding() -> None:
    table = stored(nn.Embedding("e", 5, 3, padding_idx=-2))["e.weight"]
    assert np.flatnonzero(np.all(table == 0, axis=1)).tolist() == [3]


@pytest.mark.parametrize(
    ("numbers", "kind", "message"),
    [
        ([0, 5], IndexError, "embedding: the numbers must lie in 0..4, got 0..5"),
        ([-1, 2], IndexError, "embedding: the numbers must lie in 0..4, got -1..2"),
        ([0.0], TypeError, "embedding: the numbers must be integers, got dtype float64"),
    ],
)
def test_embedding_refuses(numbers: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as raised:
        nn.embedding(numbers, np.ones((5, 2)))
    assert str(raised.value) == message


def test_embedding_of_unsigned_and_of_no_numbers() -> None:
    table = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(nn.embedding(np.array([2], np.uint8), table), [[4.0, 5.0]])
    assert nn.embedding([], table).shape == (0, 2)


def test_dropout_is_the_generators_alone() -> None:
    x = np.ones(1000)
    one = nn.dropout(x, 0.3, rng=RNG(5))
    np.testing.assert_array_equal(one, nn.dropout(x, 0.3, rng=RNG(5)))
    assert set(np.unique(one)) == {0.0, 1 / 0.7}
    assert 0.65 < np.mean(one > 0) < 0.75
    np.testing.assert_array_equal(nn.dropout(x, 1.0, rng=RNG(5)), 0 * x)


def test_dropout_needs_a_generator_in_training_alone() -> None:
    x = np.ones(3)
    none: dict[str, np.ndarray] = {}
    assert nn.Dropout()(none, x) is x
    assert nn.Dropout(0.0)(none, x, training=True) is x
    with pytest.raises(TypeError) as raised:
        nn.Dropout()({}, x, training=True)
    assert str(raised.value) == (
        "dropout in training needs a generator to choose with; write layer(store, x, rng=rng, "
        "training=True) or dropout(x, p, rng=rng)"
    )


def test_sequential_and_residual_pass_training_on() -> None:
    model = nn.Sequential(nn.Residual(nn.Sequential(nn.Dropout(1.0))))
    np.testing.assert_array_equal(model({}, np.ones(3)), 2 * np.ones(3))
    np.testing.assert_array_equal(model({}, np.ones(3), rng=RNG(0), training=True), np.ones(3))


# Convolution


def test_a_convolution_is_one_node_with_its_bias() -> None:
    layer = nn.Conv2d("c", 1, 2, 3)
    record = ta.ComputationRecord()
    p = record.bind(stored(layer))
    layer(p, np.ones((1, 1, 5, 5)))
    assert [node.function for node in record][2:] == [convolve_images]


def test_a_convolution_of_no_images() -> None:
    layer = nn.Conv2d("c", 1, 2, 3)
    record = ta.ComputationRecord()
    p = record.bind(stored(layer))
    out = layer(p, np.ones((0, 1, 5, 5)))
    assert out.shape == (0, 2, 3, 3)
    assert not np.sum(out).grad().wrt(p)["c.weight"].any()


# Normalisation


def test_running_statistics_that_were_bound_are_refused_in_training() -> None:
    layer = nn.BatchNorm1d("norm", 2)
    p = ta.ComputationRecord().bind(stored(layer))
    with pytest.raises(InPlaceError) as raised:
        layer(p, np.eye(2), training=True)
    assert str(raised.value) == (
        "the running statistics of the layer 'norm' are updated in place, so they must be plain "
        "arrays, not handles; write params, statistics = nn.partition(layer, store), and call the "
        "layer with rec.bind(params) | statistics"
    )


def test_batch_norm_refuses_what_it_cannot_learn_from() -> None:
    layer = nn.BatchNorm1d("norm", 2)
    store = stored(layer)
    with pytest.raises(ShapeError, match=r"^the layer 'norm' needs more than one value a channel"):
        layer(store, np.ones((1, 2)), training=True)
    with pytest.raises(ShapeError, match=r"^the layer 'norm' takes an input of \(2, 3\) axes"):
        layer(store, np.ones((2, 3)))
    with pytest.raises(DtypeError, match=r"^the layer 'norm' takes real arrays, got one of dtype"):
        layer(store, np.ones((3, 2)) * 1j, training=True)
    assert store["norm.num_batches_tracked"] == 0


def test_standardized_numbers_far_from_zero() -> None:
    x = 1e8 + np.array([[0.0, 1.0, 2.0, 3.0]])
    np.testing.assert_allclose(nn.layer_norm(x, 4), nn.layer_norm(x - 1e8, 4), rtol=1e-12)


# Cells


@pytest.mark.parametrize(
    "layer",
    [
        nn.RNNCell("l", 4, 2),
        nn.GRUCell("l", 4, 2),
        nn.LSTMCell("l", 4, 2),
        nn.MultiHeadAttention("l", 4, 2),
        nn.LayerNorm("l", 4),
        nn.BatchNorm1d("l", 4),
        nn.Flatten(),
    ],
    ids=repr,
)
def test_a_list_is_as_good_as_an_array(layer: Any) -> None:
    store, x = stored(layer), RNG(0).normal(size=(3, 4))
    np.testing.assert_array_equal(layer(store, x.tolist()), layer(store, x))


@pytest.mark.parametrize("kind", [nn.RNNCell, nn.LSTMCell, nn.GRUCell])
def test_cells_take_few_nodes_and_stand_large_numbers(kind: Any) -> None:
    cell = kind("c", 3, 2)
    record = ta.ComputationRecord()
    p = record.bind(stored(cell))
    before = len(record)
    out = cell(p, np.full((1, 3), 1e6))
    assert len(record) - before <= 5
    hidden = out[0] if isinstance(out, tuple) else out
    assert np.all(np.abs(hidden.data) <= 1)
    gradients = np.sum(hidden).grad().wrt(p)
    assert all(np.isfinite(gradient).all() for gradient in gradients.values())


def test_cells_name_a_state_that_does_not_fit() -> None:
    cell = nn.LSTMCell("c", 3, 2)
    with pytest.raises(ShapeError) as raised:
        cell(stored(cell), np.ones((4, 3)), (np.ones((4, 2)), np.ones((1, 2))))
    assert str(raised.value) == (
        "the layer 'c' needs a state of shape (4, 2) for an input of shape (4, 3), got one of "
        "shape (1, 2)"
    )
    with pytest.raises(ShapeError, match=r"^the layer 'c' takes an input of shape \(\.\.\., 3\)"):
        cell(stored(cell), np.ones((4, 2)))
    with pytest.raises(MissingParameterError, match=r"needs the parameter 'c\.weight_ih'"):
        cell({}, np.ones((4, 3)))


# Attention


def test_causal_attention_does_not_see_the_future() -> None:
    layer = nn.MultiHeadAttention("a", 4, 2)
    store = stored(layer)
    x = RNG(1).normal(size=(1, 5, 4))
    record = ta.ComputationRecord()
    handle = record.tensor(x)
    out = layer(store, handle, is_causal=True)
    gradient = np.sum(out[0, 2]).grad().wrt(handle)
    assert np.all(gradient[0, :3] != 0)
    np.testing.assert_array_equal(gradient[0, 3:], 0)


def test_attention_without_a_batch_and_with_several_axes_of_batch() -> None:
    layer = nn.MultiHeadAttention("a", 4, 2)
    store = stored(layer)
    x = RNG(1).normal(size=(2, 3, 5, 4))
    out = layer(store, x)
    assert out.shape == x.shape
    np.testing.assert_allclose(layer(store, x[1, 2]), out[1, 2], rtol=1e-12)


def test_attention_refuses_two_masks_and_wrong_lengths() -> None:
    layer = nn.MultiHeadAttention("a", 4, 2)
    with pytest.raises(TypeError, match=r"give attn_mask or is_causal=True, not both$"):
        layer(stored(layer), np.ones((3, 4)), attn_mask=np.ones((3, 3), bool), is_causal=True)
    with pytest.raises(ShapeError, match=r"^the layer 'a' takes inputs of shape \(\.\.\., length"):
        layer(stored(layer), np.ones((3, 5)))


def test_attention_drops_weights_in_training_alone() -> None:
    layer = nn.MultiHeadAttention("a", 4, 2, dropout=0.5)
    store, x = stored(layer), RNG(1).normal(size=(3, 4))
    np.testing.assert_array_equal(layer(store, x, rng=RNG(2)), layer(store, x, rng=RNG(3)))
    dropped = layer(store, x, rng=RNG(2), training=True)
    np.testing.assert_array_equal(dropped, layer(store, x, rng=RNG(2), training=True))
    assert not np.allclose(dropped, layer(store, x))

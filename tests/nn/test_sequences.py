"""Layers over whole sequences, and layers made of layers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import ShapeError
from tape_ad.testing import check_grads

RNG = np.random.default_rng(0)
X = np.random.default_rng(1).normal(size=(3, 2, 4))

LAYERS: dict[str, Any] = {
    "RNN": nn.RNN("layer", 4, 3, 2, bidirectional=True),
    "GRU": nn.GRU("layer", 4, 3, batch_first=True),
    "LSTM": nn.LSTM("layer", 4, 3, 2),
    "transformer": nn.TransformerEncoderLayer("layer", 4, 2, 3, activation=np.tanh),
    "groups": nn.GroupNorm("layer", 1, 2),
    "transposed": nn.ConvTranspose1d("layer", 2, 3, 2, 2),
}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_gradients_batches_and_programs_agree(layer: Any) -> None:
    store = nn.init(layer, np.random.default_rng(2))

    def loss(params: Any, x: Any) -> Any:
        out = layer(params, x)
        return np.sum(np.sin(out[0] if isinstance(out, tuple) else out))

    check_grads(loss, (store, X), order=1)
    expected = ta.grad(loss)(store, X)
    compiled = ta.compile(ta.grad(loss))
    for _ in range(3):
        given = compiled(store, X)
    many = np.stack([X, -X])
    together = ta.batched(loss, in_axes=(None, 0))(store, many)
    np.testing.assert_allclose(together, [loss(store, x) for x in many], rtol=1e-12)
    for name, value in expected.items():
        np.testing.assert_allclose(given[name], value, rtol=1e-9, atol=1e-12)


def test_a_sequence_is_its_cell_step_by_step() -> None:
    layer, cell = nn.LSTM("l", 4, 3), nn.LSTMCell("l", 4, 3)
    store = nn.init(layer, np.random.default_rng(0))
    of_cell = {name.removesuffix("_l0"): value for name, value in store.items()}
    state, outputs = None, []
    for x in X:
        state = cell(of_cell, x, state)
        outputs.append(state[0])
    output, (h, c) = layer(store, X)
    np.testing.assert_array_equal(output, outputs)
    assert state is not None
    np.testing.assert_array_equal((h[0], c[0]), state)
    again, _ = layer(store, X[2:], layer(store, X[:2])[1])
    np.testing.assert_array_equal(again[0], outputs[2])


def test_dropout_is_between_the_layers_in_training_alone() -> None:
    layer = nn.GRU("l", 4, 3, num_layers=2, dropout=0.5)
    store = nn.init(layer, np.random.default_rng(0))
    quiet = nn.GRU("l", 4, 3, num_layers=2)(store, X)[0]
    np.testing.assert_array_equal(layer(store, X)[0], quiet)
    drawn = [layer(store, X, training=True, rng=np.random.default_rng(k))[0] for k in (1, 1, 2)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    one = nn.GRU("l", 4, 3, dropout=0.5)
    np.testing.assert_array_equal(
        one(store, X, training=True, rng=RNG)[0], one(store, X)[0]
    )  # there is nothing above it


def test_parameters_have_their_names() -> None:
    layer = nn.LSTM("net", 4, 3, num_layers=2, bidirectional=True)
    assert {"net.weight_ih_l0", "net.bias_hh_l1_reverse"} <= layer.shapes.keys()
    assert layer.shapes["net.weight_ih_l1"] == (6, 12)
    assert len(layer.shapes) == 16
    encoder = nn.TransformerEncoderLayer("net", 4, 2, 3)
    assert {"net.self_attn.in_proj_weight", "net.norm2.bias"} <= encoder.shapes.keys()
    assert encoder == nn.TransformerEncoderLayer("net", 4, 2, 3)


STORE = nn.init([LAYERS["LSTM"]], np.random.default_rng(0))
ZEROS = np.zeros((2, 2, 3))
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no steps": (lambda: LAYERS["LSTM"](STORE, X[:0]), ShapeError, "one step or more"),
    "one axis": (lambda: LAYERS["LSTM"](STORE, X[0, 0]), ShapeError, r"\(length, \.\.\., 4\)"),
    "width": (lambda: LAYERS["LSTM"](STORE, X[..., :3]), ShapeError, r"shape \(\.\.\., 4\), got"),
    "one state": (lambda: LAYERS["LSTM"](STORE, X, ZEROS), ShapeError, r"needs a state of shape"),
    "three": (lambda: LAYERS["LSTM"](STORE, X, (ZEROS,) * 3), ShapeError, "a pair of states"),
    "layers of states": (
        lambda: LAYERS["LSTM"](STORE, X, (ZEROS[:1], ZEROS)),
        ShapeError,
        r"a pair of states of shape \(2, \.\.\., 3\), got \[\(1, 2, 3\), \(2, 2, 3\)\]",
    ),
    "layers": (lambda: nn.GRU("l", 4, 3, 0), ValueError, "num_layers must be at least 1"),
    "probability": (lambda: nn.GRU("l", 4, 3, dropout=2.0), ValueError, "dropout"),
    "groups": (lambda: nn.GroupNorm("l", 3, 4), ValueError, "num_groups=3 must divide"),
    "channels": (lambda: nn.GroupNorm("l", 2, 4)({}, X), ShapeError, r"\(n, 4, \.\.\.\)"),
    "no groups": (lambda: nn.group_norm(X, 3), ShapeError, "has no 3 groups"),
    "words": (
        lambda: nn.ConvTranspose1d("l", 2, 2, 3, padding="same"),
        ValueError,
        "padding must be a whole number",
    ),
    "output padding": (
        lambda: nn.conv_transpose1d(X, np.ones((2, 1, 3)), output_padding=1),
        ValueError,
        "must be below the stride or the dilation",
    ),
    "channels in": (
        lambda: nn.conv_transpose1d(X, np.ones((3, 1, 3))),
        ShapeError,
        r"\(in_channels, out_channels // groups, \.\.\.\)",
    ),
    "nothing left": (
        lambda: nn.conv_transpose1d(X, np.ones((2, 1, 2)), padding=4),
        ShapeError,
        "gives an output of lengths",
    ),
    "heads": (
        lambda: nn.TransformerEncoderLayer("l", 4, 3),
        ValueError,
        "num_heads=3 must divide",
    ),
}


@pytest.mark.parametrize(("call", "kind", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_explained(call: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        call()

"""Layers against PyTorch's of the same name."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tests.oracle.comparison import compared, in_both_precisions, layers_compared, near, normal
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")
F: Any = torch.nn.functional

Array = np.ndarray[Any, Any]


# Dense layers and embeddings


@in_both_precisions
@pytest.mark.parametrize("shape", [(5, 3), (3,), (2, 4, 3)])
def test_linear(shape: tuple[int, ...], dtype: Any) -> None:
    for bias in (True, False):
        layer = nn.Linear("layer.dense", 3, 4, bias, dtype)
        theirs = torch.nn.ModuleDict({"dense": torch.nn.Linear(3, 4, bias)})
        layers_compared(
            layer,
            theirs,
            [normal(*shape, dtype=dtype)],
            dtype,
            their_call=lambda p, x: F.linear(x, p["dense.weight"], p.get("dense.bias")),
        )


@in_both_precisions
@pytest.mark.parametrize("padding_idx", [None, 2, -1])
def test_embedding(padding_idx: int | None, dtype: Any) -> None:
    numbers = np.array([[2, 0, 2], [6, 5, 2]])
    layer = nn.Embedding("layer", 7, 3, padding_idx, dtype)
    layers_compared(
        layer,
        torch.nn.Embedding(7, 3, padding_idx),
        [],
        dtype,
        call=lambda store: layer(store, numbers),
        their_call=lambda p: F.embedding(torch.tensor(numbers), p["weight"], padding_idx),
    )


@in_both_precisions
def test_dropout_with_pytorchs_choice(dtype: Any) -> None:
    x = normal(20, 30, dtype=dtype)
    record = ta.ComputationRecord()
    handle = record.tensor(x)
    out = nn.dropout(handle, 0.4, rng=np.random.default_rng(2))
    kept = torch.tensor(out.data != 0)
    assert 0.5 < kept.double().mean() < 0.7
    tensor = torch.tensor(x, requires_grad=True)
    theirs = torch.ops.aten.native_dropout_backward(tensor, kept, 1 / (1 - 0.4))
    near(out.data, theirs, dtype)
    theirs.sum().backward()
    near(np.sum(out).grad().wrt(handle), tensor.grad, dtype)


# Convolution and pooling

CONVOLUTIONS_1D: list[dict[str, Any]] = [
    {"kernel_size": 3},
    {"kernel_size": 4, "stride": 2, "padding": 3},
    {"kernel_size": 3, "dilation": 2, "groups": 2, "bias": False},
    {"kernel_size": 4, "padding": "same", "dilation": 2},
    {"kernel_size": 2, "padding": "valid", "groups": 4},
    {"kernel_size": 1},
]


@in_both_precisions
@pytest.mark.parametrize("options", CONVOLUTIONS_1D, ids=str)
@pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch copies its input for it
def test_conv1d(options: dict[str, Any], dtype: Any) -> None:
    for shape in ((3, 4, 9), (4, 9)):
        layers_compared(
            nn.Conv1d("layer", 4, 8, dtype=dtype, **options),
            torch.nn.Conv1d(4, 8, **options),
            [normal(*shape, dtype=dtype)],
            dtype,
        )


CONVOLUTIONS_2D: list[dict[str, Any]] = [
    {"kernel_size": 3},
    {"kernel_size": (2, 3), "stride": (2, 1), "padding": (0, 2)},
    {"kernel_size": 3, "stride": 3, "padding": 2, "dilation": (1, 2), "groups": 2},
    {"kernel_size": (3, 2), "padding": "same", "bias": False},
    {"kernel_size": 2, "padding": "valid", "groups": 4},
    {"kernel_size": (7, 6)},
]


@in_both_precisions
@pytest.mark.parametrize("options", CONVOLUTIONS_2D, ids=str)
@pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch copies its input for it
def test_conv2d(options: dict[str, Any], dtype: Any) -> None:
    for shape in ((3, 4, 7, 6), (4, 7, 6)):
        layers_compared(
            nn.Conv2d("layer", 4, 8, dtype=dtype, **options),
            torch.nn.Conv2d(4, 8, **options),
            [normal(*shape, dtype=dtype)],
            dtype,
        )


TRANSPOSED: list[dict[str, Any]] = [
    {"kernel_size": 3},
    {"kernel_size": 4, "stride": 2, "padding": 1, "output_padding": 1},
    {"kernel_size": 3, "dilation": 2, "groups": 2, "bias": False, "output_padding": 1},
    {"kernel_size": 2, "stride": 3, "groups": 4},
]


@in_both_precisions
@pytest.mark.parametrize("options", TRANSPOSED, ids=str)
@pytest.mark.parametrize("rank", [1, 2])
def test_transposed_convolutions(rank: int, options: dict[str, Any], dtype: Any) -> None:
    ours = (nn.ConvTranspose1d, nn.ConvTranspose2d)[rank - 1]
    theirs = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d)[rank - 1]
    for lead in ((3,), ()):
        layers_compared(
            ours("layer", 4, 8, dtype=dtype, **options),
            theirs(4, 8, **options),
            [normal(*lead, 4, *(5, 3)[:rank], dtype=dtype)],
            dtype,
        )


MAXIMA: list[dict[str, Any]] = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 1},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 2, "stride": 3, "dilation": 2},
]


@in_both_precisions
@pytest.mark.parametrize("options", MAXIMA, ids=str)
def test_max_pool(options: dict[str, Any], dtype: Any) -> None:
    for ours, theirs, shape in (
        (nn.MaxPool1d, torch.nn.MaxPool1d, (3, 2, 9)),
        (nn.MaxPool2d, torch.nn.MaxPool2d, (3, 2, 9, 8)),
    ):
        x = normal(*shape, dtype=dtype)
        for values in (x, np.maximum(x, 0), np.round(x)):  # with many ties
            compared(lambda t, o=ours: o(**options)({}, t), theirs(**options), [values], dtype)


def test_max_pool_of_infinities_and_nans() -> None:
    for value in (-np.inf, np.inf, np.nan):
        x = np.full((1, 1, 4, 4), value)
        x[0, 0, 1, 2] = 1.0
        expected = F.max_pool2d(torch.tensor(x), 3, stride=1, padding=1).numpy()
        np.testing.assert_array_equal(nn.max_pool2d(x, 3, stride=1, padding=1), expected)


@in_both_precisions
@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize(
    "options",
    [{"kernel_size": 2}, {"kernel_size": 3, "stride": 1}, {"kernel_size": 3, "padding": 1}],
    ids=str,
)
def test_avg_pool(options: dict[str, Any], count_include_pad: bool, dtype: Any) -> None:
    options = options | {"count_include_pad": count_include_pad}
    for ours, theirs, shape in (
        (nn.AvgPool1d, torch.nn.AvgPool1d, (3, 2, 9)),
        (nn.AvgPool2d, torch.nn.AvgPool2d, (3, 2, 9, 8)),
    ):
        x = normal(*shape, dtype=dtype)
        compared(lambda t, o=ours: o(**options)({}, t), theirs(**options), [x], dtype)


# Normalisation


@in_both_precisions
@pytest.mark.parametrize("shape", [4, (3, 4)])
@pytest.mark.parametrize(
    "options", [{}, {"eps": 0.1}, {"bias": False}, {"elementwise_affine": False}], ids=str
)
def test_layer_norm(shape: Any, options: dict[str, Any], dtype: Any) -> None:
    layers_compared(
        nn.LayerNorm("layer", shape, dtype=dtype, **options),
        torch.nn.LayerNorm(shape, **options),
        [normal(2, 3, 4, dtype=dtype)],
        dtype,
    )


BATCH_NORMS: list[dict[str, Any]] = [
    {},
    {"eps": 0.1, "momentum": 0.3},
    {"momentum": None},
    {"affine": False},
    {"bias": False},
    {"track_running_stats": False},
]


@in_both_precisions
@pytest.mark.parametrize("options", BATCH_NORMS, ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (5, 3, 4), (5, 3, 4, 2)])
def test_batch_norm(shape: tuple[int, ...], options: dict[str, Any], dtype: Any) -> None:
    images = len(shape) == 4
    kind, their_kind = (
        (nn.BatchNorm2d, torch.nn.BatchNorm2d) if images else (nn.BatchNorm1d, torch.nn.BatchNorm1d)
    )
    layer = kind("layer", 3, dtype=dtype, **options)
    theirs = their_kind(3, **options).to(torch.tensor(np.zeros(0, dtype)).dtype)
    store = nn.init(layer, np.random.default_rng(3))
    for step in range(3):  # PyTorch's module is in training, and so its statistics move along
        x = normal(*shape, dtype=dtype, seed=step) * (step + 1) + step
        near(layer(store, x, training=True), theirs(torch.tensor(x)), dtype)
    for name, value in theirs.state_dict().items():
        if value.dtype == torch.int64:
            assert store[f"layer.{name}"] == value == 3
        else:
            near(store[f"layer.{name}"], value, dtype)
    x = normal(*shape, dtype=dtype, seed=9)
    before = {name: array.copy() for name, array in store.items()}
    near(layer(store, x), theirs.eval()(torch.tensor(x)), dtype)
    np.testing.assert_equal(store, before)


@in_both_precisions
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("options", BATCH_NORMS, ids=str)
def test_gradients_of_batch_norm(options: dict[str, Any], training: bool, dtype: Any) -> None:
    layer = nn.BatchNorm2d("layer", 3, dtype=dtype, **options)
    layers_compared(
        layer,
        torch.nn.BatchNorm2d(3, **options).train(training),
        [normal(4, 3, 2, 3, dtype=dtype)],
        dtype,
        call=lambda store, x: layer(store, x, training=training),
    )


# Cells


@in_both_precisions
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch", [(2,), ()])
@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_rnn_cell(nonlinearity: str, batch: tuple[int, ...], bias: bool, dtype: Any) -> None:
    layers_compared(
        nn.RNNCell("layer", 3, 4, bias, nonlinearity, dtype),
        torch.nn.RNNCell(3, 4, bias, nonlinearity),
        [normal(*batch, 3, dtype=dtype), normal(*batch, 4, dtype=dtype)],
        dtype,
    )


@in_both_precisions
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch", [(2,), ()])
def test_gru_cell(batch: tuple[int, ...], bias: bool, dtype: Any) -> None:
    layers_compared(
        nn.GRUCell("layer", 3, 4, bias, dtype),
        torch.nn.GRUCell(3, 4, bias),
        [normal(*batch, 3, dtype=dtype), normal(*batch, 4, dtype=dtype)],
        dtype,
    )


@in_both_precisions
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch", [(2,), ()])
def test_lstm_cell(batch: tuple[int, ...], bias: bool, dtype: Any) -> None:
    layer = nn.LSTMCell("layer", 3, 4, bias, dtype)
    theirs = torch.nn.LSTMCell(3, 4, bias)
    layers_compared(
        layer,
        theirs,
        [normal(*batch, n, dtype=dtype, seed=i) for i, n in enumerate((3, 4, 4))],
        dtype,
        call=lambda store, x, h, c: layer(store, x, (h, c)),
        their_call=lambda p, x, h, c: torch.func.functional_call(theirs, p, (x, (h, c))),
    )


@in_both_precisions
def test_cells_start_from_zeros(dtype: Any) -> None:
    for ours, theirs in (
        (nn.RNNCell, torch.nn.RNNCell),
        (nn.GRUCell, torch.nn.GRUCell),
        (nn.LSTMCell, torch.nn.LSTMCell),
    ):
        layers_compared(
            ours("layer", 3, 4, dtype=dtype), theirs(3, 4), [normal(2, 3, dtype=dtype)], dtype
        )


# Sequences

SEQUENCES: list[dict[str, Any]] = [
    {},
    {"num_layers": 2, "bias": False},
    {"bidirectional": True, "batch_first": True},
    {"num_layers": 2, "bidirectional": True},
]


@in_both_precisions
@pytest.mark.parametrize("options", SEQUENCES, ids=str)
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_sequences(kind: str, options: dict[str, Any], dtype: Any) -> None:
    count = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    theirs = getattr(torch.nn, kind)(3, 4, **options)
    pair = kind == "LSTM"

    def their_call(p: Any, x: Any, *states: Any) -> Any:
        state = (states if pair else states[0]) if states else None
        output, last = torch.func.functional_call(theirs, p, (x, state))
        return (output, *last) if pair else (output, last)

    def our_call(store: Any, x: Any, *states: Any) -> Any:
        layer = getattr(nn, kind)("layer", 3, 4, dtype=dtype, **options)
        output, last = layer(store, x, (states if pair else states[0]) if states else None)
        return (output, *last) if pair else (output, last)

    for batch in ((2,), ()):
        shape = (*batch, 5, 3) if options.get("batch_first") else (5, *batch, 3)
        for states in (
            [],
            [normal(count, *batch, 4, dtype=dtype, seed=i) for i in range(1 + pair)],
        ):
            layers_compared(
                getattr(nn, kind)("layer", 3, 4, dtype=dtype, **options),
                theirs,
                [normal(*shape, dtype=dtype), *states],
                dtype,
                call=our_call,
                their_call=their_call,
            )


# Attention


@in_both_precisions
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("is_causal", [True, False])
def test_self_attention(is_causal: bool, bias: bool, dtype: Any) -> None:
    layer = nn.MultiHeadAttention("layer", 6, 3, bias=bias, dtype=dtype)
    theirs = torch.nn.MultiheadAttention(6, 3, bias=bias, batch_first=True)
    hidden = torch.ones(4, 4, dtype=torch.bool).triu(1) if is_causal else None
    layers_compared(
        layer,
        theirs,
        [normal(2, 4, 6, dtype=dtype)],
        dtype,
        call=lambda store, x: layer(store, x, is_causal=is_causal),
        their_call=lambda p, x: torch.func.functional_call(
            theirs, p, (x, x, x), {"attn_mask": hidden, "need_weights": False}
        )[0],
    )


@in_both_precisions
@pytest.mark.parametrize("options", [{}, {"norm_first": True, "bias": False}], ids=str)
def test_transformer_encoder_layer(options: dict[str, Any], dtype: Any) -> None:
    layer = nn.TransformerEncoderLayer("layer", 6, 3, 5, 0.0, dtype=dtype, **options)
    theirs = torch.nn.TransformerEncoderLayer(6, 3, 5, 0.0, batch_first=True, **options)
    hidden = torch.ones(4, 4, dtype=torch.bool).triu(1)
    layers_compared(
        layer,
        theirs,
        [normal(2, 4, 6, dtype=dtype)],
        dtype,
        call=lambda store, x: layer(store, x, is_causal=True),
        their_call=lambda p, x: torch.func.functional_call(theirs, p, (x, hidden)),
    )


@in_both_precisions
@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(affine: bool, dtype: Any) -> None:
    for shape in ((3, 4, 2, 5), (2, 4)):
        layers_compared(
            nn.GroupNorm("layer", 2, 4, affine=affine, dtype=dtype),
            torch.nn.GroupNorm(2, 4, affine=affine),
            [normal(*shape, dtype=dtype)],
            dtype,
        )


@in_both_precisions
def test_attention_to_others_with_a_mask(dtype: Any) -> None:
    layer = nn.MultiHeadAttention("layer", 6, 2, dtype=dtype)
    theirs = torch.nn.MultiheadAttention(6, 2, batch_first=True)
    mask = np.array([[True, False, True], [True, True, True]])
    scores = normal(2, 3, dtype=dtype, seed=5)
    for ours, other in ((mask, torch.tensor(~mask)), (scores, torch.tensor(scores))):
        layers_compared(
            layer,
            theirs,
            [normal(4, n, 6, dtype=dtype, seed=n) for n in (2, 3, 3)],
            dtype,
            call=lambda store, q, k, v, m=ours: layer(store, q, k, v, attn_mask=m),
            their_call=lambda p, q, k, v, m=other: torch.func.functional_call(
                theirs, p, (q, k, v), {"attn_mask": m}
            )[0],
        )


@in_both_precisions
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("is_causal", [True, False])
def test_scaled_dot_product_attention(is_causal: bool, scale: float | None, dtype: Any) -> None:
    options: dict[str, Any] = {"is_causal": is_causal, "scale": scale}
    compared(
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, **options),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options),
        [normal(2, 4, 3, dtype=dtype, seed=i) for i in range(3)],
        dtype,
    )


BLIND = np.array([[True, False, True], [False] * 3, [True] * 3, [False] * 3])


@in_both_precisions
@pytest.mark.parametrize("mask", [BLIND, np.where(BLIND, 0.5, -np.inf)], ids=["bools", "scores"])
def test_queries_that_may_look_at_nothing(mask: Any, dtype: Any) -> None:
    mask = mask if mask.dtype == bool else mask.astype(dtype)
    compared(
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, mask),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.tensor(mask)),
        [normal(2, n, 3, dtype=dtype, seed=i) for i, n in enumerate((4, 3, 3))],
        dtype,
    )

"""Names, default values and initialisers against PyTorch's."""

import inspect
from typing import Any

import numpy as np
import pytest

from tape_ad import nn
from tape_ad.nn import initializers
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")
F: Any = torch.nn.functional

ARGUMENTS_LEFT_OUT = {
    *("device", "in_place", "inplace", "self", "padding_mode", "ceil_mode", "return_indices"),
    *("divisor_override", "max_norm", "norm_type", "scale_grad_by_freq", "sparse", "_weight"),
    *("_freeze", "add_bias_kv", "add_zero_attn", "kdim", "vdim", "batch_first", "enable_gqa"),
    *("size_average", "reduce", "dim", "_stacklevel", "input", "target", "num_chunks"),
}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        *((getattr(nn, name), getattr(torch.nn, name)) for name in (
            *("Linear", "Embedding", "Dropout", "Flatten", "Conv1d", "Conv2d", "MaxPool1d"),
            *("MaxPool2d", "LayerNorm", "BatchNorm1d", "BatchNorm2d", "AvgPool1d", "AvgPool2d"),
            *("RNNCell", "LSTMCell", "GRUCell", "GroupNorm", "ConvTranspose1d", "ConvTranspose2d"),
        )),
        (nn.MultiHeadAttention, torch.nn.MultiheadAttention),
        (nn.cross_entropy, F.cross_entropy),
        (nn.nll_loss, F.nll_loss),
        (nn.huber_loss, F.huber_loss),
        (nn.mse_loss, F.mse_loss),
        (nn.l1_loss, F.l1_loss),
        (nn.kl_div, F.kl_div),
        (nn.binary_cross_entropy_with_logits, F.binary_cross_entropy_with_logits),
        (nn.elu, F.elu),
        (nn.leaky_relu, F.leaky_relu),
        (nn.dropout, F.dropout),
        (nn.layer_norm, F.layer_norm),
        (nn.group_norm, F.group_norm),
        (initializers.kaiming_uniform, torch.nn.init.kaiming_uniform_),
        (initializers.kaiming_normal, torch.nn.init.kaiming_normal_),
        (initializers.xavier_uniform, torch.nn.init.xavier_uniform_),
        (initializers.xavier_normal, torch.nn.init.xavier_normal_),
        (initializers.orthogonal, torch.nn.init.orthogonal_),
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_arguments_have_pytorchs_names_and_default_values(ours: Any, theirs: Any) -> None:
    left_out = ARGUMENTS_LEFT_OUT | {"tensor", "generator", "end_dim", "dtype"}
    if ours in (nn.mse_loss, nn.l1_loss, nn.huber_loss):
        left_out = left_out | {"weight"}
    here = inspect.signature(ours).parameters
    for name, parameter in inspect.signature(theirs).parameters.items():
        if name not in left_out:
            assert here[name].default == parameter.default, name


@pytest.mark.parametrize("nonlinearity", list(initializers.GAINS))
def test_gains(nonlinearity: str) -> None:
    for slope in (0.0, 0.01, 0.3):
        assert initializers.calculate_gain(nonlinearity, slope) == pytest.approx(
            torch.nn.init.calculate_gain(nonlinearity, slope), rel=1e-15
        )


@pytest.mark.parametrize("shape", [(300, 200), (60, 20, 5, 7)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("kaiming_uniform", {}),
        ("kaiming_uniform", {"a": 5**0.5}),
        ("kaiming_normal", {"mode": "fan_out", "nonlinearity": "relu"}),
        ("xavier_uniform", {"gain": 2.0}),
        ("xavier_normal", {}),
    ],
)
def test_initializers_have_pytorchs_spread(
    name: str, options: dict[str, Any], shape: tuple[int, ...]
) -> None:
    ours = getattr(initializers, name)(np.random.default_rng(4), shape, **options)
    tensor = torch.empty(shape if len(shape) > 2 else shape[::-1], dtype=torch.float64)
    theirs = getattr(torch.nn.init, name + "_")(
        tensor, generator=torch.Generator().manual_seed(0), **options
    ).numpy()
    assert abs(ours.mean()) < 0.01 * ours.std() + 0.01 * np.abs(ours).max()
    assert ours.std() == pytest.approx(theirs.std(), rel=0.01)
    if "uniform" in name:
        assert np.abs(ours).max() == pytest.approx(np.abs(theirs).max(), rel=1e-3)


torch.manual_seed(0)  # of the layers below


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (nn.Linear("layer", 200, 300), torch.nn.Linear(200, 300)),
        (nn.Conv2d("layer", 20, 60, (5, 7), groups=2), torch.nn.Conv2d(20, 60, (5, 7), groups=2)),
        (nn.Embedding("layer", 300, 200), torch.nn.Embedding(300, 200)),
        (nn.LSTMCell("layer", 100, 150), torch.nn.LSTMCell(100, 150)),
        (nn.MultiHeadAttention("layer", 300, 2), torch.nn.MultiheadAttention(300, 2)),
        (nn.LayerNorm("layer", 300), torch.nn.LayerNorm(300)),
        (nn.BatchNorm1d("layer", 300), torch.nn.BatchNorm1d(300)),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_layers_are_initialised_as_pytorchs(ours: Any, theirs: Any) -> None:
    store = nn.init(ours, np.random.default_rng(5))
    for name, tensor in theirs.state_dict().items():
        value, expected = store[f"{ours.name}.{name}"], tensor.double().numpy()
        assert tuple(tensor.shape) in (value.shape, value.T.shape)
        chance = 4 / np.sqrt(value.size)
        assert value.std() == pytest.approx(expected.std(), rel=chance)
        assert value.mean() == pytest.approx(expected.mean(), abs=chance * expected.std())

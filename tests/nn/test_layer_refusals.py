"""What layers refuse, and what they say then."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tape_ad import nn
from tape_ad.errors import DtypeError, ShapeError

NONSENSE: Any = None


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: nn.conv2d(np.ones((1, 5, 5)), np.ones((2, 1, 6, 3))),
            ShapeError,
            "conv2d: no window of (6, 3) with dilation (1, 1) and stride (1, 1) fits into (5, 5), "
            "an input of shape (1, 5, 5) with its padding",
        ),
        (
            lambda: nn.conv2d(np.ones((2, 5, 5)), np.ones((2, 1, 3, 3))),
            ShapeError,
            "conv2d: an input of shape (2, 5, 5) and a weight of shape (2, 1, 3, 3) do not fit "
            "with groups=1; the weight is (out_channels, in_channels // groups, ...)",
        ),
        (
            lambda: nn.conv1d(np.ones(5), np.ones((1, 1, 3))),
            ShapeError,
            "conv1d: needs an input of 2 or 3 axes and a weight of 3, got shapes (5,) and "
            "(1, 1, 3)",
        ),
        (
            lambda: nn.conv1d(np.ones((1, 5)), np.ones((1, 1, 3)), padding="same", stride=2),
            ValueError,
            'conv1d: padding must be numbers, "valid", or "same" with a stride of 1, got \'same\' '
            "with a stride of (2,)",
        ),
        (
            lambda: nn.Conv2d("c", 1, 2, kernel_size=NONSENSE),
            ValueError,
            "Conv2d: kernel_size must be a whole number of at least 1, or a tuple of 2 of them, "
            "got None",
        ),
        (
            lambda: nn.BatchNorm1d("b", 3, eps=NONSENSE),
            ValueError,
            "BatchNorm1d: eps must be a number of at least 0, got None",
        ),
        (
            lambda: nn.huber_loss(np.ones(2), np.zeros(2), delta=NONSENSE),
            ValueError,
            "huber_loss: delta must be a number above 0, got None",
        ),
        (
            lambda: nn.Linear("h", 2.5, 2),  # type: ignore[arg-type]  # refused
            TypeError,
            "the lengths, steps and numbers of a layer are whole numbers, got 2.5",
        ),
        (
            lambda: nn.Conv2d("c", 4, 6, 3, groups=4),
            ValueError,
            "Conv2d: groups=4 must divide in_channels=4 and out_channels=6",
        ),
        (
            lambda: nn.max_pool2d(np.ones((4, 4)), 2, padding=2),
            ValueError,
            "max_pool2d: padding must be at least 0 and at most half of the kernel's size (2, 2), "
            "got 2",
        ),
        (
            lambda: nn.avg_pool1d(np.ones(1), 2),
            ShapeError,
            "avg_pool1d: no window of (2,) with dilation (1,) and stride (2,) fits into (1,), an "
            "input of shape (1,) with its padding",
        ),
        (
            lambda: nn.conv2d(np.ones((1, 5, 5)), np.ones((1, 1, 3, 3)), stride=(1, 1, 1)),
            ValueError,
            "one number or 2 are needed, got (1, 1, 1)",
        ),
        (
            lambda: nn.layer_norm(np.ones((2, 3)), 4),
            ShapeError,
            "layer_norm: the last axes of an input of shape (2, 3) are not (4,)",
        ),
        (
            lambda: nn.MultiHeadAttention("a", 6, 4),
            ValueError,
            "MultiHeadAttention: num_heads=4 must divide embed_dim=6",
        ),
        (
            lambda: nn.RNNCell("r", 2, 3, nonlinearity="gelu"),
            ValueError,
            'RNNCell: nonlinearity must be "tanh" or "relu", got \'gelu\'',
        ),
        (lambda: nn.Dropout(1.5), ValueError, "Dropout: p must lie in [0, 1], got 1.5"),
        (
            lambda: nn.dropout(np.ones(2), -0.5, rng=np.random.default_rng(0)),
            ValueError,
            "dropout: p must lie in [0, 1], got -0.5",
        ),
        (
            lambda: nn.MultiHeadAttention("a", 6, 2, dropout=2.0),
            ValueError,
            "MultiHeadAttention: dropout must lie in [0, 1], got 2.0",
        ),
        (
            lambda: nn.conv1d(np.ones((1, 5)), np.ones((1, 1, 3)), stride=0),
            ValueError,
            "conv1d: kernel, stride and dilation must be at least 1 and padding at least 0, got "
            "(3,), (0,), (1,) and (0,)",
        ),
        (
            lambda: nn.conv1d(np.ones((1, 5)), np.ones((1, 1, 3)), padding=-1),
            ValueError,
            "conv1d: kernel, stride and dilation must be at least 1 and padding at least 0, got "
            "(3,), (1,), (1,) and (-1,)",
        ),
        (
            lambda: nn.conv1d(np.ones((1, 5)), np.ones((2, 1, 3)), np.ones(1)),
            ShapeError,
            "conv1d: a weight of shape (2, 1, 3) needs a bias of shape (2,), got (1,)",
        ),
        (
            lambda: nn.max_pool2d(np.ones(4), 2),
            ShapeError,
            "max_pool2d: needs an input of 2 axes or more, got shape (4,)",
        ),
        (
            lambda: nn.max_pool1d(np.ones(4) * 1j, 2),
            DtypeError,
            "max_pool1d takes real arrays, got one of dtype complex128; apply it to x.real and "
            "x.imag, or to np.abs(x), whichever is meant",
        ),
        (
            lambda: nn.layer_norm(np.ones(4) * 1j, 4),
            DtypeError,
            "layer_norm takes real arrays, got one of dtype complex128; apply it to x.real and "
            "x.imag, or to np.abs(x), whichever is meant",
        ),
        (
            lambda: nn.Embedding("e", 3, 2, padding_idx=3),
            IndexError,
            "embedding: padding_idx must lie in -3..2, got 3",
        ),
        (
            lambda: nn.embedding([0], np.ones((3, 2)), -4),
            IndexError,
            "embedding: padding_idx must lie in -3..2, got -4",
        ),
        (
            lambda: nn.Conv2d("c", 1, 2, kernel_size=0),
            ValueError,
            "Conv2d: kernel_size must be a whole number of at least 1, or a tuple of 2 of them, "
            "got 0",
        ),
        (
            lambda: nn.Conv1d("c", 1, 2, 3, stride=-2),
            ValueError,
            "Conv1d: stride must be a whole number of at least 1, got -2",
        ),
        (
            lambda: nn.Conv2d("c", 1, 2, 3, padding=(0, -1)),
            ValueError,
            "Conv2d: padding must be a whole number of at least 0, or a tuple of 2 of them, got "
            "(0, -1)",
        ),
        (
            lambda: nn.Conv2d("c", 1, 2, 3, padding="none"),
            ValueError,
            'Conv2d: padding must be numbers, "valid", or "same" with a stride of 1, got '
            "'none' with a stride of (1, 1)",
        ),
        (
            lambda: nn.MaxPool1d((2, 2)),
            ValueError,
            "MaxPool1d: kernel_size must be a whole number of at least 1, got (2, 2)",
        ),
        (
            lambda: nn.AvgPool2d(2, padding=2),
            ValueError,
            "AvgPool2d: padding must be at least 0 and at most half of the kernel's size (2, 2), "
            "got 2",
        ),
        (
            lambda: nn.BatchNorm1d("b", 3, eps=-7),
            ValueError,
            "BatchNorm1d: eps must be a number of at least 0, got -7",
        ),
        (
            lambda: nn.BatchNorm2d("b", 3, momentum=np.nan),
            ValueError,
            "BatchNorm2d: momentum must lie in [0, 1], got nan",
        ),
        (
            lambda: nn.LayerNorm("n", 3, eps=np.nan),
            ValueError,
            "LayerNorm: eps must be a number of at least 0, got nan",
        ),
        (
            lambda: nn.layer_norm(np.ones(3), 3, eps=-1),
            ValueError,
            "layer_norm: eps must be a number of at least 0, got -1",
        ),
        (
            lambda: nn.huber_loss(np.ones(3), np.zeros(3), delta=-7),
            ValueError,
            "huber_loss: delta must be a number above 0, got -7",
        ),
        (
            lambda: nn.cross_entropy(np.ones((1, 2)), np.array([0]), label_smoothing=-7),
            ValueError,
            "cross_entropy: label_smoothing must lie in [0, 1], got -7",
        ),
        (
            lambda: nn.init(nn.Linear("hidden", 3, 2), NONSENSE),
            TypeError,
            "parameters are drawn with a generator, such as rng = np.random.default_rng(0), got "
            "None",
        ),
        (
            lambda: nn.init("nonsense", np.random.default_rng(0)),
            TypeError,
            "nn.init, partition and summary take layers, and functions of one array, got "
            "'nonsense'",
        ),
        (
            lambda: nn.init([nn.relu, {"a": nn.Linear}], np.random.default_rng(0)),
            TypeError,
            "nn.init, partition and summary take layers, got the class Linear; make one of it",
        ),
        (
            lambda: nn.partition(None, {}),
            TypeError,
            "nn.init, partition and summary take layers, and functions of one array, got None",
        ),
        (
            lambda: nn.Sequential(nn.relu, NONSENSE),
            TypeError,
            "Sequential takes layers, and functions of one array, got None",
        ),
        (
            lambda: nn.Residual(NONSENSE),
            TypeError,
            "Residual takes layers, and functions of one array, got None",
        ),
        (
            lambda: nn.Linear("hidden", 3, 2)(NONSENSE, np.ones(3)),
            TypeError,
            "the layer 'hidden' got a store that is a NoneType; a layer is called with its "
            "parameters before its input: layer(p, x), where p is rec.bind(params), or params "
            "itself for plain NumPy",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    call: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as raised:
        call()
    assert str(raised.value) == message


def test_what_fits_is_not_refused() -> None:
    layers = [nn.Conv2d("c", 1, 2, 3, padding="same"), None, {"act": nn.relu}, ()]
    assert list(nn.init(layers, np.random.default_rng(0))) == ["c.weight", "c.bias"]
    nn.BatchNorm1d("b", 3, eps=0, momentum=None)
    nn.Conv2d("d", 1, 2, (3, 2), stride=(1, 2), padding=[1, 0])
    assert nn.huber_loss(np.ones(3), np.zeros(3), delta=np.inf) == 0.5

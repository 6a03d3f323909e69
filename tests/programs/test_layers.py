"""Functions of `tape_ad.nn`, compiled: value, gradient and second order, the same as eager."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from tape_ad import nn
from tape_ad.rules.nn.rectifiers import RECTIFIERS
from tests.programs.replaying import assert_replays, orders
from tests.sampling import some

ROUNDS = 4


@frozen
class Layer:
    """A function of arrays of these shapes, and of integers below a bound behind them."""

    name: str
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    numbers: tuple[tuple[int, ...], int] | None = None
    second: bool = True

    def points(self, dtype: Any) -> list[tuple[Any, ...]]:
        """Draw arguments for several calls."""
        rng = np.random.default_rng(0)
        found = []
        for _ in range(ROUNDS):
            point = [rng.normal(size=shape).astype(dtype) for shape in self.shapes]
            if self.numbers is not None:
                shape, bound = self.numbers
                point.append(rng.integers(bound, size=shape))
            found.append(tuple(point))
        return found


def of_shares(loss: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Give a loss logarithms of probabilities."""
    return lambda x, y: loss(nn.log_softmax(x), nn.softmax(y), **options)


CAUSAL = np.tri(6, dtype=bool)
ADDED = np.linspace(-1, 1, 36).reshape(6, 6)

LAYERS = [
    *(Layer(f.__name__, f, ((5, 4),)) for f in RECTIFIERS),
    Layer("relu", nn.relu, ((5, 4),)),
    Layer("sigmoid", nn.sigmoid, ((5, 4),)),
    Layer("tanh", nn.tanh, ((5, 4),)),
    Layer("gelu by tanh", lambda x: nn.gelu(x, approximate="tanh"), ((5, 4),)),
    Layer("softmax", nn.softmax, ((5, 4),)),
    Layer("softmax over an axis", lambda x: nn.softmax(x, axis=0), ((5, 4),)),
    Layer("log_softmax", nn.log_softmax, ((5, 4),)),
    Layer("logsumexp", nn.logsumexp, ((5, 4),)),
    Layer("logsumexp of rows", lambda x: nn.logsumexp(x, axis=1, keepdims=True), ((5, 4),)),
    Layer("linear", nn.linear, ((3, 4), (4, 2), (2,))),
    Layer("linear, one row", nn.linear, ((1, 4), (4, 2), (2,))),
    Layer("linear, a vector", nn.linear, ((4,), (4, 2), (2,))),
    Layer("linear, a stack", nn.linear, ((2, 3, 4), (4, 2), (2,))),
    Layer("conv1d", nn.conv1d, ((2, 3, 8), (4, 3, 3), (4,))),
    Layer("conv2d", nn.conv2d, ((2, 3, 6, 5), (4, 3, 3, 2), (4,))),
    Layer("conv2d without a bias", nn.conv2d, ((2, 3, 6, 5), (4, 3, 3, 2))),
    Layer(
        "conv2d with strides and groups",
        lambda x, w, b: nn.conv2d(x, w, b, stride=2, padding=1, dilation=(1, 2), groups=2),
        ((2, 4, 7, 8), (4, 2, 3, 2), (4,)),
    ),
    Layer("max_pool1d", lambda x: nn.max_pool1d(x, 2), ((2, 3, 8),)),
    Layer("max_pool2d", lambda x: nn.max_pool2d(x, 2), ((2, 3, 6, 6),)),
    Layer("max_pool2d, overlapping", lambda x: nn.max_pool2d(x, 3, 2, 1), ((2, 3, 7, 6),)),
    Layer("avg_pool1d", lambda x: nn.avg_pool1d(x, 2), ((2, 3, 8),)),
    Layer("avg_pool2d", lambda x: nn.avg_pool2d(x, 3, 2, 1), ((2, 3, 7, 6),)),
    Layer("layer_norm", lambda x, w, b: nn.layer_norm(x, 6, w, b), ((4, 6), (6,), (6,))),
    Layer("layer_norm, plain", lambda x: nn.layer_norm(x, 6), ((4, 6),)),
    Layer("layer_norm of two axes", lambda x: nn.layer_norm(x, (2, 3)), ((4, 2, 3),)),
    Layer("attention", nn.scaled_dot_product_attention, ((6, 3), (6, 3), (6, 3))),
    Layer("attention, narrow", nn.scaled_dot_product_attention, ((2, 16, 2),) * 3),
    Layer("attention, other keys", nn.scaled_dot_product_attention, ((6, 3), (4, 3), (4, 2))),
    Layer(
        "attention, causal",
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, is_causal=True),
        ((2, 16, 2),) * 3,
    ),
    Layer(
        "attention, masked",
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, CAUSAL),
        ((6, 3), (6, 3), (6, 3)),
    ),
    Layer(
        "attention, with scores added",
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, ADDED),
        ((6, 3), (6, 3), (6, 3)),
    ),
    Layer("cross_entropy", nn.cross_entropy, ((5, 4),), ((5,), 4)),
    Layer(
        "cross_entropy, smoothed",
        lambda x, y: nn.cross_entropy(x, y, label_smoothing=0.1),
        ((5, 4),),
        ((5,), 4),
    ),
    Layer(
        "cross_entropy, not averaged",
        lambda x, y: nn.cross_entropy(x, y, reduction="none"),
        ((5, 4),),
        ((5,), 4),
    ),
    Layer(
        "cross_entropy of shares", lambda x, y: nn.cross_entropy(x, nn.softmax(y)), ((5, 4),) * 2
    ),
    Layer("nll_loss", lambda x, y: nn.nll_loss(nn.log_softmax(x), y), ((5, 4),), ((5,), 4)),
    Layer(
        "binary cross entropy",
        lambda x, y: nn.binary_cross_entropy_with_logits(x, nn.sigmoid(y)),
        ((5, 4),) * 2,
    ),
    Layer("mse_loss", nn.mse_loss, ((5, 4),) * 2),
    Layer("mse_loss, not averaged", lambda x, y: nn.mse_loss(x, y, "none"), ((5, 4),) * 2),
    Layer("l1_loss", nn.l1_loss, ((5, 4),) * 2),
    Layer("huber_loss", lambda x, y: nn.huber_loss(x, y, delta=0.5), ((5, 4),) * 2),
    Layer("kl_div", of_shares(nn.kl_div), ((5, 4),) * 2),
    Layer("kl_div, summed", of_shares(nn.kl_div, reduction="sum"), ((5, 4),) * 2),
    Layer("embedding", lambda w, i: nn.embedding(i, w), ((6, 3),), ((4,), 6)),
    Layer("embedding, padded", lambda w, i: nn.embedding(i, w, 0), ((6, 3),), ((2, 4), 6)),
]


CHECKED = [
    pytest.param(layer, dtype, id=f"{layer.name}-{np.dtype(dtype)}")
    for layer, dtype in some(itertools.product(LAYERS, [np.float64, np.float32]), 5)
]
"""Some in one precision and some in the other, as `tests.sampling` says."""


@pytest.mark.parametrize(("layer", "dtype"), CHECKED)
def test_functions_replay_to_the_bit(layer: Layer, dtype: Any) -> None:
    assert_replays(orders(layer.function, second=layer.second), *layer.points(dtype))

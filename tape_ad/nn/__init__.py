"""Layers, activations and losses: thin functions of handles or of plain arrays."""

from tape_ad.nn.layers import Linear
from tape_ad.rules.activations import (
    cross_entropy,
    log_softmax,
    logsumexp,
    relu,
    sigmoid,
    softmax,
)

__all__ = [
    "Linear",
    "cross_entropy",
    "log_softmax",
    "logsumexp",
    "relu",
    "sigmoid",
    "softmax",
]

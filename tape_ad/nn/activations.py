"""Activations, stable for large inputs: functions of arrays, like NumPy's own.

Plain arrays in, plain arrays out, and recorded as one node when they meet a handle.
"""

from numpy import tanh

from tape_ad.rules.layers.activations import log_softmax, logsumexp, relu, sigmoid, softmax
from tape_ad.rules.layers.rectifiers import elu, gelu, glu, leaky_relu, selu, silu, softplus

__all__ = [
    "elu",
    "gelu",
    "glu",
    "leaky_relu",
    "log_softmax",
    "logsumexp",
    "relu",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
]

"""Layers, activations, losses and initialisers: thin functions of handles or of plain arrays.

A layer holds configuration and no data. Its parameters live in a store outside, a dict from names
to arrays, and it is called with the store and an input. Names, arguments and their default values
are PyTorch's. What differs: a layer with parameters begins with its name; a dense matrix has the
shape (inputs, outputs), for ``x @ weight``; classes are on the last axis; there is no hidden
generator and no mode, so a call says ``rng=`` and ``training=True``.
"""

from numpy import tanh

from tape_ad.extend.packages import attributes_of as _attributes_of
from tape_ad.extend.packages import listed as _listed
from tape_ad.nn import initializers
from tape_ad.nn.attention import (
    MultiHeadAttention,
    TransformerEncoderLayer,
    scaled_dot_product_attention,
)
from tape_ad.nn.convolutions import (
    Conv1d,
    Conv2d,
    ConvTranspose1d,
    ConvTranspose2d,
    conv1d,
    conv2d,
    conv_transpose1d,
    conv_transpose2d,
)
from tape_ad.nn.layers import (
    Dropout,
    Embedding,
    Flatten,
    Linear,
    Residual,
    Sequential,
    dropout,
    embedding,
)
from tape_ad.nn.losses import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
)
from tape_ad.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    GroupNorm,
    LayerNorm,
    group_norm,
    layer_norm,
)
from tape_ad.nn.pooling import (
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from tape_ad.nn.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from tape_ad.nn.stores import Layer, Parameter, init, partition, summary
from tape_ad.rules.nn import rectifiers as _rectifiers
from tape_ad.rules.nn.activations import log_softmax, logsumexp, relu, sigmoid, softmax
from tape_ad.rules.nn.affine import linear
from tape_ad.rules.nn.rectifiers import *  # noqa: F403 - its __all__ is the list of them

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "AvgPool1d",
    "AvgPool2d",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv1d",
    "Conv2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRUCell",
    "GroupNorm",
    "LSTMCell",
    "Layer",
    "LayerNorm",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "MultiHeadAttention",
    "Parameter",
    "RNNCell",
    "Residual",
    "Sequential",
    "TransformerEncoderLayer",
    "avg_pool1d",
    "avg_pool2d",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "conv_transpose2d",
    "cross_entropy",
    "dropout",
    "embedding",
    "group_norm",
    "huber_loss",
    "init",
    "initializers",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "linear",
    "log_softmax",
    "logsumexp",
    "max_pool1d",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "partition",
    "relu",
    "scaled_dot_product_attention",
    "sigmoid",
    "softmax",
    "summary",
    "tanh",
]
__all__ += _rectifiers.__all__

__getattr__ = _attributes_of(__name__)
__dir__ = _listed(__all__)

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
from tape_ad.nn import attention as _attention
from tape_ad.nn import convolutions as _convolutions
from tape_ad.nn import initializers
from tape_ad.nn import layers as _layers
from tape_ad.nn import losses as _losses
from tape_ad.nn import normalization as _normalization
from tape_ad.nn import pooling as _pooling
from tape_ad.nn import recurrent as _recurrent
from tape_ad.nn import stores as _stores
from tape_ad.nn.attention import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.nn.convolutions import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.nn.layers import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.nn.losses import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.nn.normalization import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.nn.pooling import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.nn.recurrent import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.nn.stores import *  # noqa: F403 - its __all__ is the list of what it publishes
from tape_ad.rules.nn import rectifiers as _rectifiers
from tape_ad.rules.nn.activations import log_softmax, logsumexp, relu, sigmoid, softmax
from tape_ad.rules.nn.affine import linear
from tape_ad.rules.nn.rectifiers import *  # noqa: F403 - its __all__ is the list of them

__all__ = [
    "initializers",
    "linear",
    "log_softmax",
    "logsumexp",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
]
__all__ += _attention.__all__
__all__ += _convolutions.__all__
__all__ += _layers.__all__
__all__ += _losses.__all__
__all__ += _normalization.__all__
__all__ += _pooling.__all__
__all__ += _recurrent.__all__
__all__ += _stores.__all__
__all__ += _rectifiers.__all__

__getattr__ = _attributes_of(__name__)
__dir__ = _listed(__all__)

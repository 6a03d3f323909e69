"""The same layers as a user of NumPy writes them, without `tape_ad.nn`."""

import math
from typing import Any

import numpy as np

from tape_ad.scipy import special

__all__ = [
    "attention",
    "conv2d",
    "cross_entropy",
    "gelu",
    "layer_norm",
    "linear",
    "max_pool2d",
    "relu",
    "self_attention",
]


def linear(x: Any, weight: Any, bias: Any) -> Any:
    return x @ weight + bias


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + special.erf(x * math.sqrt(0.5)))


def cross_entropy(logits: Any, targets: Any) -> Any:
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(targets)), targets])


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * weight + bias


def attention(query: Any, key: Any, value: Any) -> Any:
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    return softmax(scores) @ value


def self_attention(p: Any, x: Any, heads: int) -> Any:
    batch, length, width = x.shape
    mixed = linear(x, p["attention.in_proj_weight"], p["attention.in_proj_bias"])
    parts = (
        np.swapaxes(part.reshape(batch, length, heads, -1), 1, 2)
        for part in np.split(mixed, 3, axis=-1)
    )
    out = np.swapaxes(attention(*parts), 1, 2).reshape(batch, length, width)
    return linear(out, p["attention.out_proj.weight"], p["attention.out_proj.bias"])


def conv2d(x: Any, weight: Any, bias: Any) -> Any:
    kernel = weight.shape[-1]
    patches = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", patches, weight) + bias[:, None, None]


def max_pool2d(x: Any, size: int) -> Any:
    n, c, h, w = x.shape
    whole = x[:, :, : h // size * size, : w // size * size]
    return np.max(whole.reshape(n, c, h // size, size, w // size, size), axis=(3, 5))

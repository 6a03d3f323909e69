"""The layers of `tape_ad.nn`."""

from typing import Any

from tape_ad import nn
from tape_ad.nn import conv2d, cross_entropy, gelu, linear, max_pool2d, relu
from tape_ad.nn import scaled_dot_product_attention as attention

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


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return nn.layer_norm(x, x.shape[-1], weight, bias)


def self_attention(p: Any, x: Any, heads: int) -> Any:
    return nn.MultiHeadAttention("attention", x.shape[-1], num_heads=heads)(p, x)

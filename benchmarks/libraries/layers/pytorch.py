"""The same layers of `torch.nn.functional`; matrices have the shape (inputs, outputs)."""

from typing import Any

import torch
from torch.nn import functional
from torch.nn.functional import conv2d, cross_entropy, gelu, max_pool2d, relu
from torch.nn.functional import scaled_dot_product_attention as attention

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
    return torch.addmm(bias, x, weight) if x.ndim == 2 else functional.linear(x, weight.T, bias)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return functional.layer_norm(x, x.shape[-1:], weight, bias)


def self_attention(p: Any, x: Any, heads: int) -> Any:
    batch, length, width = x.shape
    mixed = linear(x, p["attention.in_proj_weight"], p["attention.in_proj_bias"])
    parts = (
        part.reshape(batch, length, heads, -1).transpose(1, 2) for part in mixed.chunk(3, dim=-1)
    )
    out = attention(*parts).transpose(1, 2).reshape(batch, length, width)
    return linear(out, p["attention.out_proj.weight"], p["attention.out_proj.bias"])

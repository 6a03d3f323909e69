"""Attention, a block of a transformer, and a convolutional network."""

import math
from typing import Any

import numpy as np

from benchmarks.libraries import TORCH
from benchmarks.libraries.plain import Data
from benchmarks.workloads.base import Array, Workload, seeded

__all__ = ["WORKLOADS"]

HEADS = 4


def attention(library: Any, p: Data, data: Data) -> Array:
    out = library.layers.attention(p["query"], p["key"], p["value"])
    return library.xp.sum(out * out)


def attention_inputs() -> tuple[Data, Data]:
    arrays = seeded(*[(8, 256, 256)] * 3)
    return dict(zip(("query", "key", "value"), arrays, strict=True)), {}


def block(library: Any, p: Data, data: Data) -> Array:
    layers, x = library.layers, p["x"]
    h = layers.layer_norm(x, p["norm1.weight"], p["norm1.bias"])
    x = x + layers.self_attention(p, h, HEADS)
    h = layers.layer_norm(x, p["norm2.weight"], p["norm2.bias"])
    h = layers.gelu(layers.linear(h, p["up.weight"], p["up.bias"]))
    x = x + layers.linear(h, p["down.weight"], p["down.bias"])
    return library.xp.mean(x * x)


def block_inputs() -> tuple[Data, Data]:
    width = 256
    matrices = {
        "attention.in_proj": (width, 3 * width),
        "attention.out_proj": (width, width),
        "up": (width, 4 * width),
        "down": (4 * width, width),
    }
    x, *weights = seeded((8, 256, width), *matrices.values())
    p = {"x": x}
    for norm in ("norm1", "norm2"):
        p |= {f"{norm}.weight": np.ones(width), f"{norm}.bias": np.zeros(width)}
    for name, weight in zip(matrices, weights, strict=True):
        p[f"{name}_weight" if name.endswith("in_proj") else f"{name}.weight"] = weight / math.sqrt(
            len(weight)
        )
        p[f"{name}_bias" if name.endswith("in_proj") else f"{name}.bias"] = np.zeros(
            weight.shape[1]
        )
    return p, {}


def cnn(library: Any, p: Data, data: Data) -> Array:
    layers, h = library.layers, data["images"]
    for i in (1, 2):
        h = layers.relu(layers.conv2d(h, p[f"conv{i}.weight"], p[f"conv{i}.bias"]))
        h = layers.max_pool2d(h, 2)
    logits = layers.linear(h.reshape(len(h), -1), p["dense.weight"], p["dense.bias"])
    return layers.cross_entropy(logits, data["labels"])


def cnn_inputs() -> tuple[Data, Data]:
    images, conv1, conv2, dense = seeded(
        (64, 1, 28, 28), (16, 1, 3, 3), (32, 16, 3, 3), (32 * 5 * 5, 10)
    )
    p = {
        "conv1.weight": conv1 / 3,
        "conv1.bias": np.zeros(16),
        "conv2.weight": conv2 / 12,
        "conv2.bias": np.zeros(32),
        "dense.weight": dense / math.sqrt(len(dense)),
        "dense.bias": np.zeros(10),
    }
    return p, {"images": images, "labels": np.random.default_rng(1).integers(10, size=64)}


OTHERS = dict.fromkeys(
    ("hips_autograd", "my_grad", "jax_eager", "jax_jit"), "these layers are beside PyTorch's"
)

WORKLOADS = [
    Workload(
        name,
        title,
        formula,
        inputs,
        cannot=OTHERS,
        targets={TORCH: 1.5},
        layers=True,
        dtype="float32",
    )
    for name, title, formula, inputs in (
        (
            "attention, 8x256x256",
            "scaled dot-product attention, batch 8, 256 queries and keys of width 256",
            attention,
            attention_inputs,
        ),
        (
            "transformer block, 8x256x256",
            "a pre-norm block of a transformer, 4 heads, batch 8, 256 places of width 256",
            block,
            block_inputs,
        ),
        (
            "CNN, 64x28x28",
            "two convolutions of 3x3 with ReLU and pooling, 16 and 32 channels, and cross entropy",
            cnn,
            cnn_inputs,
        ),
    )
]

"""Training steps of layers with ReLU between them."""

from typing import Any

import numpy as np

from benchmarks.libraries import BY_HAND, PLAIN, TORCH
from benchmarks.libraries.plain import Data, Outcome, Program
from benchmarks.workloads.base import Array, Workload

__all__ = ["WORKLOADS"]


def three_outputs(library: Any, p: Data, data: Data) -> Array:
    return library.xp.sum(library.relu(library.xp.matmul(data["x"], p["w"])))


def three_outputs_in_numbers(p: Data, data: Data) -> Any:
    outputs = (
        sum(x * w for x, w in zip(data["x"][0], column, strict=True))
        for column in zip(*p["w"], strict=True)
    )
    return sum(output.relu() for output in outputs)


def three_outputs_by_hand(p: Data, data: Data, rate: float, momentum: float) -> Program:
    x, w = data["x"], p["w"]

    def program() -> Outcome:
        hidden = np.maximum(x @ w, 0)
        gradient = x.T @ np.greater(hidden, 0).astype(w.dtype)
        np.subtract(w, rate * gradient, out=w)
        return np.add.reduce(hidden, axis=None), {"w": gradient}

    return program


def three_inputs() -> tuple[Data, Data]:
    weights = np.array([[0.1, 0.4, 0.7], [0.2, 0.5, 0.8], [0.3, 0.6, 0.9]])
    return {"w": weights}, {"x": np.array([[1.0, 2.0, 3.0]])}


def classifier(library: Any, p: Data, data: Data) -> Array:
    hidden = library.relu(library.linear(data["x"], p["w1"], p["b1"]))
    return library.cross_entropy(library.linear(hidden, p["w2"], p["b2"]), data["y"])


def classifier_by_hand(p: Data, data: Data, rate: float, momentum: float) -> Program:
    x, y, rows = data["x"], data["y"], np.arange(len(data["y"]))
    velocity = {name: np.zeros_like(array) for name, array in p.items()} if momentum else {}

    def program() -> Outcome:
        hidden = x @ p["w1"]
        hidden += p["b1"]
        np.maximum(hidden, 0, out=hidden)
        scores = hidden @ p["w2"]
        scores += p["b2"]
        scores -= np.maximum.reduce(scores, axis=1, keepdims=True)
        correct = scores[rows, y]
        np.exp(scores, out=scores)
        total = np.add.reduce(scores, axis=1, keepdims=True)
        loss = (np.add.reduce(np.log(total), axis=None) - np.add.reduce(correct)) / len(y)
        scores /= total
        scores[rows, y] -= 1
        scores /= len(y)
        d_hidden = scores @ p["w2"].T
        d_hidden *= hidden > 0
        gradients = {
            "w1": x.T @ d_hidden,
            "b1": np.add.reduce(d_hidden, axis=0),
            "w2": hidden.T @ scores,
            "b2": np.add.reduce(scores, axis=0),
        }
        for name, gradient in gradients.items():
            change = gradient
            if momentum:
                change = velocity[name]
                change *= momentum
                change += gradient
            p[name] -= rate * change
        return loss, gradients

    return program


def network(batch: int, inputs: int, hidden: int, outputs: int) -> tuple[Data, Data]:
    rng = np.random.default_rng(0)
    p = {
        "w1": rng.normal(0, (2 / inputs) ** 0.5, (inputs, hidden)),
        "b1": np.zeros(hidden),
        "w2": rng.normal(0, (2 / hidden) ** 0.5, (hidden, outputs)),
        "b2": np.zeros(outputs),
    }
    return p, {"x": rng.random((batch, inputs)), "y": rng.integers(outputs, size=batch)}


SLOW = 1e-5
"""A rate so small that thousands of steps leave the parameters about where they are."""

WORKLOADS = [
    Workload(
        "step, 1x3",
        "linear 3 to 3, ReLU, sum, and a step of SGD",
        three_outputs,
        three_inputs,
        kind="step",
        own={BY_HAND: three_outputs_by_hand, "micro_grad": three_outputs_in_numbers},
        targets={TORCH: 0.45},
        small=True,
        rate=SLOW,
        compiled=0.25,
        native=0.5,
    ),
    Workload(
        "step, digits 64x64x128x10",
        "batch 64, 64-128-10 with ReLU and cross entropy, and a step of SGD with momentum",
        classifier,
        lambda: network(64, 64, 128, 10),
        kind="step",
        own={BY_HAND: classifier_by_hand},
        layers=True,
        targets={BY_HAND: 1.25, PLAIN: 1.1},
        dtype="float32",
        rate=SLOW,
        momentum=0.9,
    ),
    Workload(
        "step, 64x784x128x10",
        "batch 64, 784-128-10 with ReLU and cross entropy, and a step of SGD",
        classifier,
        lambda: network(64, 784, 128, 10),
        kind="step",
        own={BY_HAND: classifier_by_hand},
        layers=True,
        targets={TORCH: 0.80, BY_HAND: 1.2, PLAIN: 1.1},
        dtype="float32",
        rate=SLOW,
        memory=1.3,
    ),
    Workload(
        "step, 256x784x1024x10",
        "batch 256, 784-1024-10 with ReLU and cross entropy, and a step of SGD",
        classifier,
        lambda: network(256, 784, 1024, 10),
        kind="step",
        own={BY_HAND: classifier_by_hand},
        layers=True,
        targets={TORCH: 1.03, PLAIN: 1.1},
        dtype="float32",
        rate=SLOW,
    ),
]

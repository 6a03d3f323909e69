"""Dense networks and a loop of small products, with `tape_ad.nn` and in plain NumPy."""

import functools
import itertools
from typing import Any

import numpy as np

from benchmarks.libraries import BY_HAND, PLAIN, TORCH
from benchmarks.libraries.plain import Data, Outcome, Program
from benchmarks.workloads.base import Array, Workload, seeded

__all__ = ["WORKLOADS"]

WIDTHS = (256, 256, 256, 256, 10)


def dense(library: Any, p: Data, data: Data) -> Array:
    h, last = data["x"], len(WIDTHS) - 2
    for i in range(last):
        h = library.relu(library.linear(h, p[f"w{i}"], p[f"b{i}"]))
    return library.cross_entropy(library.linear(h, p[f"w{last}"], p[f"b{last}"]), data["y"])


def dense_by_hand(p: Data, data: Data) -> Program:
    y, rows, last = data["y"], np.arange(len(data["y"])), len(WIDTHS) - 2

    def program() -> Outcome:
        states = [data["x"]]
        for i in range(last + 1):
            h = states[-1] @ p[f"w{i}"]
            h += p[f"b{i}"]
            states.append(np.maximum(h, 0, out=h) if i < last else h)
        d = states.pop()
        d -= np.maximum.reduce(d, axis=1, keepdims=True)
        correct = d[rows, y]
        np.exp(d, out=d)
        total = np.add.reduce(d, axis=1, keepdims=True)
        loss = (np.add.reduce(np.log(total), axis=None) - np.add.reduce(correct)) / len(y)
        d /= total
        d[rows, y] -= 1
        d /= len(y)
        gradients = {}
        for i in range(last, -1, -1):
            gradients[f"w{i}"] = np.dot(states[i].T, d)  # quicker than matmul for a single row
            gradients[f"b{i}"] = np.add.reduce(d, axis=0)
            if i:
                d = d @ p[f"w{i}"].T
                d *= states[i] > 0
        return loss, gradients

    return program


def dense_inputs(batch: int) -> tuple[Data, Data]:
    rng = np.random.default_rng(0)
    p = {}
    for i, (inputs, outputs) in enumerate(itertools.pairwise(WIDTHS)):
        p[f"w{i}"] = rng.normal(0, (2 / inputs) ** 0.5, (inputs, outputs))
        p[f"b{i}"] = np.zeros(outputs)
    x = rng.normal(size=(batch, WIDTHS[0]))
    return p, {"x": x, "y": rng.integers(WIDTHS[-1], size=batch)}


STEPS = 50


def loop(library: Any, p: Data, data: Data) -> Array:
    h = data["h"]
    for _ in range(STEPS):
        h = library.relu(library.linear(h, p["w"], p["b"]))
    return library.xp.sum(h * h)


def loop_by_hand(p: Data, data: Data) -> Program:
    w, b = p["w"], p["b"]

    def program() -> Outcome:
        states = np.empty((STEPS + 1, len(b)), w.dtype)
        states[0] = data["h"]
        for before, after in itertools.pairwise(states):
            np.matmul(before, w, out=after)
            np.add(after, b, out=after)
            np.maximum(after, 0, out=after)
        cotangents = np.empty((STEPS, len(b)), w.dtype)
        d = 2 * states[-1]
        for after, kept in zip(states[:0:-1], cotangents[::-1], strict=True):
            np.multiply(d, after > 0, out=kept)
            d = w @ kept
        gradients = {"w": states[:-1].T @ cotangents, "b": np.add.reduce(cotangents, axis=0)}
        return states[-1] @ states[-1], gradients

    return program


def loop_inputs() -> tuple[Data, Data]:
    w, b, h = seeded((256, 256), (256,), (1, 256))
    return {"w": w * (2 / 256) ** 0.5, "b": 0.1 * b}, {"h": h}


BOUNDS = {PLAIN: 1.1, TORCH: 1.0}
UNCOMPILED = {"jax_eager": "it is slow in all that is like it"}

WORKLOADS = [
    *(
        Workload(
            f"dense network, batch {batch}",
            f"batch {batch}, three layers of 256 units with ReLU, cross entropy of 10 classes",
            dense,
            functools.partial(dense_inputs, batch),
            own={BY_HAND: dense_by_hand},
            cannot=UNCOMPILED,
            targets=BOUNDS,
            layers=True,
            dtype="float32",
        )
        for batch in (1, 64, 256)
    ),
    Workload(
        "loop, 50 steps of 256 units",
        "50 steps of relu(h @ W + b), batch 1",
        loop,
        loop_inputs,
        own={BY_HAND: loop_by_hand},
        cannot=UNCOMPILED,
        targets=BOUNDS,
        layers=True,
    ),
]

"""MyGrad, which has no second derivatives."""

from typing import Any

import mygrad as xp
import numpy as np
from mygrad.nnet.activations import relu, sigmoid
from mygrad.nnet.losses import softmax_crossentropy as cross_entropy
from mygrad.tensor_base import Tensor

from benchmarks.libraries.plain import Data, Formula, Outcome, Program, linear, peak

__all__ = [
    "cross_entropy",
    "fill_triangles",
    "gradient",
    "linear",
    "logsumexp",
    "peak",
    "relu",
    "sigmoid",
    "step",
    "to_numpy",
    "xp",
]


def logsumexp(x: Any, axis: int = -1) -> Any:
    """Compute it from its parts, for MyGrad has no function for it; the maximum is a constant."""
    top = np.max(np.asarray(x), axis=axis, keepdims=True)
    total = xp.sum(xp.exp(x - top), axis=axis)
    return xp.log(total) + np.squeeze(top, axis=axis)


def fill_triangles(diagonals: Any, below: Any, places: Any) -> Any:
    """Make lower triangular matrices, from what stands on the diagonal and below it."""
    count, d = diagonals.shape
    matrices = xp.zeros((count, d, d), dtype=diagonals.dtype)
    matrices[:, np.arange(d), np.arange(d)] = diagonals
    matrices[:, places[0], places[1]] = below
    return matrices


def to_numpy(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(array)


def gradient(formula: Formula, p: Data, data: Data) -> Program:
    leaves = {name: Tensor(array) for name, array in p.items()}

    def program() -> Outcome:
        value = formula(leaves, data)
        value.backward()
        return value.data, {name: leaf.grad for name, leaf in leaves.items()}

    return program


def step(formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
    leaves = {name: Tensor(array) for name, array in p.items()}
    velocity = {name: np.zeros_like(array) for name, array in p.items()}

    def program() -> Outcome:
        loss = formula(leaves, data)
        loss.backward()
        gradients: Data = {name: leaf.grad for name, leaf in leaves.items()}
        for name, g in gradients.items():
            if momentum:
                velocity[name] = momentum * velocity[name] + g
            leaves[name].data -= rate * (velocity[name] if momentum else g)
        return loss.data, gradients

    return program

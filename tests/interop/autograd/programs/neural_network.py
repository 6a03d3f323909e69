"""A network for classes, trained by Adam on batches, with parameters in lists of tuples."""

from itertools import pairwise
from typing import Any

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad
from autograd.misc.optimizers import adam
from autograd.scipy.special import logsumexp


def run() -> Any:
    rs = npr.RandomState(0)
    sizes = [4, 6, 3]
    inputs = rs.randn(20, 4)
    targets = np.eye(3)[rs.randint(3, size=20)]
    params = [(0.1 * rs.randn(m, n), 0.1 * rs.randn(n)) for m, n in pairwise(sizes)]

    def predict(params: Any, inputs: Any) -> Any:
        for weights, biases in params:
            outputs = np.dot(inputs, weights) + biases
            inputs = np.tanh(outputs)
        return outputs - logsumexp(outputs, axis=1, keepdims=True)

    def objective(params: Any, i: int) -> Any:
        batch = slice(5 * (i % 4), 5 * (i % 4) + 5)
        penalty = sum(np.sum(w**2) + np.sum(b**2) for w, b in params)
        return 0.01 * penalty - np.sum(predict(params, inputs[batch]) * targets[batch])

    losses: list[Any] = []
    trained = adam(
        grad(objective),
        params,
        step_size=0.05,
        num_iters=30,
        callback=lambda params, i, g: losses.append(objective(params, i)),
    )
    return losses, trained

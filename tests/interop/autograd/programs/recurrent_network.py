"""A recurrent network and one with gates, over sequences, in dicts of weights."""

from typing import Any

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad, value_and_grad
from autograd.misc.optimizers import rmsprop, sgd


def concat_and_multiply(weights: Any, *args: Any) -> Any:
    joined = np.hstack((*args, np.ones((args[0].shape[0], 1))))
    return np.dot(joined, weights)


def run() -> Any:
    rs = npr.RandomState(2)
    inputs = rs.randn(6, 3, 2)
    targets = np.sin(np.cumsum(inputs[:, :, 0], axis=0))
    params = {
        "init": rs.randn(1, 4) * 0.1,
        "change": rs.randn(7, 4) * 0.3,
        "gate": rs.randn(7, 4) * 0.3,
        "predict": rs.randn(5, 1) * 0.3,
    }

    def outputs(params: Any, inputs: Any) -> Any:
        hiddens = np.repeat(params["init"], inputs.shape[1], axis=0)
        found = [concat_and_multiply(params["predict"], hiddens)]
        for step in inputs:
            change = np.tanh(concat_and_multiply(params["change"], step, hiddens))
            gate = 0.5 * (1 + np.tanh(concat_and_multiply(params["gate"], step, hiddens)))
            hiddens = gate * hiddens + (1 - gate) * change
            found.append(concat_and_multiply(params["predict"], hiddens))
        return found

    def loss(params: Any, i: int = 0) -> Any:
        predicted = np.array(outputs(params, inputs))[1:, :, 0]
        return np.mean((predicted - targets) ** 2)

    trained = rmsprop(grad(loss), params, num_iters=8, step_size=0.01)
    moved = sgd(grad(loss), params, num_iters=8, step_size=0.1)
    return value_and_grad(loss)(params), trained, moved

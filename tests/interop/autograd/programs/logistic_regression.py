"""Logistic regression with a gradient checked by differences."""

from typing import Any

import autograd.numpy as np
from autograd import grad, jacobian
from autograd.test_util import check_grads


def sigmoid(x: Any) -> Any:
    return 0.5 * (np.tanh(x) + 1)


def run() -> Any:
    inputs = np.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30]])
    targets = np.array([True, True, False])

    def loss(weights: Any) -> Any:
        predictions = sigmoid(np.dot(inputs, weights))
        likely = predictions * targets + (1 - predictions) * (1 - targets)
        return -np.sum(np.log(likely))

    weights = np.array([0.0, 0.0, 0.0])
    check_grads(loss, modes=["rev"])(weights)
    slope = grad(loss)
    for _ in range(50):
        weights -= slope(weights) * 0.1
    return loss(weights), weights, jacobian(lambda w: sigmoid(np.dot(inputs, w)))(weights)

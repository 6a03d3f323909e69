"""Parameters of a differential equation, by a solver written out in the program."""

from itertools import pairwise
from typing import Any

import autograd.numpy as np
from autograd import grad
from autograd.builtins import tuple as make_tuple


def runge_kutta(derivative: Any, y0: Any, times: Any, params: Any) -> Any:
    states = [y0]
    for start, end in pairwise(times):
        step, y = end - start, states[-1]
        k1 = derivative(y, start, params)
        k2 = derivative(y + step / 2 * k1, start + step / 2, params)
        k3 = derivative(y + step / 2 * k2, start + step / 2, params)
        k4 = derivative(y + step * k3, end, params)
        states.append(y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.stack(states)


def run() -> Any:
    times = np.linspace(0.0, 2.0, 12)
    true = runge_kutta(
        lambda y, t, _: np.dot(y**3, np.array([[-0.1, 2.0], [-2.0, -0.1]])),
        np.array([2.0, 0.0]),
        times,
        None,
    )
    params = ([0.1 * np.ones((2, 3)) + np.eye(2, 3), np.zeros(3)], [0.2 * np.ones((3, 2)), 0.1])

    def derivative(y: Any, t: Any, params: Any) -> Any:
        for w, b in params:
            y = np.tanh(np.dot(y, w) + b)
        return y

    def loss(params: Any, y0: Any) -> Any:
        return np.mean(np.abs(runge_kutta(derivative, y0, times, params) - true))

    return grad(loss, argnum=(0, 1))(make_tuple(params), np.array([2.0, 0.0]))

"""Derivatives of high order, of a formula and of a loop that stops by a value."""

from typing import Any

import autograd.numpy as np
from autograd import deriv, elementwise_grad, grad, holomorphic_grad


def tanh(x: Any) -> Any:
    return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))


def sine(x: Any) -> Any:
    total = term = x
    i = 0
    while np.abs(term) > 1e-12:
        term = -term * x**2 / ((2 * i + 3) * (2 * i + 2))
        total += term
        i += 1
    return total


def run() -> Any:
    x = np.linspace(-2, 2, 7)
    function, results = tanh, []
    for _ in range(5):
        function = elementwise_grad(function)
        results.append(function(x))
    slopes = [grad(sine)(1.2), grad(grad(sine))(1.2), deriv(sine)(0.3)]
    holomorphic = [holomorphic_grad(tanh)(0.3 + 0.2j), grad(lambda z: np.abs(tanh(z)))(0.3 + 0.2j)]
    return results, slopes, holomorphic

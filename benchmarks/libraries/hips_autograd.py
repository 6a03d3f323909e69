"""HIPS autograd."""

from typing import Any

import autograd
import autograd.numpy as xp
from autograd.extend import defvjp, primitive
from autograd.scipy.special import expit as sigmoid
from autograd.scipy.special import logsumexp

from benchmarks.libraries.plain import Data, Formula, Outcome, Program, linear, peak, to_numpy

__all__ = [
    "cross_entropy",
    "derivative",
    "fill_triangles",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "linear",
    "logsumexp",
    "own_square",
    "peak",
    "relu",
    "sigmoid",
    "step",
    "to_numpy",
    "xp",
]


own_square = primitive(lambda x: x * x)
defvjp(own_square, lambda out, x: lambda ct: ct * (2 * x))


def relu(x: Any) -> Any:
    return xp.maximum(x, 0)


def cross_entropy(logits: Any, targets: Any) -> Any:
    rows = xp.arange(len(targets))
    return xp.mean(logsumexp(logits, axis=1) - logits[rows, targets])


def fill_triangles(diagonals: Any, below: Any, places: Any) -> Any:
    """Make lower triangular matrices, by picking, since nothing can be assigned to."""
    count, d = diagonals.shape
    order = xp.zeros((d, d), int)
    order[xp.arange(d), xp.arange(d)] = xp.arange(1, d + 1)
    order[places[0], places[1]] = xp.arange(d + 1, d + 1 + below.shape[1])
    return xp.concatenate([xp.zeros((count, 1)), diagonals, below], axis=1)[:, order]


def gradient(formula: Formula, p: Data, data: Data) -> Program:
    differentiated = autograd.value_and_grad(lambda leaves: formula(leaves, data))

    def program() -> Outcome:
        outcome: Outcome = differentiated(p)
        return outcome

    return program


def step(formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
    differentiated = autograd.value_and_grad(lambda leaves: formula(leaves, data))
    velocity = {name: xp.zeros_like(array) for name, array in p.items()}

    def program() -> Outcome:
        loss, gradients = differentiated(p)
        for name, g in gradients.items():
            if momentum:
                velocity[name] = momentum * velocity[name] + g
            p[name] = p[name] - rate * (velocity[name] if momentum else g)
        return loss, gradients

    return program


def jacobian(formula: Formula, p: Data, data: Data) -> Program:
    derivative = autograd.jacobian(lambda x: formula({"x": x}, data))
    return lambda: (None, {"x": derivative(p["x"])})


def hessian(formula: Formula, p: Data, data: Data) -> Program:
    derivative = autograd.hessian(lambda x: formula({"x": x}, data))
    return lambda: (None, {"x": derivative(p["x"])})


def derivative(formula: Formula, p: Data, data: Data) -> Program:
    of_x = autograd.grad(lambda x: formula({"x": x}, data))
    return lambda: (None, {"x": of_x(p["x"])})


def hvp(formula: Formula, p: Data, data: Data) -> Program:
    product = autograd.hessian_vector_product(lambda x: formula({"x": x}, data))
    return lambda: (None, {"x": product(p["x"], data["v"])})

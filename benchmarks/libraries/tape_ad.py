"""tape_ad itself: a fresh record for every call."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from benchmarks.libraries.layers import tape_ad as layers
from benchmarks.libraries.plain import Data, Formula, Outcome, Program, peak, seed_like, to_numpy
from tape_ad.nn import cross_entropy, linear, logsumexp, relu, sigmoid
from tape_ad.optim import SGD

__all__ = [
    "Programs",
    "cross_entropy",
    "derivative",
    "fill_triangles",
    "function",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "layers",
    "lean_gradient",
    "lean_step",
    "linear",
    "logsumexp",
    "nodes",
    "own_square",
    "peak",
    "recorded",
    "relu",
    "sigmoid",
    "step",
    "to_numpy",
    "xp",
]

xp = np

own_square = ta.custom_rule(pull=lambda ct, out, x: ct * (2 * x))(lambda x: x * x)


def fill_triangles(diagonals: Any, below: Any, places: Any) -> Any:
    """Make lower triangular matrices, from what stands on the diagonal and below it."""
    count, d = diagonals.shape
    matrices = np.zeros_like(below, shape=(count, d, d))
    matrices[:, np.arange(d), np.arange(d)] = diagonals
    matrices[:, *places] = below
    return matrices


def recorded(
    formula: Formula, data: Data, *, release: bool = False
) -> Callable[[Data], tuple[Any, Data]]:
    """Make the function of `p` that gives the value and the gradient."""

    def value_and_gradient(p: Data) -> tuple[Any, Data]:
        rec = ta.ComputationRecord()
        handles = rec.bind(p)
        value = formula(handles, data)
        return value.data, value.grad(release=release).wrt(handles)

    return value_and_gradient


def swept(formula: Formula, data: Data, seed: Any) -> Callable[[Data], tuple[Any, Data]]:
    """Make the same of a function whose value is an array, which wants a seed."""

    def value_and_cotangents(p: Data) -> tuple[Any, Data]:
        rec = ta.ComputationRecord()
        handles = {name: rec.tensor(array) for name, array in p.items()}
        value = formula(handles, data)
        gradients = value.grad(seed)
        return value.data, {name: gradients.wrt(handle) for name, handle in handles.items()}

    return value_and_cotangents


def nodes(formula: Formula, p: Data, data: Data) -> Program:
    def program() -> Outcome:
        rec = ta.ComputationRecord()
        formula(rec.bind(p), data)
        return len(rec), {}

    return program


@frozen
class Programs:
    """Makes the programs, with a function that compiles or leaves it.

    Attributes
    ----------
    compiled : callable
        `ta.compile`, or what gives a function back as it is.
    """

    compiled: Callable[[Any], Any]

    def gradient(self, formula: Formula, p: Data, data: Data, *, release: bool = False) -> Program:
        """Give the value and the gradient."""
        value_and_gradient = self.compiled(recorded(formula, data, release=release))
        return lambda: value_and_gradient(p)

    def function(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the value of a single function, and what a seed pulls back."""
        value = formula(p, data)
        seed = seed_like(value) if np.ndim(value) else None
        value_and_cotangents = self.compiled(swept(formula, data, seed))
        return lambda: value_and_cotangents(p)

    def jacobian(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Jacobian."""
        derivative = self.compiled(ta.jacobian(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": derivative(p["x"])})

    def hessian(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Hessian."""
        derivative = self.compiled(ta.hessian(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": derivative(p["x"])})

    def derivative(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the derivative of a function of a number."""
        of_x = self.compiled(ta.grad(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": of_x(p["x"])})

    def hvp(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Hessian times a vector."""

        def f(x: Any) -> Any:
            return formula({"x": x}, data)

        product = self.compiled(lambda x, v: ta.hvp(f, x, v))
        return lambda: (None, {"x": product(p["x"], data["v"])})


programs = Programs(lambda function: function)
gradient = programs.gradient
function = programs.function
jacobian = programs.jacobian
hessian = programs.hessian
derivative = programs.derivative
hvp = programs.hvp


def step(
    formula: Formula, p: Data, data: Data, rate: float, momentum: float, *, release: bool = False
) -> Program:
    optimizer = SGD(rate, momentum)
    value_and_gradient = recorded(formula, data, release=release)

    def program() -> Outcome:
        loss, gradients = value_and_gradient(p)
        optimizer.step(p, gradients)
        return loss, gradients

    return program


lean_gradient = functools.partial(gradient, release=True)
lean_step = functools.partial(step, release=True)
"""PyTorch frees its graph in the sweep unless it is told to keep it; here it is the other way."""

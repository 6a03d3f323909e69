"""tape_ad itself: a fresh record for every call."""

import functools
from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.libraries.layers import tape_ad as layers
from benchmarks.libraries.plain import Data, Formula, Outcome, Program, peak, seed_like, to_numpy
from tape_ad.nn import cross_entropy, linear, logsumexp, relu, sigmoid
from tape_ad.optim import SGD

__all__ = [
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


def gradient(formula: Formula, p: Data, data: Data, *, release: bool = False) -> Program:
    def program() -> Outcome:
        rec = ta.ComputationRecord()
        handles = rec.bind(p)
        value = formula(handles, data)
        return value.data, value.grad(release=release).wrt(handles)

    return program


def nodes(formula: Formula, p: Data, data: Data) -> Program:
    def program() -> Outcome:
        rec = ta.ComputationRecord()
        formula(rec.bind(p), data)
        return len(rec), {}

    return program


def function(formula: Formula, p: Data, data: Data) -> Program:
    value = formula(p, data)
    seed = seed_like(value) if np.ndim(value) else None

    def program() -> Outcome:
        rec = ta.ComputationRecord()
        handles = {name: rec.tensor(array) for name, array in p.items()}
        value = formula(handles, data)
        gradients = value.grad(seed)
        return value.data, {name: gradients.wrt(handle) for name, handle in handles.items()}

    return program


def step(
    formula: Formula, p: Data, data: Data, rate: float, momentum: float, *, release: bool = False
) -> Program:
    optimizer = SGD(rate, momentum)

    def program() -> Outcome:
        rec = ta.ComputationRecord()
        handles = rec.bind(p)
        loss = formula(handles, data)
        gradients = loss.grad(release=release).wrt(handles)
        optimizer.step(p, gradients)
        return loss.data, gradients

    return program


lean_gradient = functools.partial(gradient, release=True)
lean_step = functools.partial(step, release=True)
"""PyTorch frees its graph in the sweep unless it is told to keep it; here it is the other way."""


def jacobian(formula: Formula, p: Data, data: Data) -> Program:
    derivative = ta.jacobian(lambda x: formula({"x": x}, data))
    return lambda: (None, {"x": derivative(p["x"])})


def hessian(formula: Formula, p: Data, data: Data) -> Program:
    derivative = ta.hessian(lambda x: formula({"x": x}, data))
    return lambda: (None, {"x": derivative(p["x"])})


def derivative(formula: Formula, p: Data, data: Data) -> Program:
    of_x = ta.grad(lambda x: formula({"x": x}, data))
    return lambda: (None, {"x": of_x(p["x"])})


def hvp(formula: Formula, p: Data, data: Data) -> Program:
    def f(x: Any) -> Any:
        return formula({"x": x}, data)

    return lambda: (None, {"x": ta.hvp(f, p["x"], data["v"])})

"""tape_ad compiled: captured once, before any time is taken, and replayed by the NumPy engine.

A training step is compiled whole, as JAX's is: it gives new parameters (and velocities) in place of
updating those that it was given, which a compiled function may not write to. The arithmetic is that
of `tape_ad.optim.SGD`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen

import tape_ad as ta
from benchmarks.libraries.layers import tape_ad as layers
from benchmarks.libraries.plain import Data, Formula, Outcome, Program
from benchmarks.libraries.tape_ad import (
    Programs,
    cross_entropy,
    fill_triangles,
    linear,
    logsumexp,
    own_square,
    peak,
    recorded,
    relu,
    sigmoid,
    to_numpy,
    xp,
)
from tape_ad.programs.plans import Plan

__all__ = [
    "calls",
    "cross_entropy",
    "derivative",
    "fill_triangles",
    "function",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "kept",
    "layers",
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


@frozen
class Compiler:
    """`ta.compile`, which remembers what it was asked for last."""

    made: list[Any] = field(factory=list)

    def __call__(self, function: Callable[..., Any]) -> Any:
        self.made[:] = [ta.compile(function, engine="numpy")]
        return self.made[0]


compiler = Compiler()


def calls() -> int:
    """Count the calls in what was compiled last."""
    return sum(len(program) for program in compiler.made[0].programs)


def kept() -> int:
    """Count the bytes that the programs of it keep to compute in."""
    return sum(Plan.of(program).workspace for program in compiler.made[0].programs)


programs = Programs(compiler)
gradient = programs.gradient
function = programs.function
jacobian = programs.jacobian
hessian = programs.hessian
derivative = programs.derivative
hvp = programs.hvp


def step(formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
    value_and_gradient = recorded(formula, data)
    velocity = {name: np.zeros_like(array) for name, array in p.items()} if momentum else {}

    @compiler
    def update(p: Data, velocity: Data) -> tuple[Any, Data, Data, Data]:
        loss, gradients = value_and_gradient(p)
        velocity = {name: momentum * v + gradients[name] for name, v in velocity.items()}
        change = velocity or gradients
        p = {name: array - rate * change[name] for name, array in p.items()}
        return loss, gradients, p, velocity

    def program() -> Outcome:
        nonlocal p, velocity
        loss, gradients, p, velocity = update(p, velocity)
        return loss, gradients

    return program

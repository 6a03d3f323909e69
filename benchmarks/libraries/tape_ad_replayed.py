"""What tape_ad's engines have in common: a program is captured before any time is taken.

A training step is compiled whole, as JAX's is: it gives new parameters (and velocities) in place of
updating those that it was given, which a compiled function may not write to. The arithmetic is that
of `tape_ad.optim.SGD`.
"""

import gc
from collections.abc import Callable, Mapping
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
from tape_ad.programs.engines import Report
from tape_ad.programs.engines.plans import Plan
from tape_ad.programs.replay.paths import Path

__all__ = [
    "Replays",
    "cross_entropy",
    "fill_triangles",
    "layers",
    "linear",
    "logsumexp",
    "own_square",
    "peak",
    "relu",
    "sigmoid",
    "to_numpy",
    "xp",
]


@frozen
class Compiler:
    """`ta.compile` with its options, which remembers what it was asked for last."""

    options: Mapping[str, Any]
    made: list[Any] = field(factory=list)

    def __call__(self, function: Callable[..., Any]) -> Any:
        self.made.clear()
        gc.collect()  # loops that a program of before shares with the next one go with it
        self.made[:] = [ta.compile(function, **self.options)]
        return self.made[0]


@frozen
class Replays(Programs):
    """Makes programs that an engine replays.

    Attributes
    ----------
    compiled : Compiler
    """

    compiled: Compiler

    @classmethod
    def by(cls, engine: str, **options: Any) -> "Replays":
        """Make those of an engine, by its name; there may be other options of `ta.compile`."""
        return cls(Compiler({"engine": engine, **options}))

    def calls(self) -> int:
        """Count the calls in what was compiled last."""
        return sum(len(program) for program in self.compiled.made[0].programs)

    def kept(self) -> int:
        """Count the bytes that the programs of it keep to compute in."""
        return sum(Plan.of(program).workspace for program in self.compiled.made[0].programs)

    def report(self) -> Report | None:
        """Give what the engine says of it; NumPy's says nothing."""
        return next((path.report for path in self.paths() if path.report), None)

    def paths(self) -> list[Path]:
        """List what there is to replay."""
        return [path for paths in self.compiled.made[0]._paths.values() for path in paths.all]

    def step(self, formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
        """Give the value, the gradient, and new parameters."""
        value_and_gradient = recorded(formula, data)
        velocity = {name: np.zeros_like(array) for name, array in p.items()} if momentum else {}

        @self.compiled
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

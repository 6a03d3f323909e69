"""PyTorch compiled: `torch.compile`, by inductor, which writes C++ and calls a compiler.

What is compiled is value and gradient together (`torch.func`), as one graph: a compiled formula
that is swept afterwards is two graphs, takes twice as long to compile, and longer to run. A
training step is compiled whole, as JAX's is, and gives new parameters.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import torch as xp
from attrs import frozen
from torch._inductor.utils import clear_caches

from benchmarks.libraries.layers import pytorch as layers
from benchmarks.libraries.plain import Data, Formula, Outcome, Program
from benchmarks.libraries.pytorch import (
    Transforms,
    cross_entropy,
    fill_triangles,
    linear,
    logsumexp,
    own_square,
    relu,
    sigmoid,
    tensors,
    to_numpy,
)

__all__ = [
    "cross_entropy",
    "derivative",
    "fill_triangles",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "layers",
    "linear",
    "logsumexp",
    "own_square",
    "relu",
    "sigmoid",
    "step",
    "to_numpy",
    "xp",
]

COMPILER = os.environ.get("CXX", "g++")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile anew: what has been compiled before, here or by another process, is not looked at."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(dir=CACHES.name)
    clear_caches()
    xp.compiler.reset()
    program: Callable[..., Any] = xp.compile(function)
    return program


CACHES = tempfile.TemporaryDirectory()  # it is removed when the process ends

if shutil.which(COMPILER) is None:
    raise ImportError(f"it takes a C++ compiler, and there is no {COMPILER}")
try:  # and have what is done once for all programs done, which takes ten seconds or more
    compiled(xp.exp)(xp.ones(8))
except Exception as error:
    raise ImportError(f"it does not compile here: {type(error).__name__}") from error


@frozen
class Programs(Transforms):
    """Makes programs of one graph each."""

    def gradient(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the value and the gradient."""
        leaves, data = tensors(p), tensors(data)

        def f(p: Data) -> Any:
            return formula(p, data)

        differentiated = self.compiled(xp.func.grad_and_value(f))

        def program() -> Outcome:
            gradients, value = differentiated(leaves)
            return value, gradients

        return program

    def step(self, formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
        """Give them, and new parameters."""
        leaves, data = tensors(p), tensors(data)
        velocity = {name: xp.zeros_like(leaf) for name, leaf in leaves.items()} if momentum else {}

        def f(p: Data) -> Any:
            return formula(p, data)

        differentiated = xp.func.grad_and_value(f)

        @self.compiled
        def update(p: Data, velocity: Data) -> tuple[Any, Data, Data, Data]:
            gradients, loss = differentiated(p)
            velocity = {name: momentum * v + gradients[name] for name, v in velocity.items()}
            change = velocity or gradients
            p = {name: leaf - rate * change[name] for name, leaf in p.items()}
            return loss, gradients, p, velocity

        def program() -> Outcome:
            nonlocal leaves, velocity
            loss, gradients, leaves, velocity = update(leaves, velocity)
            return loss, gradients

        return program

    def derivative(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the derivative of a function of a number."""
        x, data = xp.tensor(p["x"]), tensors(data)

        def f(x: Any) -> Any:
            return formula({"x": x}, data)

        of_x = self.compiled(xp.func.grad(f))
        return lambda: (None, {"x": of_x(x)})

    def hvp(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Hessian times a vector, forward over reverse."""
        x, data = xp.tensor(p["x"]), tensors(data)

        def f(x: Any) -> Any:
            return formula({"x": x}, data)

        first = xp.func.grad(f)
        product = self.compiled(lambda x, v: xp.func.jvp(first, (x,), (v,))[1])
        return lambda: (None, {"x": product(x, data["v"])})


programs = Programs(compiled)
gradient = programs.gradient
step = programs.step
jacobian = programs.jacobian
hessian = programs.hessian
derivative = programs.derivative
hvp = programs.hvp

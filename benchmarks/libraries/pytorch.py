"""PyTorch in eager mode; `torch.func` for Jacobians and Hessians."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch as xp
from attrs import frozen
from torch.nn.functional import cross_entropy
from torch.profiler import ProfilerActivity, profile

from benchmarks.libraries.layers import pytorch as layers
from benchmarks.libraries.layers.pytorch import linear
from benchmarks.libraries.plain import Data, Formula, Outcome, Program, seed_like

__all__ = [
    "Transforms",
    "cross_entropy",
    "derivative",
    "fill_triangles",
    "function",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "layers",
    "linear",
    "logsumexp",
    "own_square",
    "peak",
    "relu",
    "sigmoid",
    "step",
    "tensors",
    "to_numpy",
    "xp",
]

xp.set_num_threads(1)

relu = xp.relu
sigmoid = xp.sigmoid


def logsumexp(x: Any, axis: int = -1) -> Any:
    return xp.logsumexp(x, axis)


class Square(xp.autograd.Function):
    """A square with a derivative of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """Compute it, and save its operand."""
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        """Pull a cotangent back."""
        (x,) = ctx.saved_tensors
        return ct * (2 * x)


own_square = Square.apply


def fill_triangles(diagonals: Any, below: Any, places: Any) -> Any:
    """Make lower triangular matrices, from what stands on the diagonal and below it."""
    matrices = xp.diag_embed(diagonals)
    matrices[:, places[0], places[1]] = below
    return matrices


def to_numpy(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(array.detach())


def tensors(arrays: Data, requires_grad: bool = False) -> Data:
    """Make tensors of copies of the arrays, and keep what is not an array."""
    return {
        name: xp.tensor(array, requires_grad=requires_grad)
        if isinstance(array, np.ndarray)
        else array
        for name, array in arrays.items()
    }


def gradient(formula: Formula, p: Data, data: Data) -> Program:
    leaves, data = tensors(p, requires_grad=True), tensors(data)

    def program() -> Outcome:
        value = formula(leaves, data)
        gradients = xp.autograd.grad(value, list(leaves.values()))
        return value.detach(), dict(zip(leaves, gradients, strict=True))

    return program


def function(formula: Formula, p: Data, data: Data) -> Program:
    leaves, data = tensors(p, requires_grad=True), tensors(data)
    each, value = list(leaves.values()), to_numpy(formula(leaves, data))
    seed = xp.tensor(seed_like(value)) if value.ndim else None

    def program() -> Outcome:
        value = formula(leaves, data)
        return value, dict(zip(leaves, xp.autograd.grad(value, each, seed), strict=True))

    return program


def step(formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
    leaves, data = tensors(p, requires_grad=True), tensors(data)
    optimizer = xp.optim.SGD(leaves.values(), rate, momentum)

    def program() -> Outcome:
        loss = formula(leaves, data)
        loss.backward()
        optimizer.step()
        gradients = {name: leaf.grad for name, leaf in leaves.items()}
        optimizer.zero_grad()
        return loss.detach(), gradients

    return program


@frozen
class Transforms:
    """Makes the programs of `torch.func`, with a function that compiles or leaves it.

    Attributes
    ----------
    compiled : callable
        `torch.compile`, or what gives a function back as it is.
    """

    compiled: Callable[[Any], Any]

    def jacobian(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Jacobian, in the mode that is quicker for few variables."""
        x, data = xp.tensor(p["x"]), tensors(data)
        derivative = self.compiled(xp.func.jacfwd(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": derivative(x)})

    def hessian(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Hessian, forward over reverse."""
        x, data = xp.tensor(p["x"]), tensors(data)
        derivative = self.compiled(xp.func.hessian(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": derivative(x)})


transforms = Transforms(lambda function: function)
jacobian = transforms.jacobian
hessian = transforms.hessian


def derivative(formula: Formula, p: Data, data: Data) -> Program:
    x, data = xp.tensor(p["x"]), tensors(data)

    def program() -> Outcome:
        leaf = x.detach().requires_grad_()
        return None, {"x": xp.autograd.grad(formula({"x": leaf}, data), leaf)[0]}

    return program


def hvp(formula: Formula, p: Data, data: Data) -> Program:
    leaves, data = tensors(p, requires_grad=True), tensors(data)
    x = leaves["x"]

    def program() -> Outcome:
        value = formula(leaves, data)
        (first,) = xp.autograd.grad(value, x, create_graph=True)
        return None, {"x": xp.autograd.grad(first, x, data["v"])[0]}

    return program


def peak(program: Program) -> int:
    """Give the largest number of bytes that a call holds beyond what was there before.

    PyTorch allocates past Python, and its profiler notes each time. What PyTorch itself keeps
    about the graph, outside of tensors, is not counted.
    """
    program()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        outcome = program()
    del outcome
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    allocations = [event for event in events if event.get("name") == "[memory]"]
    held = highest = 0
    for event in sorted(allocations, key=lambda event: float(event["ts"])):
        held += int(event["args"]["Bytes"])
        highest = max(highest, held)
    return highest

"""Reverse-mode automatic differentiation for NumPy, with the graph apart from the data."""

import importlib
from typing import TYPE_CHECKING, Any

from tape_ad import errors
from tape_ad.handles.gradients import Gradients
from tape_ad.handles.record import ComputationRecord, Node
from tape_ad.handles.tensor import Tensor
from tape_ad.linear_maps import LinearMap
from tape_ad.memory import keep_freed_memory
from tape_ad.transforms.custom_rules import custom_rule
from tape_ad.transforms.gradients import grad, jvp, linearize, stop_gradient, value_and_grad, vjp
from tape_ad.transforms.jacobians import hessian, hessian_diag, hvp, jacobian
from tape_ad.transforms.recomputation import checkpoint, checkpoint_sequential

if TYPE_CHECKING:
    from tape_ad import nn, optim, optimize, parameters, testing, training
    from tape_ad.programs.compilation import compile  # noqa: A004 - the field's word for it

__all__ = [
    "ComputationRecord",
    "Gradients",
    "LinearMap",
    "Node",
    "Tensor",
    "checkpoint",
    "checkpoint_sequential",
    "compile",
    "custom_rule",
    "errors",
    "grad",
    "hessian",
    "hessian_diag",
    "hvp",
    "jacobian",
    "jvp",
    "linearize",
    "nn",
    "optim",
    "optimize",
    "parameters",
    "stop_gradient",
    "testing",
    "training",
    "value_and_grad",
    "vjp",
]

__version__ = "0.1.0"

keep_freed_memory()

ROOMS = frozenset(
    {"linalg", "nn", "optim", "optimize", "parameters", "special", "testing", "training"}
)


def __getattr__(name: str) -> Any:
    """Import a room of the top floor when it is first asked for; most programs enter few."""
    if name == "compile":
        return importlib.import_module("tape_ad.programs.compilation").compile
    if name in ROOMS:
        return importlib.import_module(f"tape_ad.{name}")
    raise AttributeError(f"module 'tape_ad' has no attribute {name!r}")

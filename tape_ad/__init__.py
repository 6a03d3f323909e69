"""Reverse-mode automatic differentiation for NumPy, with the graph apart from the data."""

from tape_ad import errors, nn, optim, parameters, training
from tape_ad.checkpointing import checkpoint, checkpoint_sequential
from tape_ad.custom_rules import custom_rule
from tape_ad.gradients import Gradients
from tape_ad.jacobians import hessian, hessian_diag, hvp, jacobian
from tape_ad.linear_maps import LinearMap
from tape_ad.record import ComputationRecord, Node
from tape_ad.tensor import Tensor
from tape_ad.transforms import grad, jvp, linearize, stop_gradient, value_and_grad, vjp

__all__ = [
    "ComputationRecord",
    "Gradients",
    "LinearMap",
    "Node",
    "Tensor",
    "checkpoint",
    "checkpoint_sequential",
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
    "parameters",
    "stop_gradient",
    "training",
    "value_and_grad",
    "vjp",
]

__version__ = "0.1.0"

"""Reverse-mode automatic differentiation for NumPy, with the graph apart from the data."""

from tape_ad import errors, nn, optim, parameters
from tape_ad.gradients import Gradients
from tape_ad.linear_maps import LinearMap
from tape_ad.record import ComputationRecord, Node
from tape_ad.tensor import Tensor

__all__ = [
    "ComputationRecord",
    "Gradients",
    "LinearMap",
    "Node",
    "Tensor",
    "errors",
    "nn",
    "optim",
    "parameters",
]

__version__ = "0.1.0"

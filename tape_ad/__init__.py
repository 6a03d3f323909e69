"""Reverse-mode automatic differentiation for NumPy, with the graph apart from the data."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "tape_ad relies on Python's global interpreter lock, and this free-threaded Python runs "
        "without it; start it with PYTHON_GIL=1 or -X gil=1, or take the usual build"
    )

from tape_ad.base import errors
from tape_ad.base.memory import keep_freed_memory
from tape_ad.record.gradients import Gradients
from tape_ad.record.inspection.observing import debug_nans
from tape_ad.record.inspection.profiling import profile
from tape_ad.record.messages.migration_hints import absent_from
from tape_ad.record.record import ComputationRecord, Node
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import LinearMap
from tape_ad.transforms.custom_rules import custom_rule
from tape_ad.transforms.gradients import grad, jvp, linearize, stop_gradient, value_and_grad, vjp
from tape_ad.transforms.jacobians import hessian, hessian_diag, hvp, jacobian
from tape_ad.transforms.recomputation import checkpoint, checkpoint_sequential

if TYPE_CHECKING:
    from tape_ad import nn, optim, parameters, testing, training
    from tape_ad.batching.batched import batched
    from tape_ad.programs.compilation import compile  # noqa: A004 - the field's word for it
    from tape_ad.scipy import optimize
    from tape_ad.sparse_derivatives.hessians import sparse_hessian
    from tape_ad.sparse_derivatives.jacobians import sparse_jacobian, sparsity

__all__ = [
    "ComputationRecord",
    "Gradients",
    "LinearMap",
    "Node",
    "Tensor",
    "batched",
    "checkpoint",
    "checkpoint_sequential",
    "compile",
    "custom_rule",
    "debug_nans",
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
    "profile",
    "sparse_hessian",
    "sparse_jacobian",
    "sparsity",
    "stop_gradient",
    "testing",
    "training",
    "value_and_grad",
    "vjp",
]

__version__ = "0.1.0"

keep_freed_memory()

ROOMS = frozenset(
    [
        "array_api",
        "compat",
        "distributed",
        "fft",
        "integrate",
        "interpolate",
        "linalg",
        "metrics",
        "ndimage",
        "nn",
        "optim",
        "optimize",
        "parameters",
        "signal",
        "sparse",
        "spatial",
        "special",
        "stats",
        "testing",
        "training",
    ]
)


LATER = {
    "batched": "batching.batched",
    "compile": "programs.compilation",
    "sparse_hessian": "structure.hessians",
    "sparse_jacobian": "structure.jacobians",
    "sparsity": "structure.jacobians",
}
"""Functions that are imported when they are first asked for, each with its module."""


def __getattr__(name: str) -> Any:
    """Import a room of the top floor when it is first asked for; most programs enter few."""
    if name in LATER:
        return getattr(importlib.import_module(f"tape_ad.{LATER[name]}"), name)
    if name in ROOMS:
        return importlib.import_module(f"tape_ad.{name}")
    return absent_from("tape_ad")(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *ROOMS, "__version__"})

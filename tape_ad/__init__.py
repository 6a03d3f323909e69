"""Reverse-mode automatic differentiation for NumPy, with the graph apart from the data."""

import sys as _sys
import typing as _typing

if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "tape_ad relies on Python's global interpreter lock, and this free-threaded Python runs "
        "without it; start it with PYTHON_GIL=1 or -X gil=1, or take the usual build"
    )

from tape_ad import errors
from tape_ad.base.arrays.adapters import register_adapter as _register_adapter
from tape_ad.record.gradients import Gradients
from tape_ad.record.inspection.observing import debug_nans
from tape_ad.record.messages.migration_hints import ImportHints as _ImportHints
from tape_ad.record.messages.migration_hints import attributes_of as _attributes_of
from tape_ad.record.messages.migration_hints import listed as _listed
from tape_ad.record.record import ComputationRecord, Node
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import LinearMap
from tape_ad.transforms.custom_rules import custom_rule
from tape_ad.transforms.gradients import grad, jvp, linearize, stop_gradient, value_and_grad, vjp
from tape_ad.transforms.jacobians import hessian, hessian_diag, hvp, jacobian
from tape_ad.transforms.recomputation import checkpoint, checkpoint_sequential

if _typing.TYPE_CHECKING:
    from tape_ad import extend, interop, nn, optim, parameters, scipy, testing, training
    from tape_ad.batching.batched import batched
    from tape_ad.programs.compilation import compile  # noqa: A004 - the field's word for it
    from tape_ad.record.inspection.profiling import profile
    from tape_ad.sparse_derivatives.jacobians import sparse_hessian, sparse_jacobian, sparsity
    from tape_ad.transforms.differentiable.decorator import differentiable

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
    "differentiable",
    "errors",
    "extend",
    "grad",
    "hessian",
    "hessian_diag",
    "hvp",
    "interop",
    "jacobian",
    "jvp",
    "linearize",
    "nn",
    "optim",
    "parameters",
    "profile",
    "scipy",
    "sparse_hessian",
    "sparse_jacobian",
    "sparsity",
    "stop_gradient",
    "testing",
    "training",
    "value_and_grad",
    "vjp",
]

__version__ = "0.1.0.dev0"

_register_adapter("dask", "tape_ad.interop.dask.lazy")
_register_adapter("compiled", "tape_ad.transforms.compiled_nodes")
_register_adapter("compiler", "tape_ad.programs.engines.native.native_engine")
_register_adapter("copies", "tape_ad.transforms.differentiable.decorator")
_register_adapter("array_api", "tape_ad.interop.array_api")
_register_adapter("scipy", "tape_ad.scipy.stand_ins")
_register_adapter("scipy.sparse", "tape_ad.scipy.sparse.arrays")
_register_adapter("scipy.special", "tape_ad.scipy.special.rules")

__getattr__ = _attributes_of(
    __name__,
    packages=["extend", "interop", "nn", "optim", "parameters", "scipy", "testing", "training"],
    functions={
        "batched": "tape_ad.batching.batched",
        "compile": "tape_ad.programs.compilation",
        "differentiable": "tape_ad.transforms.differentiable.decorator",
        "profile": "tape_ad.record.inspection.profiling",
        "sparse_hessian": "tape_ad.sparse_derivatives.jacobians",
        "sparse_jacobian": "tape_ad.sparse_derivatives.jacobians",
        "sparsity": "tape_ad.sparse_derivatives.jacobians",
    },
)
_sys.meta_path.append(_ImportHints)
__dir__ = _listed(__all__, "__version__")

"""HIPS autograd's names and conventions, on this library's handles.

Programs that were written for that library run unchanged: ``import tape_ad.interop.autograd.numpy
as
np`` and ``from tape_ad.interop.autograd import grad`` in place of ``autograd``, or, for a package
that somebody else wrote, `tape_ad.interop.install_as_autograd`. docs/coming-from-autograd.md says
what is different.

Examples
--------
>>> from tape_ad.interop.autograd import elementwise_grad, grad
>>> import tape_ad.interop.autograd.numpy as np
>>> grad(lambda p: np.sum(np.array([p["a"], 2 * p["b"]])))({"a": 1.0, "b": 2.0})
{'a': np.float64(1.0), 'b': np.float64(2.0)}
>>> elementwise_grad(np.tanh)(np.zeros(2))
array([1., 1.])
"""

from typing import TYPE_CHECKING, Any

from tape_ad.interop.autograd.builtins import dict, isinstance, list, tuple, type  # noqa: A004 - HIPS autograd's names
from tape_ad.interop.autograd.core import primitive
from tape_ad.interop.autograd.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from tape_ad.interop.autograd.modules import publish

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]

__version__ = "1.9.1"
"""The release of HIPS autograd whose names these are."""

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # of modules that have no files


publish(
    __name__,
    {
        "tracer": [
            f"{__name__}.extend:Box JVPNode Node VJPNode getval isbox new_box notrace_primitive "
            "primitive register_notrace subval subvals toposort trace"
        ],
        "util": [
            f"{__name__}.test_util:func quick_grad_check",
            f"{__name__}.extend:subval subvals toposort",
        ],
        "wrap_util": [
            f"{__name__}.differential_operators:get_doc get_name unary_to_nary wrap_nary_f wraps"
        ],
    },
)

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

from typing import Any

from tape_ad.extend.packages import listed
from tape_ad.interop.autograd import differential_operators
from tape_ad.interop.autograd.builtins import dict, isinstance, list, tuple, type  # noqa: A004 - HIPS autograd's names
from tape_ad.interop.autograd.differential_operators import *  # noqa: F403 - its __all__ is the list of them
from tape_ad.interop.autograd.extend import primitive
from tape_ad.interop.autograd.modules import publish

__all__ = ["dict", "isinstance", "list", "primitive", "tuple", "type"]
__all__ += differential_operators.__all__
__dir__ = listed(__all__, "tracer", "util", "wrap_util")

__version__ = "1.9.1"
"""The release of HIPS autograd whose names these are."""

tracer: Any
util: Any
wrap_util: Any

publish(
    __name__,
    {
        "tracer": [
            f"{__name__}.extend:Box getval isbox notrace_primitive primitive subval subvals"
        ],
        "util": [f"{__name__}.extend:subval subvals"],
        "wrap_util": [
            f"{__name__}.differential_operators:get_doc get_name unary_to_nary wrap_nary_f wraps"
        ],
    },
)

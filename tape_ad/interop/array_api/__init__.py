"""The namespace of the array API standard, version 2025.12, for handles.

Code that is written for any array library asks an array for its namespace, and a handle gives this
one. What the functions give of no handle depends on nothing: it is a *constant*, a handle of no
record.

See https://data-apis.org/array-api/2025.12/ for what the functions take and give.

Examples
--------
>>> import tape_ad as ta
>>> x = ta.ComputationRecord().tensor([3.0, 4.0])
>>> xp = x.__array_namespace__()
>>> xp.sum(xp.where(x > 3.5, x, xp.asarray(0.0))).grad().wrt(x)
array([0., 1.])
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tape_ad.extend.packages import listed
from tape_ad.interop.array_api import arrays, creation, elementwise, fft, linalg
from tape_ad.interop.array_api import special as special  # SciPy asks for it

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Tell a type checker that there are more names than it sees."""


FUNCTIONS: dict[str, Any] = {
    **creation.DTYPES,
    **creation.CONSTANTS,
    **creation.INQUIRIES,
    **creation.FUNCTIONS,
    **elementwise.FUNCTIONS,
    **arrays.FUNCTIONS,
    **{
        name: linalg.FUNCTIONS[name]
        for name in ("matmul", "matrix_transpose", "tensordot", "vecdot")
    },
}

globals().update(FUNCTIONS)


class Namespace(ModuleType):
    """The module, which says what to write where a library prints that it has met two of them."""

    def __repr__(self) -> str:
        return (
            "<module 'tape_ad.interop.array_api', that of handles; beside them, write "
            "tape_ad.interop.array_api.asarray(array) for a plain array>"
        )


sys.modules[__name__].__class__ = Namespace

__array_api_version__ = "2025.12"
__all__ = [*sorted(FUNCTIONS), "fft", "linalg"]  # noqa: PLE0604 - all of them are strings
__dir__ = listed(__all__, "special")

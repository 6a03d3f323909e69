"""What ``dtype=`` and ``signature=`` of a call mean for what is differentiated."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.base.errors import DtypeError
from tape_ad.base.naming import called

__all__ = ["as_computed_with"]


def as_computed_with(
    function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Cast complex operands, where ``casting="unsafe"`` lets a function compute with real numbers.

    NumPy casts them on the way, so the derivative is that at their real parts, which the rule has
    to see: then it is real, and goes to the real parts alone.

    Raises
    ------
    DtypeError
        When the function is to compute with Python's objects.
    """
    dtype, signature = options.get("dtype"), options.get("signature")
    if dtype is not None and np.dtype(dtype) == object:
        raise DtypeError(
            f"{called(function)}: dtype=object computes with Python's objects, which have no "
            "derivative; leave dtype= out, or give that of numbers"
        )
    if options.get("casting") != "unsafe":
        return args
    if function is np.einsum and dtype is not None:
        return tuple(as_kind(arg, np.dtype(dtype)) for arg in args)
    if not isinstance(function, np.ufunc):
        return args
    if not any(np.iscomplexobj(arg) for arg in args):
        return args
    if signature is None:
        signature = (None,) * function.nin + (np.dtype(dtype),) * function.nout
    given = [getattr(arg, "dtype", type(arg)) for arg in args]
    loop = function.resolve_dtypes(
        (*given, *(None,) * function.nout), signature=signature, casting="unsafe"
    )
    return tuple(map(as_kind, args, loop[: function.nin]))


def as_kind(operand: Any, kind: np.dtype[Any]) -> Any:
    """Cast an operand that the cast drops imaginary parts of."""
    known = hasattr(operand, "astype")
    return operand.astype(kind) if known and is_cut(operand.dtype, kind) else operand


def is_cut(given: np.dtype[Any], kind: np.dtype[Any]) -> bool:
    """Tell whether a cast drops imaginary parts."""
    return given.kind == "c" and kind.kind in "biuf"

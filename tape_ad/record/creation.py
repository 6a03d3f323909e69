"""NumPy's functions that make arrays, where ``like=`` or the array API asks for a handle."""

import enum
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.arrays.overridable import array_of
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.record.arena import CONSTANT
from tape_ad.record.constants import ConstantTensor, as_constants
from tape_ad.record.handles import any_handle
from tape_ad.record.primals import primal
from tape_ad.record.tensor import Tensor

TAKING = frozenset(
    {np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require}
)
"""Those that take an array to another."""

DEFAULT: Any = object()
"""For `copy`, where it is left out: numpy.array copies then, and with None only where it must."""

ORDERS = {np.ascontiguousarray: "C", np.asfortranarray: "F"}


def created(
    like: Tensor, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Make a handle where ``function(..., like=handle)`` asks for one.

    Parameters
    ----------
    like : Tensor
    function : callable
        One of NumPy's functions that make arrays.
    args, kwargs
        What it takes, besides ``like=``.

    Returns
    -------
    Tensor
        What holds no handle is a constant on the record of `like`, which may be filled with handles
        there. Integers and truth values are plain, as `numpy.zeros_like` has them.

    Raises
    ------
    UnsupportedArgumentError
        When a handle stands for something else than the values.
    """
    if function in TAKING and any_handle(args[:1]):
        return taken(function, *args, **kwargs)
    if any_handle((args, dict(kwargs))):
        if function is np.full:
            return spread(*args, **kwargs)
        raise UnsupportedArgumentError(
            f"{called(function)} with like= got a handle in an argument that it cannot be "
            "differentiated in; pass t.data there if it is meant as a constant"
        )
    out = function(*unwrapped(args), **unwrapped(dict(kwargs)))
    if function is np.fromfunction and not isinstance(out, np.ndarray):
        return out  # what the user's function has made, handles of any record included
    if type(like) is ConstantTensor:
        return as_constants(out)
    if out.dtype.kind not in "fc":
        return as_constants(out) if like.record.namespaced else out
    return like.record.note(CONSTANT, (), {}, out)


def taken(
    function: Callable[..., Any],
    values: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    copy: Any = DEFAULT,
    ndmin: int = 0,
    join: Callable[[Any], Any] | None = None,
    **others: Any,
) -> Any:
    """Take a handle, or lists with handles in them, to one handle, as `numpy.array` does.

    Parameters
    ----------
    function : callable
        One of `TAKING`.
    values, dtype, order, copy, ndmin
        Its arguments.
    join : callable, optional
        What makes one handle of the values; `array_of` if it is None.

    Raises
    ------
    ValueError
        When ``copy=False`` and it needs a copy.
    """
    handle = array_of(values) if join is None else join(values)
    never, copies = copy is False, function is np.array if copy is DEFAULT else copy
    if isinstance(copy, enum.Enum):  # of NumPy's three, which the array API's wrappers give
        never, copies = copy.name == "NEVER", copy.name == "ALWAYS"
    if dtype is not None and handle.dtype != np.dtype(dtype):
        handle, copies = handle.astype(dtype), False
    order = ORDERS.get(function, order)
    misplaced = not lies_in_order(handle, order)
    if never and (misplaced or handle is not values):
        raise ValueError(f"{called(function)} cannot give this without a copy, as copy=False asks")
    if misplaced or (copies and handle is values):
        handle = np.copy(handle, order=order or "K")
    missing = max(ndmin, 1 if function in ORDERS else 0) - handle.ndim
    return np.reshape(handle, (1,) * missing + handle.shape) if missing > 0 else handle


def lies_in_order(handle: Any, order: str | None) -> bool:
    """Tell whether NumPy would give an array as it is where an order is asked for."""
    if order not in ("C", "F"):
        return True
    data = primal(handle)
    return isinstance(data, np.ndarray) and (
        data.flags.c_contiguous if order == "C" else data.flags.f_contiguous
    )


def spread(shape: Any, fill_value: Any, dtype: Any = None, **others: Any) -> Any:
    """Make an array full of a handle."""
    full = np.copy(np.broadcast_to(fill_value, unwrapped(shape)))
    return full if dtype is None or full.dtype == np.dtype(dtype) else full.astype(dtype)

"""Functions that make arrays: constants, unless they are made of handles."""

from typing import Any

import numpy as np

from tape_ad import Tensor
from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.extend.arrays import any_handle
from tape_ad.interop.array_api.dtypes import astype, copied
from tape_ad.interop.array_api.wrapping import as_handle, check_device, gives_handles
from tape_ad.record.constants import as_constants
from tape_ad.record.creation import joined, spread


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """Make a handle of an array, a number or nested lists of them; a handle stays one.

    Parameters
    ----------
    obj : array_like
        Handles may stand in lists; they are joined then.
    dtype, device, copy
        As the standard has them.

    Returns
    -------
    Tensor
        A constant where no handle of a record is in `obj`.
    """
    check_device(device)
    if isinstance(obj, Tensor):
        if dtype is not None and obj.dtype != np.dtype(dtype):
            refuse_copy(copy)
            return astype(obj, dtype)
        return copied(obj) if copy else obj
    if isinstance(obj, (list, tuple)) and any_handle(obj):
        refuse_copy(copy)
        handle = joined(obj)
        return handle if dtype is None else astype(handle, dtype, copy=False)
    return as_constants(np.array(unwrapped(obj), dtype=dtype, copy=copy))


def refuse_copy(copy: bool | None) -> None:
    """Refuse to copy where ``copy=False`` forbids it.

    Raises
    ------
    ValueError
    """
    if copy is False:
        raise ValueError("asarray cannot give this without a copy, and copy=False forbids one")


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """Make numbers at equal distances; see ``arange`` in the standard."""
    check_device(device)
    ends = (0, start) if stop is None else (start, stop)
    return as_constants(np.arange(*unwrapped((*ends, step)), dtype=dtype))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array to be filled; see ``empty`` in the standard."""
    check_device(device)
    return as_constants(np.empty(unwrapped(shape), dtype))


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array of zeros; see ``zeros`` in the standard."""
    check_device(device)
    return as_constants(np.zeros(unwrapped(shape), dtype))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array of ones; see ``ones`` in the standard."""
    check_device(device)
    return as_constants(np.ones(unwrapped(shape), dtype))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array full of a number; see ``full`` in the standard.

    The number may be a handle, on which the result depends then.
    """
    check_device(device)
    if type(fill_value) is Tensor:
        return spread(shape, fill_value, dtype)
    return as_constants(np.full(unwrapped(shape), unwrapped(fill_value), dtype))


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array to be filled, like another; see ``empty_like`` in the standard."""
    return empty(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array of zeros like another; see ``zeros_like`` in the standard."""
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array of ones like another; see ``ones_like`` in the standard."""
    return ones(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array full of a number, like another; see ``full_like`` in the standard."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """Make a matrix with ones on a diagonal; see ``eye`` in the standard."""
    check_device(device)
    options: Any = {"k": k, "dtype": float if dtype is None else dtype}
    return as_constants(np.eye(*unwrapped((n_rows, n_cols)), **options))


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """Make numbers at equal distances; see ``linspace`` in the standard."""
    check_device(device)
    options: dict[str, Any] = {"dtype": dtype, "endpoint": endpoint}
    return as_handle(np.linspace(*unwrapped((start, stop, num)), **options))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Make a constant of another library's array, in the same memory where it can be.

    Raises
    ------
    ConversionError
        When `x` is a handle that depends on something.
    """
    check_device(device)
    if isinstance(x, Tensor):
        x.__dlpack_device__()
        return asarray(x, copy=copy)
    array = np.from_dlpack(x)
    return as_constants(array.copy() if copy else array)


@gives_handles
def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """Make coordinates of a grid; see ``meshgrid`` in the standard."""
    options: Any = {"indexing": indexing}
    return tuple(np.meshgrid(*arrays, **options))


@gives_handles
def tril(x: Any, /, *, k: int = 0) -> Any:
    """Take the lower triangle of matrices; see ``tril`` in the standard."""
    return np.tril(x, k)


@gives_handles
def triu(x: Any, /, *, k: int = 0) -> Any:
    """Take the upper triangle of matrices; see ``triu`` in the standard."""
    return np.triu(x, k)


FUNCTIONS: dict[str, Any] = {
    each.__name__: each
    for each in (
        arange,
        asarray,
        empty,
        empty_like,
        eye,
        from_dlpack,
        full,
        full_like,
        linspace,
        meshgrid,
        ones,
        ones_like,
        tril,
        triu,
        zeros,
        zeros_like,
    )
}

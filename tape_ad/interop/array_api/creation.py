"""Dtypes, what is asked of them, and functions that make arrays."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad import Tensor
from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.extend.arrays import any_handle, array_of
from tape_ad.interop.array_api.wrapping import as_handle, check_device, described, gives_handles
from tape_ad.record.constants import as_constants
from tape_ad.record.creation import spread

NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
DTYPES = {name: np.dtype(name) for name in NAMES}

CONSTANTS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}


@frozen
class FloatInfo:
    """What `finfo` gives: the limits of a floating dtype, as Python's numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


@frozen
class IntegerInfo:
    """What `iinfo` gives: the limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: Any


def dtype_of(x: Any) -> Any:
    """Give the dtype of an array; dtypes and numbers stay."""
    return x.dtype if hasattr(x, "dtype") and hasattr(x, "shape") and not is_dtype(x) else x


def is_dtype(x: Any) -> bool:
    """Tell whether something is a dtype, or one of NumPy's classes that stand for one."""
    return isinstance(x, (np.dtype, type))


def finfo(type: Any, /) -> FloatInfo:  # noqa: A002 - the standard's name
    """Give the limits of a floating dtype, or of that of an array."""
    info = np.finfo(dtype_of(type))
    limits = ("eps", "max", "min", "smallest_normal")
    numbers = {name: float(getattr(info, name)) for name in limits}
    return FloatInfo(bits=int(info.bits), dtype=info.dtype, **numbers)


def iinfo(type: Any, /) -> IntegerInfo:  # noqa: A002 - the standard's name
    """Give the limits of an integer dtype, or of that of an array."""
    info = np.iinfo(dtype_of(type))
    return IntegerInfo(int(info.bits), int(info.max), int(info.min), info.dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Tell whether a dtype is of a kind."""
    return bool(np.isdtype(np.dtype(dtype), kind))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Find the dtype that arrays, dtypes and Python's numbers have in common."""
    return np.result_type(*(dtype_of(x) for x in arrays_and_dtypes))


def can_cast(from_: Any, to: Any, /) -> bool:
    """Tell whether a dtype, or that of an array, can be cast to another without loss."""
    return bool(np.can_cast(dtype_of(from_), to))


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Cast an array; see ``astype`` in the standard.

    Raises
    ------
    TypeError
        From complex to real numbers, which would drop the imaginary part; take `real` of it.
    """
    check_device(device)
    dtype = np.dtype(dtype)
    x = as_handle(x)
    if x.dtype.kind == "c" and dtype.kind in "iuf":
        raise TypeError(
            f"astype from {x.dtype} to {dtype} would drop the imaginary part; take real(x) first"
        )
    if x.dtype == dtype:
        return copied(x) if copy else x
    return as_handle(x.astype(dtype))


def copied(x: Any) -> Any:
    """Copy a handle: of a number, too, it gives what can be assigned to."""
    data: Any = x.data if type(x) is Tensor else x
    return x + 0 if type(x) is Tensor and isinstance(data, np.generic) else x.copy("K")


class Info:
    """What the namespace can do; see ``__array_namespace_info__`` in the standard."""

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """Return the optional capabilities of the namespace."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Give the device that arrays are made on."""
        return "cpu"

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Give the dtypes that arrays have where none is chosen."""
        check_device(device)
        return {
            "real floating": DTYPES["float64"],
            "complex floating": DTYPES["complex128"],
            "integral": np.dtype(np.intp),
            "indexing": np.dtype(np.intp),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Give the dtypes there are, by name, of a kind or several."""
        check_device(device)
        return {
            name: dtype for name, dtype in DTYPES.items() if kind is None or isdtype(dtype, kind)
        }

    def devices(self) -> tuple[str, ...]:
        """List the devices: the CPU alone."""
        return ("cpu",)


def __array_namespace_info__() -> Info:  # noqa: N807 - the standard's name
    """Return the object that describes the namespace: its dtypes, devices and capabilities."""
    return Info()


INQUIRIES: dict[str, Any] = {
    each.__name__: each
    for each in (astype, can_cast, finfo, iinfo, isdtype, result_type, __array_namespace_info__)
}


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
        handle = array_of(obj)
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


def filled(of: Callable[..., Any]) -> Any:
    """Make `empty`, `zeros` or `ones` of NumPy's function."""

    def function(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        check_device(device)
        return as_constants(of(unwrapped(shape), dtype))

    return described(function, of.__name__, "Make an array of one shape or another.")


def filled_like(of: Callable[..., Any]) -> Any:
    """Make `empty_like`, `zeros_like` or `ones_like` of the function that takes a shape."""

    def function(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
        return of(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)

    return described(function, f"{of.__name__}_like", "Make an array of another's shape.")


FILLED = [filled(of) for of in (np.empty, np.zeros, np.ones)]


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array full of a number; see ``full`` in the standard.

    The number may be a handle, on which the result depends then.
    """
    check_device(device)
    if type(fill_value) is Tensor:
        return spread(shape, fill_value, dtype)
    return as_constants(np.full(unwrapped(shape), unwrapped(fill_value), dtype))


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array full of a number, like another; see ``full_like`` in the standard."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
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


FUNCTIONS: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(*FILLED, *map(filled_like, FILLED), full, full_like),
        *(arange, asarray, eye, from_dlpack, linspace, meshgrid),
    )
}

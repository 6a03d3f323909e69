"""Dtypes, constants, and what can be asked about them."""

import math
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad import Tensor
from tape_ad.interop.array_api.wrapping import as_handle, check_device

NAMES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
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
    return FloatInfo(
        bits=int(info.bits),
        eps=float(info.eps),
        max=float(info.max),
        min=float(info.min),
        smallest_normal=float(info.smallest_normal),
        dtype=info.dtype,
    )


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
    if x.dtype.kind == "c" and dtype.kind in "biuf" and dtype.kind != "b":
        raise TypeError(
            f"astype from {x.dtype} to {dtype} would drop the imaginary part; take real(x) first"
        )
    if x.dtype == dtype:
        return copied(x) if copy else x
    return as_handle(x.astype(dtype))


def copied(x: Any) -> Any:
    """Copy a handle: of a number, too, it gives what can be assigned to."""
    return x + 0 if type(x) is Tensor and isinstance(x.data, np.generic) else x.copy("K")


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


FUNCTIONS: dict[str, Any] = {
    each.__name__: each
    for each in (astype, can_cast, finfo, iinfo, isdtype, result_type, __array_namespace_info__)
}

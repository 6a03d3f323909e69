"""How NumPy's functions become those of the standard, which give handles in every case."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from tape_ad import Tensor
from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.record.constants import as_constants

F = TypeVar("F", bound=Callable[..., Any])

NUMBERS = (bool, int, float, complex)


def as_handle(x: Any) -> Any:
    """Give a handle as it is, and a constant of a plain array."""
    return x if isinstance(x, Tensor) else as_constants(x)


def check_device(device: Any) -> None:
    """Refuse to make an array anywhere but in the memory that NumPy's arrays are in.

    Raises
    ------
    ValueError
    """
    if device is not None and device != "cpu":
        raise ValueError(f'handles are made on the device "cpu", and on no other: {device!r}')


def gives_handles(function: F) -> F:
    """Let a function take constants as plain arrays, and make constants of what it gives.

    What it is called with besides, handles of a record, goes into NumPy's functions as it is.
    """

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        out = function(*unwrapped(args), **unwrapped(kwargs))
        return as_constants(out) if isinstance(out, (np.ndarray, np.generic, tuple, list)) else out

    return cast("F", public)


def of_standard(rows: Mapping[str, Callable[..., Any]], of: Any = np) -> dict[str, Any]:
    """Make functions of the standard, which give handles in every case.

    Parameters
    ----------
    rows : mapping of str to callable
        What each computes with NumPy, with the parameters that the standard has.
    of : module
        Where NumPy has functions of the same names, for what is said of them.
    """
    made = {}
    for name, function in rows.items():
        summary = (getattr(getattr(of, name, None), "__doc__", None) or "").strip().split("\n")[0]
        made[name] = described(gives_handles(function), name, summary)
    return made


def described(function: Any, name: str, summary: str) -> Any:
    """Give a function the name that the standard has for it, and a document."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}\n\nSee ``{name}`` in the array API standard.".strip()
    function.__module__ = "tape_ad.interop.array_api"
    return function


def unary(name: str, ufunc: Any) -> Any:
    """Make an elementwise function of one array."""

    def function(x: Any, /) -> Any:
        if type(x) is Tensor:
            return as_handle(ufunc(x))
        return as_constants(np.asarray(ufunc(unwrapped(x))))

    return described(function, name, f"Compute `{ufunc.__name__}` as NumPy does.")


def binary(name: str, ufunc: Any) -> Any:
    """Make an elementwise function of two arrays, of which one may be a number of Python's."""

    def function(x1: Any, x2: Any, /) -> Any:
        if type(x1) is Tensor or type(x2) is Tensor:
            return as_handle(ufunc(x1, x2))
        return as_constants(np.asarray(ufunc(*unwrapped((x1, x2)))))

    return described(function, name, f"Compute `{ufunc.__name__}` as NumPy does.")

"""How NumPy's functions become those of the standard, which give handles in every case."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from tape_ad import Tensor
from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.record.constants import as_constants

__all__ = [
    "as_handle",
    "binary",
    "check_device",
    "gives_handles",
    "unary",
]

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


def named(function: Any, name: str, of: Callable[..., Any]) -> Any:
    """Give a function the name that the standard has for it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Compute `{of.__name__}` as NumPy does, of handles and constants.\n\n"
        f"See ``{name}`` in the array API standard."
    )
    function.__module__ = "tape_ad.interop.array_api"
    return function


def unary(name: str, ufunc: Any) -> Any:
    """Make an elementwise function of one array."""

    def function(x: Any, /) -> Any:
        if type(x) is Tensor:
            return as_handle(ufunc(x))
        return as_constants(np.asarray(ufunc(unwrapped(x))))

    return named(function, name, ufunc)


def binary(name: str, ufunc: Any) -> Any:
    """Make an elementwise function of two arrays, of which one may be a number of Python's."""

    def function(x1: Any, x2: Any, /) -> Any:
        if type(x1) is Tensor or type(x2) is Tensor:
            return as_handle(ufunc(x1, x2))
        return as_constants(np.asarray(ufunc(*unwrapped((x1, x2)))))

    return named(function, name, ufunc)

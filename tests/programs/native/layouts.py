"""Arrays that lie in memory in all ways."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["DTYPES", "LAYOUTS", "laid", "numbers"]

DTYPES = ["f8", "f4", "i8", "i4", "i1", "u2", "?", "c8", "c16"]

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "turned": lambda x: x.T.copy().T,
    "backwards": lambda x: x[tuple([slice(None, None, -1)] * x.ndim)].copy()[
        tuple([slice(None, None, -1)] * x.ndim)
    ],
    "with gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "repeated": lambda x: np.broadcast_to(x[..., :1], x.shape),
}


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    """Draw whole numbers, with zeros of both signs among floats."""
    rng = np.random.default_rng(seed)
    drawn: Any = rng.integers(-9, 9, shape)
    if dtype == "?":
        return drawn > 0
    if np.dtype(dtype).kind == "c":
        drawn = drawn + 1j * rng.integers(-9, 9, shape)
    array = np.asarray(drawn).astype(dtype)
    if array.dtype.kind == "f":
        array = np.copysign(array, rng.integers(0, 2, shape) - 0.5).astype(dtype)
    return array


def laid(shape: tuple[int, ...], dtype: str, layout: str, seed: int = 0) -> Any:
    """Draw numbers into an array of a layout."""
    return LAYOUTS[layout](numbers(shape, dtype, seed))

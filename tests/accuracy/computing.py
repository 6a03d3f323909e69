"""How functions are computed whose errors are measured: by native code, and by NumPy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import tape_ad as ta

__all__ = ["WAYS", "alone", "by_numpy", "in_vectors", "native"]

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]
CAPTURES = 2
"""How many calls of a compiled function there are before native code is called."""


def native(function: Function, *operands: Any) -> Function:
    """Compile a function for such operands."""
    compiled: Function = ta.compile(function, engine="native")
    for _ in range(CAPTURES):
        compiled(*operands)
    return compiled


def in_vectors(function: Function, operands: Sequence[Array]) -> Array:
    """Compute as arrays are computed: by the widest registers there are functions for."""
    return np.asarray(quietly(native, function, *operands)(*operands))


def alone(function: Function, operands: Sequence[Array]) -> Array:
    """Compute as numbers are computed, one by one."""
    rows = list(zip(*operands, strict=True))
    compiled = quietly(native, function, *rows[0])
    return np.array([compiled(*row) for row in rows], operands[0].dtype)


def by_numpy(function: Function, operands: Sequence[Array]) -> Array:
    """Compute as NumPy does."""
    return np.asarray(quietly(function, *operands))


def quietly(function: Function, *args: Any) -> Any:
    """Call a function without the warnings of NumPy's that it may cause."""
    with np.errstate(all="ignore"):
        return function(*args)


WAYS: Mapping[str, Callable[[Function, Sequence[Array]], Array]] = {
    "arrays": in_vectors,
    "numbers": alone,
    "NumPy": by_numpy,
}
"""By the names that the page has for them."""

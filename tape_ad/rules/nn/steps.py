"""Steps that several layers take: on plain arrays in the quickest way, on others by NumPy alone.

What each of them saves stands in docs/performance.md.
"""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import SYMBOLS, composition
from tape_ad.rules.maps import Array, add_reduce

__all__ = [
    "either",
    "exponential",
    "highest",
    "inner",
    "logistic_slope",
    "reach",
    "replaced",
    "spare",
]


def spare(array: Array) -> Any:
    """Give a new array of floats to be written over as ``out=``; None if it is of another kind."""
    return array if type(array) is np.ndarray and array.dtype.kind == "f" else None


def highest(x: Array, axis: Any) -> Array:
    """Find the largest elements along axes, which are kept with length one.

    The place of the largest of a row is found in half the time that the largest itself takes.
    """
    last = axis == -1 or axis == x.ndim - 1
    if last and type(x) is np.ndarray and x.ndim > 1 and x.size and x.flags.c_contiguous:
        rows = x.reshape(-1, x.shape[-1])
        return rows[np.arange(len(rows)), rows.argmax(-1)].reshape(*x.shape[:-1], 1)
    return np.maximum.reduce(x, axis=axis, keepdims=True)


@composition
def inner(x: Array, y: Array, axes: tuple[int, ...]) -> Array:
    """Add up products along axes, negative ones, which are kept with length one."""
    if axes == (-1,) and type(x) is type(y) is np.ndarray:
        return np.vecdot(x, y)[..., None]
    return add_reduce(x * y, axis=axes, keepdims=True)


def reach(dtype: np.dtype[Any]) -> float:
    """Say up to where exp(x) does not overflow; beyond it sigmoid(x) is 1, and softplus(x) is x."""
    return 11.0 if dtype.char == "e" else 80.0


def exponential(x: Array) -> Array:
    """Compute exp(x), no further than it can `reach`; there with a slope as well."""
    limit = reach(x.dtype)
    if type(x) is not np.ndarray and type(x) not in SYMBOLS:
        return np.exp(np.where(np.greater(x, limit), limit, x))
    limited = np.minimum(x, limit)
    return np.exp(limited, out=spare(limited))


def replaced(old: Array, mask: Array, new: Any) -> Array:
    """Put `new` where a mask says so: of a plain array in its place, quick for a few places."""
    if type(old) is not np.ndarray or spare(old) is None:
        return np.where(mask, new, old)
    np.copyto(old, new, where=mask)
    return old


def either(mask: Array, one: float, other: float, dtype: np.dtype[Any]) -> Array:
    """Choose between two numbers by a mask, without a branch for each element."""
    if type(mask) is np.ndarray:
        return np.array([other, one], dtype).take(mask.view(np.int8))
    return np.where(mask, dtype.type(one), dtype.type(other))


def logistic_slope(s: Array) -> Array:
    """Differentiate the logistic function, of which s are values: s (1 - s)."""
    rest = 1 - s
    return np.multiply(rest, s, out=spare(rest))

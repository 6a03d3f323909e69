"""Telling whether what a sweep computes again is what was computed before."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.errors import RecomputationError
from tape_ad.base.naming import called
from tape_ad.record.primals import primal

__all__ = ["Sums", "require_same", "sums_of"]

Plain = np.ndarray[Any, Any]
Sums = Sequence[Plain | None]

WAVES = (1.1, 1.7, 2.3, 2.9)
"""The frequencies of the waves that elements are multiplied by, in radians from one to the next."""


def sums_of(leaves: Sequence[Any]) -> Sums:
    """Sum each array with weights; there is None for what is not NumPy's, or is captured."""
    return [summed(leaf) for leaf in leaves]


def summed(leaf: Any) -> Plain | None:
    """Sum an array, or what is behind a handle or a batch, with a few weights for each place.

    So every element counts, and where it is does too: a mask is told from one with as many zeros
    at other places. A few elements are given as they are.
    """
    leaf = primal(leaf)
    if type(leaf) is not np.ndarray and hasattr(leaf, "batch_here"):  # which may go one by one
        members = [summed(leaf.stack[i]) for i in range(leaf.batch_here.size)]
        found = [each for each in members if each is not None]
        return np.stack(found) if found and len(found) == len(members) else None
    if type(leaf) is not np.ndarray:
        return np.array(leaf) if isinstance(leaf, np.generic) else None
    if leaf.size <= len(WAVES):
        return leaf.copy()
    flat = leaf.ravel("K")
    if leaf.dtype.itemsize < 4:
        flat = flat.astype(np.float32)  # half floats would soon be infinite
    with np.errstate(all="ignore"):
        total = weighted(flat)
        if np.isfinite(total[0]):
            return total
        return weighted(np.where(np.isfinite(flat), flat, 0))


def weighted(flat: Plain) -> Plain:
    """Sum an array with weights: the products of one for its row and one for its column.

    The array is taken as a matrix about as wide as high, so that the weights are few.
    """
    rows = math.isqrt(flat.size)
    columns = flat.size // rows
    weights, places = waves(rows, flat.dtype), waves(columns, flat.dtype)
    end = rows * columns
    total: Plain = weights @ (flat[:end].reshape(rows, columns) @ places[0])
    if end < flat.size:
        total -= places[:, : flat.size - end] @ flat[end:]
    return total


@functools.lru_cache(64)
def waves(size: int, dtype: np.dtype[Any]) -> Plain:
    """Make a row of weights of either sign for each frequency."""
    return np.cos(np.multiply.outer(WAVES, np.arange(size))).astype(dtype)


def require_same(
    function: Any,
    before: Sums,
    leaves: Sequence[Any],
    again: Callable[[], Sequence[Any]],
    recorded_again: Callable[[], Sequence[Any]],
) -> None:
    """Refuse to go on where a function has not computed what it did the first time.

    A sweep records the function, and so it may round otherwise than NumPy alone does. What differs
    by more than that is computed again, without a record and with one, which gives the same bits
    each time where it was rounding, and may give them once by chance where something is drawn.

    Parameters
    ----------
    function : callable
        For the error.
    before : sequence of array or None
        What `sums_of` gave of the arrays that it returned then.
    leaves : sequence
        The arrays that it has returned now, or handles of them.
    again, recorded_again : callable
        They compute them without a record and with one.

    Raises
    ------
    RecomputationError
    """
    now = sums_of(leaves)
    if are_close(before, now) or all(
        are_close(before, sums_of(again()), 16) and are_close(now, sums_of(recorded_again()), 16)
        for _ in range(2)
    ):
        return
    raise RecomputationError(
        f"{called(function)} gives other values in the sweep, which computes it again, than it "
        "gave before, so the gradient would be of something else; what it draws from or counts in "
        "has to be an argument: pass a seed, or rng.bit_generator.state, and make the generator "
        "in the function"
    )


def are_close(before: Sums, now: Sums, rounding: float = math.inf) -> bool:
    """Tell whether sums are the same up to so many roundings, by default half of the digits."""
    return all(
        one is None or two is None or is_close(one, two, rounding)
        for one, two in zip(before, now, strict=False)
    )


def is_close(one: Plain, two: Plain, rounding: float) -> bool:
    """Compare the sums of one array, relative to the largest of them; of a batch, with any."""
    if one.ndim == two.ndim + 1:
        return any(is_close(each, two, rounding) for each in one)
    if one.shape != two.shape or one.dtype != two.dtype or one.tobytes() == two.tobytes():
        return bool(one.shape == two.shape and one.dtype == two.dtype)
    eps = float(np.finfo(one.dtype).eps)
    scale = np.max(np.abs(one), initial=0, where=np.isfinite(one))
    close: bool = np.allclose(
        one, two, rtol=0, atol=min(rounding * eps, eps**0.5) * scale, equal_nan=True
    )
    return close

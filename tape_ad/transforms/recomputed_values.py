"""Telling whether what a sweep computes again is what was computed before."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.errors import RecomputationError
from tape_ad.base.naming import called
from tape_ad.record.primals import primal
from tape_ad.record.watching import few_of

__all__ = ["Elements", "few_elements", "require_same"]

Plain = np.ndarray[Any, Any]
Elements = Sequence[Plain | None]

KEPT, SUMMED = 4, 512
"""How many elements of an array are kept at least, and of how many the sum is."""


def few_elements(leaves: Sequence[Any]) -> Elements:
    """Copy a few elements of each array; there is None for what is not NumPy's, or is captured."""
    return [copied(leaf) for leaf in leaves]


def copied(leaf: Any) -> Plain | None:
    """Copy a few elements of an array, or of what is behind a handle or a batch, and sum more."""
    leaf = primal(leaf)
    while hasattr(leaf, "batch_here"):
        leaf = primal(leaf.stack)
    if type(leaf) is not np.ndarray:
        return np.array(leaf) if isinstance(leaf, np.generic) else None
    if leaf.size <= KEPT:
        return leaf.copy()
    picked = few_of(leaf, SUMMED)[0].reshape(-1)
    return np.concatenate([picked[:: len(picked) // KEPT or 1], [np.add.reduce(picked)]])


def require_same(
    function: Any, before: Elements, leaves: Sequence[Any], again: Callable[[], Sequence[Any]]
) -> None:
    """Refuse to go on where a function has not computed what it did the first time.

    A sweep records the function, and so it may round otherwise than NumPy alone does; what differs
    by more than that is computed once more without a record, which gives the same bits.

    Parameters
    ----------
    function : callable
        For the error.
    before : sequence of array or None
        What `few_elements` gave of the arrays that it returned then.
    leaves : sequence
        The arrays that it has returned now, or handles of them.
    again : callable
        It computes them without a record.

    Raises
    ------
    RecomputationError
    """
    if are_close(before, few_elements(leaves)) or are_close(before, few_elements(again()), 0):
        return
    raise RecomputationError(
        f"{called(function)} gives other values in the sweep, which computes it again, than it "
        "gave before, so the gradient would be of something else; what it draws from or counts in "
        "has to be an argument: pass a seed, or rng.bit_generator.state, and make the generator "
        "in the function"
    )


def are_close(before: Elements, now: Elements, rounding: float | None = None) -> bool:
    """Tell whether elements are the same up to rounding, by default half of the digits."""
    return all(
        one is None or two is None or is_close(one, two, rounding)
        for one, two in zip(before, now, strict=False)
    )


def is_close(one: Plain, two: Plain, rounding: float | None) -> bool:
    """Compare two elements, relative to the largest element of their array."""
    if one.shape != two.shape or one.dtype != two.dtype or one.tobytes() == two.tobytes():
        return bool(one.shape == two.shape and one.dtype == two.dtype)
    if rounding is None:
        rounding = float(np.sqrt(np.finfo(one.dtype).eps))
    scale = np.max(np.abs(one), initial=0, where=np.isfinite(one))
    close: bool = np.allclose(one, two, rtol=0, atol=rounding * scale, equal_nan=True)
    return close

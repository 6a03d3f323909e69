"""Errors in units in the last place, against numbers of many digits."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mpmath
import numpy as np

__all__ = ["DIGITS", "units", "worst"]

DIGITS = 100
"""With how many decimal digits mpmath computes: enough for what cancels next to a zero."""


def units(got: float, true: Any, dtype: np.dtype[Any]) -> float:
    """Say by how many units in the last place a number is off.

    A unit is the distance of neighbouring numbers where the true one lies, so that half of one is
    what rounding costs; next to 0 it is the least number. What overflows counts as the next number
    after the largest.

    Parameters
    ----------
    got : float
        What was computed, in `dtype`.
    true : mpmath.mpf
        What it should be.
    dtype : dtype
        float32 or float64.

    Returns
    -------
    float
        inf where only one of both is nan, or where an infinity is missed.

    Examples
    --------
    >>> units(1.0, mpmath.mpf(1) - mpmath.mpf(2) ** -53, np.dtype(float))
    1.0
    """
    if np.isnan(got) or mpmath.isnan(true):
        return 0.0 if np.isnan(got) and mpmath.isnan(true) else np.inf
    if mpmath.isinf(true):
        return 0.0 if got == true else np.inf
    form = np.finfo(dtype)
    over = mpmath.mpf(2) ** int(form.maxexp)
    near = max(-over, min(over, true))
    given = mpmath.sign(got) * over if np.isinf(got) else mpmath.mpf(float(got))
    exponent = mpmath.frexp(near)[1] - 1 if near else int(form.minexp)
    exponent = max(int(form.minexp), min(int(form.maxexp) - 1, exponent))
    return float(abs(given - near) / mpmath.mpf(2) ** (exponent - int(form.nmant)))


def worst(
    got: Iterable[float],
    reference: Callable[..., Any],
    operands: Sequence[Any],
    dtype: np.dtype[Any],
) -> tuple[float, tuple[float, ...]]:
    """Find the largest error, in units in the last place, and where it is.

    Parameters
    ----------
    got : iterable of float
        What was computed, in `dtype`.
    reference : callable
        The function, of mpmath's numbers.
    operands : sequence of ndarray
        What it was computed of.
    dtype : dtype
    """
    found: tuple[float, tuple[float, ...]] = (0.0, ())
    with mpmath.workdps(DIGITS):
        for one, *given in zip(got, *(x.tolist() for x in operands), strict=True):
            off = units(one, reference(*map(mpmath.mpf, given)), dtype)
            if off > found[0]:
                found = off, tuple(given)
    return found

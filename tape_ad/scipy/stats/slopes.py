"""Lines through points by the medians of slopes, and what else is told by medians."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Derivation
from tape_ad.scipy.stats.policies import each_slice
from tape_ad.scipy.stats.results import MedianTestResult, SiegelslopesResult, TheilslopesResult
from tape_ad.scipy.stats.samples import Table, floats, of_samples, primal, taken_over

__all__ = ["RESULTS", "SLOPES"]


def numbered(y: Array, x: Any) -> Array:
    """Give the places of points, which are their numbers if they have none."""
    if x is None:
        return np.arange(y.shape[-1], dtype=y.dtype)
    return x


def theilslopes(
    y: Array, x: Any = None, alpha: Any = 0.95, method: str = "separate"
) -> tuple[Array, ...]:
    """The median of the slopes between all points, and bounds of it; Sen 1968."""
    if method not in ("joint", "separate"):
        raise ValueError(f"method must be either 'joint' or 'separate'. '{method}' is invalid.")

    def line(y: Array, x: Array) -> tuple[Array, ...]:
        dx, dy = x[:, None] - x, y[:, None] - y
        rising = np.greater(dx, 0)
        slopes = np.sort(dy[rising] / dx[rising])
        slope = np.median(slopes)
        if method == "joint":
            start = np.median(y - slope * x)
        else:
            start = np.median(y) - slope * np.median(x)
        low, high = places_of_bounds(primal(y), primal(x), slopes.shape[0], float(primal(alpha)))
        return (slope, start, slopes[low], slopes[high])

    found: tuple[Array, ...] = each_slice(line)(
        y.astype(np.float64), numbered(y, x).astype(np.float64)
    )
    return found


def places_of_bounds(y: Any, x: Any, count: int, alpha: float) -> tuple[int, int]:
    """Say which of the slopes in their order are the bounds."""
    share = 1 - alpha if alpha > 0.5 else alpha
    repeats = (np.unique(each, return_counts=True)[1] for each in (x, y))
    n = len(y)
    tied = sum(float(np.sum(k * (k - 1) * (2 * k + 5))) for k in repeats)
    reach = scipy.special.ndtri(share / 2) * math.sqrt((n * (n - 1) * (2 * n + 5) - tied) / 18)
    low = max(round((count + reach) / 2) - 1, 0)
    return low, min(round((count - reach) / 2), count - 1)


def siegelslopes(y: Array, x: Any = None, method: str = "hierarchical") -> tuple[Array, Array]:
    """The median of the medians of the slopes from each point; Siegel 1982."""
    if method not in ("hierarchical", "separate"):
        raise ValueError("method can only be 'hierarchical' or 'separate'")

    def line(y: Array, x: Array) -> tuple[Array, Array]:
        dx, dy = x[:, None] - x, y[:, None] - y
        apart = np.not_equal(dx, 0)
        slope = np.median(medians(dy, dx, apart))
        if method == "hierarchical":
            return (slope, np.median(y - slope * x))
        return (slope, np.median(medians(y * x[:, None] - y[:, None] * x, dx, apart)))

    found: tuple[Array, Array] = each_slice(line)(y, numbered(y, x))
    return found


def medians(numerators: Array, denominators: Array, apart: Any) -> Array:
    """The median of the quotients in each row, without those by zero."""
    counts = np.sum(apart, axis=1)
    if np.all(counts == counts[0]):
        shape = (len(counts), -1)
        return np.median(np.reshape(numerators[apart] / denominators[apart], shape), axis=1)
    rows = zip(numerators, denominators, apart, strict=True)
    return np.stack([np.median(one[here] / other[here]) for one, other, here in rows])


def median_test(
    *samples: Any,
    ties: str = "below",
    correction: bool = True,
    lambda_: Any = 1,
    nan_policy: str = "propagate",
) -> tuple[Any, ...]:
    """Compare how many of each sample are above the median of all; that alone is no count."""
    arrays = floats(samples)
    statistic, p, _, table = count_above(
        *map(primal, arrays),
        ties=ties,
        correction=correction,
        lambda_=lambda_,
        nan_policy=nan_policy,
    )
    every = np.concatenate(arrays)
    gaps = np.isnan(every)
    if nan_policy == "omit" and gaps.any():
        every = every[~gaps]
    return (statistic, p, np.median(every), table)


count_above = taken_over("median_test", ("statistic", "pvalue", "median", "table"))


SLOPES: Table = {
    **dict(
        of_samples(compute.__name__, compute, "y x", fields)
        for compute, fields in (
            (theilslopes, ("slope", "intercept", "low_slope", "high_slope")),
            (siegelslopes, ("slope", "intercept")),
        )
    ),
    count_above: Derivation(median_test),
}
"""The functions by SciPy's."""

RESULTS: dict[str, Callable[..., Any]] = {
    "theilslopes": TheilslopesResult,
    "siegelslopes": SiegelslopesResult,
    "median_test": MedianTestResult,
}
"""What is made of the parts that they give."""

"""Samples sorted into bins: where these are, and what is told of the values in each."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Derivation
from tape_ad.scipy.counterparts import is_handle
from tape_ad.scipy.installed import asked, scipy
from tape_ad.scipy.stats.results import (
    BinnedStatistic2dResult,
    BinnedStatisticddResult,
    BinnedStatisticResult,
    CumfreqResult,
    RelfreqResult,
)
from tape_ad.scipy.stats.samples import Table, floating, primal, taken_over

__all__ = ["BINS", "RESULTS"]

Counts = tuple[Array, Array, Array, int]
"""What is in each bin, the lower limit, the size of a bin, and how much is in none."""


def membership(a: Array, edges: Any) -> Any:
    """Say with 0 and 1 which elements are in which bin, in rows; the last bin has both its ends."""
    numbers: Any = np.searchsorted(edges, a, side="right") - 1
    numbers = np.where(np.equal(a, edges[-1]), len(edges) - 2, numbers)
    return np.equal(numbers, np.arange(len(edges) - 1)[:, None]).astype(float)


def histogram(told: Callable[..., Counts], a: Any, numbins: int, limits: Any, weights: Any) -> Any:
    """Count what is in bins of one size.

    Parameters
    ----------
    told : callable
        SciPy's function, which says in which dtypes, and what has no derivative.
    """
    given = limits if limits is None else (limits[0], limits[1])
    plain = given if given is None else tuple(map(primal, given))
    counts, low, size, extra = told(primal(a), numbins, plain, primal(weights))
    a = np.reshape(floating(a), -1).astype(size.dtype)
    if given is None:
        start, stop = (np.min(a), np.max(a)) if a.size else (0.0, 1.0)
        margin = (stop - start) / (2.0 * (numbins - 1.0)) if a.size else 0.0
        given = start - margin, stop + margin
    edges = np.linspace(*given, numbins + 1)
    if weights is not None:
        share = np.matmul(membership(primal(a), primal(edges)), np.reshape(weights, -1))
        counts = share.astype(counts.dtype)
    low = given[0].astype(size.dtype) if is_handle(given[0]) else low
    return counts, low, (edges[1] - edges[0]).astype(size.dtype), extra


def cumfreq(
    a: Any, numbins: int = 10, defaultreallimits: Any = None, weights: Any = None
) -> Counts:
    """Count what is in each bin and in those below."""
    counts, *rest = histogram(CUMFREQ, a, numbins, defaultreallimits, weights)
    return (counts if weights is None else np.cumsum(counts), *rest)


def relfreq(
    a: Any, numbins: int = 10, defaultreallimits: Any = None, weights: Any = None
) -> Counts:
    """Count which share is in each bin."""
    counts, *rest = histogram(RELFREQ, a, numbins, defaultreallimits, weights)
    if weights is None:
        return (counts, *rest)
    return (counts / (np.sum(weights) if OF_WEIGHTS else np.shape(a)[0]), *rest)


# What is told of values by the bins that they are in

Binned = tuple[Array, list[Array], Any]
"""A statistic of each bin, the edges along each axis, and the number of the bin of each value."""

SMOOTH: dict[Any, Callable[..., Array]] = {
    "median": np.median,
    "std": np.std,
    "min": np.min,
    "max": np.max,
}


def binned_statistic_dd(
    sample: Any,
    values: Any,
    statistic: Any = "mean",
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - it is SciPy's name
    expand_binnumbers: bool = False,
    binned_statistic_result: Any = None,
) -> Binned:
    """Tell a statistic of the values in each bin of a grid."""
    if binned_statistic_result is not None:
        raise UnsupportedArgumentError(
            "scipy.stats.binned_statistic_dd: binned_statistic_result= is not supported on "
            "handles; pass the edges of its bins as bins="
        )
    sample = floating(sample)
    columns = list(np.moveaxis(sample, -1, 0)) if sample.ndim > 1 else [sample]
    per_axis = list(bins) if is_several(bins) else [bins] * len(columns)
    return binned(columns, values, statistic, per_axis, range, expand_binnumbers)


def binned(
    columns: list[Array], values: Any, statistic: Any, bins: list[Any], limits: Any, expand: bool
) -> Binned:
    """Do it for a point's coordinates, an array for each, with bins and their limits for each."""
    if len(bins) != len(columns):
        raise AttributeError(
            "The dimension of bins must be equal to the dimension of the sample x."
        )
    columns = [x.astype(np.result_type(*columns)) for x in columns]
    limits = [None] * len(columns) if limits is None else list(limits)
    edges = [edges_of(*each) for each in zip(columns, bins, limits, strict=True)]
    told = scipy.stats.binned_statistic_dd(
        np.stack([primal(x) for x in columns], axis=-1),
        np.ones(columns[0].shape[0]),
        "count",
        [primal(each) for each in edges],
    )
    shape = tuple(each.shape[0] + 1 for each in edges)
    values = floating(values)
    values = values.astype(np.result_type(values, np.float64))
    result = of_bins(values, told.binnumber, shape, statistic)
    numbers = told.binnumber
    if expand and len(shape) > 1:
        numbers = np.asarray(np.unravel_index(numbers, shape))
    return result, edges, numbers


def is_several(bins: Any) -> bool:
    """Tell edges, or bins for several axes, from a number of bins."""
    return isinstance(bins, (list, tuple)) or getattr(bins, "ndim", 0) > 0


def edges_of(x: Array, bins: Any, limits: Any) -> Array:
    """Give the edges of bins: as they are given, or between two limits."""
    if is_several(bins):
        return floating(bins).astype(x.dtype)
    low, high = (np.min(x), np.max(x)) if limits is None else limits
    if primal(low) == primal(high):  # where the edges jump, and move with the two beside that
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, int(bins) + 1).astype(x.dtype)


def of_bins(values: Array, numbers: Any, shape: tuple[int, ...], statistic: Any) -> Array:
    """Tell a statistic for each bin; `shape` has two bins more along each axis, for what is out."""
    core = np.ravel(np.reshape(np.arange(np.prod(shape)), shape)[(slice(1, -1),) * len(shape)])
    inside = tuple(each - 2 for each in shape)
    member = np.equal(numbers, core[:, None])
    counts = np.sum(member, axis=1).astype(float)
    lead = values.shape[:-1]
    if statistic == "count":
        return np.broadcast_to(np.reshape(counts, inside), (*lead, *inside))
    statistic = {np.mean: "mean", np.sum: "sum"}.get(statistic, statistic)
    if statistic in ("sum", "mean"):
        result = np.matmul(values, np.transpose(member.astype(values.dtype)))
        if statistic == "mean":
            result = np.where(counts > 0, result / np.maximum(counts, 1), np.nan)
        return np.reshape(result, (*lead, *inside))
    parts = [of_members(values, np.flatnonzero(here), statistic) for here in member]
    return np.reshape(np.stack(parts, axis=-1), (*lead, *inside))


def of_members(values: Array, places: Any, statistic: Any) -> Array:
    """Tell a statistic of some values; of none, nan or what a function of the user's says."""
    lead, own = values.shape[:-1], values[..., places]
    if statistic in SMOOTH:
        if not places.size:
            return np.full(lead, np.nan)
        return SMOOTH[statistic](own, axis=-1)
    if not callable(statistic):
        raise ValueError(f"invalid statistic {statistic!r}")
    if not places.size:
        return np.broadcast_to(of_nothing(statistic), lead)
    if not lead:
        return statistic(own)
    rows = np.reshape(own, (-1, places.size))
    return np.reshape(np.stack([statistic(row) for row in rows]), lead)


def of_nothing(statistic: Callable[..., Any]) -> Any:
    """Tell a user's statistic of no values, nan if it fails."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return statistic([])
        except Exception:
            return np.nan


def binned_statistic(
    x: Any,
    values: Any,
    statistic: Any = "mean",
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - it is SciPy's name
) -> tuple[Array, Array, Any]:
    """Tell a statistic of the values in each bin."""
    bins = list(bins) if is_several(bins) and len(bins) == 1 else [bins]
    if range is not None and len(range) == 2:
        range = [range]  # noqa: A001 - it is SciPy's name
    result, (edges,), numbers = binned([floating(x)], values, statistic, bins, range, False)
    return result, edges, numbers


def binned_statistic_2d(
    x: Any,
    y: Any,
    values: Any,
    statistic: Any = "mean",
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - it is SciPy's name
    expand_binnumbers: bool = False,
) -> tuple[Array, Array, Array, Any]:
    """Tell a statistic of the values in each bin of a plane."""
    bins = list(bins) if is_several(bins) and len(bins) in (1, 2) else [bins, bins]
    columns = [floating(x), floating(y)]
    result, edges, numbers = binned(columns, values, statistic, bins, range, expand_binnumbers)
    return (result, *edges, numbers)


FREQUENCY = ("lowerlimit", "binsize", "extrapoints")

CUMFREQ = taken_over("cumfreq", ("cumcount", *FREQUENCY))
RELFREQ = taken_over("relfreq", ("frequency", *FREQUENCY))

OF_WEIGHTS = bool(asked(lambda: RELFREQ([1.0, 2.0], 2, weights=[2.0, 2.0])[0][0]) == 0.5)
"""Whether a share is one of all weights, as it is since SciPy 1.18, or of the number of them."""

FIELDS: dict[Callable[..., Any], tuple[str, ...]] = {
    binned_statistic: ("statistic", "bin_edges", "binnumber"),
    binned_statistic_2d: ("statistic", "x_edge", "y_edge", "binnumber"),
    binned_statistic_dd: ("statistic", "bin_edges", "binnumber"),
}

BINS: Table = {
    CUMFREQ: Derivation(cumfreq),
    RELFREQ: Derivation(relfreq),
    **{taken_over(each.__name__, fields): Derivation(each) for each, fields in FIELDS.items()},
}
"""The functions by SciPy's."""

RESULTS: dict[str, Callable[..., Any]] = {
    "cumfreq": CumfreqResult,
    "relfreq": RelfreqResult,
    "binned_statistic": BinnedStatisticResult,
    "binned_statistic_2d": BinnedStatistic2dResult,
    "binned_statistic_dd": BinnedStatisticddResult,
}
"""What is made of the parts that they give."""

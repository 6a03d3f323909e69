"""Named tuples that functions of `scipy.stats` give, with handles in them."""

from typing import Any, NamedTuple

from tape_ad.rules.maps import Array

__all__ = [
    "BinnedStatistic2dResult",
    "BinnedStatisticResult",
    "BinnedStatisticddResult",
    "Chi2ContingencyResult",
    "CumfreqResult",
    "DescribeResult",
    "MedianTestResult",
    "RelfreqResult",
    "SiegelslopesResult",
    "SigmaclipResult",
    "TheilslopesResult",
]


class TheilslopesResult(NamedTuple):
    """What `scipy.stats.theilslopes` gives."""

    slope: Array
    intercept: Array
    low_slope: Array
    high_slope: Array


class SiegelslopesResult(NamedTuple):
    """What `scipy.stats.siegelslopes` gives."""

    slope: Array
    intercept: Array


class MedianTestResult(NamedTuple):
    """What `scipy.stats.median_test` gives."""

    statistic: Any
    pvalue: Any
    median: Array
    table: Any


class Chi2ContingencyResult(NamedTuple):
    """What `scipy.stats.chi2_contingency` tells of a table."""

    statistic: Array
    pvalue: Array
    dof: Any
    expected_freq: Array


class SigmaclipResult(NamedTuple):
    """What `scipy.stats.sigmaclip` leaves of a sample, and the bounds of it."""

    clipped: Array
    lower: Array
    upper: Array


class CumfreqResult(NamedTuple):
    """What `scipy.stats.cumfreq` gives."""

    cumcount: Array
    lowerlimit: Array
    binsize: Array
    extrapoints: Any


class RelfreqResult(NamedTuple):
    """What `scipy.stats.relfreq` gives."""

    frequency: Array
    lowerlimit: Array
    binsize: Array
    extrapoints: Any


class BinnedStatisticResult(NamedTuple):
    """What `scipy.stats.binned_statistic` gives."""

    statistic: Array
    bin_edges: Array
    binnumber: Any


class BinnedStatistic2dResult(NamedTuple):
    """What `scipy.stats.binned_statistic_2d` gives."""

    statistic: Array
    x_edge: Array
    y_edge: Array
    binnumber: Any


class BinnedStatisticddResult(NamedTuple):
    """What `scipy.stats.binned_statistic_dd` gives."""

    statistic: Array
    bin_edges: list[Array]
    binnumber: Any


class DescribeResult(NamedTuple):
    """What `scipy.stats.describe` tells of a sample."""

    nobs: Any
    minmax: tuple[Array, Array]
    mean: Array
    variance: Array
    skewness: Array
    kurtosis: Array

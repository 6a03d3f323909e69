"""The rules for `scipy.stats`, which `tape_ad.scipy.stats` imports and publishes."""

from collections.abc import Callable
from typing import Any

from tape_ad.extend.rules import merged
from tape_ad.scipy.stats import bins, frequencies, goodness, quantiles, slopes
from tape_ad.scipy.stats.descriptive import DESCRIPTIVE, UNITS
from tape_ad.scipy.stats.distances import DISTANCES
from tape_ad.scipy.stats.families import FORMULAS
from tape_ad.scipy.stats.hypotheses import HYPOTHESES, RESULTS
from tape_ad.scipy.stats.multivariate import DISTRIBUTED
from tape_ad.scipy.stats.partials import DISTRIBUTIONS
from tape_ad.scipy.stats.results import DescribeResult, DirectionalStats
from tape_ad.scipy.stats.samples import RANKED, RANKS, Table, with_result
from tape_ad.scipy.stats.transformations import TRANSFORMATIONS

__all__ = ["PUBLISHED", "SAMPLES", "STATS"]

SAMPLES: Table = merged(
    DESCRIPTIVE,
    HYPOTHESES,
    frequencies.FREQUENCIES,
    quantiles.QUANTILES,
    goodness.GOODNESS,
    slopes.SLOPES,
    bins.BINS,
    DISTANCES,
    TRANSFORMATIONS,
    RANKS,
)
"""Functions of samples, which give arrays or tuples of them."""

MADE = {
    **RESULTS,
    **frequencies.RESULTS,
    **quantiles.RESULTS,
    **goodness.RESULTS,
    **slopes.RESULTS,
    **bins.RESULTS,
    **RANKED,
    "describe": DescribeResult,
    "directional_stats": DirectionalStats,
}

PUBLISHED: dict[str, Callable[..., Any]] = {
    name: with_result(function, MADE[name]) if name in MADE else function
    for name, function in ((each.__name__, each) for each in SAMPLES)
}
"""The same under SciPy's names, giving what SciPy's give."""

STATS: Table = merged(FORMULAS, DISTRIBUTIONS, SAMPLES, UNITS, DISTRIBUTED)
"""What is known of the functions that `tape_ad.scipy.stats` publishes, and of those behind them."""

"""Functions of `scipy.stats` that depend on the order of samples alone, and so are constants.

Those that take lists of samples, or no array that they could not write to, are in
`tape_ad.scipy.stats.resampling`.
"""

from collections.abc import Callable
from typing import Any

from tape_ad.rules.base import constants
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.results import OutcomeResult, SignificanceResult
from tape_ad.scipy.stats.samples import Table, taken_over

__all__ = ["RANKED", "RANKS"]

TUPLES = (
    *("kendalltau", "spearmanr", "spearmanrho", "mannwhitneyu", "wilcoxon", "ranksums", "kruskal"),
    *("friedmanchisquare", "brunnermunzel", "ansari", "mood", "ks_2samp", "chatterjeexi"),
    "fligner",
)
OBJECTS = ("somersd", "cramervonmises_2samp", "page_trend_test", "bws_test")

RANKED: dict[str, Callable[..., Any]] = {
    name: result
    for names, result in ((TUPLES, SignificanceResult), (OBJECTS, OutcomeResult))
    for name in names
    if getattr(scipy.stats, name)  # some are in newer releases of SciPy alone
}
"""What is made of the statistics and p-values of rank tests."""

RANKS: Table = constants(
    *map(taken_over, ("rankdata", "tiecorrect", "percentileofscore")),
    *(taken_over(name, ("statistic", "pvalue")) for name in RANKED),
)
"""Rank correlations, and tests of ranks."""

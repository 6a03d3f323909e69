"""Rank correlations and tests of ranks, which are piecewise constant, and so give plain results."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import plain
from tape_ad.extend.rules import Constant, Entry, overridable, takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.samples import OutcomeResult, SignificanceResult, as_one

RANKS: dict[Any, Entry] = {}
"""What gives numbers or arrays, or a statistic and its p-value as a tuple."""


def of_ranks(name: str, result: Callable[..., Any] | None) -> Callable[..., Any]:
    """Make a function of ranks; one with a result gives a statistic and its p-value."""
    theirs = getattr(scipy.stats, name)

    @overridable
    @functools.wraps(theirs)
    def parts(*args: Any, **kwargs: Any) -> Any:
        found = theirs(*args, **kwargs)
        given = (found.statistic, found.pvalue) if result else (found,)
        each = [np.float64(x) if type(x) is float else x for x in given]
        return tuple(each) if result else each[0]

    @functools.wraps(theirs)
    def public(*args: Any, **kwargs: Any) -> Any:
        given = tuple(map(as_one, plain(args)))
        named = {key: as_one(x) for key, x in plain(kwargs).items()}
        if not any(takes_over(type(x)) for x in (*given, *named.values())):
            return theirs(*given, **named)
        found = parts(*given, **named)
        return result(*found) if result else found

    # before 1.15 SciPy gives nan in another precision
    RANKS[parts] = Constant(facts.Facts(dtype_by_values=True))
    return public


TUPLES = (
    *("kendalltau", "spearmanr", "spearmanrho", "mannwhitneyu", "wilcoxon", "ranksums", "kruskal"),
    *("friedmanchisquare", "brunnermunzel", "ansari", "mood", "ks_2samp", "chatterjeexi"),
    "fligner",
)
OBJECTS = ("somersd", "cramervonmises_2samp", "page_trend_test", "bws_test")

PUBLISHED = {
    name: of_ranks(name, result)
    for names, result in (
        (("rankdata", "tiecorrect", "percentileofscore"), None),
        (TUPLES, SignificanceResult),
        (OBJECTS, OutcomeResult),
    )
    for name in names
    if getattr(scipy.stats, name)  # some are in newer releases of SciPy alone
}
"""The functions by SciPy's names."""

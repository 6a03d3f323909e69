"""What functions of `scipy.stats` give that have several results."""

from typing import NamedTuple

from attrs import frozen

from tape_ad.extend.arrays import Array


class SignificanceResult(NamedTuple):
    """A statistic, and how likely one as extreme is."""

    statistic: Array
    pvalue: Array


@frozen
class OutcomeResult:
    """The same where SciPy does not give a tuple."""

    statistic: Array
    pvalue: Array


class ConfidenceInterval(NamedTuple):
    """The bounds of what a parameter may be."""

    low: Array
    high: Array

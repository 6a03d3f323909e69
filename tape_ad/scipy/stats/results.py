"""What functions of `scipy.stats` give that have several results."""

from typing import Any, NamedTuple

from attrs import frozen

from tape_ad.extend.arrays import Array

__all__ = ["ConfidenceInterval", "OutcomeResult", "SignificanceResult", "check_level"]


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


def check_level(level: Any) -> None:
    """Refuse a confidence level that is no share, as SciPy does."""
    if level < 0 or level > 1:
        raise ValueError("`confidence_level` must be a number between 0 and 1.")

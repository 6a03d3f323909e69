"""How likely a statistic is: p-values, by the tails of distributions."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.scipy.stats.methods import cdf, sf

__all__ = ["PAIR", "Pair", "lower_tail", "two_tailed", "upper_tail"]

Pair = tuple[Array, Array]
"""A statistic and its p-value."""

PAIR = ("statistic", "pvalue")
"""How SciPy calls them."""


def two_tailed(
    statistic: Array, alternative: str, name: str, *shapes: Any, **place: float
) -> Array:
    """The p-value of a statistic whose distribution is symmetric about 0."""
    parameters = (*shapes, place.get("loc", 0.0), place.get("scale", 1.0))
    if alternative == "two-sided":
        return 2 * sf(np.absolute(statistic), *parameters, name=name)
    if alternative == "less":
        return cdf(statistic, *parameters, name=name)
    if alternative == "greater":
        return sf(statistic, *parameters, name=name)
    raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")


def upper_tail(statistic: Array, name: str, *shapes: Any) -> Array:
    """The p-value of a statistic that is large where the hypothesis is wrong."""
    return sf(statistic, *shapes, 0.0, 1.0, name=name)


def lower_tail(statistic: Array, name: str, *shapes: Any) -> Array:
    """The p-value of a statistic that is small where the hypothesis is wrong."""
    return cdf(statistic, *shapes, 0.0, 1.0, name=name)

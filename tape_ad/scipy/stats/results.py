"""What functions of `scipy.stats` give that have several results."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from attrs import frozen

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.methods import ppf

__all__ = [
    "BinnedStatistic2dResult",
    "BinnedStatisticResult",
    "BinnedStatisticddResult",
    "Chi2ContingencyResult",
    "ConfidenceInterval",
    "CumfreqResult",
    "DescribeResult",
    "DirectionalStats",
    "KstestResult",
    "LinregressResult",
    "MedianTestResult",
    "OutcomeResult",
    "PearsonRResult",
    "RelfreqResult",
    "SiegelslopesResult",
    "SigmaclipResult",
    "SignificanceResult",
    "TheilslopesResult",
    "TtestResult",
    "check_level",
]


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


@frozen(eq=False)
class DirectionalStats:
    """What `scipy.stats.directional_stats` gives."""

    mean_direction: Array
    mean_resultant_length: Array


class TtestResult(SignificanceResult):
    """A t statistic and its p-value, with the degrees of freedom.

    Attributes
    ----------
    statistic, pvalue, df : array or Tensor
    """

    options: ClassVar[tuple[str, ...]] = ("alternative",)
    df: Array

    def __new__(
        cls,
        statistic: Array,
        pvalue: Array,
        df: Array,
        estimate: Array,
        standard_error: Array,
        alternative: str,
    ) -> "TtestResult":
        """Make a pair that knows its degrees of freedom."""
        made = super().__new__(cls, statistic, pvalue)
        made.df = df
        made._line = (estimate, standard_error, alternative)  # type: ignore[attr-defined]  # not public
        return made

    def confidence_interval(self, confidence_level: Any = 0.95) -> ConfidenceInterval:
        """Give the bounds of the mean, or of the difference of means.

        Parameters
        ----------
        confidence_level : number or Tensor, between 0 and 1
        """
        check_level(confidence_level)
        estimate, error, alternative = self._line  # type: ignore[attr-defined]  # set above
        rest = 1 - confidence_level
        shares = {
            "less": (None, confidence_level),
            "greater": (rest, None),
            "two-sided": (rest / 2, 1 - rest / 2),
        }[alternative]
        low, high = (
            estimate + (side if share is None else ppf(share, self.df, 0.0, 1.0, name="t")) * error
            for side, share in zip((-np.inf, np.inf), shares, strict=True)
        )
        return ConfidenceInterval(low, high)


class PearsonRResult(SignificanceResult):
    """A correlation coefficient and its p-value.

    Attributes
    ----------
    statistic, correlation, pvalue : array or Tensor
    """

    options: ClassVar[tuple[str, ...]] = ("alternative",)

    def __new__(
        cls, statistic: Array, pvalue: Array, count: Array, alternative: str
    ) -> "PearsonRResult":
        """Make a pair that knows how many points there were."""
        made = super().__new__(cls, statistic, pvalue)
        made._given = (float(count), alternative)  # type: ignore[attr-defined]  # not public
        return made

    @property
    def correlation(self) -> Array:
        """The coefficient again."""
        return self.statistic

    def confidence_interval(
        self, confidence_level: Any = 0.95, method: Any = None
    ) -> ConfidenceInterval:
        """Give the bounds of the coefficient, by Fisher's transformation.

        Parameters
        ----------
        confidence_level : number or Tensor
        method : None
            Resampling is not given for handles.
        """
        if method is not None:
            raise UnsupportedArgumentError(
                "scipy.stats.pearsonr: on handles, the confidence interval is that of Fisher's "
                "transformation alone; leave method= out, or pass .data of the samples"
            )
        (count, alternative), ones = self._given, np.ones(np.shape(self.statistic))  # type: ignore[attr-defined]  # set above
        low: Any = -ones
        high: Any = ones
        if count > 3:
            share = 0.5 + confidence_level / 2 if alternative == "two-sided" else confidence_level
            reach = sp.ndtri(share) * (1 / (count - 3)) ** 0.5
            middle = np.arctanh(self.statistic)
            low = low if alternative == "less" else np.tanh(middle - reach)
            high = high if alternative == "greater" else np.tanh(middle + reach)
        return ConfidenceInterval(low, high)


class KstestResult(SignificanceResult):
    """A distance of distribution functions and its p-value.

    Attributes
    ----------
    statistic, pvalue, statistic_location : array or Tensor
    statistic_sign : array of int
    """

    statistic_location: Array
    statistic_sign: Array

    def __new__(
        cls, statistic: Array, pvalue: Array, statistic_location: Array, statistic_sign: Array
    ) -> "KstestResult":
        """Make a pair that knows where the distance is."""
        made = super().__new__(cls, statistic, pvalue)
        made.statistic_location, made.statistic_sign = statistic_location, statistic_sign
        return made


class Line(NamedTuple):
    """The first five of what is told of a line."""

    slope: Array
    intercept: Array
    rvalue: Array
    pvalue: Array
    stderr: Array


class LinregressResult(Line):
    """A line through points: what `scipy.stats.linregress` gives.

    Attributes
    ----------
    slope, intercept, rvalue, pvalue, stderr, intercept_stderr : array or Tensor
    """

    intercept_stderr: Array

    def __new__(cls, *values: Any) -> "LinregressResult":
        """Make a tuple of the first five."""
        *first, intercept_stderr = values
        made = super().__new__(cls, *first)
        made.intercept_stderr = intercept_stderr
        return made


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

"""Tests whose results have intervals, for confidence levels that may be handles too."""

from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import any_handle, array_of, plain, refuse_handles
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.methods import ppf, sf
from tape_ad.scipy.stats.results import ConfidenceInterval
from tape_ad.scipy.stats.samples import floating

__all__ = ["dunnett", "tukey_hsd"]


def moments_of(samples: Any) -> tuple[Any, Any, Any]:
    """The means, variances and sizes of samples."""
    arrays = [floating(array_of(x)) for x in samples]
    sizes = np.array([x.shape[0] for x in arrays])
    means = np.stack([np.mean(x) for x in arrays])
    return means, np.stack([np.var(x, ddof=1) if x.size > 1 else 0.0 * x[0] for x in arrays]), sizes


# Groups


@frozen(eq=False)
class TukeyHSDResult:
    """What is told of the means of all pairs of groups.

    Attributes
    ----------
    statistic : array or Tensor, shape (n, n)
        The differences of the means.
    """

    statistic: Any
    _errors: Any = field(repr=False)
    _groups: int = field(repr=False)
    _df: Any = field(repr=False)
    _told: Any = field(repr=False)

    def __str__(self) -> str:
        return str(self._told)

    @property
    def pvalue(self) -> Any:
        """How likely differences as large are; it has no second derivative, and they have."""
        if not any_handle(self.statistic):
            return self._told.pvalue
        t = np.absolute(self.statistic) / self._errors
        groups = np.float64(self._groups)
        return sf(t, groups, self._df, 0.0, 1.0, name="studentized_range")

    def confidence_interval(self, confidence_level: Any = 0.95) -> ConfidenceInterval:
        """Give the bounds of the differences.

        Parameters
        ----------
        confidence_level : number or Tensor, between 0 and 1
        """
        if not 0 < confidence_level < 1:
            raise ValueError("Confidence level must be between 0 and 1.")
        groups = np.float64(self._groups)
        reach = ppf(confidence_level, groups, self._df, 0.0, 1.0, name="studentized_range")
        reach = reach * self._errors
        return ConfidenceInterval(self.statistic - reach, self.statistic + reach)


def tukey_hsd(*args: Any, equal_var: bool = True) -> TukeyHSDResult:
    """Compare the means of all pairs of groups; see `scipy.stats.tukey_hsd`.

    Parameters
    ----------
    *args : array or Tensor, shape (n,)
        Two groups or more.
    equal_var : bool
        Whether the groups have one variance. Else there are p-values and intervals of plain arrays
        alone, for the degrees of freedom depend on the samples.

    Returns
    -------
    TukeyHSDResult
    """
    options = {} if equal_var else {"equal_var": False}  # which SciPy 1.15 brought
    told = scipy.stats.tukey_hsd(*plain(args), **options)
    means, variances, sizes = moments_of(args)
    groups, total = len(args), int(np.sum(sizes))
    df: Any = np.float64(total - groups)
    if equal_var:
        inside = np.sum(variances * (sizes - 1)) / df
        errors = np.sqrt((1 / sizes + 1 / sizes[:, None]) * inside / 2)
    else:
        shares = variances / sizes
        sums, parts = shares[:, None] + shares, shares**2 / (sizes - 1)
        errors, df = np.sqrt(sums / 2), sums**2 / (parts[:, None] + parts)
    differences = means[:, None] - means if any_handle(args) else told.statistic
    return TukeyHSDResult(differences, errors, groups, df, told)


@frozen(eq=False)
class DunnettResult:
    """What is told of the means of groups beside that of a control.

    Attributes
    ----------
    statistic : array or Tensor, shape (n,)
    """

    statistic: Any
    _differences: Any = field(repr=False)
    _errors: Any = field(repr=False)
    _alternative: str = field(repr=False)
    _told: Any = field(repr=False)

    def __str__(self) -> str:
        return str(self._told)

    @property
    def pvalue(self) -> Any:
        """How likely such statistics are: of plain samples alone, as it is integrated at random.

        Raises
        ------
        UnsupportedArgumentError
        """
        if any_handle(self.statistic):
            raise UnsupportedArgumentError(
                "scipy.stats.dunnett: pvalue is integrated at random points, and has no derivative "
                "here; ask for it with .data of the samples"
            )
        return self._told.pvalue

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Give the bounds of the differences of the means from that of the control.

        Parameters
        ----------
        confidence_level : float, between 0 and 1
        """
        refuse_handles("scipy.stats.dunnett", {"confidence_level": confidence_level})
        ends = self._told.confidence_interval(confidence_level)
        middle, errors = plain(self._differences), plain(self._errors)
        side, sign = (ends.low, -1) if self._alternative == "greater" else (ends.high, 1)
        reach = np.abs(np.asarray(side) - middle) / errors * self._errors  # of no sample, but of df
        endless = np.full(len(errors), np.inf)
        low = -endless if self._alternative == "less" else self._differences - reach
        high = endless if sign < 0 else self._differences + reach
        return ConfidenceInterval(low, high)


def dunnett(
    *samples: Any, control: Any, alternative: str = "two-sided", **options: Any
) -> DunnettResult:
    """Compare the means of groups with that of a control; see `scipy.stats.dunnett`.

    Parameters
    ----------
    *samples : array or Tensor, shape (n,)
    control : array or Tensor, shape (n,)
    alternative : str
    **options
        What draws the random points: ``rng``, which is ``random_state`` in older releases.

    Returns
    -------
    DunnettResult
        Its p-values are given for plain arrays alone.
    """
    told = scipy.stats.dunnett(
        *plain(samples), control=plain(control), alternative=alternative, **options
    )
    means, variances, sizes = moments_of((*samples, control))
    pooled = np.sum(variances * (sizes - 1)) / (np.sum(sizes) - len(sizes))
    errors = np.sqrt(pooled) * np.sqrt(1 / sizes[:-1] + 1 / sizes[-1])
    differences = means[:-1] - means[-1]
    return DunnettResult(differences / errors, differences, errors, alternative, told)

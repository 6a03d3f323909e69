"""Samples compared with families of distributions that are fitted to them: Anderson & Darling."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import array_of, plain
from tape_ad.extend.solvers import implicit
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.distributions import Distribution
from tape_ad.scipy.stats.results import SignificanceResult
from tape_ad.scipy.stats.samples import on_handles

__all__ = ["anderson"]


@frozen(eq=False)
class FitResult:
    """A distribution that is fitted to a sample.

    Attributes
    ----------
    params : tuple of number or Tensor
        The location and the scale.
    success : bool
    message : str
    """

    params: tuple[Any, ...]
    success: bool
    message: str


class AndersonResult(NamedTuple):
    """A distance from a family of distributions, with its critical values."""

    statistic: Any
    critical_values: Any
    significance_level: Any


class FittedAndersonResult(AndersonResult):
    """The result of `scipy.stats.anderson`, with the distribution that is fitted.

    Attributes
    ----------
    fit_result : FitResult
    """

    fit_result: FitResult

    def __new__(cls, *parts: Any) -> "FittedAndersonResult":
        """Make a triple that knows what is fitted."""
        *first, fit_result = parts
        made = super().__new__(cls, *first)
        made.fit_result = fit_result
        return made


def gumbel(x: Any, scale: float) -> tuple[Any, Any]:
    """Fit location and scale of a distribution of maxima by their likelihood."""

    def weights(scale: Any) -> Any:
        return np.exp(-(x - np.mean(x)) / scale)

    def residual(unknown: Any) -> Any:
        weighed = weights(unknown[0])
        mean = np.sum(x * weighed) / np.sum(weighed)
        return array_of(np.mean(x) - mean - unknown[0]).reshape(1)

    found = implicit(residual, np.array([scale]), "scipy.stats.anderson")[0]
    return np.mean(x) - found * np.log(np.mean(weights(found))), found


def logistic(x: Any, start: Any) -> tuple[Any, Any]:
    """Fit location and scale of a logistic distribution by their likelihood."""

    def residual(unknown: Any) -> Any:
        z = (x - unknown[0]) / unknown[1]
        above = 1 / (1 + np.exp(z))
        count = x.shape[0]
        return np.stack([np.sum(above) - 0.5 * count, np.sum(z * (2 * above - 1)) + count])

    found = implicit(residual, np.asarray(start), "scipy.stats.anderson")
    return found[0], found[1]


def fitted(x: Any, dist: str, told: Any) -> tuple[Any, Any]:
    """Give the location and scale that a family is fitted to a sample with."""
    if dist == "norm":
        return np.mean(x), np.std(x, ddof=1)
    if dist == "expon":
        return 0.0, np.mean(x)
    if dist == "logistic":
        return logistic(x, [float(each) for each in told.fit_result.params])
    if dist == "gumbel_r":
        return gumbel(x, float(told.fit_result.params.scale))
    location, scale = gumbel(-x, float(told.fit_result.params.scale))
    return -location, scale


@on_handles("x")
def anderson(x: Any, dist: str = "norm", *, method: Any = None) -> Any:
    """Compare a sample with a family of distributions; see `scipy.stats.anderson`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    dist : str
        "norm", "expon", "logistic", "gumbel_l" or "gumbel_r".
    method : str or object, optional
        How SciPy 1.17 makes a p-value.

    Returns
    -------
    FittedAndersonResult or SignificanceResult
        With a p-value for a method.
    """
    dist = {"extreme1": "gumbel_l", "gumbel": "gumbel_l"}.get(dist.lower(), dist.lower())
    if dist == "weibull_min":
        raise UnsupportedArgumentError(
            "scipy.stats.anderson: there is no derivative with dist='weibull_min'; pass .data of "
            "the sample"
        )
    plain_x = np.asarray(plain(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the method, which is ours to choose
        told = scipy.stats.anderson(plain_x, dist)
    location, scale = fitted(x, dist, told)
    n, family = x.shape[0], Distribution(dist)
    scores = (np.sort(x) - location) / scale
    odd = (2 * np.arange(1, n + 1) - 1.0) / n
    statistic = -n - np.sum(odd * (family.logcdf(scores) + family.logsf(scores)[::-1]))
    if method is None:
        fit = FitResult((location, scale), told.fit_result.success, told.fit_result.message)
        parts = (statistic, told.critical_values, told.significance_level)
        return FittedAndersonResult(*parts, fit)
    if method == "interpolate":
        shares = told.significance_level / 100
        return SignificanceResult(statistic, np.interp(statistic, told.critical_values, shares))
    return SignificanceResult(statistic, scipy.stats.anderson(plain_x, dist, method=method).pvalue)

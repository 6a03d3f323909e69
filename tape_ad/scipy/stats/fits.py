"""Distributions fitted to samples, and what is told of their parameters."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import joined, plain
from tape_ad.extend.solvers import implicit
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.distributions import Distribution
from tape_ad.scipy.stats.powers import on_handles
from tape_ad.scipy.stats.results import SignificanceResult

__all__ = ["anderson", "bayes_mvs", "mvsdist"]


class Estimate(NamedTuple):
    """A parameter, and an interval that it is in."""

    statistic: Any
    minmax: tuple[Any, Any]


@on_handles("data")
def mvsdist(data: Any) -> Any:
    """Give the distributions of mean, variance and deviation; see `scipy.stats.mvsdist`.

    Parameters
    ----------
    data : array or Tensor

    Returns
    -------
    tuple of FrozenDistribution
    """
    return posteriors(joined(data))


def posteriors(data: Any) -> tuple[Any, Any, Any]:
    """Give the three distributions as ours."""
    x = np.reshape(data, -1)
    n = x.size
    if n < 2:
        raise ValueError("Need at least 2 data-points.")
    middle, variance = np.mean(x), np.var(x)
    if n > 1000:
        normal, root = Distribution("norm"), np.sqrt(variance)
        return (
            normal(loc=middle, scale=np.sqrt(variance / n)),
            normal(loc=variance, scale=math.sqrt(2.0 / n) * variance),
            normal(loc=root, scale=np.sqrt(variance / (2.0 * n))),
        )
    shape, scale = (n - 1) / 2.0, n * variance / 2.0
    return (
        Distribution("t")(n - 1.0, loc=middle, scale=np.sqrt(variance / (n - 1))),
        Distribution("invgamma")(shape, scale=scale),
        Distribution("gengamma")(shape, -2.0, scale=np.sqrt(scale)),
    )


@on_handles("data alpha")
def bayes_mvs(data: Any, alpha: Any = 0.9) -> Any:
    """Estimate mean, variance and deviation, with intervals; see `scipy.stats.bayes_mvs`.

    Parameters
    ----------
    data : array or Tensor
    alpha : number or Tensor, between 0 and 1
        How likely a parameter is in its interval.

    Returns
    -------
    tuple of named tuples
        Each with the estimate, ``statistic``, and the interval, ``minmax``.
    """
    if alpha >= 1 or alpha <= 0:
        raise ValueError(f"0 < alpha < 1 is required, but alpha={alpha!r} was given.")
    data = joined(data)
    estimates = []
    for parameter in posteriors(data):
        low, high = (parameter.ppf(share) for share in ((1 - alpha) / 2, (1 + alpha) / 2))
        estimates.append(Estimate(parameter.mean(), (low, high)))
    return tuple(estimates)


# Anderson & Darling


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
        return joined(np.mean(x) - mean - unknown[0]).reshape(1)

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

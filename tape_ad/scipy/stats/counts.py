"""Tests of counts, whose p-values are smooth in probabilities and rates."""

from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import any_handle, plain, refuse_handles
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.methods import cdf, pmf, ppf, sf
from tape_ad.scipy.stats.results import ConfidenceInterval, SignificanceResult
from tape_ad.scipy.stats.samples import floating, on_handles

__all__ = ["binomtest", "poisson_means_test"]


@frozen(eq=False)
class BinomTestResult:
    """What is told of a count.

    Attributes
    ----------
    k, n : int
    alternative : str
    statistic, proportion_estimate : float
    pvalue : number or Tensor
    """

    k: int
    n: int
    alternative: str
    statistic: float
    pvalue: Any

    @property
    def proportion_estimate(self) -> float:
        """The share that was counted."""
        return self.statistic

    def proportion_ci(self, confidence_level: Any = 0.95, method: str = "exact") -> Any:
        """Give the bounds of the probability.

        Parameters
        ----------
        confidence_level : number or Tensor, between 0 and 1
        method : str
            "exact" (Clopper & Pearson), "wilson" or "wilsoncc".

        Returns
        -------
        ConfidenceInterval
        """
        told = scipy.stats.binomtest(self.k, self.n, alternative=self.alternative)
        low, high = told.proportion_ci(plain(confidence_level), method)
        if not any_handle(confidence_level):
            return ConfidenceInterval(low, high)
        ends = self._exact if method == "exact" else self._wilson
        own = ends(confidence_level, method)
        # a bound that does not depend on the level is 0 or 1
        return ConfidenceInterval(
            *(x if 0.0 < value < 1.0 else value for x, value in zip(own, (low, high), strict=True))
        )

    def _exact(self, level: Any, _: str) -> tuple[Any, Any]:
        """The ends at which the count would be in a tail of that size."""
        k, n = float(self.k), float(self.n)
        tail = (1 - level) / 2 if self.alternative == "two-sided" else 1 - level
        inside = 0 < self.k < self.n
        low = ppf(tail, k, n - k + 1, 0.0, 1.0, name="beta") if inside or self.k else 0.0
        high = ppf(1 - tail, k + 1, n - k, 0.0, 1.0, name="beta") if self.k < self.n else 1.0
        return low, high

    def _wilson(self, level: Any, method: str) -> tuple[Any, Any]:
        """The ends by Wilson's score, with a correction for continuity."""
        n, p = self.n, self.k / self.n
        z = sp.ndtri(0.5 + 0.5 * level if self.alternative == "two-sided" else level)
        total = 2 * (n + z * z)
        middle = (2 * self.k + z * z) / total
        if method == "wilson":
            reach = z / total * np.sqrt(4 * self.k * (1 - p) + z * z)
            return middle - reach, middle + reach
        low, high = (
            (1 + z * np.sqrt(z * z - sign * 2 - 1 / n + 4 * p * (n * (1 - p) + sign))) / total
            for sign in (1, -1)
        )
        return middle - low, middle + high


def binomtest(k: int, n: int, p: Any = 0.5, alternative: str = "two-sided") -> BinomTestResult:
    """Say how likely a count is with a probability; see `scipy.stats.binomtest`.

    Parameters
    ----------
    k, n : int
        How often something has happened, of how many times.
    p : number or Tensor
    alternative : str

    Returns
    -------
    BinomTestResult
    """
    refuse_handles("scipy.stats.binomtest", {"k": k, "n": n})
    told = scipy.stats.binomtest(k, n, plain(p), alternative)
    share = told.pvalue if not any_handle(p) else tails(told, p)
    return BinomTestResult(told.k, told.n, alternative, told.statistic, share)


def tails(told: Any, p: Any) -> Any:
    """How likely a count is that is as rare, piecewise smooth in the probability."""
    k, n, at = told.k, told.n, float(plain(p))

    def below(count: Any) -> Any:
        return cdf(float(count), float(n), p, 0.0, name="binom")

    def above(count: Any) -> Any:
        return sf(float(count) - 1, float(n), p, 0.0, name="binom")

    if told.alternative == "less":
        return below(k)
    if told.alternative == "greater":
        return above(k)
    if told.pvalue == 1.0:
        return 1.0 + 0.0 * p
    counts = np.arange(n + 1)
    likely = scipy.stats.binom.pmf(counts, n, at)
    rarer = counts[likely <= likely[k] * (1 + 1e-7)]
    if k < at * n:
        other = rarer[rarer > at * n]
        return below(k) + (above(other[0]) if other.size else 0.0)
    other = rarer[rarer < at * n]
    return above(k) + (below(other[-1]) if other.size else 0.0)


@on_handles("n1 n2 diff")
def poisson_means_test(
    k1: int, n1: Any, k2: int, n2: Any, *, diff: Any = 0, alternative: str = "two-sided"
) -> Any:
    """Compare the rates of two counts; see `scipy.stats.poisson_means_test`.

    Which pairs of counts are as extreme is piecewise constant. That pair itself is, or is not, as
    rounding will have it, in SciPy too.

    Parameters
    ----------
    k1, k2 : int
        The counts.
    n1, n2 : number or Tensor
        How much was looked at for each.
    diff : number or Tensor
        The difference of the rates that they are compared with.
    alternative : str

    Returns
    -------
    SignificanceResult
    """
    n1, n2, diff = map(floating, (n1, n2, diff))
    rate = (k1 + k2) / (n1 + n2) - diff * n1 / (n1 + n2)
    if rate <= 0:
        return SignificanceResult(0.0 * rate, 0.0 * rate + 1.0)
    statistic = (k1 / n1 - k2 / n2 - diff) / np.sqrt(k1 / n1**2 + k2 / n2**2)
    means = n1 * (rate + diff), n2 * rate
    ends = [scipy.stats.poisson.ppf([1e-10, 1 - 1e-16], plain(mean)) for mean in means]
    one, other = (np.arange(low, high + 1) for low, high in ends)
    likely = [
        pmf(counts, mean, 0.0, name="poisson")
        for counts, mean in zip((one, other), means, strict=True)
    ]
    sizes = plain(n1), plain(n2)
    rates = one / sizes[0], other[:, None] / sizes[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt(rates[0] / sizes[0] + rates[1] / sizes[1])
        t = (rates[0] - rates[1] - plain(diff)) / errors
    found = plain(statistic)
    beyond = {
        "two-sided": np.absolute(t) >= np.absolute(found),
        "less": t <= found,
        "greater": t >= found,
    }[alternative]
    p = np.sum(np.where(beyond, likely[0] * likely[1][:, None], 0.0))
    return SignificanceResult(statistic, p)

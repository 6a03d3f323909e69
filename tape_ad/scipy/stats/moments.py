"""Means, variances, skewness, kurtosis and entropies of distributions, by their shape parameters.

They are those of the standard form, where they exist; where they are infinite or do not exist is
left to SciPy. Of distributions without shape parameters they are numbers, which SciPy knows.
"""

import math
from collections.abc import Callable

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import Array
from tape_ad.scipy.special.gamma_functions import polygamma
from tape_ad.scipy.special.shared import sp

__all__ = ["MOMENTS", "Moments"]

Formula = Callable[..., Array]
"""``formula(*shapes)``."""


@frozen(eq=False, repr=False)
class Moments:
    """How the moments of a distribution depend on its shape parameters.

    Attributes
    ----------
    mean, var, skew, kurtosis : Formula
        The kurtosis is 0 for a normal distribution.
    entropy : Formula, optional
    """

    mean: Formula
    var: Formula
    skew: Formula
    kurtosis: Formula
    entropy: Formula | None = None

    def of(self, letter: str) -> Formula | None:
        """Give the formula that SciPy has a letter for, and the entropy's for "e"."""
        formulas = (self.mean, self.var, self.skew, self.kurtosis, self.entropy)
        return dict(zip("mvske", formulas, strict=True))[letter]


def from_raw(raw: Callable[..., Array], entropy: Formula | None = None) -> Moments:
    """Make moments about the mean of those about 0, ``raw(n, *shapes)``."""

    def var(*shapes: Array) -> Array:
        return raw(2, *shapes) - raw(1, *shapes) ** 2

    def skew(*shapes: Array) -> Array:
        first, second, third = (raw(n, *shapes) for n in (1, 2, 3))
        return (third - 3 * first * second + 2 * first**3) / (second - first * first) ** 1.5

    def kurtosis(*shapes: Array) -> Array:
        first, second, third, fourth = (raw(n, *shapes) for n in (1, 2, 3, 4))
        about = fourth - 4 * first * third + 6 * first * first * second - 3 * first**4
        return about / (second - first * first) ** 2 - 3

    return Moments(lambda *shapes: raw(1, *shapes), var, skew, kurtosis, entropy)


def from_factorial(moment: Callable[..., Array]) -> Moments:
    """Make moments of the means of k, k (k - 1), ..., ``moment(n, *shapes)``."""

    def raw(n: int, *shapes: Array) -> Array:
        return sum(times * moment(i + 1, *shapes) for i, times in enumerate(PARTITIONS[n - 1]))

    return from_raw(raw)


PARTITIONS = ((1,), (1, 1), (1, 3, 1), (1, 7, 6, 1))
"""In how many ways 1, 2, 3 and 4 things make 1, 2, ... sets."""


def rising(x: Array, n: int) -> Array:
    """x (x + 1) ... (x + n - 1)."""
    return math.prod((x + i for i in range(n)), start=1.0)


def gamma_entropy(a: Array) -> Array:
    """The entropy of a gamma distribution."""
    return sp.digamma(a) * (1 - a) + a + sp.gammaln(a)


def beta_kurtosis(a: Array, b: Array) -> Array:
    """The kurtosis of a beta distribution."""
    n = a + b
    return 6 * ((a - b) ** 2 * (n + 1) - a * b * (n + 2)) / (a * b * (n + 2) * (n + 3))


def beta_entropy(a: Array, b: Array) -> Array:
    """The entropy of a beta distribution."""
    n = a + b
    return (
        sp.betaln(a, b)
        - (a - 1) * sp.digamma(a)
        - (b - 1) * sp.digamma(b)
        + (n - 2) * sp.digamma(n)
    )


def fisher_skew(m: Array, n: Array) -> Array:
    """The skewness of an F distribution."""
    return (2 * m + n - 2) / (n - 6) * np.sqrt(8 * (n - 4) / (m * (m + n - 2)))


def fisher_entropy(m: Array, n: Array) -> Array:
    """The entropy of an F distribution."""
    i, j = 0.5 * m, 0.5 * n
    digammas = (1 - i) * sp.digamma(i) - (1 + j) * sp.digamma(j) + (i + j) * sp.digamma(i + j)
    return np.log(n) - np.log(m) + sp.betaln(i, j) + digammas


def student_entropy(df: Array) -> Array:
    """The entropy of Student's distribution."""
    half, next_half = df / 2, (df + 1) / 2
    digammas = next_half * (sp.digamma(next_half) - sp.digamma(half))
    return digammas + 0.5 * np.log(df) + sp.betaln(half, 0.5)


def lognormal_skew(s: Array) -> Array:
    """The skewness of a lognormal distribution."""
    p = np.exp(s * s)
    return np.sqrt(np.expm1(s * s)) * (2 + p)


def lognormal_kurtosis(s: Array) -> Array:
    """The kurtosis of a lognormal distribution."""
    p = np.exp(s * s)
    return ((p + 2) * p + 3) * p * p - 6


def pareto_skew(b: Array) -> Array:
    """The skewness of a Pareto distribution."""
    return 2 * (b + 1) * np.sqrt(b - 2) / ((b - 3) * np.sqrt(b))


def pareto_kurtosis(b: Array) -> Array:
    """The kurtosis of a Pareto distribution."""
    return 6 * (((b + 1) * b - 6) * b - 2) / (b * (b - 3) * (b - 4))


def pareto_entropy(b: Array) -> Array:
    """The entropy of a Pareto distribution."""
    return 1 + 1 / b - np.log(b)


def pareto_var(b: Array) -> Array:
    """The variance of a Pareto distribution."""
    return b / (b - 2) / (b - 1) ** 2


def skewnorm_mean(a: Array) -> Array:
    """The mean of a skew normal distribution."""
    return math.sqrt(2 / math.pi) * a / np.sqrt(1 + a * a)


def skewnorm_ratio(a: Array) -> Array:
    """Its mean over its deviation."""
    mean = skewnorm_mean(a)
    return mean / np.sqrt(1 - mean * mean)


def triang_skew(c: Array) -> Array:
    """The skewness of a triangular distribution."""
    square = (1 - c + c * c) ** 1.5
    return math.sqrt(2) * (2 * c - 1) * (c + 1) * (c - 2) / (5 * square)


def genpareto_kurtosis(c: Array) -> Array:
    """The kurtosis of a generalised Pareto distribution."""
    return 3 * (1 - 2 * c) * (2 * c * c + c + 3) / (1 - 3 * c) / (1 - 4 * c) - 3


def gennorm_ratio(n: int, beta: Array) -> Array:
    """The n-th moment of a generalised normal distribution, for an even n."""
    return np.exp(sp.gammaln((n + 1) / beta) - sp.gammaln(1 / beta))


def trapezoid_moment(n: int, c: Array, d: Array) -> Array:
    """The n-th moment of a trapezoidal distribution, which rises up to c and falls from d on."""
    level = 2 / (d - c + 1)
    rise, flat = c ** (n + 1) / (n + 2), (d ** (n + 1) - c ** (n + 1)) / (n + 1)
    below = sum((i + 1) * d**i for i in range(n + 1)) / ((n + 1) * (n + 2))
    return level * (rise + flat + (1 - d) * below)


MOMENTS: dict[str, Moments] = {
    "gamma": Moments(
        lambda a: a, lambda a: a, lambda a: 2 / np.sqrt(a), lambda a: 6 / a, gamma_entropy
    ),
    "chi2": Moments(
        lambda df: df,
        lambda df: 2 * df,
        lambda df: 2 * np.sqrt(2 / df),
        lambda df: 12 / df,
        lambda df: gamma_entropy(df / 2) + math.log(2),
    ),
    "invgamma": Moments(
        lambda a: 1 / (a - 1),
        lambda a: 1 / (a - 1) ** 2 / (a - 2),
        lambda a: 4 * np.sqrt(a - 2) / (a - 3),
        lambda a: 6 * (5 * a - 11) / (a - 3) / (a - 4),
        lambda a: a - (a + 1) * sp.digamma(a) + sp.gammaln(a),
    ),
    "loggamma": Moments(
        sp.digamma,
        lambda c: polygamma(1, c),
        lambda c: polygamma(2, c) / polygamma(1, c) ** 1.5,
        lambda c: polygamma(3, c) / polygamma(1, c) ** 2,
        lambda c: sp.gammaln(c) - c * sp.digamma(c) + c,
    ),
    "beta": Moments(
        lambda a, b: a / (a + b),
        lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1)),
        lambda a, b: 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b)),
        beta_kurtosis,
        beta_entropy,
    ),
    "t": Moments(
        lambda df: 0.0 * df,
        lambda df: df / (df - 2),
        lambda df: 0.0 * df,
        lambda df: 6 / (df - 4),
        student_entropy,
    ),
    "f": Moments(
        lambda m, n: n / (n - 2) + 0.0 * m,
        lambda m, n: 2 * n * n * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4)),
        fisher_skew,
        lambda m, n: 1.5 * (8 + fisher_skew(m, n) ** 2 * (n - 6)) / (n - 8),
        fisher_entropy,
    ),
    "lognorm": Moments(
        lambda s: np.exp(0.5 * s * s),
        lambda s: np.exp(s * s) * np.expm1(s * s),
        lognormal_skew,
        lognormal_kurtosis,
        lambda s: 0.5 * (1 + math.log(2 * math.pi)) + np.log(s),
    ),
    "weibull_min": from_raw(
        lambda n, c: sp.gamma(1 + n / c),
        lambda c: -np.euler_gamma / c - np.log(c) + np.euler_gamma + 1,
    ),
    "pareto": Moments(
        lambda b: b / (b - 1), pareto_var, pareto_skew, pareto_kurtosis, pareto_entropy
    ),
    "lomax": Moments(
        lambda c: 1 / (c - 1), pareto_var, pareto_skew, pareto_kurtosis, pareto_entropy
    ),
    "powerlaw": from_raw(lambda n, a: a / (a + n), lambda a: 1 - 1 / a - np.log(a)),
    "genpareto": Moments(
        lambda c: 1 / (1 - c),
        lambda c: 1 / (1 - c) ** 2 / (1 - 2 * c),
        lambda c: 2 * (1 + c) * np.sqrt(1 - 2 * c) / (1 - 3 * c),
        genpareto_kurtosis,
        lambda c: 1 + c,
    ),
    "gennorm": Moments(
        lambda beta: 0.0 * beta,
        lambda beta: gennorm_ratio(2, beta),
        lambda beta: 0.0 * beta,
        lambda beta: gennorm_ratio(4, beta) / gennorm_ratio(2, beta) ** 2 - 3,
        lambda beta: 1 / beta - np.log(0.5 * beta) + sp.gammaln(1 / beta),
    ),
    "skewnorm": Moments(
        skewnorm_mean,
        lambda a: 1 - skewnorm_mean(a) ** 2,
        lambda a: (4 - math.pi) / 2 * skewnorm_ratio(a) ** 3,
        lambda a: 2 * (math.pi - 3) * skewnorm_ratio(a) ** 4,
    ),
    "triang": Moments(
        lambda c: (c + 1) / 3,
        lambda c: (1 - c + c * c) / 18,
        triang_skew,
        lambda c: -0.6 + 0.0 * c,
        lambda c: 0.5 - math.log(2) + 0.0 * c,
    ),
    "trapezoid": from_raw(
        trapezoid_moment, lambda c, d: 0.5 * (1 - d + c) / (1 + d - c) + np.log(0.5 * (1 + d - c))
    ),
    "pearson3": Moments(
        lambda skew: 0.0 * skew,
        lambda skew: 0.0 * skew + 1.0,
        lambda skew: skew,
        lambda skew: 1.5 * skew * skew,
        lambda skew: gamma_entropy(4 / (skew * skew)) + np.log(0.5 * np.absolute(skew)),
    ),
    "fisk": from_raw(lambda n, c: sp.beta(1 - n / c, 1 + n / c)),
    "burr": from_raw(lambda n, c, d: d * sp.beta(d + n / c, 1 - n / c)),
    "burr12": from_raw(lambda n, c, d: d * sp.beta(d - n / c, 1 + n / c)),
    "mielke": from_raw(lambda n, k, s: k / s * sp.beta((k + n) / s, 1 - n / s)),
    "invweibull": from_raw(
        lambda n, c: sp.gamma(1 - n / c),
        lambda c: 1 + np.euler_gamma * (1 + 1 / c) - np.log(c),
    ),
    "betaprime": from_raw(lambda n, a, b: rising(a, n) / rising(b - n, n)),
    "loglaplace": from_raw(lambda n, c: c * c / ((c - n) * (c + n))),
    "yulesimon": from_factorial(
        lambda n, alpha: alpha * math.factorial(n) * math.factorial(n - 1) / rising(alpha - n, n)
    ),
    "zipf": from_raw(lambda n, a: sp.zeta(a - n, 1.0) / sp.zeta(a, 1.0)),
    "betanbinom": from_factorial(lambda r, n, a, b: rising(n, r) * rising(b, r) / rising(a - r, r)),
    "invgauss": Moments(
        lambda mu: mu, lambda mu: mu**3, lambda mu: 3 * np.sqrt(mu), lambda mu: 15 * mu
    ),
    "bernoulli": Moments(
        lambda p: p,
        lambda p: p * (1 - p),
        lambda p: (1 - 2 * p) / np.sqrt(p * (1 - p)),
        lambda p: 1 / (p * (1 - p)) - 6,
        lambda p: sp.entr(p) + sp.entr(1 - p),
    ),
    "binom": Moments(
        lambda n, p: n * p,
        lambda n, p: n * p * (1 - p),
        lambda n, p: (1 - 2 * p) / np.sqrt(n * p * (1 - p)),
        lambda n, p: (1 - 6 * p * (1 - p)) / (n * p * (1 - p)),
    ),
    "poisson": Moments(lambda mu: mu, lambda mu: mu, lambda mu: 1 / np.sqrt(mu), lambda mu: 1 / mu),
    "geom": Moments(
        lambda p: 1 / p,
        lambda p: (1 - p) / p / p,
        lambda p: (2 - p) / np.sqrt(1 - p),
        lambda p: 6 + p * p / (1 - p),
    ),
    "nbinom": Moments(
        lambda n, p: n * (1 - p) / p,
        lambda n, p: n * (1 - p) / p**2,
        lambda n, p: (2 - p) / np.sqrt(n * (1 - p)),
        lambda n, p: 6 / n + p * p / (n * (1 - p)),
    ),
}
"""The moments by SciPy's names of the distributions; shapes stand in SciPy's order."""

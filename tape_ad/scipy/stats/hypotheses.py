"""Tests of hypotheses on samples, along their last axis: statistics and p-values."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, within
from tape_ad.extend.rules import Derivation
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.descriptive import central_moment, kurtosis, skew, trim_mean
from tape_ad.scipy.stats.families import log_root
from tape_ad.scipy.stats.results import (
    LinregressResult,
    OutcomeResult,
    PearsonRResult,
    SignificanceResult,
    TtestResult,
)
from tape_ad.scipy.stats.samples import (
    Table,
    as_scipys,
    floating,
    of_samples,
    primal,
    taken_over,
)
from tape_ad.scipy.stats.tails import PAIR, Pair, two_tailed, upper_tail

__all__ = ["HYPOTHESES", "RESULTS"]


Triple = tuple[Array, Array, Array]
"""A t statistic, its p-value and the degrees of freedom."""

Student = tuple[Array, Array, Array, Array, Array]
"""The same, with what the mean or the difference is, and its standard error."""


def by_student(statistic: Array, df: Array, alternative: str) -> Triple:
    """A statistic of Student's distribution, with its p-value."""
    return statistic, two_tailed(statistic, alternative, "t", df), df


def resampled(name: str, *samples: Array, **options: Any) -> Array:
    """The p-value by resampling, which is a share of so many samples and so piecewise constant."""
    function = getattr(scipy.stats, name)
    pvalue: Array = function(*map(primal, samples), axis=-1, **options).pvalue
    return pvalue


# Student's tests


def variance(a: Array) -> Array:
    """The variance of a sample's parent."""
    return np.var(a, axis=-1, ddof=1)


def ttest_1samp(a: Array, popmean: Any = 0.0, alternative: str = "two-sided") -> Student:
    """Compare the mean of a sample with a number."""
    n = a.shape[-1]
    if popmean.ndim and popmean.shape[-1] != 1:
        raise ValueError("`popmean.shape[axis]` must equal 1.")
    popmean = popmean[..., 0] if popmean.ndim else popmean
    middle = np.mean(a, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(variance(a) / n)
        statistic = (middle - popmean) / error
    return (*by_student(statistic, np.float64(n - 1), alternative), middle, error)


def ttest_rel(a: Array, b: Array, alternative: str = "two-sided") -> Student:
    """Compare the means of two samples in pairs."""
    return ttest_1samp(a - b, np.zeros(()), alternative)


def compared_means(
    means: tuple[Array, Array],
    variances: tuple[Array, Array],
    counts: tuple[Any, Any],
    equal_var: bool,
    alternative: str,
) -> Student:
    """Compare two means, of one variance or of two."""
    (v1, v2), (n1, n2) = variances, counts
    if equal_var:
        df: Any = n1 + n2 - 2.0
        v1, v2 = (np.where(np.equal(n, 1), 0.0, v) for v, n in ((v1, n1), (v2, n2)))
        pooled = ((n1 - 1) * v1 + (n2 - 1) * v2) / df
        error = np.sqrt(pooled * (1.0 / n1 + 1.0 / n2))
    else:
        w1, w2 = v1 / n1, v2 / n2
        df = (w1 + w2) ** 2 / (w1**2 / (n1 - 1) + w2**2 / (n2 - 1))
        error = np.sqrt(w1 + w2)
    estimate = means[0] - means[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return (*by_student(estimate / error, df, alternative), estimate, error)


def without_ends(x: Array, proportion: float) -> Array:
    """Sort a sample and leave out a proportion of it at each end."""
    cut = int(proportion * x.shape[-1])
    return np.sort(x, axis=-1)[..., cut : x.shape[-1] - cut]


def trimmed(x: Array, trim: float) -> tuple[Array, Array, int]:
    """The mean, variance and size of a sample without a proportion at its ends; Yuen 1974."""
    middle, cut = without_ends(x, trim), int(trim * x.shape[-1])
    ends = [np.repeat(middle[..., i : i + 1], cut, axis=-1) for i in (0, middle.shape[-1] - 1)]
    filled = np.concatenate([ends[0], middle, ends[1]], axis=-1)
    kept = np.where(np.any(np.isnan(x), axis=-1), np.nan, 1.0)  # sorting takes nan to an end
    mean, var = np.mean(middle, axis=-1), np.var(filled, axis=-1, ddof=2 * cut + 1)
    return mean * kept, var, middle.shape[-1]


def ttest_ind(
    a: Array,
    b: Array,
    equal_var: bool = True,
    alternative: str = "two-sided",
    trim: float = 0,
    method: Any = None,
) -> Student:
    """Compare the means of two samples, or Yuen's trimmed ones."""
    if not 0 <= trim < 0.5:
        raise ValueError("Trimming percentage should be 0 <= `trim` < .5.")
    if trim:
        means, variances, counts = zip(trimmed(a, trim), trimmed(b, trim), strict=True)
    else:
        means, variances = (np.mean(a, axis=-1), np.mean(b, axis=-1)), (variance(a), variance(b))
        counts = a.shape[-1], b.shape[-1]
    parts = compared_means(means, variances, counts, equal_var, alternative)
    if method is None:
        return parts
    options = {"equal_var": equal_var, "alternative": alternative, "trim": trim}
    return (parts[0], resampled("ttest_ind", a, b, method=method, **options), *parts[2:])


def ttest_ind_from_stats(
    mean1: Any,
    std1: Any,
    nobs1: Any,
    mean2: Any,
    std2: Any,
    nobs2: Any,
    equal_var: bool = True,
    alternative: str = "two-sided",
) -> Any:
    """Compare two means, given with their deviations and numbers."""
    mean1, std1, nobs1, mean2, std2, nobs2 = map(floating, (mean1, std1, nobs1, mean2, std2, nobs2))
    means, variances = (mean1, mean2), (std1**2, std2**2)
    result = compared_means(means, variances, (nobs1, nobs2), equal_var, alternative)[:2]
    given = (mean1, std1, nobs1, mean2, std2, nobs2)
    return as_scipys(from_stats, (), given, True, result, {})


# Correlations and lines


def correlation(x: Array, y: Array) -> Array:
    """Pearson's correlation coefficient of the two samples."""
    x, y = x - np.mean(x, axis=-1, keepdims=True), y - np.mean(y, axis=-1, keepdims=True)
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return within(np.sum(x * y, axis=-1), -1.0, 1.0)


def pearsonr(x: Array, y: Array, alternative: str = "two-sided", method: Any = None) -> Triple:
    """Pearson's correlation coefficient; its p-value by a beta distribution on (-1, 1)."""
    r, n = correlation(x, y), x.shape[-1]
    count = np.float64(n)
    if method is not None:
        return (r, resampled("pearsonr", x, y, alternative=alternative, method=method), count)
    if n == 2:
        return (np.round(r), np.ones(np.shape(r)), count)
    half = n / 2 - 1
    p = two_tailed(r, alternative, "beta", half, half, loc=-1.0, scale=2.0)
    return (r, p, count)


def pointbiserialr(x: Array, y: Array) -> Pair:
    """Pearson's correlation coefficient where one of two is 0 or 1."""
    return pearsonr(x, y)[:2]


def linregress(x: Array, y: Array, alternative: str = "two-sided") -> tuple[Array, ...]:
    """A line through points by least squares."""
    n = x.shape[-1]
    if n < 3:
        raise UnsupportedArgumentError(
            "scipy.stats.linregress: two points leave no error, so on handles it takes three and "
            "more; write the slope as (y[1] - y[0]) / (x[1] - x[0])"
        )
    x_mean, y_mean = np.mean(x, axis=-1), np.mean(y, axis=-1)
    dx, dy = x - np.mean(x, axis=-1, keepdims=True), y - np.mean(y, axis=-1, keepdims=True)
    xx, xy = np.mean(dx * dx, axis=-1), np.mean(dx * dy, axis=-1)
    yy = np.mean(dy * dy, axis=-1)
    r = within(xy / np.sqrt(xx * yy), -1.0, 1.0)
    tiny = 1e-20  # as SciPy has it, for points on a line
    t = r * np.sqrt((n - 2) / ((1.0 - r + tiny) * (1.0 + r + tiny)))
    slope = xy / xx
    stderr = np.sqrt((1 - r**2) * yy / xx / (n - 2))
    p = by_student(t, np.float64(n - 2), alternative)[1]
    intercept_stderr = stderr * np.sqrt(xx + x_mean**2)
    return (slope, y_mean - slope * x_mean, r, p, stderr, intercept_stderr)


# Variances, shapes and frequencies


def f_oneway(*samples: Array, equal_var: bool = True) -> Pair:
    """Compare the means of several samples by their variances; of unequal ones by Welch 1951."""
    counts = [x.shape[-1] for x in samples]
    total, groups = sum(counts), len(samples)
    if not equal_var:
        return by_weights(samples, counts)
    offset = np.mean(np.concatenate(samples, axis=-1), axis=-1, keepdims=True)
    between: Any = 0.0
    inside: Any = 0.0
    for x, n in zip(samples, counts, strict=True):
        between = between + n * np.mean(x - offset, axis=-1) ** 2
        inside = inside + n * central_moment(x, 2)
    f = (between / (groups - 1)) / (inside / (total - groups))
    return (f, upper_tail(f, "f", groups - 1, total - groups))


def by_weights(samples: Sequence[Array], counts: Sequence[int]) -> Pair:
    """Compare the means of several samples, each weighed by its variance."""
    groups = len(samples)
    free = np.reshape(np.array(counts, float) - 1, (-1, *(1,) * (samples[0].ndim - 1)))
    means = np.stack([np.mean(x, axis=-1) for x in samples])
    weights = np.stack([n / variance(x) for x, n in zip(samples, counts, strict=True)])
    total = np.sum(weights, axis=0)
    middle = np.sum(weights * means, axis=0) / total
    between = np.sum(weights * (means - middle) ** 2, axis=0) / (groups - 1)
    spread = np.sum((1 - weights / total) ** 2 / free, axis=0)
    f = between / (1 + 2 * (groups - 2) / (groups**2 - 1) * spread)
    return (f, upper_tail(f, "f", np.float64(groups - 1), (groups**2 - 1) / (3 * spread)))


def levene(*samples: Array, center: str = "median", proportiontocut: float = 0.05) -> Pair:
    """Compare the spreads of several samples by the distances from their centres."""
    middles: dict[str, Callable[[Array], Array]] = {
        "median": lambda x: np.median(x, axis=-1),
        "mean": lambda x: np.mean(x, axis=-1),
        "trimmed": lambda x: trim_mean(x, proportiontocut),
    }
    if center not in middles:
        raise ValueError("center must be 'mean', 'median' or 'trimmed'.")
    if len(samples) < 2:
        raise ValueError("Must provide at least two samples.")
    middle = middles[center]
    if center == "trimmed" and cuts_samples():
        samples = tuple(without_ends(x, proportiontocut) for x in samples)
        middle = middles["mean"]
    return f_oneway(*(np.absolute(x - np.expand_dims(middle(x), -1)) for x in samples))


@functools.cache
def cuts_samples() -> bool:
    """Tell whether this SciPy leaves out of the samples what it leaves out of their means."""
    one, other = np.array([[0.0, 1.0, 2.5, 3.5, 6.0, 9.0], [0.0, 2.0, 2.5, 4.5, 5.0, 7.0]])
    found = scipy.stats.levene(one, other, center="trimmed", proportiontocut=0.2)
    cut = scipy.stats.levene(one[1:5], other[1:5], center="mean")
    return bool(np.isclose(found.statistic, cut.statistic))


def alexandergovern(*samples: Array) -> Pair:
    """Compare the means of several samples of different variances; Alexander & Govern 1994."""
    if len(samples) < 2:
        raise TypeError(f"2 or more inputs required, got {len(samples)}")
    means = np.stack(np.broadcast_arrays(*(np.mean(x, axis=-1) for x in samples)))
    squares = np.stack(np.broadcast_arrays(*(variance(x) / x.shape[-1] for x in samples)))
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(squares)
        alike = np.less_equal(errors, np.absolute(np.finfo(errors.dtype).eps * means))
        weights = 1 / squares
        weights = weights / np.sum(weights, axis=0, keepdims=True)
        t = (means - np.sum(weights * means, axis=0, keepdims=True)) / errors
        t = t * np.where(alike, np.nan, np.ones((), t.dtype))
    free = np.array([x.shape[-1] - 1 for x in samples], t.dtype)
    free = np.reshape(free, (-1, *(1,) * (t.ndim - 1)))
    # SciPy takes the root of c squared, which has no slope where a mean is the common one; there
    # is one factor of t in it, and z is an odd function of it
    ratio = t / np.sqrt(free)
    c = ratio * np.sqrt((free - 0.5) * log_share(ratio * ratio))
    b = 48 * (free - 0.5) ** 2
    high = (4 * c**7 + 33 * c**5 + 240 * c**3 + 855 * c) / (b**2 * 10 + 8 * b * c**4 + 1000 * b)
    z = c + (c**3 + 3 * c) / b - high
    statistic = np.sum(z * z, axis=0)
    return (statistic, upper_tail(statistic, "chi2", np.float64(len(samples) - 1)))


def log_share(x: Array) -> Array:
    """log(1 + x) / x, which is 1 at 0."""
    return log_root(np.ones(()), x)


def bartlett(*samples: Array) -> Pair:
    """Compare the variances of several normal samples."""
    free = [x.shape[-1] - 1.0 for x in samples]
    variances = [variance(x) for x in samples]
    total, k = sum(free), len(samples)
    pairs = list(zip(free, variances, strict=True))
    pooled = sum(n * v for n, v in pairs) / total
    numerator = total * np.log(pooled) - sum(n * np.log(v) for n, v in pairs)
    statistic = numerator / (1.0 + (sum(1.0 / n for n in free) - 1.0 / total) / (3.0 * (k - 1)))
    return (statistic, upper_tail(statistic, "chi2", k - 1))


def skewtest(a: Array, alternative: str = "two-sided") -> Pair:
    """Compare the skewness with that of a normal distribution; D'Agostino 1970."""
    n = float(a.shape[-1])
    y = skew(a) * math.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    y = np.where(np.equal(y, 0), 1.0, y)  # as SciPy has it, which gives no 0 there
    beta = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
    beta = beta / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    w = -1 + math.sqrt(2 * (beta - 1))
    z = np.arcsinh(y / math.sqrt(2.0 / (w - 1))) / math.sqrt(0.5 * math.log(w))
    return (z, two_tailed(z, alternative, "norm"))


def kurtosistest(a: Array, alternative: str = "two-sided") -> Pair:
    """Compare the kurtosis with that of a normal distribution; Anscombe & Glynn 1983."""
    n = float(a.shape[-1])
    spread = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1.0) * (n + 3) * (n + 5))
    x = (kurtosis(a, fisher=False) - 3.0 * (n - 1) / (n + 1)) / spread**0.5
    root = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    root = root * ((6.0 * (n + 3) * (n + 5)) / (n * (n - 2) * (n - 3))) ** 0.5
    a6 = 6.0 + 8.0 / root * (2.0 / root + (1 + 4.0 / (root**2)) ** 0.5)
    denominator = 1 + x * (2 / (a6 - 4.0)) ** 0.5
    cube = np.sign(denominator) * np.cbrt((1 - 2.0 / a6) / np.absolute(denominator))
    z = (1 - 2 / (9.0 * a6) - cube) / (2 / (9.0 * a6)) ** 0.5
    return (z, two_tailed(z, alternative, "norm"))


def normaltest(a: Array) -> Pair:
    """Compare skewness and kurtosis with those of a normal distribution."""
    statistic = skewtest(a)[0] ** 2 + kurtosistest(a)[0] ** 2
    return (statistic, upper_tail(statistic, "chi2", 2.0))


def jarque_bera(x: Array) -> Pair:
    """Compare skewness and kurtosis with those of a normal distribution, for large samples."""
    statistic = x.shape[-1] / 6 * (skew(x) ** 2 + kurtosis(x) ** 2 / 4)
    return (statistic, upper_tail(statistic, "chi2", 2.0))


STUDENT = (*PAIR, "df", "_estimate", "_standard_error")
LINE = ("slope", "intercept", "rvalue", "pvalue", "stderr", "intercept_stderr")

from_stats = taken_over("ttest_ind_from_stats", PAIR)

HYPOTHESES: Table = {
    **dict(
        of_samples(compute.__name__, compute, samples, fields)
        for (samples, fields), computes in {
            ("a popmean", STUDENT): (ttest_1samp,),
            ("a b", STUDENT): (ttest_ind, ttest_rel),
            ("x y", (*PAIR, "_n")): (pearsonr,),
            ("x y", PAIR): (pointbiserialr,),
            ("x y", LINE): (linregress,),
            ("samples", PAIR): (f_oneway, alexandergovern, bartlett, levene),
            ("a", PAIR): (skewtest, kurtosistest, normaltest),
            ("x", PAIR): (jarque_bera,),
        }.items()
        for compute in computes
    ),
    from_stats: Derivation(ttest_ind_from_stats),
}
"""The tests by SciPy's functions."""

RESULTS: dict[str, Callable[..., Any]] = {
    **{function.__name__: SignificanceResult for function in HYPOTHESES},
    **dict.fromkeys(("ttest_1samp", "ttest_ind", "ttest_rel"), TtestResult),
    "pearsonr": PearsonRResult,
    "linregress": LinregressResult,
    "alexandergovern": OutcomeResult,
}
"""What is made of the parts that they give."""

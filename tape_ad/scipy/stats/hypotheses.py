"""Tests of hypotheses, and lines through points: the steps of SciPy's code that are ours.

SciPy's own code does the rest. These have a derivative where SciPy's have none, or no derivative
that is theirs; and results with intervals, for confidence levels that may be handles too. What is
resampled is counted, so that p-values of resampling are piecewise constant; statistics are handles.
"""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from attrs import define, field, frozen

from tape_ad import stop_gradient
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import (
    Array,
    Shape,
    any_handle,
    array_of,
    joined,
    plain,
    primal,
    refuse_handles,
)
from tape_ad.extend.packages import copied
from tape_ad.extend.patterns import dense
from tape_ad.extend.rules import Entry, arguments_of, constants, overridable, rule, takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for, unwrapped
from tape_ad.scipy.stats.families import log_root
from tape_ad.scipy.stats.methods import ppf, sf
from tape_ad.scipy.stats.samples import ConfidenceInterval, as_told, floating, floats

__all__ = ["monte_carlo_test", "permutation_test", "tukey_hsd", "weightedtau"]


@stands_for(scipy.stats._stats_pythran.siegelslopes)
def siegelslopes(y: Array, x: Array, method: str) -> tuple[Array, Array]:
    """The median of the medians of the slopes from each point; Siegel 1982."""
    dx, dy = x[:, None] - x, y[:, None] - y
    apart = np.not_equal(dx, 0)
    slope = np.median(medians(dy, dx, apart))
    if method == "hierarchical":
        return (slope, np.median(y - slope * x))
    return (slope, np.median(medians(y * x[:, None] - y[:, None] * x, dx, apart)))


def medians(numerators: Array, denominators: Array, apart: Any) -> Array:
    """The median of the quotients in each row, without those by zero."""
    counts = np.sum(apart, axis=1)
    if np.all(counts == counts[0]):
        shape = (len(counts), -1)
        return np.median(np.reshape(numerators[apart] / denominators[apart], shape), axis=1)
    rows = zip(numerators, denominators, apart, strict=True)
    return np.stack([np.median(one[here] / other[here]) for one, other, here in rows])


@stands_for(unwrapped(scipy.stats.alexandergovern))
def alexandergovern(*samples: Any, nan_policy: str = "propagate", axis: int = 0) -> Any:
    """Compare the means of several samples of different variances; Alexander & Govern 1994.

    SciPy takes the root of c squared, which has no slope where a mean is the common one; there is
    one factor of t in it, and z is an odd function of it.
    """
    if len(samples) < 2:
        raise TypeError(f"2 or more inputs required, got {len(samples)}")
    arrays = [np.moveaxis(x, axis, -1) for x in floats(samples)]
    means = np.stack(np.broadcast_arrays(*(np.mean(x, axis=-1) for x in arrays)))
    squares = np.stack(
        np.broadcast_arrays(*(np.var(x, axis=-1, ddof=1) / x.shape[-1] for x in arrays))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(squares)
        alike = np.less_equal(errors, np.absolute(np.finfo(errors.dtype).eps * means))
        weights = 1 / squares
        weights = weights / np.sum(weights, axis=0, keepdims=True)
        t = (means - np.sum(weights * means, axis=0, keepdims=True)) / errors
        t = t * np.where(alike, np.nan, np.ones((), t.dtype))
    free = np.array([x.shape[-1] - 1 for x in arrays], t.dtype)
    free = np.reshape(free, (-1, *(1,) * (t.ndim - 1)))
    ratio = t / np.sqrt(free)
    c = ratio * np.sqrt((free - 0.5) * log_root(np.ones((), ratio.dtype), ratio * ratio))
    b = 48 * (free - 0.5) ** 2
    high = (4 * c**7 + 33 * c**5 + 240 * c**3 + 855 * c) / (b**2 * 10 + 8 * b * c**4 + 1000 * b)
    z = c + (c**3 + 3 * c) / b - high
    statistic = np.sum(z * z, axis=0)
    p = sf(statistic, np.float64(len(samples) - 1), 0.0, 1.0, name="chi2")
    return scipy.stats._stats_py.AlexanderGovernResult(statistic, p.astype(statistic.dtype))


# How well a sample fits a distribution, or another one: Shapiro & Wilk


def polynomial(coefficients: tuple[float, ...], x: float) -> float:
    """A polynomial by its coefficients, the constant one first."""
    return float(np.polynomial.polynomial.polyval(x, coefficients))


@overridable
def compared_by_scipy(y: Array, weights: Array, init: Any) -> tuple[Array, float, float, int]:
    """Give half of the weights, which SciPy fills in, and what it makes of a sorted sample."""
    weights = weights.copy()
    return weights, *scipy.stats._ansari_swilk_statistics.swilk(y.copy(), weights, init)


@stands_for(scipy.stats._ansari_swilk_statistics.swilk)
def swilk(y: Array, a: Any, init: Any) -> tuple[Array, Array, int]:
    """Compare a sorted sample with a normal one, by how its order fits to its variance."""
    half, value, chance, fault = compared_by_scipy(primal(y), np.array(plain(a)), init)
    statistic, p = fit_to_normal(y, np.concatenate([-half, np.zeros(len(y) % 2), half[::-1]]))
    return as_told(statistic, value), as_told(p, chance), fault


def fit_to_normal(x: Array, weights: Any) -> tuple[Array, Array]:
    """The statistic of Shapiro & Wilk 1965, and Royston's p-value."""
    n = x.shape[-1]
    y = x - np.mean(x, axis=-1, keepdims=True)
    weights = weights / math.sqrt(np.sum(weights * weights))
    size = np.sqrt(np.sum(y * y, axis=-1))
    product = np.sum(weights * y, axis=-1)
    missing = (size - product) * (size + product) / (size * size)
    statistic = 1 - missing
    if n == 3:
        share = 6 / math.pi * (np.arcsin(np.sqrt(statistic)) - math.asin(math.sqrt(0.75)))
        return (statistic, np.maximum(share, 0.0))
    logarithm, log_n = np.log(missing), math.log(n)
    if n <= 11:
        bound = polynomial((-2.273, 0.459), n)
        over = np.greater_equal(logarithm, bound)
        logarithm = -np.log(np.where(over, 1.0, bound - logarithm))
        middle = polynomial((0.544, -0.39978, 0.025054, -6.714e-4), n)
        spread = math.exp(polynomial((1.3822, -0.77857, 0.062767, -0.0020322), n))
    else:
        over = np.False_
        middle = polynomial((-1.5861, -0.31082, -0.083751, 0.0038915), log_n)
        spread = math.exp(polynomial((-0.4803, -0.082676, 0.0030302), log_n))
    return (statistic, np.where(over, 1e-99, sp.ndtr(-(logarithm - middle) / spread)))


# Epps & Singleton


@functools.cache
def compares_in_double() -> bool:
    """Tell whether this release computes the statistic in double precision, of whatever samples."""
    sample = np.array([0.1, 0.5, 0.2, 0.9, 0.3, 0.4], np.float32)
    return bool(scipy.stats.epps_singleton_2samp(sample, sample**2)[0].dtype == np.float64)


@stands_for(unwrapped(scipy.stats.epps_singleton_2samp))
def epps_singleton_2samp(x: Any, y: Any, t: Any = (0.4, 0.8), *, axis: int = 0) -> Any:
    """Compare two samples by their characteristic functions.

    SciPy computes with the pseudoinverse of a covariance, which loses digits in single precision.
    """
    x, y = (np.moveaxis(each, axis, -1) for each in floats((x, y)))
    t = np.asarray(t, x.dtype) if not takes_over(type(t)) else t
    if t.ndim > 1 or np.any(t <= 0):
        raise ValueError("t must be 1d, and contain positive elements only.")
    sizes = nx, ny = x.shape[-1], y.shape[-1]
    n = nx + ny
    lead = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    x, y = (np.broadcast_to(each, (*lead, each.shape[-1])) for each in (x, y))
    both = np.concatenate([x, y], axis=-1)
    half = (np.percentile(both, 75, axis=-1) - np.percentile(both, 25, axis=-1)) / 2
    points = t / np.expand_dims(half, -1)
    waves, means = [], []
    for sample in (x, y):
        angles = points[..., :, None] * sample[..., None, :]
        wave = np.concatenate([np.cos(angles), np.sin(angles)], axis=-2)
        means.append(np.mean(wave, axis=-1))
        waves.append(wave - means[-1][..., None])
    spread = sum(
        n / size * (np.matmul(wave, np.swapaxes(wave, -1, -2)) * (1 / size))
        for size, wave in zip(sizes, waves, strict=True)
    )
    if np.any(np.linalg.matrix_rank(primal(spread)) < 2 * t.size):
        raise UnsupportedArgumentError(
            "scipy.stats.epps_singleton_2samp: the estimated covariance is singular at these t=, "
            "and has no derivative; choose others"
        )
    difference = means[0] - means[1]
    solved = np.linalg.solve(spread, difference[..., None])[..., 0]
    statistic = n * np.sum(difference * solved, axis=-1)
    if max(sizes) < 25:
        statistic = statistic * (1.0 / (1.0 + n**-0.45 + 10.1 * (nx**-1.7 + ny**-1.7)))
    if compares_in_double():
        statistic = statistic.astype(np.float64)
    result = scipy.stats._hypotests.Epps_Singleton_2sampResult
    p = sf(statistic, 2.0 * t.size, 0.0, 1.0, name="chi2")
    return result(statistic, p.astype(statistic.dtype))


@stands_for(scipy.stats._morestats._get_As_weibull)
def critical_values_of_weibull(c: Any) -> Any:
    """Look up the critical values for a shape, which SciPy rounds."""
    return scipy.stats._morestats._get_As_weibull(primal(c))


# The entropy of shares, and how far frequencies are from what is expected


def unit_of(shares: Array, axis: int) -> Array:
    """What numbers add up to, without a slope: what is computed by it depends on none."""
    return stop_gradient(np.sum(shares, axis=axis, keepdims=True))


def moving_one(shares: Array, axis: int) -> Array:
    """Make 1 of what shares add up to, with its slopes: so that values have SciPy's own bits."""
    sums = np.sum(shares, axis=axis)
    return sums - stop_gradient(sums) + np.ones((), sums.dtype)


@stands_for(unwrapped(scipy.stats.entropy))
def entropy(pk: Any, qk: Any = None, base: Any = None, axis: int = 0) -> Array:
    """The entropy of shares, or what they have over others.

    Of numbers x that need not add up to 1 it is sum(entr(x)) / sum(x) + log(sum(x)). So a share
    of 0, whose own slope is inf, gives the others theirs, where slopes of x / sum(x) would not.
    """
    if base is not None and not any_handle(base) and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    pk, *others = floats((pk,) if qk is None else (pk, qk))
    with np.errstate(invalid="ignore", divide="ignore"):
        pk = pk / unit_of(pk, axis)
        sums, logarithm = moving_one(pk, axis), 0.0
        if others:
            qk = others[0] / unit_of(others[0], axis)
            logarithm = np.log(moving_one(qk, axis))
        terms = sp.rel_entr(pk, qk) if others else sp.entr(pk)
        total = np.sum(terms, axis=axis)
        if pk.shape[axis]:
            logarithm = logarithm - np.log(sums)
            total = total / sums + (logarithm if others else -logarithm)
    if base is None:
        return total
    return total / (np.log(base) if any_handle(base) or in_double() else math.log(base))


@functools.cache
def in_double() -> bool:
    """Tell whether this release gives double precision where there is a base."""
    halves = np.array([0.5, 0.5], np.float32)
    return bool(scipy.stats.entropy(halves, base=2).dtype == np.float64)


of_fixed_power = copied(unwrapped(scipy.stats.power_divergence))


@stands_for(unwrapped(scipy.stats.power_divergence))
def power_divergence(
    f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0, lambda_: Any = None
) -> Any:
    """Compare frequencies with those that are expected; Cressie & Read 1984.

    SciPy has formulas of their own for some powers, in which there is no power.
    """
    if not any_handle(lambda_) or not np.any(np.isin(primal(lambda_), (-1, 0, 1))):
        return of_fixed_power(f_obs, f_exp, ddof, axis, lambda_)
    if primal(lambda_) != 1:
        raise UnsupportedArgumentError(
            "scipy.stats.power_divergence: lambda_= is a handle, and exactly one of 0, -1, where "
            "the formula is a limit of which the slope is not computed; pass a plain number, or a "
            "slightly different one"
        )
    told = of_fixed_power(f_obs, f_exp, ddof, axis, 1)
    expected = np.mean(f_obs, axis=axis, keepdims=True) if f_exp is None else f_exp
    terms = f_obs * ((f_obs / expected) ** lambda_ - 1) / (0.5 * lambda_ * (lambda_ + 1))
    statistic = np.sum(terms, axis=axis)
    df = np.size(primal(f_obs)) // np.size(primal(statistic)) - 1 - ddof
    return type(told)(statistic, sf(statistic, df, 0.0, 1.0, name="chi2"))


# Groups of samples


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
    _groups: Any = field(repr=False)
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
        return sf(t, self._groups, self._df, 0.0, 1.0, name="studentized_range")

    def confidence_interval(self, confidence_level: Any = 0.95) -> ConfidenceInterval:
        """Give the bounds of the differences.

        Parameters
        ----------
        confidence_level : number or Tensor, between 0 and 1
        """
        if not 0 < confidence_level < 1:
            raise ValueError("Confidence level must be between 0 and 1.")
        reach = ppf(confidence_level, self._groups, self._df, 0.0, 1.0, name="studentized_range")
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
    arrays = [floating(array_of(x)) for x in args]
    sizes = np.array([x.shape[0] for x in arrays])
    means = np.stack([np.mean(x) for x in arrays])
    variances = np.stack([np.var(x, ddof=1) if x.size > 1 else 0.0 * x[0] for x in arrays])
    groups, total = np.float64(len(args)), int(np.sum(sizes))
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


THEIRS = scipy.stats._multicomp._pvalue_dunnett


@overridable
def likelihoods(statistic: Array, rho: Any, df: int, alternative: str, rng: Any) -> Array:
    """Integrate at random points how likely statistics of Dunnett's are."""
    return THEIRS(rho, df, statistic, alternative, rng)


@stands_for(THEIRS)
def pvalue_of_dunnett(
    rho: Any, df: int, statistic: Array, alternative: str, rng: Any = None
) -> Array:
    """Give values without a derivative, which is refused where it is asked for."""
    return likelihoods(statistic, rho, df, alternative, rng)


@define(eq=False, repr=False)
class Undefined:
    """What stands for the derivative of numbers that are drawn: there is none."""

    pattern = dense
    shape: Shape
    parent: Shape

    def push(self, t: Array) -> Array:
        """Give no number; all that is computed forward meets what nobody asks for."""
        return np.full((*t.shape[: t.ndim - len(self.parent)], *self.shape), np.nan)

    def pull(self, ct: Array) -> NoReturn:
        raise UnsupportedArgumentError(
            "scipy.stats.dunnett: pvalue is integrated at random points, and has no derivative "
            "here; ask for it with .data of the samples"
        )


TESTS: dict[Any, Entry] = {
    likelihoods: rule(
        lambda out, statistic, **options: Undefined(out.shape, statistic.shape),
        signature=arguments_of(likelihoods, "statistic"),
    ),
    **constants(compared_by_scipy),
}


# Resampling


@frozen(eq=False)
class ResamplingResult:
    """A statistic of samples, beside those of others.

    Attributes
    ----------
    statistic : Tensor
    pvalue : number or array
    """

    statistic: Any
    pvalue: Any
    _others: Any = field(repr=False)

    @property
    def null_distribution(self) -> Any:
        """The statistics of the resampled data.

        Raises
        ------
        UnsupportedArgumentError
            Where they are made of handles.
        """
        if self._others is None:
            raise UnsupportedArgumentError(
                "scipy.stats.permutation_test: there are no derivatives of null_distribution; ask "
                "for it with .data of the samples"
            )
        return self._others


def observed(statistic: Callable[..., Any], data: Sequence[Any], vectorized: Any, axis: int) -> Any:
    """Compute the statistic of samples as they are."""
    samples = [array_of(x) for x in data]
    if vectorized is None:
        vectorized = "axis" in inspect.signature(statistic).parameters
    if vectorized:
        return statistic(*(np.moveaxis(x, axis, -1) for x in samples), axis=-1)
    if any(x.ndim > 1 for x in samples):
        raise UnsupportedArgumentError(
            "scipy.stats: on handles with several axes the statistic has to take axis="
        )
    return statistic(*samples)


def permutation_test(data: Any, statistic: Callable[..., Any], **options: Any) -> Any:
    """Compare a statistic with those of permuted samples; see `scipy.stats.permutation_test`.

    Parameters
    ----------
    data : sequence of array or Tensor
    statistic : callable
        Of NumPy functions, as it is called with the handles.
    **options
        See SciPy's.

    Returns
    -------
    ResamplingResult
    """
    return resampled(scipy.stats.permutation_test, data, (statistic,), options)


def monte_carlo_test(data: Any, rvs: Any, statistic: Callable[..., Any], **options: Any) -> Any:
    """Compare a statistic with those of random samples; see `scipy.stats.monte_carlo_test`.

    Parameters
    ----------
    data : array, Tensor or sequence of these
        A sample, or one for each of the functions in `rvs`.
    rvs : callable or tuple of callable
    statistic : callable
        Of NumPy functions, as it is called with the handles.
    **options
        See SciPy's.

    Returns
    -------
    ResamplingResult
    """
    return resampled(scipy.stats.monte_carlo_test, data, (rvs, statistic), options)


def resampled(test: Callable[..., Any], data: Any, functions: Any, options: Any) -> Any:
    """Let SciPy resample plain data, and compute the statistic of handles."""
    if not any_handle((data, options)):
        return test(data, *functions, **options)
    refuse_handles(f"scipy.stats.{test.__name__}", options)
    alone = len(functions) == 2 and callable(functions[0])
    samples = [joined(data)] if alone else [joined(x) for x in data]
    told = test(plain(samples[0] if alone else tuple(samples)), *functions, **options)
    vectorized, axis = options.get("vectorized"), options.get("axis", 0)
    found = observed(functions[-1], samples, vectorized, axis)
    return ResamplingResult(
        found, told.pvalue, told.null_distribution if len(functions) == 2 else None
    )


def weightedtau(*args: Any, **kwargs: Any) -> Any:
    """Compute Vigna's tau, which depends on the order of samples alone."""
    return scipy.stats.weightedtau(*plain(args), **plain(kwargs))

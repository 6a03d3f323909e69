"""Tests of frequencies, and what is made of the p-values of several tests."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Derivation
from tape_ad.scipy.counterparts import is_handle
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.methods import isf
from tape_ad.scipy.stats.results import Chi2ContingencyResult, SignificanceResult
from tape_ad.scipy.stats.samples import (
    Table,
    floating,
    of_samples,
    off_limits,
    primal,
    taken_over,
)
from tape_ad.scipy.stats.tails import PAIR, Pair, lower_tail, two_tailed, upper_tail

__all__ = ["FREQUENCIES", "RESULTS"]

NAMES = {
    "pearson": 1,
    "log-likelihood": 0,
    "freeman-tukey": -0.5,
    "mod-log-likelihood": -1,
    "neyman": -2,
    "cressie-read": 2 / 3,
}


def check_sums(observed: Array, expected: Array) -> None:
    """Refuse frequencies that do not add up to what is expected, as SciPy does."""
    rtol = np.finfo(np.result_type(observed, expected)).eps ** 0.5
    one, other = np.sum(observed, axis=-1), np.sum(expected, axis=-1)
    if np.any(np.absolute(one - other) / np.minimum(one, other) > rtol):
        raise ValueError(
            "the sums of the observed and of the expected frequencies must agree to a relative "
            f"tolerance of {rtol}"
        )


def power_divergence(
    f_obs: Array,
    f_exp: Any = None,
    ddof: Any = 0,
    lambda_: Any = None,
    sum_check: bool = True,
) -> Pair:
    """Compare frequencies with those that are expected; Cressie & Read 1984."""
    if isinstance(lambda_, str):
        lambda_ = NAMES[lambda_]
    power: Any = 1 if lambda_ is None else lambda_
    if f_exp is None:
        f_exp = np.mean(f_obs, axis=-1, keepdims=True)
    elif sum_check:
        check_sums(f_obs, f_exp)
    off_limits("power_divergence", "lambda_", power, 0, -1)
    if not is_handle(power) and power == 1:
        terms = (f_obs - f_exp) ** 2 / f_exp
    elif power == 0:
        terms = 2.0 * sp.xlogy(f_obs, f_obs / f_exp)
    elif power == -1:
        terms = 2.0 * sp.xlogy(f_exp, f_exp / f_obs)
    else:
        terms = f_obs * ((f_obs / f_exp) ** power - 1) / (0.5 * power * (power + 1))
    statistic = np.sum(terms, axis=-1)
    df = np.float64(terms.shape[-1]) - 1 - ddof
    return (statistic, upper_tail(statistic, "chi2", df))


def chisquare(f_obs: Array, f_exp: Any = None, ddof: Any = 0, sum_check: bool = True) -> Pair:
    """Pearson's comparison of frequencies with those that are expected."""
    return power_divergence(f_obs, f_exp, ddof, sum_check=sum_check)


def expected_of(observed: Array) -> Array:
    """The frequencies in a table whose margins are those of another, and independent."""
    axes = range(observed.ndim)
    margins = (
        np.sum(observed, axis=tuple(other for other in axes if other != axis), keepdims=True)
        for axis in axes
    )
    product: Array = functools.reduce(np.multiply, margins)
    return product / np.sum(observed) ** (observed.ndim - 1)


def chi2_contingency(
    observed: Any, correction: bool = True, lambda_: Any = None, *, method: Any = None
) -> tuple[Array, Array, Any, Array]:
    """Compare the frequencies in a table with those of independent margins."""
    observed = floating(observed).astype(np.float64)
    if np.any(observed < 0):
        raise ValueError("All values in `observed` must be nonnegative.")
    if observed.size == 0:
        raise ValueError("No data; `observed` has size 0.")
    expected = expected_of(observed)
    if np.any(np.equal(expected, 0)):
        raise ValueError("The internally computed table of expected frequencies has a zero element")
    free = expected.size - sum(expected.shape) + expected.ndim - 1
    if free == 0:
        return (np.float64(0.0), np.float64(1.0), free, expected)
    if free == 1 and correction and method is None:
        difference = expected - observed
        step = np.minimum(0.5, np.absolute(difference)) * np.sign(difference)
        observed = observed + step
    statistic, p = power_divergence(
        np.reshape(observed, -1),
        np.reshape(expected, -1),
        observed.size - 1 - free,
        lambda_,
    )
    if method is None:
        return (statistic, p, free, expected)
    table = primal(observed)  # of tables with the same margins so many are farther: a share
    p = scipy.stats.chi2_contingency(table, correction, lambda_, method=method).pvalue
    return (statistic, p, free, expected)


# Several tests


def combine_pvalues(pvalues: Array, weights: Any = None, method: str = "fisher") -> Pair:
    """Make one p-value of those of independent tests."""
    n = np.float64(pvalues.shape[-1])
    if method == "fisher":
        statistic = -2 * np.sum(np.log(pvalues), axis=-1)
        return (statistic, upper_tail(statistic, "chi2", 2 * n))
    if method == "pearson":
        statistic = 2 * np.sum(np.log1p(-pvalues), axis=-1)
        return (statistic, lower_tail(-statistic, "chi2", 2 * n))
    if method == "mudholkar_george":
        logs = np.sum(np.log(pvalues), axis=-1), np.sum(np.log1p(-pvalues), axis=-1)
        statistic, free = logs[1] - logs[0], 5 * n + 4
        scale = math.sqrt(3 / n) / math.pi * math.sqrt(free / (free - 2))
        return (statistic, upper_tail(statistic * scale, "t", free))
    if method == "tippett":
        statistic = np.min(pvalues, axis=-1)
        return (statistic, lower_tail(statistic, "beta", 1.0, n))
    if method == "stouffer":
        weights = np.ones(pvalues.shape, pvalues.dtype) if weights is None else weights
        scores = isf(pvalues, 0.0, 1.0, name="norm")
        length = np.sqrt(np.sum(weights * weights, axis=-1))
        statistic = np.sum(weights * scores, axis=-1) / length
        return (statistic, two_tailed(statistic, "greater", "norm"))
    raise ValueError(
        f"Invalid method {method!r}. Valid methods are 'fisher', 'pearson', 'mudholkar_george', "
        "'tippett', and 'stouffer'"
    )


def false_discovery_control(ps: Any, *, axis: Any = 0, method: str = "bh") -> Array:
    """Correct p-values for how many there are; Benjamini & Hochberg 1995, and Yekutieli 2001."""
    ps = floating(ps)
    if not np.all((ps >= 0) & (ps <= 1)):
        raise ValueError("`ps` must include only numbers between 0 and 1.")
    if method.lower() not in ("bh", "by"):
        raise ValueError(f"Unrecognized `method` '{method}'. Method must be one of {{'bh', 'by'}}.")
    if axis is None:
        ps, axis = np.reshape(ps, -1), 0
    if ps.size <= 1 or ps.shape[axis] <= 1:
        return ps
    ps = np.moveaxis(ps, axis, -1)
    order = np.argsort(ps, axis=-1)
    numbers = np.arange(1, ps.shape[-1] + 1, dtype=ps.dtype)
    factor = ps.shape[-1] / numbers
    if method.lower() == "by":
        factor = factor * np.sum(1 / numbers)
    raised = np.take_along_axis(ps, order, axis=-1) * factor
    least = np.minimum.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    back = np.take_along_axis(least, np.argsort(order, axis=-1), axis=-1)
    return np.clip(np.moveaxis(back, -1, axis), 0.0, 1.0)


FREQUENCIES: Table = {
    **dict(
        of_samples(compute.__name__, compute, samples, PAIR)
        for samples, computes in {
            "f_obs f_exp": (power_divergence, chisquare),
            "pvalues weights": (combine_pvalues,),
        }.items()
        for compute in computes
    ),
    taken_over("chi2_contingency", (*PAIR, "dof", "expected_freq")): Derivation(chi2_contingency),
    taken_over("false_discovery_control"): Derivation(false_discovery_control),
}
"""The tests by SciPy's functions."""

RESULTS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("power_divergence", "chisquare", "combine_pvalues"), SignificanceResult),
    "chi2_contingency": Chi2ContingencyResult,
}
"""What is made of the parts that they give."""

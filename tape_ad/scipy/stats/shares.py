"""The entropy of shares, and how far frequencies are from what is expected.

SciPy's own code does the rest; these are the steps of it that have a derivative where SciPy's have
none, or no derivative that is theirs.
"""

import functools
import math
from typing import Any

import numpy as np

from tape_ad import stop_gradient
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, primal
from tape_ad.extend.packages import copied
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for, unwrapped
from tape_ad.scipy.stats.methods import sf
from tape_ad.scipy.stats.samples import floats

__all__: list[str] = []


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

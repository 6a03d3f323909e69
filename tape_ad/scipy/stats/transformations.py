"""Transformations of samples: scores in units of the deviation, Box and Cox, Yeo and Johnson."""

from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Derivation
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.samples import Table, floating, of_samples, taken_over

__all__ = ["TRANSFORMATIONS"]


def scored(a: Array, compare: Array, axis: Any, ddof: int, nan_policy: str) -> tuple[Array, Array]:
    """What differs from a mean in units of a deviation, and where that is nothing but rounding."""
    gaps = np.isnan(compare)
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    if nan_policy == "raise" and gaps.any():
        raise ValueError("The input contains nan values")
    holes = np.isnan(a)
    if nan_policy == "omit" and gaps.any():
        middle, deviation = without_gaps(compare, gaps, axis, ddof)
        a = np.where(holes, 0.0, a)  # whose slopes would make all others nan
    else:
        middle = np.mean(compare, axis=axis, keepdims=True)
        deviation = np.std(compare, axis=axis, ddof=ddof, keepdims=True)
        holes = np.False_
    alike = np.less_equal(deviation, np.absolute(np.finfo(compare.dtype).eps * middle))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (a - middle) / deviation
    return np.where(holes, np.nan, values) if np.any(holes) else values, alike


def without_gaps(x: Array, gaps: Any, axis: Any, ddof: int) -> tuple[Array, Array]:
    """The mean and the deviation of what is not nan."""
    with np.errstate(divide="ignore", invalid="ignore"):
        count = np.sum(~gaps, axis=axis, keepdims=True).astype(x.dtype)
        middle = np.sum(np.where(gaps, 0.0, x), axis=axis, keepdims=True) / count
        squares = np.where(gaps, 0.0, x - middle) ** 2
        return middle, np.sqrt(np.sum(squares, axis=axis, keepdims=True) / (count - ddof))


def zmap(
    scores: Any, compare: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate"
) -> Array:
    """Score a sample by another's mean and deviation."""
    return scored(floating(scores), floating(compare), axis, ddof, nan_policy)[0]


def zscore(a: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Array:
    """Score a sample by its own mean and deviation; one that is constant gives nan."""
    a = floating(a)
    values, alike = scored(a, a, axis, ddof, nan_policy)
    return values * np.where(alike, np.nan, np.ones((), values.dtype))


def gzscore(a: Any, *, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Array:
    """Score the logarithms of a sample."""
    return zscore(np.log(floating(a)), axis, ddof, nan_policy)


# Powers


def given(name: str, lmbda: Any) -> None:
    """Ask for the power, which SciPy looks for otherwise.

    Raises
    ------
    UnsupportedArgumentError
    """
    if lmbda is None:
        raise UnsupportedArgumentError(
            f"scipy.stats.{name}: on handles it needs lmbda; find it with "
            f"scipy.stats.{name}_normmax(x.data) if it is meant as a constant"
        )


def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Array:
    """Transform by a power; Box & Cox 1964."""
    given("boxcox", lmbda)
    return sp.boxcox(x, lmbda)


def yeojohnson(x: Any, lmbda: Any = None) -> Array:
    """Transform by a power, numbers below 0 by another; Yeo & Johnson 2000."""
    given("yeojohnson", lmbda)
    x = floating(x)
    above = np.greater_equal(x, 0)
    positive, negative = np.where(above, x, 0.0), np.where(above, 0.0, -x)
    return np.where(above, sp.boxcox1p(positive, lmbda), -sp.boxcox1p(negative, 2.0 - lmbda))


def boxcox_llf(data: Array, lmb: Any = 1.0) -> Array:
    """The logarithm of the likelihood of a power.

    The geometric mean is divided out first, so that no power of the data overflows.
    """
    logs = np.log(data)
    centred = logs - np.mean(logs, axis=-1, keepdims=True)
    spread = np.log(np.var(sp.boxcox(np.exp(centred), lmb), axis=-1))
    return -np.sum(logs, axis=-1) - data.shape[-1] / 2 * spread


def yeojohnson_llf(data: Array, lmb: Any = 1.0) -> Array:
    """The logarithm of the likelihood of a power."""
    spread = np.log(np.var(yeojohnson(data, lmb), axis=-1))
    logs = np.sum(np.sign(data) * np.log1p(np.absolute(data)), axis=-1)
    return (lmb - 1.0) * logs - data.shape[-1] / 2 * spread


TRANSFORMATIONS: Table = {
    **{
        taken_over(compute.__name__): Derivation(compute)
        for compute in (zscore, zmap, gzscore, boxcox, yeojohnson)
    },
    **dict(
        of_samples(compute.__name__, compute, "data") for compute in (boxcox_llf, yeojohnson_llf)
    ),
}
"""The transformations by SciPy's functions."""

"""How well samples fit a distribution, or one another: Shapiro & Wilk, Epps & Singleton."""

import functools
import math
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, plain, primal
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for, unwrapped
from tape_ad.scipy.stats.methods import sf
from tape_ad.scipy.stats.samples import as_told, floats

__all__: list[str] = []


# Shapiro & Wilk


def polynomial(coefficients: tuple[float, ...], x: float) -> float:
    """A polynomial by its coefficients, the constant one first."""
    return float(np.polynomial.polynomial.polyval(x, coefficients))


@stands_for(scipy.stats._ansari_swilk_statistics.swilk)
def swilk(y: Array, a: Any, init: Any) -> tuple[Array, Array, int]:
    """Compare a sorted sample with a normal one, by how its order fits to its variance."""
    half = np.array(plain(a))
    told = scipy.stats._ansari_swilk_statistics.swilk(primal(y), half, init)  # which fills them
    statistic, p = fit_to_normal(y, np.concatenate([-half, np.zeros(len(y) % 2), half[::-1]]))
    return (as_told(statistic, told[0]), as_told(p, told[1]), told[2])


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
def in_double() -> bool:
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
    if in_double():
        statistic = statistic.astype(np.float64)
    result = scipy.stats._hypotests.Epps_Singleton_2sampResult
    p = sf(statistic, 2.0 * t.size, 0.0, 1.0, name="chi2")
    return result(statistic, p.astype(statistic.dtype))


@stands_for(scipy.stats._morestats._get_As_weibull)
def critical_values_of_weibull(c: Any) -> Any:
    """Look up the critical values for a shape, which SciPy rounds."""
    return scipy.stats._morestats._get_As_weibull(primal(c))

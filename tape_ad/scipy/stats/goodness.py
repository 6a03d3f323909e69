"""How well samples fit a distribution, or one another: Shapiro & Wilk, Epps & Singleton."""

import math
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, primal
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.installed import asked, scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for, unwrapped
from tape_ad.scipy.stats.methods import sf
from tape_ad.scipy.stats.samples import as_told, floats

__all__: list[str] = []


# Shapiro & Wilk


def polynomial(coefficients: tuple[float, ...], x: float) -> float:
    """A polynomial by its coefficients, the constant one first."""
    return float(np.polynomial.polynomial.polyval(x, coefficients))


NINE_DIGITS = np.lib.NumpyVersion(scipy.__version__) < "1.18.0"
"""Whether this release computes normal quantiles by AS 111, which has nine digits."""


def normal_scores(shares: Any) -> Any:
    """The quantiles of the normal distribution below its median, as this SciPy computes them."""
    if not NINE_DIGITS:
        return scipy.special.ndtri(shares)
    q = shares - 0.5
    middle = np.polyval([-25.44106049637, 41.39119773534, -18.61500062529, 2.50662823884], q * q)
    below = np.polyval([3.13082909833, -21.06224101826, 23.08336743743, -8.4735109309, 1.0], q * q)
    root = np.sqrt(-np.log(shares))
    tail = np.polyval([2.32121276858, 4.85014127135, -2.29796479134, -2.78718931138], root)
    tail = tail / np.polyval([1.63706781897, 3.54388924762, 1.0], root)
    return np.where(np.absolute(q) <= 0.42, q * middle / below, -tail)


def order_weights(n: int) -> Any:
    """How the elements of a sample in their order are weighed; Royston 1995, AS R94."""
    half = n // 2
    if n == 3:
        return np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    scores = normal_scores((np.arange(1, half + 1) - 0.375) / (n + 0.25))
    total, root = 2 * np.sum(scores**2), 1 / math.sqrt(n)
    size = math.sqrt(total)
    first = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)
    other = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
    ends = [
        polynomial(each, root) - m / size for each, m in zip((first, other), scores, strict=False)
    ]
    ends = ends if n > 5 else ends[:1]
    count = len(ends)
    rest = total - 2 * np.sum(scores[:count] ** 2)
    factor = math.sqrt(rest / (1 - 2 * sum(end * end for end in ends)))
    weights = np.concatenate([ends, -scores[count:] / factor])
    return np.concatenate([-weights, np.zeros(n % 2), weights[::-1]])


@stands_for(scipy.stats._ansari_swilk_statistics.swilk)
def swilk(y: Array, a: Any, init: Any) -> tuple[Array, Array, int]:
    """Compare a sorted sample with a normal one, by how its order fits to its variance."""
    statistic, p = fit_to_normal(y)
    told = scipy.stats._ansari_swilk_statistics.swilk(primal(y), primal(a), init)  # which rounds
    return (as_told(statistic, told[0]), as_told(p, told[1]), told[2])


def fit_to_normal(x: Array) -> tuple[Array, Array]:
    """The statistic of Shapiro & Wilk 1965, and Royston's p-value."""
    n = x.shape[-1]
    y = x - np.mean(x, axis=-1, keepdims=True)
    weights = order_weights(n)
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


SAMPLE = np.array([0.1, 0.5, 0.2, 0.9, 0.3, 0.4], np.float32)
ALWAYS_DOUBLE = asked(
    lambda: scipy.stats.epps_singleton_2samp(SAMPLE, SAMPLE**2)[0].dtype == np.float64
)
"""Whether this release computes in double precision."""


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
    if ALWAYS_DOUBLE:
        statistic = statistic.astype(np.float64)
    result = scipy.stats._hypotests.Epps_Singleton_2sampResult
    p = sf(statistic, 2.0 * t.size, 0.0, 1.0, name="chi2")
    return result(statistic, p.astype(statistic.dtype))

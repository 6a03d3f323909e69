"""How well samples fit a distribution, or one another: Kolmogorov, Cramér & von Mises, Shapiro."""

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Derivation, takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.continuous import CONTINUOUS
from tape_ad.scipy.stats.descriptive import iqr
from tape_ad.scipy.stats.methods import cdf as cdf_of_family
from tape_ad.scipy.stats.results import KstestResult, OutcomeResult, SignificanceResult
from tape_ad.scipy.stats.samples import Table, as_told, of_samples, primal, taken_over
from tape_ad.scipy.stats.tails import PAIR, Pair, upper_tail

__all__ = ["GOODNESS", "RESULTS"]

Located = tuple[Array, Array, Array, Array]
"""A statistic, its p-value, and where and with which sign it was found."""


def distribution_function(cdf: Any) -> Callable[..., Array]:
    """Take SciPy's distribution functions, and names of distributions, to those for handles."""
    owner: Any = getattr(scipy.stats, cdf) if isinstance(cdf, str) else None
    frozen: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    if owner is None and getattr(cdf, "__name__", "") == "cdf":
        owner = getattr(cdf, "__self__", None)
        frozen, named = getattr(owner, "args", ()), getattr(owner, "kwds", {})
        owner = getattr(owner, "dist", owner)
    if not isinstance(owner, scipy.stats.rv_continuous) or owner.name not in CONTINUOUS:
        given: Callable[..., Array] = cdf if owner is None else owner.cdf
        return given
    shapes = owner.shapes.split(", ") if owner.shapes else []
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    signature = inspect.Signature(
        [
            inspect.Parameter(each, kind, default={"loc": 0.0, "scale": 1.0}.get(each, empty))
            for each in (*shapes, "loc", "scale")
        ]
    )

    def function(x: Array, *args: Any) -> Array:
        bound = signature.bind(*args, *frozen, **named)
        bound.apply_defaults()
        return cdf_of_family(x, *bound.args, name=owner.name)

    return function


# Kolmogorov & Smirnov


def greatest(distances: Array, x: Array) -> tuple[Array, Array]:
    """Give the greatest of distances, and the element of a sample where it is."""
    place = np.argmax(distances, axis=-1, keepdims=True)
    one, other = (np.take_along_axis(each, place, axis=-1) for each in (distances, x))
    return one[..., 0], other[..., 0]


def ks_1samp(
    x: Array,
    cdf: Any = None,
    args: Any = (),
    alternative: str = "two-sided",
    method: str = "auto",
) -> Located:
    """Compare a sample with a distribution function, by their greatest distance."""
    kinds = {"t": "two-sided", "g": "greater", "l": "less"}
    alternative = kinds.get(alternative.lower()[0], alternative)
    if alternative not in kinds.values():
        raise ValueError(f"Unexpected value alternative={alternative!r}")
    if method not in ("auto", "exact", "approx", "asymp"):
        raise ValueError(f"Invalid value for method: {method!r}")
    n = x.shape[-1]
    x = np.sort(x, axis=-1)
    values = distribution_function(cdf)(x, *args)
    steps = np.arange(n + 1, dtype=x.dtype) / n
    above, below = greatest(steps[1:] - values, x), greatest(values - steps[:-1], x)
    ones = np.ones(x.shape[:-1], np.int8)
    if alternative != "two-sided":
        one = alternative == "greater"
        distance, location = above if one else below
        p = upper_tail(distance, "ksone", np.float64(n))
        return (distance, p, location, ones if one else -ones)
    first = np.greater(above[0], below[0])
    distance, location = (np.where(first, *pair) for pair in zip(above, below, strict=True))
    if method in ("auto", "exact"):
        p = upper_tail(distance, "kstwo", np.float64(n))
    elif method == "asymp":
        p = upper_tail(distance * math.sqrt(n), "kstwobign")
    else:
        p = 2 * upper_tail(distance, "ksone", np.float64(n))
    return (distance, np.clip(p, 0.0, 1.0), location, np.where(first, ones, -ones))


IN_SINGLE = np.lib.NumpyVersion(scipy.__version__) >= "1.18.0"
"""Whether `kstest` compares with "norm" in the precision of the sample, as newer releases do."""


def kstest(
    rvs: Any,
    cdf: Any,
    args: Any = (),
    N: int = 20,  # noqa: N803 - SciPy's name
    alternative: str = "two-sided",
    method: str = "auto",
    **options: Any,
) -> Any:
    """Compare a sample with a distribution function, or with another sample."""
    if isinstance(rvs, str) or callable(rvs):
        raise UnsupportedArgumentError(
            "scipy.stats.kstest: what it draws by itself has no derivative with respect to args=; "
            "pass a sample"
        )
    if isinstance(cdf, str) and cdf == "norm" and not args and IN_SINGLE:
        statistic, p, *rest = one_sample(rvs, sp.ndtr, args, alternative, method, **options)
        return (statistic.astype(p.dtype), p, *rest)
    cdf = getattr(scipy.stats, cdf).cdf if isinstance(cdf, str) else cdf
    if callable(cdf):
        return one_sample(rvs, cdf, args, alternative, method, **options)
    both = primal(rvs), primal(cdf)  # of two samples their order alone counts
    result = scipy.stats.kstest(*both, args, N, alternative, method, **options)
    return tuple(getattr(result, part) for part in LOCATED)


# Cramér & von Mises


def added(term: Callable[[int, Array], Array], x: Array) -> Array:
    """Add up a series, for each number until a term is below 1e-7, as SciPy does."""
    total: Any = 0.0
    wanted = np.ones(np.shape(x), bool)
    k = 0
    while np.any(wanted):
        part = term(k, x)
        total = total + np.where(wanted, part, 0.0)
        wanted = wanted & (np.absolute(primal(part)) >= 1e-7)
        k += 1
    return total


def limit_term(k: int, x: Array) -> Array:
    """A term of the limiting distribution; Csörgő & Faraway 1996, 1.3."""
    factor = math.exp(math.lgamma(k + 0.5) - math.lgamma(k + 1)) * math.sqrt(4 * k + 1)
    q = (4 * k + 1) ** 2 / (16 * x)
    return factor / (math.pi**1.5 * np.sqrt(x)) * np.exp(-q) * sp.kv(0.25, q)


def second(y: Array) -> Array:
    """What Csörgő & Faraway call D(2)."""
    z = y * y / 4
    return np.exp(-z) * (y / 2) ** 1.5 * (sp.kv(0.25, z) + sp.kv(0.75, z)) / math.sqrt(math.pi)


def third(y: Array) -> Array:
    """Compute the third term of the series for the limiting distribution."""
    z = y * y / 4
    sum_of_kv = 2 * sp.kv(0.25, z) + 3 * sp.kv(0.75, z) - sp.kv(1.25, z)
    return np.exp(-z) / math.sqrt(math.pi) * (y / 2) ** 2.5 * sum_of_kv


def correction_term(k: int, x: Array) -> Array:
    """A term of what a sample's length changes, 1.10."""
    m, root = 2 * k + 1, 2 * np.sqrt(x)
    low, high = x**0.75, x**1.25
    first, other = math.gamma(k + 0.5), math.gamma(k + 1.5)
    twice = 7 * m * first / (144 * low) * (second((4 * k + 1) / root) + second((4 * k + 5) / root))
    parts = (
        m * first * second((4 * k + 3) / root) / (9 * low)
        + first * third((4 * k + 1) / root) / (72 * high)
        + 2 * (m + 2) * other * third((4 * k + 5) / root) / (12 * high)
        + twice
    )
    return -parts / (math.pi * math.gamma(k + 1))


def cramervonmises(x: Array, cdf: Any = None, args: Any = ()) -> Pair:
    """Compare a sample with a distribution function, by the squares of their distances."""
    n = x.shape[-1]
    values = distribution_function(cdf)(np.sort(x, axis=-1), *args)
    middles = (2 * np.arange(1, n + 1, dtype=x.dtype) - 1) / (2 * n)
    statistic = 1 / (12 * n) + np.sum((middles - values) ** 2, axis=-1)
    inside = (primal(statistic) > 1 / (12 * n)) & (primal(statistic) < n / 3)
    w = np.where(inside, statistic, n / 6)
    below = added(limit_term, w) * (1 + 1 / (12 * n)) + added(correction_term, w) / n
    below = np.where(inside, below, np.greater_equal(statistic, n / 3) * 1.0)
    return (statistic, np.maximum(1.0 - below, 0.0))


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


def shapiro(x: Array) -> Pair:
    """Compare a sample with a normal one, by how its order fits to its variance."""
    statistic, p = fit_to_normal(x)
    told = SHAPIRO(primal(x), axis=-1)  # which rounds, or has nine digits
    return (as_told(statistic, told[0]), as_told(p, told[1]))


def fit_to_normal(x: Array) -> Pair:
    """The statistic of Shapiro & Wilk 1965, and Royston's p-value."""
    n = x.shape[-1]
    y = np.sort(x, axis=-1)
    y = y - np.mean(y, axis=-1, keepdims=True)
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


def epps_singleton_2samp(x: Array, y: Array, t: Any = (0.4, 0.8)) -> Pair:
    """Compare two samples by their characteristic functions."""
    t = np.asarray(t, x.dtype) if not takes_over(type(t)) else t
    if t.ndim > 1 or np.any(t <= 0):
        raise ValueError("t must be 1d, and contain positive elements only.")
    sizes = nx, ny = x.shape[-1], y.shape[-1]
    n = nx + ny
    lead = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    x, y = (np.broadcast_to(each, (*lead, each.shape[-1])) for each in (x, y))
    half = iqr(np.concatenate([x, y], axis=-1)) / 2
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
    return (statistic, upper_tail(statistic, "chi2", 2.0 * t.size))


SHAPIRO, of_shapiro = of_samples("shapiro", shapiro, "x", PAIR)
LOCATED = (*PAIR, "statistic_location", "statistic_sign")

one_sample, of_one_sample = of_samples("ks_1samp", ks_1samp, "x", LOCATED)

GOODNESS: Table = {
    one_sample: of_one_sample,
    SHAPIRO: of_shapiro,
    taken_over("kstest", LOCATED): Derivation(kstest),
    **dict(
        of_samples(compute.__name__, compute, samples, PAIR)
        for samples, compute in (
            ("rvs", cramervonmises),
            ("x y", epps_singleton_2samp),
        )
    ),
}
"""The tests by SciPy's functions."""

RESULTS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("ks_1samp", "kstest"), KstestResult),
    "cramervonmises": OutcomeResult,
    **dict.fromkeys(("shapiro", "epps_singleton_2samp"), SignificanceResult),
}
"""What is made of the parts that they give."""

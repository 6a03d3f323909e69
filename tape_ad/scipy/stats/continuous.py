"""How each continuous distribution of `scipy.stats` depends on its variable and its shapes."""

import math
from collections.abc import Callable

import numpy as np

from tape_ad.extend.arrays import Array, ratio
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.densities import gamma_density
from tape_ad.scipy.special.incomplete import betainc_slope, gammainc_slope
from tape_ad.scipy.special.logarithms import power_slope, root_slope
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.expectations import expectation
from tape_ad.scipy.stats.families import (
    COMMON,
    Family,
    Shape,
    by_power,
    end_move,
    gennorm_shape,
    gennorm_slope,
    log_root,
    mills,
    share,
    share_over,
)
from tape_ad.scipy.stats.methods import cdf, pdf, sf
from tape_ad.scipy.stats.noncentral import NONCENTRAL, family_of

__all__ = ["CONTINUOUS", "FAMILIES"]


def log_over(y: Array, c: Array) -> Array:
    """y * log1p(y**-c), at 0 too."""
    small = y * np.log1p(y**c) - c * sp.xlogy(y, y)
    return np.where(np.less(y, 1), small, y * np.log1p(y**-c))


def burr_move(y: Array, c: Array, d: Array) -> Array:
    """The move of ``(1 + y**-c)**-d`` with d."""
    return log_over(y, c) / (c * d * share(y, -c))


def exponnorm_slope(y: Array, k: Array) -> Array:
    """Differentiate the distribution function of exponnorm, ndtr(y) - k times the density."""
    z = y - 1 / k
    return -pdf(y, k, 0.0, 1.0, name="exponnorm") * (z + mills(z)) / k


def half_logistic(y: Array, c: Array) -> Array:
    """The slope of the logarithm of halflogistic's density where genhalflogistic needs it."""
    return -np.tanh(0.5 * log_root(y, -c))


def kappa_move(y: Array, a: Array) -> Array:
    """The move of ``y * (a + y**a)**(-1 / a)``."""
    n = a + y**a
    return -y * (np.log(n) * n / a - 1 - sp.xlogy(y**a, y)) / (a * a)


def kappa_score(y: Array, h: Array, k: Array) -> Array:
    """The slope of the logarithm of the density of kappa4."""
    u = np.exp(-log_root(y, -k))
    return (k - 1 + (1 - h) * u / (1 - h * u)) / (1 - k * y)


def bessel_ratio(y: Array, a: Array) -> Array:
    """The ratio of K0 to K1 that norminvgauss needs."""
    z = a * np.hypot(1.0, y)
    return sp.kve(0, z) / sp.kve(1, z)


Formula = Callable[..., Array]


def centred(name: str, statistic: Formula) -> Formula:
    """The score of a density in proportion to u, d log u less its expectation."""

    def score(y: Array, *shapes: Array) -> Array:
        columns = [np.expand_dims(shape, -1) for shape in shapes]
        mean = expectation(lambda x: statistic(x, *columns), shapes, name)
        return statistic(y, *shapes) - mean

    return score


def argus_shape(y: Array, chi: Array) -> Array:
    """What argus depends on chi by, but for its norm."""
    return -chi * (1 - y) * (1 + y)


def by_part(y: Array, c: Array, d: Array, rise: Array, level: Array, fall: Array) -> Array:
    """Choose a formula for the part of a trapezoid that y is in."""
    return np.where(np.less(y, c), rise, np.where(np.greater(y, d), fall, level))


def trapezoid_first(y: Array, c: Array, d: Array) -> Array:
    """Differentiate the distribution function of trapezoid by c."""
    n = d - c + 1
    rise, fall = y * y / c * (1 / n - 1 / c) / n, -((1 - y) ** 2) / (1 - d) / (n * n)
    return by_part(y, c, d, rise, (2 * y - c - n) / (n * n), fall)


def trapezoid_second(y: Array, c: Array, d: Array) -> Array:
    """The derivative of trapezoid's distribution function by its corner d."""
    n = d - c + 1
    fall = -((1 - y) ** 2) / (1 - d) * (1 / (1 - d) - 1 / n) / n
    return by_part(y, c, d, -y * y / c / (n * n), (c - 2 * y) / (n * n), fall)


# The Crystal Ball function


def ball_parts(y: Array, beta: Array, m: Array) -> tuple[Array, Array]:
    """Differentiate the logarithm of crystalball's density by beta and m."""
    tail, edge = np.less(y, -beta), m / beta - beta
    reach = np.where(tail, edge - y, 1.0)
    first = -m / beta - beta + m * (m / (beta * beta) + 1) / reach
    second = np.log(m / beta) + 1 - np.log(reach) - m / beta / reach
    bell = np.exp(-0.5 * beta * beta)
    norm = m / (beta * (m - 1)) * bell + math.sqrt(2 * math.pi) * sp.ndtr(beta)
    by_beta = bell * (1 - m / (m - 1) * (1 / (beta * beta) + 1))
    by_m = -bell / (beta * (m - 1) ** 2)
    return (
        np.where(tail, first, 0.0) - by_beta / norm,
        np.where(tail, second, 0.0) - by_m / norm,
    )


def ball_score(y: Array, beta: Array, m: Array) -> Array:
    """The derivative of the log density of crystalball by the variable."""
    tail = np.less(y, -beta)
    return np.where(tail, m / np.where(tail, m / beta - beta - y, 1.0), -y)


# Kappa


def kappa_parts(y: Array, h: Array, k: Array) -> tuple[Array, Array, Array]:
    """Give u = (1 - k y)**(1 / k), and its like of 1 - h u as a logarithm with its slope."""
    u = np.exp(-log_root(y, -k))
    return u, log_root(u, -h), root_slope(u, -h)


def kappa_first(y: Array, h: Array, k: Array) -> Array:
    """Differentiate the logarithm of the density of kappa4 by h."""
    _, level, slope = kappa_parts(y, h, k)
    return level + (1 - h) * slope


def kappa_second(y: Array, h: Array, k: Array) -> Array:
    """The derivative of kappa4's log density by its parameter k."""
    u, _, _ = kappa_parts(y, h, k)
    return log_root(y, -k) + root_slope(y, -k) * (1 - k - (1 - h) * u / (1 - h * u))


def kappa_first_move(y: Array, h: Array, k: Array) -> Array:
    """The move of the variable of kappa4 with its parameter h."""
    u, _, slope = kappa_parts(y, h, k)
    return -(1 - k * y) / u * (1 - h * u) * slope


# Pearson's third kind, which is a gamma distribution with mean 0 and variance 1


def pearson_parts(y: Array, skew: Array) -> tuple[Array, Array, Array, Array]:
    """Give the gamma variable, its shape, and the derivatives of both by the skewness."""
    a, rate = 4 / (skew * skew), 2 / skew
    a_slope, rate_slope = -2 * a / skew, -rate / skew
    return rate * y + a, a, rate_slope * y + a_slope, a_slope


def pearson_score(y: Array, skew: Array) -> Array:
    """Differentiate the logarithm of the density of pearson3 by the skewness."""
    flat = np.equal(skew, 0)
    w, a, w_slope, a_slope = pearson_parts(y, np.where(flat, 1.0, skew))
    score = ((a - 1) / w - 1) * w_slope + (np.log(w) - sp.digamma(a)) * a_slope
    return np.where(flat, y * (y * y - 3) / 6, score - 1 / np.where(flat, 1.0, skew))


def pearson_slope(y: Array, skew: Array) -> Array:
    """The derivative of pearson3's distribution function by its skew."""
    flat = np.equal(skew, 0)
    w, a, w_slope, a_slope = pearson_parts(y, np.where(flat, 1.0, skew))
    slope = gammainc_slope(a, w, 1) * a_slope + gamma_density(a, w) * w_slope
    normal = -(y * y - 1) * np.exp(-0.5 * y * y) / (6 * math.sqrt(2 * math.pi))
    return np.where(flat, normal, np.sign(skew) * slope)


def jones_terms(y: Array, a: Array, b: Array) -> list[Array]:
    """Differentiate the logarithm of the density of jf_skew_t by y, a and b."""
    n = a + b
    r = np.sqrt(n + y * y)
    high = np.where(np.less(y, 0), n / (r + np.absolute(y)), r + y)  # r + y
    plus, minus = high / r, n / (high * r)  # 1 + y / r and 1 - y / r
    by_ratio = (a + 0.5) / plus - (b + 0.5) / minus
    shared = -math.log(2) - 0.5 / n - y / (2 * r**3) * by_ratio + sp.digamma(n)
    return [
        n / r**3 * by_ratio,
        shared - sp.digamma(a) + np.log(plus),
        shared - sp.digamma(b) + np.log(minus),
    ]


def log_mills_ratio(t: Array) -> Array:
    """The logarithm of the normal tail probability over the density."""
    return sp.log_ndtr(-t) + 0.5 * t * t + 0.5 * math.log(2 * math.pi)


def lognormal_terms(y: Array, u: Array, s: Array, a: Array, b: Array) -> list[Array]:
    """Differentiate the logarithm of the density of dpareto_lognorm by y, u, s, a and b."""
    z = (np.log(y) - u) / s
    left, right = a * s - z, b * s + z
    first, second = log_mills_ratio(left), log_mills_ratio(right)
    rest = np.exp(-np.logaddexp(first, second))
    down, up = left * sp.expit(first - second) - rest, right * sp.expit(second - first) - rest
    by_z = up - down - z
    return [
        (by_z / s - 1) / y,
        -by_z / s,
        a * down + b * up - by_z * z / s,
        s * down + 1 / a - 1 / (a + b),
        s * up + 1 / b - 1 / (a + b),
    ]


def irwin_score(y: Array, n: Array) -> Array:
    """The slope of the logarithm of the density of irwinhall, by its recurrence."""
    fewer = np.maximum(n - 1, 1)
    beside = [pdf(x, fewer, 0.0, 1.0, name="irwinhall") for x in (y, y - 1)]
    slope = (beside[0] - beside[1]) / pdf(y, n, 0.0, 1.0, name="irwinhall")
    return np.where(np.equal(n, 1), 0.0 * y, slope)


# Tukey's lambda, whose inverse distribution function is (p**lam - (1 - p)**lam) / lam


def tukey_parts(y: Array, lam: Array) -> tuple[Array, Array, Array]:
    """Give p, 1 - p and the slope of the inverse."""
    p, q = (function(y, lam, 0.0, 1.0, name="tukeylambda") for function in (cdf, sf))
    return p, q, p ** (lam - 1) + q ** (lam - 1)


def tukey_score(y: Array, lam: Array) -> Array:
    """Differentiate the logarithm of the density of tukeylambda by the variable."""
    p, q, slope = tukey_parts(y, lam)
    return (1 - lam) * (p ** (lam - 2) - q ** (lam - 2)) / (slope * slope)


def tukey_move(y: Array, lam: Array) -> Array:
    """The move with its parameter."""
    p, q, _ = tukey_parts(y, lam)
    parts = [power_slope(np.log(x), lam) for x in (p, q)]
    return parts[0] - parts[1]


def tukey_shape(y: Array, lam: Array) -> Array:
    """The derivative of tukeylambda's log density by its parameter."""
    p, q, slope = tukey_parts(y, lam)
    by_lam = p ** (lam - 1) * np.log(p) + q ** (lam - 1) * np.log(q)
    return -by_lam / slope - tukey_score(y, lam) * tukey_move(y, lam)


# Kolmogorov's and Smirnov's


def smirnov_score(y: Array, n: Array) -> Array:
    """The slope of the logarithm of the density of ksone.

    The survival function is a sum over j of C(n, j) (y + j / n)**(j - 1) (1 - y - j / n)**(n - j),
    times y.
    """
    y, n = (np.expand_dims(x, -1) for x in np.broadcast_arrays(y, n))
    j = np.arange(int(np.max(n, initial=0.0)) + 1)  # which, compiled, is a guard
    inside = np.less(y + j / n, 1) & np.less_equal(j, n)
    low = np.where(inside, y + j / n, 0.5)
    high, rest = 1 - low, np.where(inside, n - j, 0.0)
    log = -np.log(n + 1) - sp.betaln(rest + 1, np.where(inside, j, 0.0) + 1)
    log = np.where(np.equal(rest, 0) | np.equal(j, 0), 0.0, log)
    chances = np.where(inside, np.exp(log + (j - 1) * np.log(low) + rest * np.log(high)), 0.0)
    first = (j - 1) / low - rest / high
    second = first * first - (j - 1) / (low * low) - rest / (high * high)
    slope = np.sum(chances * (1 + y * first), axis=-1)
    return np.sum(chances * (2 * first + y * second), axis=-1) / slope


def kolmogorov_score(y: Array) -> Array:
    """The slope of the logarithm of the density of kstwobign, by one of two series."""
    y = np.expand_dims(y, -1)
    k = np.arange(1, 20)
    far = np.where(np.less(y, 0.8), 1.0, y)
    terms = (-1.0) ** (k - 1) * k * k * np.exp(-2 * (k * far) ** 2)
    slope = np.sum(terms * (1 - (2 * k * far) ** 2), axis=-1)
    large = slope / (far[..., 0] * np.sum(terms, axis=-1))
    near = np.where(np.less(y, 0.8), y, 0.5)
    c = ((2 * k - 1) * math.pi) ** 2 / (8 * near * near)
    weights = np.exp(c[..., :1] - c)
    densities = weights * (2 * c - 1)
    changes = weights * (4 * c * c - 10 * c + 2)
    small = np.sum(changes, axis=-1) / (near[..., 0] * np.sum(densities, axis=-1))
    return np.where(np.less(y[..., 0], 0.8), small, large)


# Landau's, whose density is the integral of exp(s log(s) + y s) / (2 pi i) over a vertical line

LINE = np.linspace(0.0, 6.0, 241)
LINE_WEIGHTS = np.where(LINE == 0, 0.5, 1.0) * np.cosh(LINE)
VARIABLES = np.linspace(-3.6, 3.6, 361)
DECAYING = np.exp(VARIABLES - np.exp(-VARIABLES))
DECAYING_WEIGHTS = (1 + np.exp(-VARIABLES)) * DECAYING


def landau_score(y: Array) -> Array:
    """The slope of the logarithm of the density of landau.

    The line goes through the saddle point of the integrand, or, to the right, around the cut along
    the negative numbers, where the integrand is exp(-t log(t) - y t) sin(pi t) / pi. SciPy's
    variable is that of the stable distributions, with another scale and place.
    """
    y = np.expand_dims(math.pi / 2 * y + math.log(math.pi / 2), -1)
    right = np.greater(y, 0)
    far = np.where(right, y, 1.0)
    t = DECAYING / (1 + far)
    weights = DECAYING_WEIGHTS * np.exp(-sp.xlogy(t, t) - far * t) * np.sin(math.pi * t)
    falling = -np.sum(weights * t, axis=-1) / np.sum(weights, axis=-1)
    near = np.where(right, 0.0, y)
    c = np.exp(-1 - near)
    tau = np.sqrt(c) * np.sinh(LINE)
    size, angle = np.hypot(c, tau), np.arctan2(tau, c)
    log = np.log(size)
    real = c * log - tau * angle + near * c + c
    phase = tau * log + c * angle + near * tau
    weights = LINE_WEIGHTS * np.exp(real)
    value = np.sum(weights * np.cos(phase), axis=-1)
    moved = np.sum(weights * (c * np.cos(phase) - tau * np.sin(phase)), axis=-1)
    return math.pi / 2 * np.where(right[..., 0], falling, moved / value)


def gengamma_slope(y: Array, a: Array, c: Array) -> Array:
    """Differentiate the distribution function of gengamma, P(a, y**c), or Q where c < 0."""
    return np.sign(c) * gammainc_slope(a, y**c, 1)


SPECIAL_FAMILIES: dict[str, Family] = {
    **NONCENTRAL,
    "kappa4": Family(
        kappa_score,
        (
            Shape(kappa_first, move=kappa_first_move),
            Shape(kappa_second, move=lambda y, h, k: end_move(y, k)),
        ),
    ),
    "pearson3": Family(
        lambda y, skew: -(2 * y + skew) / (2 + skew * y),
        (Shape(pearson_score, slope=pearson_slope),),
    ),
    "argus": Family(
        lambda y, chi: 1 / y - y / (1 - y * y) + chi * chi * y,
        (Shape(centred("argus", argus_shape)),),
    ),
    "gausshyper": Family(
        lambda y, a, b, c, z: ratio(a - 1, y) - ratio(b - 1, 1 - y) - c * z / (1 + z * y),
        (
            Shape(centred("gausshyper", lambda y, a, b, c, z: np.log(y))),
            Shape(centred("gausshyper", lambda y, a, b, c, z: np.log1p(-y))),
            Shape(centred("gausshyper", lambda y, a, b, c, z: -np.log1p(z * y))),
            Shape(centred("gausshyper", lambda y, a, b, c, z: -c * y / (1 + z * y))),
        ),
    ),
    "jf_skew_t": family_of(jones_terms, 2),
    "dpareto_lognorm": family_of(lognormal_terms, 4),
    "irwinhall": Family(irwin_score, (None,)),
    "tukeylambda": Family(tukey_score, (Shape(tukey_shape, move=tukey_move),)),
    "ksone": Family(smirnov_score, (None,)),
    "kstwo": Family(None, (None,)),
    "kstwobign": Family(kolmogorov_score),
    "landau": Family(landau_score),
    "levy_stable": Family(None, (None, None)),
    "studentized_range": Family(None, (None, None)),
}
"""Those that a release of SciPy may not have."""

FAMILIES: dict[str, Family] = {
    **COMMON,
    **dict.fromkeys(
        ("dgamma", "dweibull", "laplace_asymmetric", "skewcauchy"),
        Family(kink=lambda shape: 0.0 * shape),
    ),
    "crystalball": Family(
        ball_score,
        (
            Shape(lambda y, beta, m: ball_parts(y, beta, m)[0]),
            Shape(lambda y, beta, m: ball_parts(y, beta, m)[1]),
        ),
        kink=lambda beta, m: -beta,
    ),
    "trapezoid": Family(
        lambda y, c, d: by_part(y, c, d, 1 / y, 0.0 * y, -1 / (1 - y)),
        (
            Shape(
                lambda y, c, d: 1 / (d - c + 1) - np.where(np.less(y, c), 1 / c, 0.0),
                slope=trapezoid_first,
            ),
            Shape(
                lambda y, c, d: np.where(np.greater(y, d), 1 / (1 - d), 0.0) - 1 / (d - c + 1),
                slope=trapezoid_second,
            ),
        ),
    ),
    "betaprime": Family(
        shapes=(
            Shape(slope=lambda y, a, b: betainc_slope(a, b, y / (1 + y), 1, 0)),
            Shape(slope=lambda y, a, b: betainc_slope(a, b, y / (1 + y), 0, 1)),
        ),
    ),
    "rice": Family(
        shapes=(Shape(slope=lambda y, b: -y * np.exp(-0.5 * (y - b) ** 2) * sp.i1e(b * y)),)
    ),
    "wrapcauchy": Family(
        shapes=(Shape(move=lambda y, c: -2 * np.sin(y) / ((1 - c) * (1 + c))),),
    ),
    "gibrat": Family(lambda y: -(1 + np.log(y)) / y),
    "cosine": Family(lambda y: -np.tan(0.5 * y)),
    "loglaplace": Family(
        lambda y, c: ratio(np.where(np.less(y, 1), c, -c) - 1, y),
        (Shape(lambda y, c: 1 / c - np.absolute(np.log(y)), move=by_power),),
        kink=lambda c: 0.0 * c + 1.0,
    ),
    "genlogistic": Family(
        lambda y, c: (c + 1) * sp.expit(-y) - 1,
        (
            Shape(
                lambda y, c: 1 / c + sp.log_expit(y),
                move=lambda y, c: -sp.log_expit(y) / (c * sp.expit(-y)),
            ),
        ),
    ),
    "gengamma": Family(
        lambda y, a, c: ratio(c * a - 1, y) - c * y ** (c - 1),
        (
            Shape(lambda y, a, c: c * np.log(y) - sp.digamma(a), slope=gengamma_slope),
            Shape(
                lambda y, a, c: 1 / c + np.log(y) * (a - y**c),
                move=lambda y, a, c: by_power(y, c),
            ),
        ),
    ),
    "erlang": Family(COMMON["gamma"].score, (None,)),
    "burr": Family(
        lambda y, c, d: ratio(c * d - 1, y) - (d + 1) * c * share_over(y, c),
        (
            Shape(
                lambda y, c, d: 1 / c + np.log(y) * ((d + 1) * share(y, -c) - 1),
                move=lambda y, c, d: by_power(y, c),
            ),
            Shape(lambda y, c, d: 1 / d - np.log1p(y**-c), move=burr_move),
        ),
    ),
    "exponnorm": Family(
        lambda y, k: mills(y - 1 / k) - 1 / k,
        (
            Shape(
                lambda y, k: ((y - 1 / k + mills(y - 1 / k)) / k - 1) / k,
                slope=exponnorm_slope,
            ),
        ),
    ),
    "exponpow": Family(
        lambda y, b: ratio(b - 1 - b * y**b * np.expm1(y**b), y),
        (Shape(lambda y, b: 1 / b + np.log(y) * (1 - y**b * np.expm1(y**b)), move=by_power),),
    ),
    "genhalflogistic": Family(
        lambda y, c: (half_logistic(y, c) + c) / (1 - c * y),
        (
            Shape(
                lambda y, c: y / (1 - c * y) - half_logistic(y, c) * root_slope(y, -c),
                move=end_move,
            ),
        ),
    ),
    "norminvgauss": Family(
        lambda y, a, b: b - (a * bessel_ratio(y, a) + 2 / np.hypot(1.0, y)) * y / np.hypot(1.0, y),
        (
            Shape(
                lambda y, a, b: a / np.sqrt(a * a - b * b) - np.hypot(1.0, y) * bessel_ratio(y, a)
            ),
            Shape(lambda y, a, b: y - b / np.sqrt(a * a - b * b)),
        ),
    ),
    "kappa3": Family(
        lambda y, a: -(a + 1) * y ** (a - 1) / (a + y**a),
        (
            Shape(
                lambda y, a: (
                    (np.log(a + y**a) / a - (a + 1) * (1 + sp.xlogy(y**a, y)) / (a + y**a) + 1) / a
                ),
                move=kappa_move,
            ),
        ),
    ),
    "vonmises_line": COMMON["vonmises"],
    "halfgennorm": Family(
        lambda y, beta: -beta * y ** (beta - 1),
        (
            Shape(
                gennorm_shape,
                slope=lambda y, beta: 2 * gennorm_slope(y, beta),
            ),
        ),
    ),
    **{name: family for name, family in SPECIAL_FAMILIES.items() if getattr(scipy.stats, name)},
}
"""What is known of continuous distributions beside SciPy's own lines, by SciPy's names."""

GENERAL = scipy.stats._distn_infrastructure.rv_continuous

CONTINUOUS = sorted(
    name for name in dir(scipy.stats) if isinstance(getattr(scipy.stats, name), GENERAL)
)
"""The continuous distributions that the installed SciPy has, by its names."""

"""How each continuous distribution of `scipy.stats` depends on its variable and its shapes."""

import math
from collections.abc import Callable

import numpy as np

from tape_ad.extend.arrays import Array, ratio
from tape_ad.extend.packages import copied_object
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.distributions import kolmogorov, smirnov
from tape_ad.scipy.special.elementary import root_slope
from tape_ad.scipy.special.incomplete import SMALLEST, gamma_density, gammainc_slope
from tape_ad.scipy.special.noncentral import (
    chi_first,
    chi_second,
    chi_terms,
    fisher_fourth,
    student_third,
)
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.expectations import PARTS, SHARES, expectation, less_mean, weighed
from tape_ad.scipy.stats.families import (
    COMMON,
    Family,
    Formula,
    Shape,
    by_power,
    end_move,
    gennorm_shape,
    gennorm_slope,
    log_root,
    share,
    share_over,
)
from tape_ad.scipy.stats.methods import distributions_of, logpdf, pdf


def log_over(y: Array, c: Array) -> Array:
    """y * log1p(y**-c), at 0 too."""
    small = y * np.log1p(y**c) - c * sp.xlogy(y, y)
    return np.where(np.less(y, 1), small, y * np.log1p(y**-c))


def burr_move(y: Array, c: Array, d: Array) -> Array:
    """The move of ``(1 + y**-c)**-d`` with d."""
    return log_over(y, c) / (c * d * share(y, -c))


def half_logistic(y: Array, c: Array) -> Array:
    """The slope of the logarithm of halflogistic's density where genhalflogistic needs it."""
    return -np.tanh(0.5 * log_root(y, -c))


def kappa_score(y: Array, h: Array, k: Array) -> Array:
    """The slope of the logarithm of the density of kappa4."""
    u = np.exp(-log_root(y, -k))
    return (k - 1 + (1 - h) * u / (1 - h * u)) / (1 - k * y)


def argus_shape(y: Array, chi: Array) -> Array:
    """What argus depends on chi by, but for its norm."""
    return -chi * (1 - y) * (1 + y)


def gausshyper_shape(statistic: Formula) -> Formula:
    """The score of gausshyper for one of its shapes, by a statistic of log y and log(1 - y).

    The expectation is taken by the logarithms from both ends of the support, where the density may
    have poles so steep that a good part of it is nearer to an end than the numbers beside that.
    """

    def score(y: Array, *shapes: Array) -> Array:
        a, b, c, z = [np.expand_dims(shape, -1) for shape in shapes]
        low, above, first = from_end(a, a + b)
        high, below, second = from_end(b, a + b)
        first, second = first + (b - 1) * above, second + (a - 1) * below
        low, high = np.concatenate([low, below], -1), np.concatenate([above, high], -1)
        sizes = np.concatenate([first, second], -1) - c * np.log1p(z * np.exp(low))
        (mean,) = weighed(sizes, statistic(low, high, c, z))
        return statistic(np.log(y), np.log1p(-y), *shapes[2:]) - mean

    return score


def from_end(shape: Array, both: Array) -> tuple[Array, Array, Array]:
    """Give logarithms of distances from an end, and from the other, and of y**shape dy / y."""
    power = np.where(np.less(shape, 1), shape, 1.0)
    near = np.log(shape / both) + np.log(SHARES) / power
    return near, np.log1p(-np.exp(near)), shape * near + np.log(PARTS / SHARES) - np.log(power)


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


def kappa3_tail(y: Array, a: Array) -> Array:
    """The logarithm of kappa3's survival function 1 - (1 + a w)**(-1 / a), with w = y**-a."""
    w = np.clip(y**-a, 1e-300, 1e300)
    exponent = log_root(w, a)
    return np.log(exponent / w) + np.log(sp.exprel(-exponent)) - a * np.log(y)


def kappa3_move(y: Array, a: Array) -> Array:
    """The move of the variable of kappa3 with its parameter."""
    u = y**a
    level = sp.xlog1py(u, a / np.maximum(u, SMALLEST)) + a * np.log(a + u)
    return y * (a - level) / a**3


# Pearson's third kind, which is a gamma distribution with mean 0 and variance 1


def pearson_parts(y: Array, skew: Array) -> tuple[Array, Array, Array, Array]:
    """Give the gamma variable, its shape, and the derivatives of both by the skewness."""
    a, rate = 4 / (skew * skew), 2 / skew
    a_slope, rate_slope = -2 * a / skew, -rate / skew
    return rate * y + a, a, rate_slope * y + a_slope, a_slope


def pearson_score(y: Array, skew: Array) -> Array:
    """Differentiate the logarithm of the density of pearson3 by the skewness.

    With u = skew y / 2 and g(u) = (log1p(u) - u) / u**2 the logarithm is y**2 g(u) - log1p(u), but
    for what Stirling's formula leaves of the gamma function.
    """
    u, mild = 0.5 * skew * y, np.less(np.absolute(skew), 0.3)
    near = np.less(np.absolute(u), 0.1)
    far, small = np.where(near, 1.0, u), np.where(near, u, 0.0)
    third: Array = np.zeros(())
    for k in range(16, -1, -1):
        third = third * -small + (k + 1) / (k + 3)
    direct = (-far / (1 + far) - 2 * (np.log1p(far) - far) / far) / (far * far)
    s, bent = np.where(mild, skew, 0.0), np.where(mild, 1.0, skew)
    a, square = 4 / (bent * bent), s * s
    left = (np.log(a) - sp.digamma(a) - 0.5 / a) * 2 * a / bent
    stirling = s * (1 / 24 - square * square * (1 / 3840 - square * square / 129024))
    third = np.where(near, third, direct)
    return 0.5 * y * (y * y * third - 1 / (1 + u)) - np.where(mild, stirling, left)


def pearson_slope(y: Array, skew: Array) -> Array:
    """The derivative of pearson3's distribution function by its skew; Edgeworth's series near 0.

    Its coefficients follow from those of the cumulants, which are (n - 1)! (skew / 2)**(n - 2).
    """
    near = np.less(np.absolute(skew), 0.02)
    w, a, w_slope, a_slope = pearson_parts(y, np.where(near, 1.0, skew))
    slope = gammainc_slope(a, w, 1) * a_slope + gamma_density(a, w) * w_slope
    r = 0.5 * np.where(near, skew, 0.0)
    c: list[Array] = [1.0, 0.0, 0.0]
    by_skew: list[Array] = [0.0, 0.0, 0.0]
    hermite, total = [1.0, y], 0.0
    for m in range(2, 21):
        rising = m * c[m] + c[m - 2]
        by_skew.append((0.5 * rising + r * (m * by_skew[m] + by_skew[m - 2])) / (m + 1))
        c.append(r * rising / (m + 1))
        hermite.append(y * hermite[m - 1] - (m - 1) * hermite[m - 2])
        total = total + by_skew[m + 1] * hermite[m]
    series = -total * np.exp(-0.5 * y * y) / math.sqrt(2 * math.pi)
    return np.where(near, series, np.sign(skew) * slope)


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


def columns(*operands: Array) -> list[Array]:
    """Put an axis for terms behind those of the operands."""
    return [np.expand_dims(x, -1) for x in np.broadcast_arrays(*operands)]


# Densities with Bessel functions in them: there is no cancellation in the means of terms

NODES = np.linspace(0.0, 1.0, 129)
ENDS = np.where(NODES == 0, 0.5, 1.0)


def bessel_slopes(nu: Array, z: Array) -> list[Array]:
    """Differentiate the logarithm of K_nu(z) by nu and by z.

    K_nu(z) is the integral of exp(-z cosh(t)) cosh(nu t) over t > 0, DLMF 10.32.9.
    """
    nu, z = columns(nu, z)
    size = np.absolute(nu)
    t = NODES * 2 * np.arcsinh(np.sqrt((50 + 20 * size) / (2 * z)))
    fall = 2 * np.sinh(t / 2) ** 2
    both = 1 + np.exp(-2 * size * t)
    logs = size * t - z * fall + np.log(ENDS * both)
    return weighed(logs, t * np.tanh(nu * t), -1 - fall)


def hyperbolic_terms(y: Array, p: Array, a: Array, b: Array) -> list[Array]:
    """Differentiate the logarithm of the density of genhyperbolic by y, p, a and b."""
    r, square = np.hypot(1.0, y), (a - b) * (a + b)
    root = np.sqrt(square)
    order, slope = bessel_slopes(p, root)
    order_at, slope_at = bessel_slopes(p - 0.5, a * r)
    return [
        b + (a * slope_at + (p - 0.5) / r) * y / r,
        0.5 * np.log(square) - np.log(a) - order + order_at + np.log(r),
        p * a / square - (p - 0.5) / a - slope * a / root + slope_at * r,
        slope * b / root - p * b / square + y,
    ]


def inverse_terms(y: Array, p: Array, b: Array) -> list[Array]:
    """Differentiate the logarithm of the density of geninvgauss by y, p and b."""
    order, slope = bessel_slopes(p, b)
    return [
        (p - 1) / y - 0.5 * b * (1 - 1 / (y * y)),
        np.log(y) - order,
        -0.5 * (y + 1 / y) - slope,
    ]


def family_of(terms: Callable[..., list[Array]], shapes: int) -> Family:
    """Make the family whose scores are those terms, in their order."""

    def term(i: int) -> Callable[..., Array]:
        return lambda *operands: terms(*operands)[i]

    return Family(term(0), tuple(Shape(term(i + 1)) for i in range(shapes)))


SPECIAL_FAMILIES: dict[str, Family] = {
    "genhyperbolic": family_of(hyperbolic_terms, 3),
    "geninvgauss": family_of(inverse_terms, 2),
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
    "argus": Family(shapes=(Shape(less_mean(expectation, "argus", argus_shape)),)),
    "gausshyper": Family(
        lambda y, a, b, c, z: ratio(a - 1, y) - ratio(b - 1, 1 - y) - c * z / (1 + z * y),
        (
            Shape(gausshyper_shape(lambda low, high, c, z: low)),
            Shape(gausshyper_shape(lambda low, high, c, z: high)),
            Shape(gausshyper_shape(lambda low, high, c, z: -np.log1p(z * np.exp(low)))),
            Shape(gausshyper_shape(lambda low, high, c, z: -c / (np.exp(-low) + z))),
        ),
    ),
    **dict.fromkeys(("irwinhall", "ksone", "kstwo"), Family(None, (None,))),
    "landau": Family(landau_score),
    "levy_stable": Family(None, (None, None)),
    "studentized_range": Family(None, (None, None)),
}
"""Those that a release of SciPy may not have."""


def chi_rise(y: Array, df: Array, nc: Array) -> Array:
    """The density of ncx2 with two degrees of freedom more, over y times its own; 1 / df at 0."""
    start = np.equal(y, 0)
    inner = np.where(start, 1.0, y)
    more, own = (logpdf(inner, k, nc, 0.0, 1.0, name="ncx2") for k in (df + 2, df))
    first = (1 - nc * y / (df * (df + 2))) / df
    return np.where(start, first, np.exp(more - own) / inner)


def chi_score(y: Array, df: Array, nc: Array) -> Array:
    """The slope of the log density of ncx2 by df: the mean of its terms' slopes, by shares."""
    j, _, shapes, half = chi_terms(y, df, nc)
    logs = sp.xlogy(j, 0.5 * nc * half) - sp.gammaln(j + 1) - sp.gammaln(shapes)
    shares = np.exp(logs - np.max(logs, axis=0))
    mean = np.sum(shares * sp.digamma(shapes), axis=0) / np.sum(shares, axis=0)
    return 0.5 * (np.log(half) - mean)


LINES: dict[tuple[str, str], Formula] = {
    ("ksone", "pdf"): lambda y, n: -smirnov(y, n, y),
    ("kstwobign", "pdf"): lambda y: -kolmogorov(y, y),
    ("ncx2", "pdf"): lambda y, df, nc: chi_first(y, y, df, nc),
    ("ncx2", "cdf"): sp.chndtr,
    ("ncf", "pdf"): lambda y, m, n, nc: fisher_fourth(y, m, n, nc, y),
    ("ncf", "cdf"): lambda y, m, n, nc: sp.ncfdtr(m, n, nc, y),
    ("nct", "pdf"): lambda y, df, nc: student_third(y, df, nc, y),
    ("nct", "cdf"): lambda y, df, nc: sp.nctdtr(df, nc, y),
    ("kappa3", "logsf"): kappa3_tail,
    ("norminvgauss", "cdf"): lambda y, a, b: copied_object(scipy.stats.norminvgauss)._sf(-y, a, -b),
}
"""What stands for SciPy's lines of a method in standard form, if they are missing or compiled."""

FAMILIES: dict[str, Family] = {
    **COMMON,
    **dict.fromkeys(
        ("dgamma", "dweibull", "laplace_asymmetric", "skewcauchy"),
        Family(kink=lambda shape: 0.0 * shape),
    ),
    "crystalball": Family(kink=lambda beta, m: -beta),
    "loglaplace": Family(
        lambda y, c: ratio(np.where(np.less(y, 1), c, -c) - 1, y),
        (Shape(lambda y, c: 1 / c - np.absolute(np.log(y)), move=by_power),),
        kink=lambda c: 0.0 * c + 1.0,
    ),
    "genlogistic": Family(
        lambda y, c: (c + 1) * sp.expit(-y) - 1,
        (Shape(move=lambda y, c: -sp.log_expit(y) / (c * sp.expit(-y))),),
    ),
    "gengamma": Family(
        shapes=(
            Shape(lambda y, a, c: c * np.log(y) - sp.digamma(a), slope=gengamma_slope),
            Shape(
                lambda y, a, c: 1 / c + np.log(y) * (a - y**c), move=lambda y, a, c: by_power(y, c)
            ),
        )
    ),
    "erlang": Family(None, (None,)),
    "rice": Family(shapes=(Shape(move=lambda y, b: sp.i1e(y * b) / sp.i0e(y * b)),)),
    "kappa3": Family(shapes=(Shape(move=kappa3_move),)),
    "ncx2": Family(
        lambda y, df, nc: ratio(0.5 * df - 1, y) - 0.5 + 0.5 * nc * chi_rise(y, df, nc),
        (
            Shape(chi_score, slope=lambda y, df, nc: chi_second(y, y, df, nc)),
            Shape(
                lambda y, df, nc: 0.5 * (y * chi_rise(y, df, nc) - 1),
                slope=lambda y, df, nc: -pdf(y, df + 2, nc, 0.0, 1.0, name="ncx2"),
            ),
        ),
    ),
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
    "mielke": Family(  # burr's, with c = s and d = k / s
        shapes=(
            Shape(move=lambda y, k, s: burr_move(y, s, k / s) / s),
            Shape(move=lambda y, k, s: by_power(y, s) - burr_move(y, s, k / s) * k / (s * s)),
        )
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
    "halfgennorm": Family(
        lambda y, beta: -beta * y ** (beta - 1),
        (Shape(gennorm_shape, slope=lambda y, beta: 2 * gennorm_slope(y, beta)),),
    ),
    **{name: family for name, family in SPECIAL_FAMILIES.items() if getattr(scipy.stats, name)},
}
"""What is known of continuous distributions beside SciPy's own lines, by SciPy's names."""

CONTINUOUS = distributions_of(scipy.stats._distn_infrastructure.rv_continuous)
"""The continuous distributions that the installed SciPy has, by its names."""

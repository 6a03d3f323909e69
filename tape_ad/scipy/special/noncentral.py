"""Student's t; and noncentral distribution functions, chi-square, F and his, in every argument.

The first two noncentral ones are mixtures of central ones: with m = nc / 2 and
p(j, m) = exp(-m) m**j / j!,

    chndtr(x, df, nc) = sum over j of p(j, m) P(df / 2 + j, x / 2)
    ncfdtr(dfn, dfd, nc, f) = sum over j of p(j, m) I_y(dfn / 2 + j, dfd / 2),

where y = dfn f / (dfn f + dfd): Abramowitz and Stegun 26.4.25 and 26.6.18. All terms of a density
have one sign, so that it keeps its digits in the tails. The third is the mean of
Phi(t s - nc) over s = sqrt(V / df), where V has the chi-square distribution.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Constant, Maker, overridable
from tape_ad.scipy.special.elementary import root_slope
from tape_ad.scipy.special.gamma_functions import digamma_step, polygamma
from tape_ad.scipy.special.incomplete import (
    CUT,
    NODES,
    WEIGHTS,
    bell,
    beta_over,
    density_between,
    gamma_density,
    gammainc_slope,
    integrated,
    reach,
    slope_between,
    spread,
    stirling_error,
)
from tape_ad.scipy.special.shared import BERNOULLI, of_doubles, sp


@of_doubles
def poisson_weight(j: Array, m: Array) -> Array:
    """exp(-m) m**j / j! for whole numbers j, and 0 below 0."""
    return np.where(j < 0, 0.0, gamma_density(np.maximum(j, 0) + 1, m))


@overridable
def whole_numbers(one: Array, other: Array) -> Array:
    """List, along a new first axis, the whole numbers around and between two means.

    They reach as far as the terms of a Poisson distribution of either mean do: by Bernstein's
    inequality the share beyond w from the mean m is below exp(-w**2 / (2 m + 2 w / 3)).
    """
    one, other = (np.where(np.isfinite(x) & (x > 0), x, 0.0) for x in (one, other))
    low, high = np.minimum(one, other), np.maximum(one, other)
    width = CUT / 3 + np.sqrt(CUT * CUT / 9 + 2 * CUT * high)
    first = np.floor(np.maximum(low - width, 0))
    count = int(np.max(np.ceil(high + width) - first, initial=0)) + 1
    return np.arange(count).reshape(-1, *(1,) * first.ndim) + first


def added(terms: Array) -> Array:
    """Add up along the first axis."""
    return np.add.reduce(terms, axis=0)


def chi_terms(x: Array, df: Array, nc: Array) -> tuple[Array, Array, Array, Array]:
    """Give j, the weights p(j, nc / 2), the shapes df / 2 + j, and x / 2.

    The largest term of the density is where j (j + df / 2) = nc x / 4.
    """
    a, m, y = df / 2, nc / 2, x / 2
    j = whole_numbers(m, 2 * m * y / (a + np.sqrt(a * a + 4 * m * y)))
    return j, poisson_weight(j, m), a + j, y


def chi_first(out: Array, x: Array, df: Array, nc: Array) -> Array:
    """Give the density of the noncentral chi-square distribution."""
    _, weights, shapes, y = chi_terms(x, df, nc)
    return 0.5 * added(weights * gamma_density(shapes, y))


def chi_second(out: Array, x: Array, df: Array, nc: Array) -> Array:
    """Differentiate the central functions with respect to their shapes."""
    _, weights, shapes, y = chi_terms(x, df, nc)
    return 0.5 * added(weights * gammainc_slope(shapes, y, 1))


def chi_third(out: Array, x: Array, df: Array, nc: Array) -> Array:
    """Differentiate the weights, and add by parts: minus the density with two degrees more."""
    _, weights, shapes, y = chi_terms(x, df, nc)
    return -0.5 * added(weights * gamma_density(shapes + 1, y))


def fisher_terms(n: Array, d: Array, nc: Array, f: Array) -> tuple[Array, ...]:
    """Give the weights, the shapes n / 2 + j, the other shape d / 2, y and 1 - y.

    The largest term of the density is where j (j + a) = m y (a + b + j), with a = n / 2.
    """
    a, b, m = n / 2, d / 2, nc / 2
    total = n * f + d
    y = n * f / total
    half = 0.5 * (m * y - a)
    j = whole_numbers(m, half + np.sqrt(half * half + m * y * (a + b)))
    return poisson_weight(j, m), a + j, b, y, d / total


def fisher_density(n: Array, d: Array, nc: Array, f: Array) -> Array:
    """Differentiate with respect to y, and multiply by y (1 - y)."""
    weights, a, b, y, rest = fisher_terms(n, d, nc, f)
    return added(weights * beta_over(a, b, y, rest))


def fisher_first(out: Array, n: Array, d: Array, nc: Array, f: Array) -> Array:
    """Differentiate with respect to the degrees of freedom of the numerator."""
    weights, a, b, y, rest = fisher_terms(n, d, nc, f)
    slope = fisher_density(n, d, nc, f) / n
    return 0.5 * added(weights * slope_between(a, b, y, rest, 1, 0)) + slope


def fisher_second(out: Array, n: Array, d: Array, nc: Array, f: Array) -> Array:
    """Differentiate with respect to the degrees of freedom of the denominator."""
    weights, a, b, y, rest = fisher_terms(n, d, nc, f)
    slope = fisher_density(n, d, nc, f) / d
    return 0.5 * added(weights * slope_between(a, b, y, rest, 0, 1)) - slope


def fisher_third(out: Array, n: Array, d: Array, nc: Array, f: Array) -> Array:
    """Differentiate the weights, and add by parts.

    I_y(a + 1, b) - I_y(a, b) = -(1 - y) / (a + b) times the density of shapes a + 1 and b, DLMF
    8.17.20.
    """
    weights, a, b, y, rest = fisher_terms(n, d, nc, f)
    return -0.5 * rest * added(weights * density_between(a + 1, b, y, rest) / (a + b))


def fisher_fourth(out: Array, n: Array, d: Array, nc: Array, f: Array) -> Array:
    """Give the density of the noncentral F distribution."""
    weights, a, b, y, rest = fisher_terms(n, d, nc, f)
    total = d + n * f
    return added(weights * density_between(a, b, y, rest)) * (n / total) * (d / total)


# Student's: the integrals are over w = log s, in which the integrand of the density has one maximum

NORMAL = 1 / math.sqrt(2 * math.pi)

FEW = 0.1
"""Below how many degrees of freedom the limit of the integrand is taken out of it."""


def column(values: Array, like: Array) -> Array:
    """Let an array run along a new first axis, beside those of another."""
    return values.reshape(-1, *(1,) * np.ndim(like))


@overridable
def student_ends(df: Array, nc: Array, t: Array) -> Array:
    """Find where w has its maximum, and how far it goes on the left and on the right.

    The logarithm of the integrand is g(w) = df w - df s**2 / 2 - (t s - nc)**2 / 2, apart from a
    constant: the maximum is the positive root of (df + t**2) s**2 - t nc s - df = 0.
    """
    df, nc, t = np.broadcast_arrays(df, nc, t)
    square = df + t * t
    root = np.sqrt(t * t * nc * nc + 4 * df * square)
    up = t * nc > 0
    direct = (t * nc + root) / (2 * square)
    s = np.where(up, direct, 2 * df / np.where(up, 1, root - t * nc))  # without cancellation
    middle = np.log(s)

    def fallen(w: Array) -> Array:
        here = s * np.exp(w)
        return df * w - 0.5 * (here - s) * ((df + t * t) * (here + s) - 2 * t * nc)

    ends = [middle]
    for sign in (-1.0, 1.0):
        low, high = np.zeros(s.shape), np.ones(s.shape)
        for _ in range(12):
            high = np.where(fallen(sign * high) > -CUT, 2 * high, high)
        for _ in range(30):
            mean = (low + high) / 2
            short = fallen(sign * mean) > -CUT
            low, high = np.where(short, mean, low), np.where(short, high, mean)
        ends.append(high)
    return np.stack(ends)


def scales(df: Array, nc: Array, t: Array) -> tuple[Array, Array]:
    """Give nodes s along a new first axis, and the weights of ds / s."""
    middle, left, right = student_ends(df, nc, t)
    nodes, weights = column(NODES, middle), column(WEIGHTS, middle)
    ways, shares = [], []
    for sign, end in ((-1, left), (1, right)):
        way, share = spread(end, nodes, weights)
        ways.append(middle + sign * way)
        shares.append(share)
    return np.exp(np.concatenate(ways)), np.concatenate(shares)


def scaled_density(a: Array, x: Array) -> Array:
    """Multiply the density of the gamma distribution by x, also where x has underflown to 0."""
    nothing = np.equal(x, 0)
    return np.where(nothing, 0.0, x * gamma_density(a, np.where(nothing, 1.0, x)))


def bells(df: Array, nc: Array, t: Array, s: Array) -> Array:
    """Give the density of the normal distribution at t s - nc, times that of log s."""
    z = t * s - nc
    return 2 * NORMAL * np.exp(-0.5 * z * z) * scaled_density(df / 2, df * s * s / 2)


def student_first(out: Array, df: Array, nc: Array, t: Array) -> Array:
    """Add by parts: the mean of -t phi(t s - nc) dH / d(df), where H distributes s.

    H is P(df / 2, df s**2 / 2).
    """
    s, weights = scales(df, nc, t)
    z = t * s - nc
    a, x = df / 2, df * s * s / 2
    slope = 0.5 * gammainc_slope(a, x, 1) + scaled_density(a, x) / df
    return -t * NORMAL * added(weights * s * np.exp(-0.5 * z * z) * slope)


def student_second(out: Array, df: Array, nc: Array, t: Array) -> Array:
    """Take the mean of -phi(t s - nc).

    For few degrees of freedom nearly all of the weight is where s is next to nothing, farther out
    than there are nodes. So left of the maximum phi(nc) is taken out, whose integral is known.
    """
    s, weights = scales(df, nc, t)
    half = s.shape[0] // 2
    middle = np.exp(student_ends(df, nc, t)[0])
    known = NORMAL * np.exp(-0.5 * nc * nc) * sp.gammainc(df / 2, df * middle * middle / 2)
    terms, limit = weights * bells(df, nc, t, s), weights[:half] * bells(df, nc, 0.0, s[:half])
    few = known + added(terms[:half] - limit) + added(terms[half:])
    return -np.where(np.less(df, FEW), few, added(terms))


def student_third(out: Array, df: Array, nc: Array, t: Array) -> Array:
    """Take the mean of s phi(t s - nc), the density."""
    s, weights = scales(df, nc, t)
    return added(weights * s * bells(df, nc, t, s))


def flat_at_infinity(position: int, *makers: Callable[..., Array]) -> tuple[Maker, ...]:
    """Make the row of functions that are constant where the variable at a position is infinite."""

    def flat(maker: Callable[..., Array]) -> Maker:
        def partial(out: Array, *args: Array) -> Array:
            endless = np.isinf(args[position])
            if not endless.any():
                return maker(out, *args)
            inner = np.where(endless, 0.5, args[position])
            return np.where(endless, 0, maker(out, *args[:position], inner, *args[position + 1 :]))

        return partial

    return tuple(map(flat, makers))


NONCENTRAL: dict[Any, Any] = {
    poisson_weight: (None, lambda out, j, m: poisson_weight(j - 1, m) - poisson_weight(j, m)),
    whole_numbers: Constant(facts.Facts(shape_by_values=True)),
    student_ends: Constant(),
    sp.chndtr: flat_at_infinity(0, chi_first, chi_second, chi_third),
    sp.ncfdtr: flat_at_infinity(3, fisher_first, fisher_second, fisher_third, fisher_fourth),
    sp.nctdtr: flat_at_infinity(2, student_first, student_second, student_third),
}


# Student's t and its degrees of freedom
#
# What they change falls with their square, so a formula whose terms fall with them alone has no
# digits left where they are many. The logarithm of the density is differentiated without those
# terms, and the distribution function by integrating that: in the variable w, u = sqrt(df) sinh(w),
# the density is a multiple of cosh(w)**-df, whose logarithm is concave. From 0 to the variable, or
# from there to where it has fallen by exp(-42), one Gauss-Legendre rule of 64 nodes does it.


LN2 = math.log(2.0)

MIDDLE = 1.5
"""From where on the tail is integrated: near there, the density does not depend on df."""

HEAVY = 0.05
"""Below which share of its length a tail has nearly all there is, and the same for any df."""


@of_doubles
def student_density(y: Array, df: Array) -> Array:
    """Give the density of Student's t distribution, and the normal one where df is infinite."""
    scale = sp.poch(df / 2, 0.5) / np.sqrt(math.pi * df)  # keeps its digits for large df
    student = scale * np.exp(-0.5 * (df + 1) * np.log1p(y / df * y))
    return np.where(df == np.inf, np.exp(-0.5 * y * y) / math.sqrt(2 * math.pi), student)


def student_score(y: Array, df: Array) -> Array:
    """Differentiate the logarithm of the density with respect to the variable."""
    endless = np.isinf(df)
    df = np.where(endless, 1.0, df)
    size = np.hypot(y, np.sqrt(df))
    return np.where(endless, -y, -(df + 1) * (y / size) / size)


def student_shape(y: Array, df: Array) -> Array:
    """Differentiate the logarithm of the density with respect to df."""
    return kappas(*compared(y, df), df)(1, 0)


def compared(y: Array, df: Array) -> tuple[Array, Array]:
    """Give the share of y**2 in df + y**2, behind log(1 + y**2 / df) without it."""
    root = np.sqrt(df)
    size = np.hypot(y, root)
    share = (y / size) ** 2
    small = np.less(np.absolute(y), root)
    logarithm = 2 * np.log(size / root)
    excess = np.where(
        small, -root_slope(np.where(small, y / root, 0.0) ** 2, 1.0), logarithm - share
    )
    return excess, share


def kappas(excess: Array, share: Array, df: Array) -> Callable[[int, int], Array]:
    """Give the derivatives of the logarithm of the density by df, as `bell` takes them.

    The first is half of gamma_step(df) - excess + share / df.
    """
    rest = 1 - share

    def kappa(k: int, _: int) -> Array:
        n = k - 1
        factor = (-1) ** n * math.factorial(n) / df**n
        powers = sum(rest**i for i in range(k))
        excesses = excess
        if n:
            excesses = factor / n * share * share * sum(i * rest ** (i - 1) for i in range(1, k))
        return 0.5 * (gamma_step(df, n) - excesses + factor * share * powers / df)

    return kappa


def gamma_step(df: Array, n: int) -> Array:
    """The n-th derivative of digamma((df + 1) / 2) - digamma(df / 2) - 1 / df, DLMF 5.11.2."""
    far = np.maximum(df, 30.0)
    inverse: Any = 1 / (far * far)
    series: Array = 0.0
    for k in range(8, 0, -1):
        factor = math.prod(range(2 * k, 2 * k + n)) * (4**k - 1) / k
        series = (series + factor * BERNOULLI[k - 1]) * inverse
    near = np.minimum(df, 30.0)
    if n:
        step = (polygamma(n, (near + 1) / 2) - polygamma(n, near / 2)) / 2**n
    else:
        step = digamma_step(near / 2, 0.5)
    sign = (-1) ** n
    step = step - sign * math.factorial(n) / near ** (n + 1)
    return np.where(np.greater(df, 30), sign * series / far**n, step)


@of_doubles
def student_slope(y: Array, df: Array, order: int) -> Array:
    """Differentiate the distribution function with respect to df, `order` times."""
    inside = (df > 0) & (df < np.inf) & (y != 0) & np.isfinite(y)
    size = np.abs(y)
    close = (size < MIDDLE) | (df * np.arcsinh(size / np.sqrt(df)) < HEAVY)
    near = integrated(lambda t, df: from_zero(t, df, order), inside & close, size, df)
    far = integrated(lambda t, df: tail(t, df, order), inside & ~close, size, df)
    return np.where((df > 0) & ~np.isnan(y), np.sign(y) * (near - far), np.nan)


def log_cosh(w: Array) -> Array:
    """The logarithm of cosh(w), for w >= 0."""
    small = np.minimum(w, 1.0)
    return np.where(w < 1, 0.5 * np.log1p(np.sinh(small) ** 2), w + np.log1p(np.exp(-2 * w)) - LN2)


def weighed(w: Array, df: Array, order: int) -> Array:
    """The derivative of the density by df, in the variable w, over its largest value."""
    small = w < 0.8  # where y**2 < df
    share = np.tanh(w) ** 2
    square = np.sinh(np.where(small, w, 0.0)) ** 2
    excess = np.where(small, -root_slope(square, 1.0), 2 * log_cosh(w) - share)
    terms = bell(kappas(excess, share, df), order)
    return np.exp(-df * log_cosh(w)) * terms


def greatest(df: Array) -> Array:
    """1 / B(1/2, df/2), the greatest value of the density in the variable w."""
    a = df / 2
    error = stirling_error(a + 0.5) - stirling_error(a)
    return np.sqrt(a / np.pi) * np.exp(a * np.log1p(0.5 / a) - 0.5 + error)


def from_zero(t: Array, df: Array, order: int) -> Array:
    """Integrate from 0 to t; the nodes stand closer near 0, where most of it is for small df."""
    w, weights = spread(np.arcsinh(t / np.sqrt(df)))
    return greatest(df)[:, 0] * np.add.reduce(weights * weighed(w, df, order), axis=-1)


def tail(t: Array, df: Array, order: int) -> Array:
    """Integrate from t on; the nodes stand closer near t, where a long tail has its structure."""
    start = np.arcsinh(t / np.sqrt(df))
    level = log_cosh(start)

    def fall(w: Array) -> Array:
        return df * (log_cosh(start + w) - level)

    end = reach(fall, lambda w: df * np.tanh(start + w), np.sqrt(2 * CUT / df) + CUT / df)
    w, weights = spread(end)
    return greatest(df)[:, 0] * np.add.reduce(weights * weighed(start + w, df, order), axis=-1)


def density_slope(out: Array, y: Array, df: Array, order: int) -> Array:
    """Differentiate the density with respect to df, `order` times."""
    return student_density(y, df) * bell(kappas(*compared(y, df), df), order)


STUDENT: dict[Any, Any] = {
    sp.stdtr: (
        lambda out, df, t: student_slope(t, df, 1),
        lambda out, df, t: student_density(t, df),
    ),
    student_density: (
        lambda out, y, df: out * student_score(y, df),
        lambda out, y, df: out * student_shape(y, df),
    ),
    student_slope: (density_slope, lambda out, y, df, order: student_slope(y, df, order + 1)),
}

"""SciPy's noncentral distribution functions: chi-square, F and Student's t, in every argument.

The first two are mixtures of central ones: with m = nc / 2 and p(j, m) = exp(-m) m**j / j!,

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
from tape_ad.scipy.special.incomplete import (
    CUT,
    NODES,
    WEIGHTS,
    beta_over,
    density_between,
    gamma_density,
    gammainc_slope,
    slope_between,
    spread,
)
from tape_ad.scipy.special.shared import of_doubles, sp


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

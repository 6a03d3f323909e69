"""SciPy's gamma function and its kin: logarithms, polygamma, beta, binomials.

At the poles of a function its derivative is nan, or inf where it has one sign on both sides. Where
a reciprocal of the gamma function is 0, at whole numbers n <= 0, the derivative is exact.
"""

import math
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, possibly, primal
from tape_ad.extend.rules import Entry, arguments_of, overridable, quiet, rule
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.special.shared import BERNOULLI, in_double, no_partial, sp

__all__ = ["GAMMA", "digamma_step", "multigammaln", "polygamma"]


@takes_lists
def polygamma(n: Array, x: Array) -> Array:
    """Differentiate digamma n times, also at complex x, and in the precision of x."""
    n, x = np.asarray(n), np.asarray(x)
    if x.dtype.kind != "c":
        dtype = x.dtype if x.dtype.kind == "f" else np.float64
        return np.asarray(sp.polygamma(n, x)).astype(dtype)[()]
    zeta = complex_zeta(np.where(n == 0, 2, n + 1), x.astype(np.complex128))
    values = np.where(n == 0, sp.digamma(x), (-1.0) ** (n + 1) * sp.gamma(n + 1.0) * zeta)
    return values.astype(x.dtype)[()]


def complex_zeta(s: Array, z: Array) -> Array:
    """Compute Hurwitz's zeta for whole s > 1 and complex z, by the formula of Euler and Maclaurin.

    DLMF 25.11.28 and 25.11.3: the sum goes on until the real part of z + k is large. The time it
    takes grows with -Re z.
    """
    total = np.zeros(np.broadcast_shapes(s.shape, z.shape), np.complex128)
    with np.errstate(all="ignore"):
        while (left := z.real < 10 + s).any():
            total = total + np.where(left, z ** -s.astype(float), 0)
            z = z + left
        power = z ** -s.astype(float)
        total = total + power * (z / (s - 1) + 0.5)
        term = power * s / z
        for k, b in enumerate(BERNOULLI, 1):
            total = total + term * (b / math.factorial(2 * k))
            term = term * (s + 2 * k - 1) * (s + 2 * k) / (z * z)
    return total


@overridable
def digamma_step(a: Array, b: Array) -> Array:
    """Compute digamma(a + b) - digamma(a), without the cancellation where b is small beside a.

    For a and a + b above 10, by the asymptotic series DLMF 5.11.2 written in log1p(b / a); below
    it, ten steps of the recurrence 5.5.2 lead there. Where one of the arguments is not positive,
    by subtraction; where both have poles, these cancel by the reflection formula, DLMF 5.5.4.
    """
    return in_double(step_in_double, a, b)


def step_in_double(a: Array, b: Array) -> Array:
    """Compute digamma(a + b) - digamma(a) without cancellation."""
    poles = is_pole(a) & is_pole(a + b)
    if poles.any():
        elsewhere = step_in_double(np.where(poles, 1, a), np.where(poles, 0, b))
        return np.where(poles, -step_in_double(np.where(poles, 1 - a - b, 1), b), elsewhere)
    total: Array = 0.0
    for j in range(10):
        total = total + b / ((a + j) * (a + b + j))
    far = a + 10
    log = np.log1p(b / far)
    total = total + log - np.expm1(-log) / (2 * far)
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total - bernoulli / (2 * k) * far ** (-2 * k) * np.expm1(-2 * k * log)
    return np.where((a > 0) & (a + b > 0), total, sp.digamma(a + b) - sp.digamma(a))


def first_step(out: Array, a: Array, b: Array) -> Array:
    """Subtract two values of the trigamma function, reflected where both are at poles."""
    poles = is_pole(primal(a)) & is_pole(primal(a + b))
    at = np.where(poles, 1 - a - b, a) if possibly(poles) else a
    return polygamma(1, at + b) - polygamma(1, at)


def reciprocal_gamma(out: Array, x: Array) -> Array:
    """(1 / gamma(x))', exact also at its zeros, where digamma has poles.

    Left of 1/2 it is the derivative of gamma(1 - x) sin(pi x) / pi, DLMF 5.5.3.
    """
    left = np.less(x.real, 0.5)
    inner, outer = np.where(left, x, 0), np.where(left, 1, x)
    angle = np.pi * inner
    slope = np.cos(angle) - np.sin(angle) * (1 / np.pi) * sp.digamma(1 - inner)
    return np.where(left, sp.gamma(1 - inner) * slope, -out * sp.digamma(outer))


def rising_factorial(out: Array, z: Array, m: Array) -> Array:
    """poch(z, m) (digamma(z + m) - digamma(z)), by z, also where these have poles.

    Where only digamma(z) has one, poch is gamma(z + m) / gamma(z) and crosses 0.
    """
    end = z + m
    crosses = is_pole(primal(z)) & ~is_pole(primal(end))
    if not possibly(crosses):
        return out * digamma_step(z, m)
    reciprocal = sp.rgamma(z)
    crossing = reciprocal_gamma(reciprocal, z) + sp.digamma(end) * reciprocal
    return np.where(crosses, sp.gamma(end) * crossing, out * digamma_step(z, m))


def beta_first(out: Array, a: Array, b: Array) -> Array:
    """B(a, b) (digamma(a) - digamma(a + b)), by a; where 1 / gamma(a + b) is 0, by its slope."""
    end = a + b
    crosses = is_pole(primal(end)) & ~is_pole(primal(a)) & ~is_pole(primal(b))
    if not possibly(crosses):
        return -out * digamma_step(a, b)
    reciprocal = sp.rgamma(end)
    crossing = reciprocal_gamma(reciprocal, end) + sp.digamma(a) * reciprocal
    crossing = sp.gamma(a) * sp.gamma(b) * crossing
    return np.where(crosses, crossing, -out * digamma_step(a, b))


def is_pole(x: Array) -> Any:
    """Tell where gamma and digamma have poles: at 0, -1, -2, ..."""
    return np.less_equal(x, 0) & np.equal(x, np.floor(x))


def binomial_upper(out: Array, n: Array, k: Array) -> Array:
    """binom(n, k) (digamma(n + 1) - digamma(n - k + 1))."""
    return np.where(*beyond(out, n, k, 1), out * digamma_step(n - k + 1, k))


def binomial_lower(out: Array, n: Array, k: Array) -> Array:
    """binom(n, k) (digamma(n - k + 1) - digamma(k + 1)), and minus that of n - k below 0."""
    below = np.less(k, -0.5)
    if not possibly(below):
        return np.where(*beyond(out, n, k, -1), out * digamma_step(k + 1, n - 2 * k))
    k = np.where(below, n - k, k)
    slope = np.where(*beyond(out, n, k, -1), out * digamma_step(k + 1, n - 2 * k))
    return np.where(below, -slope, slope)


def beyond(out: Array, n: Array, k: Array, sign: int) -> tuple[Array, Array]:
    """Give the mask of k > n + 1/2, where binomials may be 0, and the derivative there.

    With w = n - k + 1, the binomial is gamma(n + 1) / (gamma(k + 1) gamma(w)), and the derivative
    of 1 / gamma(w) is the one in `reciprocal_gamma`. `sign` is that of w's dependence: 1 gives
    the derivative by n, -1 the one by k.
    """
    mask = np.greater(k, n + 0.5)
    if not mask.any():
        return mask, 0
    k, n = np.where(mask, k, 1), np.where(mask, n, 0)
    angle = np.pi * (n - k + 1)
    slope = np.cos(angle) - np.sin(angle) * (1 / np.pi) * sp.digamma(k - n)
    tail = sp.beta(n + 1, k - n) * slope
    return mask, out * sp.digamma(n + 1) + tail if sign > 0 else -(out * sp.digamma(k + 1) + tail)


@takes_lists
def multigammaln(a: Array, d: int) -> Array:
    """Compute SciPy's `multigammaln`, in the precision of a."""
    a = np.asarray(a)
    dtype = a.dtype if a.dtype.kind == "f" else np.float64
    return np.asarray(sp.multigammaln(a, d)).astype(dtype)[()]


def multigammaln_partial(out: Array, a: Array, d: int) -> Array:
    """sum of digamma(a - j/2) over j < d, DLMF 35.3.4."""
    total = sp.digamma(a)
    for j in range(1, int(d)):
        total = total + sp.digamma(a - 0.5 * j)
    return total


GAMMA: dict[Any, Entry] = {
    sp.gamma: rule(quiet(lambda out, x: out * sp.digamma(x))),
    sp.gammaln: rule(quiet(lambda out, x: sp.digamma(x))),
    sp.loggamma: rule(quiet(lambda out, x: sp.digamma(x))),
    sp.rgamma: rule(quiet(reciprocal_gamma)),
    sp.digamma: rule(quiet(lambda out, x: polygamma(1, x))),
    polygamma: rule(
        no_partial("polygamma", "n"),
        quiet(lambda out, n, x: polygamma(n + 1, x)),
        facts=facts.ELEMENTWISE,
    ),
    digamma_step: rule(
        quiet(first_step), lambda out, a, b: polygamma(1, a + b), facts=facts.ELEMENTWISE
    ),
    multigammaln: rule(
        quiet(multigammaln_partial),
        signature=arguments_of(multigammaln, "a"),
        facts=facts.elementwise("a"),
    ),
    sp.beta: rule(
        quiet(beta_first),
        quiet(lambda out, a, b: beta_first(out, b, a)),
    ),
    sp.betaln: rule(
        quiet(lambda out, a, b: -digamma_step(a, b)),
        quiet(lambda out, a, b: -digamma_step(b, a)),
    ),
    sp.poch: rule(
        quiet(rising_factorial),
        quiet(lambda out, z, m: out * sp.digamma(z + m)),
    ),
    sp.binom: rule(quiet(binomial_upper), quiet(binomial_lower)),
}

"""SciPy's gamma function and its kin: logarithms, polygamma, beta, binomials; zeta functions.

At the poles of a function its derivative is nan, or inf where it has one sign on both sides. Where
a reciprocal of the gamma function is 0, at whole numbers n <= 0, the derivative is exact.

Derivatives with respect to x = s of ``zeta(s, q)`` are those of the formula of Euler and Maclaurin,
DLMF 25.11.28, with a power series in the change of s in place of s: a list of its coefficients,
here called a series.
"""

import math
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, possibly, primal
from tape_ad.extend.rules import arguments_of, quiet, rule
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.special.shared import BERNOULLI, of_doubles, sp, ufuncs, with_body


@takes_lists
def polygamma(n: Array, x: Array) -> Array:
    """Differentiate digamma n times; see `scipy.special.polygamma`.

    Parameters
    ----------
    n : array of int
        It cannot be a handle.
    x : array or Tensor
        It broadcasts with `n`, and may be complex.

    Returns
    -------
    array or Tensor

    Raises
    ------
    UnsupportedArgumentError
        When `n` is a handle.

    Examples
    --------
    >>> polygamma(1, np.array([1.0]))
    array([1.64493407])
    """
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


@of_doubles
def digamma_step(a: Array, b: Array) -> Array:
    """Compute digamma(a + b) - digamma(a), without the cancellation where b is small beside a.

    For a and a + b above 10, by the asymptotic series DLMF 5.11.2 written in log1p(b / a); below
    it, ten steps of the recurrence 5.5.2 lead there. Where one of the arguments is not positive,
    by subtraction; where both have poles, these cancel by the reflection formula, DLMF 5.5.4.
    """
    poles = is_pole(a) & is_pole(a + b)
    a = np.where(poles, 1 - a - b, a)
    total: Array = 0.0
    for j in range(10):
        total = total + b / ((a + j) * (a + b + j))
    far = a + 10
    log = np.log1p(b / far)
    total = total + log - np.expm1(-log) / (2 * far)
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total - bernoulli / (2 * k) * far ** (-2 * k) * np.expm1(-2 * k * log)
    total = np.where((a > 0) & (a + b > 0), total, sp.digamma(a + b) - sp.digamma(a))
    return np.where(poles, -total, total)


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
    """Compute the logarithm of the multivariate gamma function; see `scipy.special.multigammaln`.

    Parameters
    ----------
    a : array or Tensor, any shape
        Above (d - 1) / 2.
    d : int
        The dimension.

    Returns
    -------
    array or Tensor, shape of `a`

    Examples
    --------
    >>> multigammaln(np.array([1.0, 2.0]), 1)
    array([0., 0.])
    """
    a = np.asarray(a)
    dtype = a.dtype if a.dtype.kind == "f" else np.float64
    return np.asarray(sp.multigammaln(a, d)).astype(dtype)[()]


def multigammaln_partial(out: Array, a: Array, d: int) -> Array:
    """sum of digamma(a - j/2) over j < d, DLMF 35.3.4."""
    total = sp.digamma(a)
    for j in range(1, int(d)):
        total = total + sp.digamma(a - 0.5 * j)
    return total


GAMMA: dict[Any, Any] = {
    sp.gamma: lambda out, x: out * sp.digamma(x),
    sp.gammaln: lambda out, x: sp.digamma(x),
    sp.loggamma: lambda out, x: sp.digamma(x),
    sp.rgamma: reciprocal_gamma,
    sp.digamma: lambda out, x: polygamma(1, x),
    polygamma: ("n", lambda out, n, x: polygamma(n + 1, x)),
    digamma_step: with_body(first_step, lambda out, a, b: polygamma(1, a + b), of=digamma_step),
    multigammaln: rule(
        quiet(multigammaln_partial),
        signature=arguments_of(multigammaln, "a"),
        facts=facts.elementwise("a"),
    ),
    sp.beta: (beta_first, lambda out, a, b: beta_first(out, b, a)),
    sp.betaln: (lambda out, a, b: -digamma_step(a, b), lambda out, a, b: -digamma_step(b, a)),
    sp.poch: (rising_factorial, lambda out, z, m: out * sp.digamma(z + m)),
    sp.binom: (binomial_upper, binomial_lower),
}


# The zeta functions of Riemann and Hurwitz, in both arguments


TERMS = 12
"""How many terms are summed before the formula's tail."""

LEFT = -0.5
"""Below it, Riemann's function is reflected; above, the formula loses two digits at most."""

Series = list[Array]


@of_doubles
def zeta_slope(s: Array, q: Array, order: int) -> Array:
    """Differentiate zeta(s, q) with respect to s, `order` times, for s > -1/2 and q > 0.

    It sums the derivatives of the first terms of (q + k)**-s, and of the formula's tail.
    """
    total: Array = 0.0
    for k in range(TERMS):
        total = total + (-np.log(q + k)) ** order * (q + k) ** -s
    end = q + TERMS
    last = [end**-s * (-np.log(end)) ** m / math.factorial(m) for m in range(order + 1)]
    integral = times(last, [(-1) ** m * end / (s - 1) ** (m + 1) for m in range(order + 1)])
    tail = integral[order] + 0.5 * last[order]
    term = times(last, linear(s, end, order))
    for k, b in enumerate(BERNOULLI, 1):
        tail = tail + b / math.factorial(2 * k) * term[order]
        term = times(
            times(term, linear(s + (2 * k - 1), end, order)), linear(s + 2 * k, end, order)
        )
    return total + math.factorial(order) * tail


def times(one: Series, other: Series) -> Series:
    """Multiply two series, to the length of the first."""
    return [sum(one[i] * other[m - i] for i in range(m + 1)) for m in range(len(one))]


def linear(s: Array, end: Array, order: int) -> Series:
    """(s + change) / end as a series."""
    return [s / end, 1 / end, *(0.0 for _ in range(order - 1))]


def slope_second(out: Array, x: Array, q: Array, order: int) -> Array:
    """Differentiate d zeta(x, q) / dq = -x zeta(x + 1, q) with respect to x, `order` times."""
    slope = -x * zeta_slope(x + 1, q, order)
    return slope - order * zeta_slope(x + 1, q, order - 1) if order else slope


def riemann(out: Array, x: Array) -> Array:
    """The formula's derivative at q = 1; on the left, that of the reflection DLMF 25.4.1."""
    if x.dtype.kind == "c":
        raise UnsupportedArgumentError(
            "scipy.special.zeta cannot be differentiated at complex x; pass x.data there if it is "
            "meant as a constant"
        )
    left = np.less(x, LEFT)
    slope = zeta_slope(np.where(left, 2, x), 1.0, 1)
    if not left.any():
        return slope
    x = np.where(left, x, LEFT)
    mirror, angle = 1 - x, x * (math.pi / 2)
    zeta = sp.zeta(mirror)
    odd = (math.log(2 * math.pi) - sp.digamma(mirror)) * zeta - zeta_slope(mirror, 1.0, 1)
    both = np.sin(angle) * odd + np.cos(angle) * (math.pi / 2) * zeta
    scale = 2 * np.exp(sp.gammaln(mirror) - mirror * math.log(2 * math.pi))
    return np.where(left, scale * both, slope)


GAMMA |= {
    ufuncs._riemann_zeta: riemann,
    sp.zetac: riemann,  # less one
    ufuncs._zeta: (  # nan where SciPy's function is not defined
        lambda out, x, q: np.where(np.greater(x, 1), zeta_slope(x, q, 1), np.nan),
        lambda out, x, q: -x * sp.zeta(x + 1, q),
    ),
    zeta_slope: (lambda out, x, q, order: zeta_slope(x, q, order + 1), slope_second),
}

"""SciPy's incomplete gamma and beta functions, also with respect to their shape parameters.

The derivative of P(a, x), the lower regularized incomplete gamma function, with respect to a is

    dP/da = integral of f(t) (log t - digamma(a)) over 0 < t < x
          = -(the same over t > x),

where f is the density of the gamma distribution, and likewise for the beta function. Of the two
integrals, the one over the tail on x's side of the mean has an integrand of (nearly) one sign, so
it is computed without cancellation. In the variable w = |log t - log x| (for the beta function,
w = |logit t - logit x|) the logarithm of the integrand is concave, and falls from the edge: the
integral is cut where it has fallen by exp(-42), and done with one Gauss-Legendre rule of 64 nodes.
Higher derivatives only change the polynomial that f is multiplied with, to the complete Bell
polynomials of the derivatives of log f. For x <= 1 the gamma function's power series is used.

The relative error, against mpmath at 60 digits, is below 1e-11 for parameters from 1e-3 to 1e4,
down to the smallest tails that floating point holds, and grows with the square root of larger
parameters; where a derivative changes its sign, that is relative to its size nearby. Classical
alternatives that lose digits in the tails, or need more and more terms as parameters grow: Moore
1982, "Algorithm AS 187"; Boik and Robison-Cox 1998, "Derivatives of the incomplete beta function".

The logarithm of a density is a sum of terms that are each as large as the parameters and cancel.
Written as Stirling's formula times the exponential of a deviance, they do not: Loader 2000, "Fast
and accurate computation of binomial probabilities".
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, possibly, primal, ratio
from tape_ad.scipy.special.gamma_functions import digamma_step, polygamma
from tape_ad.scipy.special.shared import negative, of_doubles, sp

SMALL = 0.5
"""Below it, 1 / gamma(a) is written as a / gamma(a + 1)."""


def stirling_error(a: Array) -> Array:
    """log gamma(a) minus Stirling's formula (a - 1/2) log a - a + log(2 pi) / 2, DLMF 5.11.1."""
    large = a >= 15
    inner, outer = np.where(large, 1.0, a), np.where(large, a, 15.0)
    i = 1 / (outer * outer)
    series = 1 / 1188 - i * (691 / 360360 - i / 156)
    series = (1 / 12 - i * (1 / 360 - i * (1 / 1260 - i * (1 / 1680 - i * series)))) / outer
    direct = (inner - 0.5) * np.log(inner) - inner + 0.5 * math.log(2 * math.pi)
    return np.where(large, series, sp.gammaln(inner) - direct)


def deviance(a: Array, m: Array) -> Array:
    """a log(a / m) + m - a, without cancellation where a is near m."""
    v = (a - m) / (a + m)
    near = np.abs(v) < 0.1
    v = np.where(near, v, 0.0)
    total: Array = 0.0
    for k in range(9, 0, -1):
        total = (total + 1 / (2 * k + 1)) * (v * v)
    return np.where(near, (a - m) * v + 2 * a * v * total, sp.xlogy(a, a / m) + m - a)


def gamma_weight(a: Array, x: Array) -> Array:
    """Compute x**a exp(-x) / gamma(a)."""
    return np.sqrt(a / (2 * np.pi)) * np.exp(-stirling_error(a) - deviance(a, x))


def beta_weight(a: Array, b: Array, x: Array, y: Array) -> Array:
    """x**a y**b / B(a, b), with y = 1 - x."""
    n = a + b
    error = stirling_error(n) - stirling_error(a) - stirling_error(b)
    scale = np.sqrt(a / n * b / (2 * np.pi))
    return scale * np.exp(error - deviance(a, n * x) - deviance(b, n * y))


@of_doubles
def gamma_density(a: Array, x: Array) -> Array:
    """x**(a - 1) exp(-x) / gamma(a), the density of the gamma distribution, for x >= 0."""
    at_zero = np.where(a < 1, np.inf, np.where(a > 1, 0.0, 1.0))
    end = (a == 0) | (a == np.inf)  # all of it is at 0, or at infinity
    inside = np.where(end, 0.0, gamma_weight(np.where(end, 1, a), x) / x)
    values = np.where(x == 0, at_zero, np.where(x == np.inf, 0.0, inside))
    return np.where((a >= 0) & (x >= 0) & (np.minimum(a, x) < np.inf), values, np.nan)


@of_doubles
def beta_density(a: Array, b: Array, x: Array) -> Array:
    """x**(a - 1) (1 - x)**(b - 1) / B(a, b), the density of the beta distribution."""
    inside = beta_weight(a, b, x, 1 - x) / (x * (1 - x))
    at_zero = np.where(a < 1, np.inf, np.where(a > 1, 0.0, b))
    at_one = np.where(b < 1, np.inf, np.where(b > 1, 0.0, a))
    values = np.where(x == 0, at_zero, np.where(x == 1, at_one, inside))
    values = np.where((a == 0) | (b == 0), 0.0, values)  # all of it is at an end
    return np.where((a >= 0) & (b >= 0) & (a + b > 0) & (x >= 0) & (x <= 1), values, np.nan)


def bell(kappa: Callable[[int, int], Array], i: int, j: int = 0) -> Array:
    """Give the complete Bell polynomial: d^(i+j) f / da^i db^j = f * bell.

    ``kappa(i, j)`` is the same derivative of log f. From f' = f (log f)' and Leibniz's rule.
    """
    if i == j == 0:
        return 1.0
    if i == 0:
        return bell(lambda first, second: kappa(second, first), j)
    return sum(
        math.comb(i - 1, k) * math.comb(j, m) * bell(kappa, i - 1 - k, j - m) * kappa(k + 1, m)
        for k in range(i)
        for m in range(j + 1)
    )


def with_factors(kappa: Callable[[int, int], Array], i: int, j: int, *shapes: Array) -> Array:
    """Give `bell` for a density whose small shapes are factors of it, and not in its logarithm.

    1 / gamma(a) is a / gamma(a + 1), of which no derivative has a pole at 0. Those of log(a) would
    cancel there, and leave none of the digits of a second derivative.
    """
    total: Array = 0.0
    for lower in itertools.product(*(range(min(order, 1) + 1) for order in (i, j))):
        factor: Array = 1.0
        for a, order, differentiated in zip(shapes, (i, j), lower, strict=False):
            small = np.less(a, SMALL)
            factor = factor * np.where(small, *((order, 0) if differentiated else (a, 1)))
        total = total + factor * bell(kappa, i - lower[0], j - lower[1])
    return total


def gamma_kappa(first: Array, raised: Array) -> Callable[[int, int], Array]:
    """Give the derivatives of log f by a, of which only the first depends on the variable."""
    return lambda k, _: first if k == 1 else -polygamma(k - 1, raised)


def beta_kappa(
    first: Callable[[int], Array], raised: tuple[Array, Array], n: Array
) -> Callable[[int, int], Array]:
    """Give those by a and b, of which only `first` depends on the variable; n is the sum."""

    def kappa(i: int, j: int) -> Array:
        if i + j == 1:
            return first(j)
        value = polygamma(i + j - 1, n)
        return value if i and j else value - polygamma(i + j - 1, raised[j > 0])

    return kappa


def above_zero(x: Array, a: Array) -> Array:
    """Replace 0 where x**(a - 1) log(x) and its slope are 0 there, and the logarithm is not."""
    return np.where(np.equal(x, 0) & np.greater(a, 2), 1, x)


def below_one(x: Array, b: Array) -> Array:
    """Replace 1, likewise."""
    return np.where(np.equal(x, 1) & np.greater(b, 2), 0, x)


def gamma_density_slope(a: Array, x: Array, order: int) -> Array:
    """Differentiate the density of the gamma distribution with respect to a, `order` times."""
    if endless := possibly(far := np.isinf(primal(np.maximum(a, x)))):
        a, x = np.where(far, 1.0, a), np.where(far, 1.0, x)
    small = np.less(a, SMALL)
    raised = a + small
    kappa = gamma_kappa(np.log(above_zero(x, a)) - sp.digamma(raised), raised)
    density = gamma_density(raised, x) / np.where(small, x, 1)
    slope = density * with_factors(kappa, order, 0, a)
    return np.where(far, 0.0, slope) if endless else slope


def beta_density_slope(a: Array, b: Array, x: Array, i: int, j: int) -> Array:
    """Differentiate the density of the beta distribution with respect to a and b."""
    n = a + b
    small = (np.less(a, SMALL), np.less(b, SMALL))
    raised = (a + small[0], b + small[1])
    logs = (np.log(above_zero(x, a)), np.log1p(-below_one(x, b)))

    def first(side: int) -> Array:
        return logs[side] + digamma_step(raised[side], (b, a)[side] - small[side])

    density = beta_density(*raised, x)
    for mask, side in zip(small, (x, 1 - x), strict=True):
        density = density / np.where(mask, side, 1)
    one, both = small[0] | small[1], small[0] & small[1]
    density = density / (np.where(one, n, 1) * np.where(both, n + 1, 1))
    return density * with_factors(beta_kappa(first, raised, n), i, j, a, b)


def gamma_density_second(out: Array, a: Array, x: Array) -> Array:
    """Differentiate by x; where x is 0 and a above 1, by the density of a - 1."""
    if possibly(far := np.isinf(primal(a))):
        a = np.where(far, 3.0, a)
    edge = np.equal(primal(x), 0) & np.greater(a, 1)
    if not possibly(edge):
        return out * (ratio(a - 1, x) - 1)
    at_zero = gamma_density(np.where(edge, a - 1, 1), np.where(edge, x, 0)) - out
    return np.where(edge, at_zero, out * (ratio(a - 1, np.where(edge, 1, x)) - 1))


def beta_density_third(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Differentiate by x; at the ends where it is 0, by the densities of a - 1 and b - 1."""
    low = np.equal(primal(x), 0) & np.greater(a, 1)
    high = np.equal(primal(x), 1) & np.greater(b, 1)
    edge = low | high
    if not possibly(edge):
        return out * (ratio(a - 1, x) - ratio(b - 1, 1 - x))
    inner = np.where(edge, 0.5, x)
    inside = out * (ratio(a - 1, inner) - ratio(b - 1, 1 - inner))
    at_zero = beta_density(np.where(low, a - 1, 1), np.where(low, b, 1), np.where(low, x, 0))
    at_one = beta_density(np.where(high, a, 1), np.where(high, b - 1, 1), np.where(high, x, 1))
    n = a + b - 1
    ends = np.where(low, n * at_zero - (b - 1) * out, (a - 1) * out - n * at_one)
    return np.where(edge, ends, inside)


INCOMPLETE: dict[Any, Any] = {
    gamma_density: (lambda out, a, x: gamma_density_slope(a, x, 1), gamma_density_second),
    beta_density: (
        lambda out, a, b, x: beta_density_slope(a, b, x, 1, 0),
        lambda out, a, b, x: beta_density_slope(a, b, x, 0, 1),
        beta_density_third,
    ),
}


# SciPy's incomplete gamma and beta functions, also with respect to their shape parameters


CUT = 42.0
"""The integrals end where the integrand has fallen by exp(-CUT)."""

points, weights = np.polynomial.legendre.leggauss(64)
NODES, WEIGHTS = (points + 1) / 2, weights / 2  # on the interval from 0 to 1

SMALLEST = 1e-200
"""What stands for a shape of 0, of which derivatives are the same."""

BLOCK = 1024
"""How many integrals are done at once: the temporaries are 64 times as large."""


def integrated(integral: Callable[..., Array], where: Array, *operands: Array) -> Array:
    """Do one integral for each element that `where` picks, by blocks, and give 0 elsewhere.

    The integral gets columns, for the nodes along its last axis.
    """
    chosen = [x[where] for x in operands]
    done = np.empty(chosen[0].size)
    for start in range(0, done.size, BLOCK):
        part = slice(start, start + BLOCK)
        done[part] = integral(*(x[part, None] for x in chosen))
    values = np.zeros(operands[0].shape)
    values[where] = done
    return values


def reach(fall: Callable[[Array], Array], slope: Callable[[Array], Array], w: Array) -> Array:
    """Find by Newton's method where the convex function `fall` is CUT.

    Wherever it starts, it comes down to the root from the right after the first step, so the
    integral is not cut short when it has not converged.
    """
    for _ in range(20):
        w = w - (fall(w) - CUT) / slope(w)
    return w


def spread(end: Array, nodes: Array = NODES, weights: Array = WEIGHTS) -> tuple[Array, Array]:
    """Give points from 0 to an end, which stand closer near 0, and the weights of an integral."""
    bend = np.log1p(end / 6)
    w = 6 * np.expm1(bend * nodes)
    return w, weights * bend * (w + 6)


@of_doubles
def gammainc_slope(a: Array, x: Array, order: int) -> Array:
    """Differentiate `scipy.special.gammainc`, P(a, x), with respect to a, `order` times."""
    far = (a >= 0) & (a < np.inf) & (x > 1) & (x < np.inf)
    integrals = integrated(lambda a, x: gamma_tail(a, x, order), far, a, x)
    inside = (x > 0) & (x <= 1)
    finite = np.where(a < np.inf, a, 1.0)
    values = np.where(inside, gamma_series(finite, np.where(inside, x, 1.0), order), integrals)
    known = np.where(a < np.inf, values, 0.0)
    return np.where((a >= 0) & (x >= 0) & (np.minimum(a, x) < np.inf), known, np.nan)


def gamma_series(a: Array, x: Array, order: int) -> Array:
    """P = x**a / gamma(a + 1) * sum of a (-x)**n / (n! (a + n)), DLMF 8.7.1, for 0 < x <= 1."""
    log = np.log(x)
    kappa = gamma_kappa(log - sp.digamma(a + 1), a + 1)
    factor = np.exp(a * log - sp.gammaln(a + 1))
    total = np.zeros_like(x)
    for k in range(order + 1):
        derivative = np.ones_like(x) if k == 0 else np.zeros_like(x)
        power = np.ones_like(x)
        for n in range(1, 24):
            power = power * (-x / n)
            ratio = (-1) ** (k + 1) * n * math.factorial(k) / (a + n) ** (k + 1)
            derivative = derivative + power * (ratio if k else a / (a + n))
        total = total + math.comb(order, k) * bell(kappa, order - k) * derivative
    return factor * total


def gamma_tail(a: Array, x: Array, order: int) -> Array:
    """Integrate over the tail on x's side of the mean, for x > 1; see the module's docstring.

    With t = x exp(s w), s = -1 or 1, the weight t**a exp(-t) falls from its value at x by exp(-h),
    h = |x - a| w + x (exp(s w) - 1 - s w).
    """
    lower = x < a
    s = np.where(lower, -1.0, 1.0)
    gap = np.abs(x - a)

    def fall(w: Array) -> Array:
        return gap * w + x * exponential_remainder(s * w)

    start = np.where(lower, (1 + np.sqrt(1 + 4 * x / CUT)) * (CUT / x), np.sqrt(2 * CUT / x))
    end = reach(fall, lambda w: gap + x * s * np.expm1(s * w), start)
    w = end * NODES
    small = a < SMALL
    raised = a + small
    at = np.where(small, 1, a)
    log = s * w + np.where(
        small, np.log(x) - sp.digamma(raised), np.log1p((x - at) / at) + log_minus_digamma(at)
    )
    factors = with_factors(gamma_kappa(log, raised), order, 0, a)
    terms = WEIGHTS * np.exp(-fall(w)) * factors
    weight = gamma_weight(raised, x) / x**small
    return (-s * end * weight)[:, 0] * np.add.reduce(terms, axis=-1)


def exponential_remainder(z: Array) -> Array:
    """exp(z) - 1 - z, by its series near 0."""
    near = np.abs(z) < 0.3
    inner = np.where(near, z, 0.0)
    total: Array = 0.0
    for k in range(13, 1, -1):
        total = (total + 1) * inner / k
    return np.where(near, total * inner, np.expm1(z) - z)


def log_minus_digamma(a: Array) -> Array:
    """log a - digamma(a), DLMF 5.11.2 for large a."""
    large = a >= 15
    inner, outer = np.where(large, 1.0, a), np.where(large, a, 15.0)
    i = 1 / (outer * outer)
    series = 1 / 252 - i * (1 / 240 - i * (1 / 132 - i * (691 / 32760 - i / 12)))
    series = 0.5 / outer + i * (1 / 12 - i * (1 / 120 - i * series))
    return np.where(large, series, np.log(inner) - sp.digamma(inner))


@of_doubles
def betainc_slope(a: Array, b: Array, x: Array, i: int, j: int) -> Array:
    """Differentiate `scipy.special.betainc`, I_x(a, b), with respect to a and b, i and j times."""
    shaped = (a >= 0) & (b >= 0) & (a + b > 0)
    inside = shaped & (x > 0) & (x < 1)
    a, b = (np.where(shape == 0, SMALLEST, shape) for shape in (a, b))
    values = integrated(lambda a, b, x: beta_tail(a, b, x, i, j), inside, a, b, x)
    return np.where(shaped & (x >= 0) & (x <= 1), values, np.nan)


def beta_tail(a: Array, b: Array, x: Array, i: int, j: int) -> Array:
    """Integrate over the tail on x's side of the mean; see the module's docstring.

    The upper tail is the lower one of the same function with a and b, and x and 1 - x, swapped.
    With y = 1 - x, logit t = logit x - w and r = log(y + x exp(-w)), the weight t**a (1 - t)**b
    falls by exp(-h), h = a w + (a + b) r. The nodes stand closer near x, since for small
    parameters the tail is very long but has its structure there.
    """
    n = a + b
    swap = n * x > a
    sides: Array = np.where(swap, [b, a, 1 - x, x], [a, b, x, 1 - x])
    a, b, x, y = sides

    def remaining(w: Array) -> Array:
        direct = (x > 0.5) & (w > 1)  # elsewhere y + x exp(-w) may be near 1
        near_one = np.log1p(np.where(direct, 0, x * np.expm1(-w)))
        return np.where(direct, np.log(y + x * np.exp(-w)), near_one)

    def slope(w: Array) -> Array:
        e = np.exp(-w)
        return a - n * (x * e / (y + x * e))

    curvature = n * np.where(x < 0.5, x * y, 0.25)
    gap = np.maximum(a - n * x, 0)
    start = 2 * CUT / (gap + np.sqrt(gap * gap + 2 * CUT * curvature))
    end = reach(lambda w: a * w + n * remaining(w), slope, np.maximum(start, CUT / a))
    w, weights = spread(end)
    r = remaining(w)
    log_x = np.where(x < 0.5, np.log(x), np.log1p(-y))
    log_y = np.where(y < 0.5, np.log(y), np.log1p(-x))
    small = (a < SMALL, b < SMALL)
    raised = (a + small[0], b + small[1])
    logs = (
        log_x - w - r + digamma_step(raised[0], b - small[0]),
        log_y - r + digamma_step(raised[1], a - small[1]),
    )
    kappa = beta_kappa(lambda side: logs[side], raised, n)
    fallen = weights * np.exp(-a * w - n * r)
    factors = np.where(small[0], a, 1) * np.where(small[1], b, 1)
    scale = (beta_weight(a, b, x, y) / factors)[:, 0]
    swapped = swap[:, 0]
    below = scale * np.add.reduce(fallen * with_factors(kappa, i, j, a, b), axis=-1)
    if not swapped.any():
        return below
    above = scale * np.add.reduce(fallen * with_factors(kappa, j, i, a, b), axis=-1)
    return np.where(swapped, -above, below)


TOP = 1e-4
"""So near to 1, the complement of x has more digits than x."""


def density_between(a: Array, b: Array, x: Array, y: Array) -> Array:
    """Give the density of the beta distribution at x, whose complement is y."""
    far = np.less(y, TOP)
    if not possibly(far):
        return beta_density(a, b, x)
    below, above = np.where(far, 0.5, x), np.where(far, y, 0.5)
    return np.where(far, beta_density(b, a, above), beta_density(a, b, below))


def slope_between(a: Array, b: Array, x: Array, y: Array, i: int, j: int) -> Array:
    """Give `betainc_slope` at x, whose complement is y."""
    far = np.less(y, TOP)
    if not possibly(far):
        return betainc_slope(a, b, x, i, j)
    below, above = np.where(far, 0.5, x), np.where(far, y, 0.5)
    return np.where(far, -betainc_slope(b, a, above, j, i), betainc_slope(a, b, below, i, j))


def beta_over(a: Array, b: Array, x: Array, y: Array) -> Array:
    """Multiply the density of the beta distribution by x y, y = 1 - x, also where it is infinite.

    That is at x = 0.
    """
    edge = np.equal(primal(x), 0) & np.less(a, 1)
    if not possibly(edge):
        return density_between(a, b, x, y) * (x * y)
    inside = np.where(edge, 0.5, x)
    density = density_between(a, b, inside, np.where(edge, 0.5, y))
    return np.where(edge, x**a / sp.beta(a, b), density * (inside * y))


INCOMPLETE |= {
    sp.gammainc: (lambda out, a, x: gammainc_slope(a, x, 1), lambda out, a, x: gamma_density(a, x)),
    gammainc_slope: (
        lambda out, a, x, order: gammainc_slope(a, x, order + 1),
        lambda out, a, x, order: gamma_density_slope(a, x, order),
    ),
    sp.betainc: (
        lambda out, a, b, x: betainc_slope(a, b, x, 1, 0),
        lambda out, a, b, x: betainc_slope(a, b, x, 0, 1),
        lambda out, a, b, x: beta_density(a, b, x),
    ),
    betainc_slope: (
        lambda out, a, b, x, i, j: betainc_slope(a, b, x, i + 1, j),
        lambda out, a, b, x, i, j: betainc_slope(a, b, x, i, j + 1),
        lambda out, a, b, x, i, j: beta_density_slope(a, b, x, i, j),
    ),
}

INCOMPLETE[sp.gammaincc] = negative(INCOMPLETE[sp.gammainc])
INCOMPLETE[sp.betaincc] = negative(INCOMPLETE[sp.betainc])

"""What is known of the common continuous distributions of `scipy.stats`: how their logs slope.

Each stands here in its standard form, with loc = 0 and scale = 1. `methods` makes of it the
derivatives of the density, the distribution function, its inverse and their logarithms, with
respect to the variable, loc, scale and each shape parameter. The formulas follow by calculus from
the densities as SciPy's reference has them.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, over_square, ratio
from tape_ad.extend.rules import Entry, overridable, quiet, rule
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.elementary import root_slope
from tape_ad.scipy.special.gamma_functions import digamma_step
from tape_ad.scipy.special.incomplete import betainc_slope, gammainc_slope
from tape_ad.scipy.special.noncentral import student_score, student_shape, student_slope
from tape_ad.scipy.special.shared import in_double, sp
from tape_ad.scipy.stand_ins import stands_for
from tape_ad.scipy.stats.methods import cdf, pdf, sf


@overridable
def log_root(y: Array, c: Array) -> Array:
    """log(1 + c y) / c, which is y where c is 0."""

    def logarithm(y: Array, c: Array) -> Array:
        zero = c == 0
        return np.where(zero, y, np.log1p(c * y) / np.where(zero, 1, c))

    return in_double(logarithm, y, c)


@overridable
def odd_power(y: Array, p: Array) -> Array:
    """sign(y) |y|**p, which is 0 at 0, and as steep there as beside it where p is above 0."""

    def power(y: Array, p: Array) -> Array:
        return np.where(y == 0, 0.0, np.sign(y) * np.absolute(y) ** p)

    return in_double(power, y, p)


def odd_power_slope(out: Array, y: Array, p: Array) -> Array:
    """p |y|**(p - 1), and 0 at a cusp or jump."""
    jump = np.equal(y, 0) & np.less_equal(p, 0)
    return np.where(jump, 0.0, p * np.absolute(np.where(jump, 1.0, y)) ** (p - 1))


def end_move(y: Array, c: Array) -> Array:
    """The move of ``(1 - u**c) / c`` with c, also at its end, where u is 0."""
    end = np.equal(c * y, 1)
    inner = np.where(end, 0.0, y)
    rest = root_slope(inner, -c) * (1 - c * inner)
    return np.where(end, -y / np.where(end, c, 1.0), rest)


def mills(z: Array) -> Array:
    """The normal density over the normal distribution function, in its tails too."""
    return math.sqrt(2 / math.pi) / sp.erfcx(z * -math.sqrt(0.5))


def share(y: Array, c: Array) -> Array:
    """y**c / (1 + y**c)."""
    return sp.expit(c * np.log(y))


def share_over(y: Array, c: Array) -> Array:
    """share(y, c) / y, at 0 too."""
    small = y ** (c - 1) * sp.expit(-c * np.log(y))
    return np.where(np.less(y, 1), small, share(y, c) / y)


# The normal distribution of an exponent


def gennorm_slope(y: Array, beta: Array) -> Array:
    """Differentiate the distribution function of gennorm by its shape parameter."""
    middle = np.equal(y, 0)
    size = np.where(middle, 1.0, np.absolute(y))
    power = size**beta
    norm = np.exp(-sp.gammaln(1 / beta))
    inside = sp.xlogy(size, size) * np.exp(-power) * norm  # a density's, times y
    slope = 0.5 * np.sign(y) * (inside - gammainc_slope(1 / beta, power, 1) / (beta * beta))
    centre = 0.5 * y * norm * (1 + sp.digamma(1 / beta) / beta)  # where the sign has no slope
    return np.where(middle, centre, slope)


FORMULAS: dict[Any, Entry] = {
    log_root: rule(
        quiet(lambda out, y, c: 1 / (1 + c * y)),
        quiet(lambda out, y, c: root_slope(y, c)),
        facts=facts.ELEMENTWISE,
    ),
    odd_power: rule(
        quiet(odd_power_slope),
        quiet(lambda out, y, p: sp.xlogy(out, np.absolute(y))),
        facts=facts.ELEMENTWISE,
    ),
}


Formula = Callable[..., Array]
"""``formula(y, *shapes)``."""


@frozen(eq=False, repr=False)
class Shape:
    """How a distribution depends on one of its shape parameters, beside SciPy's own lines for it.

    Attributes
    ----------
    score : Formula, optional
        The derivative of the logarithm of the density. Without it SciPy's own lines for each method
        are differentiated.
    slope : Formula, optional
        That of the distribution function.
    move : Formula, optional
        That of the variable where the distribution function stays the same, which takes the place
        of `slope`: it is as exact in the tails as elsewhere. With neither, the product of density
        and score is integrated, which asks for a support that does not move with the parameter.
    """

    score: Formula | None = None
    slope: Formula | None = None
    move: Formula | None = None


@frozen(eq=False, repr=False)
class Family:
    """How a distribution depends on its variable and its shape parameters.

    Attributes
    ----------
    score : Formula, optional
        The derivative of the logarithm of the density with respect to the variable.
    shapes : tuple of Shape or None
        None stands for one that nothing is differentiated by.
    kink : Formula, optional
        The point, as ``kink(*shapes)``, where the density is not smooth.
    """

    score: Formula | None = None
    shapes: tuple[Shape | None, ...] = ()
    kink: Formula | None = None


DERIVED = Shape()
PLAIN = Family()
"""What SciPy's own lines have all derivatives of."""


def by_power(y: Array, c: Array) -> Array:
    """The move of ``y = u**(1 / c)`` for a fixed u."""
    return -sp.xlogy(y, y) / c


def exponweib_second(y: Array, a: Array, c: Array) -> Array:
    """The derivative of exponweib's log density by its second parameter."""
    u = y**c
    return 1 / c + np.log(y) * (1 + u * (ratio(a - 1, np.expm1(u)) - 1))


def exponweib_move(y: Array, a: Array, c: Array) -> Array:
    """The move of ``y**c = -log(1 - q**(1 / a))`` with a."""
    u = y**c
    return -times_log_below(y, u) * sp.exprel(u) / (a * c)


def times_log_below(x: Array, u: Array) -> Array:
    """Multiply by the logarithm of ``1 - exp(-u)``, exactly for small and for large u."""
    return np.where(u > 1, x * np.log1p(-np.exp(-u)), sp.xlogy(x, -np.expm1(-u)))


def extreme_shape(y: Array, c: Array) -> Array:
    """Differentiate the logarithm of a density of extreme values by its shape."""
    m = log_root(y, -c)
    return m - (np.exp(-m) - 1 + c) * root_slope(y, -c)


def beta_slope(i: int, j: int) -> Formula:
    """Differentiate the distribution function of beta by its parameters."""
    return lambda y, a, b: betainc_slope(a, b, y, i, j)


def gennorm_shape(y: Array, beta: Array) -> Array:
    """Differentiate the logarithm of the density of gennorm by its parameter."""
    size = np.absolute(y)
    return 1 / beta + sp.digamma(1 / beta) / (beta * beta) - sp.xlogy(size**beta, size)


def gennorm_score(y: Array, beta: Array) -> Array:
    """The slope of the logarithm of the density of gennorm."""
    return -beta * odd_power(y, beta - 1)


def skewnorm_slope(y: Array, a: Array) -> Array:
    """Differentiate the distribution function of skewnorm, by that of Owen's T."""
    square = 1 + a * a
    return -np.exp(-0.5 * y * y * square) / (np.pi * square)


def at_bound(which: int) -> Formula:
    """The density of a truncated normal distribution at one of its bounds."""

    def edge(y: Array, *bounds: Array) -> Any:
        return pdf(bounds[which], *bounds, 0.0, 1.0, name="truncnorm")

    return edge


lower, upper = at_bound(0), at_bound(1)


def tail_of(method: Callable[..., Array], y: Array, a: Array, b: Array) -> Array:
    """The distribution function of a truncated normal distribution, or the survival function."""
    return method(y, a, b, 0.0, 1.0, name="truncnorm")


def rising(y: Array, c: Array) -> Array:
    """Tell where the triangle of triang rises."""
    return np.less(y, c)


def triang_slope(y: Array, c: Array) -> Array:
    """Differentiate the distribution function of triang by the place of its corner."""
    left = rising(y, c)
    edge: Array = np.where(left, ratio(y, c), ratio(1 - y, 1 - c))
    return np.where(np.equal(y, 0), 0.0, -edge * edge)  # the corner may be at 0, too


BELL = Family(lambda y: -y)
COMMON: dict[str, Family] = {
    "norm": BELL,
    "halfnorm": BELL,
    "uniform": Family(lambda y: 0.0 * y),
    "expon": Family(lambda y: 0.0 * y - 1.0),
    "laplace": Family(lambda y: -np.sign(y)),
    "logistic": Family(lambda y: -np.tanh(0.5 * y)),
    "cauchy": Family(lambda y: -2 * over_square(y, 1.0)),
    "arcsine": Family(lambda y: (y - 0.5) / (y * (1 - y))),
    "gamma": Family(
        lambda y, a: ratio(a - 1, y) - 1,
        (
            Shape(
                lambda y, a: np.log(y) - sp.digamma(a), slope=lambda y, a: gammainc_slope(a, y, 1)
            ),
        ),
    ),
    "chi2": Family(
        lambda y, df: ratio(0.5 * df - 1, y) - 0.5,
        (
            Shape(
                lambda y, df: 0.5 * (np.log(0.5 * y) - sp.digamma(0.5 * df)),
                slope=lambda y, df: 0.5 * gammainc_slope(0.5 * df, 0.5 * y, 1),
            ),
        ),
    ),
    "beta": Family(
        lambda y, a, b: ratio(a - 1, y) - ratio(b - 1, 1 - y),
        (
            Shape(lambda y, a, b: np.log(y) + digamma_step(a, b), slope=beta_slope(1, 0)),
            Shape(lambda y, a, b: np.log1p(-y) + digamma_step(b, a), slope=beta_slope(0, 1)),
        ),
    ),
    "t": Family(
        student_score, (Shape(student_shape, slope=lambda y, df: student_slope(y, df, 1)),)
    ),
    "weibull_min": Family(
        shapes=(Shape(lambda y, c: 1 / c + np.log(y) - sp.xlogy(y**c, y), move=by_power),)
    ),
    "weibull_max": Family(shapes=(Shape(move=lambda y, c: -by_power(-y, c)),)),
    "exponweib": Family(
        shapes=(
            Shape(lambda y, a, c: 1 / a + times_log_below(1.0, y**c), move=exponweib_move),
            Shape(exponweib_second, move=lambda y, a, c: by_power(y, c)),
        )
    ),
    "fisk": Family(
        lambda y, c: ratio(c - 1, y) - 2 * c * share_over(y, c),
        (Shape(lambda y, c: 1 / c - np.log(y) * np.tanh(0.5 * c * np.log(y)), move=by_power),),
    ),
    "genextreme": Family(shapes=(Shape(extreme_shape, move=end_move),)),
    "genpareto": Family(
        lambda y, c: -(c + 1) / (1 + c * y),
        (
            Shape(
                lambda y, c: -log_root(y, c) - (c + 1) * root_slope(y, c),
                move=lambda y, c: -root_slope(y, c) * (1 + c * y),
            ),
        ),
    ),
    "gennorm": Family(gennorm_score, (Shape(gennorm_shape, slope=gennorm_slope),)),
    "skewnorm": Family(shapes=(Shape(lambda y, a: y * mills(a * y), slope=skewnorm_slope),)),
    "truncnorm": Family(
        shapes=(
            Shape(slope=lambda y, a, b: -lower(y, a, b) * tail_of(sf, y, a, b)),
            Shape(slope=lambda y, a, b: -upper(y, a, b) * tail_of(cdf, y, a, b)),
        )
    ),
    "triang": Family(
        lambda y, c: np.where(rising(y, c), 1 / y, -1 / (1 - y)),
        (Shape(lambda y, c: np.where(rising(y, c), -1 / c, 1 / (1 - c)), slope=triang_slope),),
    ),
}
"""The distributions by SciPy's names; shapes stand in SciPy's order."""


@stands_for(scipy.stats._continuous_distns.genextreme_gen._get_support)
def ends_of_extremes(self: Any, c: Array) -> tuple[Array, Array]:
    """The ends of genextreme's support, of which SciPy divides by the least number there is."""
    end = 1 / np.where(np.equal(c, 0), 1.0, c)
    return np.where(np.less(c, 0), end, -np.inf), np.where(np.greater(c, 0), end, np.inf)


def scaled_bessel(z: Array) -> Array:
    """exp(-z) I0(z) for z >= 0, with its slope from the right at 0, where `i0e` has a kink."""
    none = np.equal(z, 0)
    at = np.where(none, z, 0.0)
    return np.where(none, np.exp(-at) * sp.i0(at), sp.i0e(z))


@stands_for(scipy.stats._continuous_distns.vonmises_gen._pdf)
def vonmises_density(self: Any, x: Array, kappa: Array) -> Array:
    """The density of vonmises, as SciPy computes it."""
    return np.exp(kappa * sp.cosm1(x)) / (2 * np.pi * scaled_bessel(kappa))


@stands_for(scipy.stats._continuous_distns.vonmises_gen._logpdf)
def vonmises_log_density(self: Any, x: Array, kappa: Array) -> Array:
    """Its logarithm."""
    return kappa * sp.cosm1(x) - np.log(2 * np.pi) - np.log(scaled_bessel(kappa))


@stands_for(scipy.stats._continuous_distns.vonmises_gen._entropy)
def vonmises_entropy(self: Any, kappa: Array) -> Array:
    """The entropy of vonmises, as SciPy computes it."""
    norm = scaled_bessel(kappa)
    return -kappa * sp.i1e(kappa) / norm + np.log(2 * np.pi * norm) + kappa


@stands_for(scipy.stats._continuous_distns.rice_gen._pdf)
def rice_density(self: Any, x: Array, b: Array) -> Array:
    """The density of rice, as SciPy computes it."""
    return x * np.exp(-(x - b) * (x - b) / 2.0) * scaled_bessel(x * b)

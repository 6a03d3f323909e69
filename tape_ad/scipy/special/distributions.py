"""SciPy's distribution functions (DLMF 8.2 and 8.17), their complements and their inverses.

Counts refuse handles, or are rounded down and have no slope, as SciPy's functions do with them.

With p = F(a, ..., x, ...), an inverse gives x where its arguments have p in the place of x. By the
implicit function theorem dx/dp = 1 / F_x and dx/da = -F_a / F_x, at the x that SciPy has found.
Where F_a and F_x are 0, x is at the end of its range and stays there, whatever a is.

Where a function of counts is inverted by a count, SciPy takes F with real counts in it, by the
incomplete functions: DLMF 8.17.5 for the binomial distributions, 8.4.8 for Poisson's.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, possibly, primal, ratio
from tape_ad.extend.rules import Constant, Maker, overridable
from tape_ad.scipy.special.elementary import power_slope
from tape_ad.scipy.special.incomplete import (
    INCOMPLETE,
    beta_density,
    beta_over,
    density_between,
    gamma_density,
    gammainc_slope,
    slope_between,
)
from tape_ad.scipy.special.noncentral import NONCENTRAL, STUDENT
from tape_ad.scipy.special.shared import negative, no_partial, of_doubles, sp, ufuncs, where_found

Forward = tuple[Callable[..., Array], tuple[Any, ...]]
"""A distribution function and its row."""


def at(inner: Callable[..., Any], function: Any, *slopes: tuple[float, ...]) -> Forward:
    """Take a function at what `inner` gives, whose slopes in each argument are numbers."""
    row = INCOMPLETE[function]

    def chained(by: tuple[float, ...]) -> Maker:
        return lambda out, *args: sum(
            slope * row[i](out, *inner(*args)) for i, slope in enumerate(by) if slope
        )

    return lambda *args: function(*inner(*args)), tuple(map(chained, slopes))


def fisher(out: Array, n: Array, d: Array, x: Array) -> Array:
    """Give the density of the F distribution."""
    total = d + n * x
    return density_between(0.5 * n, 0.5 * d, n * x / total, d / total) * (n / total) * (d / total)


def gamma_over(b: Array, a: Array, x: Array) -> Array:
    """Multiply the density of the gamma distribution at a x by x, also where it is infinite."""
    edge = np.equal(primal(a * x), 0) & np.less(b, 1)
    if not possibly(edge):
        return gamma_density(b, a * x) * x
    inside = gamma_density(b, np.where(edge, 1, a) * np.where(edge, 1, x)) * x
    return np.where(edge, a ** (b - 1) * x**b / sp.gamma(b), inside)


def fisher_first(out: Array, n: Array, d: Array, x: Array) -> Array:
    """Differentiate fdtr with respect to the degrees of freedom of the numerator."""
    total = d + n * x
    part, rest = n * x / total, d / total
    slope = beta_over(0.5 * n, 0.5 * d, part, rest) / n
    return 0.5 * slope_between(0.5 * n, 0.5 * d, part, rest, 1, 0) + slope


def fisher_second(out: Array, n: Array, d: Array, x: Array) -> Array:
    """Differentiate fdtr with respect to the degrees of freedom of the denominator."""
    total = d + n * x
    part, rest = n * x / total, d / total
    slope = beta_over(0.5 * n, 0.5 * d, part, rest) / d
    return 0.5 * slope_between(0.5 * n, 0.5 * d, part, rest, 0, 1) - slope


def poisson(out: Array, k: Array, m: Array) -> Array:
    """Give minus the probability of k events, rounded down."""
    return -gamma_density(np.floor(k) + 1, m)


def binomial(out: Array, k: Array, n: Array, p: Array) -> Array:
    """d bdtr / dp; bdtr is 1 for all p where k is n.

    SciPy rounds counts down, and drops what there is of `n` behind the point.
    """
    k, n = np.floor(k), np.trunc(n)
    certain = np.equal(k, n)
    rest = np.where(certain, 1.0, n - k)
    return -np.where(certain, 0.0, beta_density(k + 1, rest, p))


def of_trials(sign: float) -> tuple[Maker, ...]:
    """Make the row of how likely so many successes are at most, or more with another sign."""

    def by_chance(out: Array, k: Array, n: Array, p: Array) -> Array:
        inside = np.greater_equal(k, 0) & np.less(k, n)
        rest = np.where(inside, n - k, 1.0)
        slope = -sign * beta_density(np.where(inside, k, 0.0) + 1, rest, p)
        return np.where(inside, slope, 0.0)

    return no_partial("binom", "k"), no_partial("binom", "n"), by_chance


DISTRIBUTIONS: dict[Any, Any] = {
    ufuncs._binom_cdf: of_trials(1.0),
    ufuncs._binom_sf: of_trials(-1.0),
    ufuncs._binom_pmf: (
        no_partial("binom", "k"),
        no_partial("binom", "n"),
        lambda out, k, n, p: out * (ratio(k, p) - ratio(n - k, 1 - p)),
    ),
    sp.chdtr: at(lambda v, x: (0.5 * v, 0.5 * x), sp.gammainc, (0.5, 0), (0, 0.5))[1],
    sp.gdtr: (
        lambda out, a, b, x: gamma_over(b, a, x),
        lambda out, a, b, x: gammainc_slope(b, a * x, 1),
        lambda out, a, b, x: gamma_over(b, x, a),
    ),
    sp.fdtr: (fisher_first, fisher_second, fisher),
    sp.pdtr: (None, poisson),
    sp.bdtr: (None, "n", binomial),
    sp.nbdtr: ("k", "n", lambda out, k, n, p: beta_density(np.trunc(n), np.trunc(k) + 1, p)),
    sp.ndtri_exp: lambda out, y: sp.erfcx(out * -math.sqrt(0.5)) * math.sqrt(math.pi / 2),
}


# The distribution functions of Tukey, Kolmogorov and Smirnov, and the Voigt profile


# Tukey's: tklmbda inverts (F**lmbda - (1 - F)**lmbda) / lmbda, and log(F / (1 - F)) for lmbda = 0


def tukey_outside(x: Array, lmbda: Array) -> Any:
    """Tell where x is not between -1 / lmbda and 1 / lmbda, beyond which F is constant."""
    return np.greater_equal(lmbda * np.abs(x), 1)


def tukey_first(out: Array, x: Array, lmbda: Array) -> Array:
    """1 / (F**(lmbda - 1) + (1 - F)**(lmbda - 1))."""
    outside = tukey_outside(x, lmbda)
    low, high = (np.where(outside, 0.5, each) for each in tukey_tails(out, x, lmbda))
    return np.where(outside, 0, 1 / (low ** (lmbda - 1) + high ** (lmbda - 1)))


def tukey_second(out: Array, x: Array, lmbda: Array) -> Array:
    """Divide minus the derivative of the quantile by lmbda by that by F."""
    outside = tukey_outside(x, lmbda)
    low, high = (np.where(outside, 0.5, each) for each in tukey_tails(out, x, lmbda))
    slope = power_slope(np.log(low), lmbda) - power_slope(np.log(high), lmbda)
    return np.where(outside, 0, -slope / (low ** (lmbda - 1) + high ** (lmbda - 1)))


def tukey_tails(out: Array, x: Array, lmbda: Array) -> tuple[Array, Array]:
    """Give F and 1 - F = F(-x)."""
    return out, sp.tklmbda(-x, lmbda)


# Kolmogorov's: two series of exponentials, DLMF 20.7.32 connects them


def kolmogorov(out: Array, y: Array) -> Array:
    """Differentiate 2 sum of (-1)**(k - 1) exp(-2 k**2 y**2), for small y in its other form.

    That is 1 - sqrt(2 pi) / y sum over odd k of exp(-(k pi)**2 / (8 y**2)), Marsaglia, Tsang and
    Wang 2003, "Evaluating Kolmogorov's distribution". Of it nothing is left for y < 1/25,
    and of the other for y > 30.
    """
    small = np.less(y, 0.8)
    inner = np.where(small & np.greater(y, 0.04), y, 0.8)
    outer = np.where(small, 0.8, np.where(np.greater(y, 30), 30, y))
    square = 1 / (inner * inner)
    near: Array = 0.0
    for k in (1, 3, 5, 7):
        q = (k * math.pi) ** 2 / 8
        near = near + np.exp(-q * square) * (1 - 2 * q * square)
    far: Array = 0.0
    for k in range(1, 7):
        far = far + (-1) ** k * k * k * np.exp(-2 * k * k * outer * outer)
    near = np.where(np.greater(y, 0.04), math.sqrt(2 * math.pi) * square * near, -0.0)
    return np.where(small, near, np.where(np.greater(y, 30), -0.0, 8 * outer * far))


@overridable
def smirnov_numbers(n: Array, d: Array) -> Array:
    """List 1 to n - 1 along a new first axis, for the largest of the n."""
    count = int(np.max(n, initial=1))
    return np.arange(1.0, max(count, 1)).reshape(-1, *(1,) * max(np.ndim(n), np.ndim(d)))


def smirnov(out: Array, n: Array, d: Array) -> Array:
    """Differentiate d sum over j <= n (1 - d) of C(n, j) (d + j/n)**(j-1) (1 - d - j/n)**(n-j).

    Birnbaum and Tingey 1951. The first term is (1 - d)**n. Where d is k / n the highest term ends;
    the derivative there is that on the right.
    """
    n = np.trunc(n)
    j = smirnov_numbers(n, d)
    share = j / n
    there = np.less(d + share, 1)
    up = np.where(there, d + share, 0.5)
    down = np.where(there, 1 - d - share, 0.5)
    ways = sp.gammaln(n + 1) - sp.gammaln(j + 1) - sp.gammaln(np.where(there, n - j, 1) + 1)
    power = np.exp(ways + (j - 1) * np.log(up) + (n - j) * np.log(down))
    terms = np.where(there, power * (1 + d * ((j - 1) / up - (n - j) / down)), 0)
    slope = -(n * (1 - d) ** (n - 1) - np.add.reduce(terms, axis=0))  # -0.0 at 1
    return np.where(np.less(d, 0) | np.greater(d, 1), np.nan, slope)


# Voigt's: V = Re G(x + i gamma, sigma), where G(z, sigma) is Faddeeva's w(z / (sqrt(2) sigma))
# over sqrt(2 pi) sigma, DLMF 7.19.3. It solves the heat equation dG/dsigma = sigma d2G/dz2.

FAR = 7.0
"""Beyond how many sigma sqrt(2) the asymptotic series of w is summed."""


@of_doubles
def voigt_derivative(x: Array, sigma: Array, gamma: Array, order: int, turns: int) -> Array:
    """Give Re(i**turns G), where G is differentiated `order` times with respect to z."""
    z = x + 1j * gamma
    far = (np.abs(z) > FAR * math.sqrt(2) * sigma) & (gamma >= 0) & (sigma >= 0)
    values: Array = np.where(far, voigt_far(z, sigma, order), voigt_near(z, sigma, order))
    return (values * 1j ** (turns % 4)).real


def voigt_near(z: Array, sigma: Array, order: int) -> Array:
    """Differentiate w' = -2 z w + 2 i / sqrt(pi), DLMF 7.10.2, further."""
    scale = 1 / (sigma * math.sqrt(2))
    z = z * scale
    before, value = np.zeros_like(z), sp.wofz(z)
    for n in range(order):
        constant = 2j / math.sqrt(math.pi) if n == 0 else 0
        before, value = value, -2 * (z * value + n * before) + constant
    return value * scale ** (order + 1) / math.sqrt(math.pi)


def voigt_far(z: Array, sigma: Array, order: int) -> Array:
    """i / pi sum of (2k - 1)!! sigma**(2k) / z**(2k + 1), DLMF 7.12.1 differentiated."""
    ratio = (sigma / z) ** 2
    ratio = np.where(np.abs(ratio) < 0.5 / FAR**2 * 1.01, ratio, 0)
    total: Array = 0.0
    for k in range(25, -1, -1):
        total = math.prod(range(2 * k + 1, 2 * k + 1 + order)) + (2 * k + 1) * ratio * total
    return 1j / math.pi * (-1 / z) ** order / z * total


DISTRIBUTIONS |= {
    sp.tklmbda: (tukey_first, tukey_second),
    sp.kolmogorov: (kolmogorov,),
    sp.smirnov: ("n", smirnov),
    smirnov_numbers: Constant(facts.Facts(shape_by_values=True)),
    sp.voigt_profile: (
        lambda out, x, sigma, gamma: voigt_derivative(x, sigma, gamma, 1, 0),
        lambda out, x, sigma, gamma: sigma * voigt_derivative(x, sigma, gamma, 2, 0),
        lambda out, x, sigma, gamma: voigt_derivative(x, sigma, gamma, 1, 1),
    ),
    voigt_derivative: (
        lambda out, x, s, g, order, turns: voigt_derivative(x, s, g, order + 1, turns),
        lambda out, x, s, g, order, turns: s * voigt_derivative(x, s, g, order + 2, turns),
        lambda out, x, s, g, order, turns: voigt_derivative(x, s, g, order + 1, turns + 1),
    ),
}


for function, complement in (
    *((sp.chdtr, sp.chdtrc), (sp.gdtr, sp.gdtrc), (sp.fdtr, sp.fdtrc), (sp.pdtr, sp.pdtrc)),
    *((sp.bdtr, sp.bdtrc), (sp.nbdtr, sp.nbdtrc)),
):
    DISTRIBUTIONS[complement] = negative(DISTRIBUTIONS[function])

# The inverses of SciPy's distribution functions in any of their arguments


BINOMIAL = at(lambda k, n, p: (n - k, k + 1, 1 - p), sp.betainc, (-1, 1, 0), (1, 0, 0), (0, 0, -1))
NEGATIVE_BINOMIAL = at(lambda k, n, p: (n, k + 1, p), sp.betainc, (0, 1, 0), (1, 0, 0), (0, 0, 1))
POISSON = at(lambda k, m: (k + 1, m), sp.gammaincc, (1, 0), (0, 1))

COUNTED_POISSON: Forward = (  # of a count of which SciPy drops what there is behind the point
    lambda k, m: sp.pdtr(np.trunc(k), m),
    ("k", lambda out, k, m: poisson(out, np.trunc(k), m)),
)


def inverted(forward: Forward, unknown: int, searched: bool) -> tuple[Any, ...]:
    """Make the row of the inverse in one argument.

    Parameters
    ----------
    forward : tuple of callable and tuple
        The distribution function, and its row.
    unknown : int
        The position of the argument that is found, and of the probability among the inverse's.
    searched : bool
        Whether it finds the least or the largest there is where nothing gives p, which has no
        slope. Where it finds neither, the slope is nan.
    """
    function, makers = forward
    by_unknown = makers[unknown]

    def slope(position: int, maker: Any) -> Any:
        if not callable(maker):
            return maker

        def partial(out: Array, *args: Array) -> Array:
            p = args[unknown]
            given = (*args[:unknown], out, *args[unknown + 1 :])
            density = by_unknown(p, *given)
            if np.equal(primal(density), 0).any():
                # So that 1 / 0 has no slope, instead of one of 0 where the density has
                density = density * (1 + 0 * (p + np.where(np.isinf(out), 0, out)))
            share = 1 / density if position == unknown else -ratio(maker(p, *given), density)
            if not searched:
                return share
            found, bound = function(*map(primal, given)), is_bound(primal(out))
            off = np.isnan(found) | (np.absolute(found - primal(p)) > 1e-8)
            lost = missed(primal(p), found) | (bound & off)
            if not possibly(lost):
                return share
            return np.where(lost & bound, 0.0, share) * np.where(lost & ~bound, np.nan, 1.0)

        return partial

    return tuple(slope(position, maker) for position, maker in enumerate(makers))


def missed(p: Array, found: Array) -> Array:
    """Tell where a search has ended elsewhere, since nothing gives p.

    SciPy's searches end with a relative error of far less.
    """
    most = 1e-2 if np.result_type(found).itemsize < 8 else 1e-3
    return np.absolute(found - p) > most * np.minimum(p, found)


def is_bound(found: Array) -> Array:
    """Tell where a search has ended at one of its bounds."""
    size = np.absolute(found)
    outside = np.less(size, 1e-99) | np.greater(size, 9e99 if found.dtype.itemsize > 4 else 1e38)
    return outside | np.equal(found, 1e4) | np.equal(found, 1e10)


INVERTED: tuple[tuple[Any, str], ...] = (
    (sp.gammainc, "- gammaincinv"),
    (sp.gammaincc, "- gammainccinv"),
    (sp.betainc, "btdtria btdtrib betaincinv"),
    (sp.betaincc, "- - betainccinv"),
    (sp.chdtr, "chdtriv?"),
    (sp.chdtrc, "- chdtri"),
    (sp.chndtr, "chndtrix? chndtridf? chndtrinc?"),
    (sp.gdtr, "gdtria gdtrib gdtrix"),
    (sp.fdtr, "- fdtridfd? fdtri"),
    (sp.ncfdtr, "ncfdtridfn? ncfdtridfd? ncfdtrinc? ncfdtri?"),
    (sp.stdtr, "stdtridf? stdtrit"),
    (sp.nctdtr, "nctdtridf? nctdtrinc? nctdtrit?"),
    (sp.bdtr, "- - bdtri"),
    (BINOMIAL, "bdtrik? bdtrin?"),
    (sp.nbdtr, "- - nbdtri"),
    (NEGATIVE_BINOMIAL, "nbdtrik? nbdtrin?"),
    (COUNTED_POISSON, "- pdtri"),
    (POISSON, "pdtrik?"),
    (sp.kolmogorov, "kolmogi"),
    (sp.smirnov, "- smirnovi"),
)
"""For each distribution function its inverses by position; ? marks those that search."""

FORWARD: dict[Any, Any] = INCOMPLETE | STUDENT | NONCENTRAL | DISTRIBUTIONS

for function, names in INVERTED:
    forward = function if isinstance(function, tuple) else (function, FORWARD[function])
    for position, name in enumerate(names.split()):
        if name != "-":
            inverse = getattr(sp, name.rstrip("?"))
            DISTRIBUTIONS[inverse] = inverted(forward, position, name[-1] == "?")


def quantile_slope(p: Array) -> Array:
    """Differentiate the quantile z of the normal distribution: sqrt(2 pi) exp(z**2 / 2)."""
    return math.sqrt(2 * math.pi) * np.exp(0.5 * sp.ndtri(p) ** 2)


DISTRIBUTIONS |= {
    sp.nrdtrimn: (
        where_found(lambda out, p, deviation, x: -deviation * quantile_slope(p)),
        where_found(lambda out, p, deviation, x: -sp.ndtri(p)),
        where_found(lambda out, p, deviation, x: np.ones_like(out)),
    ),
    sp.nrdtrisd: (
        where_found(lambda out, mean, p, x: -1 / sp.ndtri(p)),
        where_found(lambda out, mean, p, x: -out / sp.ndtri(p) * quantile_slope(p)),
        where_found(lambda out, mean, p, x: 1 / sp.ndtri(p)),
    ),
}

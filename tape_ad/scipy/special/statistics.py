"""The distribution functions of Tukey, Kolmogorov and Smirnov, and the Voigt profile."""

import math
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Constant, Entry, add_facts, overridable, quiet, rule
from tape_ad.scipy.special.logarithms import power_slope
from tape_ad.scipy.special.shared import in_double, no_partial, sp

__all__ = ["STATISTICS", "kolmogorov", "smirnov"]


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


@overridable
def voigt_derivative(x: Array, sigma: Array, gamma: Array, order: int, turns: int) -> Array:
    """Give Re(i**turns G), where G is differentiated `order` times with respect to z."""

    def derivative(x: Array, sigma: Array, gamma: Array) -> Array:
        z = x + 1j * gamma
        far = (np.abs(z) > FAR * math.sqrt(2) * sigma) & (gamma >= 0) & (sigma >= 0)
        values: Array = np.where(far, voigt_far(z, sigma, order), voigt_near(z, sigma, order))
        return (values * 1j ** (turns % 4)).real

    return in_double(derivative, x, sigma, gamma)


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


STATISTICS: dict[Any, Entry] = {
    sp.tklmbda: rule(quiet(tukey_first), quiet(tukey_second)),
    sp.kolmogorov: rule(quiet(kolmogorov)),
    sp.smirnov: rule(no_partial("smirnov", "n"), quiet(smirnov)),
    smirnov_numbers: Constant(),
    sp.voigt_profile: rule(
        quiet(lambda out, x, sigma, gamma: voigt_derivative(x, sigma, gamma, 1, 0)),
        quiet(lambda out, x, sigma, gamma: sigma * voigt_derivative(x, sigma, gamma, 2, 0)),
        quiet(lambda out, x, sigma, gamma: voigt_derivative(x, sigma, gamma, 1, 1)),
    ),
    voigt_derivative: rule(
        quiet(lambda out, x, s, g, order, turns: voigt_derivative(x, s, g, order + 1, turns)),
        quiet(lambda out, x, s, g, order, turns: s * voigt_derivative(x, s, g, order + 2, turns)),
        quiet(lambda out, x, s, g, order, turns: voigt_derivative(x, s, g, order + 1, turns + 1)),
        None,
        None,
        facts=facts.elementwise("x", "sigma", "gamma"),
    ),
}

add_facts(STATISTICS, (smirnov_numbers,), shape_by_values=True)

"""The zeta functions of Riemann and Hurwitz, in both arguments.

Derivatives with respect to x = s of ``zeta(s, q)`` are those of the formula of Euler and Maclaurin,
DLMF 25.11.28, with a power series in the change of s in place of s: a list of its coefficients,
here called a series.
"""

import math
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Entry, overridable, quiet, rule
from tape_ad.scipy.installed import asked
from tape_ad.scipy.special.shared import BERNOULLI, Probe, in_double, sp

__all__ = ["ZETA"]

RIEMANN = asked(lambda: sp.zeta(Probe())) or sp.zeta
HURWITZ = asked(lambda: sp.zeta(2.0, Probe())) or sp.zeta.of_two

TERMS = 12
"""How many terms are summed before the formula's tail."""

LEFT = -0.5
"""Below it, Riemann's function is reflected; above, the formula loses two digits at most."""

Series = list[Array]


@overridable
def zeta_slope(x: Array, q: Array, order: int) -> Array:
    """Differentiate zeta(x, q) with respect to x, `order` times, for x > -1/2 and q > 0."""
    return in_double(lambda x, q: euler_maclaurin(x, q, order), x, q)


def euler_maclaurin(s: Array, q: Array, order: int) -> Array:
    """Sum the derivatives of the first terms of (q + k)**-s, and of the formula's tail."""
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


def hurwitz_first(out: Array, x: Array, q: Array) -> Array:
    """The formula's derivative; nan where SciPy's function is not defined."""
    return np.where(np.greater(x, 1), zeta_slope(x, q, 1), np.nan)


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


ZETA: dict[Any, Entry] = {
    RIEMANN: rule(quiet(riemann)),
    sp.zetac: rule(quiet(riemann)),  # less one
    HURWITZ: rule(quiet(hurwitz_first), quiet(lambda out, x, q: -x * sp.zeta(x + 1, q))),
    zeta_slope: rule(
        quiet(lambda out, x, q, order: zeta_slope(x, q, order + 1)),
        quiet(slope_second),
        None,
        facts=facts.elementwise("x", "q"),
    ),
}

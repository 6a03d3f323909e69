"""The special functions that NumPy has itself: `numpy.sinc`, `numpy.i0` and those of `numpy.emath`.

`sinc` and `i0` are smooth everywhere, and so are their derivatives here: sinc'(0) = 0, and no
accuracy is lost near 0 by dividing a small difference by a small number. A function of `emath`
answers with complex numbers where the real one gives nan: it looks at the values, turns its operand
complex if that is needed, and is then the function of the same name in `numpy`. Beyond a branch
point the derivative is the complex one.
"""

import math
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, rule, stated
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.bodies import own

SINC_TERMS = 16
"""Terms of a power series in y*y, enough for full precision where |y| is below `order` + 1."""

SERIES_LIMIT = 25.0
"""Where the asymptotic series of the Bessel functions takes over from the power series."""


@overridable
def sinc_derivative(x: Array, order: int) -> Array:
    """Differentiate sin(pi x) / (pi x) a number of times.

    With y = pi x, the derivatives f_n of f_0 = sin(y) / y obey
    ``y f_n + n f_(n-1) = sin(y + n pi / 2)``, from differentiating ``y f_0 = sin(y)``. Dividing by
    y amplifies rounding errors where |y| < n, and there the power series is summed.
    """
    with np.errstate(all="ignore"):
        y = np.pi * x
        small = np.abs(y) < order + 1
        inner, outer = np.where(small, y, 0), np.where(small, 1, y)
        far = np.sin(outer) / outer
        for n in range(1, order + 1):
            far = (np.sin(outer + n * (np.pi / 2)) - n * far) / outer
        value: Array = np.where(small, sinc_series(inner, order), far)
        return value[()] * np.pi**order


def sinc_series(y: Array, order: int) -> Array:
    """Sum (-1)**k y**(2k - order) / ((2k + 1) (2k - order)!) over 2k >= order."""
    first = (order + 1) // 2
    total: Array = 0.0
    for k in reversed(range(first, first + SINC_TERMS + order)):
        total = total * (y * y) + (-1.0) ** k / ((2 * k + 1) * math.factorial(2 * k - order))
    return total * y if order % 2 else total


@overridable
def bessel_i(x: Array, order: int) -> Array:
    """Compute the modified Bessel function I_n for a small whole order n, without SciPy.

    The power series, DLMF 10.25.2, whose terms all have one sign, and for |x| > 25 the asymptotic
    one, 10.40.1.
    """
    with np.errstate(all="ignore"):
        size = np.abs(x)
        small = size < SERIES_LIMIT
        near = power_series(np.where(small, size, 0), order)
        far = asymptotic_series(np.where(small, SERIES_LIMIT, size), order)
        value: Array = np.where(small, near, far)
        return (value if order % 2 == 0 else value * np.sign(x))[()]


def power_series(x: Array, order: int) -> Array:
    """(x/2)**n sum (x**2/4)**k / (k! (n+k)!)."""
    quarter = x * x / 4
    total: Array = 1.0
    for k in reversed(range(1, 60)):
        total = 1 + total * (quarter / (k * (k + order)))
    return total * (x / 2) ** order / math.factorial(order)


def asymptotic_series(x: Array, order: int) -> Array:
    """exp(x) / sqrt(2 pi x) times the sum of (-1)**k a_k(n) / x**k."""
    total: Array = 1.0
    for k in reversed(range(1, 30)):
        total = 1 - total * ((4 * order * order - (2 * k - 1) ** 2) / (8 * k) / x)
    half = np.exp(x / 2)  # exp(x) itself overflows before the function does
    return half * (total / np.sqrt(2 * np.pi * x)) * half


def bessel_i_partial(out: Array, x: Array, order: int) -> Array:
    """(I_(n-1) + I_(n+1)) / 2, DLMF 10.29.1."""
    if order == 0:
        return bessel_i(x, 1)
    return (bessel_i(x, order - 1) + bessel_i(x, order + 1)) / 2


SPECIALS_NUMPY: dict[Any, Entry] = stated(
    facts.ELEMENTWISE,
    {
        np.sinc: rule(lambda out, x: sinc_derivative(x, 1)),
        sinc_derivative: rule(lambda out, x, order: sinc_derivative(x, order + 1), None),
        np.i0: rule(lambda out, x: bessel_i(x, 1)),
        bessel_i: rule(bessel_i_partial, None),
    },
)


class Magnitude:
    """What NumPy's own lines compare with a bound, which need not be recorded for that."""

    def __init__(self, x: Array) -> None:
        self.x = x

    def __gt__(self, bound: float) -> Any:
        return np.greater(self.x, bound) | np.less(self.x, -bound)


SCIMATH: dict[Any, Entry] = own(
    *(getattr(np.emath, name) for name in np.emath.__all__),
    facts=facts.Facts(dtype_by_values=True),
    abs=Magnitude,
)

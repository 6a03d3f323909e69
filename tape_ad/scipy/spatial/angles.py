"""Functions of the square of an angle, which rotations by small angles are smooth in.

A rotation vector's length has a kink at zero, and its sine divided by it loses digits there. Both
are functions of the square of the length that have all derivatives, which power series give where
formulas would cancel.
"""

import math
from typing import Any

import numpy as np
import scipy.special

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, rule
from tape_ad.rules.maps import Array

__all__ = ["ANGLES", "arctan_of_root", "cosine_of_root"]

NEAR_COSINE, NEAR_ARCTAN = 1.0, 0.25
"""Up to where power series are summed."""


def summed(coefficients: list[float], s: Array) -> Array:
    """Evaluate a polynomial, the lowest power first."""
    total = np.full_like(s, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * s + coefficient
    return total


@overridable
def cosine_of_root(s: Array, n: int = 0) -> Array:
    """Compute the n-th derivative of cos(sqrt(s)) by s; the first is -sin(sqrt(s)) / sqrt(s) / 2.

    Parameters
    ----------
    s : array or Tensor
        Not negative.
    n : int

    Returns
    -------
    array or Tensor, shape of `s`

    Notes
    -----
    From n = 1 on it is (-1/2)**n j(x) / x**(n - 1), with x = sqrt(s) and the spherical Bessel
    function j of order n - 1 (https://dlmf.nist.gov/10.51.E3).
    """
    s = np.asarray(s)
    near = s <= NEAR_COSINE
    terms = [(-1.0) ** k * math.perm(k, n) / math.factorial(2 * k) for k in range(n, n + 10)]
    series = summed(terms, np.where(near, s, 0.0))
    if np.all(near):
        return series[()]
    x = np.sqrt(np.where(near, 1.0, s))
    if n == 0:
        far = np.cos(x)
    elif n == 1:
        far = -np.sin(x) / x / 2
    else:
        far = (-0.5) ** n * scipy.special.spherical_jn(n - 1, x) / x ** (n - 1)
    return np.where(near, series, far.astype(s.dtype))[()]


@overridable
def arctan_of_root(t: Array, n: int = 0) -> Array:
    """Compute the n-th derivative of arctan(sqrt(t)) / sqrt(t) by t.

    Parameters
    ----------
    t : array or Tensor
        Not negative.
    n : int

    Returns
    -------
    array or Tensor, shape of `t`

    Notes
    -----
    Away from 0, each derivative follows from the one before: what is derived n times is
    2 t a' + a = 1 / (1 + t).
    """
    t = np.asarray(t)
    near = t <= NEAR_ARCTAN
    terms = [(-1.0) ** k * float(math.perm(k, n)) / (2 * k + 1) for k in range(n, n + 30 + 6 * n)]
    series = summed(terms, np.where(near, t, 0.0))
    if np.all(near):
        return series[()]
    at = np.where(near, 1.0, t)
    far = np.arctan(np.sqrt(at)) / np.sqrt(at)
    for m in range(n):
        source = (-1.0) ** m * math.factorial(m) / (1 + at) ** (m + 1)
        far = (source - (2 * m + 1) * far) / (2 * at)
    return np.where(near, series, far)[()]


ANGLES: dict[Any, Entry] = {
    cosine_of_root: rule(
        lambda out, s, n: cosine_of_root(s, n + 1),
        signature=lambda s, n=0: ((s,), {"n": n}),
        facts=facts.elementwise("s"),
    ),
    arctan_of_root: rule(
        lambda out, t, n: arctan_of_root(t, n + 1),
        signature=lambda t, n=0: ((t,), {"n": n}),
        facts=facts.elementwise("t"),
    ),
}

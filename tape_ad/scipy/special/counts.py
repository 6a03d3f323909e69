"""What SciPy writes in Python: factorials, permutations and Dirichlet's kernel."""

import math
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Call, Entry, arguments_of, quiet, rule
from tape_ad.scipy.counterparts import counterpart, refuse_elsewhere, scipy_function
from tape_ad.scipy.special.shared import BERNOULLI, sp

__all__ = ["COUNTS", "diric", "factorial", "perm"]

COUNTS: dict[Any, Entry] = {}

diric = scipy_function(sp.diric, "tape_ad.scipy.special", "x")
factorial = scipy_function(sp.factorial, "tape_ad.scipy.special", "n")

sort_diric = arguments_of(diric, "x")
sort_factorial = arguments_of(factorial, "n")


def diric_call(*args: Any, **kwargs: Any) -> Call:
    """Refuse handles for n, which is a whole number."""
    (x,), options = sort_diric(*args, **kwargs)
    refuse_elsewhere(diric, options)
    return (as_array(x),), options


def factorial_call(*args: Any, **kwargs: Any) -> Call:
    """Refuse handles where the factorial is counted."""
    (n,), options = sort_factorial(*args, **kwargs)
    refuse_elsewhere(factorial, options)
    refuse_counting("factorial", "n", options.get("exact", False))
    return (as_array(n),), options


def refuse_counting(name: str, argument: str, exact: Any) -> None:
    """Refuse a count in Python's integers."""
    if exact:
        raise UnsupportedArgumentError(
            f"scipy.special.{name} counts in Python's integers when exact=True, so it cannot be "
            f"differentiated; write exact=False, or pass {argument}.data"
        )


# n cot(n h) - cot(h) is the sum of COTANGENTS[k - 1] (n**(2 k) - 1) h**(2 k - 1), DLMF 4.19.6
COTANGENTS = [-abs(b) * 4**k / math.factorial(2 * k) for k, b in enumerate(BERNOULLI, 1)]


def diric_slope(out: Array, x: Array, n: Array) -> Array:
    """Differentiate sin(n x / 2) / (n sin(x / 2)), also at multiples of 2 pi."""
    half, n = x / 2, as_array(n)
    turns = np.round(half / math.pi)
    h = half - turns * math.pi
    near = np.less(n * np.abs(h), 0.2)
    inner, outer = np.where(near, h, 0), np.where(near, 1, half)
    series: Array = 0.0
    for k in range(len(COTANGENTS), 0, -1):
        series = series + COTANGENTS[k - 1] * (n ** (2.0 * k) - 1) * inner ** (2 * k - 1)
    direct = (np.cos(n * outer) - out * np.cos(outer)) / np.sin(outer)
    return 0.5 * np.where(near, out * series, direct)


def factorial_slope(out: Array, n: Array, exact: bool = False, extend: str = "zero") -> Array:
    """n! digamma(n + 1), and 0 below 0 unless the factorial is continued there."""
    if extend != "zero":
        return out * sp.digamma(n + 1)
    below = np.less(n, 0)
    return np.where(below, 0, out * sp.digamma(np.where(below, 0, n) + 1))


COUNTS[diric] = rule(quiet(diric_slope), signature=diric_call, facts=facts.elementwise("x", "n"))


def of_array(n: Array, **options: Any) -> Array:
    """Compute the factorial; that of a negative number is an integer in SciPy 1.14."""
    value = factorial(n, **options)
    return np.float64(value) if type(value) is int else value


COUNTS[factorial] = rule(
    quiet(factorial_slope), signature=factorial_call, compute=of_array, facts=facts.elementwise("n")
)


@counterpart(COUNTS, sp.perm, "N k")
def perm(N: Array, k: Array, exact: bool = False) -> Any:  # noqa: N803 - SciPy's name
    """Count the permutations of N things taken k at a time; see `scipy.special.perm`.

    Parameters
    ----------
    N, k : array or Tensor
        They broadcast together.
    exact : bool
        Count with Python's integers, which cannot be differentiated.

    Returns
    -------
    array or Tensor
        0, also in its gradient, where k > N, N < 0 or k < 0. Elsewhere the gradient is that of
        ``scipy.special.poch(N - k + 1, k)``, which continues the count to real numbers.

    Raises
    ------
    UnsupportedArgumentError
        For handles when `exact` is true.

    Examples
    --------
    >>> perm(5, 2)
    np.float64(20.0)
    """
    refuse_counting("perm", "N.data or k", exact)
    possible = np.less_equal(k, N) & np.greater_equal(N, 0) & np.greater_equal(k, 0)
    things, taken = np.where(possible, N, 1.0), np.where(possible, k, 1.0)
    return np.where(possible, sp.poch(things - taken + 1, taken), 0)

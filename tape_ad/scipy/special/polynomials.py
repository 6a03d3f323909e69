"""SciPy's orthogonal polynomials, with respect to x and parameters; degrees refuse handles.

By x, the formulas are those of DLMF 18.9.15 to 18.9.26: a derivative is a polynomial of the next
family, one degree lower. By a parameter, it is a sum over all lower degrees of the same family
(Froehlich 1994, "Parameter derivatives of the Jacobi polynomials and the Gaussian hypergeometric
function", Integral Transforms and Special Functions 2), for whole degrees alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, Maker, quiet, rule
from tape_ad.scipy.special.shared import no_partial, sp

__all__ = ["POLYNOMIALS"]


def below(lower: Callable[..., Array]) -> Maker:
    """Make the maker from ``lower(n, m, *parameters, x)``: m is n - 1, and 0 where n is 0.

    Whole degrees are given as integers, for which SciPy takes the recurrence. Below 0, where it
    reflects some families and gives 0 for others, the slope is nan.
    """

    def partial(out: Array, n: Array, *rest: Array) -> Array:
        degree = as_array(n)
        whole = degree.astype(np.int64)
        degree = whole if np.all(whole == degree) else degree
        constant = np.equal(degree, 0)
        slope = np.where(constant, 0.0, lower(degree, np.where(constant, 0, degree - 1), *rest))
        negative = (degree < 0) & (degree == whole)
        return np.where(negative, np.nan, slope) if negative.any() else slope

    return partial


def family(name: str, parameters: str, lower: Callable[..., Array]) -> Entry:
    """Make the rule of one family: the degree, and some parameters, refuse handles."""
    terms = BY_PARAMETERS.get(name)
    names = parameters.split()
    if terms is None:
        makers = [no_partial(name, each) for each in names]
    else:
        makers = [quiet(summed(name, *each)) for each in zip(names, terms, strict=True)]
    return rule(no_partial(name, "n"), *makers, below(lower))


LOWER: dict[str, tuple[str, Callable[..., Array]]] = {
    "eval_jacobi": (
        "alpha beta",
        lambda n, m, a, b, x: 0.5 * (n + a + b + 1) * sp.eval_jacobi(m, a + 1, b + 1, x),
    ),
    "eval_sh_jacobi": (
        "p q",
        lambda n, m, p, q, x: n * sp.eval_sh_jacobi(m, p + 2, q + 1, x),
    ),
    "eval_gegenbauer": ("alpha", lambda n, m, a, x: 2 * a * sp.eval_gegenbauer(m, a + 1, x)),
    "eval_legendre": ("", lambda n, m, x: 0.5 * (n + 1) * sp.eval_jacobi(m, 1.0, 1.0, x)),
    "eval_sh_legendre": ("", lambda n, m, x: (n + 1) * sp.eval_jacobi(m, 1.0, 1.0, 2 * x - 1)),
    "eval_chebyt": ("", lambda n, m, x: n * sp.eval_chebyu(m, x)),
    "eval_chebyu": ("", lambda n, m, x: 2 * sp.eval_gegenbauer(m, 2.0, x)),
    "eval_chebyc": ("", lambda n, m, x: n * sp.eval_chebyu(m, 0.5 * x)),
    "eval_chebys": ("", lambda n, m, x: sp.eval_gegenbauer(m, 2.0, 0.5 * x)),
    "eval_sh_chebyt": ("", lambda n, m, x: 2 * n * sp.eval_chebyu(m, 2 * x - 1)),
    "eval_sh_chebyu": ("", lambda n, m, x: 4 * sp.eval_gegenbauer(m, 2.0, 2 * x - 1)),
    "eval_hermite": ("", lambda n, m, x: 2 * n * sp.eval_hermite(m, x)),
    "eval_hermitenorm": ("", lambda n, m, x: n * sp.eval_hermitenorm(m, x)),
    "eval_laguerre": ("", lambda n, m, x: -sp.eval_genlaguerre(m, 1.0, x)),
    "eval_genlaguerre": ("alpha", lambda n, m, a, x: -sp.eval_genlaguerre(m, a + 1, x)),
}


def summed(name: str, parameter: str, term: Callable[..., Array]) -> Maker:
    """Make the maker for a parameter from the terms ``term(k, n, out, *parameters, x)``."""

    def partial(out: Array, n: Array, *rest: Array) -> Array:
        degree = as_array(n)
        if not np.all((degree >= 0) & (degree == np.floor(degree))):
            raise UnsupportedArgumentError(
                f"scipy.special.{name}: there is a derivative by {parameter} for whole degrees "
                f"alone; pass {parameter}.data if it is meant as a constant"
            )
        degree = degree.astype(np.int64)  # for which SciPy takes the recurrence
        total: Array = 0.0 * out
        for k in range(int(np.max(degree, initial=0))):
            below = np.less(k, degree)
            lower = term(k, np.where(below, degree, k + 1), out, *rest)
            total = total + np.where(below, lower, 0)
        return total

    return partial


def jacobi_by(
    k: int, n: Array, out: Array, a: Array, b: Array, x: Array, other: Array, sign: int
) -> Array:
    """One term of dP / da, or of dP / db with `other` and `sign` changed.

    For k = 0, numerator and denominator have a factor a + b + 1, which is left out of both.
    """
    both = a + b + 1
    weight = (2 * k + both) / sp.poch(both + k, n - k) if k else 1 / sp.poch(both + 1, n - 1)
    weight = weight * sp.poch(other + k + 1, n - k) * float(sign) ** (n - k) / (n - k)
    return (out + weight * sp.eval_jacobi(k, a, b, x)) / (n + k + both)


def gegenbauer_by(k: int, n: Array, out: Array, a: Array, x: Array) -> Array:
    """One term of dC / da; for k = 0, where a may be 0, with C / a by Jacobi's polynomial."""
    lower = 2 * (1 + (-1.0) ** (n - k)) * (k + a) / ((k + n + 2 * a) * (n - k))
    lower = lower * (sp.eval_gegenbauer(k, a, x) if k else 1) + 2 / (k + n + 2 * a) * out
    if k:
        return lower + 2 * (k + 1) / ((k + 2 * a) * (2 * k + 1 + 2 * a)) * out
    over_a = 2 * sp.poch(2 * a + 1, n - 1) / sp.poch(a + 0.5, n)
    return lower + over_a * sp.eval_jacobi(n, a - 0.5, a - 0.5, x) / (1 + 2 * a)


BY_PARAMETERS: dict[str, tuple[Callable[..., Array], ...]] = {
    "eval_jacobi": (
        lambda k, n, out, a, b, x: jacobi_by(k, n, out, a, b, x, b, 1),
        lambda k, n, out, a, b, x: jacobi_by(k, n, out, a, b, x, a, -1),
    ),
    "eval_gegenbauer": (gegenbauer_by,),
    "eval_genlaguerre": (lambda k, n, out, a, x: sp.eval_genlaguerre(k, a, x) / (n - k),),
}

POLYNOMIALS: dict[Any, Entry] = {
    getattr(sp, name): family(name, *described) for name, described in LOWER.items()
}

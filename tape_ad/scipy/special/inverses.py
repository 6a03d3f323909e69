"""The inverses of SciPy's distribution functions in any of their arguments.

With p = F(a, ..., x, ...), an inverse gives x where its arguments have p in the place of x. By the
implicit function theorem dx/dp = 1 / F_x and dx/da = -F_a / F_x, at the x that SciPy has found.
Where F_a and F_x are 0, x is at the end of its range and stays there, whatever a is.

Where a function of counts is inverted by a count, SciPy takes F with real counts in it, by the
incomplete functions: DLMF 8.17.5 for the binomial distributions, 8.4.8 for Poisson's.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import Array, possibly, primal, ratio
from tape_ad.extend.rules import Entry, Maker, quiet, rule
from tape_ad.scipy.special.densities import beta_density, gamma_density
from tape_ad.scipy.special.distributions import DISTRIBUTIONS, poisson
from tape_ad.scipy.special.incomplete import INCOMPLETE, betainc_slope, gammainc_slope
from tape_ad.scipy.special.noncentral import NONCENTRAL
from tape_ad.scipy.special.shared import no_partial, sp, where_found
from tape_ad.scipy.special.statistics import STATISTICS
from tape_ad.scipy.special.student import STUDENT

__all__ = ["INVERSES"]

Makers = Sequence[Callable[..., Array] | None]


@frozen
class Forward:
    """A distribution function, and the makers of its partials."""

    function: Callable[..., Array]
    makers: Makers


BINOMIAL = Forward(
    lambda k, n, p: sp.betainc(n - k, k + 1, 1 - p),
    (
        lambda out, k, n, p: (
            betainc_slope(n - k, k + 1, 1 - p, 0, 1) - betainc_slope(n - k, k + 1, 1 - p, 1, 0)
        ),
        lambda out, k, n, p: betainc_slope(n - k, k + 1, 1 - p, 1, 0),
        lambda out, k, n, p: -beta_density(n - k, k + 1, 1 - p),
    ),
)

NEGATIVE_BINOMIAL = Forward(
    lambda k, n, p: sp.betainc(n, k + 1, p),
    (
        lambda out, k, n, p: betainc_slope(n, k + 1, p, 0, 1),
        lambda out, k, n, p: betainc_slope(n, k + 1, p, 1, 0),
        lambda out, k, n, p: beta_density(n, k + 1, p),
    ),
)

POISSON = Forward(
    lambda k, m: sp.gammaincc(k + 1, m),
    (
        lambda out, k, m: -gammainc_slope(k + 1, m, 1),
        lambda out, k, m: -gamma_density(k + 1, m),
    ),
)

COUNTED_POISSON = Forward(  # of a count of which SciPy drops what there is behind the point
    lambda k, m: sp.pdtr(np.trunc(k), m), (None, lambda out, k, m: -poisson(np.trunc(k), m))
)


def forward_of(function: Any) -> Forward:
    """Give a distribution function with its makers."""
    if type(function) is Forward:
        return function
    for rules in (INCOMPLETE, DISTRIBUTIONS, NONCENTRAL, STATISTICS, STUDENT):
        if function in rules:
            return Forward(function, rules[function].makers)  # type: ignore[union-attr]  # each is a Rule
    raise LookupError(function)


def inverted(function: Any, unknown: int, refused: dict[int, str], name: str) -> Entry:
    """Make the rule of the inverse in one argument.

    Parameters
    ----------
    function : ufunc, or Forward
        The distribution function.
    unknown : int
        The position of the argument that is found, and of the probability among the inverse's.
    refused : dict from int to str
        The arguments in which there is no derivative.
    name : str
        Of the inverse.
    """
    forward = forward_of(function)
    makers = forward.makers

    def slope(position: int) -> Maker | None:
        if position in refused:
            return no_partial(name, refused[position])
        maker, by_unknown = makers[position], makers[unknown]
        if maker is None:
            return None

        def partial(out: Array, *args: Array) -> Array:
            p = args[unknown]
            given = (*args[:unknown], out, *args[unknown + 1 :])
            density = by_unknown(p, *given)  # type: ignore[misc]  # smooth in the unknown
            if np.equal(primal(density), 0).any():
                # So that 1 / 0 has no slope, instead of one of 0 where the density has
                density = density * (1 + 0 * (p + np.where(np.isinf(out), 0, out)))
            share = 1 / density if position == unknown else -ratio(maker(p, *given), density)
            if name not in SEARCHED:
                return share
            found, bound = forward.function(*map(primal, given)), is_bound(primal(out))
            lost = missed(primal(p), found) | (bound & np.isnan(found))
            if not possibly(lost):
                return share
            return np.where(lost & bound, 0.0, share) * np.where(lost & ~bound, np.nan, 1.0)

        return quiet(partial)

    return rule(*map(slope, range(len(makers))))


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


INVERTED: dict[str, tuple[Any, int, dict[int, str]]] = {
    "gammaincinv": (sp.gammainc, 1, {}),
    "gammainccinv": (sp.gammaincc, 1, {}),
    "betaincinv": (sp.betainc, 2, {}),
    "betainccinv": (sp.betaincc, 2, {}),
    "btdtria": (sp.betainc, 0, {}),
    "btdtrib": (sp.betainc, 1, {}),
    "chdtri": (sp.chdtrc, 1, {}),
    "chdtriv": (sp.chdtr, 0, {}),
    "chndtrix": (sp.chndtr, 0, {}),
    "chndtridf": (sp.chndtr, 1, {}),
    "chndtrinc": (sp.chndtr, 2, {}),
    "gdtrix": (sp.gdtr, 2, {}),
    "gdtrib": (sp.gdtr, 1, {}),
    "gdtria": (sp.gdtr, 0, {}),
    "fdtri": (sp.fdtr, 2, {}),
    "fdtridfd": (sp.fdtr, 1, {}),
    "ncfdtri": (sp.ncfdtr, 3, {}),
    "ncfdtridfn": (sp.ncfdtr, 0, {}),
    "ncfdtridfd": (sp.ncfdtr, 1, {}),
    "ncfdtrinc": (sp.ncfdtr, 2, {}),
    "stdtrit": (sp.stdtr, 1, {}),
    "stdtridf": (sp.stdtr, 0, {}),
    "nctdtrit": (sp.nctdtr, 2, {}),
    "nctdtridf": (sp.nctdtr, 0, {}),
    "nctdtrinc": (sp.nctdtr, 1, {}),
    "bdtri": (sp.bdtr, 2, {1: "n"}),
    "bdtrik": (BINOMIAL, 0, {}),
    "bdtrin": (BINOMIAL, 1, {}),
    "nbdtri": (sp.nbdtr, 2, {0: "k", 1: "n"}),
    "nbdtrik": (NEGATIVE_BINOMIAL, 0, {}),
    "nbdtrin": (NEGATIVE_BINOMIAL, 1, {}),
    "pdtri": (COUNTED_POISSON, 1, {0: "k"}),
    "pdtrik": (POISSON, 0, {}),
    "kolmogi": (sp.kolmogorov, 0, {}),
    "smirnovi": (sp.smirnov, 1, {0: "n"}),
}
"""For each inverse the distribution function, the position of the unknown, and what is refused."""


SEARCHED = frozenset(
    {
        *("bdtrik", "bdtrin", "nbdtrik", "nbdtrin", "pdtrik", "chndtrix", "chndtridf", "chndtrinc"),
        *("chdtriv", "fdtridfd", "ncfdtri", "ncfdtridfn", "ncfdtridfd", "ncfdtrinc"),
        *("stdtridf", "nctdtrit", "nctdtridf", "nctdtrinc"),
    }
)
"""Those that find the least or the largest there is where nothing gives p, which has no slope.

Where they find neither, the slope is nan.
"""


def quantile_slope(p: Array) -> Array:
    """Differentiate the quantile z of the normal distribution: sqrt(2 pi) exp(z**2 / 2)."""
    return math.sqrt(2 * math.pi) * np.exp(0.5 * sp.ndtri(p) ** 2)


INVERSES: dict[Any, Entry] = {
    **{getattr(sp, name): inverted(*each, name) for name, each in INVERTED.items()},
    sp.nrdtrimn: rule(  # x - deviation ndtri(p)
        where_found(lambda out, p, deviation, x: -deviation * quantile_slope(p)),
        where_found(lambda out, p, deviation, x: -sp.ndtri(p)),
        where_found(lambda out, p, deviation, x: np.ones_like(out)),
    ),
    sp.nrdtrisd: rule(  # (x - mean) / ndtri(p)
        where_found(lambda out, mean, p, x: -1 / sp.ndtri(p)),
        where_found(lambda out, mean, p, x: -out / sp.ndtri(p) * quantile_slope(p)),
        where_found(lambda out, mean, p, x: 1 / sp.ndtri(p)),
    ),
}

"""Functions of scipy.special that SciPy finds by a search, and those that it sums with few digits.

SciPy's result x solves F(x, a) = p up to some error, so that its differences are noise. The rules
differentiate at the x that is found: they are compared with differences of the exact solution of
F(x, a) = p + r, where r is the error of the result.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special as sp
from attrs import frozen

import tape_ad as ta
from tests.rules.checks import central_difference
from tests.rules.rows_special_inverses import APART

Array = Any

STEP = 5e-4


def binomial(k: float, n: float, p: float) -> Any:
    """The distribution function, with real counts."""
    return sp.betaincc(k + 1, n - k, p)


def negative_binomial(k: float, n: float, p: float) -> Any:
    """The distribution function, with real counts."""
    return sp.betainc(n, k + 1, p)


def poisson(k: float, m: float) -> Any:
    """The distribution function, with a real count."""
    return sp.gammaincc(k + 1, m)


def weights(nc: float) -> tuple[Array, Array]:
    """The Poisson distribution that a noncentral one mixes by."""
    j = np.arange(150.0)
    return j, np.exp(sp.xlogy(j, nc / 2) - nc / 2 - sp.gammaln(j + 1))


def chi_square(x: float, df: float, nc: float) -> Any:
    """The noncentral distribution function."""
    j, share = weights(nc)
    return np.sum(share * sp.gammainc(df / 2 + j, x / 2))


def fisher(dfn: float, dfd: float, nc: float, f: float) -> Any:
    """The noncentral distribution function."""
    j, share = weights(nc)
    return np.sum(share * sp.betainc(dfn / 2 + j, dfd / 2, dfn * f / (dfn * f + dfd)))


points, steps = np.polynomial.legendre.leggauss(400)


def student(df: float, nc: float, t: float) -> Any:
    """The noncentral distribution function: the mean of ndtr(t s - nc) over s."""
    s = 3 * (points + 1)
    log = np.log(2) + df / 2 * np.log(df / 2) - sp.gammaln(df / 2) + (df - 1) * np.log(s)
    return np.sum(3 * steps * sp.ndtr(t * s - nc) * np.exp(log - df * s * s / 2))


@frozen
class Case:
    """An inverse, what it inverts, in which argument, and where it is looked at."""

    name: str
    forward: Callable[..., Any]
    unknown: int | None
    at: tuple[float, ...]

    def exact(self, at: Sequence[Array]) -> list[Array]:
        """Solve for what SciPy finds where the case is looked at."""
        if self.unknown is None:
            return [self.forward(*at)]
        i = self.unknown
        found = float(getattr(sp, self.name)(*self.at))
        given = [*self.at[:i], found, *self.at[i + 1 :]]
        level = self.forward(*given) - self.at[i] + at[i]

        def rest(x: float) -> Any:
            return self.forward(*at[:i], x, *at[i + 1 :]) - level

        low, high = found - 0.2 * abs(found), found + 0.2 * abs(found)
        return [scipy.optimize.brentq(rest, low, high, xtol=1e-15, rtol=1e-15)]


CASES = [
    Case("bdtrik", binomial, 0, (0.4, 10.0, 0.3)),
    Case("bdtrin", binomial, 1, (3.0, 0.4, 0.3)),
    Case("nbdtrik", negative_binomial, 0, (0.4, 5.0, 0.5)),
    Case("nbdtrin", negative_binomial, 1, (3.0, 0.4, 0.5)),
    Case("pdtrik", poisson, 0, (0.4, 3.0)),
    Case("btdtria", sp.betainc, 0, (0.3, 2.0, 0.4)),
    Case("btdtrib", sp.betainc, 1, (2.0, 0.3, 0.4)),
    Case("gdtria", sp.gdtr, 0, (0.4, 2.0, 1.0)),
    Case("gdtrib", sp.gdtr, 1, (2.0, 0.4, 1.0)),
    Case("gdtrix", sp.gdtr, 2, (2.0, 3.0, 0.4)),
    Case("chdtriv", sp.chdtr, 0, (0.4, 3.0)),
    Case("chndtrix", chi_square, 0, (0.4, 3.0, 2.0)),
    Case("chndtridf", chi_square, 1, (4.0, 0.4, 2.0)),
    Case("chndtrinc", chi_square, 2, (4.0, 3.0, 0.4)),
    Case("fdtridfd", sp.fdtr, 1, (4.0, 0.5, 1.0)),
    Case("stdtridf", sp.stdtr, 0, (0.8, 1.0)),
    Case("ncfdtr", fisher, None, (4.0, 3.0, 2.0, 1.0)),
    Case("ncfdtri", fisher, 3, (4.0, 3.0, 2.0, 0.4)),
    Case("ncfdtridfn", fisher, 0, (0.4, 5.0, 7.0, 2.0)),
    Case("ncfdtridfd", fisher, 1, (2.0, 0.97, 0.25, 15.0)),
    Case("ncfdtrinc", fisher, 2, (4.0, 3.0, 0.4, 2.0)),
    Case("nctdtr", student, None, (4.0, 1.0, 1.5)),
    Case("nctdtrit", student, 2, (4.0, -1.0, 0.3)),
    Case("nctdtridf", student, 0, (0.16, -0.5, -1.6)),
    Case("nctdtrinc", student, 1, (4.0, 0.4, 1.0)),
]


def test_where_no_noncentrality_is_small_enough() -> None:
    for x, df, p in ((2.0, 3.0, 0.9), (1e-3, 3.0, 0.5)):  # p is above what 0 gives
        slopes = ta.grad(sp.chndtrinc, (0, 1, 2))(x, df, p)
        assert [float(each) for each in slopes] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_derivatives_are_those_of_the_exact_solution(case: Case) -> None:
    at, directions = np.array(case.at), np.eye(len(case.at))

    def found(v: Array) -> Array:
        return getattr(sp, case.name)(*v)

    def slopes(v: Sequence[Array], along: Array) -> list[Array]:
        return central_difference(case.exact, v, list(along), step=STEP)

    first = [slopes(case.at, along)[0] for along in list(directions)]
    second = [
        [
            central_difference(lambda v, one=one: slopes(v, one), case.at, list(other), step=STEP)[
                0
            ]
            for one in directions
        ]
        for other in directions
    ]
    np.testing.assert_allclose(ta.grad(found)(at), first, rtol=1e-6, atol=1e-9)
    curved = ta.hessian(found)(at)
    np.testing.assert_allclose(curved, second, rtol=1e-5, atol=1e-5 * np.max(np.abs(second)))


def test_every_function_without_a_row_is_compared() -> None:
    assert {function.__name__ for function in APART} == {case.name for case in CASES}


def test_a_search_that_ends_at_its_bound_has_no_slope_there_however_near_it_is() -> None:
    p, t = 0.7472695673966846, 0.6650893598759209  # above the probability of any degrees of freedom
    assert sp.stdtridf(p, t) == 1e10
    assert ta.grad(sp.stdtridf, (0, 1))(p, t) == (0.0, 0.0)

"""Gradients of special functions against mpmath, near singular points and far out."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.scipy import special as sp

Point = tuple[float, ...]


def exact(function: Callable[..., Any], position: int, point: tuple[float, ...]) -> Any:
    """Differentiate one of mpmath's functions, at 60 digits."""
    with mpmath.workdps(60):
        at = [mpmath.mpf(x) for x in point]
        step = mpmath.mpf(10) ** -15 * min(1, abs(at[position]) or 1)

        def along(x: Any) -> Any:
            return function(*at[:position], x, *at[position + 1 :])

        return mpmath.diff(along, at[position], h=step)


def log_normal(x: Any) -> Any:
    return mpmath.log(mpmath.ncdf(x))


def owens_t(h: Any, a: Any) -> Any:
    def density(x: Any) -> Any:
        return mpmath.exp(-h * h * (1 + x * x) / 2) / (1 + x * x) / (2 * mpmath.pi)

    return mpmath.quad(density, [0, a])


def box_cox(x: Any, lmbda: Any) -> Any:
    return (x**lmbda - 1) / lmbda if lmbda else mpmath.log(x)


def inverse_box_cox(y: Any, lmbda: Any) -> Any:
    return (1 + lmbda * y) ** (1 / lmbda) if lmbda else mpmath.exp(y)


def lower_gamma(a: Any, x: Any) -> Any:
    return mpmath.gammainc(a, 0, x, regularized=True)


def lower_beta(a: Any, b: Any, x: Any) -> Any:
    return mpmath.betainc(a, b, 0, x, regularized=True)


# Function, the same in mpmath, points, and how far off the gradient may be, relative to itself.
AGAINST_MPMATH: list[tuple[Any, Any, list[Point], float]] = [
    (np.expm1, mpmath.expm1, [(-40.0,), (-60.0,), (1e-9,), (3.0,)], 1e-14),
    (sp.expm1, mpmath.expm1, [(-40.0,), (2.0,)], 1e-14),
    (sp.powm1, lambda x, y: x**y - 1, [(1e-12, 2.0), (0.2, 90.0), (1.1, 0.3)], 1e-13),
    (
        sp.inv_boxcox1p,
        lambda y, lmbda: inverse_box_cox(y, lmbda) - 1,
        [(-0.999, 0.05), (-1.9, 0.5), (0.4, 1e-3)],
        1e-12,
    ),
    (np.sinc, mpmath.sincpi, [(1e-8,), (-1e-3,), (0.3,), (2.5,), (50.2,)], 1e-13),
    (np.i0, lambda x: mpmath.besseli(0, x), [(1e-8,), (-3.0,), (24.0,), (26.0,), (600.0,)], 1e-14),
    (sp.gamma, mpmath.gamma, [(-3.7,), (0.01,), (5.0,), (160.0,)], 1e-13),
    (sp.rgamma, mpmath.rgamma, [(-8.0,), (-3.0,), (0.0,), (0.3,), (7.0,), (-2.6,)], 1e-13),
    (sp.gammaln, mpmath.loggamma, [(1e-5,), (2.0,), (1e8,)], 1e-14),
    (sp.digamma, mpmath.digamma, [(-2.5,), (0.1,), (1e6,)], 1e-14),
    (sp.beta, mpmath.beta, [(0.5, 0.1), (3.0, 1e-3), (100.0, 2.0), (1e-3, 1e-3)], 1e-13),
    (
        sp.betaln,
        lambda a, b: mpmath.log(mpmath.beta(a, b)),
        [(1e9, 1e-3), (1e8, 3.0), (2.0, 1e10), (0.5, 0.5)],
        1e-14,
    ),
    (sp.poch, mpmath.rf, [(1e9, 0.5), (0.5, 3.0), (2.0, -0.5)], 1e-13),
    (sp.binom, mpmath.binomial, [(1e6, 3.0), (7.5, 2.2), (4.0, 4.5), (3.0, 5.0)], 1e-12),
    (sp.zeta, mpmath.zeta, [(-7.3,), (-4.0,), (0.0,), (0.9,), (1.1,), (30.0,)], 1e-12),
    (sp.zeta, mpmath.zeta, [(1.01, 3.0), (4.0, 0.2), (2.5, 1e3)], 1e-12),
    (
        sp.gammainc,
        lower_gamma,
        [
            *((1e-3, 1e-6), (1e-3, 0.9), (0.5, 1e-9), (0.3, 0.99), (0.3, 1.01), (3.0, 1.0)),
            *((2.0, 2.0), (20.0, 3.0), (3.0, 20.0), (0.01, 30.0), (500.0, 480.0), (500.0, 900.0)),
        ],
        1e-12,
    ),
    (
        sp.gammaincc,
        lambda a, x: mpmath.gammainc(a, x, regularized=True),
        [(0.5, 1e-9), (3.0, 20.0), (500.0, 520.0)],
        1e-12,
    ),
    (
        sp.betainc,
        lower_beta,
        [
            *((2.0, 3.0, 0.4), (0.01, 0.02, 0.3), (0.003, 800.0, 1e-7), (50.0, 0.1, 0.9)),
            *((300.0, 200.0, 0.61), (30.0, 4.0, 0.05), (1.5, 90.0, 0.6), (0.5, 0.5, 1e-12)),
        ],
        1e-11,
    ),
    (sp.erf, mpmath.erf, [(-2.0,), (0.0,), (5.0,)], 1e-13),
    (
        sp.erfcx,
        lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
        [(-3.0,), (0.5,), (6.9,), (7.1,), (1e4,), (1e9,)],
        2e-13,
    ),
    (
        sp.dawsn,
        lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
        [(-0.3,), (4.0,), (-6.9,), (7.1,), (40.0,)],
        1e-12,
    ),
    (sp.erfinv, mpmath.erfinv, [(-0.9,), (1e-6,), (0.999999,)], 1e-9),
    (sp.ndtr, mpmath.ncdf, [(-8.0,), (0.0,), (3.0,)], 1e-13),
    (sp.log_ndtr, log_normal, [(-1e4,), (-30.0,), (-1.0,), (0.0,), (6.0,)], 1e-13),
    (sp.owens_t, owens_t, [(0.5, 0.3), (2.0, -1.5), (-1.0, 4.0)], 1e-13),
    (sp.logit, lambda x: mpmath.log(x / (1 - x)), [(1e-9,), (0.5,), (0.99,)], 1e-14),
    (sp.expit, lambda x: 1 / (1 + mpmath.exp(-x)), [(-40.0,), (0.0,), (40.0,)], 1e-14),
    (sp.log_expit, lambda x: -mpmath.log1p(mpmath.exp(-x)), [(-40.0,), (0.0,), (40.0,)], 1e-14),
    (sp.boxcox, box_cox, [(2.0, 1e-9), (0.1, -3.0), (1e-3, 0.5), (5.0, 2.0)], 1e-13),
    (sp.inv_boxcox, inverse_box_cox, [(2.0, 1e-6), (0.3, -3.0), (1.5, 0.4), (9.0, 2.0)], 1e-12),
    (sp.j1, lambda x: mpmath.besselj(1, x), [(0.0,), (1e-5,), (30.0,)], 1e-12),
    (sp.k0, lambda x: mpmath.besselk(0, x), [(1e-5,), (2.0,), (300.0,)], 1e-13),
    (sp.k1, lambda x: mpmath.besselk(1, x), [(1e-5,), (2.0,), (300.0,)], 1e-13),
    (sp.i1, lambda x: mpmath.besseli(1, x), [(0.0,), (1e-5,), (300.0,)], 1e-13),
    (sp.expi, mpmath.ei, [(-3.0,), (0.1,), (20.0,)], 1e-14),
    (lambda x: sp.expn(0, x), lambda x: mpmath.expint(0, x), [(1e-3,), (2.0,)], 1e-13),
    (lambda x: sp.expn(3, x), lambda x: mpmath.expint(3, x), [(1e-3,), (2.0,)], 1e-13),
    (lambda x: sp.sici(x)[0], mpmath.si, [(1e-9,), (2.0,), (-30.0,)], 1e-12),
    (lambda x: sp.shichi(x)[0], mpmath.shi, [(1e-9,), (2.0,), (-30.0,)], 1e-12),
    (lambda x: sp.fresnel(x)[1], mpmath.fresnelc, [(0.1,), (3.3,)], 1e-12),
    (
        sp.spence,
        lambda z: mpmath.re(mpmath.polylog(2, 1 - z)),
        [(1e-6,), (0.7,), (1 + 1e-9,), (1.4,), (1.6,)],
        1e-12,
    ),
    (sp.ellipk, mpmath.ellipk, [(-1e5,), (-1e-9,), (1e-9,), (0.5,), (0.999999,)], 1e-14),
    (sp.ellipe, mpmath.ellipe, [(-1e5,), (-1e-9,), (1e-9,), (0.5,), (0.999999,)], 1e-13),
    (sp.ellipkm1, lambda p: mpmath.ellipk(1 - p), [(1e-20,), (0.3,), (1.0,), (3.0,)], 1e-14),
    (
        lambda z: sp.lambertw(z).real,
        lambda z: mpmath.re(mpmath.lambertw(z)),
        [(0.0,), (1e-6,), (-0.3,), (1e5,)],
        1e-12,
    ),
]

POINTS = [
    pytest.param(function, oracle, point, tolerance, id=f"{i}-{point}")
    for i, (function, oracle, points, tolerance) in enumerate(AGAINST_MPMATH)
    for point in points
]


@pytest.mark.parametrize(("function", "oracle", "point", "tolerance"), POINTS)
def test_gradients_are_those_of_mpmath(
    function: Any, oracle: Any, point: Point, tolerance: float
) -> None:
    record = ta.ComputationRecord()
    handles = [record.tensor(x) for x in point]
    for position, slope in enumerate(function(*handles).grad().wrt(handles)):
        expected = float(exact(oracle, position, point))
        assert slope == pytest.approx(expected, rel=tolerance, abs=0)

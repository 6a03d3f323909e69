"""Bessel's relatives, elliptic integrals and Legendre functions where formulas change or end."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import special
from tests.rules.test_special import curvature

PI = np.pi


def slope(function: Callable[..., Any], x: float) -> float:
    handle = ta.ComputationRecord().tensor(x)
    return float(function(handle).grad().wrt(handle))


@pytest.mark.parametrize(
    ("function", "x", "first", "second"),
    [
        (special.bei, 0.0, 0.0, 0.5),  # x**2 / 4
        (special.beip, 0.0, 0.5, 0.0),
        (special.kei, 0.0, 0.0, np.inf),
        (lambda x: special.struve(0, x), 0.0, 2 / PI, 0.0),
        (lambda x: special.struve(1, x), 0.0, 0.0, 4 / (3 * PI)),
        (lambda x: special.modstruve(0, x), 0.0, 2 / PI, 0.0),
        (lambda x: special.it2j0y0(x)[0], 0.0, 0.0, 0.25),
        (lambda x: special.it2i0k0(x)[0], 0.0, 0.0, 0.25),
        (special.it2struve0, 0.0, -2 / PI, 0.0),
        (lambda x: special.besselpoly(x, 1.0, 0), 0.0, 0.0, -0.5),
        (lambda x: special.wright_bessel(0.5, 1.0, x), 0.0, 2 / np.sqrt(PI), 1.0),
        (lambda x: special.airye(x)[0], 0.0, special.airy(0.0)[1], np.inf),  # a root, right of 0
        (lambda m: special.ellipkinc(PI / 2, m), 0.0, PI / 8, 9 * PI / 64),
        (lambda m: special.ellipeinc(PI / 2, m), 0.0, -PI / 8, -3 * PI / 64),
        (lambda m: special.ellipkinc(3 * PI, m), 0.0, 3 * PI / 4, 27 * PI / 32),
        (lambda m: special.ellipkinc(0.0, m), 1.0, 0.0, 0.0),
        (lambda m: special.ellipkinc(PI / 2, m), 1.0, np.inf, np.inf),
        (lambda x: special.elliprf(x, x, x), 1.0, -0.5, 0.75),  # x**-0.5
        (lambda x: special.elliprd(x, x, x), 1.0, -1.5, 3.75),  # x**-1.5
        (lambda x: special.elliprj(x, x, x, x), 1.0, -1.5, 3.75),
        (lambda x: special.elliprg(x, x, x), 1.0, 0.5, -0.25),  # x**0.5
        (lambda x: special.elliprc(x, x), 1.0, -0.5, 0.75),
        (lambda x: special.elliprf(x, 1.0, 2.0), 0.0, -np.inf, np.inf),
        (lambda x: special.elliprg(x, 1.0, 1.0), 0.0, PI / 8, -np.inf),
        (lambda x: special.lpmv(0, 3, x), 1.0, 6.0, 15.0),
        (lambda x: special.lpmv(2, 3, x), -1.0, -30.0, 90.0),
        (lambda x: special.lpmv(4, 3, x), 0.5, 0.0, 0.0),
        (lambda x: special.spherical_jn(0, x), 0.0, 0.0, -1 / 3),
        (lambda x: special.spherical_jn(1, x, True), 0.0, 0.0, -0.2),
        (lambda x: special.spherical_in(2, x), 0.0, 0.0, 2 / 15),
        (lambda a: special.eval_gegenbauer(2, a, 0.3), 0.0, -0.82, 0.36),  # 2a(a+1)x**2 - a
        (lambda a: special.eval_jacobi(1, a, a, 0.3), -0.5, 0.3, 0.0),  # (a + 1) x
        (lambda a: special.roots_jacobi(1, a, 0.0)[0][0], 0.0, -0.5, 0.5),  # -a / (a + 2)
        (lambda a: special.roots_jacobi(2, a, a)[0][1], -0.5, -(0.5**1.5), 3 * 0.5**2.5),
    ],
)
def test_both_derivatives(function: Any, x: float, first: float, second: float) -> None:
    assert slope(function, x) == pytest.approx(first, rel=1e-12, abs=1e-14)
    assert curvature(function, x) == pytest.approx(second, rel=1e-12, abs=1e-14)


def test_the_modified_fresnel_integral_left_of_0_has_the_slope_of_the_integral() -> None:
    slopes = [slope(lambda x, k=k: special.modfresnelp(x)[k].real, -0.6) for k in (0, 1)]
    h = 1e-6
    difference = (special.modfresnelp(-0.6 + h)[1] - special.modfresnelp(-0.6 - h)[1]) / (2 * h)
    np.testing.assert_allclose(slopes, [-np.cos(0.36), difference.real], rtol=1e-9)


def test_carlsons_integrals_near_the_branch_cut_are_nan_and_not_wrong() -> None:
    record = ta.ComputationRecord()
    x = record.tensor(np.array([-1 + 0.01j, -1 + 1j]))
    gradient = special.elliprd(x, 1.0, 2.0).grad(np.ones(2, complex)).wrt(x)
    assert np.isnan(gradient).tolist() == [True, False]


ORDERS = [
    *((lambda t, f=f: getattr(special, f)(t, 1.0), f, "v") for f in ("jve", "yve", "hankel1e")),
    *((lambda t, f=f: getattr(special, f)(t, 1.0), f, "v") for f in ("struve", "pbdv", "pbvv")),
    (lambda t: special.besselpoly(1.0, t, 1), "besselpoly", "lmb"),
    (lambda t: special.wright_bessel(t, 1.0, 0.5), "wright_bessel", "a"),
    (lambda t: special.log_wright_bessel(1.0, t, 0.5), "log_wright_bessel", "b"),
    (lambda t: special.mathieu_cem(1.0, t, 0.5), "mathieu_cem", "q"),
    (lambda t: special.pro_ang1(1.0, 1.0, t, 0.5), "pro_ang1", "c"),
    (lambda t: special.lpmv(0.0, t, 0.5), "lpmv", "v"),
    (lambda t: special.spherical_jn(t, 0.5), "spherical_jn", "n"),
    (lambda t: special.eval_jacobi(t, 0.5, 0.5, 0.5), "eval_jacobi", "n"),
    (lambda t: special.eval_jacobi(1.5, t, 0.5, 0.5), "eval_jacobi", "alpha"),
    (lambda t: special.jvp(t, 0.5), "jv", "v"),
    (lambda t: special.riccati_jn(t, 0.5), "riccati_jn", "n"),
    (lambda t: special.pbdv_seq(-1.5, t), "pbdv_seq", "v"),
    (lambda t: special.ellip_harm([5.0, 6.0], 8.0, 2, 1, t), "ellip_harm", "h2"),
    (lambda t: special.ellip_harm(5.0, 8.0, 2, 6, t), "ellip_harm", "p"),
    (lambda t: special.roots_jacobi(t, 0.5, 0.5), "roots_jacobi", "n"),
    (lambda t: special.elliprj(1.0, 2.0, 3.0, -t), "elliprj", "p"),
]


@pytest.mark.parametrize(("call", "name", "argument"), ORDERS)
def test_orders_and_degrees_are_refused(call: Any, name: str, argument: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=rf"special\.{name}\b.*\b{argument}\b"):
        call(ta.ComputationRecord().tensor(1.0))


@pytest.mark.parametrize("kind", ["jn", "yn", "in", "kn"])
def test_the_fraction_of_an_order_is_left_out_and_no_curve_is_of_another_order(kind: str) -> None:
    def of_order(n: Any) -> Callable[..., Any]:
        return lambda z: getattr(special, f"spherical_{kind}")(n, z)

    value, slope = ta.value_and_grad(of_order(1.7))(0.6)
    assert (value, slope) == ta.value_and_grad(of_order(1))(0.6)
    with pytest.raises(UnsupportedArgumentError, match="leaves out the fraction of an order"):
        ta.grad(ta.grad(of_order(1.7)))(0.6)
    assert ta.grad(ta.grad(of_order(2.0)))(0.6) == ta.grad(ta.grad(of_order(2)))(0.6)


@pytest.mark.parametrize("name", ["jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"])
def test_there_is_no_negative_derivative(name: str) -> None:
    with pytest.raises(ValueError, match="n must be a non-negative integer"):
        getattr(special, name)(1.5, ta.ComputationRecord().tensor(0.3), -1)


@pytest.mark.parametrize("df", [1e-4, 1e-3, 0.0136, 0.05])
@pytest.mark.parametrize(("nc", "t"), [(0.652, 0.836), (-1.2, 0.5), (2.0, -3.0), (0.0, 1.0)])
def test_students_distribution_of_few_degrees_of_freedom(df: float, nc: float, t: float) -> None:
    slope = ta.grad(lambda at: special.nctdtr(df, at, t))
    np.testing.assert_allclose(slope(nc), -averaged_density(df, nc, t, 0), rtol=1e-9)
    np.testing.assert_allclose(
        ta.grad(slope)(nc), -averaged_density(df, nc, t, 1), rtol=1e-8, atol=1e-10
    )


def averaged_density(df: float, nc: float, t: float, order: int) -> float:
    """Average the normal density, or its slope by nc, at t sqrt(v / df) - nc over chi-squared v.

    It is what P(Z <= t sqrt(v / df) - nc), averaged over v, loses with nc. The variable is log(v),
    and below -100, where t sqrt(v / df) is 0, the average is a power of v.
    """

    def density(z: float) -> float:
        return z**order * math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)

    def weighed(log: float) -> float:
        return density(t * math.exp(log / 2) / math.sqrt(df) - nc) * math.exp(
            log * df / 2 - math.exp(log) / 2
        )

    low, middle, high = -100.0, math.log(df), 6.0
    parts = [
        scipy.integrate.quad(weighed, *ends, epsabs=0, epsrel=1e-12, limit=500)[0]
        for ends in ((low, middle - 10), (middle - 10, middle + 10), (middle + 10, high))
    ]
    rest = density(-nc) * 2 / df * math.exp(low * df / 2)
    return (math.fsum(parts) + rest) / (2 ** (df / 2) * math.gamma(df / 2))

"""Functions of scipy.special at the ends of their domains, and where parameters are special."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import tape_ad as ta
from tape_ad.errors import ConversionError, TieError, UnsupportedArgumentError
from tape_ad.scipy import special

Array = Any

LOG = math.log
NORMAL = 1 / math.sqrt(2 * math.pi)


def slopes(function: Callable[..., Array], *at: float) -> tuple[Array, Array]:
    """Give the gradient and the second derivatives."""

    def of_one(v: Array) -> Array:
        return function(*(v[i] for i in range(len(at))))

    with np.errstate(all="ignore"):
        return ta.grad(of_one)(np.array(at)), ta.hessian(of_one)(np.array(at))


EDGES = [
    # Of the densities of gamma and beta, x**(a - 1) times something smooth
    (lambda x: sp.gammainc(2.0, x), (0.0,), [0.0], [[1.0]]),
    (lambda x: sp.gammainc(3.0, x), (0.0,), [0.0], [[0.0]]),
    (lambda x: sp.betainc(2.0, 3.0, x), (0.0,), [0.0], [[12.0]]),
    (lambda x: sp.betainc(2.0, 3.0, x), (1.0,), [0.0], [[0.0]]),
    (lambda x: sp.betainc(3.0, 2.0, x), (1.0,), [0.0], [[-12.0]]),
    (lambda m: sp.pdtr(1, m), (0.0,), [0.0], [[-1.0]]),
    (lambda a: sp.gammainc(a, 10.0), (0.0,), [-4.156968929685325e-06], [[-2.464803107482918e-05]]),
    (lambda a: sp.betainc(a, 2.0, 0.3), (0.0,), [LOG(0.3) + 0.7], [[LOG(0.3) * (LOG(0.3) + 1.4)]]),
    (lambda b: sp.betaincc(2.0, b, 0.7), (0.0,), [LOG(0.3) + 0.7], [[LOG(0.3) * (LOG(0.3) + 1.4)]]),
    (lambda x: sp.betainc(0.0, 2.0, x), (0.3,), [0.0], [[0.0]]),
    (sp.gammainc, (3.0, 0.0), [0.0, 0.0], [[0.0] * 2] * 2),
    (sp.betainc, (3.0, 3.0, 1.0), [0.0] * 3, [[0.0] * 3] * 3),
    (sp.gammainc, (math.inf, 2.0), [0.0, 0.0], [[0.0] * 2] * 2),
    (sp.gammaincc, (math.inf, 0.5), [0.0, 0.0], [[0.0] * 2] * 2),
    (sp.gammainc, (math.inf, math.inf), [math.nan] * 2, [[math.nan] * 2] * 2),
    (sp.gammainc, (2.0, math.inf), [0.0, 0.0], [[0.0] * 2] * 2),
    # Degrees below 0, of which SciPy reflects some
    (lambda x: sp.eval_chebyt(-2, x), (0.3,), [1.2], [[4.0]]),
    (lambda x: sp.eval_sh_chebyt(-1, x), (0.3,), [2.0], [[0.0]]),
    (lambda x: sp.eval_chebyu(-1, x), (0.3,), [0.0], [[0.0]]),
    (lambda x: sp.eval_chebys(-4, x), (0.3,), [-0.6], [[-2.0]]),
    (lambda x: sp.eval_legendre(-3, x), (0.3,), [0.9], [[3.0]]),
    (lambda x: sp.eval_laguerre(-3, x), (0.3,), [math.nan], [[math.nan]]),
    # An infinite density times nothing
    (lambda n, d: sp.fdtr(n, d, 0.0), (0.3, 4.0), [0.0, 0.0], None),
    (lambda a: sp.gdtr(a, 0.3, 0.0), (2.0,), [0.0], [[0.0]]),
    (lambda x: sp.gdtr(0.0, 0.3, x), (2.0,), [0.0], [[0.0]]),
    # 1 / gamma(a + b) is 0 at whole numbers that are not positive
    (lambda a: sp.beta(a, 0.5), (-1.5,), [-4.1887902047863905], [[-2.348841534335425]]),
    (lambda a: sp.beta(a, 1.0), (-3.0,), [-1 / 9], None),
    (lambda a: sp.betaln(a, 1.0), (-3.0,), [1 / 3], None),
    # R_G(x, 0, 0) is sqrt(x) / 2
    (lambda x: sp.elliprg(x, 0.0, 0.0), (4.0,), [0.125], [[-1 / 64]]),
    # Without noncentrality, the slope by nc is minus the density with two degrees more
    (lambda nc: sp.chndtr(2.0, 2.0, nc), (0.0,), [-0.5 / math.e], [[0.125 / math.e]]),
    (lambda x: sp.chndtr(x, 3.0, 2.0), (math.inf,), [0.0], [[0.0]]),
    (lambda f: sp.ncfdtr(4.0, 3.0, 1.0, f), (math.inf,), [0.0], [[0.0]]),
    (lambda t: sp.nctdtr(4.0, 1.0, t), (math.inf,), [0.0], [[0.0]]),
    (
        lambda nc, t: sp.nctdtr(4.0, nc, t),
        (0.0, 0.0),
        [-0.3989422804014327, 0.375],
        [[0.0] * 2] * 2,
    ),
    (lambda t: sp.stdtr(4.0, t), (0.0,), [0.375], [[0.0]]),
    # At both ends Kolmogorov's function is flatter than any power
    *((sp.kolmogorov, (y,), [0.0], [[0.0]]) for y in (0.0, 0.03, 40.0, math.inf)),
    # 1 - (1 - d)**n - ... is a polynomial from one k / n to the next
    (lambda d: sp.smirnov(2, d), (0.0,), [-1.0], [[-2.0]]),
    (lambda d: sp.smirnov(2, d), (0.5,), [-1.0], [[2.0]]),
    (lambda d: sp.smirnov(1, d), (1.0,), [-1.0], [[0.0]]),
    # Of the logistic distribution the slope by lmbda is half of (log(1 - F)**2 - log(F)**2) F'
    (
        lambda lmbda: sp.tklmbda(LOG(3.0), lmbda),
        (0.0,),
        [0.5 * (LOG(0.25) ** 2 - LOG(0.75) ** 2) * 0.1875],
        None,
    ),
    (sp.tklmbda, (2.0, 0.5), [0.0, 0.0], [[0.0] * 2] * 2),
    # A Lorentzian is even in sigma, and so the second slope is that by x
    (
        sp.voigt_profile,
        (1.0, 0.0, 1.0),
        [-0.5 / math.pi, 0.0, 0.0],
        [
            [0.5 / math.pi, 0, 0.5 / math.pi],
            [0, 0.5 / math.pi, 0],
            [0.5 / math.pi, 0, -0.5 / math.pi],
        ],
    ),
    (sp.voigt_profile, (math.inf, 1.0, 1.0), [0.0] * 3, [[0.0] * 3] * 3),
    (sp.huber, (1.0, 1.0), [0.0, 1.0], [[0.0, 0.0], [0.0, 1.0]]),
    (sp.pseudo_huber, (0.0, 1.0), [1.0, 0.0], [[-2.0, 1.0], [1.0, 0.0]]),
    (sp.pseudo_huber, (0.0, 0.0), [0.0, 0.0], None),
    (sp.powm1, (1.0, 0.0), [0.0, 0.0], [[0.0, 1.0], [1.0, 0.0]]),
    (lambda x: sp.powm1(x, 2.0), (0.0,), [0.0], [[2.0]]),
    (lambda x: special.diric(x, 2), (2 * math.pi,), [0.0], [[0.25]]),
    (lambda x: special.diric(x, 5), (0.0,), [0.0], [[-2.0]]),
    (special.factorial, (-1.0,), [0.0], [[0.0]]),
    (special.factorial, (0.0,), [-np.euler_gamma], [[np.euler_gamma**2 + math.pi**2 / 6]]),
    # An end of the range stays where it is, whatever the parameters are
    (lambda a, b: sp.gdtrix(a, b, 0.0), (1.0, 2.0), [0.0, 0.0], None),
    (lambda a, b: sp.betainccinv(a, b, 1.0), (2.0, 3.0), [0.0, 0.0], None),
    (lambda a: sp.gammaincinv(a, 0.0), (4.0,), [0.0], None),
    (sp.kolmogi, (1.0,), [-math.inf], [[math.nan]]),
    (sp.kolmogi, (0.0,), [-math.inf], None),
    (lambda p: sp.smirnovi(3, p), (0.0,), [-math.inf], None),
    # Between orders -1 and 0 SciPy's integral of the order below may end too early
    (
        lambda a: sp.besselpoly(a, 1.5, -0.5),
        (1.0,),
        [-0.37669632238728],
        [[0.409797710434949]],
    ),
    # What a search ends at where nothing gives the probability stays where it is
    (sp.stdtridf, (0.0, -3.0), [0.0, 0.0], [[0.0] * 2] * 2),
    (sp.stdtridf, (0.9999999, 3.0), [0.0, 0.0], [[0.0] * 2] * 2),
    (lambda n: sp.fdtridfd(n, 0.9, 1.291), (2.139,), [0.0], [[0.0]]),
    (lambda f: sp.ncfdtrinc(0.3235, 1.169, 0.999, f), (0.5136,), [0.0], [[0.0]]),
    # Nothing is known of what it ends at elsewhere, or where SciPy gives nan
    (lambda n: sp.ncfdtridfd(n, 0.5, 1.929, 0.8578), (3.267,), [math.nan], None),
    (sp.nrdtrimn, (0.0, 2.0, 1.0), [math.nan] * 3, None),
    (sp.nrdtrisd, (1.0, 1.0, 2.0), [math.nan] * 3, [[math.nan] * 3] * 3),
    (sp.elliprc, (1.0, 0.0), [math.nan] * 2, [[math.nan] * 2] * 2),
    # SciPy drops what there is of a count behind the point: of -0.5 too
    (lambda m: sp.pdtri(-0.5, m), (0.5,), [-2.0], [[4.0]]),
    # Small degrees of freedom, with mpmath
    (lambda df: sp.stdtr(df, -3.0), (1e-20,), [-12.1588051995842], None),
    (lambda df: sp.stdtr(df, 1e5), (1e-10,), [11.6094990276725], None),
    # Far out, where the complement of n x / (n x + d) has the digits
    (
        lambda n, d, x: sp.fdtr(n, d, 1e18 * x),
        (2.0, 1.0, 1.0),
        [-4.0201014155637047e-11, 1.4545072946910185e-8, 3.5355339059327376e-10],
        None,
    ),
    (
        lambda n, d, x: sp.ncfdtr(n, d, 1e-15, 1e18 * x),
        (2.0, 1.0, 1.0),
        [-4.0201014155637047e-11, 1.4545072946910185e-8, 3.5355339059327376e-10],
        None,
    ),
    (
        lambda df, t: sp.nctdtr(df, 1e-12, t),
        (0.06616, -12.5),
        [-1.489727800175271, 0.001957946786997844],
        None,
    ),
    (lambda n, d: sp.ncfdtr(n, d, 1.0, 0.0), (1.0, 1.0), [0.0, 0.0], None),
    (sp.log_ndtr, (40.0,), [0.0], [[0.0]]),
    (sp.log_ndtr, (30.5,), [NORMAL * math.exp(-(30.5**2) / 2)], None),
    (lambda b: sp.agm(0.0, b), (3.0,), [0.0], [[0.0]]),
    (lambda phi: sp.ellipeinc(phi, 1.0), (math.pi / 2,), [0.0], [[-1.0]]),
    (lambda k: sp.binom(5.0, k), (-1.0,), [1 / 6], [[49 / 60]]),
    # An integral that is 0 for any of the others where one is infinite
    (lambda x: sp.elliprf(x, 1.0, math.inf), (0.0,), [0.0], [[0.0]]),
    (lambda x: sp.elliprc(x, math.inf), (0.0,), [0.0], [[0.0]]),
    (sp.elliprg, (1.0, 0.0, 0.0), [0.25, math.inf, math.inf], None),
    (lambda y: ta.grad(sp.elliprg)(1.0, y, 0.0), (0.0,), [-math.inf], None),
]


@pytest.mark.filterwarnings("ignore:floating point number truncated:RuntimeWarning")
@pytest.mark.parametrize(("function", "at", "first", "second"), EDGES)
def test_slopes_at_an_edge(function: Any, at: Any, first: Any, second: Any) -> None:
    gradient, curvature = slopes(function, *at)
    np.testing.assert_allclose(gradient, first, rtol=1e-9, atol=1e-12)
    if second is not None:
        np.testing.assert_allclose(curvature, second, rtol=1e-8, atol=1e-10)


@pytest.mark.filterwarnings("ignore:non-integer arg n:DeprecationWarning")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda t: sp.bdtri(2, t, 0.5), "scipy.special.bdtri .* to n"),
        (lambda t: sp.nbdtri(t, 4, 0.5), "scipy.special.nbdtri .* to k"),
        (lambda t: sp.pdtri(t, 0.5), "scipy.special.pdtri .* to k"),
        (lambda t: sp.smirnov(t, 0.5), "scipy.special.smirnov .* to n"),
        (lambda t: sp.smirnovi(t, 0.5), "scipy.special.smirnovi .* to n"),
        (lambda t: special.diric(0.5, t), "no derivative by n="),
        (lambda t: special.diric(t, t), "no derivative by n="),
        (lambda t: special.factorial(t, exact=True), "write exact=False"),
        (lambda t: special.perm(t, 2, exact=True), "write exact=False"),
    ],
)
def test_counts_are_refused(call: Any, says: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=says):
        call(ta.ComputationRecord().tensor(3.0))


def test_a_profile_keeps_its_digits_far_out() -> None:
    x = 1e6
    with np.errstate(all="ignore"):
        first = ta.grad(lambda x: sp.voigt_profile(x, 1.0, 1.0))(x)
    # That of gamma / pi / (x**2 + gamma**2) (1 + 3 sigma**2 / x**2 + ...)
    expected = -2 / (math.pi * x**3) * (1 + (2 * 3 - 2) / x**2)
    np.testing.assert_allclose(first, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: sp.roots_jacobi(3, 0.3, t),  # for which SciPy takes the plain alpha
        lambda t: sp.roots_jacobi(3, t, 0.4),
        lambda t: sp.roots_gegenbauer(3, t - 0.3),  # which is Chebyshev's, without the handle
        lambda t: sp.roots_sh_jacobi(3, 2.6, t + 1.0),
    ],
)
def test_no_parameter_of_a_quadrature_is_taken_for_a_plain_one(call: Callable[..., Any]) -> None:
    with pytest.raises(
        (ConversionError, TieError), match=r"^roots_\w+ of scipy\.special .*write tape_ad"
    ):
        call(ta.ComputationRecord().tensor(0.3))


@pytest.mark.parametrize("a", [1e-6, 1e-13, 1e-30])
def test_second_slopes_keep_their_digits_where_shapes_are_small(a: float) -> None:
    log = LOG(0.3)
    by_a = ta.grad(ta.grad(lambda a: sp.betainc(a, 2.0, 0.3)))(a)
    np.testing.assert_allclose(by_a, log * (log + 1.4), rtol=1e-5)
    by_a = ta.grad(ta.grad(lambda a: sp.gammainc(a, 10.0)))(a)
    np.testing.assert_allclose(by_a, -2.464803107482918e-05, rtol=1e-5)


def test_the_third_slope_of_a_distribution_at_the_end_of_its_range() -> None:
    third = ta.grad(ta.grad(ta.grad(lambda x: sp.gammainc(3.0, x))))
    assert third(0.0) == 1.0  # of x**2 exp(-x) / 2 twice


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning", "ignore:.*:DeprecationWarning")
@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda n, x: sp.bdtr(0, n, x), 0.3),
        (lambda n, x: sp.bdtri(0, n, x), 0.3),
        (lambda n, x: sp.nbdtr(1, n, x), 0.3),
        (lambda n, x: sp.nbdtri(n, 2, x), 0.3),
        (sp.yn, 1.5),
        (sp.kn, 1.5),
    ],
)
def test_what_scipy_drops_behind_the_point_of_a_count_has_no_share(function: Any, x: float) -> None:
    np.testing.assert_equal(function(2.7, x), function(2, x))
    whole = ta.grad(lambda x: function(2, x))(x)
    np.testing.assert_equal(ta.grad(lambda x: function(2.7, x))(x), whole)

"""Supports, expectations and likelihoods of the distributions of `tape_ad.scipy.stats`."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

import tape_ad as ta
from tape_ad.scipy import stats
from tape_ad.scipy.stats.discrete import DISCRETE
from tape_ad.scipy.stats.partials import slopes_of
from tests.rules.checks import central_difference
from tests.sampling import some

X = np.array([1.0, 3.0])

SUPPORTS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("genextreme", "genhalflogistic", "tukeylambda", "truncexpon"), (0.3,)),
    "genpareto": (-0.3,),
    "kappa4": (0.3, 0.2),
    **dict.fromkeys(("loguniform", "reciprocal", "truncnorm"), (0.2, 1.5)),
    "truncpareto": (1.2, 3.0),
    "truncweibull_min": (1.0, 0.1, 2.0),
    "gamma": (2.0,),
}


@pytest.mark.parametrize("name", SUPPORTS)
def test_the_ends_of_a_support(name: str) -> None:
    values = [*SUPPORTS[name], 0.1, 1.2]

    def ends(parameters: Any) -> list[Any]:
        found = getattr(stats, name).support(*parameters)
        return [end for end in found if isinstance(end, ta.Tensor) or np.isfinite(end)]

    record = ta.ComputationRecord()
    handles = [record.tensor(value) for value in values]
    tangents = list(np.linspace(0.5, 1.0, len(values)))
    plain = ends(values)
    slopes = central_difference(ends, values, tangents)
    found = [end for end in ends(handles) if np.isfinite(end.data)]
    for one, value, slope in zip(found, plain, slopes, strict=True):
        assert one.data == pytest.approx(value, rel=1e-15)
        along = sum(g * t for g, t in zip(one.grad().wrt(handles), tangents, strict=True))
        assert along == pytest.approx(slope, rel=1e-9)


EXPECTED: dict[str, tuple[Any, Any]] = {
    "powers": (
        lambda a: stats.gamma.expect(lambda x: x**0.5, (a,), loc=0.1, scale=1.3),
        lambda a: scipy.stats.gamma.expect(lambda x: x**0.5, (a,), loc=0.1, scale=1.3),
    ),
    "a handle inside": (
        lambda a: stats.gamma.expect(lambda x: np.log(x + a), (2.0,)),
        lambda a: scipy.stats.gamma.expect(lambda x: np.log(x + a), (2.0,)),
    ),
    "sums": (
        lambda a: stats.poisson(a).expect(lambda x: np.log(x + 1)),
        lambda a: scipy.stats.poisson(a).expect(lambda x: np.log(x + 1)),
    ),
    "bounds": (
        lambda a: stats.norm.expect(loc=a, lb=0.0),
        lambda a: scipy.stats.norm.expect(loc=a, lb=0.0),
    ),
    "a high moment": (lambda a: stats.gamma.moment(5, a), lambda a: np.prod(a + np.arange(5))),
    "likelihood": (
        lambda a: stats.gamma.nnlf((a, 0, 2), [1, 3]),
        lambda a: scipy.stats.gamma.nnlf((a, 0, 2), np.array([1, 3])),
    ),
}


@pytest.mark.parametrize("name", some(EXPECTED, 3, 2))
def test_expectations_and_likelihoods(name: str) -> None:
    expected, theirs = EXPECTED[name]
    assert ta.value_and_grad(expected)(2.3)[0] == pytest.approx(theirs(2.3), rel=1e-9)
    for function, slope in (
        (theirs, ta.grad(expected)),
        (ta.grad(expected), ta.grad(ta.grad(expected))),
    ):
        (along,) = central_difference(lambda a, f=function: [f(a[0])], [2.3], [1.0], 1e-3)
        assert slope(2.3) == pytest.approx(along, rel=1e-7)


@pytest.mark.parametrize("method", ["cdf", "sf", "logcdf", "logsf"])
def test_at_its_centre_a_symmetric_family_keeps_its_shares(method: str) -> None:
    of_gennorm = getattr(stats.gennorm, method)
    assert ta.grad(lambda beta: of_gennorm(0.0, beta))(2.0) == 0.0
    assert ta.grad(lambda beta: getattr(stats.halfgennorm, method)(1e-300, beta))(2.0) == (
        pytest.approx(0.0, abs=1e-290)
    )


@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_the_median_of_a_symmetric_family_stays(method: str) -> None:
    assert ta.grad(lambda beta: getattr(stats.gennorm, method)(0.5, beta))(2.0) == 0.0


@pytest.mark.parametrize("method", ["cdf", "sf", "logcdf", "logsf", "ppf", "isf"])
def test_the_share_of_a_symmetric_family_around_its_centre(method: str) -> None:
    """The slope of its density by beta at 0, beta / (2 Gamma(1 / beta)), has that of the shares."""
    function, at = getattr(stats.gennorm, method), 0.5 if method in ("ppf", "isf") else 0.0
    last = ta.grad(lambda z: ta.grad(lambda beta: function(z, beta))(1.7))(at)
    first = ta.grad(lambda beta: ta.grad(lambda z: function(z, beta))(at))(1.7)
    density = 1.7 / (2 * scipy.special.gamma(1 / 1.7))
    slope = density * (1 / 1.7 + scipy.special.digamma(1 / 1.7) / 1.7**2)
    factors = {"logcdf": 2.0, "logsf": -2.0, "sf": -1.0, "ppf": -1 / density**2}
    expected = slope * {**factors, "isf": 1 / density**2}.get(method, 1.0)
    assert last == pytest.approx(expected, rel=1e-12)
    assert first == pytest.approx(expected, rel=1e-12)


AT_ZERO = [("burr", 1, 1), ("burr12", 1, 4), ("exponweib", 1, 1), ("fisk", 1), ("gengamma", 1, 1)]


@pytest.mark.parametrize(("name", "shapes"), [(name, shapes) for name, *shapes in AT_ZERO])
def test_a_density_that_starts_at_a_number_has_a_slope_there(name: str, shapes: Any) -> None:
    family, step = getattr(scipy.stats, name), 1e-5
    values = family.pdf(step * np.arange(3), *shapes)
    slope = np.dot([-1.5, 2.0, -0.5], values) / step
    found = ta.grad(lambda x: getattr(stats, name).pdf(x, *shapes))(0.0)
    assert found == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("method", ["cdf", "sf", "logsf"])
@pytest.mark.parametrize(
    ("name", "shapes"), [*((name, shapes) for name, *shapes in AT_ZERO), ("f", (0.5, 18.0))]
)
def test_no_shape_moves_where_the_support_starts(name: str, shapes: Any, method: str) -> None:
    function = getattr(getattr(stats, name), method)
    slopes = ta.grad(lambda *shapes: function(0.0, *shapes), tuple(range(len(shapes))))
    assert [float(each) for each in slopes(*map(float, shapes))] == [0.0] * len(shapes)


@pytest.mark.parametrize("method", ["cdf", "sf"])
@pytest.mark.parametrize("corner", [0.0, 0.3, 1.0])
def test_the_ends_of_a_triangle_do_not_move_with_its_corner(method: str, corner: float) -> None:
    function = getattr(ta.scipy.stats.triang, method)
    for end in (0.0, 1.0):
        assert ta.grad(lambda c, end=end: function(end, c))(corner) == 0


COMPILED: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("norm", "uniform", "expon", "cauchy", "laplace", "logistic"), ()),
    **dict.fromkeys(("halfnorm", "halfcauchy"), ()),
    **dict.fromkeys(("gamma", "t", "lognorm", "chi2", "invgamma"), (1.7,)),
    **dict.fromkeys(("weibull_min", "pareto", "poisson"), (1.7,)),
    "beta": (1.7, 2.5),
    "bernoulli": (0.3,),
    "nbinom": (4.0, 0.3),
}
EDGES = np.array([-np.inf, -2.0, -1.0, 0.0, 0.2, 1.0, 1.7, 2.0, 40.0, 1e160, np.inf, np.nan])


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_commonest_densities_become_native_code(name: str, sign: int) -> None:
    pytest.importorskip("llvmlite")
    shapes = [sign * np.asarray(shape) for shape in COMPILED[name]]
    discrete = name in DISCRETE
    method = "logpmf" if discrete else "logpdf"
    theirs = getattr(getattr(scipy.stats, name), method)
    function = getattr(getattr(stats, name), method)
    fast = ta.compile(lambda *args: function(*args), engine="native")  # noqa: PLW0108 - one with code
    place = () if discrete else (np.asarray(0.1), np.asarray(1.2))
    with np.errstate(all="ignore"):
        expected = theirs(EDGES, *shapes, *place)
        for _ in range(3):
            np.testing.assert_allclose(fast(EDGES, *shapes, *place), expected, rtol=1e-14)
    assert "    NumPy:" not in fast.explain()


@pytest.mark.parametrize("name", ["multivariate_normal", "multivariate_t"])
def test_densities_of_vectors_become_native_code(name: str) -> None:
    pytest.importorskip("llvmlite")
    data, mean = np.sin(np.arange(15.0)).reshape(5, 3), np.array([0.3, -0.2, 0.9])
    matrix = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
    logpdf = getattr(stats, name).logpdf
    fast = ta.compile(lambda mean: logpdf(data, mean, matrix), engine="native")
    theirs = getattr(scipy.stats, name).logpdf
    for _ in range(4):
        np.testing.assert_allclose(fast(mean), theirs(data, mean, matrix), rtol=1e-14)
    assert "    NumPy:" not in fast.explain()


def test_a_number_that_an_array_is_subtracted_from_stays_for_others() -> None:
    pytest.importorskip("llvmlite")
    data = np.array([0.2, 0.5])
    fast = ta.compile(lambda a, b: stats.beta.logpdf(data, a, b) + a, engine="native")
    for a, b in ((1.5, 2.5), (1.7, 2.1), (1.2, 0.4)):
        given = np.float64(a), np.float64(b)
        expected = scipy.stats.beta.logpdf(data, a, b) + a
        np.testing.assert_allclose(fast(*given), expected, rtol=1e-14)


def test_a_body_without_a_derivative_by_one_operand_keeps_those_by_others() -> None:
    operands = [np.array([3.0]), np.array([2.0]), np.array([1.5])]
    first = slopes_of("ncx2", "logpdf", (0,), operands)
    assert first is not None
    assert slopes_of("ncx2", "logpdf", (1,), operands) is None  # an order of a Bessel function
    np.testing.assert_array_equal(slopes_of("ncx2", "logpdf", (0,), operands), first)


@pytest.mark.parametrize("x", [2.0, 30.0, 36.0])
def test_the_tail_of_exponweib_by_its_first_shape(x: float) -> None:
    tail = np.exp(-x)
    slope = ta.grad(lambda a: ta.scipy.stats.exponweib.logsf(x, a, 1.0))(1.0)
    np.testing.assert_allclose(slope, -(1 - tail) * np.log1p(-tail) / tail, rtol=1e-12)

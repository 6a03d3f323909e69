"""The distributions: every method, at special points, frozen, and its errors."""

import sys
from collections.abc import Iterator
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special
import scipy.stats

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import stats
from tape_ad.scipy.stats.discrete import DISCRETE
from tape_ad.scipy.stats.methods import METHODS
from tests.rules.checks import central_difference
from tests.rules.rows_scipy_stats import (
    CONSTANT,
    COSTLY,
    EVERY,
    EVERY_COUNT,
    ROWLESS_COUNTS,
    TO_SECOND_ORDER,
)
from tests.sampling import some

Array = Any

COMMON = [method for method in METHODS if "pdf" not in method and "pmf" not in method]

COSTLY_METHODS = ("cdf", "logsf")
"""Methods that the rarest are tried with, as SciPy integrates and searches for what they give."""


def unknown(name: str) -> set[int]:
    """Find the positions that a method has no derivative for."""
    return CONSTANT.get(name, set())


def calls() -> Iterator[Any]:
    """List every method of every distribution, with the positions that can be handles."""
    for name, (_, shapes) in EVERY.items():
        for method in ("pdf", "logpdf", *(COSTLY_METHODS if name in COSTLY else COMMON)):
            known = [i for i in range(len(shapes) + 3) if i not in unknown(name)]
            yield pytest.param(name, method, known, id=f"{name}.{method}")
    for name, operands in EVERY_COUNT.items():
        for method in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"):
            known = [
                i
                for i, operand in enumerate(operands)
                if operand.differentiable and i not in unknown(name)
            ]
            if known:
                yield pytest.param(name, method, known, id=f"{name}.{method}")


def arguments(name: str, method: str) -> list[Array]:
    """Draw the arguments of a method."""
    rng = np.random.default_rng(5)
    if name in EVERY_COUNT:
        count, *shapes = (operand.sample(rng, float) for operand in EVERY_COUNT[name])
        return [0 * count if method == "logsf" else count, *shapes, np.float64(0)]
    domain, domains = EVERY[name]
    variable = domain(3).sample(rng, float)
    if method in ("ppf", "isf"):
        variable = np.array([0.2, 0.45, 0.9])
    return [variable, *(each().sample(rng, float) for each in domains), np.float64(0.05), 1.2]


FIRST = [
    *some((case for case in calls() if case.values[0] not in COSTLY), 3),
    *some((case for case in calls() if case.values[0] in COSTLY), 3, 1),
]


@pytest.mark.parametrize(("name", "method", "known"), FIRST)
def test_every_method_has_the_gradient_of_its_value(
    name: str, method: str, known: list[int]
) -> None:
    values = arguments(name, method)
    function = getattr(getattr(stats, name), method)
    record = ta.ComputationRecord()
    handles = [record.tensor(value) if i in known else value for i, value in enumerate(values)]
    out = function(*handles)
    np.testing.assert_array_equal(out.data, getattr(getattr(scipy.stats, name), method)(*values))
    seed = np.array([1.0, -0.7, 0.4])
    for i, gradient in zip(known, out.grad(seed).wrt([handles[i] for i in known]), strict=True):

        def along(moved: list[Array], i: int = i) -> list[Array]:
            return [np.sum(function(*values[:i], moved[0], *values[i + 1 :]) * seed)]

        tangent = np.linspace(0.5, 1.0, np.size(values[i])).reshape(np.shape(values[i]))
        (expected,) = central_difference(along, [values[i]], [tangent])
        assert np.sum(gradient * tangent) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def second(names: Any) -> list[Any]:
    """List the calls that are tried to second order."""
    return [
        pytest.param(*case.values, id=str(case.id))
        for case in calls()
        if case.values[0] in names and case.values[1] in ("logpdf", "logpmf", "cdf", "ppf")
    ]


SECOND = [*second({*TO_SECOND_ORDER, *ROWLESS_COUNTS}), *some(second({*COSTLY}), 5, 1)]


@pytest.mark.parametrize(("name", "method", "known"), SECOND)
def test_rowless_distributions_to_second_order(name: str, method: str, known: list[int]) -> None:
    values = arguments(name, method)
    function, seed = getattr(getattr(stats, name), method), np.array([1.0, -0.7, 0.4])
    chosen = [np.asarray(values[i], float) for i in known]
    tangents = [np.linspace(0.5, 1.0, x.size).reshape(x.shape) for x in chosen]

    def total(moved: list[Array]) -> Array:
        full = list(values)
        for i, x in zip(known, moved, strict=True):
            full[i] = x
        return np.sum(function(*full) * seed)

    expected = central_difference(lambda x: list(ta.grad(total)(x)), chosen, tangents)
    for found, wanted in zip(ta.hvp(total, chosen, tangents), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


def gradients(name: str, method: str, *values: Any) -> list[Array]:
    """Differentiate the sum of a method's values, without warnings about the values."""
    record = ta.ComputationRecord()
    handles = [record.tensor(np.asarray(value, float)) for value in values]
    with np.errstate(all="ignore"):
        out = getattr(getattr(stats, name), method)(*handles)
    found: list[Array] = out.grad(np.ones(out.shape)).wrt(handles)
    return found


# The edges of a support, and beyond them


@pytest.mark.parametrize(
    ("name", "method", "values", "expected"),
    [
        ("expon", "logpdf", ([-1.0, 0.0, 1.0, np.inf],), [0, -1, -1, 0]),
        ("expon", "pdf", ([-1.0, 0.0, 800.0],), [0, -1, 0]),
        ("expon", "cdf", ([-1.0, 0.0, 800.0, np.inf],), [0, 1, 0, 0]),
        ("expon", "logcdf", ([-1.0, 0.0],), [0, 0]),
        ("expon", "logsf", ([-1.0, 0.0, 800.0, np.inf],), [0, -1, -1, 0]),
        ("expon", "ppf", ([0.0, 1.0, 1.5],), [1, np.inf, np.nan]),
        ("uniform", "logpdf", ([-1.0, 0.0, 1.0, 2.0],), [0, 0, 0, 0]),
        ("uniform", "cdf", ([-1.0, 0.0, 1.0, 2.0],), [0, 1, 1, 0]),
        ("gamma", "logpdf", ([-1.0, 0.0, 1e-300], 2.5), [0, 0, 1.5e300]),
        ("gamma", "logpdf", ([0.0, 1.0], 1.0), [-1, -1]),
        ("gamma", "cdf", ([0.0, np.inf], 2.5), [0, 0]),
        ("beta", "logpdf", ([-1.0, 0.0, 1.0, 2.0], 1.0, 1.0), [0, 0, 0, 0]),
        ("pareto", "logpdf", ([0.5, 1.0], 2.0), [0, -3]),
        ("laplace", "logpdf", ([-1.0, 0.0, 1.0],), [1, 0, -1]),
        ("norm", "logpdf", ([-np.inf, -40.0, 0.0, np.inf],), [0, 40, 0, 0]),
        ("norm", "logcdf", ([-np.inf, np.inf],), [0, 0]),
        ("norm", "ppf", ([0.0, 1.0, -0.1],), [np.inf, np.inf, np.nan]),
        ("cauchy", "logpdf", ([1e150],), [-2e-150]),
        ("t", "logpdf", ([1e150], 3.0), [-4e-150]),
        ("t", "logpdf", ([2.0], np.inf), [-2]),
        ("genpareto", "logpdf", ([-1.0, 0.0, 2.0], 0.0), [0, -1, -1]),
        ("genpareto", "logpdf", ([1.0, 3.0], -0.5), [-1, 0]),
        ("genextreme", "logpdf", ([0.0, 1.0], 0.0), [0, np.expm1(-1)]),
        ("truncnorm", "pdf", ([-1.0, 3.0], 0.0, 2.0), [0, 0]),
        ("triang", "cdf", ([-1.0, 0.0, 1.0, 2.0], 0.3), [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_the_variable_at_special_points(
    name: str, method: str, values: tuple[Any, ...], expected: list[float]
) -> None:
    found = gradients(name, method, *values, 0.0, 1.0)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "method", "values", "expected"),
    [
        ("expon", "logpdf", (-1.0,), [0, 0]),
        ("norm", "logpdf", (0.0,), [0, -1]),
        ("uniform", "logpdf", (0.0,), [0, -1]),
        ("gamma", "logpdf", (-1.0, 2.5), [0, 0, 0]),
        ("gamma", "cdf", (np.inf, 2.5), [0, 0, 0]),
        ("gamma", "ppf", (0.0, 2.5), [0, 1, 0]),
        ("t", "cdf", (0.0, 5.0), [0, -0.3796066898224944, 0]),
        ("genpareto", "logpdf", (2.0, 0.0), [0, 1, 1]),
        ("genpareto", "ppf", (1 - np.exp(-2), 0.0), [2, 1, 2]),
        ("genextreme", "logcdf", (-np.log(3), 0.0), [1.5 * np.log(3) ** 2, -3, 3 * np.log(3)]),
        ("binom", "logpmf", (7.0, 5, 0.5), [0]),
        ("poisson", "cdf", (-1.0, 2.0), [0]),
        ("poisson", "logpmf", (0.0, 0.0), [-1]),
        ("bernoulli", "logpmf", (0.0, 0.0), [-1]),
        ("bernoulli", "cdf", (1.0, 0.25), [0]),
        ("geom", "cdf", (0.0, 0.25), [0]),
    ],
    ids=str,
)
def test_parameters_at_special_points(
    name: str, method: str, values: tuple[Any, ...], expected: list[float]
) -> None:
    record = ta.ComputationRecord()
    shapes: list[Any] = [record.tensor(float(shape)) for shape in values[1:]]
    others: list[Any] = [0] if name in DISCRETE else [record.tensor(0.0), record.tensor(1.0)]
    chosen = [shape for i, shape in enumerate(shapes) if name != "binom" or i == 1]
    if name == "binom":
        shapes[0] = values[1]
    if name not in DISCRETE:
        chosen += others
    with np.errstate(all="ignore"):
        out = getattr(getattr(stats, name), method)(values[0], *shapes, *others)
    np.testing.assert_allclose(out.grad().wrt(chosen), expected, rtol=1e-13, atol=1e-15)


DENSITIES = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"]


@pytest.mark.parametrize("method", DENSITIES)
@pytest.mark.parametrize(
    ("name", "shapes"), [("vonmises", ()), ("vonmises_line", ()), ("rice", ()), ("ncx2", (3.0,))]
)
def test_a_shape_at_the_least_that_it_may_be(name: str, shapes: Any, method: str) -> None:
    """Against differences to the right, of values and of first derivatives."""
    own = getattr(getattr(stats, name), method)

    def function(shape: Any, x: Any = 0.3) -> Any:
        return own(x, *shapes, shape)

    step = 1e-4
    for f, slope in (
        (function, ta.grad(function)),
        (ta.grad(function), ta.grad(ta.grad(function))),
    ):
        values = [f(k * step) for k in range(5)]
        right = np.dot([-25 / 12, 4, -3, 4 / 3, -1 / 4], values) / step
        assert slope(0.0) == pytest.approx(right, rel=1e-7, abs=1e-8)
    by_shape = ta.grad(lambda x: ta.grad(lambda shape: function(shape, x))(0.0))(0.3)
    by_variable = ta.grad(lambda shape: ta.grad(lambda x: function(shape, x))(0.3))(0.0)
    assert by_shape == pytest.approx(by_variable, rel=1e-12, abs=1e-14)


def test_the_tail_of_a_noncentral_density() -> None:
    """The series of 0F1(3 / 2; z) is sinh(2 sqrt(z)) / (2 sqrt(z))."""
    by_x, by_nc = ta.grad(lambda x, nc: stats.ncx2.logpdf(x, 3.0, nc), (0, 1))(1800.0, 0.7)
    root = np.sqrt(0.7 * 1800.0)
    rise = 0.5 * (1 / np.tanh(root) - 1 / root) / root  # of log(sinh(root) / root) by nc * x
    assert by_x == pytest.approx(0.5 / 1800 - 0.5 + 0.7 * rise, rel=1e-11)
    assert by_nc == pytest.approx(1800 * rise - 0.5, rel=1e-10)
    by_nc = ta.grad(lambda nc: stats.ncx2.logpdf(1800.0, 3.0, nc))(0.0)
    assert by_nc == pytest.approx(299.5, rel=1e-10)


@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "logsf", "ppf"])
def test_a_value_that_is_nan_has_no_finite_derivative(method: str) -> None:
    for values in ((0.5, 0.0, -1.0), (0.5, np.nan, 1.0), (np.nan, 0.0, 1.0)):
        assert np.isnan(gradients("norm", method, *values)).all()


@pytest.mark.parametrize("df", [1e4, 1e7, 1e12])
def test_many_degrees_of_freedom(df: float) -> None:
    """By the expansions of density and distribution function in 1 / df, Fisher 1925."""
    y, density = 0.7, np.exp(-0.245) / np.sqrt(2 * np.pi)
    by_log = gradients("t", "logpdf", y, df, 0.0, 1.0)[1]
    by_cdf = gradients("t", "cdf", y, df, 0.0, 1.0)[1]
    assert by_log == pytest.approx((1 + 2 * y**2 - y**4) / (4 * df**2), rel=10 / df + 1e-12)
    assert by_cdf == pytest.approx(density * (y + y**3) / (4 * df**2), rel=10 / df + 1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_scale_that_is_tiny_or_huge(scale: float) -> None:
    x, loc, by_scale = gradients("norm", "logpdf", 3 * scale, scale, scale)
    np.testing.assert_allclose([x * scale, loc * scale, by_scale * scale], [-2, 2, 3], rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("kstwo", (3,)), ("levy_stable", (1.8, -0.5)), ("studentized_range", (3, 10.0))],
)
def test_where_the_density_is_known_alone(name: str, shapes: tuple[float, ...]) -> None:
    x, scale = 0.6, 1.2
    found = getattr(stats, name).cdf
    record = ta.ComputationRecord()
    handles = [record.tensor(x), record.tensor(scale)]
    by_x, by_scale = found(handles[0], *shapes, 0.1, handles[1]).grad().wrt(handles)
    density = getattr(scipy.stats, name).pdf(x, *shapes, 0.1, scale)
    assert by_x == pytest.approx(density, rel=1e-12)
    assert by_scale == pytest.approx(-density * (x - 0.1) / scale, rel=1e-12)


def test_a_negative_power_turns_gengamma_over() -> None:
    record = ta.ComputationRecord()
    a, c = record.tensor(1.7), record.tensor(-1.3)
    found = stats.gengamma.cdf(0.8, a, c).grad().wrt([a, c])
    (along,) = central_difference(
        lambda moved: [scipy.stats.gengamma.cdf(0.8, *moved)], [1.7, -1.3], [1.0, 0.5]
    )
    assert found[0] + 0.5 * found[1] == pytest.approx(along, rel=1e-9)


def test_large_urns() -> None:
    k = np.array([22, 26, 30])
    (expected,) = central_difference(
        lambda odds: [scipy.stats.nchypergeom_wallenius.logpmf(k, 140, 80, 60, odds[0])],
        [0.5],
        [1.0],
    )
    odds = ta.ComputationRecord().tensor(0.5)
    out = stats.nchypergeom_wallenius.logpmf(k, 140, 80, 60, odds)
    found = [out.grad(seed).wrt(odds) for seed in np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # SciPy's has 9 digits


# What else an object can do


def test_a_frozen_distribution_is_the_same() -> None:
    record = ta.ComputationRecord()
    a, scale = record.tensor(2.0), record.tensor(1.5)
    frozen = stats.gamma(a, scale=scale)
    for method in ("pdf", "logpdf", "cdf", "logsf"):
        by_frozen = getattr(frozen, method)(0.7)
        direct = getattr(stats.gamma, method)(0.7, a, 0, scale)
        assert by_frozen.data == direct.data
        assert by_frozen.grad().wrt([a, scale]) == direct.grad().wrt([a, scale])
    assert frozen.ppf(0.3).grad().wrt(a) == stats.gamma.ppf(0.3, a, scale=scale).grad().wrt(a)


def test_plain_arrays_give_what_scipy_gives() -> None:
    x = np.linspace(-1, 2, 4)
    np.testing.assert_array_equal(stats.norm.pdf(x, loc=1), scipy.stats.norm.pdf(x, loc=1))
    np.testing.assert_array_equal(stats.gamma(2.0).sf(x), scipy.stats.gamma(2.0).sf(x))
    assert stats.gamma.stats(2.0, moments="mvsk") == scipy.stats.gamma.stats(2.0, moments="mvsk")
    assert stats.norm.fit([0.0, 2.0]) == (1.0, 1.0)
    assert stats.norm.support() == (-np.inf, np.inf)
    np.testing.assert_array_equal(
        stats.beta.rvs(2, 3, size=3, random_state=1),
        scipy.stats.beta.rvs(2, 3, size=3, random_state=1),
    )


@pytest.mark.parametrize("name", ["norm", "expon", "laplace", "gumbel_l", "logistic", "rayleigh"])
def test_fits_move_with_the_sample(name: str) -> None:
    sample, way = np.linspace(0.3, 2.1, 7) ** 2, np.cos(np.arange(7.0))
    theirs = getattr(scipy.stats, name).fit

    def total(move: Any) -> Any:
        location, scale = getattr(stats, name).fit(sample + move * way)
        return location - 2 * scale

    (expected,) = central_difference(
        lambda s: [np.dot(theirs(sample + s[0] * way), [1, -2])], [0.0], [1.0], 1e-4
    )
    assert ta.grad(total)(0.0) == pytest.approx(expected, rel=1e-6)


def test_median_and_interval() -> None:
    loc = ta.ComputationRecord().tensor(1.0)
    low, high = stats.norm(loc, 2.0).interval(0.9)
    assert (low.data, high.data) == scipy.stats.norm(1.0, 2.0).interval(0.9)
    assert low.grad().wrt(loc) == high.grad().wrt(loc) == 1
    assert stats.norm.median(loc).data == 1
    assert stats.poisson(loc).median() == 1


def test_draws_are_reparametrised() -> None:
    record = ta.ComputationRecord()
    loc, scale = record.tensor(1.0), record.tensor([2.0, 3.0])
    draws = stats.norm.rvs(loc, scale, size=(4, 2), random_state=3)
    expected = scipy.stats.norm.rvs(1.0, [2.0, 3.0], size=(4, 2), random_state=3)
    np.testing.assert_array_equal(draws.data, expected)
    by_loc, by_scale = np.sum(draws).grad().wrt([loc, scale])
    assert by_loc == 8
    np.testing.assert_allclose(by_scale, np.sum((expected - 1) / [2.0, 3.0], axis=0))
    assert stats.norm(loc).rvs(random_state=3).shape == ()


def test_directions_that_are_drawn_stay_on_the_circle() -> None:
    loc = ta.ComputationRecord().tensor(3.0)
    draws = stats.vonmises.rvs(2.0, loc, size=9, random_state=3)
    expected = scipy.stats.vonmises.rvs(2.0, 3.0, size=9, random_state=3)
    assert expected.min() < 0 < expected.max()
    np.testing.assert_allclose(draws.data, expected, rtol=1e-15)
    assert np.sum(draws).grad().wrt(loc) == 9


# What is refused


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda h: stats.binom.logpmf(h, 5, 0.5),
            "scipy.stats.binom.logpmf .* respect to k; .* k.d",
        ),
        (
            lambda h: stats.binom.pmf(2, h, 0.5),
            "scipy.stats.binom.pmf .* respect to n; pass n.data",
        ),
        (lambda h: stats.poisson.cdf(2, 1.0, h), "scipy.stats.poisson.cdf .* respect to loc; pass"),
        (lambda h: stats.levy_stable.cdf(0.2, h, 0.0), "levy_stable.cdf .* respect to alpha"),
        (stats.gamma.rvs, "scipy.stats.gamma.rvs: only loc and scale .*stats.gamma.ppf"),
        (stats.poisson.rvs, "scipy.stats.poisson.rvs: only loc and scale"),
    ],
)
def test_what_is_refused_says_what_to_write(call: Any, says: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=says):
        call(ta.ComputationRecord().tensor(0.5))


@pytest.mark.parametrize(("x", "n"), [(0.3, 3), (0.4, 3), (0.5, 10)])
def test_the_density_of_kolmogorovs_statistic_has_a_slope(x: float, n: int) -> None:
    h = 1e-5
    difference = (stats.kstwo.pdf(x + h, n) - stats.kstwo.pdf(x - h, n)) / (2 * h)

    np.testing.assert_allclose(ta.grad(stats.kstwo.pdf)(x, n), difference, rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "position"), [(name, i) for name in CONSTANT for i in CONSTANT[name]]
)
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "logsf", "ppf"])
def test_a_shape_without_a_derivative_is_refused(name: str, position: int, method: str) -> None:
    values = arguments(name, method)
    values[position] = ta.ComputationRecord().tensor(values[position])
    with pytest.raises(UnsupportedArgumentError, match=f"{name}.{method} .* pass .*data there"):
        getattr(getattr(stats, name), method)(*values)


def test_a_quantile_of_a_discrete_distribution_is_plain() -> None:
    mu = ta.ComputationRecord().tensor(3.0)
    assert stats.poisson.ppf(0.4, mu) == scipy.stats.poisson.ppf(0.4, 3.0)


def test_a_name_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'norml'$") as found:
        _ = stats.norml
    sys.__excepthook__(AttributeError, found.value, None)
    assert "Did you mean: 'norm'?" in capsys.readouterr().err
    with pytest.raises(AttributeError, match=r"'random_table'; scipy.stats.random_table takes"):
        _ = stats.random_table


@pytest.mark.parametrize("method", ["cdf", "sf", "logsf"])
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        *(("gamma", (0.5,)), ("chi2", (1.0,)), ("weibull_min", (0.5,)), ("beta", (0.5, 0.5))),
        *(("arcsine", ()), ("dgamma", (0.5,)), ("dweibull", (0.5,))),
    ],
)
def test_where_a_density_is_infinite_no_scale_moves_the_probability(
    name: str, shapes: tuple[float, ...], method: str
) -> None:
    function = getattr(getattr(stats, name), method)
    assert ta.grad(lambda scale: function(0.0, *shapes, 0.0, scale))(1.5) == 0.0


@pytest.mark.parametrize("name", ["weibull_min", "dweibull"])
def test_where_a_density_is_infinite_no_shape_moves_the_probability(name: str) -> None:
    assert ta.grad(lambda shape: getattr(stats, name).cdf(0.0, shape))(0.5) == 0.0


@pytest.mark.parametrize(
    ("name", "shapes", "x", "curvatures"),
    [
        ("gamma", (2.0,), 1.0, [[-1, 1], [1, 0]]),
        ("beta", (2.0, 2.0), 0.5, [[-8, 4], [4, -1]]),
        ("chi2", (4.0,), 2.0, [[-0.25, 0.5], [0.5, 0]]),
        ("gennorm", (2.0,), 0.0, [[-2, 0], [0, 1]]),
        ("norm", (), 0.0, [[-1, 0], [0, 1]]),
    ],
)
def test_a_log_density_is_curved_where_it_is_largest(
    name: str, shapes: Any, x: float, curvatures: Any
) -> None:
    def log_density(v: Any) -> Any:
        return getattr(stats, name).logpdf(v[0], *shapes, 0.0, v[1])

    found = ta.hessian(log_density)(np.array([x, 1.0]))
    np.testing.assert_allclose(found, curvatures, atol=1e-14)


@pytest.mark.parametrize(
    ("shapes", "slopes"),
    [
        (
            (0.178, 0.63, 15.45, 3.19),
            [8.575828038422, -0.352671400804, -0.659333877233, -2.312150339142],
        ),
        (
            (0.5, 0.05, 2.0, 0.3),
            [-0.872124559936, 17.452703942923, 0.145019018604, 0.812052055961],
        ),
    ],
)
def test_poles_of_gausshyper_are_counted_to_the_end(shapes: Any, slopes: Any) -> None:
    found = ta.grad(lambda v: stats.gausshyper.logpdf(0.3, *v))(np.array(shapes))
    np.testing.assert_allclose(found, slopes, rtol=5e-12)  # by mpmath, of the norm


@pytest.mark.parametrize("skew", [1e-8, 1.6e-5, -1e-4, 1e-3, 0.015, 0.03, 0.29, 0.31, -0.7])
@pytest.mark.parametrize("y", [-0.8, 2.5])
def test_pearson3_near_the_normal_distribution(skew: float, y: float) -> None:
    def log_density(y: Any, skew: Any) -> Any:
        a, w = 4 / skew**2, 2 * y / skew + 4 / skew**2
        return mp.log(abs(2 / skew)) + (a - 1) * mp.log(w) - w - mp.loggamma(a)

    def score(y: Any) -> Any:
        return mp.diff(lambda s: log_density(y, s), mp.mpf(skew), h=mp.mpf(10) ** -20)

    with mp.workdps(60):
        expected = float(score(mp.mpf(y)))
    slope = ta.grad(lambda skew: stats.pearson3.logpdf(y, skew))(skew)
    np.testing.assert_allclose(slope, expected, rtol=1e-11)
    if abs(skew) < 0.1:
        with mp.workdps(40):
            expected = float(
                mp.quad(lambda x: score(x) * mp.exp(log_density(x, mp.mpf(skew))), [-11, -4, 0, y])
            )
        slope = ta.grad(lambda skew: stats.pearson3.cdf(y, skew))(skew)
        np.testing.assert_allclose(slope, expected, atol=2e-11)


def test_the_log_density_of_ncx2_has_a_slope_where_the_density_is_0() -> None:
    def by_df(x: float) -> Any:
        return ta.grad(lambda df: stats.ncx2.logpdf(x, df, 3.0))(4.0)

    assert scipy.stats.ncx2.pdf(5000.0, 4.0, 3.0) == 0.0
    np.testing.assert_allclose(by_df(5000.0), 1.8505459593, rtol=1e-7)  # central differences
    np.testing.assert_allclose(by_df(10.0), 0.19997502, rtol=1e-6)


def test_the_inverse_of_mielke_where_its_density_overflows() -> None:
    q, k, s = 1 - 1e-9, 400.0, 10.0
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(scipy.stats.mielke.pdf(scipy.stats.mielke.ppf(q, k, s), k, s))
    u = q ** (s / k)
    y = (u / (1 - u)) ** (1 / s)
    by_q, by_k, by_s = ta.grad(stats.mielke.ppf, (0, 1, 2))(q, k, s)
    np.testing.assert_allclose(by_q, y / (k * q * (1 - u)), rtol=1e-6)
    np.testing.assert_allclose(by_k, -y * np.log(q) / (k * k * (1 - u)), rtol=1e-6)
    slope = np.log(q) / (k * s * (1 - u)) - np.log(u / (1 - u)) / s**2
    np.testing.assert_allclose(by_s, y * slope, rtol=1e-6)
    assert ta.grad(stats.mielke.ppf, (0, 1, 2))(0.3, 0.001, 2.0) == (0.0, 0.0, 0.0)  # underflows


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_isf_has_the_slopes_of_ppf_where_scipy_has_none_of_its_own(q: float) -> None:
    shapes = 0.01, 1.0  # far out, where the density cancels
    for position in (1, 2):
        got = ta.grad(stats.jf_skew_t.isf, position)(q, *shapes)
        assert got != 0
        np.testing.assert_allclose(got, ta.grad(stats.jf_skew_t.ppf, position)(1 - q, *shapes))


@pytest.mark.parametrize(
    ("beta", "second"), [(1.0, 0.0), (1.5, -np.inf), (2.0, -2.0), (2.5, 0.0), (4.0, 0.0)]
)
def test_how_gennorm_bends_in_the_middle(beta: float, second: float) -> None:
    by_x = ta.grad(lambda x: stats.gennorm.logpdf(x, beta))
    assert by_x(0.0) == 0.0
    assert ta.grad(by_x)(0.0) == second
    at = ta.grad(by_x)(1e-4)
    np.testing.assert_allclose(at, -beta * (beta - 1) * 1e-4 ** (beta - 2), rtol=1e-12)


@pytest.mark.parametrize(
    ("x", "by_a", "by_b"),
    [(-30.0, -2.1598317e-24, -2.3011645e-24), (-60.0, -2.5041681e-47, -2.5853460e-47)],
)
def test_the_lower_tail_of_norminvgauss(x: float, by_a: float, by_b: float) -> None:
    """Against the integral of density and score, by mpmath; SciPy's quadrature has 6 digits."""
    found = gradients("norminvgauss", "cdf", x, 1.25, 0.5, 0.0, 1.0)
    np.testing.assert_allclose(found[1:3], [by_a, by_b], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "method", "values", "expected"),
    [
        ("norm", "logcdf", (-1e8,), [1e8]),
        ("norm", "logsf", (1e5,), [-1e5]),
        ("gumbel_r", "logcdf", (-46.0,), [np.exp(46)]),
        ("weibull_min", "logsf", (1e6, 3.0), [-3e12, -1e18 * np.log(1e6)]),
        ("genpareto", "logsf", (1200.0, 0.0), [-1, 0.5 * 1200.0**2]),
        ("lognorm", "logcdf", (1e-40, 0.1), [9210.35122931e40, 8483046.97674]),
        ("kappa3", "logsf", (1e200, 1.5), [-1.5e-200, -200 * np.log(10)]),
        ("powernorm", "logsf", (50.0, 4.0), [-200.079936127, -1254.83136114]),
        (
            "truncnorm",
            "logcdf",
            (-49.95, -50.0, 0.0),
            [54.4398147753, -4.47428147869, -0.797884560803],
        ),
    ],
)
def test_a_logarithm_beyond_what_its_density_reaches(
    name: str, method: str, values: Any, expected: Any
) -> None:
    found = gradients(name, method, *values, 0.0, 1.0)[: len(values)]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "shapes", "q", "elasticity"),
    [
        ("tukeylambda", (-1.2,), 1e-100, -1.2),
        ("jf_skew_t", (0.5, 0.6), 1e-30, -1.0),
        ("fisk", (0.7,), 1e-152, 1 / 0.7),
        ("burr", (0.5, 1.2), 1e-140, 1 / 0.6),
    ],
)
def test_a_quantile_whose_density_is_lost(
    name: str, shapes: Any, q: float, elasticity: float
) -> None:
    """A quantile that is a power of the probability in that tail."""
    x = getattr(scipy.stats, name).ppf(q, *shapes)
    found = gradients(name, "ppf", q, *shapes, 0.0, 1.0)[0]
    assert found == pytest.approx(elasticity * x / q, rel=1e-9)


def test_a_quantile_too_large_for_its_square() -> None:
    q, c = 1e-140, -1.2
    x = scipy.stats.genextreme.isf(q, c)
    found = gradients("genextreme", "isf", q, c, 0.0, 1.0)[1]
    assert found == pytest.approx(x * (np.log(q) - 1 / c), rel=1e-12)


@pytest.mark.parametrize(
    ("method", "q", "a", "by_a"),
    [
        ("ppf", 1e-290, 1.0, 1e-290),
        ("ppf", 1e-100, 2.0, 1.0848885472613697e-101),
        ("ppf", 0.3, 0.5, 0.2502938591383671),
        ("isf", 1e-290, 1.0, -6.677496769682737e292),
    ],
)
def test_far_quantiles_of_kappa3(method: str, q: float, a: float, by_a: float) -> None:
    """Against mpmath at 350 digits."""
    found = gradients("kappa3", method, q, a, 0.0, 1.0)[1]
    assert found == pytest.approx(by_a, rel=1e-11, abs=0)


@pytest.mark.skipif(
    scipy.special.chndtr(1e-200, 2, 4) == 0, reason="older releases of SciPy give 0"
)
def test_the_far_lower_tail_of_rice() -> None:
    """Where the probability is exp(-b**2 / 2) x**2 / 2, and x is sqrt(2 q) exp(b**2 / 4)."""
    found = gradients("rice", "logcdf", 1e-100, 2.0, 0.0, 1.0)[:2]
    np.testing.assert_allclose(found, [2e100, -2.0], rtol=1e-12)
    x = np.sqrt(2e-290) * np.exp(1.0)
    found = gradients("rice", "ppf", 1e-290, 2.0, 0.0, 1.0)
    np.testing.assert_allclose(found, [x / 2e-290, x, 1.0, x], rtol=1e-12)


@pytest.mark.parametrize("q", [0.0, 1e-290, 1e-20, 1e-16])
def test_a_quantile_at_a_bound_goes_with_it(q: float) -> None:
    """Though SciPy's may be rounded to where the density is 0."""
    low, high = -1.0978730080013919, 2.730675410903198
    assert scipy.stats.truncnorm.ppf(1e-20, low, high) < low
    _, by_low, by_high, *_ = gradients("truncnorm", "ppf", q, low, high, 0.0, 1.0)
    np.testing.assert_allclose([by_low, by_high], [1.0, 0.0], atol=1e-14)


@pytest.mark.parametrize(
    ("name", "x", "shape", "log_tail"),
    [
        ("lomax", 4.5e10, 1.9, lambda c: -c * np.log1p(4.5e10)),
        ("gompertz", 3.9, 0.95, lambda c: -c * np.expm1(3.9)),
        ("powernorm", 4.0, 4.4, lambda c: c * scipy.special.log_ndtr(-4.0)),
    ],
)
def test_a_probability_of_nearly_1_moves_as_the_tail_beyond(
    name: str, x: float, shape: float, log_tail: Any
) -> None:
    slope = -np.exp(log_tail(shape)) * log_tail(1.0)
    for method, expected in (("cdf", slope), ("sf", -slope), ("logcdf", slope)):
        found = gradients(name, method, x, shape, 0.0, 1.0)[1]
        assert found == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ["norm", "lognorm", "genpareto", "truncnorm"])
def test_logarithms_compiled_and_in_a_batch(name: str) -> None:
    shapes = {"norm": (), "lognorm": (0.7,), "genpareto": (0.1,), "truncnorm": (-1.0, 4.0)}[name]

    def loss(loc: Any, scale: Any, *shapes: Any) -> Any:
        return np.sum(getattr(stats, name).logsf([0.3, 1.1, 2.9], *shapes, loc, scale))

    values = (0.02, 1.3, *shapes)
    gradient = ta.grad(loss, tuple(range(len(values))))
    expected = gradient(*values)
    np.testing.assert_allclose(ta.compile(gradient)(*values), expected, rtol=1e-12)
    batch = ta.batched(gradient)(*(np.array([each, each]) for each in values))
    np.testing.assert_allclose([each[1] for each in batch], expected, rtol=1e-12)


@pytest.mark.parametrize("method", ["logsf", "logcdf", "ppf"])
def test_truncnorm_compiled_by_its_variable_alone(method: str) -> None:
    own, x = getattr(stats.truncnorm, method), np.array([0.2, 0.6])
    gradient = ta.grad(lambda x: np.sum(own(x, -1.0, 4.0)))
    np.testing.assert_allclose(ta.compile(gradient)(x), gradient(x), rtol=1e-12)

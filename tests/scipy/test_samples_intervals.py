"""Functions of samples in `tape_ad.scipy.stats` that search, count or have intervals."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import stats
from tape_ad.testing import check_grads

Array = Any

SAMPLE = np.array([0.3, 2.1, -1.2, 0.8, 3.3, -0.4, 1.7, 0.1])
OTHER = np.array([0.9, -1.1, 2.2, 0.2, 1.4, 3.1, -0.6, 0.55])
ABOVE = np.array([0.4, 2.1, 0.9, 0.2, 3.3, 1.4, 1.7, 0.7])
DIRECTION = np.array([0.2, -0.1, 0.3, 0.15, -0.25, 0.1, -0.3, 0.2])


def value(x: Any) -> Array:
    return x.data if isinstance(x, ta.Tensor) else x


def moved(function: Callable[[Any], Any], at: Array, way: Array, step: float) -> tuple[Any, Any]:
    """Give the derivative along a way that a handle has, and that differences of SciPy's have."""
    handle = ta.ComputationRecord().tensor(at)
    found = np.sum(function(handle).grad().wrt(handle) * way)
    return found, (function(at + step * way) - function(at - step * way)) / (2 * step)


SEARCHES: list[tuple[Callable[[Any], Any], Array]] = [
    (stats.boxcox_normmax, ABOVE),
    (lambda x: stats.boxcox_normmax(x, method="mle"), ABOVE),
    (lambda x: stats.boxcox_normmax(x, method="all")[1], ABOVE),
    (stats.yeojohnson_normmax, SAMPLE),
    (lambda x: stats.boxcox(x)[0][2], ABOVE),
    (lambda x: stats.boxcox(x, alpha=0.1)[2][1], ABOVE),
    (lambda x: stats.yeojohnson(x)[1], SAMPLE),
    (stats.ppcc_max, SAMPLE),
]


@pytest.mark.parametrize(("function", "at"), SEARCHES)
def test_what_is_best_moves_with_the_sample(function: Callable[[Any], Any], at: Array) -> None:
    found, expected = moved(function, at, DIRECTION, 1e-2)
    assert found == pytest.approx(expected, rel=3e-3, abs=1e-5)
    assert value(function(ta.ComputationRecord().tensor(at))) == function(at)


def test_what_is_best_has_a_second_derivative() -> None:
    def slope(move: Any) -> Any:
        return ta.grad(lambda s: stats.boxcox_normmax(ABOVE + s * DIRECTION, method="mle"))(move)

    near = 1e-2  # across what the search leaves of the way to the best
    expected = (slope(near) - slope(-near)) / (2 * near)
    assert ta.grad(slope)(0.0) == pytest.approx(expected, rel=1e-3)


PLOTS: list[tuple[Callable[[Any], Any], Array]] = [
    (lambda x: stats.probplot(x)[1][2], SAMPLE),
    (lambda x: stats.probplot(x, sparams=(3.0,), dist="t")[1][0], SAMPLE),
    (lambda x: stats.probplot(x, fit=False)[1][3], SAMPLE),
    (lambda x: stats.ppcc_plot(x, 0.1, 0.6, N=3)[1][1], SAMPLE),
    (lambda x: stats.boxcox_normplot(x, -0.5, 1.5, N=3)[1][2], ABOVE),
    (lambda x: stats.yeojohnson_normplot(x, -0.5, 1.5, N=3)[1][0], SAMPLE),
]


@pytest.mark.parametrize(("function", "at"), PLOTS)
def test_plots(function: Callable[[Any], Any], at: Array) -> None:
    found, expected = moved(function, at, DIRECTION, 1e-4)
    assert found == pytest.approx(expected, rel=1e-6)
    assert value(function(ta.ComputationRecord().tensor(at))) == pytest.approx(
        function(at), rel=1e-13
    )


def test_the_shapes_of_a_plot() -> None:
    found, expected = moved(
        lambda s: stats.probplot(SAMPLE, sparams=s, dist="t")[1][2], np.array(3.0), 1.0, 1e-4
    )
    assert found == pytest.approx(expected, rel=1e-6)
    found, expected = moved(
        lambda b: stats.ppcc_plot(SAMPLE, 2.0, b, "t", N=3)[1][2], np.array(4.0), 1.0, 1e-4
    )
    assert found == pytest.approx(expected, rel=1e-6)


INTERVALS: list[Callable[[Any], Any]] = [
    lambda x: stats.ttest_ind(x, OTHER, equal_var=False).confidence_interval(0.9).low,
    lambda x: stats.ttest_1samp(x, 0.1, alternative="less").confidence_interval().high,
    lambda x: stats.ttest_rel(x, OTHER, alternative="greater").confidence_interval().low,
    lambda x: stats.pearsonr(x, OTHER).confidence_interval().low,
    lambda x: stats.pearsonr(x, OTHER, alternative="less").confidence_interval().high,
    lambda x: stats.dunnett(x, OTHER, control=ABOVE).statistic[0],
    lambda x: stats.tukey_hsd(x, OTHER).pvalue[0, 1],
    lambda x: stats.tukey_hsd(x, OTHER).confidence_interval(0.9).high[0, 1],
    lambda x: stats.quantile_test(x, q=0.2, p=0.4).confidence_interval().low,
    lambda x: stats.ks_1samp(x, scipy.stats.norm(0.5, 1.5).cdf).pvalue,
    lambda x: stats.ks_1samp(x, scipy.stats.norm.cdf, alternative="less").pvalue,
    lambda x: stats.kstest(x, "logistic", (0.4, 1.5), method="asymp").pvalue,
]


@pytest.mark.parametrize("function", INTERVALS)
def test_intervals_and_tests(function: Callable[[Any], Any]) -> None:
    found, expected = moved(function, SAMPLE, DIRECTION, 1e-4)
    assert found == pytest.approx(expected, rel=1e-5)
    assert value(function(ta.ComputationRecord().tensor(SAMPLE))) == pytest.approx(
        function(SAMPLE), rel=1e-10
    )


def test_second_derivatives_of_differences_of_means() -> None:
    """The p-values beside them have none."""
    check_grads(lambda x: np.sum(stats.tukey_hsd(x, OTHER).statistic ** 2), (SAMPLE,), order=2)


def shift(a: Any, b: Any, axis: int) -> Any:
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


FITS: list[Callable[[Any], Any]] = [
    *(lambda x, part=part: stats.bayes_mvs(x, 0.8)[part].minmax[1] for part in range(3)),
    lambda x: stats.bayes_mvs(x)[2].statistic,
    lambda x: stats.mvsdist(x)[1].logpdf(1.3),
    lambda x: stats.permutation_test((x, ABOVE[:5]), shift, n_resamples=9).statistic,
    lambda x: stats.monte_carlo_test(x, scipy.stats.norm.rvs, np.var, n_resamples=9).statistic,
    *(
        lambda x, dist=dist: anderson(x, dist)
        for dist in ("norm", "logistic", "gumbel_l", "gumbel_r")
    ),
    lambda x: anderson(x * x, "expon"),
    lambda x: stats.obrientransform(x, OTHER)[0][2],
]


def anderson(x: Any, dist: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # SciPy's, of what is to come
        return stats.anderson(x, dist).statistic


@pytest.mark.parametrize("function", FITS)
def test_fits(function: Callable[[Any], Any]) -> None:
    found, expected = moved(function, SAMPLE, DIRECTION, 1e-3)
    assert found == pytest.approx(expected, rel=2e-5)
    assert value(function(ta.ComputationRecord().tensor(SAMPLE))) == pytest.approx(
        function(SAMPLE), rel=1e-9
    )


POINTS = np.stack([SAMPLE, OTHER])
SPREAD = np.array([[0.5, 0.1], [0.1, 0.4]])

DENSITIES: list[Callable[[Any], Any]] = [
    lambda kde: kde.integrate_gaussian(np.array([0.2, 0.1]), SPREAD),
    lambda kde: kde.integrate_kde(scipy.stats.gaussian_kde(POINTS[:, :5] ** 2)),
    lambda kde: kde.marginal([-1])(0.3)[0],
]


@pytest.mark.parametrize("function", DENSITIES)
def test_densities_of_points(function: Callable[[Any], Any]) -> None:
    way, near = np.stack([DIRECTION, DIRECTION[::-1]]), 1e-4
    handle = ta.ComputationRecord().tensor(POINTS)
    found = function(stats.gaussian_kde(handle))
    ends = (function(scipy.stats.gaussian_kde(POINTS + s * near * way)) for s in (1, -1))
    assert found.data == pytest.approx(function(scipy.stats.gaussian_kde(POINTS)), rel=1e-12)
    rise = float(next(ends) - next(ends))
    assert np.sum(found.grad().wrt(handle) * way) == pytest.approx(rise / (2 * near), rel=1e-6)


def test_scores_beside_nan() -> None:
    sample = np.where(np.arange(8) == 3, np.nan, SAMPLE)
    handle = ta.ComputationRecord().tensor(sample)
    scores = stats.zscore(handle, nan_policy="omit")
    np.testing.assert_allclose(
        scores.data, scipy.stats.zscore(sample, nan_policy="omit"), rtol=1e-14
    )
    found = scores[0].grad().wrt(handle)
    near = 1e-5 * np.eye(8)[5]
    ends = (scipy.stats.zscore(sample + s * near, nan_policy="omit")[0] for s in (1, -1))
    assert found[5] == pytest.approx((next(ends) - next(ends)) / 2e-5, rel=1e-6)
    assert found[3] == 0.0


def test_fits_have_second_derivatives() -> None:
    def slope(move: Any) -> Any:
        return ta.grad(lambda s: anderson(SAMPLE + s * DIRECTION, "gumbel_r"))(move)

    near = 1e-3
    expected = (slope(near) - slope(-near)) / (2 * near)
    assert ta.grad(slope)(0.0) == pytest.approx(expected, rel=1e-4)


def test_a_distribution_whose_fit_is_searched() -> None:
    sample = np.abs(np.random.default_rng(0).normal(1, 0.5, 30)) + 0.1
    way = np.linspace(-1, 1, 30)
    found = ta.grad(lambda s: anderson(sample + s * way, "weibull_min"))(0.0)
    near = 1e-3
    ends = [anderson(sample + s * way, "weibull_min") for s in (near, -near)]
    assert found == pytest.approx((ends[0] - ends[1]) / (2 * near), rel=1e-4)


@pytest.mark.filterwarnings("ignore:As of SciPy 1.17:FutureWarning")  # SciPy's, of what is to come
def test_what_is_fitted_is_told() -> None:
    handle = ta.ComputationRecord().tensor(SAMPLE)
    location, scale = stats.anderson(handle).fit_result.params
    np.testing.assert_allclose(location.grad().wrt(handle), 1 / 8, rtol=1e-15)
    assert scale.data == np.std(SAMPLE, ddof=1)


def test_the_order_alone_gives_plain_results() -> None:
    handle = ta.ComputationRecord().tensor(SAMPLE)
    assert stats.weightedtau(handle, OTHER)[0] == scipy.stats.weightedtau(SAMPLE, OTHER)[0]
    found = stats.logrank(handle * handle, ABOVE)
    assert found.pvalue == scipy.stats.logrank(SAMPLE * SAMPLE, ABOVE).pvalue
    table = np.array([[8.0, 2.0], [1.0, 5.0]])
    handle = ta.ComputationRecord().tensor(table)
    assert stats.fisher_exact(handle)[1] == scipy.stats.fisher_exact(table)[1]


LEVELS: list[Callable[[Any], Any]] = [
    lambda level: stats.binomtest(3, 15, 0.1).proportion_ci(level).low,
    lambda level: stats.binomtest(3, 15, 0.1, "less").proportion_ci(level, "wilson").high,
    lambda level: stats.binomtest(3, 15, 0.1).proportion_ci(level, "wilsoncc").low,
    lambda level: stats.tukey_hsd(SAMPLE, OTHER).confidence_interval(level).low[0, 1],
    lambda level: stats.binomtest(3, 15, 1 - level).pvalue,
    lambda level: stats.binomtest(12, 15, level, "greater").pvalue,
    lambda level: stats.quantile_test(SAMPLE, q=0.2, p=level).pvalue,
    lambda level: stats.quantile_test(SAMPLE, q=3.2, p=level, alternative="greater").pvalue,
    lambda level: stats.kstest(SAMPLE, "logistic", (0.4, level)).statistic,
    lambda n: stats.poisson_means_test(7, 97.3 * n, 3, 111.0, alternative="less").pvalue,
    lambda d: stats.poisson_means_test(7, 97.3, 3, 111.0, diff=d / 50).statistic,
    lambda n: stats.poisson_means_test(7, 97.3, 3, 110.0 + n, alternative="greater").pvalue,
]


@pytest.mark.parametrize("function", LEVELS)
def test_levels_and_probabilities(function: Callable[[Any], Any]) -> None:
    found, expected = moved(function, np.array(0.87), 1.0, 1e-5)
    assert found == pytest.approx(expected, rel=1e-4)
    assert value(function(ta.ComputationRecord().tensor(0.87))) == pytest.approx(
        function(0.87), rel=1e-10
    )


TAKING_NAN = [
    name
    for name in ("skew", "ttest_ind", "ttest_rel", "gmean", "linregress", "trim_mean")
    if "nan_policy" in inspect.signature(getattr(scipy.stats, name)).parameters
]
"""Some functions with a `nan_policy`, which two of them have in newer releases of SciPy alone."""


@pytest.mark.parametrize("policy", ["omit", "propagate"])
@pytest.mark.parametrize("name", TAKING_NAN)
def test_nan_in_samples(name: str, policy: str) -> None:
    holed = np.stack([ABOVE, OTHER**2])
    holed[0, 3] = np.nan
    arguments = {
        "ttest_ind": (OTHER[None],),
        "ttest_rel": (np.stack([OTHER, ABOVE]),),
        "linregress": (np.stack([OTHER, ABOVE]),),
        "trim_mean": (0.2,),
    }.get(name, ())
    options = {"axis": 1, "nan_policy": policy}
    handle = ta.ComputationRecord().tensor(holed)
    found = getattr(stats, name)(handle, *arguments, **options)
    expected = getattr(scipy.stats, name)(holed, *arguments, **options)
    one, other = (x[0] if isinstance(x, tuple) else x for x in (found, expected))
    np.testing.assert_allclose(one.data, other, rtol=1e-13)
    gradient = one[1].grad().wrt(handle)
    assert np.isfinite(gradient[1]).all()
    assert gradient[1].any()
    if policy == "omit":
        slopes = one[0].grad().wrt(handle)[0]
        assert slopes[3] == 0.0
        assert np.isfinite(slopes).all()


def test_nan_may_be_refused_and_short_samples_give_nan() -> None:
    handle = ta.ComputationRecord().tensor([0.3, np.nan, 0.5])
    with pytest.raises(ValueError, match="The input contains nan values"):
        stats.skew(handle, nan_policy="raise")
    short = stats.skewtest(handle)
    assert np.isnan(short.statistic.data)
    assert np.isnan(short.pvalue.data)


def test_samples_may_be_lists_with_handles() -> None:
    number = ta.ComputationRecord().tensor(0.3)
    found = stats.ttest_ind([number, 1.2, 0.7], (0.1, 0.4, 0.2))
    assert found.pvalue.data == scipy.stats.ttest_ind([0.3, 1.2, 0.7], (0.1, 0.4, 0.2)).pvalue
    assert found.statistic.grad().wrt(number) != 0


def test_a_p_value_by_resampling_is_a_constant() -> None:
    handle = ta.ComputationRecord().tensor(SAMPLE)
    method = scipy.stats.PermutationMethod(n_resamples=9)
    found = stats.pearsonr(handle, OTHER, method=method)
    assert found.statistic.grad().wrt(handle).any()
    assert 0 < found.pvalue <= 1


def at_its_bound(function: Callable[[float], float]) -> Any:
    return scipy.optimize.minimize_scalar(function, bounds=(6, 7), method="bounded")


def test_a_power_that_is_held_back_does_not_move() -> None:
    handle = ta.ComputationRecord().tensor(SAMPLE)
    found = stats.boxcox_normmax(handle * handle, optimizer=at_its_bound)
    assert value(found) == scipy.stats.boxcox_normmax(SAMPLE * SAMPLE, optimizer=at_its_bound)
    assert not np.any(found.grad().wrt(handle))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda h: stats.dunnett(h, OTHER, control=ABOVE).pvalue[0].grad(),
            "pvalue is integrated at random",
        ),
        (
            lambda h: stats.permutation_test((h, OTHER), shift, n_resamples=9).null_distribution,
            "no derivatives of null_distribution",
        ),
        (lambda h: stats.epps_singleton_2samp(h * 0 + SAMPLE, h, t=(1e-9, 2e-9)), "is singular"),
        (lambda h: stats.fit(stats.poisson, h, {"mu": (0, 9)}), "with respect to data"),
        (lambda h: stats.poisson.nnlf((1.0, 0.0), x=h), "with respect to data"),
    ],
)
def test_what_has_no_derivative_says_so(call: Any, says: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=says):
        call(ta.ComputationRecord().tensor(SAMPLE))


@pytest.mark.parametrize(
    "call",
    [
        lambda module, t: (
            module.binned_statistic(SAMPLE, OTHER, lambda x: t * np.sum(x), 2).statistic
        ),
        lambda module, t: (
            module.binned_statistic_2d(SAMPLE, OTHER, ABOVE, lambda x: t * np.sum(x), 2).statistic
        ),
        lambda module, t: module.ks_1samp(SAMPLE, lambda x: scipy.special.ndtr(t * x)).statistic,
        lambda module, t: module.kstest(SAMPLE, cdf=lambda x: scipy.special.ndtr(t * x)).statistic,
    ],
)
def test_a_function_that_closes_over_a_handle_keeps_the_gradient(call: Any) -> None:
    t, plain = ta.ComputationRecord().tensor(1.1), np.nan_to_num(call(scipy.stats, 1.1))
    out = np.nan_to_num(call(stats, t))
    np.testing.assert_allclose(out.data, plain, rtol=1e-12)
    up, down = (np.nan_to_num(call(scipy.stats, 1.1 + h)) for h in (1e-6, -1e-6))
    slope = np.sum((up - down) * (1 + plain)) / 2e-6
    np.testing.assert_allclose(np.sum(out * (1 + plain)).grad().wrt(t), slope, rtol=1e-6)


RANDOM = "rng" if "rng" in inspect.signature(scipy.stats.bootstrap).parameters else "random_state"


def drawn(seed: int = 1) -> dict[str, Any]:
    """Give the option by which functions take a generator of random numbers."""
    return {RANDOM: np.random.default_rng(seed)}


RESAMPLED: list[Callable[[Any, Array], Any]] = [
    lambda s, x: s.bootstrap((x,), np.mean, n_resamples=30, **drawn()).confidence_interval.low,
    lambda s, x: (
        s.bootstrap((x,), np.std, n_resamples=30, method="basic", **drawn()).standard_error
    ),
    lambda s, x: s.goodness_of_fit(s.norm, x, statistic="ad", n_mc_samples=10, **drawn()).statistic,
    lambda s, x: (
        s.pearsonr(x, OTHER, method=s.PermutationMethod(n_resamples=9, **drawn())).statistic
    ),
    lambda s, x: s.dunnett(x, OTHER, control=ABOVE, **drawn()).statistic[0],
]


@pytest.mark.parametrize("call", RESAMPLED)
def test_what_is_resampled(call: Any) -> None:
    for f in (lambda x: call(stats, x), ta.differentiable(lambda x: call(scipy.stats, x))):
        found, _ = moved(f, SAMPLE, DIRECTION, 1e-6)
        plain = [call(scipy.stats, SAMPLE + h * DIRECTION) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose(found, (plain[0] - plain[1]) / 2e-6, rtol=1e-6)


def test_a_fit_to_a_sample() -> None:
    bounds = {"loc": (-5, 5), "scale": (0.1, 9)}
    for name, slope in (("loc", 1.0), ("scale", (SAMPLE - SAMPLE.mean()) / SAMPLE.std())):
        gradient = ta.grad(lambda x: getattr(stats.fit(stats.norm, x, bounds).params, name))(SAMPLE)  # noqa: B023 - it is called at once
        np.testing.assert_allclose(gradient, slope / SAMPLE.size * np.ones(8), rtol=1e-4)


def test_unknown_likelihoods_stop_no_derivative_of_statistics() -> None:
    def statistic(x: Any) -> Any:
        return stats.dunnett(x, OTHER, control=ABOVE).statistic[0]

    way, near = np.cos(np.arange(8.0)), 1e-5
    slope = ta.grad(statistic)
    expected = (slope(SAMPLE + near * way) - slope(SAMPLE - near * way)) / (2 * near)
    np.testing.assert_allclose(ta.jvp(slope, (SAMPLE,), (way,))[1], expected, atol=1e-9)


def test_a_likelihood_of_ranges_has_one_derivative() -> None:
    slope = ta.grad(lambda x: stats.tukey_hsd(x, OTHER).pvalue[0, 1])
    with pytest.raises(UnsupportedArgumentError, match="studentized_range"):
        ta.grad(lambda x: np.sum(slope(x)))(SAMPLE)

"""Functions of samples: what they give besides numbers, and what is refused."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats

import tape_ad as ta
from tape_ad.errors import TieError, UnsupportedArgumentError
from tape_ad.scipy import stats
from tape_ad.testing import check_grads
from tests.rules.checks import central_difference

Array = Any

SAMPLE = np.array([0.3, 2.1, -1.2, 0.8, 3.3, -0.4, 1.7, 0.1])
OTHER = np.array([0.9, -1.1, 2.2, 0.2, 1.4, 3.1, -0.6, 0.55])


@pytest.mark.parametrize(
    ("name", "arguments", "attributes"),
    [
        ("ttest_ind", (SAMPLE, OTHER), ("statistic", "pvalue", "df")),
        ("ttest_1samp", (SAMPLE, 0.1), ("statistic", "pvalue", "df")),
        ("pearsonr", (SAMPLE, OTHER), ("statistic", "pvalue")),
        ("f_oneway", (SAMPLE, OTHER), ("statistic", "pvalue")),
        (
            "linregress",
            (SAMPLE, OTHER),
            ("slope", "intercept", "rvalue", "pvalue", "stderr", "intercept_stderr"),
        ),
        ("kendalltau", (SAMPLE, OTHER), ("statistic", "pvalue")),
        ("somersd", (SAMPLE, OTHER), ("statistic", "pvalue")),
    ],
)
def test_a_result_has_the_attributes_of_scipys(
    name: str, arguments: tuple[Any, ...], attributes: tuple[str, ...]
) -> None:
    handle = ta.ComputationRecord().tensor(arguments[0])
    found = getattr(stats, name)(handle, *arguments[1:])
    expected = getattr(scipy.stats, name)(*arguments)
    for attribute in attributes:
        value = getattr(found, attribute)
        value = value.data if isinstance(value, ta.Tensor) else value
        assert value == pytest.approx(getattr(expected, attribute), rel=1e-13)
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)


def test_describe() -> None:
    handle = ta.ComputationRecord().tensor(SAMPLE)
    count, (low, high), mean, *_ = stats.describe(handle)
    assert (count, low.data, high.data) == (8, -1.2, 3.3)
    np.testing.assert_array_equal(low.grad().wrt(handle), np.eye(8)[2])
    np.testing.assert_array_equal(mean.grad().wrt(handle), np.full(8, 1 / 8))


def test_plain_arrays_give_scipys_own_results() -> None:
    assert stats.ttest_ind(SAMPLE, OTHER) == scipy.stats.ttest_ind(SAMPLE, OTHER)
    assert type(stats.linregress(SAMPLE, OTHER)) is type(scipy.stats.linregress(SAMPLE, OTHER))
    assert stats.skew(SAMPLE, nan_policy="omit") == scipy.stats.skew(SAMPLE, nan_policy="omit")
    assert stats.describe(SAMPLE) == scipy.stats.describe(SAMPLE)


@pytest.mark.filterwarnings("ignore")  # of SciPy's, for the column without a value
@pytest.mark.parametrize("name", ["tmean", "tvar", "tstd", "tsem"])
def test_a_column_with_no_value_within_limits_has_no_moment(name: str) -> None:
    table = np.stack([SAMPLE[:4] + 50.0, np.arange(4.0)], axis=1)
    handle = ta.ComputationRecord().tensor(table)
    theirs = getattr(scipy.stats, name)
    found = getattr(stats, name)(handle, (0.0, 3.0), axis=0)
    assert np.isnan(found.data[0])
    np.testing.assert_array_equal(found.data, theirs(table, (0.0, 3.0), axis=0))
    slopes = found[1].grad().wrt(handle)
    (expected,) = central_difference(
        lambda at: [theirs(at[0], (-1.0, 3.5), axis=0)[1]], [table], [np.cos(table)]
    )
    assert np.sum(slopes * np.cos(table)) == pytest.approx(expected, rel=1e-7)
    assert not np.any(slopes[:, 0])


@pytest.mark.parametrize("lmbda", [0.0, 0.4, 2.0])
def test_powers_move_smoothly_also_where_they_are_logarithms(lmbda: float) -> None:
    record = ta.ComputationRecord()
    power, near = record.tensor(lmbda), 1e-4
    for function, data in ((stats.yeojohnson, SAMPLE), (stats.boxcox, np.abs(SAMPLE))):
        found = np.sum(function(data, power)).grad().wrt(power)
        rise = np.sum(function(data, lmbda + near) - function(data, lmbda - near))
        assert found == pytest.approx(rise / (2 * near), rel=1e-6)


@pytest.mark.parametrize("lmbda", [0.0, 0.4])
def test_likelihoods_of_powers(lmbda: float) -> None:
    power, near = ta.ComputationRecord().tensor(lmbda), 1e-2
    for function, data in ((stats.yeojohnson_llf, SAMPLE), (stats.boxcox_llf, np.abs(SAMPLE))):
        found = function(power, data).grad().wrt(power)
        rise = function(lmbda + near, data) - function(lmbda - near, data)
        assert found == pytest.approx(rise / (2 * near), rel=1e-3)


@pytest.mark.filterwarnings("ignore:Precision loss occurred:RuntimeWarning")  # SciPy's own
def test_constant_samples_give_nan() -> None:
    handle = ta.ComputationRecord().tensor(np.full(4, 0.1))
    with np.errstate(all="ignore"):
        for name in ("skew", "kurtosis", "zscore"):
            out = getattr(stats, name)(handle)
            assert np.isnan(out.data).all()


def test_no_skewness_at_all_is_what_scipy_makes_of_it() -> None:
    sample = np.arange(1.0, 9.0)
    found = stats.skewtest(ta.ComputationRecord().tensor(sample)).statistic
    value = found.data if isinstance(found, ta.Tensor) else found
    assert value == pytest.approx(scipy.stats.skewtest(sample).statistic, rel=1e-14)


def test_a_share_of_nothing_leaves_the_others_their_slopes() -> None:
    shares, others = np.array([0.0, 1.0, 2.0]), np.array([0.2, 0.3, 0.5])
    entropy = scipy.stats.entropy(shares[1:])
    # Of x over S the slope of -sum(x log x) / S + log S is -(log(x / S) + entropy) / S
    expected = -(np.log(shares[1:] / 3) + entropy) / 3
    np.testing.assert_allclose(ta.grad(stats.entropy)(shares), [np.inf, *expected], rtol=1e-14)
    divergence = scipy.stats.entropy(shares, others)
    by_shares, by_others = ta.grad(stats.entropy, argnums=(0, 1))(shares, others)
    expected = (np.log(shares[1:] / 3 / others[1:]) - divergence) / 3
    np.testing.assert_allclose(by_shares, [-np.inf, *expected], rtol=1e-13)
    np.testing.assert_allclose(by_others, 1 - shares / 3 / others, rtol=1e-13)
    assert stats.entropy(ta.ComputationRecord().tensor([])).data == 0


def test_ties_and_several_axes() -> None:
    handle = ta.ComputationRecord().tensor([[1.0, 2.0], [2.0, 5.0]])
    found = stats.moment(handle, 2, axis=(0, 1), keepdims=True)
    assert found.shape == (1, 1)
    np.testing.assert_allclose(
        found.grad([[1.0]]).wrt(handle), [[-0.75, -0.25], [-0.25, 1.25]], rtol=1e-15
    )
    assert stats.iqr(handle).data == scipy.stats.iqr(handle.data)


def test_ranks_are_constants() -> None:
    record = ta.ComputationRecord()
    a, b = record.tensor(SAMPLE), record.tensor(OTHER)
    assert stats.spearmanr(a, b) == tuple(scipy.stats.spearmanr(SAMPLE, OTHER))
    np.testing.assert_array_equal(stats.rankdata(a), scipy.stats.rankdata(SAMPLE))
    assert stats.percentileofscore(a, 0.5) == 50.0


def test_a_trimmed_sample_with_nan_gives_nan() -> None:
    record = ta.ComputationRecord()
    sample = record.tensor([0.3, np.nan, -1.2, 0.8, 3.3])
    found = stats.ttest_ind(sample, OTHER, trim=0.2)
    assert np.isnan([found.statistic, found.pvalue]).all()


def test_a_line_through_two_points() -> None:
    x, y = SAMPLE[:2], OTHER[:2]
    found = ta.grad(lambda x: stats.linregress(x, y).slope)(x)
    expected = (y[1] - y[0]) / (x[1] - x[0]) ** 2
    np.testing.assert_allclose(found, [expected, -expected], rtol=1e-13)


@pytest.mark.parametrize("ddof", [0, 1, 2])
@pytest.mark.parametrize("name", ["tvar", "tstd", "tsem"])
def test_columns_with_too_few_values_within_limits_have_no_spread(name: str, ddof: int) -> None:
    table = np.array([[1.0, 20.0, 1.0], [3.0, 40.0, 20.0], [2.0, 50.0, 30.0]])
    options = {"limits": (0, 10), "axis": 0, "ddof": ddof}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = getattr(scipy.stats, name)(table, **options)
        handle = ta.ComputationRecord().tensor(table)
        found = getattr(stats, name)(handle, **options)
    np.testing.assert_allclose(found.data, expected, rtol=1e-14)


@pytest.mark.parametrize("power", [-1.0, 0.0])
def test_a_slope_that_a_limit_hides_is_refused(power: float) -> None:
    observed = np.arange(1.0, 5.0)
    with pytest.raises(UnsupportedArgumentError, match="lambda_= is a handle, and exactly one of"):
        ta.grad(lambda p: stats.power_divergence(observed, observed[::-1], lambda_=p)[0])(power)
    with pytest.raises(TieError, match=r"pmean of scipy\.stats branches on numbers"):
        ta.grad(lambda p: stats.pmean(observed, p))(0.0)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_range_has_a_slope_in_its_scale_where_scipy_does_not_divide(scale: float) -> None:
    observed = np.array([1.0, 2.0, 4.5, 9.0])
    for function in (stats.iqr, ta.differentiable(scipy.stats.iqr)):
        value, slope = ta.value_and_grad(lambda s, f=function: f(observed, scale=s))(scale)
        assert value == scipy.stats.iqr(observed, scale=scale)
        assert slope == -scipy.stats.iqr(observed) / scale**2
        by_place = ta.grad(lambda s, f=function: f(observed, 0, (25, 75), s, "omit"))
        assert ta.grad(by_place)(scale) == 2 * scipy.stats.iqr(observed) / scale**3


def test_pearsons_statistic_has_a_slope_in_the_power() -> None:
    observed = np.arange(1.0, 5.0)

    def statistic(power: Any) -> Any:
        return stats.power_divergence(observed, observed[::-1], lambda_=power)[0]

    difference = (statistic(1 + 1e-6) - statistic(1 - 1e-6)) / 2e-6
    np.testing.assert_allclose(ta.grad(statistic)(1.0), difference, rtol=1e-8)


def test_two_samples_are_compared_by_their_order_and_at_a_place_of_one() -> None:
    handle = ta.ComputationRecord().tensor(SAMPLE)
    assert tuple(stats.kstest(handle, OTHER)) == tuple(scipy.stats.kstest(SAMPLE, OTHER))


def test_a_plot_shows_the_values_and_gives_handles() -> None:
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    handle = ta.ComputationRecord().tensor(SAMPLE)
    (_, ordered), _ = stats.probplot(handle, plot=axes)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), np.sort(SAMPLE))
    np.testing.assert_array_equal(ordered[0].grad().wrt(handle), np.eye(8)[np.argmin(SAMPLE)])


def test_a_frozen_distribution_is_one_in_scipys_own_code() -> None:
    scale = 1.5

    def distance(x: Any) -> Any:
        return stats.cramervonmises(x, scipy.stats.norm(0.5, scale).cdf).statistic

    check_grads(distance, (SAMPLE,), order=2)
    assert distance(SAMPLE) == pytest.approx(
        scipy.stats.cramervonmises((SAMPLE - 0.5) / scale, "norm").statistic, rel=1e-13
    )


@pytest.mark.parametrize("ddof", [0, 2, 3, 4])
def test_degrees_of_freedom_that_are_left_out_have_scipys_p_values(ddof: int) -> None:
    observed = np.array([1.0, 2.0, 3.0, 4.0])
    theirs = scipy.stats.power_divergence(observed, ddof=ddof, lambda_="log-likelihood")
    handle = ta.ComputationRecord().tensor(observed)
    ours = stats.power_divergence(handle, ddof=ddof, lambda_="log-likelihood")
    np.testing.assert_allclose(getattr(ours.pvalue, "data", ours.pvalue), theirs.pvalue)

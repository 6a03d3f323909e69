"""Distributions of vectors and matrices, and densities by kernels, in `tape_ad.scipy.stats`."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

import tape_ad as ta
from tape_ad.errors import ConversionError, NoRuleError, UnsupportedArgumentError
from tape_ad.scipy import stats
from tests.rules.checks import central_difference

Array = Any

COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])
POINTS = np.array([[0.3, -1.2], [1.4, 0.2], [-0.6, 0.9]])


def gradients_agree(function: Any, values: list[Array]) -> None:
    """Compare value and gradient with the same function of plain arrays."""
    record = ta.ComputationRecord()
    handles = [record.tensor(value) for value in values]
    out = function(*handles)
    np.testing.assert_allclose(out.data, function(*values), rtol=1e-13)
    weights = np.cos(np.arange(out.size)).reshape(out.shape)
    rng = np.random.default_rng(0)
    tangents = [rng.normal(size=np.shape(value)) for value in values]
    (expected,) = central_difference(
        lambda moved: [np.sum(function(*moved) * weights)], values, tangents
    )
    found = out.grad(weights).wrt(handles)
    slope = sum(np.sum(g * t) for g, t in zip(found, tangents, strict=True))
    assert slope == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_frozen_normal_distribution(frozen: bool) -> None:
    mean = np.array([0.1, 0.2])

    def density(x: Array, mean: Array) -> Array:
        if frozen:
            return stats.multivariate_normal(mean, COVARIANCE).pdf(x)
        return stats.multivariate_normal.pdf(x, mean, cov=COVARIANCE)

    gradients_agree(density, [POINTS, mean])


@pytest.mark.parametrize(
    ("x", "mean", "cov"),
    [
        (0.4, 0.1, 2.0),
        (POINTS[:, 0], 0.1, 2.0),
        (POINTS[0], [0.1, 0.2], 1.5),
        (POINTS, [0.1, 0.2], [1.5, 0.7]),
        (POINTS.reshape(3, 1, 2), [0.1, 0.2], COVARIANCE),
    ],
    ids=["number", "numbers", "one variance", "variances", "stack"],
)
def test_shapes_of_a_normal_distribution(x: Any, mean: Any, cov: Any) -> None:
    handle = ta.ComputationRecord().tensor(x)
    out = stats.multivariate_normal.logpdf(handle, mean, cov)
    expected = scipy.stats.multivariate_normal.logpdf(x, mean, cov)
    assert out.shape == np.shape(expected)
    np.testing.assert_allclose(out.data, expected, rtol=1e-14)


def test_a_wishart_distribution_of_two_matrices() -> None:
    scale = np.array([[1.5, 0.2], [0.2, 0.8]])
    gradients_agree(
        lambda a, b: stats.wishart.logpdf(a @ a.T + COVARIANCE, 4.5, b @ b.T + scale),
        [POINTS[:2], POINTS[1:]],
    )


@pytest.mark.parametrize(
    ("x", "scale"),
    [
        (POINTS[:2] @ POINTS[:2].T + 2 * np.eye(2), COVARIANCE),
        (np.stack([COVARIANCE, 2 * COVARIANCE], axis=-1), COVARIANCE),
        (np.array([0.5, 1.5, 2.0]), 1.3),
        (np.array([0.5, 1.5]), np.array([1.3, 0.4])),
        (0.7, COVARIANCE),
    ],
    ids=["matrix", "stack", "numbers", "diagonals", "number"],
)
@pytest.mark.parametrize("name", ["wishart", "invwishart"])
def test_shapes_of_distributions_of_matrices(name: str, x: Any, scale: Any) -> None:
    df = ta.ComputationRecord().tensor(4.5)
    out = getattr(stats, name).logpdf(x, df, scale)
    expected = getattr(scipy.stats, name).logpdf(x, 4.5, scale)
    assert out.shape == np.shape(expected)
    np.testing.assert_allclose(out.data, expected, rtol=1e-13)
    gradients_agree(lambda df: getattr(stats, name).logpdf(x, df, scale), [4.5])


def test_a_stack_of_matrices_around_another() -> None:
    gradients_agree(
        lambda x, mean: stats.matrix_normal.logpdf(x, mean, np.eye(3), COVARIANCE),
        [np.stack([POINTS, POINTS[::-1]]), POINTS],
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("wishart", (COVARIANCE + 1, 4.5)),
        ("invwishart", (COVARIANCE + 1, 4.5)),
        ("matrix_normal", (POINTS, None, np.eye(3))),
    ],
)
def test_the_triangle_of_a_matrix_that_scipy_reads(name: str, arguments: Any) -> None:
    gradients_agree(lambda a: getattr(stats, name).logpdf(*arguments, a), [COVARIANCE])
    record = ta.ComputationRecord()
    handle = record.tensor(COVARIANCE)
    assert getattr(stats, name).logpdf(*arguments, handle).grad().wrt(handle)[0, 1] == 0


@pytest.mark.skipif(not hasattr(scipy.stats, "normal_inverse_gamma"), reason="SciPy 1.15 has it")
def test_two_variables_at_once() -> None:
    gradients_agree(
        lambda x, s2, b: stats.normal_inverse_gamma(0.1, 1.2, 3.0, b).pdf(x=x, s2=s2),
        [np.array([0.3, 0.5]), np.array([0.4, 0.7]), 2.1],
    )
    plain = stats.normal_inverse_gamma(0.1, 1.2, 3.0, 2.1)
    gradients_agree(lambda x: plain.logpdf(x, 0.4), [0.3])


def test_lists_with_handles() -> None:
    def density(a: Array, b: Array) -> Array:
        return stats.multivariate_normal.logpdf([0.1, b], [a, 0.2], [[1.5, 0.2 * a], [0.2 * a, b]])

    gradients_agree(density, [0.4, 1.3])
    gradients_agree(lambda a: stats.multivariate_normal([a, 0.2]).logpdf([0.1, 0.3]), [0.4])


def test_what_is_no_direction_is_an_error() -> None:
    kappa = ta.ComputationRecord().tensor(2.0)
    with pytest.raises(ValueError, match="'mu' must be a unit vector"):
        stats.vonmises_fisher.logpdf([0.6, 0.8], [1.0, 1.0], kappa)


def test_points_beyond_the_simplex_are_an_error() -> None:
    record = ta.ComputationRecord()
    for x in ([0.5, 0.9], [-0.1, 0.2], [0.2, 0.2, 0.2]):
        with pytest.raises(ValueError, match=r"simplex|greater than or equal to zero"):
            stats.dirichlet.logpdf(record.tensor(x), [1.0, 2.0, 3.0])


def test_counts_that_are_impossible_have_no_gradient() -> None:
    p = ta.ComputationRecord().tensor([0.2, 0.3, 0.5])
    out = stats.multinomial.logpmf([[1, 1, 1], [1, 2, 2]], 5, p)
    assert out.data[0] == -np.inf
    np.testing.assert_allclose(out.grad([1.0, 0.0]).wrt(p), 0)
    np.testing.assert_allclose(out.grad([0.0, 1.0]).wrt(p), [5, 2 / 0.3, 4])


def test_what_scipy_composes_has_a_gradient_too() -> None:
    gradients_agree(
        lambda mean: stats.multivariate_normal.rvs(mean, COVARIANCE, 3, random_state=1),
        [np.array([0.1, 0.2])],
    )
    gradients_agree(lambda p: stats.multinomial.entropy(5, np.stack([p, 1 - p])), [0.3])


def test_integrals_that_are_compiled_are_refused() -> None:
    x = ta.ComputationRecord().tensor([0.5, 1.0])
    with pytest.raises((NoRuleError, ConversionError), match="gradient"):
        stats.multivariate_normal.cdf(x, [0.0, 0.0], COVARIANCE)


# Densities by kernels


@pytest.mark.parametrize("bandwidth", [None, "scott", "silverman", 0.4])
@pytest.mark.parametrize("method", ["evaluate", "pdf", "logpdf"])
def test_kernels_of_one_variable(bandwidth: Any, method: str) -> None:
    def density(sample: Array, points: Array, weights: Array) -> Array:
        kde = stats.gaussian_kde(sample, bandwidth, weights)
        return getattr(kde, method)(points)

    weights = np.array([0.2, 0.5, 0.1, 0.9])
    sample, points = np.array([0.3, -1.2, 1.4, 0.2]), np.array([0.1, 2.0])
    gradients_agree(density, [sample, points, weights])
    expected = scipy.stats.gaussian_kde(sample, bandwidth, weights)
    found = density(ta.ComputationRecord().tensor(sample), points, weights)
    np.testing.assert_allclose(found.data, getattr(expected, method)(points), rtol=1e-13)


def test_kernels_of_two_variables() -> None:
    gradients_agree(
        lambda sample, points: stats.gaussian_kde(sample)(points), [POINTS.T, POINTS[:2].T]
    )
    gradients_agree(lambda sample: stats.gaussian_kde(sample).logpdf([0.1, 0.2]), [POINTS.T])


def test_a_bandwidth_can_be_learned() -> None:
    gradients_agree(lambda width: stats.gaussian_kde(POINTS[:, 0], width).logpdf([0.3]), [0.5])
    gradients_agree(
        lambda sample: stats.gaussian_kde(sample).integrate_box_1d(-1, 0.5), [POINTS[:, 0]]
    )


def test_a_density_far_away() -> None:
    x = ta.ComputationRecord().tensor([80.0])
    kde = stats.gaussian_kde([0.0, 1.0], 1.0)
    out = kde.logpdf(x)
    assert out.data == pytest.approx(scipy.stats.gaussian_kde([0.0, 1.0], 1.0).logpdf([80.0]))
    assert out.grad([1.0]).wrt(x) == pytest.approx(-158)


def test_plain_samples_give_scipys_density() -> None:
    ours, theirs = stats.gaussian_kde(POINTS.T), scipy.stats.gaussian_kde(POINTS.T)
    np.testing.assert_allclose(ours(POINTS.T), theirs(POINTS.T), rtol=1e-13)
    np.testing.assert_allclose(ours.covariance, theirs.covariance, rtol=1e-14)
    assert ours.neff == pytest.approx(theirs.neff)
    assert ours.integrate_box([-1, -1], [1, 1]) == pytest.approx(
        theirs.integrate_box([-1, -1], [1, 1]), rel=1e-4
    )


def test_what_is_drawn_of_kernels_moves_with_the_sample() -> None:
    gradients_agree(
        lambda sample: stats.gaussian_kde(sample).resample(4, seed=3)[0], [POINTS[:, 0]]
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda h: stats.multivariate_normal.logpdf(
                [0.1, 0.2], cov=np.outer(h, h), allow_singular=True
            ),
            "allow_singular=True",
        ),
        (lambda h: stats.multinomial.logpmf(h, 5, [0.5, 0.5]), "with respect to x; pass x.data"),
        (lambda h: stats.multinomial.pmf([1, 1], h[0], [0.5, 0.5]), "with respect to n; pass n.da"),
        (lambda h: stats.dirichlet_multinomial.pmf([1, 1], [1.0, 2.0], h[0]), "with respect to n"),
    ],
)
def test_what_is_refused_says_what_to_write(call: Any, says: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=says):
        call(ta.ComputationRecord().tensor([0.5, 1.0]))

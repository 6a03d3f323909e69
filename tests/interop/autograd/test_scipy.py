"""SciPy's functions under HIPS autograd's names, where the programs beside do not reach."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

import scipy.integrate
import scipy.signal
import scipy.stats

import tape_ad.interop.autograd as ag
from tape_ad.errors import TapeError, UnsupportedArgumentError
from tape_ad.interop.autograd.scipy import integrate, linalg, signal, special, stats
from tape_ad.interop.autograd.scipy.stats import dirichlet, multivariate_normal, norm
from tape_ad.interop.autograd.test_util import check_grads

COV = np.array([[2.0, 0.3], [0.3, 1.0]])
MEAN, POINTS = np.array([0.1, -0.2]), np.array([[0.5, 1.0], [2.0, -1.0], [0.0, 0.0]])
SHARES, ALPHA = np.array([0.2, 0.5, 0.3]), np.array([1.5, 1.0, 3.0])


def decay(y: Any, t: Any, rate: Any) -> Any:
    return -rate * y + t


def test_plain_arrays_give_what_scipy_gives() -> None:
    ours = multivariate_normal.logpdf(POINTS, MEAN, COV)
    assert np.array_equal(ours, scipy.stats.multivariate_normal.logpdf(POINTS, MEAN, COV))
    assert np.array_equal(dirichlet.pdf(SHARES, ALPHA), scipy.stats.dirichlet.pdf(SHARES, ALPHA))
    times = np.linspace(0, 1, 4)
    solved = integrate.odeint(decay, [1.0], times, (0.5,))
    assert np.array_equal(solved, scipy.integrate.odeint(decay, [1.0], times, (0.5,)))
    entropy = scipy.stats.multivariate_normal.entropy(cov=COV)
    assert multivariate_normal.entropy(MEAN, COV) == entropy


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize("shapes", [((5, 4), (3, 2)), ((3, 2), (5, 4)), ((4,), (4,)), ((6,), (1,))])
def test_convolutions_along_all_axes_are_those_of_scipy(mode: str, shapes: Any) -> None:
    a, b = (np.random.default_rng(0).normal(size=shape) for shape in shapes)
    found = signal.convolve(a, b, mode=mode)
    np.testing.assert_allclose(found, scipy.signal.convolve(a, b, mode, "direct"), atol=1e-14)


def test_convolutions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="larger than the other"):
        signal.convolve(np.ones((3, 2)), np.ones((2, 3)), mode="valid")
    with pytest.raises(ValueError, match="mode is"):
        signal.convolve(np.ones(3), np.ones(2), mode="circular")


CASES: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (multivariate_normal.logpdf, (POINTS, MEAN, COV), (0, 1)),
    (multivariate_normal.pdf, (POINTS[0], MEAN, COV), (0, 1)),
    (lambda r: multivariate_normal.logpdf(POINTS, MEAN, r @ r.T), (COV,), (0,)),
    (lambda r: multivariate_normal.entropy(MEAN, r @ r.T), (COV,), (0,)),
    (multivariate_normal.logpdf, (0.3, 0.1, 2.0), (0, 1, 2)),
    (lambda z, a: dirichlet.logpdf(np.exp(z) / np.sum(np.exp(z)), a), (SHARES, ALPHA), (0, 1)),
    (dirichlet.logpdf, (SHARES[:2], ALPHA), (0, 1)),
    (dirichlet.pdf, (SHARES[:2], ALPHA), (0, 1)),
    (dirichlet.pdf, (SHARES, ALPHA), (1,)),
    (signal.convolve, (np.arange(5.0), np.array([1.0, -2.0])), (0, 1)),
    (special.yn, (1, 0.7), (1,)),
    (norm.logcdf, (0.3, 0.1, 2.0), (0, 1, 2)),
    (linalg.solve_triangular, (np.array([[2.0, 0.0], [1.0, 3.0]]), MEAN, 0, True), (0, 1)),
]


@pytest.mark.parametrize(("function", "args", "argnums"), CASES)
def test_derivatives_of_both_orders_are_those_of_differences(
    function: Any, args: tuple[Any, ...], argnums: tuple[int, ...]
) -> None:
    np.random.seed(0)  # noqa: NPY002 - which the checks draw from, as in HIPS autograd
    check_grads(function, argnums)(*args)


def test_a_solution_has_derivatives_by_all_that_it_depends_on() -> None:
    def end(y0: Any, rate: Any) -> Any:
        times = np.array([0.0, 0.4, 1.0])
        return integrate.odeint(decay, y0, times, (rate,), rtol=1e-12, atol=1e-12)[-1, 0]

    y0, rate = np.array([2.0]), 0.7
    # y(1) = (y0 + 1/r^2) exp(-r) + 1/r - 1/r^2
    fade = np.exp(-rate)
    by_rate = -(2.0 + rate**-2) * fade - 2 * rate**-3 * fade - rate**-2 + 2 * rate**-3
    found = ag.grad(end, (0, 1))(y0, rate)
    np.testing.assert_allclose(found[0], [fade], rtol=1e-8)
    np.testing.assert_allclose(found[1], by_rate, rtol=1e-8)
    second = ag.grad(lambda r: ag.grad(end)(y0, r)[0])(rate)
    np.testing.assert_allclose(second, -fade, rtol=1e-7)


def test_a_solution_without_arguments_may_be_a_list_of_handles() -> None:
    def swing(y: Any, t: Any) -> Any:
        return [y[1], -y[0]]

    def end(y0: Any) -> Any:
        return integrate.odeint(swing, y0, np.array([0.0, 1.0]), rtol=1e-11, atol=1e-11)[1]

    turned = [[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]]
    np.testing.assert_allclose(ag.jacobian(end)(np.array([1.0, 0.5])), turned, rtol=1e-8)


REFUSED: list[Any] = [
    lambda x: integrate.odeint(decay, x, [0.0, 1.0], (1.0,), full_output=True),
    lambda x: multivariate_normal.logpdf(MEAN, MEAN, x[0] * COV, True),
    lambda x: multivariate_normal.cdf(np.repeat(x[:1], 2), np.zeros(2), COV),
    lambda x: stats.poisson.pmf(x, 2.0),
]


@pytest.mark.parametrize("function", REFUSED)
def test_what_has_no_derivative_says_so(function: Any) -> None:
    with pytest.raises(TapeError):
        ag.grad(lambda x: np.sum(function(x)))(np.array([1.0]))


def test_shares_that_do_not_add_up_are_refused_as_by_scipy() -> None:
    with pytest.raises(ValueError, match="simplex"):
        ag.grad(dirichlet.logpdf)(SHARES * 2, ALPHA)


def test_the_error_about_a_singular_covariance_names_the_argument() -> None:
    with pytest.raises(UnsupportedArgumentError, match="with respect to cov"):
        ag.grad(lambda c: multivariate_normal.logpdf(MEAN, MEAN, c, True))(COV)


def test_outside_the_support_of_a_singular_normal_the_density_is_zero() -> None:
    singular = np.diag([1.0, 0.0])
    value = ag.value_and_grad(lambda x: multivariate_normal.logpdf(x, MEAN, singular, True))
    inside, slope = value(np.array([0.6, -0.2]))
    expected = scipy.stats.multivariate_normal.logpdf([0.6, -0.2], MEAN, singular, True)
    np.testing.assert_allclose(inside, expected, rtol=1e-14)
    np.testing.assert_allclose(slope, [-0.5, 0.0], rtol=1e-12)
    outside, slope = value(np.array([0.6, 1.0]))
    assert np.isneginf(outside)
    assert slope.tolist() == [0.0, 0.0]

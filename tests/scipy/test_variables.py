"""Random variables of `tape_ad.scipy.stats`, as SciPy has had them since its release 1.15."""

import functools
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.stats

import tape_ad as ta
from tape_ad.errors import NoRuleError
from tape_ad.scipy import stats
from tests.rules.checks import central_difference
from tests.sampling import some

pytestmark = pytest.mark.skipif(
    not hasattr(scipy.stats, "Mixture"), reason="SciPy 1.15 has random variables"
)

Array = Any

X, P = np.array([-0.2, 0.5, 1.2]), np.array([0.1, 0.7])

METHODS: list[Any] = [
    ("pdf", (X,), {}),
    ("cdf", (X,), {}),
    ("ccdf", (X,), {}),
    ("icdf", (P,), {}),
    ("iccdf", (P,), {}),
    ("median", (), {}),
    ("mean", (), {}),
    ("variance", (), {}),
    ("standard_deviation", (), {}),
]

OF_ONE: list[Any] = [
    ("logpdf", (X[1:],), {}),
    ("cdf", (X, X + 1), {}),
    ("ccdf", (X, X + 1), {}),
    ("logcdf", (X[1:],), {}),
    ("moment", (3,), {}),
    ("moment", (3, "central"), {}),
    ("entropy", (), {}),
]

OF_SHAPES: list[Any] = [
    ("skewness", (), {}),
    ("kurtosis", (), {}),
    ("kurtosis", (), {"convention": "excess"}),
    ("moment", (4, "standardized"), {}),
]


def normal(library: Any, v: Any) -> Any:
    """A normal variable."""
    return library.Normal(mu=v, sigma=v + 1)


def uniform(library: Any, v: Any) -> Any:
    """A uniform variable."""
    return library.Uniform(a=-v, b=v + 2)


@functools.cache
def made(library: Any) -> Any:
    """What makes gamma variables; it takes long to make."""
    return library.make_distribution(scipy.stats.gamma)


def gamma(library: Any, v: Any) -> Any:
    """A gamma variable, that is scaled and moved."""
    return (made(library)(a=v + 1.5) * v + v) / 2 - 2 * v


def mixed(library: Any, v: Any) -> Any:
    """A mixture, of which a component and the weights move."""
    parts = [scipy.stats.Normal(mu=0.1, sigma=2.0), library.Normal(mu=v, sigma=0.5)]
    return library.Mixture(parts, weights=[v, 1 - v])


CASES = [
    *((make, *call) for make in (normal, uniform, gamma, mixed) for call in METHODS),
    *((make, *call) for make in (normal, gamma) for call in OF_ONE),
    *((gamma, *call) for call in OF_SHAPES),
    *((mixed, *call) for call in (OF_ONE[0], OF_ONE[3], OF_SHAPES[0], OF_SHAPES[1])),
]


@pytest.mark.parametrize(("make", "method", "args", "options"), some(CASES, 3))
def test_methods_have_the_gradients_of_their_values(
    make: Any, method: str, args: Any, options: Any
) -> None:
    def value(v: Any) -> Any:
        out = getattr(make(stats, v), method)(*args, **options)
        return np.sum(out * np.cos(np.arange(np.size(out))))

    expected = np.asarray(getattr(make(scipy.stats, 0.4), method)(*args, **options))
    found, slope = ta.value_and_grad(value)(0.4)
    total = np.sum(expected * np.cos(np.arange(expected.size)))
    assert found == pytest.approx(total, rel=1e-12, abs=1e-12)
    (first,) = central_difference(lambda v: [value(v[0])], [0.4], [1.0])
    assert slope == pytest.approx(first, rel=1e-8, abs=1e-8)
    gradient = ta.grad(value)
    (second,) = central_difference(lambda v: [gradient(v[0])], [0.4], [1.0])
    assert ta.grad(gradient)(0.4) == pytest.approx(second, rel=1e-7, abs=1e-8)


def test_a_variable_and_its_support() -> None:
    record = ta.ComputationRecord()
    a, x = record.tensor(0.5), record.tensor(0.3)
    low, high = stats.Uniform(a=a, b=2.0).support()
    assert (low.grad().wrt(a), float(high)) == (1, 2)
    assert stats.Logistic().cdf(x).grad().wrt(x) == pytest.approx(stats.Logistic().pdf(0.3))
    assert (a + stats.Normal()).mean().grad().wrt(a) == 1
    assert (a * stats.Normal()).standard_deviation().grad().wrt(a) == 1
    assert stats.Normal(mu=1.0).sample(3).shape == (3,)


def test_a_variable_of_plain_numbers_is_pickled() -> None:
    again = pickle.loads(pickle.dumps(stats.Uniform(a=0.5, b=2.5)))
    assert ta.grad(again.cdf)(0.7) == pytest.approx(0.5)


@pytest.mark.skipif(not hasattr(scipy.stats, "Binomial"), reason="SciPy 1.16 has it")
def test_a_binomial_variable() -> None:
    p = ta.ComputationRecord().tensor(0.4)
    assert [type(end) for end in stats.Binomial(n=5, p=p).support()] == [np.float64] * 2
    found = stats.Binomial(n=5, p=p).logpmf(2)
    assert found.data == pytest.approx(scipy.stats.Binomial(n=5, p=0.4).logpmf(2))
    assert found.grad().wrt(p) == pytest.approx(2 / 0.4 - 3 / 0.6)


def test_draws_and_mirrored_variables_move_with_their_parameters() -> None:
    mu = ta.ComputationRecord().tensor(0.4)
    assert np.sum(stats.Normal(mu=mu).sample(3)).grad().wrt(mu) == 3
    assert (stats.Normal(mu=mu) * -2.0).mean().grad().wrt(mu) == -2
    with pytest.raises(NoRuleError, match=r"rng\.standard_gamma branch on its parameters"):
        stats.make_distribution(stats.gamma)(a=mu).sample(3)


def test_a_search_that_comes_upon_the_solution_keeps_the_derivative() -> None:
    def median(weights: Any) -> Any:  # 0, where the search begins
        return stats.Mixture([stats.Normal(mu=mu) for mu in (-1.0, 1.0)], weights=weights).median()

    def mode(shift: Any) -> Any:
        normals = [stats.Normal(mu=shift, sigma=1.0), stats.Normal(mu=2 * shift, sigma=2.0)]
        return stats.Mixture(normals, weights=[0.5, 0.5]).mode()

    below = scipy.stats.norm.cdf([1.0, -1.0])
    found = ta.grad(median)(np.array([0.5, 0.5]))
    np.testing.assert_allclose(found, -below / scipy.stats.norm.pdf(1.0), rtol=1e-12)
    assert ta.grad(mode)(0.0) == pytest.approx(10 / 9, rel=1e-9)  # (1 + 2/8) / (1 + 1/8)

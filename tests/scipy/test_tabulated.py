"""Distributions of `tape_ad.scipy.stats` by tables: of probabilities, and of histograms."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import stats
from tests.rules.checks import central_difference

Array = Any

NUMBERS, CHANCES = np.array([3.0, 1.0, 2.0, 7.0]), np.array([0.1, 0.2, 0.3, 0.4])
CONTENTS, EDGES = np.array([2.0, 5.0, 3.0]), np.array([0.0, 1.0, 2.5, 4.0])
SHARES = np.array([0.1, 0.6, 0.7, 0.8])
X = np.array([-1.0, 0.5, 1.7, 3.0, 5.0])
Q = np.array([0.1, 0.5, 0.9])
K = np.array([0.0, 1.0, 3.0, 4.0, 7.0])


def agree(function: Any, theirs: Any, value: Array, direction: Array) -> None:
    """Compare with SciPy's value, and along a direction with differences, to second order."""

    def total(x: Array) -> Array:
        out = function(x)
        parts = out if isinstance(out, tuple) else (out,)
        return sum(np.sum(part * np.cos(np.arange(np.size(part)))) for part in parts)

    for found, expected in zip(np.atleast_1d(function(value)), np.atleast_1d(theirs), strict=True):
        assert found == pytest.approx(expected, rel=1e-13, abs=1e-13)
    (first,) = central_difference(lambda x: [total(x[0])], [value], [direction])
    assert np.sum(ta.grad(total)(value) * direction) == pytest.approx(first, rel=1e-8, abs=1e-9)
    (second,) = central_difference(
        lambda x: [np.sum(ta.grad(total)(x[0]) * direction)], [value], [direction]
    )
    found = np.sum(ta.hvp(total, value, direction) * direction)
    assert found == pytest.approx(second, rel=1e-7, abs=1e-8)


TABLE: list[Any] = [
    ("pmf", (K,), {}),
    ("logpmf", (K[[1, 2]],), {}),
    ("cdf", (K,), {}),
    ("logsf", (K[:3],), {}),
    ("stats", (), {"moments": "mvsk"}),
    ("std", (), {}),
    ("moment", (3,), {}),
    ("entropy", (), {}),
]


@pytest.mark.parametrize(("method", "args", "options"), TABLE)
def test_probabilities_of_numbers(method: str, args: Any, options: Any) -> None:
    agree(
        lambda p: getattr(stats.rv_discrete(values=(NUMBERS, p)), method)(*args, **options),
        getattr(scipy.stats.rv_discrete(values=(NUMBERS, CHANCES)), method)(*args, **options),
        CHANCES,
        np.array([0.01, -0.02, 0.03, -0.02]),
    )


@pytest.mark.parametrize(
    ("method", "args"), [("mean", ()), ("var", ()), ("ppf", (Q,)), ("support", ())]
)
def test_numbers_that_have_probabilities(method: str, args: Any) -> None:
    agree(
        lambda x: getattr(stats.rv_discrete(values=(x, CHANCES)), method)(*args),
        getattr(scipy.stats.rv_discrete(values=(NUMBERS, CHANCES)), method)(*args),
        NUMBERS,
        np.array([0.4, -0.2, 0.3, 0.1]),
    )


@pytest.mark.skipif(not hasattr(scipy.stats, "poisson_binom"), reason="SciPy 1.15 has it")
@pytest.mark.parametrize(("method", "args", "options"), TABLE)
def test_events_with_probabilities_of_their_own(method: str, args: Any, options: Any) -> None:
    agree(
        lambda p: getattr(stats.poisson_binom, method)(*args, p, **options),
        getattr(scipy.stats.poisson_binom, method)(*args, SHARES, **options),
        SHARES,
        np.array([0.3, -0.2, 0.4, 0.1]),
    )


HISTOGRAM: list[Any] = [
    ("pdf", (X, 0.1, 1.2), {}),
    ("cdf", (X, 0.1, 1.2), {}),
    ("logsf", (X[1:-1],), {}),
    ("ppf", (Q, 0.1, 1.2), {}),
    ("isf", (Q, 0.1, 1.2), {}),
    ("stats", (0.1, 1.2), {"moments": "mvsk"}),
    ("moment", (3, 0.1, 1.2), {}),
    ("entropy", (0.1, 1.2), {}),
    ("interval", (0.8,), {}),
]


@pytest.mark.parametrize("density", [True, False])
@pytest.mark.parametrize(("method", "args", "options"), HISTOGRAM)
def test_a_histogram(density: bool, method: str, args: Any, options: Any) -> None:
    theirs = scipy.stats.rv_histogram((CONTENTS, EDGES), density=density)
    both = np.concatenate([CONTENTS, EDGES])

    def ours(both: Array) -> Any:
        table = stats.rv_histogram((both[:3], both[3:]), density=density)
        return getattr(table, method)(*args, **options)

    direction = np.array([0.3, -0.2, 0.4, 0.1, 0.2, -0.3, 0.1])
    agree(ours, getattr(theirs, method)(*args, **options), both, direction)


def test_a_variable_of_a_histogram() -> None:
    table = stats.rv_histogram((CONTENTS, EDGES), density=True)
    x = ta.ComputationRecord().tensor([0.5, 2.5, 5.0])
    np.testing.assert_allclose(table.cdf(x).grad(np.ones(3)).wrt(x), table.pdf([0.5, 2.5, 5.0]))
    np.testing.assert_array_equal(
        table.pdf([4.0, 0.0]),
        scipy.stats.rv_histogram((CONTENTS, EDGES), density=True).pdf([4.0, 0.0]),
    )
    assert table.rvs(random_state=1, size=3).shape == (3,)
    scale = ta.ComputationRecord().tensor(2.0)
    assert table(0.0, scale).mean().grad().wrt(scale) == table.mean()


def test_what_is_refused_says_what_to_write() -> None:
    chances = ta.ComputationRecord().tensor(CHANCES)
    table = stats.rv_discrete(values=(NUMBERS, chances))
    with pytest.raises(UnsupportedArgumentError, match=r"rv_discrete.rvs does not take handles; b"):
        table.rvs(size=3)
    with pytest.raises(UnsupportedArgumentError, match=r"rv_discrete.pmf .* to k or loc; pass"):
        table.pmf(chances)
    with pytest.raises(ValueError, match="sum of provided pk is not 1"):
        stats.rv_discrete(values=(NUMBERS, 2 * chances))

"""Numbers that only place others: searching, sorting and interpolating."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tests.batching.cases import Array, X

SAMPLES, WEIGHTS = np.random.default_rng(0).uniform(0.1, 1.0, (2, 3, 6))
EDGES = np.array([[0.0, 0.4, 1.0], [0.1, 0.5, 0.9], [0.2, 0.3, 1.2]])


def weighed_quantile(x: Any, w: Any) -> Any:
    return np.quantile(x, 0.3, weights=w, method="inverted_cdf") ** 2


def weighed_histogram(w: Any, edges: Any) -> Any:
    return np.sum(np.histogram(SAMPLES[0], bins=edges, weights=w)[0] ** 2)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize(
    ("function", "beside"), [(weighed_quantile, WEIGHTS), (weighed_histogram, EDGES)]
)
def test_what_places_others_may_be_batched_in_a_gradient(function: Any, beside: Any) -> None:
    slope = ta.grad(function)
    expected = np.stack([slope(x, b) for x, b in zip(SAMPLES, beside, strict=True)])
    np.testing.assert_allclose(ta.batched(slope)(SAMPLES, beside), expected, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_a_handle_places_nothing_in_a_batch_either() -> None:
    def of_all(w: Any) -> Any:
        return np.sum(ta.batched(weighed_quantile)(SAMPLES, w))

    with pytest.raises(UnsupportedArgumentError, match="piecewise constant in it"):
        ta.grad(of_all)(WEIGHTS)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_of_no_numbers_how_many_kinds_there_are_cannot_be_told() -> None:
    with pytest.raises(ValueError, match="an empty batch has none to tell the shapes by"):
        ta.batched(np.bincount)(np.zeros((0, 3), int))


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_places_are_those_in_each() -> None:
    def picked(x: Array) -> Any:
        return np.sum(x[np.where(x > x[0])[0]] ** 2)

    x = np.array([[0.3, 0.5, 0.7, 0.2], [0.3, 0.1, 0.6, 0.8]])
    np.testing.assert_allclose(ta.batched(picked)(x), [*map(picked, x)])
    np.testing.assert_allclose(ta.batched(ta.grad(picked))(x), np.where(x > 0.3, 2 * x, 0))


def test_places_of_each_in_a_list() -> None:
    def picked(x: Array, k: Array) -> Array:
        return np.sum(np.take(x, [2, k, 0]) * np.cos([1.0, 2.0, 3.0]))

    places = np.array([0, 1, 2, 1, 0])
    for_all = ta.batched(picked)
    np.testing.assert_array_equal(
        for_all(X, places), [picked(*p) for p in zip(X, places, strict=True)]
    )
    slopes = [ta.grad(picked)(*pair) for pair in zip(X, places, strict=True)]
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(for_all(x, places)))(X), slopes)
    assert not for_all.looped


def middle(q: Array) -> Array:
    """Give a quantile that is one of the numbers, where the slope is that of what follows."""
    return np.quantile(np.array([1.0, 2.0, 5.0]), q)


def last(s: Array) -> Array:
    """Interpolate at the last knot, where the slope is that of what comes before."""
    return np.interp(1.0, np.array([0.0, 0.5, 1.0]) * s, np.array([1.0, 2.0, 5.0]) * s)


def knot(s: Array) -> Array:
    """Interpolate at a knot between others, where the slope is that of what follows."""
    return np.interp(0.5, np.array([0.0, 0.5, 1.0]) * s, np.array([1.0, 2.0, 5.0]) * s)


def test_lists_are_looked_up_in_what_is_batched() -> None:
    knots = np.array([[0.0, 0.5, 1.0], [-1.0, 0.0, 0.2]])
    found = ta.batched(lambda xp: np.searchsorted(xp, [0.1, 0.5], "right"))(knots)
    np.testing.assert_array_equal(found, [[1, 2], [2, 3]])
    unknown: Any = "middle"
    with pytest.raises(ValueError, match="search side must be"):
        ta.batched(lambda xp: np.searchsorted(xp, [0.1, 0.5], unknown))(knots)


@pytest.mark.parametrize(
    ("function", "at"), [(middle, 0.5), (middle, 1.0), (knot, 1.0), (last, 1.0)]
)
def test_slopes_at_kinks_are_those_of_one(function: Any, at: float) -> None:
    several = np.full(2, at)
    np.testing.assert_array_equal(ta.batched(function)(several), function(at))
    slopes = ta.grad(lambda s: np.sum(ta.batched(function)(s)))(several)
    np.testing.assert_allclose(slopes, ta.grad(function)(at), rtol=1e-12)


def test_knots_that_coincide_at_the_end_give_the_last_value() -> None:
    def at_ends(s: Array) -> Array:
        return np.interp([0.5, 1.0, 2.0], np.array([0.0, 1.0, 1.0]) * s, np.arange(3.0) * s)

    several = np.array([1.0, 2.0])
    np.testing.assert_array_equal(ta.batched(at_ends)(several), [at_ends(s) for s in several])
    slopes = ta.grad(lambda fp: np.sum(np.interp([0.5, 1.0, 2.0], [0.0, 1.0, 1.0], fp)))(np.ones(3))
    np.testing.assert_array_equal(slopes, [0.5, 0.5, 2.0])


def test_knots_beside_infinite_values_keep_theirs() -> None:
    def at_knots(s: Array) -> Array:
        return np.interp(np.arange(3.0), np.arange(3.0), np.array([3.0, 1.0, np.inf]) * s)

    several = np.array([1.0, 2.0])
    np.testing.assert_array_equal(ta.batched(at_knots)(several), [at_knots(s) for s in several])


def test_values_at_infinite_knots_are_those_of_one() -> None:
    def at_knots(s: Array) -> Array:
        ends = np.array([-np.inf, 0.0, np.inf])
        return np.interp(ends, ends, np.array([3.0, 1.0, 2.0]) * s)

    several = np.array([1.0, 2.0])
    np.testing.assert_array_equal(ta.batched(at_knots)(several), [at_knots(s) for s in several])

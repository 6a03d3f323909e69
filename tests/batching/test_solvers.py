"""Roots of a batch: found for all at once, with derivatives of all orders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.scipy import optimize

Array = Any

CUBES = np.array([2.0, 8.0, 27.0, 5.0])


def pair(z: Array, a: Array) -> Array:
    """Give two equations, which the cube root of a and what it is times a solve."""
    return np.stack([z[0] ** 3 - a + 0 * z[1], z[1] - z[0] * a])


def cubic(z: Array, a: Array) -> Array:
    return z**3 - a


SOLVERS: dict[str, Callable[[Array], Array]] = {
    "root": lambda a: optimize.root(lambda z: pair(z, a), np.ones(2)).x,
    "root, args": lambda a: optimize.root(pair, np.ones(2), args=(a,)).x,
    "fsolve": lambda a: optimize.fsolve(cubic, np.ones(1), args=(a,)),
    "newton": lambda a: optimize.newton(cubic, 1.0, args=(a,)),
    "brentq": lambda a: optimize.brentq(cubic, 0.0, 10.0, args=(a,)),
    "bisect": lambda a: optimize.bisect(lambda z: cubic(z, a), 0.0, a + 1),
}


def same(found: Array, each: list[Array]) -> None:
    """Compare a result of all with those of one after the other."""
    np.testing.assert_allclose(found, np.stack(each), rtol=1e-6)


@pytest.mark.parametrize("name", SOLVERS)
def test_they_are_found_at_once_with_derivatives_of_all_orders(name: str) -> None:
    def total(a: Array) -> Array:
        return np.sum(SOLVERS[name](a))

    def second(a: Array) -> Array:
        return ta.grad(ta.grad(total))(a)

    for_all = ta.batched(SOLVERS[name])
    same(for_all(CUBES), [SOLVERS[name](a) for a in CUBES])
    assert not for_all.looped
    slopes = [ta.grad(total)(a) for a in CUBES]
    same(ta.batched(ta.grad(total))(CUBES), slopes)
    same(ta.grad(lambda a: np.sum(for_all(a)))(CUBES), slopes)
    seconds = [second(a) for a in CUBES]
    same(ta.batched(second)(CUBES), seconds)
    same(ta.grad(lambda a: np.sum(ta.batched(ta.grad(total))(a)))(CUBES), seconds)
    same(ta.grad(lambda a: np.sum(ta.grad(lambda a: np.sum(for_all(a)))(a)))(CUBES), seconds)
    thirds = [ta.grad(second)(a) for a in CUBES]
    same(ta.grad(lambda a: np.sum(ta.batched(second)(a)))(CUBES), thirds)


@pytest.mark.parametrize("name", SOLVERS)
def test_in_nested_batches(name: str) -> None:
    for_all = ta.batched(SOLVERS[name])
    nested = np.stack([CUBES, CUBES + 1])
    outer = ta.batched(for_all)
    same(outer(nested), [for_all(part) for part in nested])
    assert not outer.looped


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_by_another_method_each_is_searched_for_alone() -> None:
    def root(a: Array) -> Array:
        return optimize.root(lambda z: z**2 * np.exp(-z) - a, np.array([3.0]), method="lm").x[0]

    levels = np.array([0.1, 0.2, 0.3])
    same(ta.batched(root)(levels), [root(a) for a in levels])
    same(ta.batched(ta.grad(root))(levels), [ta.grad(root)(a) for a in levels])


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_a_bracket_without_a_sign_that_changes_is_refused_as_for_one() -> None:
    with pytest.raises(ValueError, match="different signs"):
        ta.batched(SOLVERS["brentq"])(np.array([1.0, -5.0]))


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_minima_are_searched_for_one_after_the_other_with_derivatives() -> None:
    def least(a: Array) -> Array:
        return optimize.minimize(lambda z: np.sum((z - a) ** 2 + z**4), np.zeros(1)).x[0]

    for_all = ta.batched(least)
    same(for_all(CUBES), [least(a) for a in CUBES])
    same(ta.grad(lambda a: np.sum(for_all(a)))(CUBES), [ta.grad(least)(a) for a in CUBES])

"""Objectives with kinks, whose minima the conditions of first order do not tell of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import tape_ad as ta
from tape_ad.errors import ConversionError, SingularJacobianError, TapeError
from tape_ad.scipy import optimize
from tests.shorthand import told

ZERO = np.zeros(1)


def kink(z: Any, c: Any) -> Any:
    return np.sum(np.abs(z - c))


def kink_in_a_bowl(z: Any, c: Any) -> Any:
    return np.sum(0.1 * z * z + 5 * np.abs(z - c))


def steep_bowl(z: Any, c: Any) -> Any:
    return np.sum(1000 * (z - 1.3) ** 2 + 500 * np.abs(z - c - 0.1))


SEARCHES: dict[str, Callable[[Any], Any]] = {
    "Nelder-Mead": lambda f: optimize.minimize(f, ZERO, "Nelder-Mead"),
    "Powell": lambda f: optimize.minimize(f, ZERO, "Powell"),
    "COBYLA": lambda f: optimize.minimize(f, ZERO, "COBYLA"),
    "minimize_scalar": optimize.minimize_scalar,
    "bounded": lambda f: optimize.minimize_scalar(f, bounds=(0, 3)),
    "golden": optimize.golden,
    "brent": optimize.brent,
    "fminbound": lambda f: optimize.fminbound(f, 0, 3),
    "fmin": lambda f: optimize.fmin(f, ZERO, disp=0),
    "basinhopping": lambda f: optimize.basinhopping(
        f, ZERO, niter=2, minimizer_kwargs={"method": "Nelder-Mead"}
    ),
    "differential_evolution": lambda f: optimize.differential_evolution(
        f, [(0, 3)], maxiter=30, polish=False, seed=1
    ),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("objective", [kink, kink_in_a_bowl, steep_bowl])
def test_a_minimum_at_a_kink_is_an_error(search: str, objective: Any) -> None:
    c = ta.ComputationRecord().tensor(1.3)
    with pytest.raises(SingularJacobianError, match=r"kink.*ta\.custom_rule"):
        SEARCHES[search](lambda z: objective(z, c))


def test_a_kink_among_further_arguments_is_an_error() -> None:
    c = ta.ComputationRecord().tensor(1.3)
    for objective in (kink, kink_in_a_bowl):
        with pytest.raises(SingularJacobianError, match="kink"):
            optimize.minimize_scalar(objective, args=(c,))
        with pytest.raises(SingularJacobianError, match="kink"):
            optimize.minimize(objective, ZERO, "Nelder-Mead", args=(c,))


def test_a_start_that_is_a_handle_does_not_mind_a_kink() -> None:
    x0 = ta.ComputationRecord().tensor(np.zeros(1))
    x = optimize.minimize(kink_in_a_bowl, x0, "Nelder-Mead", args=(1.3,)).x
    np.testing.assert_array_equal(np.sum(x).grad().wrt(x0), 0.0)


def test_a_minimum_beside_a_kink_is_smooth() -> None:
    def found(c: Any) -> Any:
        return optimize.minimize_scalar(lambda z: (z - c) ** 2 + np.abs(z), tol=1e-10).x

    np.testing.assert_allclose(ta.grad(found)(1.3), 1.0, rtol=1e-8)


def test_a_search_that_has_stopped_early_is_an_error() -> None:
    c = ta.ComputationRecord().tensor(1.3)
    with pytest.raises(SingularJacobianError, match="stopped early"):
        optimize.golden(lambda z: np.cosh(z - c), maxiter=1)
    with pytest.raises(SingularJacobianError, match="stopped early"):
        optimize.fmin(lambda z: np.sum(np.cosh(z - c)), np.array([9.0]), maxiter=1, disp=0)


def test_a_minimum_that_does_not_move_is_a_constant() -> None:
    c = ta.ComputationRecord().tensor(1.3)
    f = lambda z: np.sum((z - 2) ** 2) + c  # noqa: E731 - it is short
    found = [
        optimize.minimize(f, ZERO).x,
        optimize.minimize_scalar(f).x,
        optimize.golden(f),
        optimize.fminbound(f, 0, 3),
        optimize.fmin(f, ZERO, disp=0),
    ]
    for x in found:
        assert isinstance(x, ta.Tensor)
        np.testing.assert_array_equal(np.sum(x).grad().wrt(c), 0.0)


@pytest.mark.parametrize("name", ["minimize", "fmin", "fmin_bfgs", "fmin_cg", "basinhopping"])
def test_what_to_write_for_a_search_of_scipys(name: str) -> None:
    c = ta.ComputationRecord().tensor(1.3)
    with pytest.raises((TapeError, ValueError)) as caught:
        getattr(scipy.optimize, name)(lambda z: np.sum((z - c) ** 2), ZERO)
    assert told(caught.value).startswith(f"{name} of scipy.optimize turns")


def test_what_to_write_for_a_global_search_of_scipys() -> None:
    c = ta.ComputationRecord().tensor(1.3)
    for name in ("dual_annealing", "differential_evolution"):
        with pytest.raises((TapeError, RuntimeError, ValueError)) as caught:
            getattr(scipy.optimize, name)(lambda z: np.sum((z - c) ** 2), [(0, 3)])
        assert told(caught.value).startswith(f"{name} of scipy.optimize turns")


def test_golden_sections_of_scipys_are_refused() -> None:
    c = ta.ComputationRecord().tensor(1.3)
    with pytest.raises(ConversionError, match=r"^golden of scipy\.optimize .*write tape_ad\.sc"):
        scipy.optimize.golden(lambda z: (z - c) ** 2)

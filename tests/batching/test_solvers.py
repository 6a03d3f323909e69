"""Roots, minima and initial value problems of a batch: solved at once, with derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.scipy import optimize
from tape_ad.scipy.integrate import solve_ivp

Array = Any

CUBES = np.array([2.0, 8.0, 27.0, 5.0])


def pair(z: Array, a: Array) -> Array:
    """Give two equations, which the cube root of a and what it is times a solve."""
    return np.stack([z[0] ** 3 - a + 0 * z[1], z[1] - z[0] * a])


def cubic(z: Array, a: Array) -> Array:
    return z**3 - a


def well(z: Array, a: Array) -> Array:
    """Give a function with its minimum where z[0] is twice z[1] and the cube root of a."""
    return (z[0] ** 3 - a) ** 2 / 100 + (z[0] - 2 * z[1]) ** 2


def misfits(z: Array, a: Array) -> Array:
    """Give residuals that cannot all vanish."""
    return np.stack([z[0] ** 3 - a, z[1] - z[0], z[1] - 1])


START = np.array([1.5, 1.0])
CLOSELY: dict[str, Any] = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}

SOLVERS: dict[str, Callable[[Array], Array]] = {
    "root": lambda a: optimize.root(lambda z: pair(z, a), np.ones(2)).x,
    "root, args": lambda a: optimize.root(pair, np.ones(2), args=(a,)).x,
    "fsolve": lambda a: optimize.fsolve(cubic, np.ones(1), args=(a,)),
    "newton": lambda a: optimize.newton(cubic, 1.0, args=(a,)),
    "brentq": lambda a: optimize.brentq(cubic, 0.0, 10.0, args=(a,)),
    "minimize": lambda a: optimize.minimize(well, START, args=(a,), tol=1e-9).x,
    "minimize, BFGS": lambda a: optimize.minimize(lambda z: well(z, a), START, "BFGS", tol=1e-9).x,
    "minimize, tree": lambda a: optimize.minimize(
        lambda z: well(z["z"], a), {"z": START}, options={"gtol": 1e-9}
    ).x["z"],
    "least_squares": lambda a: optimize.least_squares(misfits, START, args=(a,), **CLOSELY).x,
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


@pytest.mark.parametrize(
    "least",
    [
        lambda a: optimize.least_squares(misfits, START, args=(a,)).x,
        lambda a: optimize.minimize(well, START, args=(a,)).x,
    ],
)
def test_they_have_derivatives_where_a_search_stops_as_it_does_by_default(least: Any) -> None:
    slopes = ta.batched(ta.jacobian(least))

    expected = np.stack([ta.jacobian(least)(a) for a in CUBES])
    np.testing.assert_allclose(slopes(CUBES), expected, rtol=1e-5)  # as closely as it searches
    assert "at once" in slopes.explain()


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


SCALES = np.array([1.0, 1e-4, 1e4])
"""How large numbers are that one search is for."""

NEAR = SCALES * np.array([1, 9, 3])

SCALED: dict[str, Callable[[Array], Array]] = {
    "root": lambda a: optimize.root(lambda z: (z / SCALES) ** 3 - a, NEAR).x,
    "fsolve": lambda a: optimize.fsolve(lambda z: (z / SCALES) ** 3 - a, NEAR),
    "newton": lambda a: optimize.newton(lambda z: (z / SCALES) ** 3 - a, NEAR),
}


@pytest.mark.parametrize("name", SCALED)
def test_small_unknowns_beside_large_ones_are_found_as_closely(name: str) -> None:
    for_all, roots = ta.batched(SCALED[name]), np.cbrt(CUBES)[:, None] * SCALES
    np.testing.assert_allclose(for_all(CUBES), roots, rtol=1e-9)
    slopes = ta.grad(lambda a: np.sum(for_all(a) / SCALES))(CUBES)
    np.testing.assert_allclose(slopes, np.cbrt(CUBES) / CUBES, rtol=1e-9)
    assert not for_all.looped


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_residuals_with_small_slopes_beside_large_ones_are_fitted_too() -> None:
    def fit(a: Array) -> Array:
        def residual(z: Array) -> Array:
            u, v = z[0] * 1e-6, z[1] * 1e3
            return np.stack([u - a, v - a, u * v - a * a + 0.1])

        return optimize.least_squares(residual, np.array([1.0, 1e-3])).x

    np.testing.assert_allclose(ta.batched(fit)(CUBES), [fit(a) for a in CUBES], rtol=1e-6)


def test_a_root_of_zero_beside_others_is_found_at_once() -> None:
    def root(a: Array) -> Array:
        return optimize.root(
            lambda z: np.stack([np.sin(z[0]) * a + 0.1 - 0.1 * z[1], z[1] ** 2 - z[0] - 1]),
            np.array([0.3, 2.0]),
        ).x

    for_all = ta.batched(root)
    np.testing.assert_allclose(for_all(CUBES), np.tile([0.0, 1.0], (4, 1)), atol=1e-12)
    assert not for_all.looped


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_too_few_steps_are_an_error_as_for_one() -> None:
    with pytest.raises(RuntimeError, match="Failed to converge after 3"):
        ta.batched(lambda a: optimize.newton(cubic, 1.0, args=(a,), maxiter=3))(CUBES)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_signs_of_numbers_near_zero_and_of_nan_are_no_bracket() -> None:
    with pytest.raises(ValueError, match="different signs"):
        ta.batched(lambda a: optimize.brentq(lambda x: (x + 1) * a, 0, 1))(CUBES * 1e-200)

    with pytest.raises(ValueError, match="NaN"):
        ta.batched(lambda a: optimize.bisect(lambda x: np.where(x == 5, np.nan, x - a), 0, 10))(
            CUBES[:2]
        )


STARTS = np.array([[1.5, 1.0], [3.0, 0.0], [0.5, 2.0]])


def test_searches_from_several_starts_tell_of_each() -> None:
    def least(start: Array) -> Any:
        found = optimize.minimize(lambda z: well(z, 5.0), start)
        return found.x, found.fun, found.jac, found.nit, found.success

    for_all = ta.batched(least)
    x, fun, jac, counts, success = for_all(STARTS)
    assert not for_all.looped
    np.testing.assert_allclose(x, np.stack([least(start)[0] for start in STARTS]), rtol=1e-4)
    np.testing.assert_allclose(fun, 0, atol=1e-10)
    np.testing.assert_array_less(np.abs(jac), 1e-5)
    assert np.all(counts > 1)
    assert len(set(counts)) > 1
    np.testing.assert_array_equal(success, True)


def test_fits_from_several_starts_have_what_scipy_gives() -> None:
    def fit(start: Array) -> Any:
        found = optimize.least_squares(lambda z: misfits(z, 5.0), start)
        return [found[name] for name in ("x", "cost", "fun", "jac", "grad", "optimality")]

    for_all = ta.batched(fit)
    each = [fit(start) for start in STARTS]
    for found, expected in zip(for_all(STARTS), zip(*each, strict=True), strict=True):
        np.testing.assert_allclose(found, np.stack(expected), rtol=1e-5, atol=1e-5)
    assert not for_all.looped


def test_a_start_has_no_influence() -> None:
    for solver in (optimize.minimize, optimize.least_squares):
        slopes = ta.grad(
            lambda start, s=solver: np.sum(s(lambda z: misfits(z, 5.0)[0] ** 2, start).x)
        )
        np.testing.assert_array_equal(ta.batched(slopes)(STARTS), 0)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_by_options_of_scipys_own_each_is_searched_for_alone() -> None:
    def least(a: Array) -> Array:
        options: Any = {"bounds": [(0.0, 3.0), (0.0, 1.0)]}
        return optimize.minimize(lambda z: well(z, a), START, **options).x

    same(ta.batched(least)(CUBES), [least(a) for a in CUBES])
    slopes = ta.grad(lambda a: np.sum(least(a)))
    same(ta.batched(slopes)(CUBES), [slopes(a) for a in CUBES])


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_those_that_are_not_found_are_left_to_scipy_alone() -> None:
    def least(a: Array) -> Any:
        def bent(z: Array) -> Array:
            edge = np.where(z > a, 2 * (z - a), a - z)
            return np.sum(np.where(a > 0, (z - a) ** 2, edge))

        found = optimize.minimize(bent, np.ones(1))
        return found.x[0], found.success

    x, success = ta.batched(least)(np.array([2.0, -1.3, 3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(success, [True, False, True, True, True])
    np.testing.assert_allclose(x[success], [2, 3, 4, 5], rtol=1e-6)
    assert x[1] == least(-1.3)[0]


def test_a_minimum_that_is_flat_has_no_derivative() -> None:
    def least(a: Array) -> Array:
        return optimize.minimize(lambda z: (z[0] + z[1] - a) ** 2, np.zeros(2)).x[0]

    assert not np.any(np.isnan(ta.batched(least)(CUBES)))
    with pytest.raises(ta.errors.SingularJacobianError):
        ta.batched(ta.grad(least))(CUBES)
    with pytest.raises(ta.errors.SingularJacobianError):
        ta.grad(lambda a: np.sum(ta.batched(least)(a)))(CUBES)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_at_a_kink_a_minimum_has_no_derivative() -> None:
    def least(a: Array) -> Array:
        return optimize.minimize(lambda z: np.sum(np.abs(z - a)), np.zeros(1)).x[0]

    kinks = np.array([1.0, 2.0])
    for slope in (ta.batched(ta.grad(least)), ta.grad(lambda a: np.sum(ta.batched(least)(a)))):
        with pytest.raises(ta.errors.SingularJacobianError):
            slope(kinks)


# Initial value problems

TIMES = np.linspace(0, 2, 5)
STIFFNESS = np.array([1.0, 4.0, 30.0])


def swing(t: Array, y: Array, k: Array) -> Array:
    return np.stack([y[1], -k * y[0] - 0.1 * np.cos(t) * y[1]])


def at_times(method: str) -> Callable[[Array], Array]:
    return lambda k: solve_ivp(swing, (0, 2), np.ones(2), method, TIMES, args=(k,)).y


FIXED: Any = {"first_step": 0.25, "max_step": 0.25, "rtol": 1.0, "atol": 100.0}

PROBLEMS: dict[str, Callable[[Array], Array]] = {
    **{method: at_times(method) for method in ("RK45", "RK23", "DOP853")},
    "closure": lambda k: solve_ivp(lambda t, y: [y[1], -k * y[0]], (0, 2), [1, 0], t_eval=TIMES).y,
    "start": lambda k: solve_ivp(swing, (0, 2), k * np.ones(2), t_eval=TIMES, args=(2.0,)).y,
    "backward": lambda k: solve_ivp(swing, (2, 0), np.ones(2), t_eval=TIMES[::-1], args=(k,)).y,
    "fixed steps": lambda k: solve_ivp(swing, (0, 2), np.ones(2), args=(k,), **FIXED).y,
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_initial_values_are_solved_at_once_by_the_steps_of_each(name: str) -> None:
    def total(k: Array) -> Array:
        return np.sum(PROBLEMS[name](k))

    def second(k: Array) -> Array:
        return ta.grad(ta.grad(total))(k)

    for_all = ta.batched(PROBLEMS[name])
    np.testing.assert_allclose(for_all(STIFFNESS), [PROBLEMS[name](k) for k in STIFFNESS], 1e-9)
    assert not for_all.looped
    slopes = [ta.grad(total)(k) for k in STIFFNESS]
    same(ta.batched(ta.grad(total))(STIFFNESS), slopes)
    same(ta.grad(lambda k: np.sum(for_all(k)))(STIFFNESS), slopes)
    same(ta.batched(second)(STIFFNESS), [second(k) for k in STIFFNESS])


def test_a_solution_tells_what_scipy_does() -> None:
    def solved(k: Array) -> Any:
        found = solve_ivp(swing, (0, 2), np.ones(2), t_eval=TIMES, args=(k,))
        return found.t, found.nfev, found.status, found.success

    found = ta.batched(solved)(STIFFNESS)
    for ours, each in zip(found, zip(*map(solved, STIFFNESS), strict=True), strict=True):
        np.testing.assert_array_equal(ours, np.stack(each))


def test_those_with_as_many_steps_are_solved_together() -> None:
    def last(k: Array) -> Array:
        found = solve_ivp(swing, (0, 2), np.ones(2), args=(k,))
        return found.y[:, -1]

    several = np.repeat(STIFFNESS, 2)
    for_all = ta.batched(last)
    np.testing.assert_allclose(for_all(several), [last(k) for k in several], rtol=1e-12)
    assert not for_all.looped


def test_a_right_hand_side_that_decides_by_time() -> None:
    def pushed(k: Array) -> Array:
        def slope(t: Array, y: Array) -> Array:
            return -k * y if t < 1 else np.ones(1) - y

        return solve_ivp(slope, (0, 2), np.ones(1), t_eval=TIMES, **FIXED).y

    for_all = ta.batched(pushed)
    np.testing.assert_allclose(for_all(STIFFNESS), [pushed(k) for k in STIFFNESS], rtol=1e-12)
    assert not for_all.looped


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("method", ["RK45", "LSODA"])
def test_events_and_other_methods_are_for_one_after_the_other(method: str) -> None:
    def last(k: Array) -> Array:
        events: Any = (lambda t, y, k: y[0]) if method == "RK45" else None
        return solve_ivp(swing, (0, 2), np.ones(2), method, events=events, args=(k,)).y[:, -1]

    np.testing.assert_allclose(ta.batched(last)(STIFFNESS), [last(k) for k in STIFFNESS], 1e-9)

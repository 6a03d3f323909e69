"""Batches in and around the other transforms, and of arrays of other kinds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.scipy import interpolate

Array = Any

X = np.random.default_rng(0).normal(size=(5, 3))


def waves(x: Array) -> Array:
    return np.sin(x) * x[0]


def total(x: Array) -> Array:
    return np.sum(waves(x) ** 2)


def one_by_one(f: Callable[[Array], Array], xs: Array = X) -> Array:
    """Stack what a function gives for one after the other."""
    return np.stack([f(x) for x in xs])


DERIVED: dict[str, Callable[..., Any]] = {
    "itself": lambda f: f,
    "grad": ta.grad,
    "value_and_grad": lambda f: lambda x: ta.value_and_grad(f)(x)[1],
    "jacobian": ta.jacobian,
    "forward jacobian": lambda f: ta.jacobian(f, mode="forward"),
    "hessian": ta.hessian,
    "jvp": lambda f: lambda x: ta.jvp(f, (x,), (np.ones(3),))[1],
    "hvp": lambda f: lambda x: ta.hvp(f, x, np.ones(3)),
}
every_way = pytest.mark.parametrize("name", DERIVED)


@every_way
def test_a_batch_of_what_is_derived(name: str) -> None:
    f = DERIVED[name](total)
    np.testing.assert_allclose(ta.batched(f)(X), one_by_one(f), rtol=1e-12)


@every_way
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_batch_is_compiled_and_what_is_compiled_is_batched(name: str, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    f = DERIVED[name](total)
    outside = ta.compile(ta.batched(f), engine=engine)
    inside = ta.batched(ta.compile(f, engine=engine))
    for xs in (X, 2 * X, X[::-1].copy()):
        np.testing.assert_allclose(outside(xs), one_by_one(f, xs), rtol=1e-12)
        np.testing.assert_allclose(inside(xs), one_by_one(f, xs), rtol=1e-12)


@every_way
def test_a_sum_over_a_batch_is_derived(name: str) -> None:
    f = DERIVED[name](total)

    def of_all(xs: Array) -> Array:
        return np.sum(np.cos(ta.batched(f)(xs)))

    slopes = one_by_one(ta.grad(lambda x: np.sum(np.cos(f(x)))))
    np.testing.assert_allclose(ta.grad(of_all)(X), slopes, rtol=1e-10, atol=1e-13)


@every_way
def test_batches_nest_with_axes_anywhere(name: str) -> None:
    f = DERIVED[name](total)
    cube = np.random.default_rng(1).normal(size=(3, 4, 2))
    found = ta.batched(ta.batched(f, 1), in_axes=2)(cube)
    np.testing.assert_allclose(
        found, np.stack([one_by_one(f, cube[:, :, i].T) for i in range(2)]), rtol=1e-12
    )


def test_code_that_was_not_written_for_handles_is_batched() -> None:
    @ta.differentiable
    def neighbours(x: Array) -> Array:
        out = np.zeros(3)
        for i in range(3):
            out[i] = x[i] * x[i - 1]
        return out

    def energy(x: Array) -> Array:
        return np.sum(neighbours(x) ** 2)

    slopes = one_by_one(ta.grad(energy))
    np.testing.assert_array_equal(ta.batched(neighbours)(X), one_by_one(neighbours))
    np.testing.assert_allclose(ta.batched(ta.grad(energy))(X), slopes, rtol=1e-12)
    np.testing.assert_allclose(
        ta.grad(lambda xs: np.sum(ta.batched(energy)(xs)))(X), slopes, rtol=1e-12
    )
    np.testing.assert_allclose(ta.compile(ta.batched(ta.grad(energy)))(X), slopes, rtol=1e-12)
    np.testing.assert_allclose(ta.batched(ta.compile(ta.grad(energy)))(X), slopes, rtol=1e-12)


def test_a_key_that_code_writes_to_later_is_that_of_the_call() -> None:
    @ta.differentiable
    def energy(x: Array) -> Array:
        order, large = np.argsort(x), np.asarray(x > 0)
        first = np.sum(x[order] * np.arange(3.0)) + np.sum(x[large] ** 2)
        order[...], large[...] = 0, False
        return first + np.sum(x[order]) + np.sum(x[large])

    slopes = np.argsort(np.argsort(X)) + np.where(X > 0, 2 * X, 0) + [3, 0, 0]
    np.testing.assert_allclose(one_by_one(ta.grad(energy)), slopes, rtol=1e-12)
    np.testing.assert_allclose(ta.batched(ta.grad(energy))(X), slopes, rtol=1e-12)
    outside = ta.grad(lambda xs: np.sum(ta.batched(energy)(xs)))(X)
    np.testing.assert_allclose(outside, slopes, rtol=1e-12)


def test_arrays_of_dask_are_batched_and_stay_lazy() -> None:
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(X, chunks=(2, 3))
    slopes = one_by_one(ta.grad(total))

    values, inside = ta.batched(total)(lazy), ta.batched(ta.grad(total))(lazy)
    outside = ta.grad(lambda xs: np.sum(ta.batched(total)(xs)))(lazy)

    assert not any(isinstance(found, np.ndarray) for found in (values, inside, outside))
    np.testing.assert_allclose(np.asarray(values), one_by_one(total), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(inside), slopes, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(outside), slopes, rtol=1e-12)


# Code of others, which fills arrays of its own


KNOTS = np.linspace(0.0, 1.0, 6)


def filled(x: Array) -> tuple[Array, Array]:
    y, z = np.zeros(3), np.ones(3)
    y[0] = x[1]
    y[1:] += x[:2]
    z[:] = y
    total = np.sum(z * x)
    y[0] = 5.0
    return total * y, z


def test_arrays_that_the_code_of_others_makes_are_filled_at_once() -> None:
    every = ta.batched(ta.differentiable(filled))
    x = np.random.default_rng(0).normal(size=(4, 3))
    for found, each in zip(every(x), zip(*map(filled, x), strict=True), strict=True):
        np.testing.assert_array_equal(found, np.stack(each))
    nested = ta.batched(every)(np.stack([x, x + 1]))
    np.testing.assert_array_equal(nested[0][1], every(x + 1)[0])
    assert not every.looped
    assert not every.parted
    slopes = ta.grad(lambda x: np.sum(ta.differentiable(filled)(x)[0]))
    expected = [slopes(each) for each in x]
    np.testing.assert_array_equal(ta.batched(slopes)(x), expected)
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(every(x)[0]))(x), expected)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_an_array_from_outside_of_the_batch_is_filled_one_by_one() -> None:
    kept = np.zeros(2)

    @ta.differentiable
    def noted(x: Array) -> Array:
        kept[0] = x[0]
        return kept * x[:2]

    x = np.random.default_rng(1).normal(size=(4, 3))
    np.testing.assert_array_equal(ta.batched(noted)(x), [noted(each) for each in x])
    np.testing.assert_array_equal(kept, [x[3, 0], 0])


INTERPOLATORS = (
    "CubicSpline",
    "PchipInterpolator",
    "KroghInterpolator",
    "interp1d",
    "BarycentricInterpolator",
)


@pytest.mark.parametrize("kind", INTERPOLATORS)
def test_interpolation_of_batched_values_at_batched_points(kind: str) -> None:
    rng = np.random.default_rng(2)
    values, points = rng.normal(size=(4, 6)), rng.uniform(size=(4, 3))

    def at(values: Array, points: Array) -> Array:
        return getattr(interpolate, kind)(KNOTS, values)(points)

    def total(values: Array, points: Array) -> Array:
        return np.sum(np.cos([1.0, 2.0, 3.0]) * at(values, points) ** 2)

    both, of_values = ta.batched(at), ta.batched(at, (0, None))
    of_points = ta.batched(at, (None, 0))
    pairs = list(zip(values, points, strict=True))
    close(both(values, points), [at(*pair) for pair in pairs])
    close(of_values(values, points[0]), [at(each, points[0]) for each in values])
    close(of_points(values[0], points), [at(values[0], each) for each in points])
    slopes = ta.grad(total, (0, 1))
    for_all = ta.batched(slopes)
    summed = ta.grad(lambda *x: np.sum(ta.batched(total)(*x)), (0, 1))
    by_values, by_points = zip(*[slopes(*pair) for pair in pairs], strict=True)
    for found in (for_all(values, points), summed(values, points)):
        close(found[0], by_values)
        close(found[1], by_points)
    for each in (both, of_values, of_points, for_all):
        assert not each.looped


def close(found: Array, expected: Any) -> None:
    """Compare a result of all with those of one after the other."""
    np.testing.assert_allclose(found, np.stack(expected), rtol=1e-9, atol=1e-12)

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as host

import tape_ad as ta
from tape_ad.scipy import interpolate

Array = Any

X = np.array([0.0, 0.7, 1.5, 2.1, 3.2, 3.9])
Y = np.array([0.3, 1.1, -0.4, 0.8, 0.5, -0.2])
POINTS = np.array([0.2, 0.35, 0.9, 1.7, 3.0, 3.3])
WEIGHTS = np.array([0.3, -1.2, 0.8, 1.7, 0.4, -0.6])

SIGNS = np.array([1.0, -2.0, 1.5, -2.5, 2.0, -1.0])

MAKERS: dict[str, Callable[..., Any]] = {
    **{
        str(kind): lambda module, x, y, kind=kind: module.interp1d(x, y, kind)
        for kind in ("linear", "slinear", "quadratic", "cubic", 5)
    },
    "shuffled": lambda module, x, y: module.interp1d(x[::-1], y[::-1]),
    "extrapolating": lambda module, x, y: module.interp1d(x - 1, y, fill_value="extrapolate"),
    "krogh": lambda module, x, y: module.KroghInterpolator(x, y),
    "barycentric": lambda module, x, y: module.BarycentricInterpolator(x, y),
    "weights": lambda module, x, y: module.BarycentricInterpolator(x, y, wi=SIGNS),
}

STEPS = ["nearest", "nearest-up", "previous", "next", "zero"]

every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def difference(function: Callable[[Array], Array], at: Array, step: float = 1e-6) -> Array:
    """Differentiate a number by central differences, one element after the other."""
    moves = step * np.eye(at.size).reshape((at.size, *at.shape))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).reshape(at.shape)


@every_maker
def test_gradients_are_those_of_scipys_objects(make: Any) -> None:
    def loss(module: Any, x: Array, y: Array, points: Array) -> Array:
        return np.sum(WEIGHTS * make(module, x, y)(points))

    value, gradients = ta.value_and_grad(
        lambda x, y, points: loss(interpolate, x, y, points), (0, 1, 2)
    )(X, Y, POINTS)
    np.testing.assert_allclose(value, loss(host, X, Y, POINTS), rtol=1e-12)
    by_x = difference(lambda x: loss(host, x, Y, POINTS), X)
    np.testing.assert_allclose(gradients[0], by_x, rtol=1e-6, atol=1e-7)
    by_y = difference(lambda y: loss(host, X, y, POINTS), Y)
    np.testing.assert_allclose(gradients[1], by_y, rtol=1e-6, atol=1e-7)
    by_points = difference(lambda p: loss(host, X, Y, p), POINTS)
    np.testing.assert_allclose(gradients[2], by_points, rtol=1e-6, atol=1e-7)
    plain, theirs = make(interpolate, X, Y)(POINTS), make(host, X, Y)(POINTS)
    np.testing.assert_allclose(plain, theirs, rtol=1e-14)  # one of them in random order


@every_maker
def test_points_that_are_knots(make: Any) -> None:
    points = X[:-2]
    y = ta.ComputationRecord().tensor(Y)
    out = make(interpolate, X, y)(points)
    np.testing.assert_allclose(out.data, make(host, X, Y)(points), atol=1e-12)
    assert np.all(np.isfinite(out.sum().grad().wrt(y)))


@pytest.mark.parametrize("kind", STEPS)
def test_steps_are_constant_in_the_points(kind: str) -> None:
    points = np.concatenate((POINTS, X, X[1:] / 2 + X[:-1] / 2))
    record = ta.ComputationRecord()
    y, x = record.tensor(Y), record.tensor(points)
    out = interpolate.interp1d(X, y, kind)(x)
    np.testing.assert_array_equal(out.data, host.interp1d(X, Y, kind)(points))
    gradients = out.sum().grad()
    np.testing.assert_array_equal(gradients.wrt(x), 0)
    assert gradients.wrt(y).sum() == points.size


@pytest.mark.parametrize("kind", ["linear", "nearest", "previous", "next", "cubic"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_further_axes_and_what_is_outside(kind: str, axis: int) -> None:
    y = np.moveaxis(np.sin(np.arange(36.0)).reshape(6, 3, 2), 0, axis)
    points = np.array([[-1.0, 0.4, 1.5], [2.2, 3.9, 5.0]])
    for fill in (-7.0, (1.0, 2.0), "extrapolate"):
        options: dict[str, Any] = {"kind": kind, "axis": axis, "fill_value": fill}
        options["bounds_error"] = False
        handle = ta.ComputationRecord().tensor(y)
        ours = interpolate.interp1d(X, handle, **options)(points)
        theirs = host.interp1d(X, y, **options)(points)
        np.testing.assert_allclose(ours.data, theirs, rtol=1e-12)


def test_fills_are_differentiated() -> None:
    fill = ta.ComputationRecord().tensor(3.0)
    made = interpolate.interp1d(X, Y, bounds_error=False, fill_value=(fill, 0.0))
    assert made(np.array([-1.0, 1.0, 9.0])).sum().grad().wrt(fill) == 1


def test_points_outside_are_refused() -> None:
    y = ta.ComputationRecord().tensor(Y)
    with pytest.raises(ValueError, match="below the interpolation range"):
        interpolate.interp1d(X, y)(-1.0)
    with pytest.raises(ValueError, match="above the interpolation range"):
        interpolate.interp1d(X, y)(9.0)
    with pytest.raises(ValueError, match="Cannot extrapolate and raise"):
        interpolate.interp1d(X, y, bounds_error=True, fill_value="extrapolate")
    with pytest.raises(NotImplementedError, match="odd is unsupported"):
        interpolate.interp1d(X, y, "odd")
    with pytest.raises(ValueError, match="equal in length"):
        interpolate.interp1d(X[1:], y)


def test_slopes_at_repeated_points() -> None:
    xi, yi = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0]), Y

    def loss(module: Any, yi: Array) -> Array:
        polynomial = module.KroghInterpolator(xi, yi)
        return np.sum(polynomial.derivatives(POINTS)) + np.sum(polynomial.derivative(0.3, 2))

    value, gradient = ta.value_and_grad(lambda y: loss(interpolate, y))(yi)
    np.testing.assert_allclose(value, loss(host, yi), rtol=1e-11)
    np.testing.assert_allclose(gradient, difference(lambda y: loss(host, y), yi), rtol=1e-6)


@pytest.mark.parametrize("name", ["krogh_interpolate", "barycentric_interpolate"])
@pytest.mark.parametrize("der", [0, 2, [0, 1]])
def test_polynomials_as_functions(name: str, der: Any) -> None:
    y = np.stack((Y, Y**2), axis=-1)
    handle = ta.ComputationRecord().tensor(y)
    ours = getattr(interpolate, name)(X, handle, POINTS, der=der)
    theirs = getattr(host, name)(X, y, POINTS, der=der)
    np.testing.assert_allclose(ours.data, theirs, rtol=1e-9, atol=1e-11)


def test_a_polynomial_has_its_second_derivative_at_a_point() -> None:
    polynomial = interpolate.BarycentricInterpolator(X, Y)
    second = ta.grad(ta.grad(polynomial))(X[2])
    np.testing.assert_allclose(second, polynomial.derivative(X[2], 2), rtol=1e-9)

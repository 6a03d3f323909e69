import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as host

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import interpolate

Array = Any

X = np.array([0.0, 0.7, 1.5, 2.1, 3.2, 3.9, 4.4])
Y = np.array([0.3, 1.1, -0.4, 0.8, 0.5, -0.2, 0.9])
POINTS = np.array([-0.2, 0.35, 0.9, 1.7, 3.0, 4.6])
WEIGHTS = np.array([0.3, -1.2, 0.8, 1.7, 0.4, -0.6])

MAKERS: dict[str, Callable[..., Any]] = {
    "interpolated": lambda module, y: module.InterpolatedUnivariateSpline(X, y),
    "quadratic": lambda module, y: module.UnivariateSpline(X, y, k=2, s=0),
    "fitted": lambda module, y: module.LSQUnivariateSpline(X, y, [1.9], w=1 + X),
    "constant outside": lambda module, y: module.UnivariateSpline(X, y, s=0, ext="const"),
    "zero outside": lambda module, y: module.UnivariateSpline(X, y, s=0, ext=1),
}
USES: dict[str, Callable[[Any], Array]] = {
    "value": lambda s: np.sum(WEIGHTS * s(POINTS)),
    "slope": lambda s: np.sum(WEIGHTS * s(POINTS, 1)),
    "derivative": lambda s: np.sum(WEIGHTS * s.derivative()(POINTS)),
    "antiderivative": lambda s: np.sum(WEIGHTS * s.antiderivative()(POINTS)),
    "integral": lambda s: s.integral(-1.0, 3.1) + 0.0,
    "derivatives": lambda s: np.sum(s.derivatives(1.1)[:3]),
    "coefficients": lambda s: np.sum(s.get_coeffs()) + np.sum(s.get_knots()),
}


def difference(function: Callable[[Array], Array], at: Array, step: float = 1e-6) -> Array:
    """Differentiate a number by central differences, one element after the other."""
    moves = step * np.eye(at.size).reshape((at.size, *at.shape))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).reshape(at.shape)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_gradients_are_those_of_scipys_splines(make: Any, use: Any) -> None:
    value, gradient = ta.value_and_grad(lambda y: use(make(interpolate, y)))(Y)
    np.testing.assert_allclose(value, use(make(host, Y)), rtol=1e-11)
    expected = difference(lambda y: use(make(host, y)), Y)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(use(make(interpolate, Y)), use(make(host, Y)), rtol=1e-14)


KNOTS = {"t": np.array([1.9])}


@pytest.mark.parametrize("options", [{}, {"k": 4, "s": 0}, KNOTS, {**KNOTS, "task": -1}])
def test_splines_as_tuples(options: Any) -> None:
    def loss(module: Any, y: Array) -> Array:
        tck = module.splrep(X, y, **options)
        values = [module.splev(POINTS, tck, der, ext) for der in (0, 1) for ext in (0, 1, 3)]
        return sum(np.sum(WEIGHTS * value) for value in values) + module.splint(0.3, 9.0, tck)

    value, gradient = ta.value_and_grad(lambda y: loss(interpolate, y))(Y)
    np.testing.assert_allclose(value, loss(host, Y), rtol=1e-11)
    np.testing.assert_allclose(gradient, difference(lambda y: loss(host, y), Y), rtol=1e-6)
    np.testing.assert_allclose(loss(interpolate, Y), loss(host, Y), rtol=1e-14)


def test_a_curve_has_several_coordinates() -> None:
    t, c, k = host.splrep(X, Y)
    handle = ta.ComputationRecord().tensor(c)
    first, second = interpolate.splev(POINTS, (t, [handle, 2 * handle], k))
    np.testing.assert_allclose(second.data, 2 * first.data)
    np.testing.assert_allclose(first.data, host.splev(POINTS, (t, c, k)), rtol=1e-12)


def test_smoothing_is_refused() -> None:
    y = ta.ComputationRecord().tensor(Y)
    refused: list[Callable[[], Any]] = [
        lambda: interpolate.UnivariateSpline(X, y, s=y[0]),
        lambda: interpolate.UnivariateSpline(X, y, s=0.1),
        lambda: interpolate.splrep(X, y, s=0.1),
        lambda: interpolate.splrep(X, y, 9 + X),
    ]
    for call in refused:
        with pytest.raises(UnsupportedArgumentError, match="how much to smooth"):
            call()
    with pytest.raises(UnsupportedArgumentError, match="UnivariateSpline: bbox= cannot"):
        interpolate.UnivariateSpline(X, y, bbox=[0, 5])
    with pytest.raises(UnsupportedArgumentError, match="per cannot go with handles"):
        interpolate.splrep(X, y, per=True)
    with pytest.raises(UnsupportedArgumentError, match="xb cannot go with handles"):
        interpolate.splrep(X, y, xb=0)
    with pytest.raises(UnsupportedArgumentError, match="splint: full_output cannot go with"):
        interpolate.splint(0.0, 1.0, interpolate.splrep(X, y), full_output=1)
    with pytest.raises(TypeError, match="splrep: task=1: handles go with 0, or with -1 and knots"):
        interpolate.splrep(X, y, task=1)
    with pytest.raises(TypeError, match="splrep: task=-1: handles"):
        interpolate.splrep(X, y, task=-1)
    with pytest.raises(UnsupportedArgumentError, match="bbox= cannot go with handles"):
        interpolate.LSQUnivariateSpline(X, y, [1.9], bbox=[0, 5])


def test_what_scipy_refuses_is_refused() -> None:
    t, c, k = host.splrep(X, Y)
    tck = t, ta.ComputationRecord().tensor(c), k
    with pytest.raises(ValueError, match="Invalid input data"):
        interpolate.splev(POINTS, tck, ext=2)
    with pytest.raises(ValueError, match="not in"):
        interpolate.splev(POINTS, tck, ext=7)
    with pytest.raises(ValueError, match="must hold"):
        interpolate.splev(POINTS, tck, der=4)
    with pytest.raises(ValueError, match="extrapolation mode"):
        interpolate.InterpolatedUnivariateSpline(X, tck[1][:7], ext="odd")


def test_what_is_left_of_the_data() -> None:
    def left(kind: Any, y: Any) -> Any:
        return kind(X, y, [1.6], k=2).get_residual()

    theirs = host.LSQUnivariateSpline
    value, gradient = ta.value_and_grad(lambda y: left(interpolate.LSQUnivariateSpline, y))(Y)
    np.testing.assert_allclose(value, left(theirs, Y), rtol=1e-12)
    step = 1e-6 * np.eye(Y.size)
    expected = [(left(theirs, Y + e) - left(theirs, Y - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    spline: Any = interpolate.InterpolatedUnivariateSpline(X, Y)
    assert copy.deepcopy(spline)(1.1) == spline(1.1)

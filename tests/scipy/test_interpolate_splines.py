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
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 1.8, 4.4, 4.4, 4.4, 4.4])

MAKERS: dict[str, Callable[..., Any]] = {
    "cubic": lambda module, x, y: module.make_interp_spline(x, y),
    "linear": lambda module, x, y: module.make_interp_spline(x, y, k=1),
    "quadratic": lambda module, x, y: module.make_interp_spline(x, y, 2),
    "quintic": lambda module, x, y: module.make_interp_spline(x, y, 5),
    "natural": lambda module, x, y: module.make_interp_spline(x, y, bc_type="natural"),
    "mixed": lambda module, x, y: module.make_interp_spline(
        x, y, bc_type=([(2, 0.5)], [(1, -0.3)])
    ),
    "least squares": lambda module, x, y: module.make_lsq_spline(x, y, KNOTS),
    "weighted": lambda module, x, y: module.make_lsq_spline(x, y, KNOTS, w=1 + X),
    "smoothing": lambda module, x, y: module.make_smoothing_spline(x, y, lam=0.3),
    "weighted smoothing": lambda module, x, y: module.make_smoothing_spline(x, y, w=1 + X, lam=0.3),
}

USES: dict[str, Callable[[Any], Array]] = {
    "value": lambda s: np.sum(WEIGHTS * s(POINTS)),
    "slope": lambda s: np.sum(WEIGHTS * s(POINTS, 1)),
    "derivative": lambda s: np.sum(WEIGHTS * s.derivative()(POINTS)),
    "antiderivative": lambda s: np.sum(WEIGHTS * s.antiderivative()(POINTS)),
    "integral": lambda s: s.integrate(0.2, 2.9) + 0.0,
    "integral within": lambda s: s.integrate(4.9, -0.1, extrapolate=False) + 0.0,
    "integral periodic": lambda s: s.integrate(1.0, 9.9, extrapolate="periodic") + 0.0,
}

every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def difference(function: Callable[[Array], Array], at: Array, step: float = 1e-6) -> Array:
    """Differentiate a number by central differences, one element after the other."""
    moves = step * np.eye(at.size).reshape((at.size, *at.shape))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).reshape(at.shape)


@every_maker
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_gradients_are_those_of_scipys_splines(make: Any, use: Any) -> None:
    value, by_y = ta.value_and_grad(lambda y: use(make(interpolate, X, y)))(Y)
    np.testing.assert_allclose(value, use(make(host, X, Y)), rtol=1e-11)
    expected = difference(lambda y: use(make(host, X, y)), Y)
    np.testing.assert_allclose(by_y, expected, rtol=1e-6, atol=1e-7)


@every_maker
def test_gradients_by_the_sites(make: Any) -> None:
    def loss(module: Any, x: Array) -> Array:
        return np.sum(WEIGHTS * make(module, x, Y)(POINTS))

    # The ends stay, for they may not leave the knots of a fit
    inside = ta.grad(lambda x: loss(interpolate, np.concatenate((X[:1], x, X[-1:]))))(X[1:-1])
    expected = difference(lambda x: loss(host, np.concatenate((X[:1], x, X[-1:]))), X[1:-1])
    np.testing.assert_allclose(inside, expected, rtol=1e-6, atol=1e-6)


@every_maker
def test_plain_arrays_get_scipys_values(make: Any) -> None:
    ours, theirs = make(interpolate, X, Y), make(host, X, Y)
    np.testing.assert_array_equal(ours.c, theirs.c)
    np.testing.assert_array_equal(ours.t, theirs.t)
    np.testing.assert_array_equal(ours(POINTS), theirs(POINTS))
    np.testing.assert_allclose(ours.derivative()(POINTS), theirs.derivative()(POINTS), rtol=1e-12)


def test_gradients_by_the_points() -> None:
    spline = interpolate.make_interp_spline(X, Y)
    points = ta.ComputationRecord().tensor(POINTS)
    slopes = spline(points).sum().grad().wrt(points)
    np.testing.assert_allclose(slopes, spline(POINTS, 1), rtol=1e-11)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(("k", "n"), [(3, 7), (2, 7), (5, 7), (3, 3)])
def test_a_periodic_spline(k: int, n: int, axis: int) -> None:
    y = np.moveaxis(np.sin(np.arange(12.0)).reshape(6, 2)[: n - 1], 0, axis)

    def loss(module: Any, y: Array) -> Array:
        first = np.moveaxis(np.moveaxis(y, axis, 0)[:1], 0, axis)
        closed = np.concatenate((y, first), axis=axis)
        spline = module.make_interp_spline(X[:n], closed, k, bc_type="periodic", axis=axis)
        values = np.moveaxis(spline(POINTS * 3), axis, 0)
        return np.sum(WEIGHTS[:, None] * values) + np.sum(spline.integrate(0.5, 9.0))

    value, gradient = ta.value_and_grad(lambda y: loss(interpolate, y))(y)
    np.testing.assert_allclose(value, loss(host, y), rtol=1e-10)
    np.testing.assert_allclose(
        gradient, difference(lambda y: loss(host, y), y), rtol=1e-6, atol=1e-7
    )


def test_derivatives_given_at_the_ends_are_differentiated() -> None:
    def loss(module: Any, ends: Array) -> Array:
        bc_type = ([(1, ends[0])], [(2, ends[1])])
        return np.sum(WEIGHTS * module.make_interp_spline(X, Y, bc_type=bc_type)(POINTS))

    ends = np.array([0.4, -0.7])
    gradient = ta.grad(lambda ends: loss(interpolate, ends))(ends)
    np.testing.assert_allclose(gradient, difference(lambda e: loss(host, e), ends), rtol=1e-7)


def test_the_weight_of_the_curvature_is_differentiated() -> None:
    def loss(module: Any, lam: Array) -> Array:
        return np.sum(WEIGHTS * module.make_smoothing_spline(X, Y, lam=lam[0])(POINTS))

    lam = np.array([0.3])
    gradient = ta.grad(lambda lam: loss(interpolate, lam))(lam)
    np.testing.assert_allclose(gradient, difference(lambda e: loss(host, e), lam), rtol=1e-6)


def test_the_search_for_the_weight_of_the_curvature_is_refused() -> None:
    y = ta.ComputationRecord().tensor(Y)
    with pytest.raises(UnsupportedArgumentError, match="lam= has to be given"):
        interpolate.make_smoothing_spline(X, y)


def test_a_basis_element() -> None:
    ours, theirs = (module.BSpline.basis_element(X[:5]) for module in (interpolate, host))
    np.testing.assert_array_equal(ours(POINTS), theirs(POINTS))


def test_derivatives_of_tuples() -> None:
    record = ta.ComputationRecord()
    t, c, k = host.splrep(X, Y)
    handles = record.tensor(t), record.tensor(c), k
    for function in ("splder", "splantider"):
        for n in (1, 2, -1):
            made = getattr(interpolate, function)(handles, n)
            expected = getattr(host, function)((t, c, k), n)
            np.testing.assert_allclose(made[0].data, expected[0])
            np.testing.assert_allclose(made[1].data, expected[1], atol=1e-13)
            assert made[2] == expected[2]
    spline = interpolate.BSpline(*handles)
    np.testing.assert_allclose(
        interpolate.splder(spline)(POINTS).data, host.splev(POINTS, (t, c, k), 1), rtol=1e-11
    )


def test_a_derivative_with_a_jump_is_refused() -> None:
    t = ta.ComputationRecord().tensor([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    with pytest.raises(ValueError, match="not differentiable"):
        interpolate.splder((t, np.ones(6), 1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0, 0.5, 2.0], [1.0, 2.0], 1), "non-decreasing"),
        (([0.0, 1.0], [1.0, 2.0], 1), "at least 4 knots"),
        (([0.0, 1.0, 1.0, 2.0], [1.0, 2.0], 1), "two internal knots"),
        (([0.0, 1.0, 2.0, np.inf], [1.0, 2.0], 1), "nans or infs"),
        (([0.0, 1.0, 2.0, 3.0], [1.0], 1), "inconsistent"),
    ],
)
def test_knots_that_scipy_refuses_are_refused(arguments: Any, message: str) -> None:
    t, c, k = arguments
    for module in (host, interpolate):
        with pytest.raises(ValueError, match=message):
            module.BSpline(t, c, k)

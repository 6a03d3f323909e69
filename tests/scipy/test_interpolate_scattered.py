from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as host

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import interpolate

Array = Any

rng = np.random.default_rng(0)
POINTS = np.concatenate(
    (rng.uniform(0.1, 0.9, (8, 2)), [[0.0, 0.0], [1.0, 0.1], [0.1, 1.0], [1.1, 1.0]])
)
VALUES = rng.normal(size=(12, 2))
XI = rng.uniform(0.3, 0.7, (5, 2))
WEIGHTS = rng.normal(size=(5, 2))

KERNELS = {
    "thin_plate_spline": {},
    "linear": {},
    "cubic": {"degree": 2},
    "quintic": {"smoothing": 0.1},
    "multiquadric": {"epsilon": 1.5},
    "inverse_multiquadric": {"epsilon": 1.5},
    "inverse_quadratic": {"epsilon": 2.0, "degree": 0},
    "gaussian": {"epsilon": 3.0, "smoothing": np.linspace(0.1, 0.2, 12)},
}
MAKERS: dict[str, Callable[..., Any]] = {
    **{
        kernel: lambda module, y, d, kernel=kernel, options=options: module.RBFInterpolator(
            y, d, kernel=kernel, **options
        )
        for kernel, options in KERNELS.items()
    },
    "triangles": lambda module, y, d: module.LinearNDInterpolator(y, d),
    "griddata": lambda module, y, d: lambda x: module.griddata(y, d, x),
}

every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def difference(function: Callable[[Array], Array], at: Array, step: float = 1e-6) -> Array:
    """Differentiate a number by central differences, one element after the other."""
    moves = step * np.eye(at.size).reshape((at.size, *at.shape))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).reshape(at.shape)


@every_maker
def test_gradients_are_those_of_scipys_objects(make: Any) -> None:
    def loss(module: Any, y: Array, d: Array, x: Array) -> Array:
        return np.sum(WEIGHTS * make(module, y, d)(x))

    value, gradients = ta.value_and_grad(lambda y, d, x: loss(interpolate, y, d, x), (0, 1, 2))(
        POINTS, VALUES, XI
    )
    np.testing.assert_allclose(value, loss(host, POINTS, VALUES, XI), rtol=1e-9)
    by_y = difference(lambda y: loss(host, y, VALUES, XI), POINTS)
    np.testing.assert_allclose(gradients[0], by_y, rtol=1e-5, atol=1e-5)
    by_d = difference(lambda d: loss(host, POINTS, d, XI), VALUES, 0.1)  # it is linear
    np.testing.assert_allclose(gradients[1], by_d, rtol=1e-5, atol=1e-7)
    by_x = difference(lambda x: loss(host, POINTS, VALUES, x), XI)
    np.testing.assert_allclose(gradients[2], by_x, rtol=1e-5, atol=1e-6)
    plain = make(interpolate, POINTS, VALUES)(XI)
    np.testing.assert_array_equal(plain, make(host, POINTS, VALUES)(XI))


def test_what_smooths_and_scales_is_differentiated() -> None:
    def loss(module: Any, both: Array) -> Array:
        made = module.RBFInterpolator(
            POINTS, VALUES, smoothing=both[0], epsilon=both[1], kernel="gaussian"
        )
        return np.sum(WEIGHTS * made(XI))

    both = np.array([0.2, 2.5])
    gradient = ta.grad(lambda both: loss(interpolate, both))(both)
    expected = difference(lambda both: loss(host, np.array([float(b) for b in both])), both)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["thin_plate_spline", "cubic", "gaussian"])
def test_a_point_of_the_data_is_met_with_its_gradient(kernel: str) -> None:
    made = interpolate.RBFInterpolator(POINTS, VALUES[:, 0], kernel=kernel, epsilon=2.0)
    theirs = host.RBFInterpolator(POINTS, VALUES[:, 0], kernel=kernel, epsilon=2.0)
    gradient = ta.grad(lambda x: made(x[None])[0])(POINTS[3])
    expected = difference(lambda x: theirs(x[None])[0], POINTS[3])
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4)


def test_neighbours_are_refused() -> None:
    record = ta.ComputationRecord()
    with pytest.raises(UnsupportedArgumentError, match="neighbors="):
        interpolate.RBFInterpolator(POINTS, record.tensor(VALUES), neighbors=5)(XI)
    plain = interpolate.RBFInterpolator(POINTS, VALUES, neighbors=5)
    expected = host.RBFInterpolator(POINTS, VALUES, neighbors=5)(XI)
    np.testing.assert_array_equal(plain(XI), expected)
    with pytest.raises(UnsupportedArgumentError, match="neighbors="):
        plain(record.tensor(XI))


def test_points_outside_of_the_triangles() -> None:
    record = ta.ComputationRecord()
    values, fill = record.tensor(VALUES), record.tensor(-1.0)
    out = interpolate.LinearNDInterpolator(POINTS, values, fill)(np.array([[9.0, 9.0], XI[0]]))
    np.testing.assert_array_equal(out.data[0], -1)
    gradients = out.sum().grad()
    assert gradients.wrt(fill) == 2
    np.testing.assert_allclose(gradients.wrt(values).sum(), 2)


def test_the_nearest_point_is_constant() -> None:
    record = ta.ComputationRecord()
    values, points = record.tensor(VALUES), record.tensor(POINTS)
    out = interpolate.NearestNDInterpolator(points, values)(XI)
    np.testing.assert_array_equal(out.data, host.NearestNDInterpolator(POINTS, VALUES)(XI))
    gradients = out.sum().grad()
    assert gradients.wrt(values).sum() == 10
    np.testing.assert_array_equal(gradients.wrt(points), 0)
    by_grid = interpolate.griddata(POINTS, values, XI, "nearest")
    np.testing.assert_array_equal(by_grid.data, out.data)


def test_coordinates_may_be_apart() -> None:
    values = ta.ComputationRecord().tensor(VALUES)
    x, y = XI[:, 0], XI[:, 1]
    together = interpolate.LinearNDInterpolator(POINTS, values)(XI)
    apart = interpolate.LinearNDInterpolator(POINTS, values)(x, y)
    tupled = interpolate.griddata(POINTS, values, (x, y))
    np.testing.assert_array_equal(apart.data, together.data)
    np.testing.assert_array_equal(tupled.data, together.data)


@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
def test_scattered_points_on_a_line(method: str) -> None:
    x, d = np.array([0.0, 2.0, 1.0, 3.5]), np.array([1.0, 3.0, -1.0, 2.0])
    at = np.array([0.4, 1.7, 3.1])
    values = ta.ComputationRecord().tensor(d)
    ours = interpolate.griddata(x, values, at, method)
    np.testing.assert_allclose(ours.data, host.griddata(x, d, at, method), rtol=1e-12)


@pytest.mark.parametrize("rescale", [False, True])
def test_cubics_on_triangles_are_linear_in_the_values(rescale: bool) -> None:
    def loss(module: Any, d: Array) -> Array:
        made = module.CloughTocher2DInterpolator(POINTS, d, tol=1e-12, rescale=rescale)
        return np.sum(WEIGHTS * made(XI))

    value, gradient = ta.value_and_grad(lambda d: loss(interpolate, d))(VALUES)
    np.testing.assert_allclose(value, loss(host, VALUES), rtol=1e-12)
    expected = difference(lambda d: loss(host, d), VALUES)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


def test_what_is_not_given_says_so() -> None:
    values = ta.ComputationRecord().tensor(VALUES)
    with pytest.raises(UnsupportedArgumentError, match="derivatives by the values alone"):
        interpolate.griddata(POINTS, values, values[:2], "cubic")
    with pytest.raises(ValueError, match="Unknown interpolation method"):
        interpolate.griddata(POINTS, values, XI, "odd")
    with pytest.raises(ValueError, match="different number"):
        interpolate.LinearNDInterpolator(POINTS[1:], values)
    with pytest.raises(ValueError, match="`epsilon` must be specified"):
        interpolate.RBFInterpolator(POINTS, values, kernel="gaussian")


RESCALED: dict[str, Callable[..., Any]] = {
    "triangles": lambda module, y, d: module.LinearNDInterpolator(y, d, rescale=True),
    "nearest": lambda module, y, d: module.NearestNDInterpolator(y, d, rescale=True),
    "box": lambda module, y, d: module.NearestNDInterpolator(
        y, d, tree_options={"boxsize": [1.5, 60.0]}
    ),
    "griddata": lambda module, y, d: lambda x: module.griddata(y, d, x, rescale=True),
}


@pytest.mark.parametrize("make", RESCALED.values(), ids=RESCALED)
def test_points_that_are_rescaled(make: Callable[..., Any]) -> None:
    size = np.array([1.0, 50.0])
    points, xi = POINTS * size, np.concatenate((XI, [[0.02, 0.03]])) * size
    weights = np.linspace(0.5, 1.5, 6)[:, None] * [1.0, -0.5]

    def loss(module: Any, d: Array, x: Array) -> Array:
        return np.sum(weights * make(module, points, d)(x))

    value, (by_values, by_xi) = ta.value_and_grad(lambda d, x: loss(interpolate, d, x), (0, 1))(
        VALUES, xi
    )
    np.testing.assert_allclose(value, loss(host, VALUES, xi), rtol=1e-12)
    along = np.cos(np.arange(24.0)).reshape(12, 2)
    slope = loss(host, VALUES + along, xi) - loss(host, VALUES, xi)  # which is linear
    np.testing.assert_allclose(np.sum(by_values * along), slope, rtol=1e-11)
    way = 1e-6 * np.sin(np.arange(12.0)).reshape(6, 2)
    slope = (loss(host, VALUES, xi + way) - loss(host, VALUES, xi - way)) / 2
    np.testing.assert_allclose(np.sum(by_xi * way), slope, rtol=1e-6, atol=1e-14)

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as host
from scipy.sparse.linalg import spsolve

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import interpolate

Array = Any

GRID = (
    np.array([0.0, 0.7, 1.5, 2.1, 3.2, 3.9]),
    np.array([-1.0, 0.3, 0.9, 2.0, 2.6, 3.1, 3.5]),
)
VALUES = np.sin(np.arange(42.0)).reshape(6, 7)
POINTS = np.array([[0.3, 0.2], [1.7, 1.5], [3.5, 3.3], [0.9, -0.6]])
WEIGHTS = np.array([0.3, -1.2, 0.8, 1.7])

METHODS = ["linear", "slinear", "cubic", "quintic", "pchip", "cubic_legacy"]

ITERATED = {"slinear", "cubic", "quintic"}

every_method = pytest.mark.parametrize("method", METHODS)


def difference(function: Callable[[Array], Array], at: Array, step: float = 1e-5) -> Array:
    """Differentiate a number by central differences, one element after the other."""
    moves = step * np.eye(at.size).reshape((at.size, *at.shape))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).reshape(at.shape)


def loss(module: Any, method: str, values: Array, points: Array, first: Array) -> Array:
    exact = {"solver": spsolve} if method in ITERATED else {}
    interpolator = module.RegularGridInterpolator((first, GRID[1]), values, method, **exact)
    return np.sum(WEIGHTS * interpolator(points))


@every_method
def test_gradients_are_those_of_scipys_interpolator(method: str) -> None:
    value, gradients = ta.value_and_grad(
        lambda v, p, x: loss(interpolate, method, v, p, x), (0, 1, 2)
    )(VALUES, POINTS, GRID[0])
    np.testing.assert_allclose(value, loss(host, method, VALUES, POINTS, GRID[0]), rtol=1e-11)
    by_values = difference(lambda v: loss(host, method, v, POINTS, GRID[0]), VALUES)
    np.testing.assert_allclose(gradients[0], by_values, rtol=1e-6, atol=1e-8)
    by_points = difference(lambda p: loss(host, method, VALUES, p, GRID[0]), POINTS)
    np.testing.assert_allclose(gradients[1], by_points, rtol=1e-6, atol=1e-7)
    by_axis = difference(lambda x: loss(host, method, VALUES, POINTS, x), GRID[0])
    np.testing.assert_allclose(gradients[2], by_axis, rtol=1e-5, atol=1e-6)


def test_scipy_itself_solves_for_a_spline_by_iteration() -> None:
    plain = host.RegularGridInterpolator(GRID, VALUES, "cubic")(POINTS)
    np.testing.assert_array_equal(
        interpolate.RegularGridInterpolator(GRID, VALUES, "cubic")(POINTS), plain
    )
    handle = ta.ComputationRecord().tensor(VALUES)
    exact = interpolate.RegularGridInterpolator(GRID, handle, "cubic")(POINTS)
    np.testing.assert_allclose(exact.data, plain, rtol=1e-4)


@every_method
@pytest.mark.parametrize("d", [1, 3])
def test_other_numbers_of_axes_with_further_ones_behind(method: str, d: int) -> None:
    grid = [GRID[i % 2] for i in range(d)]
    values = np.sin(np.arange(2.0 * np.prod([g.size for g in grid])))
    values = values.reshape(*(g.size for g in grid), 2)
    points = np.full((2, 3, d), 0.4) + 0.1 * np.arange(6.0).reshape(2, 3, 1)
    handle = ta.ComputationRecord().tensor(values)
    ours = interpolate.RegularGridInterpolator(grid, handle, method)(points)
    theirs = host.RegularGridInterpolator(grid, values, method)(points)
    np.testing.assert_allclose(ours.data, theirs, rtol=1e-4, atol=1e-5)


def test_decreasing_axes() -> None:
    grid = GRID[0][::-1], GRID[1][::-1]
    record = ta.ComputationRecord()
    handle, axis = record.tensor(VALUES), record.tensor(grid[0])
    out = interpolate.RegularGridInterpolator((axis, grid[1]), handle)(POINTS)
    expected = host.RegularGridInterpolator(grid, VALUES)(POINTS)
    np.testing.assert_allclose(out.data, expected, rtol=1e-14)
    gradient = out.sum().grad().wrt(axis)
    assert np.all(np.isfinite(gradient))
    assert gradient.any()


def test_points_outside() -> None:
    record = ta.ComputationRecord()
    values, points = record.tensor(VALUES), record.tensor([[-1.0, 0.0], [np.nan, 1.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="out of bounds in dimension 0"):
        interpolate.RegularGridInterpolator(GRID, values)(points[:1])
    fill = record.tensor(7.0)
    filled = interpolate.RegularGridInterpolator(GRID, values, bounds_error=False, fill_value=fill)
    out = filled(points)
    assert out[0].item() == 7
    assert np.isnan(out[1].item())
    gradients = out[[0, 2]].sum().grad()
    assert gradients.wrt(fill) == 1
    np.testing.assert_array_equal(gradients.wrt(points)[:2], 0)
    assert gradients.wrt(points)[2].all()
    beyond = interpolate.RegularGridInterpolator(GRID, values, bounds_error=False, fill_value=None)
    expected = host.RegularGridInterpolator(GRID, VALUES, bounds_error=False, fill_value=None)
    np.testing.assert_allclose(beyond(points[:1]).data, expected(points.data[:1]), rtol=1e-14)


def test_derivatives_of_a_spline() -> None:
    values = ta.ComputationRecord().tensor(VALUES)
    ours = interpolate.RegularGridInterpolator(GRID, values, "cubic")(POINTS, nu=(1, 0))
    theirs = host.RegularGridInterpolator(GRID, VALUES, "cubic")(POINTS, nu=(1, 0))
    np.testing.assert_allclose(ours.data, theirs, rtol=1e-4)
    with pytest.raises(ValueError, match="Can only compute derivatives"):
        interpolate.RegularGridInterpolator(GRID, values)(POINTS, nu=(1, 0))


def test_coordinates_may_be_a_tuple() -> None:
    x = ta.ComputationRecord().tensor([[0.2], [0.5]])
    y = np.array([0.1, 0.4, 0.5])
    out = interpolate.RegularGridInterpolator(GRID, VALUES)((x, y))
    expected = host.RegularGridInterpolator(GRID, VALUES)((x.data, y))
    np.testing.assert_allclose(out.data, expected, rtol=1e-14)
    assert out.sum().grad().wrt(x).shape == (2, 1)


@pytest.mark.parametrize("method", ["linear", "pchip", "splinef2d"])
def test_interpn(method: str) -> None:
    def by(module: Any, values: Array) -> Array:
        return np.sum(WEIGHTS * module.interpn(GRID, values, POINTS, method))

    value, gradient = ta.value_and_grad(lambda v: by(interpolate, v))(VALUES)
    np.testing.assert_allclose(value, by(host, VALUES), rtol=1e-12)
    expected = difference(lambda v: by(host, v), VALUES)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("kx", "ky"), [(3, 3), (2, 3), (5, 4)])
@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (1, 0), (0, 1)])
def test_a_spline_on_a_rectangle(kx: int, ky: int, dx: int, dy: int) -> None:
    def by(module: Any, z: Array, x: Array) -> Array:
        spline = module.RectBivariateSpline(*GRID, z, kx=kx, ky=ky)
        on_grid = np.sum(spline([0.1, 4.5], [-2.0, 1.0, 2.0], dx=dx, dy=dy))
        return np.sum(WEIGHTS * spline.ev(x, POINTS[:, 1], dx, dy)) + on_grid

    value, (by_z, by_x) = ta.value_and_grad(lambda *args: by(interpolate, *args), (0, 1))(
        VALUES, POINTS[:, 0]
    )
    np.testing.assert_allclose(value, by(host, VALUES, POINTS[:, 0]), rtol=1e-10)
    expected = difference(lambda z: by(host, z, POINTS[:, 0]), VALUES)
    np.testing.assert_allclose(by_z, expected, rtol=1e-6, atol=1e-7)
    expected = difference(lambda x: by(host, VALUES, x), POINTS[:, 0])
    np.testing.assert_allclose(by_x, expected, rtol=1e-5, atol=1e-6)


def test_smoothing_on_a_rectangle_is_refused() -> None:
    z = ta.ComputationRecord().tensor(VALUES)
    with pytest.raises(UnsupportedArgumentError, match="s= and bbox="):
        interpolate.RectBivariateSpline(*GRID, z, s=1.0)


def test_a_derivative_of_too_high_an_order_is_refused() -> None:
    z = ta.ComputationRecord().tensor(VALUES)
    with pytest.raises(ValueError, match="has no derivative"):
        interpolate.RectBivariateSpline(*GRID, z, kx=1, ky=2).ev(0.5, 0.5, dx=1)


@pytest.mark.parametrize(
    ("grid", "method", "message"),
    [
        ((GRID[0], GRID[1][:-1]), "linear", "6 points and 7 values"),
        ((GRID[0], np.zeros(7)), "linear", "strictly ascending or descending"),
        ((*GRID, GRID[0]), "linear", "values has 2 dimensions"),
        (GRID, "odd", "is not defined"),
    ],
)
def test_what_scipy_refuses_is_refused(grid: Any, method: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        host.RegularGridInterpolator(grid, VALUES, method)
    values = ta.ComputationRecord().tensor(VALUES)
    with pytest.raises(ValueError, match=message):
        interpolate.RegularGridInterpolator(grid, values, method)


KNOTS = np.array([0, 0, 0, 0, 1, 2, 3, 3, 3, 3.0]), np.array([0, 0, 0, 1, 2, 2, 2.0])
BREAKS = np.array([0.0, 1.0, 2.0, 2.5]), np.array([0.0, 1.5, 2.0])


@pytest.mark.parametrize("extrapolate", [True, False])
@pytest.mark.parametrize("nu", [None, (1, 0), (2, 1)])
@pytest.mark.parametrize("name", ["NdBSpline", "NdPPoly", "antiderivative"])
def test_tensor_products_of_pieces(name: str, nu: Any, extrapolate: bool) -> None:
    def value(module: Any, c: Array, x: Array) -> Array:
        options = {"extrapolate": extrapolate}
        if name == "NdBSpline":
            return module.NdBSpline(KNOTS, c.reshape(6, 4, 3), (3, 2), **options)(x, nu=nu)
        pieces = module.NdPPoly(c.reshape(3, 2, 3, 2, 2), BREAKS, **options)
        return (pieces.antiderivative((1, 2)) if name == "antiderivative" else pieces)(x, nu=nu)

    rng = np.random.default_rng(3)
    c, x = rng.normal(size=(4, 18)), rng.uniform(-0.2, 2.2, (3, 2, 2))
    out = value(interpolate, *map(ta.ComputationRecord().tensor, (c, x))).data
    np.testing.assert_allclose(out, value(host, c, x), rtol=1e-12, atol=1e-13)
    weights = rng.normal(size=out.shape)

    def total(module: Any) -> Callable[..., Array]:
        return lambda c, x: np.sum(weights * np.nan_to_num(value(module, c, x)))

    by_c, by_x = ta.grad(total(interpolate), (0, 1))(c, x)
    np.testing.assert_allclose(by_c, difference(lambda c: total(host)(c, x), c), atol=1e-8)
    np.testing.assert_allclose(by_x, difference(lambda x: total(host)(c, x), x), atol=1e-7)

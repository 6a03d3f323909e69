import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as host

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import interpolate

Array = Any

X = np.array([0.0, 0.7, 1.5, 2.1, 3.2])
Y = np.array([0.3, 1.1, -0.4, 0.8, 0.5])
POINTS = np.array([-0.2, 0.35, 0.9, 1.7, 3.0, 3.4])
WEIGHTS = np.array([0.3, -1.2, 0.8, 1.7, 0.4, -0.6])

MAKERS: dict[str, Callable[..., Any]] = {
    "not-a-knot": lambda module, x, y: module.CubicSpline(x, y),
    "natural": lambda module, x, y: module.CubicSpline(x, y, bc_type="natural"),
    "clamped": lambda module, x, y: module.CubicSpline(x, y, bc_type="clamped"),
    "mixed": lambda module, x, y: module.CubicSpline(x, y, bc_type=((2, 0.5), "not-a-knot")),
    "pchip": lambda module, x, y: module.PchipInterpolator(x, y),
    "akima": lambda module, x, y: module.Akima1DInterpolator(x, y, extrapolate=True),
    "makima": lambda module, x, y: module.Akima1DInterpolator(
        x, y, method="makima", extrapolate=True
    ),
    "hermite": lambda module, x, y: module.CubicHermiteSpline(x, y, np.sin(Y)),
}

every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def difference(function: Callable[[Array], Array], at: Array, step: float = 1e-6) -> Array:
    """Differentiate a number by central differences, one element after the other."""
    moves = step * np.eye(at.size).reshape((at.size, *at.shape))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).reshape(at.shape)


USES: dict[str, Callable[[Any], Array]] = {
    "value": lambda s: np.sum(WEIGHTS * s(POINTS)),
    "slope": lambda s: np.sum(WEIGHTS * s(POINTS, 1)),
    "curvature": lambda s: np.sum(WEIGHTS * s(POINTS, nu=2)),
    "derivative": lambda s: np.sum(WEIGHTS * s.derivative()(POINTS)),
    "second derivative": lambda s: np.sum(WEIGHTS * s.derivative(2)(POINTS)),
    "antiderivative": lambda s: np.sum(WEIGHTS * s.antiderivative()(POINTS)),
    "second antiderivative": lambda s: np.sum(WEIGHTS * s.antiderivative(2)(POINTS)),
    "integral": lambda s: s.integrate(0.2, 2.9),
    "integral backwards": lambda s: s.integrate(2.9, -0.1),
    "integral in one piece": lambda s: s.integrate(0.8, 1.1),
}


@every_maker
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_gradients_are_those_of_scipys_objects(make: Any, use: Any) -> None:
    value, (by_x, by_y) = ta.value_and_grad(lambda x, y: use(make(interpolate, x, y)), (0, 1))(X, Y)
    np.testing.assert_allclose(value, use(make(host, X, Y)), rtol=1e-12)
    expected = difference(lambda x: use(make(host, x, Y)), X)
    np.testing.assert_allclose(by_x, expected, rtol=1e-6, atol=1e-7)
    expected = difference(lambda y: use(make(host, X, y)), Y)
    np.testing.assert_allclose(by_y, expected, rtol=1e-6, atol=1e-7)


@every_maker
def test_the_gradient_by_points_is_the_slope(make: Any) -> None:
    points = ta.ComputationRecord().tensor(POINTS)
    slopes = make(interpolate, X, Y)(points).sum().grad().wrt(points)
    np.testing.assert_allclose(slopes, make(host, X, Y)(POINTS, 1), rtol=1e-13)


@every_maker
def test_plain_arrays_get_scipys_objects_values(make: Any) -> None:
    ours, theirs = make(interpolate, X, Y), make(host, X, Y)
    np.testing.assert_array_equal(ours(POINTS), theirs(POINTS))
    np.testing.assert_array_equal(ours.c, theirs.c)
    np.testing.assert_array_equal(ours.x, theirs.x)
    assert ours.extrapolate == theirs.extrapolate
    assert ours.axis == theirs.axis


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_values_along_an_axis(axis: int) -> None:
    y = np.moveaxis(np.sin(np.arange(30.0)).reshape(5, 3, 2), 0, axis)
    handle = ta.ComputationRecord().tensor(y)
    points = POINTS.reshape(2, 3)
    spline = interpolate.CubicSpline(X, handle, axis=axis)
    expected = host.CubicSpline(X, y, axis=axis)
    np.testing.assert_allclose(spline(points).data, expected(points), rtol=1e-12)
    slopes = spline.derivative()(points)
    np.testing.assert_allclose(slopes.data, expected.derivative()(points), rtol=1e-12)
    integral = spline.integrate(0.0, 2.0)
    np.testing.assert_allclose(integral.data, expected.integrate(0.0, 2.0), rtol=1e-12)


@pytest.mark.parametrize("bounds", [(0.2, 2.9), (2.9, -0.1), (-0.3, -0.1), (0.8, 1.1)])
def test_integrals_where_breakpoints_descend(bounds: tuple[float, float]) -> None:
    c = np.sin(np.arange(24.0)).reshape(3, 4, 2)

    def loss(module: Any, c: Array, x: Array) -> Array:
        return np.sum(WEIGHTS[:2] * module.PPoly(c, x).integrate(*bounds))

    value, gradients = ta.value_and_grad(lambda *args: loss(interpolate, *args), (0, 1))(c, X[::-1])
    np.testing.assert_allclose(value, loss(host, c, X[::-1]), rtol=1e-12)
    by_c = difference(lambda c: loss(host, c, X[::-1]), c)
    np.testing.assert_allclose(gradients[0], by_c, rtol=1e-6, atol=1e-8)
    by_x = difference(lambda x: loss(host, c, x), X[::-1])
    np.testing.assert_allclose(gradients[1], by_x, rtol=1e-6, atol=1e-7)


def test_a_periodic_spline() -> None:
    def loss(module: Any, x: Array, y: Array) -> Array:
        spline = module.CubicSpline(x, np.concatenate((y, y[:1])), bc_type="periodic")
        inside = np.sum(WEIGHTS * spline(POINTS * 3))
        return inside + spline.integrate(-1.0, 8.5) + spline.integrate(3.0, 0.5)

    by_x, by_y = ta.grad(lambda x, y: loss(interpolate, x, y), (0, 1))(X, Y[:-1])
    expected = difference(lambda x: loss(host, x, Y[:-1]), X)
    np.testing.assert_allclose(by_x, expected, rtol=1e-6)
    expected = difference(lambda y: loss(host, X, y), Y[:-1])
    np.testing.assert_allclose(by_y, expected, rtol=1e-6)


def test_given_derivatives_at_the_ends_are_differentiated() -> None:
    def loss(module: Any, ends: Array) -> Array:
        spline = module.CubicSpline(X, Y, bc_type=((1, ends[0]), (2, ends[1])))
        return np.sum(WEIGHTS * spline(POINTS))

    ends = np.array([0.4, -0.7])
    gradient = ta.grad(lambda ends: loss(interpolate, ends))(ends)
    np.testing.assert_allclose(gradient, difference(lambda e: loss(host, e), ends), rtol=1e-7)


def test_bounds_of_an_integral_are_differentiated() -> None:
    spline = interpolate.CubicSpline(X, Y)
    a, b = ta.grad(spline.integrate, (0, 1))(0.4, 2.5)
    np.testing.assert_allclose([a, b], [-spline(0.4), spline(2.5)], rtol=1e-13)


def test_a_knot_has_the_derivative_of_the_piece_to_its_right() -> None:
    x, c = np.array([0.0, 1.0, 2.0]), np.array([[1.0, 3.0], [0.0, 1.0]])
    for nodes in (x, x[::-1] * -1):
        points = ta.ComputationRecord().tensor(nodes)
        gradient = interpolate.PPoly(c, nodes)(points).sum().grad().wrt(points)
        np.testing.assert_array_equal(gradient, host.PPoly(c, nodes)(nodes, 1))


def test_points_that_are_not_evaluated_have_no_gradient() -> None:
    record = ta.ComputationRecord()
    points, y = record.tensor(POINTS), record.tensor(Y)
    values = interpolate.Akima1DInterpolator(X, y)(points)
    np.testing.assert_array_equal(np.isnan(values), (X[0] > POINTS) | (X[-1] < POINTS))
    gradients = np.nansum(values).grad()
    assert gradients.wrt(points)[0] == gradients.wrt(points)[-1] == 0
    assert np.all(np.isfinite(gradients.wrt(y)))


def test_flat_data_has_slopes_of_zero() -> None:
    y = ta.ComputationRecord().tensor(np.array([1.0, 1.0, 1.0, 2.0, 2.0]))
    gradient = interpolate.PchipInterpolator(X, y)(POINTS).sum().grad().wrt(y)
    assert np.all(np.isfinite(gradient))
    gradient = interpolate.Akima1DInterpolator(X, y)(POINTS[1:-1]).sum().grad().wrt(y)
    assert np.all(np.isfinite(gradient))


def test_pchip_interpolate_gives_several_derivatives() -> None:
    y = ta.ComputationRecord().tensor(Y)
    values = interpolate.pchip_interpolate(X, y, POINTS, der=[0, 1])
    expected = host.pchip_interpolate(X, Y, POINTS, der=[0, 1])
    np.testing.assert_allclose([v.data for v in values], expected, rtol=1e-13)
    value = interpolate.pchip_interpolate(X, y, 1.0)
    np.testing.assert_allclose(value.data, host.pchip_interpolate(X, Y, 1.0), rtol=1e-13)


def test_roots_move_with_the_data() -> None:
    def loss(module: Any, x: Array, y: Array, level: Array) -> Array:
        return np.sum(np.sin(module.CubicSpline(x, y).solve(level[0])))

    level = np.array([0.2])
    value, gradients = ta.value_and_grad(
        lambda x, y, level: loss(interpolate, x, y, level), (0, 1, 2)
    )(X, Y, level)
    np.testing.assert_allclose(value, loss(host, X, Y, level), rtol=1e-13)
    by_x = difference(lambda x: loss(host, x, Y, level), X)
    np.testing.assert_allclose(gradients[0], by_x, rtol=1e-6, atol=1e-8)
    by_y = difference(lambda y: loss(host, X, y, level), Y)
    np.testing.assert_allclose(gradients[1], by_y, rtol=1e-6, atol=1e-8)
    by_level = difference(lambda level: loss(host, X, Y, level), level)
    np.testing.assert_allclose(gradients[2], by_level, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(
        interpolate.CubicSpline(X, Y).roots(), host.CubicSpline(X, Y).roots()
    )


def test_a_root_has_a_second_derivative() -> None:
    def of(y: ta.Tensor) -> Any:
        c = np.stack((np.ones(1), np.zeros(1), -y[None]))
        return interpolate.PPoly(c, [0.0, 3.0]).solve(extrapolate=False)[0]

    np.testing.assert_allclose(ta.grad(ta.grad(of))(4.0), -1 / 32, rtol=1e-12)


def test_a_jump_moves_with_its_breakpoint() -> None:
    x = ta.ComputationRecord().tensor([0.0, 1.0, 2.0])
    roots = interpolate.PPoly([[-1.0, 1.0]], x).roots()
    np.testing.assert_array_equal(roots.data, [1.0])
    np.testing.assert_array_equal(roots.sum().grad().wrt(x), [0, 1, 0])


def test_a_double_root_is_refused() -> None:
    c = ta.ComputationRecord().tensor([[1.0], [0.0], [0.0]])
    with pytest.raises(UnsupportedArgumentError, match="simple one"):
        interpolate.PPoly(c, [-1.0, 1.0]).roots()
    with pytest.raises(UnsupportedArgumentError, match="single polynomial"):
        interpolate.PPoly(c[..., None], [-1.0, 1.0]).roots()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X[::-1], Y), {}, "strictly increasing"),
        ((X[:1], Y[:1]), {}, "at least 2"),
        ((X, Y[:-1]), {}, "length of `y`"),
        ((X, Y * np.nan), {}, "finite"),
        ((X, Y), {"bc_type": "periodic"}, "must be identical"),
        ((X, Y), {"bc_type": ("periodic", "natural")}, "both curve ends"),
        ((X, Y), {"bc_type": "odd"}, "not allowed"),
        ((X, Y), {"bc_type": ((3, 0.0), (1, 0.0))}, "must be 1 or 2"),
        ((X, Y), {"bc_type": ((1, [0.0]), (1, 0.0))}, "not the expected one"),
    ],
)
def test_what_scipy_refuses_is_refused(arguments: Any, options: Any, message: str) -> None:
    x, y = map(ta.ComputationRecord().tensor, arguments)
    with pytest.raises(ValueError, match=message):
        interpolate.CubicSpline(x, y, **options)
    with pytest.raises(ValueError, match=message):
        host.CubicSpline(*arguments, **options)


@pytest.mark.parametrize(
    "make",
    [
        interpolate.CubicSpline,
        interpolate.make_interp_spline,
        interpolate.interp1d,
        lambda x, y: interpolate.RegularGridInterpolator((x,), y),
    ],
)
def test_interpolators_of_plain_arrays_are_copied_and_pickled(make: Any) -> None:
    made, points = make(X, Y), np.array([0.3, 0.4])
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(again(points), made(points))
        np.testing.assert_array_equal(ta.jacobian(again)(points), ta.jacobian(made)(points))


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_of_one_point_a_compiled_polynomial_gives_an_array_as_scipy_does(engine: Any) -> None:
    def value(c: Any, point: Any) -> Any:
        return host.PPoly(c, np.arange(3.0))(point)

    fast = ta.compile(ta.differentiable(value), engine=engine)
    for point in (0.5, 1.5, 0.25):
        found = fast(np.ones((2, 2)), point)
        assert type(found) is type(value(np.ones((2, 2)), point)) is np.ndarray


def test_interpolators_are_pickled_for_a_process_that_has_imported_nothing() -> None:
    made = [interpolate.KroghInterpolator(X, Y), interpolate.BarycentricInterpolator(X, 1j * Y)]
    given = pickle.dumps(made)
    program = "import pickle, sys; print([f(0.4).item() for f in pickle.load(sys.stdin.buffer)])"
    done = subprocess.run(  # noqa: S603 - the program stands above
        [sys.executable, "-c", program], input=given, capture_output=True, check=True
    )

    assert done.stdout.decode().split() == str([f(0.4).item() for f in made]).split()
    assert ta.grad(pickle.loads(given)[0])(0.4) == ta.grad(made[0])(0.4)

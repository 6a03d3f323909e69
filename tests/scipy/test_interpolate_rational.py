"""`Rbf`, rational interpolants, and splines of curves and on spheres: with handles."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.interpolate as host

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import interpolate
from tape_ad.scipy.interpolate.fitpack import fit
from tests.sampling import some

checked = functools.partial(ta.testing.check_grads, order=2)

X, Y = np.array([0.0, 0.9, 0.3, 1.4]), np.array([0.2, 0.8, -0.5, 0.4])
VALUES = np.array([1.0, -0.4, 2.0, 0.7])
AT = np.array([0.5, 0.9]), np.array([0.1, 0.8])  # the second is one of the points


RADIAL = ["multiquadric", "inverse", "gaussian", "linear", "cubic", "quintic", "thin-plate"]


@pytest.mark.parametrize(("function", "smooth"), some(itertools.product(RADIAL, [0.0, 0.1]), 3))
def test_rbf(function: str, smooth: float) -> None:
    options = {"function": function, "smooth": smooth}
    record = ta.ComputationRecord()
    ours = interpolate.Rbf(X, Y, record.tensor(VALUES), **options)
    theirs = host.Rbf(X, Y, VALUES, **options)
    np.testing.assert_allclose(ours(*AT).data, theirs(*AT), rtol=1e-11)
    np.testing.assert_array_equal(interpolate.Rbf(X, Y, VALUES, **options)(*AT), theirs(*AT))
    assert np.all(np.isfinite(ours.A.data if hasattr(ours.A, "data") else ours.A))

    def of(x: Any, d: Any, at: Any) -> Any:
        return interpolate.Rbf(x, Y, d, **options)(at, AT[1])

    # At a point itself these are not smooth to the third order, which differences want
    beside = AT[0] + (0.05 if function in {"linear", "cubic", "thin-plate"} else 0.0)
    checked(of, (X, VALUES, beside), rtol=1e-6, atol=1e-7)


def test_what_else_rbf_takes() -> None:
    def bump(r: Any) -> Any:
        return np.exp(-r)

    def scaled(self: Any, r: Any) -> Any:
        return np.exp(-(r**2) * self.sharpness)

    several = np.stack([VALUES, 2 * VALUES + 1], axis=1)
    record = ta.ComputationRecord()
    for options, values in (
        ({"function": bump}, VALUES),
        ({"function": scaled, "sharpness": 0.7}, VALUES),
        ({"mode": "N-D", "epsilon": 0.8}, several),
        ({"norm": "cityblock", "function": "cubic"}, VALUES),
    ):
        ours = interpolate.Rbf(X, Y, record.tensor(values), **options)(*AT)
        np.testing.assert_allclose(ours.data, host.Rbf(X, Y, values, **options)(*AT), rtol=1e-11)
    checked(lambda e: interpolate.Rbf(X, Y, VALUES, epsilon=e)(*AT), (0.8,))
    checked(lambda d: interpolate.Rbf(X, Y, d, mode="N-D")(*AT), (several,))
    handle = record.tensor(VALUES)
    refused: list[tuple[Callable[[], Any], str]] = [
        (lambda: interpolate.Rbf(X, Y, handle, mode="2-D"), "Mode"),
        (lambda: interpolate.Rbf(X, Y, handle[1:]), "equal length"),
        (lambda: interpolate.Rbf(X, Y, handle, function="odd"), "one of"),
        (lambda: interpolate.Rbf(X, Y, handle)(AT[0], AT[1][:1]), "must be equal"),
    ]
    for call, says in refused:
        with pytest.raises(ValueError, match=says):
            call()


# Rational functions

newer = pytest.mark.skipif(not hasattr(host, "AAA"), reason="since SciPy 1.15")
POINTS = np.array([0.0, 0.7, 1.1, 2.0, 2.9, 3.3])
ORDINATES = np.array([1.0, 0.3, -0.2, 0.8, 2.0, 1.5])
PLACES = np.array([0.4, 1.1, 3.1, 3.8])  # the second is one of the points


@newer
@pytest.mark.parametrize("d", [0, 1, 3])
def test_floater_hormann(d: int) -> None:
    ours = interpolate.FloaterHormannInterpolator(
        POINTS, ta.ComputationRecord().tensor(ORDINATES), d=d
    )
    theirs = host.FloaterHormannInterpolator(POINTS, ORDINATES, d=d)
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-13)
    np.testing.assert_allclose(ours(PLACES).data, theirs(PLACES), rtol=1e-12)
    assert ours(0.4).shape == ()
    np.testing.assert_allclose(ours(PLACES + 0.1j).data, theirs(PLACES + 0.1j), rtol=1e-12)

    def of(x: Any, y: Any, z: Any) -> Any:
        return interpolate.FloaterHormannInterpolator(x, y, d=d)(z)

    np.testing.assert_array_equal(of(POINTS, ORDINATES, PLACES), theirs(PLACES))
    checked(of, (POINTS, ORDINATES, PLACES), rtol=1e-6, atol=1e-7)


@newer
def test_points_that_scipy_leaves_out_are_left_out() -> None:
    order, bad = [3, 1, 5, 0, 2, 4, 1], np.append(ORDINATES, np.nan)
    points, values = np.append(POINTS, 1.7)[[*order, 6]], bad[[*order, 6]]
    handle = ta.ComputationRecord().tensor(values)
    ours = interpolate.FloaterHormannInterpolator(points, handle)(PLACES)
    theirs = host.FloaterHormannInterpolator(points, values)(PLACES)
    np.testing.assert_allclose(ours.data, theirs, rtol=1e-12)
    rows = np.stack([ORDINATES, 2 * ORDINATES], axis=1)
    ours = interpolate.FloaterHormannInterpolator(POINTS, ta.ComputationRecord().tensor(rows))
    theirs = host.FloaterHormannInterpolator(POINTS, rows)
    np.testing.assert_allclose(ours(PLACES).data, theirs(PLACES), rtol=1e-12)
    refused: Any = (
        (lambda: interpolate.FloaterHormannInterpolator(POINTS, handle), "size"),
        (lambda: interpolate.FloaterHormannInterpolator(rows, handle), "1-D"),
        (lambda: interpolate.FloaterHormannInterpolator(points, handle, d=8), "0 <= d < n"),
    )
    for call, says in refused:
        with pytest.raises(ValueError, match=says):
            call()


@newer
def test_aaa_has_derivatives_by_where_it_is_taken() -> None:
    x = np.linspace(-1.0, 1.0, 40)
    made = interpolate.AAA(x, np.exp(x))
    theirs = host.AAA(x, np.exp(x))
    np.testing.assert_array_equal(made(PLACES / 4), theirs(PLACES / 4))
    np.testing.assert_array_equal(made.support_points, theirs.support_points)
    at = np.array([0.3, made.support_points[0]])
    checked(made, (at,), rtol=1e-6, atol=1e-6)
    handle = ta.ComputationRecord().tensor(x)
    with pytest.raises(UnsupportedArgumentError, match="AAA: y cannot be a handle"):
        interpolate.AAA(x, handle)
    np.testing.assert_array_equal(made.poles(), theirs.poles())


# Curves and spheres


def test_a_spline_through_the_points_of_a_curve() -> None:
    curve = np.stack([np.cos(POINTS), np.sin(1.3 * POINTS)])

    def taken(module: Any, x: Any, **options: Any) -> Any:
        tck, u = module.splprep(x, s=0, **options)
        return np.stack([*module.splev(np.array([0.1, 0.63]), tck), u[1:3]])

    handle = ta.ComputationRecord().tensor(curve)
    for options in ({}, {"k": 2}, {"u": POINTS / 3.3}):
        ours, theirs = (taken(*each, **options) for each in ((interpolate, handle), (host, curve)))
        np.testing.assert_allclose(ours.data, theirs, rtol=1e-11)
        apart = taken(interpolate, [handle[0], curve[1]], **options)
        np.testing.assert_allclose(apart.data, theirs, rtol=1e-11)
    np.testing.assert_array_equal(taken(interpolate, list(curve)), taken(host, list(curve)))
    checked(lambda x: taken(interpolate, x), (curve,), rtol=1e-6, atol=1e-7)
    with pytest.raises(UnsupportedArgumentError, match="give s=0"):
        interpolate.splprep(handle)
    with pytest.raises(UnsupportedArgumentError, match="per cannot go with"):
        interpolate.splprep(handle, s=0, per=1)


def test_as_much_smoothing_as_leaves_one_polynomial() -> None:
    w = 1 / (1 + POINTS)

    def taken(module: Any, y: Any, x: Any = POINTS) -> Any:
        made = module.UnivariateSpline(x, y, w, k=2)(PLACES)
        return np.concatenate([made, module.splev(PLACES, module.splrep(x, y, s=9.0))])

    handle = ta.ComputationRecord().tensor(ORDINATES)
    np.testing.assert_allclose(taken(interpolate, handle).data, taken(host, ORDINATES), rtol=1e-11)
    checked(lambda y, x: taken(interpolate, y, x), (ORDINATES, POINTS), rtol=1e-6, atol=1e-7)


LATITUDES, LONGITUDES = np.linspace(0.4, 2.8, 5), np.linspace(0.0, 5.5, 6)
GRID = np.sin(LATITUDES)[:, None] * np.cos(LONGITUDES) + 0.3 * np.cos(LATITUDES)[:, None]


UNWRITTEN = np.lib.NumpyVersion(scipy.__version__) >= "1.18.0"

POLES: list[dict[str, Any]] = [{}, {"pole_values": (0.4, -0.3)}]
if not UNWRITTEN:
    POLES.append({"pole_continuity": True})


@pytest.mark.parametrize("poles", POLES)
def test_a_grid_on_a_sphere(poles: Any) -> None:
    theirs = host.RectSphereBivariateSpline(LATITUDES, LONGITUDES, GRID, **poles)

    def of(r: Any, theta: Any, phi: Any) -> Any:
        return interpolate.RectSphereBivariateSpline(LATITUDES, LONGITUDES, r, **poles).ev(
            theta, phi
        )

    theta, phi = np.array([0.3, 1.7]), np.array([1.1, 4.2])
    handle = ta.ComputationRecord().tensor(GRID)
    np.testing.assert_allclose(of(handle, theta, phi).data, theirs.ev(theta, phi), rtol=1e-10)
    np.testing.assert_array_equal(of(GRID, theta, phi), theirs.ev(theta, phi))
    whole = interpolate.RectSphereBivariateSpline(LATITUDES, LONGITUDES, handle, **poles)
    np.testing.assert_allclose(whole(theta, phi, 1, 0).data, theirs(theta, phi, 1, 0), rtol=1e-9)
    np.testing.assert_allclose(whole.get_coeffs().data, theirs.get_coeffs(), atol=1e-13)
    checked(of, (GRID, theta, phi), rtol=1e-6, atol=1e-7)
    with pytest.raises(UnsupportedArgumentError, match="RectSphereBivariateSpline: u cannot be"):
        interpolate.RectSphereBivariateSpline(handle[:, 0], LONGITUDES, GRID)
    with pytest.raises(UnsupportedArgumentError, match="s= other than 0"):
        interpolate.RectSphereBivariateSpline(LATITUDES, LONGITUDES, handle, s=1.0)
    with pytest.raises(ValueError, match="theta out of bounds"):
        whole.ev(-1.0, 1.0)


class Unrepeatable:
    """A surface whose coefficients are other ones at each call, as unwritten memory is."""

    drawn = np.random.default_rng(0)

    def __init__(self, u: Any, v: Any, r: Any) -> None:
        self.tck = u, v, self.drawn.normal(size=r.size)


def test_surfaces_that_are_other_ones_at_each_call_are_refused() -> None:
    handle = ta.ComputationRecord().tensor(GRID)
    with pytest.raises(UnsupportedArgumentError, match=r"Unrepeatable: r= .* at each call"):
        fit(Unrepeatable, Unrepeatable(LATITUDES, LONGITUDES, GRID), LATITUDES, LONGITUDES, handle)


def test_scattered_points_on_a_sphere() -> None:
    theta, phi = (np.ravel(each) for each in np.meshgrid(LATITUDES, LONGITUDES, indexing="ij"))
    r, knots = GRID.reshape(-1), ([1.6], [1.5, 3.0, 4.5])

    def of(r: Any, at: Any) -> Any:
        return interpolate.LSQSphereBivariateSpline(theta, phi, r, *knots)(at, np.array([0.5, 2.5]))

    theirs = host.LSQSphereBivariateSpline(theta, phi, r, *knots)
    at = np.array([0.7, 1.9])
    ours = of(ta.ComputationRecord().tensor(r), at)
    np.testing.assert_allclose(ours.data, theirs(at, np.array([0.5, 2.5])), rtol=1e-9)
    checked(of, (r, at), rtol=1e-6, atol=1e-7)
    smooth = interpolate.SmoothSphereBivariateSpline(theta, phi, r, s=1.0)
    np.testing.assert_array_equal(
        smooth(at, at), host.SmoothSphereBivariateSpline(theta, phi, r, s=1.0)(at, at)
    )
    checked(lambda at: smooth.ev(at, at + 1), (at,), rtol=1e-6, atol=1e-7)
    handle = ta.ComputationRecord().tensor(r)
    with pytest.raises(UnsupportedArgumentError, match="r= cannot be a handle"):
        interpolate.SmoothSphereBivariateSpline(theta, phi, handle, s=1.0)
    with pytest.raises(UnsupportedArgumentError, match="w cannot be a handle"):
        interpolate.SmoothSphereBivariateSpline(theta, phi, r, w=handle)
    with pytest.raises(ValueError, match="phi out of bounds"):
        smooth.ev(handle[:1] * 0 + 1, -1.0)

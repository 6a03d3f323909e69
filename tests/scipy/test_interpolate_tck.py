"""Splines in FITPACK's form, polynomials, and surfaces: with handles."""

import functools
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as host

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import interpolate

checked = functools.partial(ta.testing.check_grads, order=2, rtol=1e-6, atol=1e-7)
close = functools.partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-12)

X = np.array([0.0, 0.6, 1.1, 2.0, 2.6, 3.3])
Y = np.array([1.0, -0.3, -1.2, 0.8, 2.0, -0.5])
T, C, K = host.splrep(X, Y)
AT = np.array([0.4, 1.5, 3.0])


def handles(*arrays: Any) -> Any:
    record = ta.ComputationRecord()
    return [record.tensor(each) for each in arrays]


def test_all_derivatives_of_a_spline() -> None:
    t, c, at = handles(T, C, AT)
    close(np.stack(interpolate.spalde(at, (t, c, K))).data, host.spalde(AT, (T, C, K)))
    close(interpolate.spalde(1.5, (t, c, K)).data, host.spalde(1.5, (T, C, K)))
    curve = interpolate.spalde(1.5, (T, [c, 2 * C], K))
    close(curve[1], host.spalde(1.5, (T, 2 * C, K)))
    close(interpolate.spalde(1.5, (T, C, K)), host.spalde(1.5, (T, C, K)))
    checked(lambda c, x: interpolate.spalde(x, (T, c, K)), (C, 1.5))


def test_the_roots_of_a_spline() -> None:
    (c,) = handles(C)
    expected: Any = host.sproot((T, C, K))
    assert expected.size == 3
    close(interpolate.sproot((T, c, K)).data, expected)
    close(interpolate.sproot((T, C, K)), expected)
    close(interpolate.sproot(interpolate.BSpline(T, c[:6], K)).data, expected)
    close(interpolate.sproot((T, [c, C], K))[1], expected)

    # The outer knots are several in one place
    def between(c: Any, inner: Any) -> Any:
        return interpolate.sproot((np.concatenate((T[:4], inner, T[-4:])), c, K))

    checked(between, (C, T[4:-4]))
    with pytest.raises(ValueError, match="only for cubic"):
        interpolate.sproot((T, c, 2))


@pytest.mark.parametrize("m", [1, 2])
def test_a_knot_that_is_inserted(m: int) -> None:
    (c,) = handles(C)
    for x in (0.4, 1.5, T[4]):
        t, ours, _ = interpolate.insert(x, (T, c, K), m)
        theirs = host.insert(x, (T, C, K), m)
        close(t, theirs[0])
        close(ours.data[: 6 + m], theirs[1][: 6 + m])
        plain = interpolate.insert(x, (T, C, K), m)
        np.testing.assert_array_equal(plain[1][: 6 + m], theirs[1][: 6 + m])
    spline = interpolate.insert(1.5, interpolate.BSpline(T, c[:6], K), m)
    close(spline(AT).data, host.splev(AT, (T, C, K)))
    close(interpolate.insert(1.5, interpolate.BSpline(T, C[:6], K), m)(AT), spline(AT).data)
    curve = interpolate.insert(1.5, (T, [c, 2 * c], K), m)
    close(curve[1][1].data, 2 * curve[1][0].data)
    taken = lambda x, c, t: interpolate.insert(x, (t, c, K), m)[1][: 6 + m]  # noqa: E731 - it is short
    checked(taken, (1.5, C, T))
    with pytest.raises(UnsupportedArgumentError, match="per= cannot go"):
        interpolate.insert(1.5, (T, c, K), m, per=1)


@pytest.mark.skipif(not hasattr(host, "make_splrep"), reason="since SciPy 1.15")
def test_splines_through_points_by_their_new_names() -> None:
    (y,) = handles(Y)
    for options in ({}, {"k": 5}, {"bc_type": "not-a-knot"}):
        theirs = host.make_splrep(X, Y, **options)
        close(interpolate.make_splrep(X, y, **options)(AT).data, theirs(AT))
        close(interpolate.make_splrep(X, Y, **options)(AT), theirs(AT))
    close(interpolate.make_splrep(X, Y, s=0.5)(AT), host.make_splrep(X, Y, s=0.5)(AT))
    ours, u = interpolate.make_splprep([X, y])
    theirs, v = host.make_splprep([X, Y])
    close(u.data, v)
    close(ours(AT / 4).data, theirs(AT / 4))
    plain, _ = interpolate.make_splprep([X, Y])
    close(plain(AT / 4), theirs(AT / 4))
    checked(lambda y: interpolate.make_splprep([X, y])[0](0.3), (Y,))
    with pytest.raises(UnsupportedArgumentError, match="make_splrep: handles are"):
        interpolate.make_splrep(X, y, s=1.0)
    with pytest.raises(UnsupportedArgumentError, match="make_splprep: handles are"):
        interpolate.make_splprep([X, y], s=1.0)


# Polynomials


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # SciPy 1.18
def test_quotients_for_power_series() -> None:
    an = np.array([1.0, 0.7, 1 / 2, 0.2, 1 / 24, 0.1])
    for m, n in ((1, None), (2, 2), (3, 1), (0, 3)):
        ours = interpolate.pade(ta.ComputationRecord().tensor(an), m, n)
        for one, other in zip(ours, host.pade(an, m, n), strict=True):
            close(getattr(one.coeffs, "data", one.coeffs), other.coeffs)
        for one, other in zip(interpolate.pade(an, m, n), host.pade(an, m, n), strict=True):
            close(one.coeffs, other.coeffs)

    def of(an: Any, x: Any) -> Any:
        p, q = interpolate.pade(an, 2)
        return p(x) / q(x)

    checked(of, (an, 0.3))
    with pytest.raises(ValueError, match="must be smaller"):
        interpolate.pade(ta.ComputationRecord().tensor(an), 9)


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # SciPy 1.18
def test_the_polynomial_through_points() -> None:
    x, y = X[:4], Y[:4]
    close(interpolate.lagrange(x, handles(y)[0]).coeffs.data, host.lagrange(x, y).coeffs)
    close(interpolate.lagrange(x, y).coeffs, host.lagrange(x, y).coeffs)
    checked(lambda x, y: interpolate.lagrange(x, y)(AT), (x, y))


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # SciPy 1.18
def test_polynomials_in_place_of_taylors() -> None:
    def of(x: Any, k: Any, scale: Any = 0.5) -> Any:
        made = interpolate.approximate_taylor_polynomial(lambda t: np.sin(k * t), x, 3, scale, 5)
        return made.coeffs

    theirs = host.approximate_taylor_polynomial(lambda t: np.sin(2 * t), 0.3, 3, 0.5, 5)
    close(of(0.3, 2.0), theirs.coeffs)
    close(of(handles(0.3)[0], 2.0).data, theirs.coeffs)
    checked(of, (0.3, 2.0, 0.5))


# Surfaces

POINTS = np.random.default_rng(5).uniform(0, 1, (24, 2))
Z = np.sin(3 * POINTS[:, 0]) + POINTS[:, 1] ** 2
XI = np.array([[0.3, 0.4], [0.6, 0.5], [3.0, 3.0]])


def test_cubic_pieces_on_triangles() -> None:
    (z,) = handles(Z)
    theirs = host.CloughTocher2DInterpolator(POINTS, Z)(XI)
    ours = interpolate.CloughTocher2DInterpolator(POINTS, z)
    np.testing.assert_array_equal(ours(XI).data, theirs)
    np.testing.assert_array_equal(ours(XI[:, 0], XI[:, 1]).data, theirs)
    np.testing.assert_array_equal(interpolate.griddata(POINTS, z, XI, "cubic").data, theirs)
    filled = interpolate.CloughTocher2DInterpolator(POINTS, Z, fill_value=-1.0)
    np.testing.assert_array_equal(filled(XI)[2], -1.0)
    several = np.stack([Z, 2 * Z + 1j], axis=1)
    both = interpolate.CloughTocher2DInterpolator(POINTS, handles(several)[0])(XI[:2])
    np.testing.assert_allclose(both.data, host.CloughTocher2DInterpolator(POINTS, several)(XI[:2]))
    exact = functools.partial(interpolate.CloughTocher2DInterpolator, POINTS, tol=1e-12)
    checked(lambda z: exact(z)(XI[:2]), (Z,))
    gradient = ta.grad(lambda z: exact(z, fill_value=0.0)(XI).sum())(Z)
    np.testing.assert_allclose(gradient @ Z, exact(Z)(XI[:2]).sum())
    for call in (
        lambda: interpolate.CloughTocher2DInterpolator(handles(POINTS)[0], Z),
        lambda: ours(handles(XI)[0]),
    ):
        with pytest.raises(UnsupportedArgumentError, match="derivatives by the values alone"):
            call()


def test_splines_of_given_knots_on_a_rectangle() -> None:
    x, y = POINTS.T

    def of(z: Any, at: Any) -> Any:
        made = interpolate.LSQBivariateSpline(x, y, z, [0.5], [0.4], kx=2, ky=1)
        return made.ev(at, np.array([0.2, 0.7]))

    at = np.array([0.3, 0.8])
    theirs = host.LSQBivariateSpline(x, y, Z, [0.5], [0.4], kx=2, ky=1)
    close(of(handles(Z)[0], at).data, theirs.ev(at, [0.2, 0.7]), rtol=1e-8)
    close(of(Z, at), theirs.ev(at, [0.2, 0.7]))
    checked(of, (Z, at))
    with pytest.raises(UnsupportedArgumentError, match="by z= alone"):
        interpolate.LSQBivariateSpline(x, handles(y)[0], Z, [0.5], [0.4])
    smooth = interpolate.SmoothBivariateSpline(x, y, Z, s=1.0)
    close(smooth(at, at), host.SmoothBivariateSpline(x, y, Z, s=1.0)(at, at))
    checked(lambda at: smooth.ev(at, at), (at,))
    with pytest.raises(UnsupportedArgumentError, match="z= cannot be a handle"):
        interpolate.SmoothBivariateSpline(x, y, handles(Z)[0])


def test_splines_in_the_form_of_fitpack_on_a_rectangle() -> None:
    x, y = POINTS.T
    t, u, c, kx, ky = host.bisplrep(x, y, Z, s=0.1, kx=2, ky=3)
    at, down = np.array([0.2, 0.6, 0.9]), np.array([0.3, 0.5])
    calls: Any = ((at, down, 0), (at, down, 1), (at[:1], down, 0), (0.2, 0.3, 0))
    for x, y, dx in calls:
        ours = interpolate.bisplev(x, y, [t, u, handles(c)[0], kx, ky], dx)
        close(ours.data, host.bisplev(x, y, [t, u, c, kx, ky], dx))
    close(
        interpolate.bisplev(at, down, [t, u, c, kx, ky]),
        host.bisplev(at, down, [t, u, c, kx, ky]),
    )
    checked(lambda c, at: interpolate.bisplev(at, down, [t, u, c, kx, ky]), (c, at))

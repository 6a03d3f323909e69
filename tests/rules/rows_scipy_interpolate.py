"""Rows for `tape_ad.scipy.interpolate`, most of them of what its objects are made of."""

from typing import Any

import numpy as np
import scipy.interpolate
import scipy.sparse.linalg

import tape_ad as ta
import tape_ad.scipy.interpolate
from tape_ad.rules.base import in_double
from tape_ad.scipy.interpolate import bsplines, scattered
from tape_ad.scipy.interpolate.bsplines import (
    knots_for,
    spline_piece,
    within_knots,
)
from tape_ad.scipy.interpolate.fitpack import one_polynomial, places_of_spline
from tape_ad.scipy.interpolate.polynomials import (
    evaluated,
    nearest_support,
    piece_of,
    places_of,
)
from tape_ad.scipy.interpolate.scattered import (
    clough_tocher_value,
    nearest_point,
    vertices_around,
)
from tests.rules.table import DISTINCT, POSITIVE, REAL, Domain, Row, fixed, plain, signed, uniform

__all__ = ["CONSTANTS", "ROWS"]

Array = Any

NO_JAX = "JAX has no such function"
MANY = 300  # these are compositions


def increasing(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Draw knots in order, far enough from each other."""
    return np.cumsum(rng.uniform(0.5, 1.0, shape), axis=-1)


TRIANGLES = np.array([[0, 1, 2], [1, 2, 3]])
KNOTS = Domain(increasing, signed(0.1, 0.2))
DESCENDING = Domain(lambda rng, shape: -increasing(rng, shape), signed(0.1, 0.2))
POINTS = uniform(-0.5, 4.5)

APART = (
    np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [0.9, 0.8]]),
    np.array([[0.3, 0.4], [0.6, 0.5]]),
)


@ta.differentiable
def piecewise_value(c: Array, x: Array, points: Array, nu: int = 0) -> Array:
    return scipy.interpolate.PPoly(c, x)(points, nu)


@ta.differentiable
def spline_value(t: Array, c: Array, k: int, points: Array, nu: int = 0) -> Array:
    return scipy.interpolate.BSpline(t, c, k)(points, nu)


@ta.differentiable
def interpolating_coefficients(
    x: Array, y: Array, t: Array, start: Array, end: Array, k: int = 3, orders: Any = ((), ())
) -> Array:
    given = [[*zip(o, v, strict=True)] for o, v in zip(orders, (start, end), strict=True)]
    bc_type = tuple(each or None for each in given)
    return scipy.interpolate.make_interp_spline(x, y, k, t, bc_type).c


@ta.differentiable
def periodic_coefficients(x: Array, y: Array) -> Array:
    return scipy.interpolate.make_interp_spline(x, y, 3, bc_type="periodic").c


@ta.differentiable
def fitted_coefficients(x: Array, y: Array, t: Array, w: Array, k: int = 3) -> Array:
    return bsplines.fitted_coefficients(x, y, t, w, k)  # older releases solve normal equations


@ta.differentiable
def grid_value(values: Array, points: Array, *grid: Array, method: str = "linear") -> Array:
    options: dict[str, Any] = {"bounds_error": False, "fill_value": None}
    if method == "cubic":  # for which SciPy iterates by itself
        options["solver"] = scipy.sparse.linalg.spsolve
    return scipy.interpolate.RegularGridInterpolator(grid, values, method, **options)(points)


@ta.differentiable
def radial_value(
    points: Array, values: Array, xi: Array, smoothing: Array, epsilon: Array, **options: Any
) -> Array:
    options |= {"smoothing": smoothing, "epsilon": epsilon}
    return scipy.interpolate.RBFInterpolator(points, values, **options)(xi)


@ta.differentiable
def simplex_value(points: Array, values: Array, xi: Array) -> Array:
    return scattered.simplex_value(points, values, xi, TRIANGLES)


@ta.differentiable
def hermite_coefficients(x: Array, y: Array, dydx: Array) -> Array:
    return scipy.interpolate.CubicHermiteSpline(x, y, dydx).c


@ta.differentiable
def cubic_spline_coefficients(
    x: Array, y: Array, start: Array = 0.0, end: Array = 0.0, kinds: Any = ()
) -> Array:
    if kinds[0] == "periodic":
        return scipy.interpolate.CubicSpline(x, y, bc_type="periodic").c
    given = zip(kinds, (start, end), strict=True)
    bc_type = tuple(kind if isinstance(kind, str) else (kind, value) for kind, value in given)
    return scipy.interpolate.CubicSpline(x, y, bc_type=bc_type).c


@ta.differentiable
def pchip_coefficients(x: Array, y: Array) -> Array:
    return scipy.interpolate.PchipInterpolator(x, y).c


@ta.differentiable
def akima_coefficients(x: Array, y: Array, method: str = "akima") -> Array:
    return scipy.interpolate.Akima1DInterpolator(x, y, method=method).c


ROWS: list[Row] = [
    *(
        Row(
            piecewise_value,
            [REAL(*c), knots(c[1] + 1), points],
            options={"nu": nu},
            nodes=MANY,
            note=note,
            no_jax=NO_JAX,
        )
        for c, knots, points, nu, note in (
            ((4, 3), KNOTS, POINTS(5), 0, ""),
            ((4, 3, 2), KNOTS, POINTS(2, 2), 1, ""),
            ((3, 2), DESCENDING, POINTS(3), 2, "decreasing"),
            ((2, 2), KNOTS, POINTS(), 0, ""),
            ((2, 2), KNOTS, POINTS(2), 2, "nothing left"),
            ((2, 2), KNOTS, POINTS(0), 0, ""),
        )
    ),
    Row(
        piecewise_value,
        [REAL(3, 2), KNOTS(3), POINTS(3)],
        prepare=lambda c, x, points: [c, np.real(x), np.real(points)],
        note="of complex values",
        complex=True,
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            hermite_coefficients,
            [KNOTS(n), REAL(n, *rest), REAL(n, *rest)],
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for n, rest in ((4, ()), (3, (2,)))
    ),
    *(
        Row(
            cubic_spline_coefficients,
            [KNOTS(n), REAL(n, *rest), REAL(*rest), REAL(*rest)],
            options={"kinds": kinds},
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for n, rest, kinds in (
            (5, (), ("not-a-knot", "not-a-knot")),
            (4, (2,), (1, 2)),
            (4, (), (2, "not-a-knot")),
            (4, (), ("not-a-knot", 1)),
            (3, (), ("not-a-knot", "not-a-knot")),
            (3, (), ("not-a-knot", 2)),
            (2, (), ("not-a-knot", 2)),
            (4, (0,), (1, 2)),
        )
    ),
    Row(
        cubic_spline_coefficients,
        [KNOTS(4), REAL(4), REAL(), REAL()],
        prepare=lambda x, *others: [np.real(x), *others],
        options={"kinds": (2, 2)},
        note="of complex values",
        complex=True,
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            cubic_spline_coefficients,
            [KNOTS(n), REAL(n - 1, *rest)],
            prepare=lambda x, y: [x, np.concatenate((y, y[:1]))],
            options={"kinds": ("periodic", "periodic")},
            note="periodic",
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for n, rest in ((6, ()), (4, (2,)), (3, ()))
    ),
    *(
        Row(pchip_coefficients, [KNOTS(n), DISTINCT(n, *rest)], nodes=MANY, no_jax=NO_JAX)
        for n, rest in ((5, ()), (3, (2,)), (2, ()))
    ),
    *(
        Row(
            akima_coefficients,
            [KNOTS(n), DISTINCT(n, *rest)],
            options={"method": method},
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for n, rest, method in (
            (5, (), "akima"),
            (4, (2,), "makima"),
        )
    ),
]

KNOTS_OF = {k: np.concatenate(([0.0] * k, np.arange(5.0), [4.0] * k)) for k in range(6)}
TWELVE = [-0.2, -0.1, 0.0, 0.5, 1.0, 1.6, 2.2, 2.9, 3.5, 4.2, 4.3, 4.4]
SITES = fixed([0.3, 0.7, 1.3, 1.9, 2.6, 3.1, 4.1])


def spline_knots(k: int) -> Any:
    """Make the knots of a spline on four pieces, of which the outer ones are not equal."""
    return fixed(KNOTS_OF[k] + 0.05 * np.arange(5 + 2 * k))


def closed(x: Array, y: Array) -> list[Array]:
    """Repeat the first value at the end, and make the knots of a periodic spline."""
    return [x, np.concatenate((y, y[:1])), knots_for(in_double(x), 3, "periodic")]


ROWS += [
    *(
        Row(
            spline_value,
            [spline_knots(k), REAL(k + 4, *rest), points],
            options={"nu": nu},
            call=lambda f, t, c, points, k=k, **options: f(t, c, k, points, **options),
            note=f"degree {k}",
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for k, rest, points, nu in (
            (3, (), uniform(0.3, 4.1)(4), 0),
            (2, (2,), uniform(0.3, 4.1)(2, 2), 1),
            (1, (), uniform(0.3, 4.1)(), 0),
            (0, (), fixed([0.6, 1.4]), 0),
            (3, (), uniform(0.3, 4.1)(3), 3),
            (1, (), uniform(0.3, 4.1)(0), 0),
        )
    ),
    Row(
        interpolating_coefficients,
        [SITES, REAL(7), spline_knots(3), REAL(0), REAL(0)],
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    Row(
        interpolating_coefficients,
        [SITES, REAL(7, 2), fixed(TWELVE), REAL(1, 2), REAL(1, 2)],
        options={"k": 2, "orders": ((1,), (1,))},
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    Row(
        periodic_coefficients,
        [KNOTS(6), REAL(5, 2)],
        prepare=lambda x, y: [x, np.concatenate((y, y[:1]))],
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    Row(
        fitted_coefficients,
        [fixed(np.linspace(0.3, 4.2, 12) + 0.02), REAL(12), spline_knots(2), POSITIVE(12)],
        options={"k": 2},
        nodes=MANY,
        no_jax=NO_JAX,
    ),
]

ROWS += [
    *(
        Row(
            grid_value,
            [REAL(*values), points, *(KNOTS(n) for n in values[: points.shape[-1]])],
            options={"method": method},
            note=note,
            nodes=MANY,
            no_jax="JAX has it as an object; see tests/oracle/test_jax_scipy.py",
        )
        for method, values, points, note in (
            ("linear", (3, 4), POINTS(3, 2), ""),
            ("linear", (3, 2), POINTS(2, 1), ""),
            ("linear", (2, 2, 2), POINTS(0, 3), ""),
            ("cubic", (5, 4), POINTS(2, 2), ""),
            ("slinear", (3, 1, 2), POINTS(2, 1), ""),
            ("pchip", (4, 4), POINTS(2, 2), ""),
        )
    ),
    Row(
        grid_value,
        [REAL(3, 4), plain([[0.8, 1.1], [2.0, 0.7]]), plain(np.arange(3.0)), plain(np.arange(4.0))],
        options={"method": "nearest"},
        nodes=MANY,
        no_jax="JAX has it as an object; see tests/oracle/test_jax_scipy.py",
    ),
]

CORNERS = fixed([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 1.2]])

ROWS += [
    *(
        Row(
            radial_value,
            [CORNERS, REAL(4, 2), fixed([[0.4, 0.3]]), POSITIVE(4), fixed(1.3)],
            options={"kernel": kernel, "degree": degree},
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for kernel, degree in (("thin_plate_spline", 1), ("gaussian", -1), ("linear", 0))
    ),
    Row(
        simplex_value,
        [CORNERS, REAL(4), fixed([[0.3, 0.3], [0.8, 0.8]])],
        nodes=MANY,
        no_jax=NO_JAX,
    ),
]

ROWS.append(
    Row(
        clough_tocher_value,
        [REAL(4)],
        call=lambda f, values: f(values, *APART, {"tol": 1e-12}),
        complex=True,
        nodes=10,
        no_jax=NO_JAX,
    )
)

CONSTANTS: list[Row] = [
    Row(
        places_of,
        [REAL(3, 2), KNOTS(3), REAL()],
        call=lambda f, c, x, y: f(c, x, y, True, True),
    ),
    Row(vertices_around, [CORNERS, fixed([[0.3, 0.3], [9.0, 9.0]])]),
    Row(nearest_point, [REAL(5, 2), REAL(3, 2)], options={"options": {}}),
    Row(places_of_spline, [KNOTS(8), REAL(4)], call=lambda f, t, c: f(t, c, 10)),
    Row(nearest_support, [DISTINCT(4), REAL(2)]),
    Row(one_polynomial, [KNOTS(5), REAL(5), POSITIVE(5)], call=lambda f, *xyw: f(*xyw, 2, 9.0)),
    Row(spline_piece, [KNOTS(8), POINTS(3)], call=lambda f, t, x: f(t, 2, x)),
    Row(within_knots, [KNOTS(8), POINTS(3)], call=lambda f, t, x: f(t, 2, x, False)),
    Row(piece_of, [KNOTS(4), POINTS(3)]),
    Row(evaluated, [KNOTS(4), POINTS(3)], options={"extrapolate": False}),
]

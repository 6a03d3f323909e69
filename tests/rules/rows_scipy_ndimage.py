"""Rows for `tape_ad.scipy.ndimage`."""

from typing import Any

import numpy as np
import scipy

from tape_ad.scipy import ndimage
from tape_ad.scipy.ndimage.extension import MODES as NUMBERED
from tape_ad.scipy.ndimage.filters import Passing, averaged, correlated
from tape_ad.scipy.ndimage.interpolation import Reading, interpolated, prefiltered
from tests.rules.table import INSIDE, POSITIVE, REAL, Domain, Row, Shape, fixed, signed

__all__ = ["ROWS"]

Array = Any

SCIPY = tuple(map(int, scipy.__version__.split(".")[:2]))
NO_JAX = "JAX has no such function"


def with_constant(function: Any, image: Array, weights: Array, cval: Array, **options: Any) -> Any:
    """Give the constant beyond the edges by name."""
    return function(image, weights, cval=cval, **options)


def constant_second(function: Any, image: Array, cval: Array, **options: Any) -> Any:
    """Give the constant beyond the edges by name, and no weights."""
    return function(image, cval=cval, **options)


WINDOWS: tuple[tuple[Shape, Shape, str, Any], ...] = (
    ((5,), (3,), "reflect", 0),
    ((4,), (2,), "mirror", -1),
    ((3,), (5,), "wrap", 1),
    ((2, 3), (2, 3), "constant", (0, -1)),
    ((2, 3), (3, 2), "nearest", 0),
)

OF_KERNELS = "it is a function of ours"

ROWS: list[Row] = [
    *(
        Row(
            correlated,
            [REAL(3, 4), REAL(*weights), REAL()],
            options={"passing": Passing(axis, mode, origin, np.float64)},
            no_jax=OF_KERNELS,
        )
        for weights, axis, mode, origin in (((3,), 0, 4, 1), ((2, 3), None, 2, (0, -1)))
    ),
    Row(
        averaged,
        [REAL(2, 4), REAL()],
        options={"size": 3, "passing": Passing(1, 4, 1, np.float64)},
        no_jax=OF_KERNELS,
    ),
    *(
        Row(
            function,
            [REAL(*shape), REAL(*w), REAL()],
            call=with_constant,
            options={"mode": mode, "origin": origin},
            complex=shape == (2, 3),
            mixed=False,
            nodes=50,
            no_jax=NO_JAX,
            note="image",
        )
        for function in (ndimage.correlate, ndimage.convolve)
        for shape, w, mode, origin in WINDOWS
    ),
    *(
        Row(
            function,
            [REAL(3, 4), REAL(3), REAL()],
            call=with_constant,
            options={"axis": axis, "mode": "constant"},
            nodes=8,
            no_jax=NO_JAX,
        )
        for function in (ndimage.correlate1d, ndimage.convolve1d)
        for axis in (0, -1)
    ),
    Row(
        ndimage.uniform_filter1d,
        [REAL(2, 4), REAL()],
        call=constant_second,
        options={"size": 3, "mode": "constant", "origin": 1},
        complex=True,
        mixed=False,
        nodes=50,
        no_jax=NO_JAX,
    ),
    Row(ndimage.uniform_filter, [REAL(3, 3)], options={"size": 2}, nodes=8, no_jax=NO_JAX),
    *(
        Row(
            ndimage.gaussian_filter1d,
            [REAL(6), POSITIVE()],
            options={"order": order, "mode": "wrap", "radius": 2},
            nodes=60,
            no_jax=NO_JAX,
        )
        for order in (0, 1, 2, 3)
    ),
    Row(
        ndimage.gaussian_filter,
        [REAL(3, 4), POSITIVE(2)],
        options={"radius": 2},
        nodes=30,
        no_jax=NO_JAX,
    ),
    Row(
        ndimage.gaussian_filter,
        [REAL(3, 4)],
        options={"sigma": 0.7, "order": (0, 1), "mode": "mirror"},
        nodes=8,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            function,
            [REAL(3, 3), REAL()],
            call=constant_second,
            options={"mode": "constant"},
            nodes=12,
            no_jax=NO_JAX,
        )
        for function in (ndimage.sobel, ndimage.prewitt, ndimage.laplace)
    ),
    *(
        Row(
            function,
            [REAL(3, 4), POSITIVE(2)],
            options={"radius": 2},
            nodes=140,
            no_jax=NO_JAX,
        )
        for function in (ndimage.gaussian_laplace, ndimage.gaussian_gradient_magnitude)
    ),
    *(
        Row(
            function,
            [REAL(3, 3)],
            options={"derivative" + suffix: ndimage.sobel},
            nodes=20,
            no_jax=NO_JAX,
        )
        for function, suffix in (
            (ndimage.generic_laplace, "2"),
            (ndimage.generic_gradient_magnitude, ""),
        )
    ),
]

# What is given to a function of the user's


def weighed(window: Any, factor: float = 2.0) -> Any:
    return factor * np.sum(window**2) + window[0]


def differences(line: Any, out: Any) -> None:
    out[...] = line[2:] * line[:-2]


ROWS += [
    Row(
        ndimage.generic_filter,
        [REAL(2, 3), REAL()],
        options={"mode": "constant"},
        call=lambda f, x, c, **given: f(
            x, weighed, footprint=[[1, 0, 1], [0, 1, 1]], cval=c, origin=(0, 1), **given
        ),
        nodes=90,
        no_jax=NO_JAX,
    ),
    Row(
        ndimage.generic_filter1d,
        [REAL(3, 2)],
        call=lambda f, x: f(x, differences, 3, 0),
        nodes=30,
        no_jax=NO_JAX,
    ),
]

# Splines, and what moves images

MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant", "grid-wrap")

small = signed(0.01, 0.2)

# Not at knots, where splines of first order have a kink, and far outside as well
FLAT = Domain(
    lambda rng, shape: np.array([[0.3, 1.7, -0.6, 2.4, 5.2][: shape[1]]]) + small(rng, shape),
    signed(0.1, 0.2),
)


def at(function: Any, image: Array, coordinates: Array, cval: Array, **options: Any) -> Any:
    """Give the constant beyond the edges by name."""
    return function(image, coordinates, cval=cval, **options)


ROWS += [
    *(
        Row(
            ndimage.spline_filter1d,
            [REAL(2, n)],
            options={"order": order, "mode": mode},
            nodes=8,
            no_jax=NO_JAX,
        )
        for n, order, mode in (
            (4, 3, "mirror"),
            (3, 2, "reflect"),
            (1, 4, "grid-wrap"),
            (34, 5, "mirror"),
            (34, 3, "reflect"),
            (3, 1, "mirror"),
        )
    ),
    Row(ndimage.spline_filter, [REAL(3, 3)], nodes=8, no_jax=NO_JAX),
    *(
        Row(
            ndimage.map_coordinates,
            [REAL(4), FLAT(1, 5), REAL()],
            call=at,
            options={"order": order, "mode": mode},
            jax="scipy.ndimage.map_coordinates" if jax else "",
            nodes=11,  # of which margins of a value that is a handle take a few
            no_jax="" if jax else NO_JAX,
        )
        for order, mode, jax in (
            *((3, mode, False) for mode in MODES),
            (2, "nearest", False),
            (2, "mirror", False),
            (4, "reflect", False),
            (5, "grid-constant", False),
            (1, "constant", False),
            (1, "nearest", False),
            (1, "wrap", False),
            (1, "mirror", False),
        )
    ),
    Row(
        ndimage.map_coordinates,
        [REAL(3, 4), FLAT(2, 5), REAL()],
        call=at,
        prepare=lambda x, c, cval: [x, np.real(c), cval],
        nodes=50,
        options={"order": 2, "prefilter": False},
        complex=True,
        mixed=False,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            interpolated,
            [REAL(*shape), FLAT(min(len(shape), 2), 3), REAL()],
            options={"reading": Reading(3, NUMBERED.index(mode), margin, np.float64)},
            no_jax="it is a function of ours",
        )
        for shape, mode, margin in (
            ((3, 4), "constant", 0),
            ((30,), "nearest", 12),
            ((2, 3, 4), "mirror", 0),
        )
    ),
    Row(
        prefiltered,
        [REAL(2, 4)],
        options={"order": 3, "axis": -1, "mode": NUMBERED.index("mirror"), "dtype": np.float64},
        no_jax="it is a function of ours",
    ),
    Row(
        ndimage.shift,
        [REAL(3, 4), INSIDE(2), REAL()],
        call=at,
        nodes=20,
        no_jax=NO_JAX,
    ),
    Row(ndimage.zoom, [REAL(3, 3)], options={"zoom": 1.5, "order": 2}, nodes=8, no_jax=NO_JAX),
    Row(
        ndimage.rotate,
        [REAL(2, 3, 3), fixed(33.0)],
        options={"axes": (2, 1), "order": 2},
        nodes=60,
        no_jax=NO_JAX,
    ),
    Row(
        ndimage.rotate,
        [REAL(3, 4), fixed(33.0)],
        options={"reshape": False, "mode": "reflect"},
        nodes=40,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            ndimage.affine_transform,
            [REAL(3, 4), matrix, *offset],
            options={"order": 3, "mode": "mirror"},
            nodes=40,
            no_jax=NO_JAX,
        )
        for matrix, offset in (
            (fixed([[0.9, 0.2], [-0.3, 1.1]]), [fixed([0.21, -0.13])]),
            # Older releases of SciPy warn of a change in what a matrix of one axis means
            *([(fixed([0.9, 1.2]), [fixed([0.21, -0.13])])] * (SCIPY >= (1, 17))),
            (fixed([[0.9, 0.2, 0.37], [-0.3, 1.1, 0.17]]), []),
        )
    ),
    Row(
        ndimage.geometric_transform,
        [REAL(3, 3)],
        options={"mapping": lambda place: (place[0] * 0.7 + 0.1, place[1] - 0.6)},
        nodes=8,
        no_jax=NO_JAX,
        note="by a function",
    ),
]

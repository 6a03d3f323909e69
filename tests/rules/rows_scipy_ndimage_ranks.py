"""Rows for what `tape_ad.scipy.ndimage` chooses and measures, and multiplies in Fourier space."""

from typing import Any

import numpy as np

from tape_ad.scipy import ndimage
from tape_ad.scipy.ndimage.filters import Passing, Window, chosen, selected
from tape_ad.scipy.ndimage.functions import transformed
from tests.rules.table import DISTINCT, INSIDE, POSITIVE, REAL, Row, fixed, plain

__all__ = ["CONSTANTS", "ROWS"]

NO_JAX = "JAX has no such function"
FOOTPRINT = np.array([[True, False], [True, True]])
LABELS = [[1, 2, 0], [2, 2, 1]]


def constant_last(function: Any, image: Any, cval: Any, **options: Any) -> Any:
    """Give the constant beyond the edges by name."""
    return function(image, cval=cval, **options)


def with_structure(function: Any, image: Any, structure: Any, **options: Any) -> Any:
    """Give the structuring element by name."""
    return function(image, structure=structure, **options)


def labelled(function: Any, image: Any, labels: Any, index: Any = None) -> Any:
    """Give labels, and which of them are asked for."""
    return function(image, labels, index)


def flat(function: Any, *arguments: Any) -> list[Any]:
    """List what pairs and lists of tuples hold."""
    found = function(*arguments)
    return [each for part in found for each in (part if isinstance(part, tuple) else (part,))]


def by_sampling(function: Any, sampling: Any) -> Any:
    return function(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]]), sampling=sampling)


def spread(x: Any) -> Any:
    return np.sum(x * x) - x[0]


ROWS: list[Row] = [
    *(
        Row(
            function,
            [DISTINCT(3, 3), REAL()],
            call=constant_last,
            options={"mode": "constant", **options},
            nodes=8,
            no_jax=NO_JAX,
        )
        for function, options in (
            (ndimage.maximum_filter, {"size": 2}),
            (ndimage.minimum_filter, {"footprint": FOOTPRINT}),
            (ndimage.maximum_filter1d, {"size": 3, "axis": 0}),
            (ndimage.minimum_filter1d, {"size": 2}),
            (ndimage.rank_filter, {"rank": 1, "size": 2}),
            (ndimage.median_filter, {"size": 3}),
            (ndimage.percentile_filter, {"percentile": 30, "size": 3}),
        )
    ),
    *(
        Row(
            function,
            [DISTINCT(3, 3), INSIDE(2, 3)],
            call=with_structure,
            options={"mode": "reflect"},
            nodes=8,
            no_jax=NO_JAX,
        )
        for function in (
            *(ndimage.grey_erosion, ndimage.grey_dilation),
            *(ndimage.grey_opening, ndimage.grey_closing),
        )
    ),
    *(
        Row(function, [DISTINCT(3, 3)], options={"size": 2}, nodes=12, no_jax=NO_JAX)
        for function in (
            *(ndimage.grey_erosion, ndimage.grey_dilation),
            *(ndimage.morphological_gradient, ndimage.morphological_laplace),
            *(ndimage.white_tophat, ndimage.black_tophat),
        )
    ),
    *(
        Row(function, [POSITIVE(2)], call=by_sampling, nodes=10, no_jax=NO_JAX)
        for function in (ndimage.distance_transform_bf, ndimage.distance_transform_edt)
    ),
    Row(
        ndimage.labeled_comprehension,
        [REAL(5)],
        call=lambda f, x: f(x, [1, 1, 2, 2, 0], [2, 1, 7], spread, float, 0.5),
        nodes=20,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            function,
            [REAL(3, 4), POSITIVE(2)],
            options=options,
            complex=True,
            mixed=False,
            prepare=lambda x, parameter: [x, np.real(parameter)],
            nodes=40,
            no_jax=NO_JAX,
        )
        for function, options in (
            (ndimage.fourier_gaussian, {}),
            (ndimage.fourier_gaussian, {"n": 7}),
            (ndimage.fourier_uniform, {}),
            (ndimage.fourier_shift, {"n": 7, "axis": 0}),
        )
    ),
    Row(
        ndimage.fourier_ellipsoid,
        [REAL(3, 4)],
        options={"size": 1.5},
        complex=True,
        nodes=8,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            selected,
            [DISTINCT(3, 3), structure, REAL()],
            options={
                "footprint": footprint,
                "rank": rank,
                "passing": Passing(axis, mode, origin, np.float64),
            },
            no_jax="it is a function of ours",
        )
        for structure, footprint, axis, rank, mode, origin in (
            (fixed(0.0), 3, 1, 0, 4, 0),
            (INSIDE(2, 2), FOOTPRINT, None, -1, 4, (0, -1)),
            (INSIDE(2, 2), FOOTPRINT, None, 0, 2, (0, 0)),
        )
    ),
    *(
        Row(
            function,
            [DISTINCT(2, 3), *(plain(each) for each in given)],
            call=labelled,
            note="labelled",
            nodes=20,
            no_jax=NO_JAX,
        )
        for function in (
            *(ndimage.sum_labels, ndimage.mean, ndimage.variance, ndimage.standard_deviation),
            *(ndimage.minimum, ndimage.maximum, ndimage.median),
        )
        for given in ([LABELS], [LABELS, [2, 1, 2]])
    ),
    *(
        Row(
            ndimage.center_of_mass,
            [POSITIVE(2, 3), *(plain(each) for each in given)],
            call=flat,
            nodes=40,
            no_jax=NO_JAX,
        )
        for given in ([], [LABELS, [2, 1]])
    ),
    *(
        Row(
            ndimage.extrema,
            [DISTINCT(2, 3), *(plain(each) for each in given)],
            call=lambda f, *arguments: f(*arguments)[:2],
            nodes=10,
            no_jax=NO_JAX,
        )
        for given in ([], [LABELS, [2, 1]])
    ),
]

CORNER = {"window": Window((2, 2), (1, 0), 4), "footprint": FOOTPRINT, "rank": 1}

CONSTANTS: list[Row] = [
    Row(chosen, [REAL(2, 3), REAL(), REAL()], options=CORNER),
    *(
        Row(function, [DISTINCT(3, 4)])
        for function in (
            *(ndimage.binary_closing, ndimage.binary_dilation, ndimage.binary_erosion),
            *(ndimage.binary_fill_holes, ndimage.binary_opening, ndimage.binary_propagation),
            *(ndimage.distance_transform_cdt, ndimage.label, ndimage.minimum_position),
            *(ndimage.maximum_position,),
        )
    ),
    Row(
        transformed,
        [DISTINCT(2, 3)],
        call=lambda f, x: f(ndimage.distance_transform_edt, {}, x, None),
    ),
    Row(ndimage.binary_hit_or_miss, [DISTINCT(3, 4)], options={"structure1": np.ones((1, 1))}),
    Row(ndimage.histogram, [REAL(6)], call=lambda f, x: f(x, -1, 1, 3)),
]

"""Rows for `tape_ad.scipy.spatial`."""

from typing import Any

import numpy as np

from tape_ad.scipy import spatial
from tape_ad.scipy.spatial import distance
from tape_ad.scipy.spatial.distance import hausdorff_pair
from tape_ad.scipy.spatial.metrics import euclidean_pairs, half_inverse, root, sqeuclidean_pairs
from tape_ad.scipy.spatial.neighbours import nearest_neighbours
from tape_ad.scipy.spatial.quaternions import (
    arctan_of_root,
    cosine_of_root,
)
from tests.rules.table import (
    ABOVE_ONE,
    DISTINCT,
    INSIDE,
    POSITIVE,
    REAL,
    Row,
    elementwise,
    fixed,
    plain,
    uniform,
)

__all__ = ["CONSTANTS", "ROWS"]

Array = Any

NO_JAX = "JAX has no such function"
MANY = 40  # these are compositions

BELOW = uniform(0.2, 0.9)
INVERSE = fixed([[2.0, 0.3, 0.1], [0.2, 1.5, -0.4], [0.1, -0.1, 1.0]])


def keyword(*names: str) -> Any:
    """Call a function with its last operands by name."""

    def call(function: Any, *operands: Array, **options: Any) -> Array:
        count = len(operands) - len(names)
        named = dict(zip(names, operands[count:], strict=True))
        return function(*operands[:count], **options, **named)

    return call


def number(function: Any, *operands: Array) -> Array:
    """Take what is Python's number for plain arrays to one of NumPy's."""
    value = function(*operands)
    if isinstance(value, float) and not isinstance(value, np.floating):
        weighted = len(operands) > 2  # and weights are in double precision
        dtype = np.dtype(float) if weighted else np.result_type(*(x.dtype for x in operands))
        return dtype.type(value)
    return value


def paired(metric: str, *extra: Any, **options: Any) -> Row:
    """Make a row of `cdist` with a metric, and what that takes as operands too."""
    return Row(
        distance.cdist,
        [BELOW(2, 3), ABOVE_ONE(3, 3), *(operand for _, operand in extra)],
        options={"metric": metric, **options},
        call=keyword(*(name for name, _ in extra)),
        note=",".join(name for name, _ in extra),
        nodes=MANY,
        no_jax=NO_JAX,
    )


ROWS: list[Row] = [
    *(
        Row(function, [fixed(values)], options={"n": n}, no_jax=NO_JAX)
        for function in (cosine_of_root, arctan_of_root)
        for n, values in ((0, [0.1, 0.24, 0.26, 0.9, 1.1, 4.0]), (1, 0.2), (2, [0.5, 2.0]))
    ),
    *elementwise(root, POSITIVE, no_jax=NO_JAX),
    *elementwise(half_inverse, REAL, no_jax=NO_JAX),
    *(
        Row(function, [REAL(*a), REAL(*b)], no_jax=NO_JAX)
        for function in (euclidean_pairs, sqeuclidean_pairs)
        for a, b in (((3, 2), (4, 2)), ((1, 1), (2, 1)), ((0, 2), (3, 2)))
    ),
    paired("euclidean"),
    paired("sqeuclidean"),
    paired("euclidean", ("w", POSITIVE(3))),
    paired("cityblock", ("w", POSITIVE(3))),
    paired("chebyshev"),
    paired("minkowski", p=3),
    paired("minkowski", ("p", fixed(2.5)), ("w", POSITIVE(3))),
    paired("cosine"),
    paired("correlation", ("w", POSITIVE(3))),
    paired("canberra"),
    paired("braycurtis"),
    paired("seuclidean"),
    paired("seuclidean", ("V", POSITIVE(3))),
    paired("mahalanobis", ("VI", INVERSE)),
    Row(
        distance.cdist,
        [REAL(4, 2), REAL(3, 2)],
        options={"metric": "mahalanobis"},
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    Row(
        distance.cdist,
        [POSITIVE(2, 3), POSITIVE(2, 3)],
        options={"metric": "js"},
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    Row(
        distance.cdist,
        [REAL(2, 3), REAL(2, 3)],
        options={"metric": lambda u, v: np.sum(u * v)},
        note="a metric of the user's",
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    *(
        Row(distance.pdist, [DISTINCT(4, 3)], options={"metric": metric}, nodes=MANY, no_jax=NO_JAX)
        for metric in ("euclidean", "cityblock", "correlation", "seuclidean")
    ),
    Row(distance.pdist, [REAL(1, 2)], nodes=MANY, no_jax=NO_JAX),
    Row(distance.squareform, [REAL(6)], nodes=MANY, no_jax=NO_JAX),
    Row(distance.squareform, [REAL(0)], nodes=MANY, no_jax=NO_JAX),
    Row(
        distance.squareform,
        [REAL(3, 3)],
        options={"checks": False},
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    *(
        Row(function, [BELOW(4), ABOVE_ONE(4)], call=number, nodes=MANY, no_jax=NO_JAX)
        for function in (
            distance.braycurtis,
            distance.canberra,
            distance.chebyshev,
            distance.cityblock,
            distance.correlation,
            distance.cosine,
            distance.euclidean,
            distance.minkowski,
            distance.sqeuclidean,
        )
    ),
    *(
        Row(
            function,
            [fixed([0.2, 0.9, 0.4, 0.7]), fixed([1.3, 2.0, 2.9, 1.5]), ABOVE_ONE(4)],
            call=number,
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for function in (
            distance.braycurtis,
            distance.canberra,
            distance.chebyshev,
            distance.cityblock,
            distance.correlation,
            distance.cosine,
            distance.euclidean,
            distance.seuclidean,
            distance.sqeuclidean,
        )
    ),
    Row(
        distance.minkowski,
        [BELOW(4), ABOVE_ONE(4), fixed(1.5), POSITIVE(4)],
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    Row(distance.mahalanobis, [REAL(3), REAL(3), INVERSE], nodes=MANY, no_jax=NO_JAX),
    Row(distance.jensenshannon, [POSITIVE(4), POSITIVE(4)], nodes=MANY, no_jax=NO_JAX),
    Row(
        distance.jensenshannon,
        [POSITIVE(2, 3), POSITIVE(2, 3), fixed(2.5)],
        options={"axis": 1, "keepdims": True},
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            function,
            [POSITIVE(3), INSIDE(3), POSITIVE(3)],
            call=number,
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for function in (
            distance.dice,
            distance.rogerstanimoto,
            distance.russellrao,
            distance.sokalsneath,
            distance.yule,
        )
    ),
    *(
        Row(
            function,
            [plain([1.0, 0.0, 1.0]), plain([0.0, 0.0, 1.0]), POSITIVE(3)],
            call=number,
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for function in (distance.hamming, distance.jaccard)
    ),
    Row(
        distance.directed_hausdorff,
        [DISTINCT(3, 2), DISTINCT(4, 2)],
        call=lambda f, u, v: np.multiply(f(u, v)[0], 1.0),
        nodes=MANY,
        no_jax=NO_JAX,
    ),
]

ROWS += [
    *(
        Row(
            spatial.distance_matrix,
            [BELOW(3, 2), ABOVE_ONE(2, 2)],
            options={"p": p},
            nodes=MANY,
            no_jax=NO_JAX,
        )
        for p in (2, 1, np.inf, 3.5)
    ),
    *(
        Row(function, [BELOW(3, 2), ABOVE_ONE(2)], options={"p": 3}, nodes=MANY, no_jax=NO_JAX)
        for function in (spatial.minkowski_distance, spatial.minkowski_distance_p)
    ),
    Row(spatial.procrustes, [REAL(4, 2), REAL(4, 2)], nodes=MANY, no_jax=NO_JAX),
]

SYMMETRIC = fixed([[0.0, 1.0], [1.0, 0.0]])

CONSTANTS: list[Row] = [
    Row(hausdorff_pair, [DISTINCT(3, 2), DISTINCT(4, 2)]),
    Row(nearest_neighbours, [REAL(5, 2), REAL(3, 2)], options={"tree": {}, "options": {}}),
    Row(distance.is_valid_dm, [SYMMETRIC]),
]

"""Rows for arrays as sets."""

import numpy as np

from tape_ad.rules.numpy.sets import occurrences, places_of_common, places_of_values
from tests.rules.table import DISTINCT, REAL, Row, fixed, plain

__all__ = ["CONSTANTS", "ROWS"]

SIZE = "JAX has to be told the size of the result"
ONE = fixed([2.0, -1.0, 3.5, 0.5])
FLAT = fixed([2.3, -1.7, 3.0])
TWO = fixed([[2.3, -1.7, 3.0]])

ROWS: list[Row] = [
    *(
        Row(function, [DISTINCT(*shape)], complex=True, nodes=2, no_jax=SIZE)
        for function in (np.unique, np.unique_all, np.unique_counts, np.unique_inverse)
        for shape in ((4,), (2, 3), (0,))
    ),
    Row(np.unique_values, [REAL(1)], complex=True, no_jax=SIZE),  # of several, in any order
    Row(np.unique, [DISTINCT(3, 2)], options={"axis": 0}, no_jax=SIZE),
    Row(np.unique, [DISTINCT(3, 2)], options={"axis": -1, "return_index": True}, no_jax=SIZE),
    Row(
        np.unique,
        [DISTINCT(5)],
        options={"return_inverse": True, "return_counts": True, "equal_nan": False},
        no_jax=SIZE,
    ),
    Row(np.union1d, [ONE, TWO], nodes=4, no_jax=SIZE),
    Row(np.intersect1d, [ONE], call=lambda f, x: f(x, x), complex=True, no_jax=SIZE),
    Row(
        np.intersect1d,
        [ONE],
        call=lambda f, x: f(x, x, assume_unique=True, return_indices=True),
        note="indices",
        no_jax=SIZE,
    ),
    Row(np.setdiff1d, [ONE, TWO], nodes=2, no_jax=SIZE),
    Row(np.setdiff1d, [ONE, TWO], options={"assume_unique": True}, nodes=2, no_jax=SIZE),
    Row(np.setxor1d, [ONE, TWO], nodes=9, no_jax=SIZE),
    Row(np.setxor1d, [ONE, FLAT], options={"assume_unique": True}, nodes=9, no_jax=SIZE),
    Row(np.setxor1d, [DISTINCT(0), DISTINCT(0, 2)], nodes=9, no_jax=SIZE),
]

CONSTANTS: list[Row] = [
    Row(np.isin, [REAL(2, 3), REAL(3)]),
    Row(np.isin, [REAL(2, 3), plain([1.0])], options={"invert": True}),
    Row(occurrences, [DISTINCT(2, 3)]),
    Row(places_of_values, [DISTINCT(2, 3)]),
    Row(places_of_common, [DISTINCT(3)], call=lambda f, x: f(x, x, False)),
]

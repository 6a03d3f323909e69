"""Rows for assignment to part of an array, as a function."""

from typing import Any

import numpy as np

from tape_ad.rules.numpy.updates import updated
from tests.rules.table import REAL, Row

__all__ = ["ROWS"]

ALL = slice(None)


def update(name: str, key: Any, *value: int, no_jax: str = "") -> Row:
    """Make the row of ``x[key] = value`` for an x of shape (3, 4), given the value's shape."""
    return Row(
        updated,
        [REAL(3, 4), REAL(*value)],
        call=lambda updated, a, v: updated(a, v, key),
        note=name,
        jax=lambda jax: lambda a, v, key: jax.numpy.asarray(a).at[key].set(v),
        no_jax=no_jax,
        complex=True,
        mixed=False,
    )


ROWS: list[Row] = [
    update("0", 0, 4),
    update("0", 0),
    update("0", 0, 1),
    update("...", ..., 3, 1),
    update(":,::-2", (ALL, slice(None, None, -2)), 3, 2),
    update("2,3", (2, 3)),
    update("0:0", slice(0, 0), 4),
    update("None,1", (None, 1), 1, 4),
    update("[0,2],[3,1]", (np.array([0, 2]), np.array([3, 1])), 2),
    update(":,[2,0]", (ALL, np.array([2, 0])), 3, 2),
    update("[1,0],None,1", (np.array([1, 0]), None, 1), 2, 1),
    update("None,[1,0],...,[2,3]", (None, [1, 0], ..., [2, 3]), 2, 1),
    update("mask", np.eye(3, 4, dtype=bool), 3),
    update("mask", np.eye(3, 4, dtype=bool)),
    update("[0,0,2]", np.array([0, 0, 2]), 3, 4, no_jax="JAX does not say which one is kept"),
    update("[1,-2]", np.array([1, -2]), 2, 1, no_jax="JAX does not say which one is kept"),
]

"""Rows for indexing, of every NumPy kind."""

import operator
from typing import Any

import numpy as np

from tape_ad.rules.maps import Index, added_at, scatter
from tests.rules.table import REAL, Row

__all__ = ["ROWS"]

ALL = slice(None)
MASK = np.array([[True, False, True], [False, False, True]])
ROW_MASK = np.array([True, False])

BASIC: dict[str, Any] = {
    "0": 0,
    "-1": -1,
    "np.intp": np.intp(1),
    "()": (),
    "...": ...,
    "1:": slice(1, None),
    "::-1": slice(None, None, -1),
    ":,::-2": (ALL, slice(None, None, -2)),
    ":,2:0:-1": (ALL, slice(2, 0, -1)),
    "None": None,
    "None,0,...,None": (None, 0, ..., None),
    "...,0": (..., 0),
    "...,None": (..., None),
    "1,...,0": (1, ..., 0),
    "0,1,2": (0, 1, 2),
    "0:0": slice(0, 0),
    "0-d array": np.array(1),
    ":,0,1:3": (ALL, 0, slice(1, 3)),
}
ADVANCED: dict[str, Any] = {
    "[1,0]": [1, 0],
    "[0,0,1]": np.array([0, 0, 1]),
    "[[0,1],[1,-1]]": np.array([[0, 1], [1, -1]]),
    "[]": [],
    "[[]]": np.zeros((2, 0), int),
    ":,[2,0,2]": (ALL, [2, 0, 2]),
    "...,[3,3]": (..., [3, 3]),
    "[0,1],[2,0]": ([0, 1], [2, 0]),
    "[0,0],[2,2]": ([0, 0], [2, 2]),
    "[[0],[1]],[2,0]": ([[0], [1]], [2, 0]),
    "[0,1],1": ([0, 1], 1),
    "1:,[0,2]": (slice(1, None), [0, 2]),
    "[0,1],::-1,[2,0]": ([0, 1], slice(None, None, -1), [2, 0]),
    "[1],[0],[2]": ([1], [0], [2]),
    "uint8": np.array([1, 0, 1], np.uint8),
}
APART: dict[str, Any] = {
    "0,:,[1,2]": (0, ALL, [1, 2]),
    "[0,1],:,[1,1]": ([0, 1], ALL, [1, 1]),
    ":,[0,1],None,[1,2]": (ALL, [0, 1], None, [1, 2]),
    "[1,0],None,1": ([1, 0], None, 1),
    "0,None,[0,0]": (0, None, [0, 0]),
    "[[0],[1]],...,[1,3]": ([[0], [1]], ..., [1, 3]),
    "None,0,:,[1,2]": (None, 0, ALL, [1, 2]),
    "1,...,None,[2,2],None": (1, ..., None, [2, 2], None),
    ":,[0,1],...,[1,2]": (ALL, [0, 1], ..., [1, 2]),
    "0,...,[2,0],:": (0, ..., [2, 0], ALL),
}
MASKS: dict[str, Any] = {
    "mask": MASK,
    "row mask": ROW_MASK,
    "row mask,:,[0]": (ROW_MASK, ALL, [0]),
    "row mask,1": (ROW_MASK, 1),
    "mask,1": (MASK, 1),
    "mask,[0,0,1]": (MASK, [0, 0, 1]),
    ":,mask": (ALL, np.array([True, False, True])),
    "nothing": np.zeros((2, 3, 4), bool),
    "everything": np.ones((2, 3, 4), bool),
    "list mask": [True, False],
    "True": True,
    "False": False,
    "np.True_": np.True_,
    "0-d mask": np.array(True),
    "True,[0,0]": (True, [0, 0]),
    "None,True,1": (None, True, 1),
    "0,:,True": (0, ALL, True),
    ":,row,...,[1,2]": (ALL, np.array([True, False, True]), ..., [1, 2]),
}


def indexing(name: str, key: Any, *shape: int, **fields: Any) -> Row:
    """Make the row of one key."""
    strange = isinstance(key, list) or name in {"np.True_", "None,True,1"}
    return Row(
        operator.getitem,
        [REAL(*shape)],
        call=lambda getitem, x: getitem(x, key),
        note=name,
        jax=lambda jax: operator.getitem,
        no_jax="JAX refuses such a key" if strange else "",
        torch="" if name == "np.True_" else lambda torch: operator.getitem,
        **fields,
    )


PLACES = {
    "slice": Index((slice(1, None),), (3,), (2,)),
    "repeats": Index((np.array([0, 2, 0]), ALL), (3, 2), (3, 2), repeats=True),
    "apart": Index((0, ALL, np.array([1, 2])), (2, 3, 4), (2, 3), front=1),
}


def scattering(name: str, index: Index) -> Row:
    """Make the row of one scatter."""
    return Row(
        scatter,
        [REAL(*index.node)],
        call=lambda scatter, x: scatter(x, index),
        note=name,
        complex=True,
        no_jax="it is a function of ours; the rows of getitem compare its adjoint",
    )


def adding(name: str, index: Index) -> Row:
    """Make the row of one addition to a part of an array."""
    return Row(
        added_at,
        [REAL(*index.parent), REAL(*index.node)],
        call=lambda added_at, x, y: added_at(x, y, index),
        note=name,
        no_jax="it is a function of ours; the rows of getitem compare its adjoint",
    )


ROWS: list[Row] = [
    *(indexing(name, key, 2, 3, 4) for name, key in (BASIC | ADVANCED | APART | MASKS).items()),
    indexing("1:", slice(1, None), 2, 3, complex=True),
    indexing("[0,0]", [0, 0], 2, 3, complex=True),
    indexing("0,:,[1,2]", (0, ALL, [1, 2]), 2, 3, 3, complex=True),
    *(indexing(name, key) for name, key in (("()", ()), ("...", ...), ("None", None))),
    *(indexing(name, key) for name, key in (("True", True), ("False", False))),
    indexing(":,1", (ALL, 1), 0, 3),
    indexing("[]", [], 0, 3),
    *(make(name, index) for name, index in PLACES.items() for make in (scattering, adding)),
]

"""Rows for sorting and partitioning."""

import numpy as np

from tape_ad.rules.numpy.sorting import stable_order
from tests.rules.table import DISTINCT, REAL, Row, plain

__all__ = ["CONSTANTS", "ROWS"]

NO_JAX = "JAX has no such argument"

ROWS: list[Row] = [
    *(
        Row(np.sort, [DISTINCT(*shape)], options={"axis": axis}, complex=True, nodes=2)
        for *shape, axis in ((4, 0), (3, 4, 0), (3, 4, 1), (2, 3, 2, -2), (3, 4, None))
    ),
    Row(np.sort, [DISTINCT(3, 4)]),
    Row(np.sort, [DISTINCT(0, 3)]),
    Row(np.sort, [DISTINCT(3, 0)]),
    Row(np.sort, [DISTINCT(3, 4)], options={"stable": True}),
    Row(np.sort, [DISTINCT(3, 4)], options={"kind": "heapsort"}, no_jax=NO_JAX),
    *(
        Row(np.sort, [DISTINCT(3, 4)], options={"descending": True, "axis": axis}, complex=True)
        for axis in (0, -1)
        if np.lib.NumpyVersion(np.__version__) >= "2.5.0"
    ),
    Row(np.sort_complex, [DISTINCT(3, 4)], complex=True, nodes=2),
    # Such that all of the order is given
    Row(np.partition, [DISTINCT(3)], options={"kth": 1}),
    Row(np.partition, [DISTINCT(3, 2)], options={"kth": 1, "axis": 0}),
    *(
        Row(
            np.partition,
            [DISTINCT(2, 4)],
            options={"kth": kth, **options},
            complex=True,
            nodes=2,
            no_jax="JAX takes one number only",
        )
        for kth, options in (
            ((1, 2), {}),
            ((-2, 1), {"axis": -1, "kind": "introselect"}),
            (tuple(range(8)), {"axis": None}),
        )
    ),
]

CONSTANTS: list[Row] = [
    *(Row(np.argsort, [DISTINCT(3, 4)], options={"axis": axis}) for axis in (0, 1, None)),
    Row(stable_order, [DISTINCT(3, 4)], options={"axis": 0}),
    Row(np.argpartition, [DISTINCT(3, 4)], options={"kth": 1}),
    Row(np.lexsort, [REAL(4), DISTINCT(4)], call=lambda f, *keys: f(keys)),
    Row(np.searchsorted, [plain([-1.0, 0.0, 1.0]), REAL(2, 3)]),
    Row(np.searchsorted, [REAL(3), REAL()], options={"side": "right", "sorter": [2, 0, 1]}),
    Row(np.digitize, [REAL(2, 3), plain([-1.0, 0.0, 1.0])]),
    Row(np.digitize, [REAL(2, 3), plain([1.0, 0.0])], options={"right": True}),
]

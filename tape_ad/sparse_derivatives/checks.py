"""Looking at patterns that users give, and whether a derivative has entries outside of one."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from tape_ad.base.errors import PatternError
from tape_ad.sparse_derivatives.flat_functions import FlatFunction

__all__ = ["as_pattern", "check_entries", "check_shape"]

Sparse = Any

CLOSE = 1e-6
"""What a product may differ by, relative to the sum of its terms' sizes."""


def as_pattern(pattern: Any) -> Sparse:
    """Take what a user gave to a `csr_array` of bools, without stored zeros; None stays None.

    Raises
    ------
    PatternError
        When it is no matrix.
    """
    if pattern is None:
        return None
    entries = pattern if hasattr(pattern, "tocsr") else np.asarray(pattern)
    if getattr(entries, "ndim", 0) != 2:
        raise PatternError(
            f"pattern has {np.ndim(entries)} axes; give a matrix, dense or of scipy.sparse, with a "
            "row for each element of the output and a column for each of the arguments"
        )
    found = coo_array(entries)
    kept = np.not_equal(found.data, 0)
    places = found.row[kept], found.col[kept]
    made = csr_array(coo_array((np.ones(len(places[0]), bool), places), found.shape))
    made.sum_duplicates()
    return made


def check_shape(pattern: Sparse, flat: FlatFunction) -> None:
    """Refuse a pattern of another shape than the Jacobian.

    Raises
    ------
    PatternError
    """
    if pattern.shape != (flat.rows, flat.columns):
        raise PatternError(
            f"pattern has shape {pattern.shape}, but {flat.traced.name} has {flat.rows} elements "
            f"of output and {flat.columns} of arguments here"
        )


def check_entries(flat: FlatFunction, result: Sparse) -> None:
    """Compare a derivative with a product along a random direction.

    Raises
    ------
    PatternError
        It names an entry that is not zero, where the pattern has none.
    """
    if not result.shape[0] or not result.shape[1]:
        return
    direction = np.random.default_rng(0).uniform(1, 2, result.shape[1])
    product = flat.pushed(direction[None])[0]
    size = abs(result) @ direction + np.abs(product)
    with np.errstate(invalid="ignore"):
        off = np.abs(product - result @ direction) > CLOSE * size
    for row in np.flatnonzero(off)[:1]:
        entries = flat.pulled(np.eye(1, result.shape[0], row))[0]
        missed = entries.astype(float)
        missed[result.indices[result.indptr[row] : result.indptr[row + 1]]] = 0
        column = int(np.argmax(np.abs(missed)))
        raise PatternError(
            f"the derivative of output {row} by argument {column} of {flat.traced.name} is "
            f"{entries[column]:.6g}, but the pattern has no entry ({row}, {column}); leave out "
            "pattern=, and it is found"
        )

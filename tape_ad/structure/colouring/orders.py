"""Orders to colour in: which vertex is next decides how many colours a greedy colouring takes."""

from typing import Any

import numpy as np

from tape_ad.linear_maps import Array

__all__ = ["column_orders"]

Sparse = Any


def column_orders(columns: Sparse) -> list[Array]:
    """List some orders of the columns of a pattern, the ones worth trying.

    Parameters
    ----------
    columns : csc_array of bool, shape (m, n)

    Returns
    -------
    list of array of int, shape (n,)
        As they stand, and those with most entries in their rows first, which bounds from above how
        many columns a column meets.
    """
    entries_of_row = np.bincount(columns.indices, minlength=columns.shape[0])
    met = np.add.reduceat(np.append(entries_of_row[columns.indices], 0), columns.indptr[:-1]) * (
        np.diff(columns.indptr) > 0
    )
    return [np.arange(columns.shape[1]), np.argsort(-met, kind="stable")]

"""Distance-2 colours: columns of one colour have no row in common, or rows no column."""

from typing import Any

import numpy as np

from tape_ad.rules.maps import Array
from tape_ad.sparse_derivatives.colouring.orders import column_orders

__all__ = ["column_colors", "row_colors"]

Sparse = Any


def column_colors(pattern: Sparse) -> Array:
    """Give columns colours, such that those of one colour have no row in common.

    Curtis, Powell & Reid, "On the estimation of sparse Jacobian matrices", IMA Journal of Applied
    Mathematics 13 (1974).

    Parameters
    ----------
    pattern : sparse array of bool, shape (m, n)

    Returns
    -------
    array of int, shape (n,)
        From 0 on, and -1 for columns without entries. Of the orders that are tried, it is the one
        with the fewest colours; there cannot be fewer than the longest row has entries.

    Examples
    --------
    >>> from scipy.sparse import diags_array
    >>> column_colors(diags_array([1.0, 1, 1], offsets=[-1, 0, 1], shape=(6, 6)))
    array([0, 1, 2, 0, 1, 2])
    """
    columns = pattern.tocsc()
    least = int(np.bincount(columns.indices, minlength=1).max())
    best: Array = None
    for order in column_orders(columns):
        found = greedy(columns, order)
        if best is None or found.max(initial=-1) < best.max(initial=-1):
            best = found
        if best.max(initial=-1) < least:
            break
    return best


def row_colors(pattern: Sparse) -> Array:
    """Give rows colours, such that those of one colour have no column in common.

    Parameters
    ----------
    pattern : sparse array of bool, shape (m, n)

    Returns
    -------
    array of int, shape (m,)
    """
    return column_colors(pattern.T)


def greedy(columns: Sparse, order: Array) -> Array:
    """Give each column in turn the first colour that no other one has in any of its rows.

    Each row's colours are the bits of an integer, so that a row with many entries costs no more
    than what it has.
    """
    starts, places = columns.indptr.tolist(), columns.indices.tolist()
    taken_in = [0] * columns.shape[0]
    colors = [-1] * columns.shape[1]
    for column in order.tolist():
        rows = places[starts[column] : starts[column + 1]]
        if not rows:
            continue
        taken = 0
        for row in rows:
            taken |= taken_in[row]
        free = ~taken & (taken + 1)
        colors[column] = free.bit_length() - 1
        for row in rows:
            taken_in[row] |= free
    return np.array(colors, int)

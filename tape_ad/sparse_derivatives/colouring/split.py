"""Colours of both sides: rows with many entries are pulled, and what is left is pushed."""

from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.rules.maps import Array
from tape_ad.sparse_derivatives.colouring.columns import column_colors, row_colors
from tape_ad.sparse_derivatives.matrices import rows_of_entries

__all__ = ["Split", "least_split", "split_colors"]

Sparse = Any


@frozen(eq=False)
class Split:
    """A matrix in two parts, each with colours of its own.

    Attributes
    ----------
    row_colors : array of int, shape (m,)
        Of the rows that are pulled; -1 for others.
    column_colors : array of int, shape (n,)
        Of the columns that are pushed; -1 for others.
    pulled : array of bool, shape (entries,)
        Which of the pattern's entries are computed by pulling; the others are pushed.
    """

    row_colors: Array
    column_colors: Array
    pulled: Array

    @property
    def count(self) -> int:
        """The number of all colours."""
        return int(self.row_colors.max(initial=-1) + self.column_colors.max(initial=-1) + 2)


def split_colors(pattern: Sparse) -> Split:
    """Choose what is pulled and what is pushed, such that there are few colours in all.

    Either the rows with the most entries are pulled and all else is pushed, or the columns with the
    most entries are pushed and all else is pulled: a matrix with a full row and a full column
    besides its diagonal takes three colours, and as many as it has rows with one side alone.
    Coleman & Verma, "The efficient computation of sparse Jacobian matrices using automatic
    differentiation", SIAM Journal on Scientific Computing 19 (1998), split in a finer way.

    Parameters
    ----------
    pattern : csr_array of bool, shape (m, n)

    Returns
    -------
    Split

    Examples
    --------
    >>> arrow = np.eye(5, dtype=bool)
    >>> arrow[0] = arrow[:, 0] = True
    >>> from scipy.sparse import csr_array
    >>> split_colors(csr_array(arrow)).count
    3
    """
    rows = rows_of_entries(pattern)
    chosen, own, others = by_longest(pattern)
    by_rows = Split(own, others, chosen[rows])
    chosen, own, others = by_longest(pattern.T.tocsr())
    by_columns = Split(others, own, ~chosen[pattern.indices])
    return min(by_rows, by_columns, key=lambda split: split.count)


def least_split(pattern: Sparse) -> int:
    """Tell how many colours `split_colors` needs at least."""
    return min(map(least_by_longest, (pattern, pattern.T.tocsr())))


def least_by_longest(pattern: Sparse) -> int:
    """Tell how many colours it takes at least to treat the longest rows apart."""
    return int(min(needed_with_longest(pattern)[1]))


def needed_with_longest(pattern: Sparse) -> tuple[Array, Array]:
    """Order rows by length, and tell how many colours it takes with the first 0, 1, ... apart."""
    counts = np.diff(pattern.indptr)
    order = np.argsort(-counts, kind="stable")
    longest = np.append(counts[order], 0)  # of the rows from here on
    return order, needed_by_first(pattern[order]) + longest


def by_longest(pattern: Sparse) -> tuple[Array, Array, Array]:
    """Choose some of the rows with the most entries, and colour them, and the columns of the rest.

    Returns
    -------
    tuple of array
        Whether a row is chosen; the colours of those, and of the columns; -1 for what has none.
    """
    order, needed = needed_with_longest(pattern)
    taken = int(np.argmin(needed))
    chosen = np.zeros(len(order), bool)
    chosen[order[:taken]] = True
    rows, columns = np.full(pattern.shape[0], -1), np.full(pattern.shape[1], -1)
    if taken:
        rows[chosen] = row_colors(pattern[chosen])
    rest = pattern[~chosen]
    used = np.unique(rest.indices)
    if len(used):
        columns[used] = column_colors(rest[:, used])
    return chosen, rows, columns


def needed_by_first(ranked: Sparse) -> Array:
    """Tell at least how many colours the first 0, 1, 2, ... rows need: what one column meets."""
    rows = rows_of_entries(ranked)
    by_column = np.lexsort((rows, ranked.indices))
    columns, rows = ranked.indices[by_column], rows[by_column]
    starts = np.searchsorted(columns, columns)
    met = np.arange(len(columns)) - starts + 1
    needed = np.zeros(ranked.shape[0] + 1, int)
    np.maximum.at(needed, rows + 1, met)
    return np.maximum.accumulate(needed)

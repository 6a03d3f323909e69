"""Sparse matrices of bools, and what is filled into them."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from tape_ad.rules.maps import Array
from tape_ad.rules.maps.patterns import Pattern

__all__ = ["filled", "matrix_of", "rows_of_entries", "same_pattern", "symmetric"]

Sparse = Any


def matrix_of(pattern: Pattern, shape: tuple[int, int]) -> Sparse:
    """Make the boolean matrix of a pattern."""
    ones = np.ones(len(pattern.rows), bool)
    return csr_array(coo_array((ones, (pattern.rows, pattern.columns)), shape))


def symmetric(pattern: Sparse) -> Sparse:
    """Add to a square pattern what its transpose has."""
    both = csr_array(pattern + pattern.T)
    both.sort_indices()
    return both


def filled(pattern: Sparse, entries: Array) -> Sparse:
    """Fill a pattern with entries; nothing of it is shared with the result."""
    return csr_array((entries, pattern.indices.copy(), pattern.indptr.copy()), pattern.shape)


def rows_of_entries(pattern: Sparse) -> Array:
    """Give the row of each entry of a `csr_array`."""
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))


def same_pattern(one: Sparse, other: Sparse) -> bool:
    """Tell whether two `csr_array` have the same entries, in the same order."""
    return one is other or (
        one.shape == other.shape
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
    )

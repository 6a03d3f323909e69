"""Sparsity patterns: which elements of a node depend on which of its parent, of a map."""

from tape_ad.rules.maps.patterns import (
    Pattern,
    along,
    banded,
    batched,
    by_batch,
    by_columns,
    dense,
    dense_blocks,
    elementwise,
    permutation,
    reads,
    rows_of,
    separable,
    stacked,
)

__all__ = [
    "Pattern",
    "along",
    "banded",
    "batched",
    "by_batch",
    "by_columns",
    "dense",
    "dense_blocks",
    "elementwise",
    "permutation",
    "reads",
    "rows_of",
    "separable",
    "stacked",
]

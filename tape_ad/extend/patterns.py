"""Sparsity patterns of linear maps: which elements of a node depend on which of its parent.

A map says its own in a method ``pattern(parent, node)`` of the two shapes, which is marked by
`reads` with the attributes that it looks at. A map that says nothing is taken to be dense.
"""

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

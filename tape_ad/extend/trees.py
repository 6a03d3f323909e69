"""Trees: arrays in nested lists, tuples, dicts and attrs classes, as arguments and results."""

from tape_ad.base.trees import at_leaves, flatten, is_leaf, map_leaves, paired, unflatten
from tape_ad.base.vectors import arrays_of, computed, vector_of

__all__ = [
    "arrays_of",
    "at_leaves",
    "computed",
    "flatten",
    "is_leaf",
    "map_leaves",
    "paired",
    "unflatten",
    "vector_of",
]

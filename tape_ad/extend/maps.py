"""Linear maps: what a partial derivative is that is not given element by element.

A map has `push`, which takes a tangent of the parent to that of the node, and its adjoint `pull`,
which takes a cotangent back. It acts on the last axes of what it is given, for there may be a stack
in front, and it is written in NumPy calls. A class with these two and `broadcasts` is a map; where
it writes in place or calls C, it is a `PlainMap`.
"""

from tape_ad.rules.maps import (
    SAME,
    Adjoint,
    Chain,
    Conjugate,
    Deferred,
    Divide,
    ImaginaryPart,
    Index,
    Join,
    LinearMap,
    Mask,
    Negate,
    Part,
    Partial,
    RealPart,
    Reshape,
    Scale,
    Stretch,
    Sum,
    Transpose,
    WeightedSum,
    adjoint,
    as_map,
)
from tape_ad.rules.maps.indexing import added_at, scatter
from tape_ad.rules.plain_maps import Gather, PlainMap, pushed, summed_by_index

__all__ = [
    "SAME",
    "Adjoint",
    "Chain",
    "Conjugate",
    "Deferred",
    "Divide",
    "Gather",
    "ImaginaryPart",
    "Index",
    "Join",
    "LinearMap",
    "Mask",
    "Negate",
    "Part",
    "Partial",
    "PlainMap",
    "RealPart",
    "Reshape",
    "Scale",
    "Stretch",
    "Sum",
    "Transpose",
    "WeightedSum",
    "added_at",
    "adjoint",
    "as_map",
    "pushed",
    "scatter",
    "summed_by_index",
]

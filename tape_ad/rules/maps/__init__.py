"""Linear maps: what a partial derivative is, and the maps that the rules are built from.

A map acts on the trailing axes of what it is given; any leading axes are a stack of tangents or
cotangents, all mapped at once. `pull` is the adjoint of `push` under the real inner product
``<u, v> = Re(sum(conj(u) * v))``, so one statement of a derivative serves both modes.

An array in the place of a map stands for its `Scale`, as most partials are the derivative element
by element; `as_map` makes the map of it.

The maps are written in plain NumPy calls on whatever they hold, since that may be a handle of an
enclosing record, or any other array that speaks NEP 13 and NEP 18.
"""

from tape_ad.rules.maps.base import Array, LinearMap, Partial, Shape, rearranges
from tape_ad.rules.maps.compounds import Adjoint, Chain, Deferred, pull_chosen, unless_all_zero
from tape_ad.rules.maps.elementwise import (
    SAME,
    SHIELD,
    Conjugate,
    Divide,
    ImaginaryPart,
    Mask,
    Negate,
    RealPart,
    Same,
    Scale,
    Shield,
    as_map,
    selected,
    unless_zero,
)
from tape_ad.rules.maps.indexing import FEW, Index, added_at, scatter
from tape_ad.rules.maps.matrix_products import (
    MatmulLeft,
    MatmulRight,
    Products,
    adjoint,
    multiplied,
    times_matrix,
)
from tape_ad.rules.maps.memory import clone, writeable_copy
from tape_ad.rules.maps.rearrangements import Join, Part, Reshape, Stretch, Transpose
from tape_ad.rules.maps.reductions import Sum, WeightedSum, add_reduce, expanding_key

__all__ = [
    "FEW",
    "SAME",
    "SHIELD",
    "Adjoint",
    "Array",
    "Chain",
    "Conjugate",
    "Deferred",
    "Divide",
    "ImaginaryPart",
    "Index",
    "Join",
    "LinearMap",
    "Mask",
    "MatmulLeft",
    "MatmulRight",
    "Negate",
    "Part",
    "Partial",
    "Products",
    "RealPart",
    "Reshape",
    "Same",
    "Scale",
    "Shape",
    "Shield",
    "Stretch",
    "Sum",
    "Transpose",
    "WeightedSum",
    "add_reduce",
    "added_at",
    "adjoint",
    "as_map",
    "clone",
    "expanding_key",
    "multiplied",
    "pull_chosen",
    "rearranges",
    "scatter",
    "selected",
    "times_matrix",
    "unless_all_zero",
    "unless_zero",
    "writeable_copy",
]

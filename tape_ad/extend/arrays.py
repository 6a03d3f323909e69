"""Arrays: what rules and functions do with what they are given, be it a handle or plain.

`as_array` takes lists and numbers to arrays and leaves handles alone, where `numpy.asarray` would
refuse them. `primal` and `plain` give what is behind handles. The functions with names of formulas,
such as `ratio`, have a value and a derivative where the formula as it stands has none.
"""

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.arrays.overridable import (
    SYMBOLS,
    array_of,
    as_in_key,
    batch_in,
    foreign,
    holds,
    is_handle,
    is_plain,
    is_traced,
    joined,
    lies_below,
    possibly,
    whole,
)
from tape_ad.record.constants import (
    as_array_constants,
    fill,
)
from tape_ad.record.handles import (
    any_handle,
    as_constant_handle,
    plain,
    refuse_handles,
)
from tape_ad.record.messages.refusals import (
    refuse_to_change,
)
from tape_ad.record.primals import (
    PLAIN_TYPES,
    is_number_like,
    primal,
)
from tape_ad.rules.base import (
    along,
    as_array,
    as_constant,
    axes_of,
    axis_of,
    in_double,
)
from tape_ad.rules.maps import (
    Array,
    Shape,
)
from tape_ad.rules.numpy.continued import (
    bounded,
    over_square,
    ratio,
    unit,
    within,
)
from tape_ad.rules.numpy.indexing import (
    item,
)
from tape_ad.transforms.differentiable.reach import (
    reaches,
)

__all__ = [
    "PLAIN_TYPES",
    "SYMBOLS",
    "Array",
    "Shape",
    "along",
    "any_handle",
    "array_of",
    "as_array",
    "as_array_constants",
    "as_constant",
    "as_constant_handle",
    "as_in_key",
    "axes_of",
    "axis_of",
    "batch_in",
    "bounded",
    "fill",
    "foreign",
    "holds",
    "in_double",
    "is_handle",
    "is_number_like",
    "is_plain",
    "is_traced",
    "item",
    "joined",
    "lies_below",
    "over_square",
    "plain",
    "possibly",
    "primal",
    "ratio",
    "reaches",
    "refuse_handles",
    "refuse_to_change",
    "unit",
    "unwrapped",
    "whole",
    "within",
]

"""Arrays: what rules and functions do with what they are given, be it a handle or plain.

`as_array` takes lists and numbers to arrays and leaves handles alone, where `numpy.asarray` would
refuse them. `primal` and `plain` give what is behind handles. The functions with names of formulas,
such as `ratio`, have a value and a derivative where the formula as it stands has none.
"""

from tape_ad.base.arrays.interpreter import unwrapped as unwrapped
from tape_ad.base.arrays.overridable import SYMBOLS as SYMBOLS
from tape_ad.base.arrays.overridable import array_of as array_of
from tape_ad.base.arrays.overridable import as_in_key as as_in_key
from tape_ad.base.arrays.overridable import batch_in as batch_in
from tape_ad.base.arrays.overridable import foreign as foreign
from tape_ad.base.arrays.overridable import holds as holds
from tape_ad.base.arrays.overridable import is_handle as is_handle
from tape_ad.base.arrays.overridable import is_plain as is_plain
from tape_ad.base.arrays.overridable import is_traced as is_traced
from tape_ad.base.arrays.overridable import joined as joined
from tape_ad.base.arrays.overridable import lies_below as lies_below
from tape_ad.base.arrays.overridable import possibly as possibly
from tape_ad.base.arrays.overridable import whole as whole
from tape_ad.record.constants import as_array_constants as as_array_constants
from tape_ad.record.constants import fill as fill
from tape_ad.record.handles import any_handle as any_handle
from tape_ad.record.handles import as_constant_handle as as_constant_handle
from tape_ad.record.handles import plain as plain
from tape_ad.record.handles import refuse_handles as refuse_handles
from tape_ad.record.messages.refusals import refuse_to_change as refuse_to_change
from tape_ad.record.primals import PLAIN_TYPES as PLAIN_TYPES
from tape_ad.record.primals import is_number_like as is_number_like
from tape_ad.record.primals import primal as primal
from tape_ad.rules.base import along as along
from tape_ad.rules.base import as_array as as_array
from tape_ad.rules.base import as_constant as as_constant
from tape_ad.rules.base import axes_of as axes_of
from tape_ad.rules.base import axis_of as axis_of
from tape_ad.rules.base import in_double as in_double
from tape_ad.rules.maps import Array as Array
from tape_ad.rules.maps import Shape as Shape
from tape_ad.rules.numpy.continued import bounded as bounded
from tape_ad.rules.numpy.continued import over_square as over_square
from tape_ad.rules.numpy.continued import ratio as ratio
from tape_ad.rules.numpy.continued import unit as unit
from tape_ad.rules.numpy.continued import within as within
from tape_ad.rules.numpy.indexing import item as item
from tape_ad.transforms.differentiable.reach import reaches as reaches

"""Linear maps: what a partial derivative is, and the maps that the rules are built from.

A map acts on the trailing axes of what it is given; any leading axes are a stack of tangents or
cotangents, all mapped at once. `pull` is the adjoint of `push` under the real inner product
``<u, v> = Re(sum(conj(u) * v))``, so one statement of a derivative serves both modes.

An array in the place of a map stands for its `Scale`, as most partials are the derivative element
by element; `as_map` makes the map of it.

The maps are written in plain NumPy calls on whatever they hold, since that may be a handle of an
enclosing record, or any other array that speaks NEP 13 and NEP 18.
"""

from tape_ad.rules.maps.base import Array as Array
from tape_ad.rules.maps.base import LinearMap as LinearMap
from tape_ad.rules.maps.base import Partial as Partial
from tape_ad.rules.maps.base import Shape as Shape
from tape_ad.rules.maps.base import broadcasts as broadcasts
from tape_ad.rules.maps.base import rearranges as rearranges
from tape_ad.rules.maps.compounds import Adjoint as Adjoint
from tape_ad.rules.maps.compounds import Chain as Chain
from tape_ad.rules.maps.compounds import Deferred as Deferred
from tape_ad.rules.maps.compounds import pull_chosen as pull_chosen
from tape_ad.rules.maps.compounds import unless_all_zero as unless_all_zero
from tape_ad.rules.maps.elementwise import SAME as SAME
from tape_ad.rules.maps.elementwise import SHIELD as SHIELD
from tape_ad.rules.maps.elementwise import Conjugate as Conjugate
from tape_ad.rules.maps.elementwise import Divide as Divide
from tape_ad.rules.maps.elementwise import ImaginaryPart as ImaginaryPart
from tape_ad.rules.maps.elementwise import Mask as Mask
from tape_ad.rules.maps.elementwise import Negate as Negate
from tape_ad.rules.maps.elementwise import RealPart as RealPart
from tape_ad.rules.maps.elementwise import Same as Same
from tape_ad.rules.maps.elementwise import Scale as Scale
from tape_ad.rules.maps.elementwise import Shield as Shield
from tape_ad.rules.maps.elementwise import as_map as as_map
from tape_ad.rules.maps.elementwise import selected as selected
from tape_ad.rules.maps.elementwise import unless_zero as unless_zero
from tape_ad.rules.maps.indexing import FEW as FEW
from tape_ad.rules.maps.indexing import Index as Index
from tape_ad.rules.maps.indexing import added_at as added_at
from tape_ad.rules.maps.indexing import scatter as scatter
from tape_ad.rules.maps.matrix_products import MatmulLeft as MatmulLeft
from tape_ad.rules.maps.matrix_products import MatmulRight as MatmulRight
from tape_ad.rules.maps.matrix_products import Products as Products
from tape_ad.rules.maps.matrix_products import adjoint as adjoint
from tape_ad.rules.maps.matrix_products import multiplied as multiplied
from tape_ad.rules.maps.matrix_products import times_matrix as times_matrix
from tape_ad.rules.maps.memory import clone as clone
from tape_ad.rules.maps.memory import writeable_copy as writeable_copy
from tape_ad.rules.maps.rearrangements import Join as Join
from tape_ad.rules.maps.rearrangements import Part as Part
from tape_ad.rules.maps.rearrangements import Reshape as Reshape
from tape_ad.rules.maps.rearrangements import Stretch as Stretch
from tape_ad.rules.maps.rearrangements import Transpose as Transpose
from tape_ad.rules.maps.reductions import Sum as Sum
from tape_ad.rules.maps.reductions import WeightedSum as WeightedSum
from tape_ad.rules.maps.reductions import add_reduce as add_reduce
from tape_ad.rules.maps.reductions import expanding_key as expanding_key

"""Linear maps: what a partial derivative is that is not given element by element.

A map has `push`, which takes a tangent of the parent to that of the node, and its adjoint `pull`,
which takes a cotangent back. It acts on the last axes of what it is given, for there may be a stack
in front, and it is written in NumPy calls. A class with these two and `broadcasts` is a map; where
it writes in place or calls C, it is a `PlainMap`.
"""

from tape_ad.rules.maps import SAME as SAME
from tape_ad.rules.maps import Adjoint as Adjoint
from tape_ad.rules.maps import Chain as Chain
from tape_ad.rules.maps import Conjugate as Conjugate
from tape_ad.rules.maps import Deferred as Deferred
from tape_ad.rules.maps import Divide as Divide
from tape_ad.rules.maps import ImaginaryPart as ImaginaryPart
from tape_ad.rules.maps import Index as Index
from tape_ad.rules.maps import Join as Join
from tape_ad.rules.maps import LinearMap as LinearMap
from tape_ad.rules.maps import Mask as Mask
from tape_ad.rules.maps import Negate as Negate
from tape_ad.rules.maps import Part as Part
from tape_ad.rules.maps import Partial as Partial
from tape_ad.rules.maps import RealPart as RealPart
from tape_ad.rules.maps import Reshape as Reshape
from tape_ad.rules.maps import Scale as Scale
from tape_ad.rules.maps import Stretch as Stretch
from tape_ad.rules.maps import Sum as Sum
from tape_ad.rules.maps import Transpose as Transpose
from tape_ad.rules.maps import WeightedSum as WeightedSum
from tape_ad.rules.maps import adjoint as adjoint
from tape_ad.rules.maps import as_map as as_map
from tape_ad.rules.maps.indexing import added_at as added_at
from tape_ad.rules.maps.indexing import scatter as scatter
from tape_ad.rules.plain_maps import Gather as Gather
from tape_ad.rules.plain_maps import PlainMap as PlainMap
from tape_ad.rules.plain_maps import pushed as pushed
from tape_ad.rules.plain_maps import summed_by_index as summed_by_index
